"""Monte Carlo tree search without rollouts: the one core of both searches through the base of knowledge.

Source: Liu et al., MCTS-Driven Knowledge Retrieval, sections III-C and IV-A; Silver et al. 2017 and Rosin 2011 for PUCT
and for mixing other probabilities into the priors; Schrittwieser et al. 2020 for bringing values to 0 to 1 before they
are compared.

A node is a path of moves. It has up to `PRUNED` moves with prior probabilities; an expansion opens the next `RETURNED`
of them, evaluates these at once, and adds them to the tree. Selection goes down from the root by

    PUCT(move) = Q(move) + c P(move) sqrt(N) / (1 + N(move))

where N is how often the node was visited and N(move) how often the move was. The moves that are not opened yet take
part as one, with the prior of the best of them and the mean value of the node: so a node is opened further where what
it has shown is no better than what it may still hold. The paper opens five moves of a node once and for all, and can
miss the best one for ever.

Two things the paper does not say were found on small random bases, where the best path is known (`tests/commonsense`):

- Q is the mean over all paths below, each value brought to 0 to 1 among those of paths as long. A longer path has a
  higher value whatever it is, as it passes more groups or sums over more sentences; compared with all others, a node
  would look the better the more it was searched, and the search stayed where it had begun.
- P is the prior mixed half and half with the same for all moves. The policy tells how good a move is by itself, and is
  almost sure of that; but the best path often begins with a poor sentence that leads on to good ones.

The highest value in place of the mean does worse: one good path says little of those beside it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Budget", "Found", "Moves", "Walk", "search"]

EXPLORATION = 1 / math.sqrt(2)
"""The constant c of PUCT (section IV-A)."""
HORIZON = 3
"""The longest path, in moves."""
PRUNED = 50
"""The moves that are considered from one node."""
RETURNED = 5
"""The moves that one expansion opens."""
UNIFORM = 0.5
"""The share of the prior that is the same for all moves."""

Values = NDArray[np.float64]
Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """The moves from a path, the most probable first."""

    ids: NDArray[np.int64]
    priors: Values
    """Of the policy; they sum to 1."""


class Walk(Protocol):
    """What is walked through: a policy that proposes moves, and a critic that judges paths."""

    def moves(self, path: Path) -> Moves:
        """Return the moves that may follow a path, `PRUNED` at most; none where it cannot go on."""

    def values(self, path: Path, ids: NDArray[np.int64]) -> Values:
        """Return the critic's value of a path continued by each of some moves, judged in one go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How long is searched: whichever of the two is used up first. With `ms`, results depend on the machine."""

    expansions: int = 64
    ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search came to."""

    paths: tuple[Path, ...]
    """All that were judged, in the order of their values, the best first; ties in the order they were found."""
    values: tuple[float, ...]
    expansions: int

    @property
    def best(self) -> Path:
        """The path with the highest value; empty where there was no move at all."""
        return self.paths[0] if self.paths else ()


@dataclass(slots=True)
class _Node:
    """A path that was gone on from, with what is known of each of its moves, in the order of the policy."""

    path: Path
    ids: NDArray[np.int64]
    priors: Values
    spread: Values
    """P / (1 + N) of PUCT, `(m,)`."""
    counts: Values
    """How many paths were judged from each move on, its own among them, by their length, `(m, horizon)`."""
    totals: Values
    """The sums of their values, `(m, horizon)`."""
    visits: Values
    """The sum of the counts, `(m,)`."""
    means: Values
    """Of the values below each move, each brought to 0 to 1 of all paths as long, `(m,)`."""
    lost: Values
    """Infinite where nothing is left to open below a move, else 0, `(m,)`."""
    left: int
    """Moves below which something is left to open, those that are not opened themselves among them."""
    scale: int
    """Which scale of the tree the means are on; of an older one, they are worked out anew before they are compared."""
    opened: int = 0
    below: dict[int, _Node] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Tell whether nothing is left to open here or below."""
        return not self.left

    def lose(self, place: int | slice, count: int = 1) -> None:
        """Note that nothing is left to open below moves that had something."""
        self.lost[place] = np.inf
        self.left -= count

    def tell(self, place: int, level: int, count: int, total: float, scaled: float) -> None:
        """Add what was judged below one move: the sum of the values, as they are and brought to 0 to 1."""
        self.counts[place, level] += count
        self.totals[place, level] += total
        before, now = self.visits[place], self.visits[place] + count
        self.visits[place] = now
        self.means[place] = (self.means[place] * before + scaled) / now
        self.spread[place] = self.priors[place] / (1 + now)


def search(
    walk: Walk,
    budget: Budget = Budget(),  # frozen
    *,
    horizon: int = HORIZON,
    returned: int = RETURNED,
    exploration: float = EXPLORATION,
    seed: int = 0,
) -> Found:
    """Return the paths that were judged within the budget, the best first.

    Args:
        walk: policy and critic.
        budget: expansions, and milliseconds if wished.
        horizon: longest path.
        returned: moves that one expansion opens.
        exploration: the constant of PUCT.
        seed: decides between moves that PUCT finds alike. Equal seeds and budgets of expansions give equal results.

    Raises:
        ValueError: `horizon` or `returned` is less than 1.

    The search ends early when every path was judged. Cost: `budget.expansions` calls of `values` at most, each over
    `returned` moves; one call of `moves` for each path that is gone on from or turns out to end; no rollout.
    """
    if horizon < 1 or returned < 1:
        raise ValueError(f"expected a horizon and a number of returned moves of 1 or more, got {horizon}, {returned}")
    tree = _Tree(walk, horizon, returned, exploration, np.random.default_rng(seed))
    until = math.inf if budget.ms is None else time.perf_counter() + budget.ms / 1000
    done = 0
    while done < budget.expansions and not tree.root.finished and time.perf_counter() < until:
        done += tree.expand(tree.select())
    order = np.argsort(-np.array(tree.values), kind="stable").tolist()
    return Found(
        paths=tuple(tree.paths[place] for place in order),
        values=tuple(tree.values[place] for place in order),
        expansions=done,
    )


