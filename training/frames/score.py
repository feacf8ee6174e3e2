"""Scores of trees, frames and traits.

Roles count where predicate, first word, last word and label agree; the frames are those that were found, not given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from decomp import TRAITS, Traits
from framed import FrameBatcher, Framed
from joint import Joint
from network import label_scores, possible
from numpy.typing import NDArray
from roles import FRAMES, PARTICLE, Frame, spans_of, tree_spans
from treebank import IGNORED, batches

from doxa.backends.parser.labels import best_labels
from doxa.backends.parser.tree import best_tree

BARE = ("punct",)


@dataclass(frozen=True, slots=True)
class Found:
    """What a model says of a sentence. `by_tree` has the roles' spans from head words and the tree, not from labels."""

    heads: tuple[int, ...]
    deprels: tuple[int, ...]
    upos: tuple[int, ...]
    kinds: tuple[int, ...]
    tenses: tuple[int, ...]
    negated: tuple[int, ...]
    traits: Traits
    frames: tuple[Frame, ...]
    by_tree: tuple[Frame, ...]


def measure(model: Joint, batcher: FrameBatcher, sentences: Sequence[Framed], roles: Sequence[str]) -> dict[str, float]:
    """The scores of a model, in percent."""
    return scores_of(sentences, analyse(model, batcher, sentences, roles), batcher)


def scores_of(sentences: Sequence[Framed], found: dict[int, Found], batcher: FrameBatcher) -> dict[str, float]:
    """The scores of what was found, by the sentences' `id()`."""
    pairs = [(one, found[id(one)]) for one in sentences]
    return {**trees(pairs, batcher), **frames(pairs), **marks(pairs)}


@torch.inference_mode()
def analyse(model: Joint, batcher: FrameBatcher, sentences: Sequence[Framed], roles: Sequence[str]) -> dict[int, Found]:
    """What the model says of each sentence, by the sentence's `id()`."""
    model.eval()
    device = next(model.parameters()).device
    found: dict[int, Found] = {}
    for group in batches(sentences, words=1_500):
        batch = {name: value.to(device) for name, value in batcher.batch(group).items()}
        out = model(batch)
        kinds = out["kinds"].argmax(-1)
        chosen = torch.isin(kinds, torch.tensor(FRAMES, device=device)) & batch["words"]
        rows, words = torch.nonzero(chosen, as_tuple=True)
        labels, role_heads = model.roles(out, batch, rows, words)
        arcs = torch.log_softmax(possible(out["arcs"], batch), -1).cpu().numpy()
        heads = torch.zeros(batch["heads"].shape, dtype=torch.long)
        for row, one in enumerate(group):
            size = len(one.forms)
            heads[row, :size] = torch.from_numpy(best_tree(arcs[row, :size, : size + 1]) + 1)
        deprels = label_scores(out, heads.to(device)).argmax(-1).cpu()
        said = {name: out[name].argmax(-1).tolist() for name in ("upos", "kinds", "tenses", "negated")}
        read = _Read(rows.tolist(), words.tolist(), torch.log_softmax(labels, -1).cpu().numpy(), role_heads.argmax(-1))
        for row, one in enumerate(group):
            size = len(one.forms)
            tree = tuple(heads[row, :size].tolist())
            labelled = tuple(deprels[row, :size].tolist())
            points = [batcher.label_names[label] in BARE for label in labelled]
            own = {name: tuple(values[row][:size]) for name, values in said.items()}
            found[id(one)] = Found(
                heads=tree,
                deprels=labelled,
                traits=out["traits"][row, :size].cpu().numpy(),
                frames=tuple(read.by_labels(row, size, roles)),
                by_tree=tuple(read.by_tree(row, tree, points, roles)),
                **own,
            )
    return found


@dataclass(frozen=True, slots=True)
class _Read:
    """The frames of a batch."""

    rows: list[int]
    words: list[int]
    labels: NDArray[np.float32]
    heads: torch.Tensor

    def by_labels(self, row: int, size: int, roles: Sequence[str]) -> Iterator[Frame]:
        mine = [at for at, one in enumerate(self.rows) if one == row]
        if mine:
            for at, labels in zip(mine, best_labels(self.labels[mine, :size]), strict=True):
                yield Frame(self.words[at], spans_of(labels.tolist(), roles))

    def by_tree(self, row: int, tree: Sequence[int], points: Sequence[bool], roles: Sequence[str]) -> Iterator[Frame]:
        for at, one in enumerate(self.rows):
            if one == row:
                chosen = self.heads[at, : len(tree)].tolist()
                yield Frame(self.words[at], tree_spans(self.words[at], chosen, tree, points, roles))


