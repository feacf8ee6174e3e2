"""What a question wants computed -> the result: amounts, differences, averages, changed prices, the most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from doxa.language import stems
from doxa.language.amounts import is_money, unit_named
from doxa.reason.compute.amounts import Found, Ledger, joined, owned, rescaled, stated, within
from doxa.reason.compute.asked import AVERAGE, Asked
from doxa.reason.compute.expressions import Expression, Operation, Stated, steps, value_of, written
from doxa.reason.compute.ledger import Entry, comparatives

__all__ = ["NOTHING", "Result", "is_sum", "solve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer to a question for a number or a comparison, with its working and what it rests on."""

    value: str
    text: str
    working: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    turn_ids: tuple[str, ...] = ()
    restricted: bool = False
    """The question names more than what is counted and whose it is, and the entries account for it."""


def solve(goal: Asked, ledger: Ledger) -> Result | None:
    """Return the result; None when the entries do not give it for sure. Cost O(entries x depth of the composition)."""
    for way in (_compared, _averaged, _changed_price, _difference, _plain):
        try:
            result = way(goal, ledger)
        except ZeroDivisionError:
            return None
        if result is not None:
            return replace(result, restricted=bool(goal.filters)) if result is not NOTHING else None
    return None


NOTHING = Result(value="", text="")
"""What was stated does not give it for certain, so that a part that is stated is no answer."""


def _plain(goal: Asked, ledger: Ledger) -> Result | None:
    return _answer_of(ledger.amount(goal), goal)


def _answer_of(found: Found | None, goal: Asked, text: str = "") -> Result | None:
    """Return an amount as the answer to a question, with its working; None for none, or one below zero."""
    if found is None or value_of(found.expression) < 0:
        return None
    value = _in_words(value_of(found.expression), found.unit)
    name = "" if found.unit else _noun(goal, value_of(found.expression))
    working = steps(found.expression)
    return Result(
        value=value, text=text or f"{value}{f' {name}' if name else ''}", working=working, entries=found.entries
    )


def _in_words(value: Fraction, unit: str) -> str:
    """Return an amount with its unit; money with two decimal places where it is not whole."""
    named = unit_named(unit)
    if named is None:
        return written(value)
    if named.name == "percent":
        return f"{written(value)}%"
    places = 2 if is_money(unit) else 4
    text = f"{float(value):.2f}" if is_money(unit) and value.denominator != 1 else written(value, places=places)
    return f"{text} {named.written(value == 1)}"


def _noun(goal: Asked, value: Fraction) -> str:
    arguments = list(goal.frame.arguments + ((goal.frame.subject,) if goal.frame.subject else ()) if goal.frame else ())
    label = next((p.label for p in arguments if p.head and stems(p.head)[-1:] == [goal.head]), "")
    return re.sub(r"^(?:and |so |by |about )?how (?:many|much) (?:more |fewer |less )?", "", label, flags=re.IGNORECASE)


# --- comparisons -----------------------------------------------------------------------------------------------------


