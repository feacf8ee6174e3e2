"""What both searches share: the sentences that can be reached from a concept, and the concept one goes on by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from doxa.commonsense.base import KnowledgeBase
from doxa.commonsense.search import HORIZON, PRUNED, Moves, Path

__all__ = ["Marker", "softmax", "top", "without"]

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

TEMPERATURE = 0.1
"""Of the policies: cosine similarities of sentences differ by some tenths."""


def softmax(scores: Scores) -> Scores:
    """Return the policy's probabilities of moves from their similarities."""
    weights = np.exp((scores - scores.max(initial=-np.inf)) / TEMPERATURE) if len(scores) else scores
    return weights / weights.sum() if len(weights) else weights


def without(path: Path, ids: Ids, scores: Scores) -> Moves:
    """Return the first `PRUNED` of what `top` gave as moves, less those that the path has made already."""
    free = np.ones(len(ids), dtype=bool)
    for sentence in path:
        free &= ids != sentence
    return Moves(ids[free][:PRUNED], softmax(scores[free][:PRUNED]))


def top(ids: Ids, scores: Scores) -> tuple[Ids, Scores]:
    """Return the ids with the highest scores, best first, ties by number: what can be pruned to `PRUNED` off any path.

    O(n) beside the sorting of what is kept.
    """
    most = PRUNED + HORIZON - 1  # the others may lie on the path
    if len(ids) > most:
        cut = np.partition(scores, len(scores) - most)[len(scores) - most]
        kept = np.flatnonzero(scores >= cut)
        ids, scores = ids[kept], scores[kept]
    order = np.lexsort((ids, -scores))[:most]
    return ids[order], scores[order]


class Marker:
    """Marks the concept of a sentence that is most similar to what is searched for; keeps what it has seen."""

    def __init__(self, base: KnowledgeBase, similarity: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> None:
        """Take the similarity of concept vectors `(n, dims)` to what is searched for, `(n,)`."""
        self._base = base
        self._similarity = similarity
        self._kept: dict[int, tuple[int, int]] = {}

    def __call__(self, sentence: int) -> tuple[int, int]:
        """Return the marked concept of a sentence and its group; -1 for one without concepts."""
        if sentence not in self._kept:
            concepts = self._base.sentence_concepts[sentence]
            if len(concepts):
                best = int(self._similarity(self._base.concept_vectors(concepts)).argmax())
                concept = int(concepts[best])
                self._kept[sentence] = concept, int(self._base.concept_group[concept])
            else:
                self._kept[sentence] = -1, -1
        return self._kept[sentence]
