"""A conversation -> the region of the base that its concepts, and what lies between them, belong to (section III-D)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from doxa.commonsense.base import Base
from doxa.commonsense.context import Context
from doxa.commonsense.region import Marker, Pool
from doxa.commonsense.search import Budget, Found, Moves, Path, search
from doxa.commonsense.transport import costs_of, exact, lower_bounds

__all__ = ["Bridging", "Region", "bridge"]

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]

NEAR = 2
"""Groups of the base that each inference adds to the region: what is said and what follows from it are bridged."""
COHERENCE = -1.0
"""The constant lambda of equation 3, for distances that are in 0 to 1 already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """Where knowledge for a conversation is looked for."""

    sentences: Ids
    """Ascending."""
    groups: tuple[int, ...]
    """Of the explicit concepts first, then of the concepts that connect them, as they were found."""
    explicit: int
    """How many of the groups are of explicit concepts."""
    found: Found


def bridge(
    context: Context,
    base: Base,
    inferred: Vectors,
    *,
    epsilon: float,
    budget: Budget = Budget(),  # noqa: B008  # frozen
    seed: int = 0,
) -> Region:
    """Return the region: the sentences of all groups on a path with `c_bridge` of `epsilon` or more.

    This is the constraint of section III-A, `P_b(K_c | C)` within a bound. The paper writes "at most epsilon" of what
    is to be high; meant is at least. The groups of explicit concepts belong to it in any case, and beyond the paper
    the `NEAR` groups nearest to each inference: without them, half of what would support it is out of reach. Where
    the conversation has no concepts, the walk starts among the groups that are most similar to all of it.

    Args:
        context: the conversation.
        base: what is walked through.
        inferred: the vectors of the chosen inferences, `(k, dims)`; of none where there are none.
        epsilon: the bound; `c_bridge` is -1 to 1.
        budget: of the search.
        seed: of the search.

    Cost: `budget.expansions` expansions; one reading of the vectors of each group that is walked through.
    """
    walk = Bridging(context, base, epsilon)
    found = search(walk, budget, seed=seed)
    groups = dict.fromkeys(walk.starts)
    explicit = len(groups)
    for path, value in zip(found.paths, found.values, strict=True):
        if value < epsilon:
            break
        groups |= dict.fromkeys(group for group in walk.groups(path) if group >= 0)
    groups |= dict.fromkeys(
        np.argsort(-(inferred @ base.group_vectors.T), axis=1, kind="stable")[:, :NEAR].ravel().tolist()
    )
    sentences, _ = base.group_sentences.of(np.array(list(groups), dtype=np.int64))
    return Region(sentences=np.unique(sentences).astype(np.int64), groups=tuple(groups), explicit=explicit, found=found)


class Bridging:
    """The walk of the bridging search; see `doxa.commonsense.search.Walk`."""

    def __init__(self, context: Context, base: Base, epsilon: float = -math.inf) -> None:
        """Start at the groups of the explicit concepts of a conversation.

        The value of what is below `epsilon` is an upper bound of `c_bridge` that is below it as well.
        """
        self._epsilon = epsilon
        self._base = base
        self._context = context
        rows = (context.vector[None], context.concept_vectors)
        self._queries = np.concatenate(rows).astype(np.float32)
        self._mark = Marker(base, lambda vectors: vectors @ context.vector)
        self._pools: dict[tuple[int, ...], Pool] = {}
        self._bound: dict[int, float] = {}
        """Sentence -> its distance, or a lower bound of it."""
        self._costs: dict[int, NDArray[np.float64]] = {}
        """Sentence -> the costs of carrying its words, as long as its distance is only bounded."""
        explicit = dict.fromkeys(context.groups.tolist())
        if not explicit and len(base.group_vectors):
            explicit = dict.fromkeys(np.argsort(-(base.group_vectors @ context.vector), kind="stable")[:3].tolist())
        self.starts: tuple[int, ...] = tuple(explicit)

    def groups(self, path: Path) -> list[int]:
        """Return the group of the marked concept of each sentence of a path; -1 where it has none."""
        return [self._mark(sentence)[1] for sentence in path]

    def moves(self, path: Path) -> Moves:
        """Return the sentences of the group of the marked concept; from the start, of all explicit concepts.

        The policy: the mean of the similarity to the conversation and to the nearest of its explicit concepts.
        """
        groups = (self._mark(path[-1])[1],) if path else self.starts
        if groups not in self._pools:
            self._pools[groups] = self._pool(groups)
        return self._pools[groups].moves(path)

    def values(self, path: Path, ids: Ids) -> NDArray[np.float64]:
        """Return `c_bridge` of each, equation 3: the share of explicit concepts in groups passed, less the distance."""
        wanted = self._context.groups
        marked = np.array([self._mark(sentence)[1] for sentence in ids.tolist()])
        before = np.array(self.groups(path), dtype=np.int64)
        passed = (before[:, None] == wanted).any(axis=0) | (marked[:, None] == wanted)
        rates = passed.mean(axis=1) if len(wanted) else np.zeros(len(ids))
        return rates + COHERENCE * self._distances(ids, (rates - self._epsilon) / -COHERENCE)

    def _pool(self, groups: tuple[int, ...]) -> Pool:
        sentences, _ = self._base.group_sentences.of(np.array([one for one in groups if one >= 0], dtype=np.int64))
        ids = np.unique(sentences).astype(np.int64)
        table = self._base.similarity(ids, self._queries)
        scores = table[:, 0] / 2 + (table[:, 1:].max(axis=1) if table.shape[1] > 1 else table[:, 0]) / 2
        pool = Pool(ids, scores.astype(np.float64))
        self._base.expect(pool.ids)
        self._read(pool.ids)
        return pool

    def _read(self, ids: Ids) -> None:
        """Read the words of sentences that may be judged, all of a pool at once, and bound their distances."""
        new = np.array([one for one in ids.tolist() if one not in self._bound], dtype=np.int64)
        words, owner = self._base.sentence_words.of(new)
        costs = costs_of(self._context.word_vectors, self._base.word_vectors(words))
        self._bound |= zip(new.tolist(), lower_bounds(costs, owner, len(new)).tolist(), strict=True)
        places = pairwise(np.searchsorted(owner, np.arange(len(new) + 1)).tolist())
        self._costs |= {one: costs[:, start:end] for one, (start, end) in zip(new.tolist(), places, strict=True)}

    def _distances(self, ids: Ids, most: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the distances to the conversation; of a sentence that is further than `most`, a lower bound of it.

        Such a sentence cannot be in the region, so its exact distance is not worked out.
        """
        if any(sentence not in self._bound for sentence in ids.tolist()):
            self._read(ids)
        for sentence, bound in zip(ids.tolist(), most.tolist(), strict=True):
            if sentence in self._costs and self._bound[sentence] <= bound:
                self._bound[sentence] = exact(self._costs.pop(sentence))
        return np.array([self._bound[sentence] for sentence in ids.tolist()])