def _compared(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer who has more, which is the cheapest, and whether one is heavier than the other."""
    if goal.kind != "compare" or "date" in goal.dimensions:
        return None
    if (
        goal.than
        and goal.owners
        and re.match(r"\s*(?:is|are|was|were|does|do|did|has|have)\b", goal.text, re.IGNORECASE)
    ):
        one, other = (_amount_of(goal, ledger, owner) for owner in (goal.owners[0], goal.than))
        if one is None or other is None:
            return NOTHING
        yes = (one.value > other.value) if goal.compared > 0 else (one.value < other.value)
        return _told("yes" if yes else "no", [(goal.labels[0], one), (goal.than_label, other)], goal)
    rivals = _rivals(goal, ledger)
    known = [(label, _amount_of(goal, ledger, words)) for words, label in rivals]
    if len(known) < 2 or any(found is None for _, found in known):
        return NOTHING
    sure = [(label, found) for label, found in known if found is not None]
    sure = _in_one_unit(sure)
    if len({found.unit for _, found in sure}) > 1:
        return NOTHING
    best = max(sure, key=lambda pair: pair[1].value * goal.compared)
    if sum(found.value == best[1].value for _, found in sure) > 1:
        return NOTHING
    return _told(best[0], sure, goal)


def _in_one_unit(known: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Return amounts in the unit of the first, as far as they can be told in it."""
    unit = known[0][1].unit
    scaled = [(label, found, rescaled(found.expression, found.unit, unit)) for label, found in known]
    return [
        (label, found if expression is None else replace(found, expression=expression, unit=unit))
        for label, found, expression in scaled
    ]


def _told(value: str, known: Sequence[tuple[str, Found]], goal: Asked) -> Result:
    parts = [f"{label}: {_in_words(found.value, found.unit)}" for label, found in known]
    working = [step for _, found in known for step in steps(found.expression)]
    entries = tuple(entry for _, found in known for entry in found.entries)
    return Result(
        value=value, text=value[:1].upper() + value[1:], working=(*working, "; ".join(parts)), entries=entries
    )


def _amount_of(goal: Asked, ledger: Ledger, owner: frozenset[str]) -> Found | None:
    verb = "have" if goal.verb == "be" and not goal.head else goal.verb
    asked = replace(
        goal,
        kind="amount",
        owners=(owner,),
        labels=("",),
        than=frozenset(),
        verb=verb,
        filters=frozenset(),
    )
    if asked.dimensions or asked.head:
        return ledger.amount(asked)
    return None


def _rivals(goal: Asked, ledger: Ledger) -> list[tuple[frozenset[str], str]]:
    """Return those who are compared: whom the question names, else all whose amount is known."""
    everyone = _everyone(goal, ledger)
    named = [(owner, label) for owner, label in everyone.items() if owner & goal.filters or owned(goal.owners, owner)]
    words = {stem for owner, _ in named for stem in owner}
    asks = (
        set(goal.filters)
        - words
        - {"one"}
        - {stem for word in comparatives() for stem in stems(word)}
        - {"young", "old", "good", "bad"}
    )
    if named and asks:
        return []
    if len(named) > 1:
        distinct = [pair for pair in named if pair[0] & goal.filters]
        return distinct if len(distinct) > 1 else named
    return list(everyone.items()) if not named and not asks else []


def _everyone(goal: Asked, ledger: Ledger) -> dict[frozenset[str], str]:
    """Return all whose amount is known, with how they are called."""
    return {e.owner: e.owner_label for e in ledger.of(goal) if e.owner and (e.kind == "count" or e.than)}


def _difference(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer how many more one has than another, or there are of one thing than of another."""
    if not goal.compared or goal.kind == "compare":
        return None
    if not goal.than and len(goal.owners) == 1 and goal.dimensions and not goal.unit:
        others = [pair for pair in _everyone(goal, ledger).items() if not owned(goal.owners, pair[0])]
        if len(others) == 1:
            goal = replace(goal, than=others[0][0], than_label=others[0][1])
    if not goal.than:
        return None
    one = ledger.amount(
        replace(goal, than=frozenset(), compared=0, verb=goal.verb if goal.head or goal.verb != "be" else "have")
    )
    other = _amount_of(goal, ledger, goal.than)
    if other is None and goal.head:
        than = next((p for p in goal.frame.arguments if p.role == "than"), None) if goal.frame else None
        if than is not None:
            other = ledger.amount(
                replace(goal, than=frozenset(), compared=0, head=(stems(than.head) or [""])[-1], words=than.words)
            )
    if one is None or other is None:
        return NOTHING
    expression = rescaled(other.expression, other.unit, one.unit) if other.unit != one.unit else other.expression
    if expression is None:
        return NOTHING
    operands = (one.expression, expression)
    more = value_of(operands[0]) - value_of(operands[1])
    if more * goal.compared < 0:
        return NOTHING
    first, second = operands if goal.compared > 0 else operands[::-1]
    found = Found(
        expression=Operation(operator="-", parts=(first, second)), unit=one.unit, entries=(*one.entries, *other.entries)
    )
    return _answer_of(found, goal)


def _averaged(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer what the average is of several stated amounts."""
    if not AVERAGE.search(goal.text):
        return None
    bare = replace(goal, per="")
    if re.search(r"\bages?\b", goal.text):
        bare = replace(bare, dimensions=("age",), head="", words=frozenset(), owners=())
    if not bare.head and not bare.dimensions:
        words = goal.owners[0] - frozenset(stems("average mean")) if goal.owners else frozenset[str]()
        heads = [stem for stem in words if any(e.head == stem or stem in e.about for e in ledger.entries)]
        units = {e.unit for e in ledger.entries if set(heads) & e.about and e.unit}
        if len(units) != 1:
            return NOTHING
        named = unit_named(units.pop())
        bare = replace(bare, dimensions=(named.dimension,) if named else (), owners=(), filters=frozenset(heads))
    found = [e for e in ledger.of(bare) if e.kind == "count" and not e.per and not e.more and within(e.when, goal.when)]
    found = [e for e in found if not bare.owners or owned(bare.owners, e.owner)]
    found = [e for e in found if goal.verb in ("be", "have") or e.verb == goal.verb or not bare.owners]
    if (
        len(found) < 2
        or any(e.vague for e in found)
        or len({e.unit for e in found}) > 1
        or len({e.verb for e in found}) > 1
    ):
        return NOTHING
    total = Operation(operator="+", parts=tuple(stated(e) for e in found))
    mean = Operation(operator="÷", parts=(total, Stated(value=Fraction(len(found)))))
    unit = "" if bare.dimensions == ("age",) else found[0].unit
    return _answer_of(Found(expression=mean, unit=unit, entries=tuple(found)), bare)


# --- what changes ----------------------------------------------------------------------------------------------------


def _changed_price(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer what something costs or is after a rise or fall by a percentage or an amount, and how much that saves."""
    changes = [e for e in ledger.entries if e.unit == "percent" and _direction(e)]
    if not changes or not goal.dimensions or len(changes) > 1:
        return None
    change = changes[0]
    same = [e for e in ledger.of(replace(goal, unit="")) if e.order < change.order and e.kind == "count"]
    own = [e for e in same if not change.owner or owned([change.owner], e.owner) or change.owner & e.about]
    same = own or (same if len({e.owner for e in same}) == 1 else [])
    if not same:
        return NOTHING
    base = same[-1]
    difference = Operation(operator="÷", parts=(joined("×", stated(base), stated(change)), Stated(value=Fraction(100))))
    if goal.verb in ("save", "rise", "increase", "fall", "grow") or re.search(
        r"\b(?:discount|off|saving|increase by|by how much)\b|\bhow (?:much|big) (?:is|was|were) the (?:tip|tax)\b",
        goal.text,
    ):
        return _answer_of(Found(expression=difference, unit=base.unit, entries=(base, change)), goal)
    if re.search(r"\b(?:before|originally|old price|without)\b", goal.text):
        return _answer_of(Found(expression=stated(base), unit=base.unit, entries=(base,)), goal)
    expression: Expression = Operation(
        operator="+" if _direction(change) > 0 else "-", parts=(stated(base), difference)
    )
    per = base.per[0] if base.per else "month"
    for value, name in goal.given:
        factor = _factor(name, per)
        if factor is None:
            return NOTHING
        expression = joined("×", expression, Stated(value=value * factor))
    return _answer_of(Found(expression=expression, unit=base.unit, entries=(base, change)), goal)


def _factor(name: str, per: str) -> Fraction | None:
    one, other = unit_named(name), unit_named(per)
    if one is None or other is None or one.dimension != other.dimension:
        return Fraction(1) if name == per else None
    return one.factor / other.factor


def _direction(entry: Entry) -> int:
    """Return 1 where an amount becomes more, -1 where it becomes less, 0 where that is not said."""
    if entry.does in ("grow", "shrink"):
        return 1 if entry.does == "grow" else -1
    if entry.more:
        return entry.more
    if entry.state in comparatives():
        _, sign = comparatives()[entry.state]
        return sign
    if re.search(r"\b(?:discount|off|reduction|cheaper|less|rebate)\b", entry.text, re.IGNORECASE):
        return -1
    if re.search(r"\b(?:increase|rise|raise|higher|up by|more expensive|extra|tip|tax)\b", entry.text, re.IGNORECASE):
        return 1
    return 0


def is_sum(entry: Entry) -> bool:
    """Tell whether an entry is a sum of money; a pound may be one."""
    return is_money(entry.unit) or entry.unit == "pound"
