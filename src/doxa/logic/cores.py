"""Items that cannot all hold -> the smallest sets of them that already clash.

The items may be anything; `holds` tells whether some of them can hold together (with whatever is always taken for
granted). It must be monotone: what is part of something that holds, holds. Deterministic: the answer is a function of
the items' order and of `holds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

__all__ = ["minimal_cores", "preferred_conflict"]

Item = TypeVar("Item")
Holds = Callable[[Sequence[Item]], bool]


def preferred_conflict(items: Sequence[Item], holds: Holds[Item]) -> list[Item]:
    """Return the subset-minimal clash that the order of the items prefers: the earlier an item, the rather it is in it.

    Args:
        items: what cannot hold together although nothing clashes (`holds(items)` is false, `holds([])` true).
        holds: whether some of the items can hold together.

    Cost: O(k log(n/k) + k) calls of `holds` for a clash of k among n items.
    Source: Junker 2004, "QuickXplain: preferred explanations and relaxations for over-constrained problems", AAAI.
    """
    return _conflict([], False, list(items), holds)


def _conflict(given: list[Item], grown: bool, items: list[Item], holds: Holds[Item]) -> list[Item]:
    """Return the part of `items` in the clash; `grown`: `given` was added to since it was last asked about."""
    if grown and not holds(given):
        return []
    if len(items) == 1:
        return items
    half = len(items) // 2
    first, second = items[:half], items[half:]
    late = _conflict(given + first, True, second, holds)
    early = _conflict(given + late, bool(late), first, holds)
    return early + late


def minimal_cores(items: Sequence[Item], holds: Holds[Item]) -> Iterator[list[Item]]:
    """Yield every subset-minimal clash once; none when all items can hold together.

    A second solver knows the subsets that are still open. One of them that holds is grown to a maximal one, and all its
    subsets are closed; one that does not is shrunk to a clash, and all its supersets are closed.

    Cost: one step for each minimal clash and each maximal subset that holds, of which there may be exponentially many;
    a step is O(n) calls of `holds`.
    Source: Liffiton, Previti, Malik and Marques-Silva 2016, "Fast, flexible MUS enumeration", Constraints 21,
    algorithm 1 (MARCO).
    """
    from pysat.solvers import Solver

    with Solver(name="minisat22") as open_subsets:
        places = range(len(items))
        open_subsets.set_phases([place + 1 for place in places])
        while open_subsets.solve():
            values = open_subsets.get_model()
            chosen = [place for place in places if place >= len(values) or values[place] > 0]
            if holds([items[place] for place in chosen]):
                grown = _grow(chosen, items, holds)
                open_subsets.add_clause([place + 1 for place in places if place not in grown])
                if len(grown) == len(items):
                    return
            else:
                clash = preferred_conflict(chosen, lambda some: holds([items[place] for place in some]))
                open_subsets.add_clause([-(place + 1) for place in clash])
                yield [items[place] for place in clash]


def _grow(chosen: list[int], items: Sequence[Item], holds: Holds[Item]) -> set[int]:
    """Return the places of a maximal set of items that hold together, beginning with those that do."""
    grown = list(chosen)
    for place in sorted(set(range(len(items))).difference(chosen)):
        if holds([items[one] for one in (*grown, place)]):
            grown.append(place)
    return set(grown)
