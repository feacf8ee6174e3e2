"""The amount of something: what is held, what came to it and went, what was done in all.

An amount is folded out of the entries in the order in which they were said: what is there is set, added to and taken
from; parts of a whole in several places add up. What is uncertain on the way (something vague of the same kind, an
amount that is told by another) gives None: no number is better than a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from doxa.core.values import Interval
from doxa.language import stems
from doxa.language.amounts import converted, is_money, unit_named
from doxa.reason.compute.asked import Asked
from doxa.reason.compute.expressions import Expression, Operation, Operator, Stated, value_of
from doxa.reason.compute.ledger import Entry, verbs

__all__ = ["Found", "Ledger", "joined", "owned", "rescaled", "stated", "total_of", "within"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An amount as an expression in a unit (or of things), and the entries that it rests on."""

    expression: Expression
    unit: str
    entries: tuple[Entry, ...] = ()

    @property
    def value(self) -> Fraction:
        return value_of(self.expression)


def stated(entry: Entry) -> Stated:
    """Return the number of an entry as an expression."""
    return Stated(value=entry.value, turn_id=entry.turn.turn_id)


def joined(operator: Operator, first: Expression, *others: Expression) -> Expression:
    """Return expressions joined by an operator; a longer sum or product rather than a nested one."""
    if isinstance(first, Operation) and first.operator == operator:
        return replace(first, parts=(*first.parts, *others))
    return Operation(operator=operator, parts=(first, *others))


def rescaled(expression: Expression, unit: str, into: str) -> Expression | None:
    """Return an amount in another unit; None where that measures something else."""
    if unit == into:
        return expression
    factor = converted(unit, into)
    if factor is None:
        return None
    if isinstance(expression, Stated):
        return replace(expression, value=expression.value * factor)
    if factor < 1 and factor.numerator == 1:
        return Operation(operator="÷", parts=(expression, Stated(value=Fraction(factor.denominator))))
    return Operation(operator="×", parts=(expression, Stated(value=factor)))


def within(when: Interval | None, period: Interval | None) -> bool:
    """Tell whether a time lies in the period that a question names; True when it names none."""
    if period is None or period.start is None:
        return True
    if when is None or when.start is None:
        return False
    return period.holds_on(when.start)


def owned(owners: Sequence[frozenset[str]], owner: frozenset[str]) -> bool:
    """Tell whether an owner is one of several."""
    return any(one and owner and (one <= owner or owner <= one) and not (one ^ owner) & APART for one in owners)


