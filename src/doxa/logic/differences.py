"""Bounds on differences of two numbers -> values that keep them all, or the few bounds that no values keep.

Dates, ages, orders and durations all say "x - y is at most c": born before, at least two years after, aged 30 on a day.
A `Difference` is the atom of such a bound, so that a `Theory` holds it like any other proposition: it may be denied,
stand in a rule and be part of a core. The bounds that a model makes true are checked here; if no values keep them, the
clash is given back to the solver as a clause (lazy satisfiability modulo theories; Barrett, Sebastiani, Seshia and
Tinelli 2009, "Satisfiability modulo theories", section 26.4, in the Handbook of Satisfiability).
"""

from __future__ import annotations

from calendar import isleap
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from heapq import heappop, heappush
from typing import Final, NamedTuple

from doxa.logic.literals import Lit

__all__ = [
    "ORIGIN",
    "Difference",
    "DifferenceGraph",
    "Number",
    "Value",
    "aged",
    "at_least",
    "at_most",
    "between",
    "exactly",
]

Number = int | float | Fraction | date
Amount = int | Fraction
Value = tuple[Amount, int]
"""A number and how many infinitesimals are added to it, compared in this order: `x < 3` is `x <= (3, -1)`."""


class _Origin:
    def __repr__(self) -> str:
        return "0"


ORIGIN: Final = _Origin()
"""The variable that is always 0: `Difference(x, ORIGIN, 3)` says that x is at most 3."""


class Difference(NamedTuple):
    """The proposition that `left - right` is at most `most` (less than it when `strict`).

    Of whole numbers (and days) the denial is "at least one more", of others "more". Days are counted as
    `date.toordinal` does.
    """

    left: Hashable
    right: Hashable
    most: Amount
    strict: bool = False
    whole: bool = True

    def denied(self) -> Difference:
        """Return the bound that holds exactly when this one does not."""
        if self.whole:
            return Difference(self.right, self.left, -self.most - 1)
        return Difference(self.right, self.left, -self.most, strict=not self.strict, whole=False)

    @property
    def bound(self) -> Value:
        """The bound, in the order in which bounds are compared."""
        return self.most, -self.strict

    def __str__(self) -> str:
        return f"{self.left} - {self.right} {'<' if self.strict else '<='} {self.most}"