class _Tree:
    def __init__(self, walk: Walk, horizon: int, returned: int, exploration: float, draw: np.random.Generator) -> None:
        self.walk, self.horizon, self.returned, self.exploration = walk, horizon, returned, exploration
        self.draw = draw
        self.paths: list[Path] = []
        self.values: list[float] = []
        """All that were judged, as they came, with their values."""
        self.low, self.high = np.full(horizon, np.inf), np.full(horizon, -np.inf)
        """The least value that was seen, by the length of the path, and the greatest."""
        self._from, self._span = np.zeros(horizon), np.full(horizon, np.inf)
        self.scale = 0
        """How often the range of values grew."""
        self.counts, self.totals = [0] * horizon, [0.0] * horizon
        """How many paths were judged, by length, and the sums of their values."""
        self.root = self.node(())

    def node(self, path: Path) -> _Node:
        """Return a node with its moves, none of them opened."""
        moves = self.walk.moves(path)
        size = len(moves.ids)
        priors = (1 - UNIFORM) * moves.priors + UNIFORM / max(size, 1)
        counts, totals = np.zeros((2, size, self.horizon))
        visits, means, lost = np.zeros((3, size))
        return _Node(path, moves.ids, priors, priors.copy(), counts, totals, visits, means, lost, size, self.scale)

    def select(self) -> list[tuple[_Node, int]]:
        """Return the nodes down to the one to open (further), each with the move that leads on; -1 at the end."""
        node, visits, mean = self.root, float(sum(self.counts)), self._mean()
        trail: list[tuple[_Node, int]] = []
        while True:
            reach = self.exploration * math.sqrt(max(visits, 1.0))
            opened, place = node.opened, -1
            if node.scale != self.scale:
                node.means, node.scale = self._means(node.counts, node.totals), self.scale
            if opened:
                scores = node.means[:opened] + reach * node.spread[:opened] - node.lost[:opened]
                best = scores.max()
                if opened == len(node.ids) or best > mean + reach * float(node.priors[opened]):
                    alike = (scores == best).nonzero()[0]
                    place = int(alike[0] if len(alike) == 1 else self.draw.choice(alike))
            trail.append((node, place))
            if place < 0:
                return trail
            if place not in node.below:
                node.below[place] = self.node((*node.path, int(node.ids[place])))
            visits, mean = float(node.visits[place]), float(node.means[place])
            node = node.below[place]

    def expand(self, trail: Sequence[tuple[_Node, int]]) -> bool:
        """Open the next moves of the last node, and tell all above it; returns whether there were any."""
        node, _ = trail[-1]
        new = slice(node.opened, node.opened + self.returned)
        ids = node.ids[new]
        if len(ids):
            values, level = self.walk.values(node.path, ids), len(node.path)
            told = values.tolist()
            total = sum(told)
            node.opened += len(ids)
            self.paths += [(*node.path, move) for move in ids.tolist()]
            self.values += told
            self._rescale(level, min(told), max(told))
            self.counts[level] += len(ids)
            self.totals[level] += total
            scaled = (values - self._from[level]) / self._span[level]
            node.counts[new, level], node.totals[new, level], node.visits[new] = 1, values, 1
            node.means[new] = scaled
            node.spread[new] /= 2
            if level + 1 >= self.horizon:
                node.lose(new, len(ids))
            for above, place in trail[:-1]:
                above.tell(place, level, len(ids), total, float(scaled.sum()))
        for (above, place), (below, _) in zip(reversed(trail[:-1]), reversed(trail), strict=False):
            if not below.finished:
                break
            above.lose(place)
        return len(ids) > 0

    def _rescale(self, level: int, low: float, high: float) -> None:
        """Note the values that were seen of paths of one length; all means are out of date where the range grows."""
        if low < self.low[level] or high > self.high[level]:
            self.low[level], self.high[level] = min(self.low[level], low), max(self.high[level], high)
            known = self.high > self.low
            self._from, self._span = np.where(known, self.low, 0.0), np.where(known, self.high - self.low, np.inf)
            self.scale += 1

    def _mean(self) -> float:
        """Return the mean of all values, each brought to 0 to 1 of all paths as long."""
        rows = zip(self.counts, self.totals, self._from.tolist(), self._span.tolist(), strict=True)
        scaled = [float((total - count * low) / span) for count, total, low, span in rows]
        return sum(scaled) / max(sum(self.counts), 1)

    def _means(self, counts: Values, totals: Values) -> Values:
        """Return the means of the values below nodes `(..., horizon)`, each brought to 0 to 1 of all paths as long."""
        means: Values = ((totals - counts * self._from) / self._span).sum(axis=-1) / np.maximum(counts.sum(axis=-1), 1)
        return means