APART = frozenset(stems("other"))
"""Tells two of a kind apart: "our team" is not "the other team"."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """All entries of a dialogue, in order."""

    entries: tuple[Entry, ...]

    def of(self, goal: Asked) -> list[Entry]:
        """Return the entries that count or measure what is asked about, by whomever."""
        return [entry for entry in self.entries if _is(entry, goal) and _in_force(entry, goal)]

    # --- what is there -------------------------------------------------------------------------------------------

    def held(self, goal: Asked) -> Found | None:
        """Return how many there are at the end, of one owner or of several."""
        same = [e for e in self.of(goal) if not e.per or e.does == "hold"]
        same = [e for e in same if not e.per or (set(e.per) <= e.owner and owned(goal.owners, e.owner))]
        mine = [e for e in same if self._concerns(e, goal, same)]
        mine = [e for e in mine if (goal.future or not e.future) and self._passes(e, goal, mine)]
        if goal.filters and not any(goal.filters <= e.words | e.places | e.owner for e in mine):
            return None
        if any(e.vague and e.kind == "count" for e in mine):
            return None
        known = any(e.kind == "count" and (e.does in ("hold", "gain") or e.to) for e in mine)
        return self._folded(mine, goal) if known else None

    def _concerns(self, entry: Entry, goal: Asked, same: Sequence[Entry]) -> bool:
        """Tell whether an entry changes what the owners in question have."""
        if not goal.owners or not entry.owner or owned(goal.owners, entry.owner) or owned(goal.owners, entry.to):
            return True
        if (entry.does == "hold" and not entry.more) or entry.than:
            return False
        holders = [e for e in same if e.does == "hold" and e.kind == "count" and not e.more]
        theirs = any(owned([entry.owner], e.owner) for e in holders)
        return (
            not theirs
            and (entry.definite or bool(entry.more) or entry.does == "lose" or entry.owner in (WE, THEY))
            and len({e.owner for e in holders}) < 2
        )

    def _passes(self, entry: Entry, goal: Asked, mine: Sequence[Entry]) -> bool:
        """Tell whether an entry is of the place that a question names: changes need not name the only one again."""
        if not goal.filters or goal.filters <= entry.words | entry.places | entry.owner:
            return True
        places = {e.places for e in mine if e.does == "hold" and e.places}
        elsewhere = entry.places in places
        return entry.does != "hold" and not elsewhere and len(places) < 2

    def _folded(self, entries: Sequence[Entry], goal: Asked) -> Found | None:
        unit = _unit_of(entries, goal)
        parts: dict[tuple[frozenset[str], frozenset[str]], tuple[int, Expression]] = {}
        total: Expression | None = None
        used: list[Entry] = []
        for entry in entries:
            own = self._in_unit(entry, unit)
            if own is None:
                return None
            used.append(entry)
            gives = owned(goal.owners, entry.to) and not owned(goal.owners, entry.owner)
            if _is_relative(entry):
                return None
            if entry.does == "hold" and not entry.more and entry.kind != "part":
                total = self._set(parts, entry, own, total)
                continue
            if entry.kind == "part":
                if total is None:
                    return None
                own = joined("×", total, stated(entry))
            if total is None:
                if entry.does == "lose" and not gives:
                    return None
                total = own
            elif (entry.does == "lose" and not gives) or (entry.does in ("hold", "shrink") and entry.more < 0):
                total = joined("-", total, own)
            elif entry.does in ("gain", "hold", "grow") or gives:
                total = joined("+", total, own)
            else:
                used.pop()
        return Found(expression=total, unit=unit, entries=tuple(used)) if total is not None else None

    @staticmethod
    def _set(
        parts: dict[tuple[frozenset[str], frozenset[str]], tuple[int, Expression]],
        entry: Entry,
        own: Expression,
        total: Expression | None,
    ) -> Expression:
        """Return the amount after somebody says how many there are: at a place of its own, or anew."""
        key = (entry.owner, entry.places)
        known = parts.get(key)
        elsewhere = any(owner == entry.owner and places for owner, places in parts) and not entry.places
        whole = parts.get((entry.owner, frozenset()))
        if whole is not None and entry.places and whole[0] != entry.order and total is not None:
            return total  # a part of what was counted as a whole
        if elsewhere or (known is not None and known[0] != entry.order):
            for old in [old for old in parts if old[0] == entry.owner and (elsewhere or old == key)]:
                del parts[old]
            parts[key] = (entry.order, own)
            amounts = [expression for _, expression in parts.values()]
            return amounts[0] if len(amounts) == 1 else Operation(operator="+", parts=tuple(amounts))
        parts[key] = (entry.order, own if known is None else joined("+", known[1], own))
        return own if total is None else joined("+", total, own)

    def _in_unit(self, entry: Entry, unit: str) -> Expression | None:
        if not unit or entry.kind != "count" or not entry.unit:
            return stated(entry)
        return rescaled(stated(entry), entry.unit, unit)

    # --- what was done -------------------------------------------------------------------------------------------

    def done(self, goal: Asked) -> Found | None:
        """Return how much was done in all, by the verb of the question, in its time, with what it names."""
        same = [e for e in self.of(goal) if not e.per or e.does == "hold"]
        mine = [e for e in same if e.verb == goal.verb or _money(e, goal)]
        mine = [
            e
            for e in mine
            if not goal.owners or owned(goal.owners, e.owner) or (owned(goal.owners, WE) and not e.owner)
        ]
        mine = [e for e in mine if within(e.when, goal.when) and goal.filters <= e.about | e.words | e.places]
        if not mine or any(e.vague or _is_relative(e) for e in mine):
            return None
        if any(e.more and (e.per or e.does != "done") for e in mine) and mine[0].more == 0:
            return None  # something grows
        unit = _unit_of(mine, goal)
        whole = [e for e in mine if e.total]
        mine = whole or mine
        total: Expression | None = None
        for entry in mine:
            own: Expression | None = self._in_unit(entry, unit)
            if entry.kind == "part":
                before = Ledger(tuple(e for e in self.entries if e.order < entry.order))
                there = before.held(replace(goal, verb="have", filters=frozenset(), when=None))
                own = joined("×", there.expression, stated(entry)) if there is not None else None
            if own is None:
                return None
            total = own if total is None else joined("+", total, own)
        return Found(expression=total, unit=unit, entries=tuple(mine)) if total is not None else None

    # --- either --------------------------------------------------------------------------------------------------

    def amount(self, goal: Asked) -> Found | None:
        """Return an amount, of what is there or of what was done; None for an amount per something."""
        if len(goal.owners) > 1:
            return self._of_several(goal)
        if goal.per or goal.given:
            return None
        return self.held(goal) if goal.verb in verbs("state") or goal.negative else self.done(goal)

    def _of_several(self, goal: Asked) -> Found | None:
        """Return the sum over several owners; each has to be known."""
        found: list[Found] = []
        for owner, label in zip(goal.owners, goal.labels, strict=False):
            one = self.amount(replace(goal, owners=(owner,), labels=(label,)))
            if one is None:
                return None
            found.append(one)
        return total_of(found)


def total_of(found: Sequence[Found]) -> Found | None:
    """Return the sum of amounts in one unit."""
    unit = found[0].unit
    parts: list[Expression] = []
    for one in found:
        scaled = rescaled(one.expression, one.unit, unit) if one.unit != unit else one.expression
        if scaled is None:
            return None
        parts.append(scaled)
    expression = parts[0] if len(parts) == 1 else Operation(operator="+", parts=tuple(parts))
    entries = _distinct(e for one in found for e in one.entries)
    return Found(expression=expression, unit=unit, entries=entries)


def _distinct(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple({id(entry): entry for entry in entries}.values())


WE, THEY = frozenset(["we"]), frozenset(["they"])


def _is_relative(entry: Entry) -> bool:
    """Tell whether an amount is told by that of another: "twice as many as Vera", "35 fewer than ours"."""
    return entry.kind == "multiple" or bool(entry.than and entry.more)


def _is(entry: Entry, goal: Asked) -> bool:
    """Tell whether an entry counts or measures what a question asks for."""
    if goal.dimensions:
        if entry.kind == "part":
            return not goal.head
        unit = unit_named(entry.unit)
        if unit is None or (goal.head and entry.head != goal.head):
            return False
        if entry.head == "age":
            return "age" in goal.dimensions
        if unit.name == "pound" and "money" in goal.dimensions:
            return True
        return unit.dimension in goal.dimensions
    if entry.unit and entry.kind == "count":
        return False
    if entry.kind == "multiple":
        return not entry.head or entry.head == goal.head or goal.head in entry.about
    if entry.kind == "part" and not entry.head:
        return True
    return entry.head == goal.head and bool(goal.head) and goal.words <= entry.words | entry.about


def _in_force(entry: Entry, goal: Asked) -> bool:
    """Tell whether what an entry says has begun when a question asks, or the question asks ahead."""
    start = entry.when.start if entry.when is not None and entry.does in ("grow", "shrink", "hold") else None
    if start is None or goal.turn is None or goal.future or start <= goal.turn.at.date():
        return True
    return goal.when is not None and goal.when.start is not None and goal.when.start >= start


def _unit_of(entries: Sequence[Entry], goal: Asked) -> str:
    """Return the unit of a result: that of the question, else the finest one that was used."""
    if goal.unit:
        return goal.unit
    units = [
        unit for e in entries if e.kind == "count" and (unit := unit_named(e.unit)) is not None and e.unit != "percent"
    ]
    return min(units, key=lambda unit: unit.factor).name if units else ""


def _money(entry: Entry, goal: Asked) -> bool:
    """Tell whether an entry is a sum that was spent, where a question asks what was spent in other words."""
    return (
        "money" in goal.dimensions
        and goal.verb in verbs("spend")
        and entry.verb in verbs("spend")
        and (is_money(entry.unit) or entry.unit == "pound")
        and (goal.verb == "cost") == (entry.verb == "cost")
    )
