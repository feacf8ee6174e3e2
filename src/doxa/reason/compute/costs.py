"""What several things cost together, what a price or a wage is after a raise, by how much it rose, what is still owed.

Each way answers, does not apply (None), or applies and is not certain (`NOTHING`): a part of a sum is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from doxa.language import stems
from doxa.language.amounts import converted, unit_named
from doxa.reason.compute.amounts import Found, Ledger, in_force, joined, owned, total_of
from doxa.reason.compute.asked import Asked
from doxa.reason.compute.expressions import Expression, Operation, steps, value_of
from doxa.reason.compute.ledger import Entry, Happening, growing
from doxa.reason.compute.solve import NOTHING, Result, answer_of, is_sum

__all__ = ["Raised", "changed", "on_costs", "raised"]

RAISE = re.compile(
    r"\b(?:raise|rise|increase|surcharge|cut|reduction|discount) of\b|\b(?:raise|pay rise|pay cut)\b", re.IGNORECASE
)
"""Names a change that a sum beside it measures ("a raise of 2 euros")."""
LOWER = re.compile(r"\b(?:cut|reduction|discount)\b", re.IGNORECASE)
UNTOLD = re.compile(
    r"\b(?:raise|pay rise|pay cut)\b|\b(?:went|gone|going|goes) (?:up|down)\b|"
    r"\b(?:was|were|been|got) (?:raised|increased|lowered|reduced|cut)\b|"
    r"\b(?:rose|risen|fell|fallen|dropped|increased)\b|"
    r"\b(?:become|became|got) (?:cheaper|dearer|more expensive)\b",
    re.IGNORECASE,
)
"""Says that an amount changed; without a number nobody knows to what."""
BEFORE = re.compile(
    r"\b(?:before|originally|used to|old price|without|save|saved|saving|discount|off|how many percent|"
    r"what percent(?:age)?|by how much|how (?:big|much) (?:is|was) the|tip)\b",
    re.IGNORECASE,
)
"""Asks for what was before a change, or for the change."""
CHARGED = frozenset(["cost", "be", "charge", "come", "sell", "bill", "want"])
THINGS = frozenset(["for", "on", "of"])
EARNING = frozenset(["earn", "make", "get", "pay", "receive"])
WAGE = frozenset(stems("wage wages salary pay income hourly daily weekly monthly yearly annual"))
"""Names what somebody earns, and per what."""
BACK = frozenset(["pay back", "give back", "return", "repay", "get back", "bring back"])


def on_costs(goal: Asked, ledger: Ledger) -> Result | None:
    """Return what a question asks of prices and debts; None when it asks nothing of them. Cost O(entries x things)."""
    for way in (_together, _risen, _owed):
        found = way(goal, ledger)
        if found is not None:
            return found
    return None


# --- raises ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """A ledger in which amounts are what they became by raises and discounts, with how, or that it is not known."""

    ledger: Ledger
    working: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()
    became: Entry | None = None
    """The amount that was changed last, as it is now."""
    unknown: bool = False
    """An amount that is asked about changed, and nobody said by how much."""


def raised(goal: Asked, ledger: Ledger, told: Sequence[Happening]) -> Raised:
    """Return a ledger with the raises applied that are in force; the same one where the question asks for less.

    A raise in percent, or by a sum per the same time, changes the latest amount of its owner before it, or the only one
    that is told. Cost O(entries^2).
    """
    if "money" not in goal.dimensions or BEFORE.search(goal.text):
        return Raised(ledger=ledger)
    entries, working, used = list(ledger.entries), list[str](), list[Entry]()
    last: Entry | None = None
    for change in [e for e in ledger.entries if _is_raise(e) and in_force(e, goal)]:
        base = _raised_by(change, entries, goal)
        if base is None:
            continue
        became = _after(base, change)
        working.extend(steps(became))
        used.extend((base, change))
        place = entries.index(base)
        last = entries[place] = replace(base, value=value_of(became))
        entries.remove(change)
    unknown = any(_is_untold(one, entries, ledger, goal) for one in told)
    return Raised(
        ledger=replace(ledger, entries=tuple(entries)),
        working=tuple(working),
        entries=tuple(used),
        became=last,
        unknown=unknown,
    )


def changed(goal: Asked, now: Raised) -> Result | None:
    """Return the amount that a raise changed, where a question asks for no more than it."""
    entry = now.became
    if entry is None or goal.given or (goal.per and goal.per not in entry.per) or goal.each or goal.compared:
        return None
    named = {stem for owner in goal.owners for stem in owner} | goal.filters
    speaker = frozenset(goal.turn.speaker.casefold().split()) if goal.turn is not None else frozenset[str]()
    named -= frozenset(stems("raise rise increase reduction discount cut change"))
    named -= WAGE if entry.verb in EARNING else frozenset()
    if not named or named - speaker <= entry.owner | entry.about | {s for e in now.entries for s in e.about}:
        return answer_of(Found(expression=entry.value, unit=entry.unit, entries=(entry,)), goal)
    return None


def _is_raise(entry: Entry) -> bool:
    if entry.kind != "count" or entry.vague:
        return False
    if entry.unit == "percent":
        return bool(_direction(entry))
    return is_sum(entry) and entry.does != "hold" and RAISE.search(entry.text) is not None


def _direction(entry: Entry) -> int:
    """Return 1 where an amount becomes more, -1 where it becomes less, 0 where that is not said."""
    if entry.does in ("grow", "shrink"):
        return 1 if entry.does == "grow" else -1
    if entry.more:
        return entry.more
    if re.search(r"\b(?:discount|off|reduction|cheaper|less|rebate)\b", entry.text, re.IGNORECASE):
        return -1
    if re.search(r"\b(?:increase|rise|raise|higher|up by|more expensive|extra|tip|tax)\b", entry.text, re.IGNORECASE):
        return 1
    return 0


def _raised_by(change: Entry, entries: Sequence[Entry], goal: Asked) -> Entry | None:
    """Return the amount that a raise is of; None when there is none, or several that it may be of."""
    sums = [e for e in entries if is_sum(e) and e.kind == "count" and e.order < change.order and not e.vague]
    sums = [e for e in sums if not _is_raise(e) and not e.more]
    own = [e for e in sums if not change.owner or owned([change.owner], e.owner) or change.owner & e.about]
    own = own or (sums if len({e.owner for e in sums}) == 1 else [])
    if len({(e.owner, e.per) for e in own}) > 1:
        named = goal.filters | {stem for owner in goal.owners for stem in owner}
        own = [e for e in own if (e.owner | e.about) & named & change.about] or own[-1:]
    if not own or (change.unit != "percent" and not _comparable(own[-1], change)):
        return None
    return own[-1]


def _comparable(base: Entry, change: Entry) -> bool:
    """Tell whether a sum is added to an amount as it stands: in its unit, and per the same time."""
    return base.unit == change.unit and (not change.per or change.per == base.per)


def _after(base: Entry, change: Entry) -> Expression:
    if change.unit != "percent":
        return joined("-" if LOWER.search(change.text) else "+", base.value, change.value)
    part = Operation(operator="÷", parts=(joined("×", base.value, change.value), Fraction(100)))
    return Operation(operator="+" if _direction(change) > 0 else "-", parts=(base.value, part))


def _is_untold(one: Happening, entries: Sequence[Entry], ledger: Ledger, goal: Asked) -> bool:
    """Tell whether a sentence says that an amount in question changed, without a number, after it was told."""
    if not UNTOLD.search(one.text) or any(e.order == one.order for e in ledger.entries):
        return False
    asked = goal.filters | {stem for owner in goal.owners for stem in owner}
    sums = [e for e in entries if is_sum(e) and e.order < one.order and (not asked or (e.owner | e.about) & asked)]
    later = any(e.order > one.order and is_sum(e) and owned([e.owner], one.owner) for e in entries)
    return not later and any(owned([one.owner], e.owner) or one.owner & e.about or e.owner & one.about for e in sums)


# --- what several things cost ----------------------------------------------------------------------------------------


def _together(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer what two or more named things cost: each has to have one price."""
    things = _things(goal)
    if len(things) < 2:
        return None
    found = [_cost_of(thing, things, goal, ledger) for thing in things]
    sure = [one for one in found if one is not None]
    if len(sure) < len(found):
        return None if not sure and len(goal.owners) == len(things) else NOTHING
    pers = {one.per for one in sure}
    if len(pers) > 1 or len({one.unit for one in sure}) > 1:
        return NOTHING
    total, per = total_of(sure), pers.pop()
    if total is None or (goal.per and goal.per != per and not goal.given):
        return NOTHING
    for value, name in goal.given:
        factor = converted(name, per) if per else None
        if factor is None:
            return NOTHING
        total = replace(total, expression=joined("×", total.expression, value * factor))
    return answer_of(total, goal)


