"""Monte Carlo tree search without rollouts: the one core of both searches through the base of knowledge.

Source: Liu et al., MCTS-Driven Knowledge Retrieval, sections III-C and IV-A; Silver et al. 2017 and Rosin 2011 for
PUCT; Schrittwieser et al. 2020 for bringing values to 0 to 1 before they are compared.

A node is a path of moves. It has up to `PRUNED` moves with prior probabilities; an expansion opens the next
`RETURNED` of them, evaluates these at once, and adds them to the tree. Selection goes down from the root by

    PUCT(move) = Q(move) + c P(move) sqrt(N) / (1 + N(move))

where N is how often the node was visited and N(move) how often the move was. The moves that are not opened yet take
part as one, with the prior of the best of them and the mean value of the node: so a node is opened further where what
it has shown is no better than what it may still hold. The paper opens five moves of a node once and for all, and can
miss the best one for ever."""

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

    expansions: int = 48
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
    moves: Moves | None = None
    opened: int = 0
    children: list[_Node] = field(default_factory=list)
    visits: int = 0
    total: float = 0.0
    """Sum of the values that were seen below."""
    closed: bool = False
    """Nothing is left to open below."""

    @property
    def mean(self) -> float:
        return self.total / self.visits if self.visits else 0.0


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

    The search ends early when every path was judged. Cost: `budget.expansions` calls of `moves` at most and as many of
    `values`, each over `returned` moves; no rollout.
    """
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
    root: _Node = field(default_factory=lambda: _Node(()))
    paths: list[Path] = field(default_factory=list)
    """All that were judged, as they came, with their values."""
    values: list[float] = field(default_factory=list)
    low: float = math.inf
    high: float = -math.inf

    def select(self) -> list[_Node]:
        """Return the nodes from the root to the one to open (further)."""
        trail = [self.root]
        while (moves := trail[-1].moves) is not None:
            node = trail[-1]
            reach = self.exploration * math.sqrt(max(node.visits, 1))
            best, best_score = None, -math.inf
            if node.opened < len(moves.ids):
                best_score = self._scaled(node.mean) + reach * float(moves.priors[node.opened])
            for place, child in enumerate(node.children):
                if not child.closed:
                    score = self._scaled(child.mean) + reach * float(moves.priors[place]) / (1 + child.visits)
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
        ids = node.moves.ids[node.opened : node.opened + self.returned]
        if len(ids):
            node.opened += len(ids)
            values = self.walk.values(node.path, ids).tolist()
            for move, value in zip(ids.tolist(), values, strict=True):
                path = (*node.path, move)
                node.children.append(_Node(path, visits=1, total=value, closed=len(path) >= self.horizon))
                self.paths.append(path)
            self.values += values
            self.low, self.high = min(self.low, *values), max(self.high, *values)
            for above in trail:
                above.visits += len(values)
                above.total += sum(values)
        for above in reversed(trail):
            if above.moves is None or above.opened < len(above.moves.ids) or not all(c.closed for c in above.children):
                break
            above.closed = True
        return len(ids) > 0

    def _scaled(self, value: float) -> float:
        """Bring a value to 0 to 1 of all that was seen."""
        return (value - self.low) / max(self.high - self.low, 1e-9) if self.paths else 0.0
