"""What both searches share: the sentences that can be reached from a concept, and the concept one goes on by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from doxa.commonsense.base import Base
from doxa.commonsense.search import HORIZON, PRUNED, Moves, Path

__all__ = ["Marker", "Pool"]

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]

TEMPERATURE = 0.1
"""Of the policies: cosine similarities of sentences differ by some tenths."""


class Pool:
    """Sentences that can be moved to from a place, by their similarity to what is searched for."""

    def __init__(self, ids: Ids, scores: Scores) -> None:
        """Keep the highest scores, best first, ties by number: what can be pruned to `PRUNED` off any path.

        O(n) beside the sorting of what is kept.
        """
        most = PRUNED + HORIZON - 1  # the others may lie on the path
        if len(ids) > most:
            cut = np.partition(scores, len(scores) - most)[len(scores) - most]
            kept = np.flatnonzero(scores >= cut)
            ids, scores = ids[kept], scores[kept]
        order = np.lexsort((ids, -scores))[:most]
        self.ids = ids[order]
        """Those, the highest first."""
        self._weights = np.exp((scores[order] - scores.max(initial=-np.inf)) / TEMPERATURE)
        self._place = {sentence: place for place, sentence in enumerate(self.ids.tolist())}
        self._whole = _moves(self.ids, self._weights)

    def moves(self, path: Path) -> Moves:
        """Return the first `PRUNED` less those that the path has made already; the policy is their softmax."""
        met = [self._place[sentence] for sentence in path if sentence in self._place]
        if not met:
            return self._whole
        free = np.ones(len(self.ids), dtype=bool)
        free[met] = False
        return _moves(self.ids[free], self._weights[free])


def _moves(ids: Ids, weights: Scores) -> Moves:
    kept = weights[:PRUNED]
    return Moves(ids[:PRUNED], kept / kept.sum())  # of none there is nothing to divide


class Marker:
    """Marks the concept of a sentence that is most similar to what is searched for; keeps what it has seen."""

    def __init__(self, base: Base, similarity: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> None:
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
