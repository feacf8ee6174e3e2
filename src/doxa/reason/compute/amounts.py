"""The amount of something: what is held, what came to it and went, what is so many in each, or so many per day.

An amount is folded out of the entries in the order in which they were said: what is there is set, added to, taken from
and multiplied; parts of a whole in several places add up. Where nobody states the amount, it is composed of amounts per
something ("24 bottles in a crate", "5 crates"). What is uncertain on the way (something vague of the same kind, two
ways that give different results) gives None: no number is better than a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from doxa.core.values import Interval
from doxa.language import stems
from doxa.language.amounts import converted, is_money, unit_named
from doxa.reason.compute.asked import Asked
from doxa.reason.compute.expressions import Expression, Operation, Operator, value_of
from doxa.reason.compute.ledger import Entry, verbs

__all__ = ["Found", "Ledger", "in_force", "joined", "owned", "rescaled", "total_of", "within"]

DEEPEST = 4
"""Amounts per something that are multiplied in a row at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An amount as an expression in a unit (or of things), and the entries that it rests on."""

    expression: Expression
    unit: str
    entries: tuple[Entry, ...] = ()
    per: str = ""

    @property
    def value(self) -> Fraction:
        return value_of(self.expression)


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
    if isinstance(expression, Fraction):
        return expression * factor
    if factor < 1 and factor.numerator == 1:
        return Operation(operator="÷", parts=(expression, Fraction(factor.denominator)))
    return Operation(operator="×", parts=(expression, factor))


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
    subjects: frozenset[frozenset[str]] = frozenset()
    """Stems of all of whom or of what the dialogue says something."""

    def of(self, goal: Asked) -> list[Entry]:
        """Return the entries that count or measure what is asked about, by whomever."""
        return [entry for entry in self.entries if _is(entry, goal) and in_force(entry, goal)]

    # --- what is there -------------------------------------------------------------------------------------------

    def held(self, goal: Asked, depth: int = DEEPEST) -> Found | None:
        """Return how many there are at the end, of one owner or of several."""
        same = [e for e in self.of(goal) if not e.per or (e.does == "hold" and e.among == 1)]
        same = [e for e in same if not e.per or (set(e.per) <= e.owner and owned(goal.owners, e.owner))]
        mine = [e for e in same if self._concerns(e, goal, same)]
        mine = [e for e in mine if (goal.future or not e.future) and self._passes(e, goal, mine)]
        if goal.filters and not any(goal.filters <= e.words | e.places | e.owner for e in mine):
            return None
        if any(e.vague and e.kind == "count" for e in mine):
            return None
        base = [e for e in mine if e.does in ("hold", "gain") or e.to]
        if not any(e.kind == "count" for e in base):
            composed = self.composed(replace(goal, given=()), depth - 1)
            if composed is None:
                return None
            return self._folded(mine, goal, start=composed)
        return self._folded(mine, goal)

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

    def _folded(self, entries: Sequence[Entry], goal: Asked, start: Found | None = None) -> Found | None:
        unit = start.unit if start else _unit_of(entries, goal)
        parts: dict[tuple[frozenset[str], frozenset[str]], tuple[int, Expression]] = {}
        total: Expression | None = start.expression if start else None
        used: list[Entry] = list(start.entries) if start else []
        for entry in entries:
            own = self._in_unit(entry, unit)
            if own is None:
                return None
            used.append(entry)
            gives = owned(goal.owners, entry.to) and not owned(goal.owners, entry.owner)
            if entry.kind == "multiple" or (entry.than and entry.more):
                return None
            if entry.does == "hold" and not entry.more and entry.kind != "part":
                total = self._set(parts, entry, own, total)
                continue
            if entry.kind == "part":
                if total is None:
                    return None
                own = joined("×", total, entry.value)
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
        for left_out in goal.without:
            if total is None or not any(left_out <= frozenset(stems(entry.text)) for entry in used):
                return None
            total = joined("-", total, Fraction(1))
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
            return entry.value
        return rescaled(entry.value, entry.unit, unit)

    # --- what was done -------------------------------------------------------------------------------------------

    def done(self, goal: Asked) -> Found | None:
        """Return how much was done in all, by the verb of the question, in its time, with what it names."""
        same = [e for e in self.of(goal) if not e.per or e.does == "hold"]
        alike = [
            e for e in same if e.verb == goal.verb or _money(e, goal) or (e.kind == "multiple" and e.verb == goal.verb)
        ]
        mine = [
            e
            for e in alike
            if not goal.owners or owned(goal.owners, e.owner) or (owned(goal.owners, WE) and not e.owner)
        ]
        mine = [e for e in mine if within(e.when, goal.when) and goal.filters <= e.about | e.words | e.places]
        mine = [e for e in mine if not any(one <= e.about for one in goal.without)]
        if not mine or any(e.vague for e in mine):
            return None
        if any(e.more and not e.than and (e.per or e.does != "done") for e in mine) and mine[0].more == 0:
            return None  # something grows: see `series`
        unit = _unit_of(mine, goal)
        whole = [e for e in mine if e.total]
        mine = whole or mine
        total: Expression | None = None
        for entry in mine:
            own: Expression | None = self._in_unit(entry, unit)
            if entry.kind == "part":
                before = Ledger(tuple(e for e in self.entries if e.order < entry.order))
                there = before.held(replace(goal, verb="have", filters=frozenset(), when=None))
                own = joined("×", there.expression, entry.value) if there is not None else None
            if own is None or entry.kind == "multiple" or entry.than:
                return None
            total = own if total is None else joined("+", total, own)
        return Found(expression=total, unit=unit, entries=tuple(mine)) if total is not None else None

    # --- so many in each -----------------------------------------------------------------------------------------

    def composed(self, goal: Asked, depth: int = DEEPEST) -> Found | None:
        """Return an amount as a product of amounts per something; None when there is none, or two that differ."""
        found = [f for f in self._chains(goal, depth) if f.per == ""]
        if not found:
            return None
        return found[0] if len({f.value for f in found}) == 1 else None

    def rate(self, goal: Asked, per: str) -> Found | None:
        """Return how much there is per something."""
        found: list[Found] = []
        for chain in self._rates(goal, DEEPEST):
            factor = Fraction(1) if chain.per == per else converted(per, chain.per)
            if factor is None:
                continue
            expression = chain.expression if factor == 1 else joined("×", chain.expression, factor)
            found.append(replace(chain, expression=expression, per=per))
        return found[0] if found and len({f.value for f in found}) == 1 else None

    def _rates(self, goal: Asked, depth: int) -> Iterator[Found]:
        """Yield what there is so much of per something, by one entry or several in a row."""
        if depth <= 0:
            return
        same = [
            e
            for e in self.of(goal)
            if e.per
            and e.kind == "count"
            and (
                not goal.owners
                or not e.owner
                or owned(goal.owners, e.owner)
                or goal.owners[0] in (WE, THEY)
                or e.owner in (WE, THEY)
                or set(e.per) <= e.owner
            )
        ]
        everyones = [e for e in self.of(goal) if e.per and e.kind == "count"]
        if not same and len({e.owner for e in everyones}) == 1:
            same = everyones  # how fast the car goes tells how far the trip is
        heads = dict.fromkeys((e.unit or e.head, e.per) for e in same if not e.more)
        for name, per in heads:
            own = [e for e in same if (e.unit or e.head, e.per) == (name, per) and not e.more]
            if not own or own[-1].vague:
                continue
            expression: Expression = own[-1].value
            used = [e for e in own if e.order == own[-1].order]
            if len(used) > 1:  # "two every morning and one every evening"
                expression = Operation(operator="+", parts=tuple(e.value for e in used))
            if own[-1].among != 1:
                expression = joined("÷", expression, own[-1].among)
            unit = own[-1].unit
            if goal.unit and unit and goal.unit != unit:
                scaled = rescaled(expression, unit, goal.unit)
                if scaled is None:
                    continue
                expression, unit = scaled, goal.unit
            for one in per:
                found = Found(expression=expression, unit=unit, entries=tuple(used), per=one)
                yield found
                yield from self._prolonged(found, goal, depth)

    def _prolonged(self, found: Found, goal: Asked, depth: int) -> Iterator[Found]:
        """Yield a rate over something whose own rate is known: 20 push-ups a set, 3 sets a day."""
        inner = _goal_of(found.per, goal)
        for other in self._rates(inner, depth - 1):
            if other.per != found.per:
                yield Found(
                    expression=joined("×", other.expression, found.expression),
                    unit=found.unit,
                    entries=(*found.entries, *other.entries),
                    per=other.per,
                )

    def _chains(self, goal: Asked, depth: int) -> Iterator[Found]:
        """Yield amounts: so much in each, times how many there are."""
        if depth <= 0:
            return
        for chain in self._rates(goal, depth):
            for amount in self._many(chain.per, goal, depth):
                yield Found(
                    expression=joined("×", amount.expression, chain.expression),
                    unit=chain.unit,
                    entries=(*chain.entries, *amount.entries),
                )

    def _many(self, per: str, goal: Asked, depth: int) -> Iterator[Found]:
        """Yield how many there are of what something is per."""
        for value, name in goal.given:
            factor = Fraction(1) if name == per else converted(name, per)
            if factor is not None:
                expression = value if factor == 1 else joined("×", value, factor)
                yield Found(expression=expression, unit="", entries=())
        if goal.given and any(converted(name, per) is not None or name == per for _, name in goal.given):
            return
        inner = _goal_of(per, goal)
        found = self.held(inner, depth - 1) if any(not e.per for e in self.of(inner)) else None
        if found is not None:
            yield found

    # --- either --------------------------------------------------------------------------------------------------

    def amount(self, goal: Asked) -> Found | None:
        """Return an amount, however it is known."""
        from_state = goal.verb in verbs("state") or goal.negative
        if len(goal.owners) > 1:
            return self._of_several(goal)
        if goal.per:
            return self.rate(goal, goal.per)
        if goal.given:
            return self.composed(goal)
        if goal.dimensions and not goal.head and not from_state and "money" in goal.dimensions:
            bought = {e.unit or e.head for e in self.entries if e.does == "gain" and not e.per and e.kind == "count"}
            priced = any(set(e.per) & bought for e in self.entries if is_money(e.unit))
            return None if priced else self.done(goal)
        if from_state:
            return self.held(goal)
        return (
            self.done(goal) or self.composed(replace(goal, filters=frozenset()))
            if not goal.filters
            else self.done(goal)
        )

    def _of_several(self, goal: Asked) -> Found | None:
        """Return the sum over several owners; each has to be known."""
        found: list[Found] = []
        for owner in goal.owners:
            one = self.amount(replace(goal, owners=(owner,)))
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


def in_force(entry: Entry, goal: Asked) -> bool:
    """Tell whether what an entry says has begun when a question asks, or the question asks ahead."""
    start = entry.when.start if entry.when is not None and entry.does in ("grow", "shrink", "hold") else None
    if start is None or goal.turn is None or goal.future or start <= goal.turn.at.date():
        return True
    return goal.when is not None and goal.when.start is not None and goal.when.start >= start


def _goal_of(name: str, goal: Asked) -> Asked:
    """Return the question for how many there are of something that another amount is per."""
    unit = unit_named(name)
    bare = replace(
        goal,
        filters=frozenset(),
        when=None,
        unit="",
        dimensions=(),
        compared=0,
        per="",
        verb="have",
        kind="amount",
        negative=False,
    )
    if unit is not None and unit.name == name:
        return replace(
            bare, head="", words=frozenset(), unit=name, dimensions=(unit.dimension,), owners=(), anyone=True
        )
    return replace(bare, head=name, words=frozenset(stems(name)), owners=(), anyone=True)


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
