"""The network: MiniLM, a mix of its layers, one vector per word, and a head per task."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from transformers import AutoModel
from treebank import IGNORED, SOURCES, Inventory

from doxa.backends.parser.features import SIZES

HIDDEN = 384
FEATURE = 32
ARC, LABEL, LEMMA = 256, 96, 192


class Mix(nn.Module):
    """A weighted sum of layers. Source: Peters et al. 2018, ELMo, eq. 1."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, layers: list[torch.Tensor]) -> torch.Tensor:
        """Sum over layers."""
        share = torch.softmax(self.weights, 0)
        return self.scale * sum(one * weight for one, weight in zip(layers, share, strict=True))


class Head(nn.Module):
    """One hidden layer."""

    def __init__(self, size: int, out: int, drop: float) -> None:
        super().__init__()
        self.linear = nn.Linear(size, out)
        self.drop = nn.Dropout(drop)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        """Vectors of size `out`."""
        return self.drop(nn.functional.leaky_relu(self.linear(words), 0.1))


class Network(nn.Module):
    """Source: Dozat and Manning 2017 (biaffine), Kondratyuk and Straka 2019 (UDify), Stymne et al. 2018 (treebanks)."""

    def __init__(
        self, folder: Path, classes: Inventory, *, drop: float = 0.33, attention: str = "eager", sides: int = 2
    ) -> None:
        """A side is one set of word vectors; the first two are for tagging and parsing."""
        super().__init__()
        self.encoder = AutoModel.from_pretrained(
            folder, attn_implementation=attention, dtype=torch.float32, add_pooling_layer=False
        )
        layers = self.encoder.config.num_hidden_layers + 1
        self.mixes = nn.ModuleList([Mix(layers) for _ in range(sides)])
        self.first = nn.ModuleList([nn.Linear(HIDDEN, HIDDEN) for _ in range(sides)])
        self.mean = nn.ModuleList([nn.Linear(HIDDEN, HIDDEN, bias=False) for _ in range(sides)])
        self.tables = nn.ModuleList([nn.Embedding(size, FEATURE) for size in SIZES])
        for table in self.tables:
            nn.init.normal_(table.weight, std=0.2)
        self.spelling = nn.ModuleList([nn.Linear(FEATURE * len(SIZES), HIDDEN) for _ in range(sides)])
        self.sources = nn.ModuleList([nn.Embedding(len(SOURCES), HIDDEN) for _ in range(sides)])
        for table in self.sources:
            nn.init.zeros_(table.weight)
        self.norms = nn.ModuleList([nn.LayerNorm(HIDDEN) for _ in range(sides)])
        self.drop = nn.Dropout(drop)
        self.upos = nn.Linear(HIDDEN, len(classes.upos))
        self.tags = nn.Linear(HIDDEN, len(classes.tags))
        self.lemma = Head(HIDDEN, LEMMA, drop)
        self.scripts = nn.Linear(LEMMA, len(classes.scripts))
        self.arc_dep, self.arc_head = Head(HIDDEN, ARC, drop), Head(HIDDEN, ARC, drop)
        self.arc = nn.Linear(ARC, ARC, bias=False)
        self.arc_bias = nn.Linear(ARC, 1)
        nn.init.zeros_(self.arc.weight)
        self.label_dep, self.label_head = Head(HIDDEN, LABEL, drop), Head(HIDDEN, LABEL, drop)
        self.label = nn.Linear(LABEL, len(classes.deprels) * (LABEL + 1))
        nn.init.normal_(self.label.weight, std=0.01)
        nn.init.zeros_(self.label.bias)

    def words(self, layers: list[torch.Tensor], batch: dict[str, torch.Tensor], side: int) -> torch.Tensor:
        """One vector per word, `(batch, n + 1, 384)`; the first one is the root."""
        mixed = self.mixes[side](layers)
        index = batch["first"].unsqueeze(-1).expand(-1, -1, HIDDEN)
        found = self.first[side](torch.gather(mixed, 1, index)) + self.mean[side](batch["pool"] @ mixed)
        spelt = torch.cat([table(batch["features"][..., at]) for at, table in enumerate(self.tables)], -1)
        found = found + self.spelling[side](self.drop(spelt))
        return self.drop(self.norms[side](found + self.sources[side](batch["source"]).unsqueeze(1)))

    def forward(self, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Scores of every task; arcs are `(batch, n, n + 1)`, dependent by head."""
        layers = self.layers(batch)
        with torch.autocast(layers[0].device.type, enabled=False):
            return self.heads(self.words(layers, batch, 0), self.words(layers, batch, 1))

    def layers(self, batch: dict[str, torch.Tensor]) -> list[torch.Tensor]:
        """The encoder's layers, in full precision."""
        hidden = self.encoder(input_ids=batch["ids"], attention_mask=batch["mask"], output_hidden_states=True)
        return [layer.float() for layer in hidden.hidden_states]

    def heads(self, tagged: torch.Tensor, parsed: torch.Tensor) -> dict[str, torch.Tensor]:
        """The scores from the word vectors of the two sides, tagging and parsing."""
        words = tagged[:, 1:]
        dep, head = self.arc_dep(parsed[:, 1:]), self.arc_head(parsed)
        label_dep, label_head = self.label_dep(parsed[:, 1:]), self.label_head(parsed)
        ones = torch.ones_like(label_head[..., :1])
        shape = (*label_dep.shape[:2], -1, LABEL + 1)
        # The dependent's own bias is in the last column, which meets the constant 1 of the head.
        return {
            "upos": self.upos(words),
            "tags": self.tags(words),
            "scripts": self.scripts(self.lemma(words)),
            "arcs": self.arc(dep) @ head.transpose(1, 2) / ARC**0.5 + self.arc_bias(head).transpose(1, 2),
            "label_dep": self.label(label_dep).view(shape),
            "label_head": torch.cat([label_head, ones], -1),
        }


def label_scores(out: dict[str, torch.Tensor], heads: torch.Tensor) -> torch.Tensor:
    """Scores of the labels at the given heads, `(batch, n, labels)`."""
    chosen = torch.gather(out["label_head"], 1, heads.clamp(min=0).unsqueeze(-1).expand(-1, -1, LABEL + 1))
    return torch.einsum("bnld,bnd->bnl", out["label_dep"], chosen)


def loss(out: dict[str, torch.Tensor], batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """The sum of the tasks' mean losses, over words whose answer is known."""
    arcs = possible(out["arcs"], batch)
    heads = batch["heads"]
    labels = label_scores(out, heads)
    if "soft" in batch:
        return _soft_loss(out, batch, arcs, labels)
    total = entropy(arcs, heads) + entropy(labels, batch["deprels"]) + 0.7 * entropy(out["upos"], batch["upos"])
    return total + 0.5 * entropy(out["scripts"], batch["scripts"]) + 0.5 * allowed(out["tags"], batch)


def possible(arcs: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """The scores of arcs, very low where the head is no word or the word itself."""
    real = torch.cat([torch.ones_like(batch["words"][:, :1]), batch["words"]], 1)
    scores = arcs.masked_fill(~real.unsqueeze(1), -1e4)
    scores.diagonal(1, 1, 2).fill_(-1e4)
    return scores


def entropy(scores: torch.Tensor, gold: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy over the known answers, 0 where there are none; never waits for a GPU."""
    total = nn.functional.cross_entropy(scores.flatten(0, -2), gold.flatten(), ignore_index=IGNORED, reduction="sum")
    return total / (gold != IGNORED).sum().clamp(min=1)


def allowed(scores: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Minus the log of the probability of all allowed tags together, which is 0 where all are allowed."""
    likely = torch.log_softmax(scores, -1).masked_fill(~batch["tags"], -1e4)
    missed = -torch.logsumexp(likely, -1) * batch["words"]
    return missed.sum() / batch["words"].sum()


def _soft_loss(
    out: dict[str, torch.Tensor], batch: dict[str, torch.Tensor], arcs: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """Cross-entropy with the ensemble's probabilities. Source: Hinton et al. 2015, distillation."""
    known = batch["words"]
    total = 0.5 * entropy(out["scripts"], batch["scripts"]) + 0.5 * allowed(out["tags"], batch)
    for weight, scores, goal in (
        (1.0, arcs, batch["soft_arcs"]),
        (1.0, labels, batch["soft_labels"]),
        (0.7, out["upos"], batch["soft_upos"]),
    ):
        total = total - weight * (torch.log_softmax(scores, -1) * goal).sum(-1)[known].mean()
    return total
