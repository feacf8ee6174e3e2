"""The network: the parser's, with a third side for what words are as predicates, and a small reader of roles.

The reader sees the words of a sentence once per predicate, as they look from there: the word, the predicate, their
product, their distance; a few narrow layers of attention later it says the role of each word.
"""

from __future__ import annotations

from pathlib import Path

import torch
from decomp import DURATIONS, TRAITS
from network import HIDDEN, Network, allowed, entropy, label_scores, loss, possible
from roles import FRAMES, KINDS, TENSES
from torch import nn
from treebank import Inventory

WIDE, HEADS, FAR = 256, 4, 24
MARKS = {"kinds": len(KINDS), "tenses": len(TENSES), "negated": 2, "traits": len(TRAITS), "durations": len(DURATIONS)}
Tensors = dict[str, torch.Tensor]


class Layer(nn.Module):
    """Attention, then a hidden layer, each behind a norm. Source: Vaswani et al. 2017, Xiong et al. 2020."""

    def __init__(self, drop: float) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDE) for _ in range(2)])
        self.ask = nn.Linear(WIDE, 3 * WIDE)
        self.tell = nn.Linear(WIDE, WIDE)
        self.wide, self.narrow = nn.Linear(WIDE, 2 * WIDE), nn.Linear(2 * WIDE, WIDE)
        self.drop = nn.Dropout(drop)

    def forward(self, words: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """The same shape, `(frames, n, 256)`."""
        shape = (*words.shape[:2], 3, HEADS, WIDE // HEADS)
        query, key, value = self.ask(self.norms[0](words)).view(shape).permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) / (WIDE // HEADS) ** 0.5
        share = torch.softmax(scores.masked_fill(~real[:, None, None], -1e4), -1)
        told = (self.drop(share) @ value).transpose(1, 2).flatten(2)
        words = words + self.drop(self.tell(told))
        return words + self.drop(self.narrow(nn.functional.gelu(self.wide(self.norms[1](words)))))


class RoleReader(nn.Module):
    """Word vectors and places of predicates -> labels of each word of each frame."""

    def __init__(self, roles: int, depth: int, drop: float) -> None:
        super().__init__()
        self.word, self.predicate = nn.Linear(HIDDEN, 2 * WIDE), nn.Linear(HIDDEN, 2 * WIDE)
        self.distance = nn.Embedding(2 * FAR + 1, WIDE)
        nn.init.normal_(self.distance.weight, std=0.2)
        self.drop = nn.Dropout(drop)
        self.layers = nn.ModuleList([Layer(drop / 2) for _ in range(depth)])
        self.norm = nn.LayerNorm(WIDE)
        self.labels = nn.Linear(WIDE, 1 + 2 * roles)
        self.heads = nn.Linear(WIDE, 1 + roles)

    def forward(
        self, words: torch.Tensor, real: torch.Tensor, rows: torch.Tensor, at: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """BIO scores `(frames, n, 1 + 2 roles)`, and scores of the roles of head words `(frames, n, 1 + roles)`."""
        seen = self.seen(words, real, rows, at)
        return self.labels(seen), self.heads(seen)

    def seen(self, words: torch.Tensor, real: torch.Tensor, rows: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """The words as they look from each predicate, `(frames, n, 256)`."""
        own, own_part = self.word(words)[rows].chunk(2, -1)
        said, said_part = self.predicate(words[rows, at]).unsqueeze(1).chunk(2, -1)
        places = torch.arange(words.shape[1], device=words.device)
        distance = (places - at.unsqueeze(1)).clamp(-FAR, FAR) + FAR
        seen = self.drop(own + said + own_part * said_part + self.distance(distance))
        for layer in self.layers:
            seen = layer(seen, real[rows])
        found: torch.Tensor = self.norm(seen)
        return found


class Joint(Network):
    """Source: Zhou et al. 2022 (spans as labelled words), Shi and Lin 2019 (attention that knows the predicate)."""

    def __init__(self, folder: Path, classes: Inventory, roles: int, *, depth: int = 2, drop: float = 0.33) -> None:
        super().__init__(folder, classes, drop=drop, sides=3)
        self.marks = nn.Linear(HIDDEN, sum(MARKS.values()))
        self.reader = RoleReader(roles, depth, drop)

    def forward(self, batch: Tensors) -> Tensors:
        """The parser's scores, the marks of each word, and the word vectors that `roles` reads as `framing`."""
        layers = self.layers(batch)
        with torch.autocast(layers[0].device.type, enabled=False):
            out = self.heads(self.words(layers, batch, 0), self.words(layers, batch, 1))
            framing = self.words(layers, batch, 2)[:, 1:]
            marks = dict(zip(MARKS, self.marks(framing).split(list(MARKS.values()), -1), strict=True))
            return out | marks | {"framing": framing}

    def roles(
        self, out: Tensors, batch: Tensors, rows: torch.Tensor, words: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The scores of roles in the frames of the given words."""
        with torch.autocast(out["framing"].device.type, enabled=False):
            found: tuple[torch.Tensor, torch.Tensor] = self.reader(out["framing"], batch["words"], rows, words)
        return found


def gold_loss(model: Joint, out: Tensors, batch: Tensors) -> torch.Tensor:
    """The parser's loss, and those of marks and roles where they are known."""
    total = loss(out, batch) + entropy(out["kinds"], batch["kinds"])
    total = total + 0.3 * entropy(out["tenses"], batch["tenses"]) + 0.3 * entropy(out["negated"], batch["negated"])
    total = (
        total + 0.1 * entropy(out["durations"], batch["durations"]) + 0.5 * _distance(out["traits"], batch["traits"])
    )
    if len(batch["frame_rows"]):
        labels, heads = model.roles(out, batch, batch["frame_rows"], batch["frame_words"])
        total = total + 3.0 * entropy(labels, batch["role_labels"]) + 1.5 * entropy(heads, batch["role_heads"])
    return total


def _distance(found: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
    """Mean of the smooth distance over known traits. Source: Huber 1964."""
    known = ~gold.isnan()
    away = nn.functional.smooth_l1_loss(found, gold.nan_to_num(), reduction="none") * known
    return away.sum() / known.sum().clamp(min=1)


@torch.no_grad()
def opinion(teachers: list[Joint], batch: Tensors) -> Tensors:
    """What teachers think of a batch, as they see it unmasked: mean probabilities of every task."""
    seen = batch | {"ids": batch["plain"]}
    with torch.autocast(batch["ids"].device.type, dtype=torch.bfloat16):
        outs = [teacher(seen) for teacher in teachers]
    kinds = _mean([out["kinds"] for out in outs])
    likely = kinds[..., list(FRAMES)].sum(-1) > 0.3
    rows, words = torch.nonzero(likely & batch["words"], as_tuple=True)
    read = [teacher.roles(out, seen, rows, words) for teacher, out in zip(teachers, outs, strict=True)]
    arcs = _mean([possible(out["arcs"], batch) for out in outs])
    heads = arcs.argmax(-1)
    return {
        "arcs": arcs,
        "chosen": heads,
        "deprels": _mean([label_scores(out, heads) for out in outs]),
        **{name: _mean([out[name] for out in outs]) for name in ("upos", "scripts", "tenses", "negated", "durations")},
        "kinds": kinds,
        "traits": torch.stack([out["traits"] for out in outs]).mean(0),
        "rows": rows,
        "words": words,
        "roles": _mean([labels for labels, _ in read]),
        "role_heads": _mean([heads for _, heads in read]),
    }


def _mean(scores: list[torch.Tensor]) -> torch.Tensor:
    return torch.stack([torch.softmax(one.float(), -1) for one in scores]).mean(0)


def soft_loss(model: Joint, out: Tensors, batch: Tensors, goal: Tensors) -> torch.Tensor:
    """Cross-entropy with the teachers' probabilities, and with the tags that are known. Source: Hinton et al. 2015."""
    real = batch["words"]
    found = {name: out[name] for name in ("upos", "scripts", "kinds", "tenses", "negated", "durations")}
    found |= {"arcs": possible(out["arcs"], batch), "deprels": label_scores(out, goal["chosen"])}
    shares = {"upos": 0.7, "scripts": 0.5, "tenses": 0.3, "negated": 0.3, "durations": 0.1}
    total = 0.5 * allowed(out["tags"], batch)
    for name, scores in found.items():
        total = total + shares.get(name, 1.0) * _cross(scores, goal[name], real)
    away = nn.functional.smooth_l1_loss(out["traits"], goal["traits"], reduction="none").mean(-1) * real
    total = total + 0.5 * away.sum() / real.sum()
    if len(goal["rows"]):
        labels, heads = model.roles(out, batch, goal["rows"], goal["words"])
        inside = real[goal["rows"]]
        total = total + 3.0 * _cross(labels, goal["roles"], inside) + 1.5 * _cross(heads, goal["role_heads"], inside)
    return total


def _cross(scores: torch.Tensor, goal: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    each = -(torch.log_softmax(scores, -1) * goal).sum(-1)
    return (each * real).sum() / real.sum()
