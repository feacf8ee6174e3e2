"""What a question wants computed -> the result: amounts, differences, shares, averages, percentages, the most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from doxa.core.values import Interval
from doxa.language import stems
from doxa.language.amounts import is_money, unit_named
from doxa.reason.compute.amounts import Found, Ledger, joined, owned, rescaled, total_of, within
from doxa.reason.compute.asked import AVERAGE, PERCENT, TOTAL, Asked
from doxa.reason.compute.expressions import Expression, Operation, steps, value_of, written
from doxa.reason.compute.ledger import Entry, comparatives
from doxa.reason.matching import members

__all__ = ["NOTHING", "Result", "answer_of", "direction", "is_sum", "solve"]


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
    for way in (
        _compared,
        _percentage,
        _averaged,
        _shared,
        _grown,
        _changed_price,
        _difference,
        _gap,
        _needed,
        _remaining,
        _plain,
    ):
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
    if re.search(r"\b(?:which|what|on which|in which|when) (?:day|month|year|week)\b", goal.text, re.IGNORECASE):
        return _most_by_time(goal, ledger)
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
    return [(owner, _bare(label)) for owner, label in chosen.items()] if told <= set(chosen) else []


def _bare(label: str) -> str:
    """Return the name in "My rabbit Fluff"; what has no name as it is."""
    names = re.findall(r"(?<!^)\b[A-Z][\w'-]*", label)
    return " ".join(names) or label


def _everyone(goal: Asked, ledger: Ledger) -> dict[frozenset[str], str]:
    """Return all whose amount is known, with how they are called."""
    return {e.owner: e.owner_label for e in ledger.of(goal) if e.owner and (e.kind == "count" or e.than)}


def _most_by_time(goal: Asked, ledger: Ledger) -> Result | None:
    entries = [e for e in ledger.of(goal) if e.when is not None and e.when.start is not None and not e.per]
    entries = [e for e in entries if not goal.owners or owned(goal.owners, e.owner)]
    if len(entries) < 2 or len({e.unit for e in entries}) > 1:
        return NOTHING
    best = max(entries, key=lambda e: e.value * goal.compared)
    if sum(e.value == best.value for e in entries) > 1 or best.when is None or best.when.start is None:
        return NOTHING
    month, day = re.search(r"\bmonth\b", goal.text), re.search(r"\bday\b", goal.text)
    start = best.when.start
    weekday = f"{start:%A}"
    name = (
        f"{start:%B}"
        if month
        else weekday
        if day and weekday in best.text
        else Interval.format(start, best.when.start_precision)
    )
    return _told(
        name,
        [
            (
                Interval.format(e.when.start, e.when.start_precision),
                Found(expression=e.value, unit=e.unit, entries=(e,)),
            )
            for e in entries
            if e.when
        ],
        goal,
    )


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


# --- shares, averages, percentages -----------------------------------------------------------------------------------


def _shared(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer how many each gets, where something is shared equally."""
    shares = [e for e in ledger.entries if e.does == "share"]
    if not goal.each or not shares or not goal.head:
        return None
    among = ledger.held(
        replace(
            goal,
            head=shares[-1].head,
            words=frozenset([shares[-1].head]),
            owners=(),
            anyone=True,
            verb="have",
            each=False,
        )
    )
    sharers: Expression = shares[-1].value
    used: list[Entry] = [shares[-1]]
    for entry in ledger.entries:
        if entry.order > shares[-1].order and entry.head == shares[-1].head and entry.kind == "count":
            if entry.does not in ("gain", "lose"):
                return NOTHING
            sharers = joined("+" if entry.does == "gain" else "-", sharers, entry.value)
            used.append(entry)
    whole = ledger.held(replace(goal, owners=(), anyone=True, verb="have", each=False))
    if whole is None or (among is None and not used):
        return NOTHING
    expression = Operation(operator="÷", parts=(whole.expression, sharers))
    if value_of(expression).denominator != 1 and not whole.unit:
        return NOTHING
    return answer_of(Found(expression=expression, unit=whole.unit, entries=(*whole.entries, *used)), goal)


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


