"""How far a sentence is from a conversation: the cheapest way to carry the words of one to those of the other.

Source: section III-D (semantic coherence by the Wasserstein distance); Kusner et al. 2015, From Word Embeddings to
Document Distances, for the distance over word vectors and its lower bounds. The paper does not say what is transported;
its constant of -1000 "to scale the distance to a range between 0 and 1" fits the distances between the components of
two vectors, which say nothing about words. Here the masses are the content words, equal in weight, and the cost is half
the Euclidean distance of their unit vectors, so that the distance is in 0 to 1 as it stands.
"""

from __future__ import annotations

from itertools import pairwise
from math import gcd, inf

import numpy as np
from numpy.typing import NDArray

__all__ = ["costs_of", "exact", "lower_bounds"]

Vectors = NDArray[np.float32]
Costs = NDArray[np.float64]

SAME = 1e-6
"""Squared costs below this are the rounding of single precision: the words are the same, and the root is taken of 0."""
SLACK = 1e-12
"""What is less is rounding: without it, a chain could go round in circles for nothing."""


def costs_of(first: Vectors, second: Vectors) -> Costs:
    """Return half the Euclidean distances between unit rows, `(n, m)`, 0 to 1."""
    squares = 0.5 - 0.5 * (first @ second.T).astype(np.float64)
    return np.sqrt(np.where(squares < SAME, 0.0, np.minimum(squares, 1.0)))


def exact(costs: Costs) -> float:
    """Return the least cost of carrying rows of equal weight to columns of equal weight; 1 where either is none.

    Every row goes to the column that is cheapest for it; then columns that got too much hand it on, along the cheapest
    chain of columns, to those that have room. Well under 1 ms for 60 words against 10.

    Source: successive shortest paths; Ahuja et al. 1993, Network Flows, section 9.7.
    """
    if not costs.size:
        return 1.0
    if 1 in costs.shape:
        return float(costs.mean())
    if costs.shape[0] < costs.shape[1]:
        costs = costs.T
    return _Plan(costs).balanced()


class _Plan:
    """Which row carries how much to which column: as cheap as can be for what each column gets.

    Masses are whole numbers: each row has as many units as there are columns, and each column takes as many as there
    are rows, both without their common divisor.
    """

    def __init__(self, costs: Costs) -> None:
        rows, columns = costs.shape
        shared = gcd(rows, columns)
        self._costs: list[list[float]] = costs.tolist()
        self._all = rows * columns // shared
        self._held: list[dict[int, int]] = [{} for _ in range(columns)]
        """Column -> row -> units."""
        for row, column in enumerate(costs.argmin(axis=1).tolist()):
            self._held[column][row] = columns // shared
        self._excess = [sum(held.values()) - rows // shared for held in self._held]
        self._steps = [self._cheapest(column) for column in range(columns)]
        """Column -> column -> the least that it costs more to carry a unit to the second, and the row that does."""

    def balanced(self) -> float:
        """Return the cost of the plan when no column has more than its share."""
        while max(self._excess) > 0:
            self._hand_on(self._chain())
        total = 0.0
        for column, held in enumerate(self._held):
            total += sum(self._costs[row][column] * units for row, units in held.items())
        return float(total / self._all)

    def _cheapest(self, column: int) -> list[tuple[float, int]]:
        steps = [(inf, -1)] * len(self._held)
        for row in self._held[column]:
            costs = self._costs[row]
            here = costs[column]
            for other, cost in enumerate(costs):
                if cost - here < steps[other][0]:
                    steps[other] = cost - here, row
        return steps

    def _chain(self) -> list[int]:
        """Return the cheapest chain from a column with too much to one with room (Bellman and Ford)."""
        far = [0.0 if excess > 0 else inf for excess in self._excess]
        before = [-1] * len(far)
        queue = [column for column, excess in enumerate(self._excess) if excess > 0]
        for column in queue:
            here = far[column]
            for other, (cost, _) in enumerate(self._steps[column]):
                if here + cost < far[other] - SLACK:
                    far[other], before[other] = here + cost, column
                    queue.append(other)
        last = min((column for column, excess in enumerate(self._excess) if excess < 0), key=far.__getitem__)
        chain = [last]
        while before[chain[-1]] >= 0:
            chain.append(before[chain[-1]])
        return chain[::-1]

    def _hand_on(self, chain: list[int]) -> None:
        """Move as much as can be from the first column of a chain to the last."""
        moves = [(one, other, self._steps[one][other][1]) for one, other in pairwise(chain)]
        most = min(self._excess[chain[0]], -self._excess[chain[-1]], *(self._held[one][row] for one, _, row in moves))
        for one, other, row in moves:
            self._held[other][row] = self._held[other].get(row, 0) + most
            self._held[one][row] -= most
            if not self._held[one][row]:
                del self._held[one][row]
        self._excess[chain[0]] -= most
        self._excess[chain[-1]] += most
        for column in chain:
            self._steps[column] = self._cheapest(column)


def lower_bounds(costs: Costs, owner: NDArray[np.int64], count: int) -> Costs:
    """Return a lower bound of the distance from one text to each of several, `(count,)`.

    Args:
        costs: from the words of the one `(n, m)` to those of all others, one text after the other.
        owner: which of the others each of the `m` words belongs to, ascending.
        count: how many others there are; one without words gets 1.

    The relaxed distance: each word goes to its nearest one, in both directions, and the larger sum counts. O(n m).
    """
    bounds = np.ones(count)
    if not costs.size:
        return bounds
    sizes = np.bincount(owner, minlength=count)
    there = np.flatnonzero(sizes)
    starts = (np.cumsum(sizes) - sizes)[there]
    to_text = np.add.reduceat(costs.min(axis=0), starts) / sizes[there]
    from_text = np.minimum.reduceat(costs, starts, axis=1).mean(axis=0)
    bounds[there] = np.maximum(to_text, from_text)
    return bounds
