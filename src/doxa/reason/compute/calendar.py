"""Dates and durations: how long ago, until or between, how old somebody is, which of two came first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from dateutil.relativedelta import relativedelta

from doxa.core.values import Interval
from doxa.language import base_forms, stems
from doxa.reason.compute.asked import CUES, Asked
from doxa.reason.compute.ledger import Happening, comparatives
from doxa.reason.compute.solve import Result

__all__ = ["on_calendar"]

BIRTH = frozenset(stems("born birth bear"))
LEAST_DAYS = 92
"""Up to this many days a length of time is told in days, beyond it in months and years."""
LENGTH = re.compile(r"\bhow (?:long|many (?:days|weeks|months|years))\b", re.IGNORECASE)
AGO = re.compile(r"\bago\b|\bhow long (?:is it|has it been) since\b", re.IGNORECASE)
UNTIL = re.compile(r"\b(?:until|till|to go|before)\b", re.IGNORECASE)
BETWEEN = re.compile(
    r"\bbetween\b(?P<one>.+?)\band\b(?P<other>.+)|\bfrom\b(?P<first>.+?)\b(?:to|until|till)\b(?P<last>.+)",
    re.IGNORECASE,
)
OLD = re.compile(r"\bhow old\b.*?(?:\bwhen\b(?P<when>.+)|\bon\b.+|\bin \d.+)?$", re.IGNORECASE)
ORDER = re.compile(
    r"(?:did|was|is|were|does|do|has|have|will)\b(?P<one>.+?)\b(?P<word>before|after|earlier than|later than)\b"
    r"(?P<other>.+)",
    re.IGNORECASE,
)
"""Asks whether one thing was before or after another."""
SOONER = re.compile(r"\b(?:first|earlier|sooner)\b", re.IGNORECASE)
LATER = re.compile(r"\b(?:last|later)\b", re.IGNORECASE)
SAYING = frozenset(
    stems("lie day week month year pass be come happen take place long how many much did was is there the start begin")
)


def on_calendar(goal: Asked, told: Sequence[Happening], today: date | None) -> Result | None:
    """Return what a question asks of the calendar; None when it asks nothing of it, or what it names is not told.

    Args:
        goal: the question.
        told: what was said to be at some time.
        today: the memory's today.
    """
    text = goal.text.rstrip("?! .")
    if re.search(r"\bhow old\b", text, re.IGNORECASE):
        return _age(goal, text, told, today)
    if not LENGTH.search(text):
        return _before(text, told) or _first(text, told)
    between, ago = BETWEEN.search(text), AGO.search(text)
    if between and not ago:
        ends = (between["one"] or between["first"], between["other"] or between["last"])
        one, other = (_event(end, told) for end in ends)
        return _between(goal, one, other)
    if today is None or not (ago or UNTIL.search(text)):
        return None
    found = _event(re.sub(r".*\b(?:ago|since|until|till|to go|before)\b", "", text, flags=re.IGNORECASE), told)
    if found is None or (found.day > today if ago else found.day < today):
        return None
    return _between(goal, found, _Moment(today, "day", None))


@dataclass(frozen=True, slots=True)
class _Moment:
    day: date
    precision: str
    source: Happening | None
    """What was said to be then; None of today."""


def _event(words: str, told: Sequence[Happening]) -> _Moment | None:
    """Return the one thing that is meant by some words; None when there is none, or several on different days."""
    forms = base_forms()
    wanted = frozenset(stems(" ".join(forms.get(word, word) for word in words.casefold().split()))) - _light()
    if not wanted:
        return None
    found = [one for one in told if one.when is not None and wanted <= one.about | frozenset(stems(one.verb))]
    days = {(one.when.start, one.when.start_precision) for one in found if one.when is not None}
    if len(days) != 1:
        return None
    day, precision = days.pop()
    return _Moment(day, precision, found[-1]) if day is not None else None


def _light() -> frozenset[str]:
    return CUES | SAYING | {stem for word in comparatives() for stem in stems(word)}


def _between(goal: Asked, one: _Moment | None, other: _Moment | None) -> Result | None:
    """Return how much time lies between two moments."""
    if one is None or other is None:
        return None
    first, last = sorted((one, other), key=lambda moment: moment.day)
    value = _length(first, last, goal)
    if value is None:
        return None
    working = f"{_said(first)} to {_said(last)} = {value}"
    return Result(value=value, text=value, working=(working,), turn_ids=_turns([one, other]))


def _length(first: _Moment, last: _Moment, goal: Asked) -> str | None:
    """Return the time between two moments in the unit that is asked for; None when they are not known that exactly."""
    coarse = {first.precision, last.precision}
    gap = relativedelta(last.day, first.day)
    years = last.day.year - first.day.year if "year" in coarse else gap.years
    days = (last.day - first.day).days if coarse == {"day"} else None
    match goal.unit:
        case "year":
            return _counted(years, "year")
        case "month":
            return None if "year" in coarse else _counted(gap.years * 12 + gap.months, "month")
        case "day":
            return None if days is None else _counted(days, "day")
        case "week":
            if days is None:
                return None
            weeks, rest = divmod(days, 7)
            return _counted(weeks, "week") + (f" and {_counted(rest, 'day')}" if rest else "")
    if "year" in coarse:
        return _counted(years, "year")
    if days is not None and days <= LEAST_DAYS:
        return _counted(days, "day")
    parts = [(gap.years, "year"), (gap.months, "month"), (gap.days if days is not None else 0, "day")]
    return " and ".join(_counted(n, unit) for n, unit in parts if n) or None


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _said(moment: _Moment) -> str:
    precision = moment.precision
    return Interval.format(moment.day, "year" if precision == "year" else "month" if precision == "month" else "day")


def _turns(moments: Sequence[_Moment]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.source.turn.turn_id for one in moments if one.source is not None))


def _age(goal: Asked, text: str, told: Sequence[Happening], today: date | None) -> Result | None:
    """Return how old somebody is, or was when something happened: the time since he was born."""
    match, owners = OLD.search(text), goal.owners
    if match is None or len(owners) != 1:
        return None
    mine = [one for one in told if one.owner and (one.owner <= owners[0] or owners[0] <= one.owner)]
    births = [one for one in mine if one.about & BIRTH and one.when is not None]
    if len({one.when for one in births}) != 1 or births[-1].when is None or births[-1].when.start is None:
        return None
    born = _Moment(births[-1].when.start, births[-1].when.start_precision, births[-1])
    then: _Moment | None
    if match["when"]:
        others = [one for one in told if one not in births and (one in mine or not one.owner)]
        then = _event(" ".join(word for word in match["when"].split() if not set(stems(word)) & owners[0]), others)
    elif goal.when is not None and goal.when.start is not None:
        then = _Moment(goal.when.start, goal.when.start_precision, None)
    else:
        then = _Moment(today, "day", None) if today is not None else None
    if then is None or then.day < born.day:
        return None
    coarse = "year" in (born.precision, then.precision)
    years = then.day.year - born.day.year if coarse else relativedelta(then.day, born.day).years
    working = f"{_said(born)} to {_said(then)} = {_counted(years, 'year')}"
    return Result(
        value=str(years), text=f"{years} years old", working=(working,), turn_ids=_turns([born, then])
    )  # fmt: skip


def _before(text: str, told: Sequence[Happening]) -> Result | None:
    """Return whether one thing was before, or after, another."""
    asked = ORDER.match(text)
    if asked is None:
        return None
    one, other = _event(asked["one"], told), _event(asked["other"], told)
    if one is None or other is None or one.day == other.day:
        return None
    so = (one.day < other.day) == (asked["word"].casefold() in ("before", "earlier than"))
    return _ordered("yes" if so else "no", [one, other])


def _first(text: str, told: Sequence[Happening]) -> Result | None:
    """Return which of two or more that a question names was first, or last."""
    latest = LATER.search(text) is not None
    if not (latest or SOONER.search(text)) or not re.search(r"\bor\b", text, re.IGNORECASE):
        return None
    named = re.split(r"[,:]|\b(?:first|earlier|later|last|sooner)\b", text, maxsplit=1, flags=re.IGNORECASE)[-1]
    names = [name.strip(" ,:") for name in re.split(r"\bor\b|,", named) if name.strip(" ,:")]
    known = [(name, moment) for name in names if (moment := _event(name, told)) is not None]
    if len(known) < max(2, len(names)):
        return None
    best = (max if latest else min)(known, key=lambda pair: pair[1].day)
    if sum(moment.day == best[1].day for _, moment in known) > 1:
        return None
    return _ordered(re.sub(r"^(?:the|my|our|a|an) ", "", best[0], flags=re.IGNORECASE), [moment for _, moment in known])


def _ordered(value: str, moments: Sequence[_Moment]) -> Result:
    lines = tuple(
        f"{_said(one)}: {one.source.text}" for one in sorted(moments, key=lambda one: one.day) if one.source is not None
    )
    return Result(value=value, text=value[:1].upper() + value[1:], working=lines, turn_ids=_turns(moments))
