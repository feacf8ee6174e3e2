"""Intervals whose bounds may be coarse or unknown -> how they may lie to each other, and clauses that say so.

Allen's thirteen relations (Allen 1983, "Maintaining knowledge about temporal intervals", CACM 26) are orders of four
end points, and all of their algebra is computed from that: a relation is a conjunction of differences of days, a set
of relations excludes the others clause by clause. So a theory decides about any statements on intervals, exactly and
with a core; `tightened` is the quicker way to what follows from many of them, sound but not complete.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from itertools import combinations, product
from typing import Literal

from doxa.core.values import Interval, Precision
from doxa.logic.cores import preferred_conflict
from doxa.logic.differences import ORIGIN, Difference, DifferenceGraph, at_least, at_most
from doxa.logic.literals import Lit

__all__ = [
    "ANY_RELATION",
    "Allen",
    "Related",
    "clash",
    "compose",
    "converse",
    "dated",
    "end_of",
    "possible",
    "related",
    "relations_between",
    "start_of",
    "tightened",
]


class Allen(StrEnum):
    """How one interval lies to another; exactly one of the thirteen holds between any two."""

    BEFORE = "before"
    MEETS = "meets"
    OVERLAPS = "overlaps"
    STARTS = "starts"
    DURING = "during"
    FINISHES = "finishes"
    EQUALS = "equals"
    FINISHED_BY = "finished by"
    CONTAINS = "contains"
    STARTED_BY = "started by"
    OVERLAPPED_BY = "overlapped by"
    MET_BY = "met by"
    AFTER = "after"


ANY_RELATION = frozenset(Allen)

Relations = frozenset[Allen]
Place = Literal["start", "end"]
Order = tuple[Place, Literal["<", "=", ">"], Place]

_DEFINITIONS: Mapping[Allen, tuple[Order, ...]] = {
    Allen.BEFORE: (("end", "<", "start"),),
    Allen.MEETS: (("end", "=", "start"),),
    Allen.OVERLAPS: (("start", "<", "start"), ("end", ">", "start"), ("end", "<", "end")),
    Allen.STARTS: (("start", "=", "start"), ("end", "<", "end")),
    Allen.DURING: (("start", ">", "start"), ("end", "<", "end")),
    Allen.FINISHES: (("start", ">", "start"), ("end", "=", "end")),
    Allen.EQUALS: (("start", "=", "start"), ("end", "=", "end")),
}
"""Orders of the end points of two intervals, each of which starts before it ends (Allen 1983, figure 2). The other six
relations are these with the intervals exchanged."""


@dataclass(frozen=True, slots=True)
class Related:
    """The statement, under a name, that one of some relations holds between two intervals."""

    name: Hashable
    left: Hashable
    relations: Relations
    right: Hashable


def start_of(interval: Hashable) -> Hashable:
    """Return the variable of the first day of a named interval."""
    return "start", interval


def end_of(interval: Hashable) -> Hashable:
    """Return the variable of the first day after a named interval."""
    return "end", interval


def converse(relations: Iterable[Allen]) -> Relations:
    """Return the relations of the second interval to the first."""
    order = list(Allen)
    return frozenset(order[-1 - order.index(relation)] for relation in relations)


def compose(one: Iterable[Allen], other: Iterable[Allen]) -> Relations:
    """Return the relations that A may have to C when A has one of `one` to B and B one of `other` to C.

    The table is computed from the end points, once (Allen 1983, figure 4).
    """
    table = _composition()
    return frozenset().union(*(table[pair] for pair in product(one, other)))


def relations_between(one: Interval, other: Interval) -> Relations:
    """Return every relation that two intervals may have, given what is known of their bounds.

    A bound without a day may be any day. A coarse bound is some day of its month or year; an interval that starts and
    ends on the same date is some stretch of that day, month or year. Both intervals are at least one day long. () when
    the bounds of one of them are the wrong way round.

    Cost: thirteen small checks, together about 0.3 ms.
    """
    graph = DifferenceGraph()
    known = _bounds([*dated(0, one), *dated(1, other)])
    if any(graph.add(bound, tag) is not None for tag, bound in enumerate(known)):
        return frozenset()
    return frozenset(relation for relation in Allen if _fits(graph, _bounds(_orders(0, relation, 1)), len(known)))


def possible(one: Interval, relations: Collection[Allen], other: Interval) -> bool:
    """Tell whether two intervals may have one of some relations; see `relations_between`."""
    return not relations_between(one, other).isdisjoint(relations)


def dated(name: Hashable, interval: Interval) -> list[Lit]:
    """Return literals, all of which hold, for the bounds of an interval under a name; see `relations_between`."""
    start, end = start_of(name), end_of(name)
    found = [at_most(start, 0, end, strict=True)]
    if interval.start is not None and interval.start == interval.end:
        first, last = _unit(interval.start, interval.end_precision)
        return [*found, at_least(start, first), at_most(end, last + 1)]
    for variable, day, precision in (
        (start, interval.start, interval.start_precision),
        (end, interval.end, interval.end_precision),
    ):
        if day is not None:
            first, last = _unit(day, precision)
            found += [at_least(variable, first), at_most(variable, last)]
    return found


def related(left: Hashable, relations: Collection[Allen], right: Hashable) -> list[list[Lit]]:
    """Return clauses of a theory that say that one of some relations holds between two named intervals.

    One relation is its orders; several are the denial of each of the others. With them come the clauses that both
    intervals start before they end.
    """
    proper = [[at_most(start_of(name), 0, end_of(name), strict=True)] for name in (left, right)]
    if len(relations) == 1:
        return proper + [[lit] for relation in relations for lit in _orders(left, relation, right)]
    others = [relation for relation in Allen if relation not in relations]
    return proper + [[~lit for lit in _orders(left, relation, right)] for relation in others]


def tightened(told: Iterable[Related]) -> Mapping[tuple[Hashable, Hashable], Relations] | None:
    """Return the relations that statements leave between every two intervals; None when they leave none somewhere.

    Path consistency: what A may be to C is cut down to what it may be through each B, until nothing changes. None is
    always right; a network that keeps relations everywhere may still have no solution, unless each statement names one
    relation (a `Theory` with `related` decides all).

    Cost: O(n^3) for n intervals.
    Source: Allen 1983, section 4, the propagation algorithm.
    """
    network: dict[tuple[Hashable, Hashable], Relations] = {}
    names: dict[Hashable, None] = {}
    changed: dict[tuple[Hashable, Hashable], None] = {}

    def cut(left: Hashable, relations: Relations, right: Hashable) -> bool:
        before = network.get((left, right), ANY_RELATION)
        after = before & (relations & {Allen.EQUALS} if left == right else relations)
        if after != before:
            network[left, right], network[right, left] = after, converse(after)
            changed[left, right] = None
        return bool(after)

    for statement in told:
        names.update({statement.left: None, statement.right: None})
        if not cut(statement.left, statement.relations, statement.right):
            return None
    while changed:
        left, right = next(iter(changed))
        del changed[left, right]
        here = network[left, right]
        for other in names:
            if other in (left, right):
                continue
            onward = compose(here, network.get((right, other), ANY_RELATION))
            back = compose(network.get((other, left), ANY_RELATION), here)
            if not cut(left, onward, other) or not cut(other, back, right):
                return None
    return {(one, other): network.get((one, other), ANY_RELATION) for one in names for other in names if one != other}


def clash(told: Sequence[Related]) -> tuple[Hashable, ...] | None:
    """Return the names of a subset-minimal set of statements that path consistency refutes; None when it refutes none.

    Later statements rather than earlier ones, in the order told. Cost: O(k log(n/k)) runs of `tightened`.
    """
    if tightened(told) is not None:
        return None
    conflict = preferred_conflict(list(reversed(told)), lambda some: tightened(some) is not None)
    return tuple(statement.name for statement in told if statement in conflict)


def _orders(left: Hashable, relation: Allen, right: Hashable) -> Iterator[Lit]:
    """Yield the literals that together define a relation of two named intervals."""
    if relation not in _DEFINITIONS:
        (relation,), left, right = converse([relation]), right, left
    variable = {"start": start_of, "end": end_of}
    for one, sign, other in _DEFINITIONS[relation]:
        first, second = variable[one](left), variable[other](right)
        if sign in "<=":
            yield at_most(first, 0, second, strict=sign == "<")
        if sign in "=>":
            yield at_least(first, 0, second, strict=sign == ">")


def _bounds(literals: Iterable[Lit]) -> list[Difference]:
    return [lit.atom for lit in literals if isinstance(lit.atom, Difference)]


def _fits(graph: DifferenceGraph, bounds: Sequence[Difference], first_tag: int) -> bool:
    """Tell whether bounds can be kept beside those of a graph, which has them no longer afterwards."""
    added: list[tuple[Difference, int]] = []
    for tag, bound in enumerate(bounds, first_tag):
        if graph.add(bound, tag) is not None:
            break
        added.append((bound, tag))
    for bound, tag in added:
        graph.remove(bound, tag)
    return len(added) == len(bounds)


def _unit(day: date, precision: Precision) -> tuple[int, int]:
    """Return the first and last day of a day, month or year."""
    match precision:
        case "day":
            return day.toordinal(), day.toordinal()
        case "month":
            first = day.replace(day=1)
            return first.toordinal(), first.toordinal() + monthrange(first.year, first.month)[1] - 1
        case "year":
            return date(day.year, 1, 1).toordinal(), date(day.year, 12, 31).toordinal()


@cache
def _composition() -> Mapping[tuple[Allen, Allen], Relations]:
    """Return the table of `compose`: three intervals have six ends, so six days show every order of them."""
    days = list(combinations(range(6), 2))
    relation = {(one, other): _relation(one, other) for one in days for other in days}
    table: dict[tuple[Allen, Allen], Relations] = {}
    for one, middle, other in product(days, repeat=3):
        pair = relation[one, middle], relation[middle, other]
        table[pair] = table.get(pair, frozenset()) | {relation[one, other]}
    return table


def _relation(one: tuple[int, int], other: tuple[int, int]) -> Allen:
    """Return the relation of two intervals with known ends."""
    values = {start_of(0): one[0], end_of(0): one[1], start_of(1): other[0], end_of(1): other[1], ORIGIN: 0}

    def true(lit: Lit) -> bool:
        bound = lit.atom
        return isinstance(bound, Difference) and values[bound.left] - values[bound.right] <= bound.most

    return next(relation for relation in Allen if all(map(true, _orders(0, relation, 1))))