def _things(goal: Asked) -> list[frozenset[str]]:
    """Return the things whose price a question asks for."""
    if "money" not in goal.dimensions or goal.head or goal.compared or goal.than or goal.frame is None:
        return []
    verb = goal.frame.verb
    arguments = [p for p in goal.frame.arguments if p.role in THINGS and p.words and unit_named(p.head) is None]
    for role in ("for", "on", "of"):
        listed = [p.words for p in arguments if p.role == role and p.number is None]
        if len(listed) > 1:
            return list(dict.fromkeys(listed))
    return list(goal.owners) if verb in CHARGED or verb.split()[0] in ("cost", "charge") else []


def _cost_of(thing: frozenset[str], things: Sequence[frozenset[str]], goal: Asked, ledger: Ledger) -> Found | None:
    """Return the price of a thing: what it costs, or what was paid for it; None when nobody or several people say."""
    sums = [e for e in ledger.entries if is_sum(e) and e.kind == "count"]
    mine = [e for e in sums if thing <= e.owner or (thing <= e.about and not _is_one_of_several(e, sums))]
    mine = [e for e in mine if not any(other <= e.about for other in things if other != thing)]
    if not mine or any(e.vague or e.more for e in mine) or len({(e.value, e.unit, e.per) for e in mine}) > 1:
        return None
    entry = mine[-1]
    times = [p for p in entry.per if unit_named(p) is not None]
    if entry.among != 1 or (entry.per and not times):
        return None  # a price of one, and how many were bought is another question
    return Found(expression=entry.value, unit=entry.unit, entries=(entry,), per=times[0] if times else "")