def _percentage(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer what percentage of a whole a stated part is."""
    if not PERCENT.search(goal.text) or goal.head:
        return None
    words = {stem for p in (goal.frame.arguments if goal.frame else ()) if p.role == "of" for stem in p.words}
    counted = [e for e in ledger.entries if e.kind == "count" and not e.unit and not e.per]
    wholes = [e for e in counted if {e.head} & words and not e.definite]
    if not wholes:
        return NOTHING
    asks = (
        goal.filters
        | frozenset(stems(goal.verb))
        | {s for p in (goal.frame.arguments if goal.frame else ()) if p.role == "predicate" for s in p.words}
    )
    asks -= words | frozenset(stems("be say percentage what percent"))
    parts = [e for e in counted if e is not wholes[-1] and e.definite and (not asks or asks <= e.about | e.words)]
    if len(parts) != 1:
        return NOTHING
    share = Operation(operator="÷", parts=(parts[0].value, wholes[-1].value))
    expression = Operation(operator="×", parts=(share, Fraction(100)))
    return answer_of(Found(expression=expression, unit="percent", entries=(wholes[-1], parts[0])), goal)


# --- what changes ----------------------------------------------------------------------------------------------------


def _grown(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer what a steadily growing amount is in the n-th period, or in all after n."""
    same = [e for e in ledger.of(goal) if e.kind == "count" and (not goal.owners or owned(goal.owners, e.owner))]
    growth = [e for e in same if e.more and (e.per or e.than) and e.order > 0]
    base = [e for e in same if not e.more and not e.per]
    if len(growth) != 1 or len(base) != 1 or not (goal.nth or goal.given or goal.when or TOTAL.search(goal.text)):
        return None
    count = goal.nth or _periods(goal, base[0], growth[0])
    if count < 1:
        return NOTHING
    step = joined("×", growth[0].value, Fraction(count - 1))
    last = joined("+" if growth[0].more > 0 else "-", base[0].value, step) if count > 1 else base[0].value
    whole = (
        re.search(r"\b(?:total|in all|altogether|have saved|have \w+ by|by the end|will have)\b", goal.text)
        or goal.given
    )
    if not whole:
        return answer_of(Found(expression=last, unit=base[0].unit, entries=(base[0], growth[0])), goal)
    terms = tuple(base[0].value + growth[0].more * n * growth[0].value for n in range(count))
    expression = Operation(operator="+", parts=terms) if count > 1 else terms[0]
    return answer_of(Found(expression=expression, unit=base[0].unit, entries=(base[0], growth[0])), goal)


def _periods(goal: Asked, base: Entry, growth: Entry) -> int:
    """Return how many periods a question is about: "after four weeks", "in April"."""
    for value, name in goal.given:
        if (not growth.per or name in growth.per) and value.denominator == 1:
            return int(value)
    if goal.when and base.when and goal.when.start and base.when.start and ("month" in growth.per or not growth.per):
        return (goal.when.start.year - base.when.start.year) * 12 + goal.when.start.month - base.when.start.month + 1
    return 0


def _changed_price(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer what something costs or is after a rise or fall by a percentage or an amount, and how much that saves."""
    changes = [e for e in ledger.entries if e.unit == "percent" and direction(e)]
    if not changes or not goal.dimensions or len(changes) > 1:
        return None
    change = changes[0]
    same = [e for e in ledger.of(replace(goal, unit="")) if e.order < change.order and e.kind == "count"]
    own = [e for e in same if not change.owner or owned([change.owner], e.owner) or change.owner & e.about]
    same = own or (same if len({e.owner for e in same}) == 1 else [])
    if not same:
        return NOTHING
    base = same[-1]
    difference = Operation(operator="÷", parts=(joined("×", base.value, change.value), Fraction(100)))
    if goal.verb in ("save", "rise", "increase", "fall", "grow") or re.search(
        r"\b(?:discount|off|saving|increase by|by how much)\b|\bhow (?:much|big) (?:is|was|were) the (?:tip|tax)\b",
        goal.text,
    ):
        return answer_of(Found(expression=difference, unit=base.unit, entries=(base, change)), goal)
    if re.search(r"\b(?:before|originally|old price|without)\b", goal.text):
        return answer_of(Found(expression=base.value, unit=base.unit, entries=(base,)), goal)
    expression: Expression = Operation(operator="+" if direction(change) > 0 else "-", parts=(base.value, difference))
    per = base.per[0] if base.per else "month"
    for value, name in goal.given:
        factor = _factor(name, per)
        if factor is None:
            return NOTHING
        expression = joined("×", expression, value * factor)
    return answer_of(Found(expression=expression, unit=base.unit, entries=(base, change)), goal)


def _factor(name: str, per: str) -> Fraction | None:
    one, other = unit_named(name), unit_named(per)
    if one is None or other is None or one.dimension != other.dimension:
        return Fraction(1) if name == per else None
    return one.factor / other.factor


def direction(entry: Entry) -> int:
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


def _needed(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer how long something takes: how much there is, divided by how much of it goes in a time."""
    times = {"time", "days", "months"} & set(goal.dimensions)
    if not times or goal.per or not (goal.verb in ("need", "take", "last", "have", "require") or not goal.dimensions):
        return None
    rates = [
        e
        for e in ledger.entries
        if e.per and e.kind == "count" and any((one := unit_named(p)) and one.dimension in times for p in e.per)
    ]
    rates = [e for e in rates if not e.more]
    if not rates:
        return None
    names = {(e.unit, e.head) for e in rates}
    if len(names) != 1:
        return NOTHING
    rate = rates[-1]
    per = next(p for p in rate.per if unit_named(p))
    more = bool(re.search(r"\b(?:more|still|left|remaining)\b", goal.text))
    bare = replace(
        goal,
        head=rate.head if not rate.unit else "",
        words=frozenset(),
        unit=rate.unit,
        filters=frozenset(),
        owners=(),
        anyone=True,
        dimensions=(named.dimension,) if (named := unit_named(rate.unit)) else (),
        verb="have",
        compared=0,
    )
    whole = _remaining_of(bare, ledger) if more else _whole_of(bare, ledger)
    speed = ledger.rate(replace(bare), per)
    if whole is None or speed is None:
        return NOTHING
    expression: Expression = Operation(operator="÷", parts=(whole.expression, speed.expression))
    unit = per
    if goal.unit and goal.unit != per:
        scaled = rescaled(expression, per, goal.unit)
        if scaled is None:
            return NOTHING
        expression, unit = scaled, goal.unit
    return answer_of(Found(expression=expression, unit=unit, entries=(*whole.entries, *speed.entries)), goal)


INTENDED = re.compile(r"\b(?:need|want|plan|aim|goal|target|ha(?:ve|s) to|must|should)s?\b", re.IGNORECASE)
DONE_ALREADY = re.compile(r"\b(?:already|so far)\b", re.IGNORECASE)


def _whole_of(goal: Asked, ledger: Ledger) -> Found | None:
    """Return the whole that is worked through: the one amount that nobody has worked off yet."""
    plain = [
        e for e in ledger.of(goal) if not e.per and e.kind == "count" and not e.more and not DONE_ALREADY.search(e.text)
    ]
    if len(plain) != 1 or (plain[0].vague and not INTENDED.search(plain[0].text)):
        return None
    return Found(expression=plain[0].value, unit=plain[0].unit, entries=(plain[0],))


def _remaining_of(goal: Asked, ledger: Ledger) -> Found | None:
    whole = _whole_of(goal, ledger)
    done = [e for e in ledger.of(goal) if not e.per and e.kind == "count" and DONE_ALREADY.search(e.text)]
    if whole is None or any(e.vague for e in done):
        return whole if not done else None
    expression = whole.expression
    for entry in done:
        expression = joined("-", expression, entry.value)
    return replace(whole, expression=expression, entries=(*whole.entries, *done))


def _remaining(goal: Asked, ledger: Ledger) -> Result | None:
    """Answer how much is still to be done of something of which a part is done already."""
    if not re.search(r"\b(?:still|left|remain|remaining|yet)\b", goal.text) or not (goal.head or goal.dimensions):
        return None
    done = [e for e in ledger.of(goal) if not e.per and DONE_ALREADY.search(e.text)]
    found = _remaining_of(goal, ledger) if done else None
    return answer_of(found, goal) if done else None
