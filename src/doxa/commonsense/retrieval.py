"""A region and an inference -> the sentences that support it (section III-E)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doxa.commonsense.base import Base
from doxa.commonsense.region import Marker, Pool
from doxa.commonsense.search import Moves, Path

__all__ = ["Retrieval", "Scored"]

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]

LENGTH = 0.1
"""The weight of the length in equation 4 (section IV-A)."""
START = -2
"""Stands for the group where there is no path yet."""


class Scored:
    """The sentences that may be moved to, read once for all inferences of a conversation."""

    def __init__(self, ids: Ids, base: Base, *, context: Vectors, inferences: Vectors) -> None:
        """Compare sentences with a conversation and with what follows from it.

        Args:
            ids: ascending.
            base: where they are.
            context: the vector of the conversation, `(dims,)`.
            inferences: the vectors of what is to be supported, `(k, dims)`.
        """
        self.ids = ids
        self.targets = np.concatenate([context[None], inferences])
        """The conversation, and each inference, `(1 + k, dims)`."""
        self.similar = base.similarity(ids, self.targets)
        """`(n, 1 + k)`."""
        self.lengths = np.log2(1 + base.word_counts(ids))
        """|k| of equation 4: the logarithm of one and its content words. What it says grows by less with each word, and
        the number itself, as in the paper, would outweigh all similarity."""
        self.free = np.ones(len(ids), dtype=bool)
        """Which were not retrieved yet, `(n,)`."""
        self.taken: list[int] = []
        """Which were, as they came: what repeats them is worth less."""

    def places(self, sentences: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return where those of some sentences that are here stand."""
        at = np.searchsorted(self.ids, sentences)
        at[at == len(self.ids)] = 0
        return at[self.ids[at] == sentences] if len(self.ids) else at[:0]

    def take(self, sentence: int) -> None:
        """Note that a sentence was retrieved: it is not moved to again."""
        self.free[np.searchsorted(self.ids, sentence)] = False
        self.taken.append(sentence)


class Retrieval:
    """The walk of the retrieving search for one inference; see `doxa.commonsense.search.Walk`.

    The value of a path is `c_retrieve` of the sentence it leads to, equation 4.
    """

    def __init__(self, base: Base, scored: Scored, inference: int | None = None) -> None:
        """Start in a region.

        Args:
            base: what is walked through.
            scored: the sentences of the region, with what was retrieved of them so far.
            inference: the place of the one that is to be supported; None where there is none.
        """
        self._base, self._scored = base, scored
        targets = [0] if inference is None else [0, 1 + inference]
        both = scored.targets[targets].sum(axis=0)
        self._similar = scored.similar[:, targets].sum(axis=1).astype(np.float64)
        self._norm = max(float(np.linalg.norm(both)), 1e-12)
        self._mark = Marker(base, lambda vectors: vectors @ (both / self._norm))
        self._pools: dict[int, Pool] = {}

    def concept(self, sentence: int) -> int:
        """Return the concept by which a sentence is left; -1 for none."""
        return self._mark(sentence)[0]

    def moves(self, path: Path) -> Moves:
        """Return the sentences of the group of the marked concept that are in the region; from the start, all of it.

        The policy: similarity to the inference and the conversation, taken together.
        """
        group = self._mark(path[-1])[1] if path else START
        if group not in self._pools:
            self._pools[group] = self._pool(group)
        return self._pools[group].moves(path)

    def _pool(self, group: int) -> Pool:
        scored = self._scored
        if group == START:
            at = np.flatnonzero(scored.free)
        else:
            at = scored.places(self._base.group_sentences[group] if group >= 0 else np.empty(0, dtype=np.int32))
            at = at[scored.free[at]]
        pool = Pool(scored.ids[at], self._similar[at] / self._norm)
        self._base.expect(pool.ids)
        return pool

    def values(self, path: Path, ids: Ids) -> NDArray[np.float64]:
        """Return `c_retrieve` of each, less for what is like the path or what was retrieved before."""
        at = np.searchsorted(self._scored.ids, ids)
        worth: NDArray[np.float64] = self._similar[at] + LENGTH * self._scored.lengths[at]
        if met := [*self._scored.taken, *path]:
            rows = self._base.vectors(np.concatenate((ids, np.array(met))))
            worth -= (rows[: len(ids)] @ rows[len(ids) :].T).max(axis=1, initial=0.0)
        return worth
