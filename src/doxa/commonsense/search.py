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
    path: Path
    counts: list[int]
    """How many paths were judged from here on, itself among them, by their length."""
    totals: list[float]
    """The sums of their values."""
    moves: Moves | None = None
    priors: list[float] = field(default_factory=list)
    opened: int = 0
    children: list[_Node] = field(default_factory=list)
    visits: int = 0
    closed: bool = False
    """Nothing is left to open below."""

    def learn(self, length: int, values: Sequence[float]) -> None:
        """Take in the values of paths of one length."""
        self.visits += len(values)
        self.counts[length - 1] += len(values)
        self.totals[length - 1] += sum(values)


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
    while done < budget.expansions and not tree.root.closed and time.perf_counter() < until:
        done += tree.expand(tree.select())
    order = np.argsort(-np.array(tree.values), kind="stable").tolist()
    return Found(
        paths=tuple(tree.paths[place] for place in order),
        values=tuple(tree.values[place] for place in order),
        expansions=done,
    )


@dataclass(slots=True)
class _Tree:
    walk: Walk
    horizon: int
    returned: int
    exploration: float
    draw: np.random.Generator
    root: _Node = field(init=False)
    paths: list[Path] = field(default_factory=list)
    """All that were judged, as they came, with their values."""
    values: list[float] = field(default_factory=list)
    low: list[float] = field(init=False)
    """The least value that was seen, by the length of the path, and the greatest."""
    high: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.root = self._node(())
        self.low = [math.inf] * self.horizon
        self.high = [-math.inf] * self.horizon

    def select(self) -> list[_Node]:
        """Return the nodes from the root to the one to open (further)."""
        trail = [self.root]
        while (moves := trail[-1].moves) is not None:
            node = trail[-1]
            reach = self.exploration * math.sqrt(max(node.visits, 1))
            best, best_score = None, -math.inf
            if node.opened < len(moves.ids):
                best_score = self._mean(node) + reach * node.priors[node.opened]
            for place, child in enumerate(node.children):
                if not child.closed:
                    score = self._mean(child) + reach * node.priors[place] / (1 + child.visits)
                    if score > best_score or (score == best_score and self.draw.random() < 0.5):
                        best, best_score = child, score
            if best is None:
                break
            trail.append(best)
        return trail

    def expand(self, trail: Sequence[_Node]) -> bool:
        """Open the next moves of the last node, and tell all above it; returns whether there were any."""
        node = trail[-1]
        if node.moves is None:
            node.moves = self.walk.moves(node.path)
            node.priors = ((1 - UNIFORM) * node.moves.priors + UNIFORM / max(len(node.moves.ids), 1)).tolist()
        ids = node.moves.ids[node.opened : node.opened + self.returned]
        if len(ids):
            node.opened += len(ids)
            values = self.walk.values(node.path, ids).tolist()
            length = len(node.path) + 1
            for move, value in zip(ids.tolist(), values, strict=True):
                child = self._node((*node.path, move))
                child.learn(length, [value])
                node.children.append(child)
                self.paths.append(child.path)
            self.values += values
            self.low[length - 1] = min(self.low[length - 1], *values)
            self.high[length - 1] = max(self.high[length - 1], *values)
            for above in trail:
                above.learn(length, values)
        for above in reversed(trail):
            if above.moves is None or above.opened < len(above.moves.ids) or not all(c.closed for c in above.children):
                break
            above.closed = True
        return len(ids) > 0

    def _node(self, path: Path) -> _Node:
        return _Node(path, [0] * self.horizon, [0.0] * self.horizon, closed=len(path) >= self.horizon)

    def _mean(self, node: _Node) -> float:
        """Return the mean of the values from a node on, each brought to 0 to 1 of all paths as long."""
        total = 0.0
        for count, value, low, high in zip(node.counts, node.totals, self.low, self.high, strict=True):
            if count and high > low:
                total += (value - count * low) / (high - low)
        return total / max(node.visits, 1)
