"""The network that reads turns: the parser with frames, and over them roles, acts, claims and references.

One reader of roles serves PropBank's frames and those of the corpus: only its last layers differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from framed import FrameBatcher
from joint import WIDE, Joint, Tensors
from network import HIDDEN, Head, entropy
from roles import labels_of
from torch import nn
from treebank import IGNORED, Inventory, Sentence
from turns import ACTS, CLAIM_FLAGS, FRAME_FLAGS, OPEN, PARTS, ROLES, Spoken

POINT = 128
MARKS = ("frame", "anchor")
LIKELY = 0.25
"""A word that teachers find less likely is not looked from."""
ASKS = ("", *ROLES)
OUTPUTS: Mapping[str, int] = {
    "said_roles": 1 + 2 * len(ROLES),
    "parts": 1 + 2 * len(PARTS),
    "claim_flags": len(CLAIM_FLAGS),
    "frame_flags": len(FRAME_FLAGS),
    "acts": len(ACTS),
    "asks": len(ASKS),
}
"""What is said of each word as seen from a predicate; the last three are read at the predicate itself."""


class Reading(Joint):
    """Source: as `Joint`; He et al. 2015 (questions as roles), Dozat and Manning 2018 (pointers)."""

    def __init__(self, folder: Path, classes: Inventory, roles: int, relations: int, *, depth: int = 2) -> None:
        super().__init__(folder, classes, roles, depth=depth)
        self.said = nn.Linear(HIDDEN, len(MARKS))
        self.told = nn.Linear(WIDE, sum(OUTPUTS.values()) + relations)
        self.point_from, self.point_to = Head(HIDDEN, POINT, 0.33), Head(HIDDEN, POINT, 0.33)
        self.point = nn.Linear(POINT, POINT, bias=False)
        self.relations = relations
        self.named = nn.Linear(HIDDEN, WIDE, bias=False)
        nn.init.zeros_(self.named.weight)
        self.register_buffer("meanings", torch.zeros(relations, HIDDEN), persistent=False)

    def forward(self, batch: Tensors) -> Tensors:
        """As of `Joint`; `said` per word, `points` `(batch, n, n + 1)`: where a word points to, first to nothing."""
        out = super().forward(batch)
        framing = out["framing"]
        with torch.autocast(framing.device.type, enabled=False):
            source, goal = self.point_from(framing), self.point_to(framing)
            goal = torch.cat([torch.zeros_like(goal[:, :1]), goal], 1)
            points = self.point(source) @ goal.transpose(1, 2) / POINT**0.5
            return out | {"said": self.said(framing), "points": points}

    def seen(self, out: Tensors, batch: Tensors, rows: torch.Tensor, at: torch.Tensor) -> Tensors:
        """What is said of every word as seen from the words `at` of `rows`: `(places, n, size)` each.

        A relation is found by its examples and by what its name means, so that rare ones are found as well.
        """
        words = self.reader.seen(out["framing"], batch["words"], rows, at)
        parts = self.told(words).split([*OUTPUTS.values(), self.relations], -1)
        seen = dict(zip([*OUTPUTS, "relations"], parts, strict=True))
        return seen | {"relations": seen["relations"] + words @ self.named(self.meanings).T}


class SpokenBatcher(FrameBatcher):
    """Turns -> padded tensors."""

    def __init__(
        self, batcher: FrameBatcher, classes: Inventory, relations: Sequence[str], trees: Mapping[str, Sentence]
    ) -> None:
        """Takes the relations by their number, and the trees of turns that somebody else parsed."""
        super().__init__(batcher._tokenizer, classes, list(batcher.roles))
        self.names = list(relations)
        self.relations = {name: at for at, name in enumerate(relations)}
        self.trees = trees

    def turns(self, turns: Sequence[Spoken], *, hide: float = 0.0) -> Tensors:
        """One batch."""
        bare = [self.tree(one) for one in turns]
        out = super().batch(bare, hide=hide)
        count, size = out["words"].shape
        said = torch.full((count, size, len(MARKS)), torch.nan)
        points = torch.full((count, size), IGNORED)
        places: list[tuple[int, int]] = []
        filled: list[dict[str, np.ndarray]] = []
        for row, one in enumerate(turns):
            own = slice(one.begin, len(one.words))
            said[row, own] = 0.0
            if one.marked:
                said[row, : one.begin, 1] = 0.0
                said[row, : len(one.words), 0] = torch.nan
            points[row, own] = 0
            for word in one.open_points:
                points[row, word] = IGNORED
            for source, goal in one.points.items():
                points[row, source] = goal + 1
            frames = {frame.word: frame for frame in one.frames}
            anchors = {claim.anchor for claim in one.claims} if one.marked else set()
            if not one.marked:  # their claims looked for their words, which is only mostly right
                said[row, :, 1] = torch.nan
            for word in frames:
                said[row, word, 0] = 1.0
            for word in one.open_anchors:
                said[row, word, 1] = torch.nan
            for word in anchors:
                said[row, word, 1] = 1.0
            for word in sorted({*frames, *anchors}):
                places.append((row, word))
                filled.append(self._place(one, word, size))
        out["said"], out["goal_points"] = said, points
        out["rows"] = torch.tensor([row for row, _ in places], dtype=torch.long)
        out["at"] = torch.tensor([at for _, at in places], dtype=torch.long)
        for name in ("said_roles", "parts", "claim_flags", "frame_flags", "acts", "asks", "relations"):
            shape = {
                "claim_flags": (size, len(CLAIM_FLAGS)),
                "frame_flags": (len(FRAME_FLAGS),),
                "acts": (),
                "asks": (),
            }
            empty = np.zeros((0, *shape.get(name, (size,))))
            stacked = np.stack([one[name] for one in filled]) if filled else empty
            kind = torch.float32 if name.endswith("flags") else torch.long
            out[f"goal_{name}"] = torch.from_numpy(stacked).to(kind)
        return out

    def tree(self, one: Spoken) -> Sentence:
        """The tree of a turn's own words, where it is known."""
        known = self.trees.get(one.name)
        if known is None:
            return bare_sentence(one.forms)
        off = len(known.forms) - len(one.words)
        if not off:
            return replace(known, forms=one.forms)
        kept = known.keep(list(range(off, len(known.forms))))
        return replace(kept, forms=one.forms)

    def _place(self, one: Spoken, word: int, size: int) -> dict[str, np.ndarray]:
        length = len(one.words)
        frame = next((frame for frame in one.frames if frame.word == word), None)
        claims = [claim for claim in one.claims if claim.anchor == word] if one.marked else []
        roles = np.full(size, IGNORED)
        parts = np.full(size, IGNORED)
        relations = np.full(size, IGNORED)
        claim_flags = np.full((size, len(CLAIM_FLAGS)), np.nan)
        frame_flags = np.full(len(FRAME_FLAGS), np.nan)
        act = asks = IGNORED
        if frame is not None:
            roles[:length] = labels_of(frame.roles, length, {role: at for at, role in enumerate(ROLES)})
            frame_flags = np.array([float(flag in frame.flags) for flag in FRAME_FLAGS])
            act, asks = ACTS.index(frame.act), ASKS.index(frame.asks)
        if one.marked:
            spans = {span for claim in claims for span in claim.spans}
            spans = sorted(spans, key=lambda s: (s.role != "object", s))
            apart = []
            for span in spans:
                if all(span.end <= other.start or other.end <= span.start for other in apart):
                    apart.append(span)
            parts[:length] = labels_of(apart, length, {part: at for at, part in enumerate(PARTS)})
        for claim in claims:
            (thing,) = (span for span in claim.spans if span.role == "object")
            named = thing.start == word or any(span.role == "verb" for span in claim.spans)
            relation = self.relations.get(claim.relation, self.relations[OPEN] if named else IGNORED)
            for span in (thing, *(span for span in claim.spans if span.role == "verb")):
                relations[span.start : span.end] = relation
            claim_flags[thing.start : thing.end] = [float(flag in claim.flags) for flag in CLAIM_FLAGS]
        return {
            "said_roles": roles, "parts": parts, "relations": relations, "claim_flags": claim_flags,
            "frame_flags": frame_flags, "acts": np.array(act), "asks": np.array(asks),
        }  # fmt: skip


