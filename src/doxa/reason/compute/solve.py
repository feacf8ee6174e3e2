"""What a question wants computed -> the result: amounts, differences, shares, averages, percentages, the most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from doxa.language import stems
from doxa.language.amounts import is_money, unit_named
from doxa.reason.compute.amounts import Found, Ledger, joined, owned, rescaled, total_of, within
from doxa.reason.compute.asked import AVERAGE, TOTAL, Asked
from doxa.reason.compute.expressions import Operation, steps, value_of, written
from doxa.reason.compute.ledger import Entry, comparatives
from doxa.reason.matching import members

__all__ = ["NOTHING", "Result", "answer_of", "is_sum", "solve"]


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
    for way in (_compared, _averaged, _difference, _gap, _remaining, _plain):
        try:
            result = way(goal, ledger)
        except ZeroDivisionError:
            return None
        if result is not None:
            return replace(result, restricted=bool(goal.filters)) if result is not NOTHING else None
    return None


NOTHING = Result(value="", text="")
"""A way of computing that applies, but whose result is not certain."""


def _plain(goal: Asked, ledger: Ledger) -> Result | None:
    found = _others(goal, ledger) if goal.negative and goal.state else ledger.amount(goal)
    if found is None and TOTAL.search(goal.text):
        found = _sum_of_things(goal, ledger)
    return answer_of(found, goal)


def _others(goal: Asked, ledger: Ledger) -> Found | None:
    """Return how many are not of a kind ("not blue"), where kinds are counted; else what is held less those."""
    kind = frozenset(stems(goal.state))
    held = [e for e in ledger.of(replace(goal, words=frozenset([goal.head]))) if e.does == "hold" and not e.vague]
    if not any(kind <= e.words for e in held) or len(held) < 2 or any(e.kind != "count" for e in held):
        return ledger.amount(goal)
    rest = [e for e in held if not kind <= e.words]
    return total_of([Found(expression=e.value, unit=e.unit, entries=(e,)) for e in rest]) if rest else None


def _sum_of_things(goal: Asked, ledger: Ledger) -> Found | None:
    """Return the sum over several things that a question names: "chairs and tables"."""
    names = [
        p
        for c in ((goal.frame,) if goal.frame else ())
        for p in c.arguments
        if p.role in ("object", "subject") and stems(p.head)
    ]
    found = [ledger.amount(replace(goal, head=stems(p.head)[-1], words=p.words, filters=frozenset())) for p in names]
    sure = [one for one in found if one is not None]
    return total_of(sure) if len(sure) == len(found) and len(sure) > 1 else None


def answer_of(found: Found | None, goal: Asked, text: str = "") -> Result | None:
    """Return an amount as the answer to a question, with its working; None for none, or one below zero."""
    if found is None or value_of(found.expression) < 0:
        return None
    value = in_words(value_of(found.expression), found.unit)
    name = "" if found.unit else _noun(goal, value_of(found.expression))
    working = steps(found.expression)
    return Result(
        value=value, text=text or f"{value}{f' {name}' if name else ''}", working=working, entries=found.entries
    )


def in_words(value: Fraction, unit: str) -> str:
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
    if re.search(r"\b(?:which|what|when) (?:day|month|year|week)\b", goal.text, re.IGNORECASE):
        return NOTHING
    rivals = _rivals(goal, ledger)
    known = [(label, _amount_of(goal, ledger, words)) for words, label in rivals]
    if len(known) < 2 or any(found is None for _, found in known):
        return NOTHING
    sure = [(label, found) for label, found in known if found is not None]
    if len({found.unit for _, found in sure}) > 1:
        return NOTHING
    best = max(sure, key=lambda pair: pair[1].value * goal.compared)
    if sum(found.value == best[1].value for _, found in sure) > 1:
        return NOTHING
    return _told(best[0], sure, goal)


def _told(value: str, known: Sequence[tuple[str, Found]], goal: Asked) -> Result:
    parts = [f"{label}: {in_words(found.value, found.unit)}" for label, found in known]
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
        anyone=False,
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
    of = next((p for p in goal.frame.arguments if p.role == "of"), None) if goal.frame else None
    if of is not None and not named and of.words == goal.filters:
        return _of_kind((stems(of.head) or [""])[-1], everyone, ledger)
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


def _of_kind(noun: str, everyone: dict[frozenset[str], str], ledger: Ledger) -> list[tuple[frozenset[str], str]]:
    """Return those who are of a kind ("my pets": a rabbit, a dog), with their names; none where more of it are told."""
    kind = members().get(noun, frozenset()) | {noun}
    chosen = {owner: label for owner, label in everyone.items() if owner & kind}
    told = {owner for owner in ledger.subjects if owner & kind}
    return list(chosen.items()) if told <= set(chosen) else []


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
    return answer_of(found, goal)


def _gap(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer what the difference is between the amounts of two who are named ("Ana's stamps and Bo's")."""
    if not re.search(r"\bdifference (?:between|in)\b", goal.text, re.IGNORECASE):
        return None
    words = frozenset(stems(goal.text))
    named = [e for e in ledger.entries if e.kind == "count" and e.owner & words and not e.per]
    kinds = {(e.head, e.unit) for e in named if e.unit or e.head in words}
    owners = dict.fromkeys(e.owner for e in named if (e.head, e.unit) in kinds)
    if len(kinds) != 1 or len(owners) != 2:
        return NOTHING
    head, unit = kinds.pop()
    kind = unit_named(unit)
    bare = replace(
        goal, head=head, words=frozenset([head] if head else []), unit=unit, verb="have", filters=frozenset(),
        dimensions=(kind.dimension,) if kind else (), anyone=False, than=frozenset(),
    )  # fmt: skip
    found = [ledger.held(replace(bare, owners=(owner,))) for owner in owners]
    sure = sorted((one for one in found if one is not None), key=lambda one: one.value)
    if len(sure) < 2:
        return NOTHING
    expression = Operation(operator="-", parts=(sure[1].expression, sure[0].expression))
    entries = (*sure[0].entries, *sure[1].entries)
    return answer_of(Found(expression=expression, unit=sure[0].unit, entries=entries), bare)