def at_most(left: Hashable, most: Number, right: Hashable = ORIGIN, *, strict: bool = False, whole: bool = True) -> Lit:
    """Return the literal that says that `left - right` is at most `most` (less than it when `strict`).

    Args:
        left: a variable, any value that can be hashed.
        most: a day, a number of days, or any number; a float is taken as it is written (0.1 is one tenth).
        right: another variable; without it, `left` itself is bounded.
        strict: less, not at most.
        whole: the variables stand for whole numbers or days; one variable stands for one kind.
    """
    amount = _amount(most)
    if whole:
        amount = -int(-amount // 1) - 1 if strict else int(amount // 1)
    return Lit(Difference(left, right, amount, strict=strict and not whole, whole=whole))


def at_least(
    left: Hashable, least: Number, right: Hashable = ORIGIN, *, strict: bool = False, whole: bool = True
) -> Lit:
    """Return the literal that says that `left - right` is at least `least` (more than it when `strict`)."""
    return at_most(right, -_amount(least), left, strict=strict, whole=whole)


def exactly(left: Hashable, value: Number, right: Hashable = ORIGIN, *, whole: bool = True) -> tuple[Lit, Lit]:
    """Return two literals that together say that `left - right` is `value`."""
    return between(left, value, value, right, whole=whole)


def between(
    left: Hashable, least: Number, most: Number, right: Hashable = ORIGIN, *, whole: bool = True
) -> tuple[Lit, Lit]:
    """Return two literals that together say that `left - right` is at least `least` and at most `most`."""
    return at_least(left, least, right, whole=whole), at_most(left, most, right, whole=whole)


def aged(birth: Hashable, years: int, day: date) -> tuple[Lit, Lit]:
    """Return two literals that together say that whoever was born on the day `birth` is `years` old on a day.

    Born on 29 February, one is a year older from 1 March on.
    """
    last, before = _years_before(day, years), _years_before(day, years + 1)
    return at_least(birth, before.toordinal() + 1), at_most(birth, last)


def _years_before(day: date, years: int) -> date:
    year = max(day.year - years, date.min.year)
    leap_day = (day.month, day.day) == (2, 29) and not isleap(year)
    return date(year, day.month, 28 if leap_day else day.day)


def _amount(number: Number) -> Amount:
    if isinstance(number, date):
        return number.toordinal()
    return number if isinstance(number, int | Fraction) else Fraction(str(number))


@dataclass(slots=True)
class DifferenceGraph:
    """Bounds that can be kept together, and values that do keep them.

    "x - y <= c" is an edge from y to x of length c: the bounds can be kept exactly when no cycle is negative. The
    values are potentials: each edge's end is at most its start plus its length. A new bound is added by moving only
    those values that it breaks.
    """

    _values: dict[Hashable, Value] = field(default_factory=dict)
    _edges: dict[Hashable, dict[int, Difference]] = field(default_factory=dict)
    """Bounds by `right`, under their tags."""

    def add(self, bound: Difference, tag: int) -> list[int] | None:
        """Take in a bound; or, if it cannot be kept, return the tags of a smallest clash and change nothing.

        Returns:
            None, or a subset-minimal set of tags, this one first, whose bounds cannot be kept together; no clash
            through this bound has fewer.

        Cost: O(m log n) for the m bounds on values that move; of a clash O(k m) for one of k bounds.
        Source: Cotton and Maler 2006, "Fast and flexible difference constraint propagation for DPLL(T)", SAT,
        section 4.
        """
        moved = self._moved(bound)
        if moved is None:
            return self._cycle(bound, tag)
        self._values.update(moved)
        self._edges.setdefault(bound.right, {})[tag] = bound
        return None

    def remove(self, bound: Difference, tag: int) -> None:
        """Take out a bound that was added under a tag; the values stay, they keep what is left."""
        del self._edges[bound.right][tag]

    def holds(self, bound: Difference) -> bool:
        """Tell whether a bound holds under the values found; a variable without one is 0."""
        return _less(self._value(bound.left), self._value(bound.right)) <= bound.bound

    def _value(self, variable: Hashable) -> Value:
        return self._values.get(variable, (0, 0))

    def _moved(self, bound: Difference) -> dict[Hashable, Value] | None:
        """Return the values that a new bound moves; None when it closes a negative cycle."""
        start = bound.left
        aims: dict[Hashable, Value] = {start: _plus(self._value(bound.right), bound.bound)}
        moved: dict[Hashable, Value] = {}
        queue: list[tuple[Value, int, Hashable]] = [(_less(aims[start], self._value(start)), 0, start)]
        pushed = 0
        while queue:
            gap, _, variable = heappop(queue)
            if gap >= (0, 0):
                break
            if variable in moved:
                continue
            if variable == bound.right:
                return None
            moved[variable] = aims[variable]
            for edge in self._edges.get(variable, {}).values():
                aim = _plus(moved[variable], edge.bound)
                if edge.left not in moved and aim < aims.get(edge.left, self._value(edge.left)):
                    aims[edge.left] = aim
                    pushed += 1
                    heappush(queue, (_less(aim, self._value(edge.left)), pushed, edge.left))
        return moved

    def _cycle(self, bound: Difference, tag: int) -> list[int]:
        """Return the tags of a negative cycle through a bound, with the fewest edges (Bellman-Ford by rounds).

        Without the bound no cycle is negative, so one with the fewest edges visits no variable twice; that is why none
        of its bounds can be spared.
        """
        best: dict[Hashable, Value] = {bound.left: bound.bound}
        rounds: list[dict[Hashable, tuple[int, Hashable]]] = []
        changed: Iterable[Hashable] = [bound.left]
        while bound.right not in best or best[bound.right] >= (0, 0):
            reached: dict[Hashable, Value] = {}
            steps: dict[Hashable, tuple[int, Hashable]] = {}
            for variable in changed:
                for edge_tag, edge in self._edges.get(variable, {}).items():
                    length = _plus(best[variable], edge.bound)
                    known = reached.get(edge.left, best.get(edge.left))
                    if known is None or length < known:
                        reached[edge.left], steps[edge.left] = length, (edge_tag, variable)
            best.update(reached)
            rounds.append(steps)
            changed = list(reached)
        tags, variable = [tag], bound.right
        for steps in reversed(rounds):
            edge_tag, variable = steps[variable]
            tags.append(edge_tag)
        return tags


def _plus(one: Value, other: Value) -> Value:
    return one[0] + other[0], one[1] + other[1]


def _less(one: Value, other: Value) -> Value:
    return one[0] - other[0], one[1] - other[1]