def bare_sentence(forms: Sequence[str], source: str = "silver") -> Sentence:
    """Words of which nothing is known."""
    size = len(forms)
    return Sentence(
        forms=tuple(forms),
        lemmas=("",) * size,
        upos=("",) * size,
        heads=(IGNORED,) * size,
        deprels=("",) * size,
        source=source,
    )


def known(scores: torch.Tensor, goal: torch.Tensor, weight: float = 1.0) -> torch.Tensor:
    """Mean binary cross-entropy where the answer is known; positives count `weight` times."""
    there = ~goal.isnan()
    each = nn.functional.binary_cross_entropy_with_logits(
        scores, goal.nan_to_num(), reduction="none", pos_weight=scores.new_tensor(weight)
    )
    return (each * there).sum() / there.sum().clamp(min=1)


def spoken_loss(model: Reading, out: Tensors, batch: Tensors) -> dict[str, torch.Tensor]:
    """The losses of a batch of turns, by name."""
    found = {
        "said": 6.0 * known(out["said"], batch["said"], 2.0),
        "points": 0.7 * entropy(out["points"], batch["goal_points"]),
    }
    if len(batch["rows"]):
        seen = model.seen(out, batch, batch["rows"], batch["at"])
        here = torch.arange(len(batch["at"]), device=batch["at"].device)
        found |= {
            "roles": 3.0 * entropy(seen["said_roles"], batch["goal_said_roles"]),
            "parts": 3.0 * entropy(seen["parts"], batch["goal_parts"]),
            "relations": 2.0 * entropy(seen["relations"], batch["goal_relations"]),
            "claim_flags": 2.0 * known(seen["claim_flags"], batch["goal_claim_flags"]),
            "frame_flags": 2.0 * known(seen["frame_flags"][here, batch["at"]], batch["goal_frame_flags"]),
            "acts": 0.5 * entropy(seen["acts"][here, batch["at"]], batch["goal_acts"]),
            "asks": 0.2 * entropy(seen["asks"][here, batch["at"]], batch["goal_asks"]),
        }
    return found