def trees(pairs: Sequence[tuple[Framed, Found]], batcher: FrameBatcher) -> dict[str, float]:
    """Parts of speech, heads, labels without subtypes."""
    right: Counter[str] = Counter()
    names = [name.partition(":")[0] for name in batcher.label_names]
    for one, found in pairs:
        right["words"] += len(one.forms)
        right["upos"] += sum(batcher.tag_names[a] == b for a, b in zip(found.upos, one.upos, strict=True))
        same = [a == b for a, b in zip(found.heads, one.heads, strict=True)]
        right["uas"] += sum(same)
        labels = zip(found.deprels, one.deprels, strict=True)
        right["las"] += sum(ok and names[a] == b.partition(":")[0] for ok, (a, b) in zip(same, labels, strict=True))
    return {name: round(100 * right[name] / max(1, right["words"]), 2) for name in ("upos", "uas", "las")}


def frames(pairs: Sequence[tuple[Framed, Found]]) -> dict[str, float]:
    """F1 of predicates, with auxiliaries and without, and of roles, from labels and from the tree."""
    known = [(one, found) for one, found in pairs if one.marks is not None and one.marks.kinds[0] != IGNORED]
    counts: dict[str, list[int]] = {}
    for one, found in known:
        gold = set(one.frames)
        _count(counts, "predicates", _places(one.marks.kinds, FRAMES), _places(found.kinds, FRAMES))
        every = (1, 2, 3)
        _count(counts, "with_auxiliaries", _places(one.marks.kinds, every), _places(found.kinds, every))
        for name, said in (("roles", found.frames), ("roles_by_tree", found.by_tree)):
            _count(counts, name, _roles(gold, labelled=True), _roles(said, labelled=True))
            _count(counts, f"{name}_unlabelled", _roles(gold, labelled=False), _roles(said, labelled=False))
        core = [{one for one in _roles(some, labelled=True) if "ARGM" not in one[3]} for some in (gold, found.frames)]
        _count(counts, "roles_core", *core)
    return {name: round(200 * both / max(1, ours + theirs), 2) for name, (both, ours, theirs) in counts.items()}


def _places(kinds: Sequence[int], wanted: Sequence[int]) -> set[int]:
    return {at for at, kind in enumerate(kinds) if kind in wanted}


def _roles(frames: set[Frame] | tuple[Frame, ...], *, labelled: bool) -> set[tuple[int, int, int, str]]:
    return {
        (one.predicate, span.start, span.end, span.role if labelled else "")
        for one in frames
        for span in one.spans
        if span.role != PARTICLE
    }


def _count(counts: dict[str, list[int]], name: str, gold: set, said: set) -> None:  # type: ignore[type-arg]
    found = counts.setdefault(name, [0, 0, 0])
    for at, size in enumerate((len(gold & said), len(gold), len(said))):
        found[at] += size


def marks(pairs: Sequence[tuple[Framed, Found]]) -> dict[str, float]:
    """Accuracy of tense and negation at gold predicates; Pearson correlation of traits where known, in percent."""
    known = [(one, found) for one, found in pairs if one.marks is not None]
    scores = {}
    for name in ("tenses", "negated"):
        cells = [
            (a, b)
            for one, found in known
            for a, b in zip(getattr(one.marks, name), getattr(found, name), strict=True)
            if a != IGNORED
        ]
        scores[name] = round(100 * sum(a == b for a, b in cells) / max(1, len(cells)), 2)
    gold = np.concatenate([one.marks.traits for one, _ in known])
    said = np.concatenate([found.traits for _, found in known])
    for at, trait in enumerate(TRAITS):
        there = ~np.isnan(gold[:, at])
        if there.sum() > 2:
            scores[trait] = round(100 * float(np.corrcoef(gold[there, at], said[there, at])[0, 1]), 1)
    factual = ~np.isnan(gold[:, 0])
    same = (gold[factual, 0] > 0) == (said[factual, 0] > 0)
    scores["factual_sign"] = round(100 * float(same.mean()), 1) if factual.any() else 0.0
    return scores


def mean_of(models: Sequence[Joint]) -> Joint:
    """The first model, with the mean of all weights. Source: Wortsman et al. 2022, model soups."""
    states = [one.state_dict() for one in models]
    for name, value in states[0].items():
        if value.is_floating_point():
            value.copy_(torch.stack([state[name] for state in states]).mean(0))
    return models[0].eval()