def _is_one_of_several(entry: Entry, sums: Sequence[Entry]) -> bool:
    """Tell whether a frame states several sums, so that it is not certain which one is for what."""
    return sum(e.order == entry.order and e.about == entry.about for e in sums) > 1


# --- by how many percent ---------------------------------------------------------------------------------------------


def _risen(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer by how many percent something rose or fell: from its first amount to its last."""
    if goal.frame is None or not re.search(r"\bpercent(?:age)?\b", goal.text, re.IGNORECASE):
        return None
    sign = growing().get(goal.frame.verb, 0)
    if not sign or len(goal.owners) != 1:
        return None
    own = [e for e in ledger.entries if e.does == "hold" and e.kind == "count" and owned(goal.owners, e.owner)]
    own = [e for e in own if not e.more and not e.vague]
    if len(own) != 2 or (own[0].unit, own[0].head, own[0].per) != (own[1].unit, own[1].head, own[1].per):
        return None
    first, last = own
    if (last.value - first.value) * sign <= 0 or not first.value:
        return NOTHING
    parts = (last.value, first.value) if sign > 0 else (first.value, last.value)
    change = Operation(operator="-", parts=parts)
    share = Operation(operator="÷", parts=(joined("×", change, Fraction(100)), first.value))
    return answer_of(Found(expression=share, unit="percent", entries=(first, last)), goal)


# --- debts -----------------------------------------------------------------------------------------------------------


def _owed(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer what somebody still owes: what he borrowed, less what he gave back."""
    if goal.verb != "owe" or len(goal.owners) != 1 or "money" not in goal.dimensions:
        return None
    debtor, creditor = goal.owners[0], goal.filters
    sums = [e for e in ledger.entries if is_sum(e) and e.kind == "count" and not e.per]
    loans = [
        e
        for e in sums
        if (e.verb in ("borrow", "owe") and owned([debtor], e.owner) and creditor <= e.about)
        or (e.verb == "lend" and creditor and creditor <= e.owner and (not e.to or owned([debtor], e.to)))
    ]
    back = [e for e in sums if e.verb in BACK and owned([debtor], e.owner)]
    back = [e for e in back if not creditor or not e.to or owned([creditor], e.to)]
    if not loans or any(e.vague for e in (*loans, *back)) or len({e.unit for e in (*loans, *back)}) > 1:
        return None if not loans and not back else NOTHING
    expression: Expression = loans[0].value
    for entry in loans[1:]:
        expression = joined("+", expression, entry.value)
    for entry in back:
        expression = joined("-", expression, entry.value)
    return answer_of(Found(expression=expression, unit=loans[0].unit, entries=(*loans, *back)), goal) or NOTHING