@torch.no_grad()
def opinion(teachers: Sequence[Reading], batch: Tensors) -> Tensors:
    """What teachers think of turns, as they see them unmasked: mean probabilities of everything that is said."""
    seen = batch | {"ids": batch["plain"]}
    with torch.autocast(batch["ids"].device.type, dtype=torch.bfloat16, enabled=batch["ids"].is_cuda):
        outs = [teacher(seen) for teacher in teachers]
    said = torch.stack([out["said"].float().sigmoid() for out in outs]).mean(0) * batch["words"].unsqueeze(-1)
    rows, at = torch.nonzero(said.amax(-1) > LIKELY, as_tuple=True)
    looks = [teacher.seen(out, seen, rows, at) for teacher, out in zip(teachers, outs, strict=True)]
    found = {
        name: torch.stack([_likely(name, look[name]) for look in looks]).mean(0) for name in (*OUTPUTS, "relations")
    }
    points = torch.stack([torch.softmax(out["points"].float(), -1) for out in outs]).mean(0)
    return found | {"said": said, "points": points, "rows": rows, "at": at}


def _likely(name: str, scores: torch.Tensor) -> torch.Tensor:
    return scores.float().sigmoid() if name.endswith("flags") else torch.softmax(scores.float(), -1)


def soft_loss(model: Reading, out: Tensors, batch: Tensors, goal: Tensors) -> dict[str, torch.Tensor]:
    """Cross-entropy with what teachers think, by name; of a place, as far as they see a frame or a claim there.

    Relations and flags of claims count on the words that name them. Source: Hinton et al. 2015.
    """
    real = batch["words"].float()
    found = {
        "said": 6.0 * _binary(out["said"], goal["said"], real.unsqueeze(-1)),
        "points": 0.7 * _cross(out["points"], goal["points"], real),
    }
    if not len(goal["rows"]):
        return found
    seen = model.seen(out, batch, goal["rows"], goal["at"])
    here = torch.arange(len(goal["at"]), device=goal["at"].device)
    frame, claim = goal["said"][goal["rows"], goal["at"]].unbind(-1)
    inside = real[goal["rows"]]
    parts = {part: goal["parts"][..., 1 + 2 * at : 3 + 2 * at].sum(-1) for at, part in enumerate(PARTS)}
    thing = claim.unsqueeze(1) * inside * parts["object"]
    own = {
        name: (seen[name][here, goal["at"]], goal[name][here, goal["at"]]) for name in ("frame_flags", "acts", "asks")
    }
    return found | {
        "roles": 3.0 * _cross(seen["said_roles"], goal["said_roles"], frame.unsqueeze(1) * inside),
        "parts": 3.0 * _cross(seen["parts"], goal["parts"], claim.unsqueeze(1) * inside),
        "relations": 2.0
        * _cross(seen["relations"], goal["relations"], thing + claim.unsqueeze(1) * inside * parts["verb"]),
        "claim_flags": 2.0 * _binary(seen["claim_flags"], goal["claim_flags"], thing.unsqueeze(-1)),
        "frame_flags": 2.0 * _binary(*own["frame_flags"], frame.unsqueeze(-1)),
        "acts": 0.5 * _cross(*own["acts"], frame),
        "asks": 0.2 * _cross(*own["asks"], frame),
    }


def _cross(scores: torch.Tensor, goal: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    each = -(torch.log_softmax(scores, -1) * goal).sum(-1)
    return (each * weight).sum() / weight.sum().clamp(min=1)


def _binary(scores: torch.Tensor, goal: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    each = nn.functional.binary_cross_entropy_with_logits(scores, goal, reduction="none")
    return (each * weight).sum() / weight.expand_as(each).sum().clamp(min=1)
