"""Sets -> the cheapest set that has a member of each, by branching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

__all__ = ["cheapest_hit"]

T = TypeVar("T", bound=Hashable)
Sets = list[frozenset[T]]


def cheapest_hit(sets: Iterable[Iterable[T]], costs: Mapping[T, int], branches: int) -> frozenset[T] | None:
    """Return the set of least total cost that has a member of every set; None when that takes too many branches.

    Args:
        sets: none of them empty.
        costs: what each member costs, 0 or more; where optima cost the same, any of them is returned.
        branches: how many are looked at before it gives up.

    The member of most sets is taken or left out in turn; a set with one member left has no choice, and a branch ends
    whose sets that have nothing in common cost as much as the best so far. Where one member is in nearly all sets, two
    branches do. Cost: O(members of all sets) a branch.
    """
    best: tuple[int, frozenset[T]] | None = None
    waiting: list[tuple[Sets[T], frozenset[T], int]] = [(list({frozenset(one) for one in sets}), frozenset(), 0)]
    for _ in range(branches):
        if not waiting:
            return best[1] if best else None
        left, taken, cost = waiting.pop()
        left, taken, cost = _forced(left, taken, cost, costs)
        if best is not None and cost + _least(left, costs) >= best[0]:
            continue
        if not left:
            best = cost, taken
            continue
        counts = Counter(member for one in left for member in one)
        member = max(counts, key=lambda one: (counts[one], -costs[one]))
        waiting.append(([one - {member} for one in left], taken, cost))
        waiting.append(([one for one in left if member not in one], taken | {member}, cost + costs[member]))
    return None


def _forced(left: Sets[T], taken: frozenset[T], cost: int, costs: Mapping[T, int]) -> tuple[Sets[T], frozenset[T], int]:
    """Take what is the only member of a set."""
    alone = frozenset(member for one in left if len(one) == 1 for member in one)
    if not alone:
        return left, taken, cost
    return [one for one in left if not one & alone], taken | alone, cost + sum(costs[member] for member in alone)


def _least(left: Sets[T], costs: Mapping[T, int]) -> int:
    """Return what sets cost at least: the cheapest members of those that have nothing in common."""
    met: set[T] = set()
    least = 0
    for one in sorted(left, key=len):
        if met.isdisjoint(one):
            met |= one
            least += min(costs[member] for member in one)
    return least