# --- averages --------------------------------------------------------------------------------------------------------


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
    total = Operation(operator="+", parts=tuple(e.value for e in found))
    mean = Operation(operator="÷", parts=(total, Fraction(len(found))))
    unit = "" if bare.dimensions == ("age",) else found[0].unit
    return answer_of(Found(expression=mean, unit=unit, entries=tuple(found)), bare)


def is_sum(entry: Entry) -> bool:
    """Tell whether an entry is a sum of money; a pound may be one."""
    return is_money(entry.unit) or entry.unit == "pound"


INTENDED = re.compile(r"\b(?:need|want|plan|aim|goal|target|ha(?:ve|s) to|must|should)s?\b", re.IGNORECASE)
DONE_ALREADY = re.compile(r"\b(?:already|so far)\b", re.IGNORECASE)


def _remaining(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer how much is still to be done of something of which a part is done already."""
    if not re.search(r"\b(?:still|left|remain|remaining|yet)\b", goal.text) or not (goal.head or goal.dimensions):
        return None
    amounts = [e for e in ledger.of(goal) if not e.per and e.kind == "count" and not e.more]
    done = [e for e in amounts if DONE_ALREADY.search(e.text)]
    whole = [e for e in amounts if e not in done]
    if not done or len(whole) != 1 or (whole[0].vague and not INTENDED.search(whole[0].text)):
        return None
    if any(e.vague for e in done):
        return None
    rest = joined("-", whole[0].value, *(e.value for e in done))
    return answer_of(Found(expression=rest, unit=whole[0].unit, entries=(whole[0], *done)), goal)
