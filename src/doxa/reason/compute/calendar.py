"""Dates and durations: how long ago, until, between or before, how old somebody is, how long he was somewhere."""

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
BEGINS, ENDS = frozenset(stems("start begin leave depart open")), frozenset(stems("end finish arrive close stop"))
LEAST_DAYS = 92
"""Up to this many days a length of time is told in days, beyond it in months and years."""
AGO = re.compile(r"\bago\b|\bhow long (?:is it|has it been) since\b", re.IGNORECASE)
UNTIL = re.compile(r"\b(?:until|till|to go|before)\b", re.IGNORECASE)
BETWEEN = re.compile(
    r"\bbetween\b(?P<one>.+?)\band\b(?P<other>.+)|\bfrom\b(?P<first>.+?)\b(?:to|until|till)\b(?P<last>.+)",
    re.IGNORECASE,
)
APART = re.compile(
    r"\bhow (?:long|many (?:days|weeks|months|years)) (?:before|after) (?P<one>[\w' ]+?) "
    r"(?:did|was|were|is|are|do|does|had|has|will) (?P<other>.+)",
    re.IGNORECASE,
)
TAKING = re.compile(
    r"\bhow (?:long|many (?:days|weeks|months|years)) (?:did|does|will|has|had) it (?:take|taken|be)\b.*?"
    r"\b(?:to|until|till|before)\b (?P<other>.+?) \b(?:after|since|from)\b (?P<one>.+)",
    re.IGNORECASE,
)
HAD = re.compile(r"\bhow (?:long|many (?:days|weeks|months|years)) had (?P<one>.+?) when (?P<other>.+)", re.IGNORECASE)
JOINED = frozenset("join start begin enter move become marry".split())
LEFT = frozenset("leave quit finish end stop graduate retire resign divorce".split())
OLD = re.compile(r"\bhow old\b(?P<who>.*?)(?:\bwhen\b(?P<when>.+)|\bon\b.+|\bin \d.+)?$", re.IGNORECASE)
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
    if not re.search(r"\bhow (?:long|many (?:days|weeks|months|years|hours|minutes))\b", text, re.IGNORECASE):
        return None
    apart = APART.search(text) or TAKING.search(text) or HAD.search(text)
    if apart:
        return _apart(goal, apart, told)
    between = BETWEEN.search(text)
    if between and not AGO.search(text):
        one, other = (
            _event(part or "", told)
            for part in ((between["one"] or between["first"]), (between["other"] or between["last"]))
        )
        return _between(goal, one, other)
    if AGO.search(text) and today is not None:
        found = _event(re.sub(r".*\b(?:ago|since)\b", "", text, flags=re.IGNORECASE), told)
        return _since(goal, found, today)
    if UNTIL.search(text) and today is not None:
        found = _event(re.sub(r".*\b(?:until|till|to go|before)\b", "", text, flags=re.IGNORECASE), told)
        return _ahead(goal, found, today)
    return _stay(goal, text, told)


@dataclass(frozen=True, slots=True)
class _Moment:
    day: date
    precision: str
    source: Happening


def _event(words: str, told: Sequence[Happening]) -> _Moment | None:
    """Return the one thing that is meant by some words; None when there is none, or several on different days."""
    forms = base_forms()
    words = " ".join(forms.get(word, word) for word in words.casefold().split())
    wanted = {stem for stem in stems(words) if stem not in _light()}
    starts, ends = set(stems(words)) & BEGINS, set(stems(words)) & ENDS
    if not wanted:
        return None
    found = [
        one
        for one in told
        if one.when is not None and one.when.start is not None and wanted <= one.about | _stemmed(one.verb)
    ]
    if ends and not wanted & ENDS:
        found = [one for one in found if one.about & ENDS]
    elif starts or any(one.about & ENDS for one in found):
        found = [one for one in found if not one.about & ENDS] or found
    found = [one for one in found if one.about & BEGINS] or found if starts else found
    days = {(one.when.start, one.when.start_precision) for one in found if one.when is not None}
    if len(days) != 1:
        return None
    day, precision = days.pop()
    return _Moment(day, precision, found[-1]) if day is not None else None


def _light() -> frozenset[str]:
    return frozenset(
        CUES
        | SAYING
        | BEGINS - frozenset(stems("leave open"))
        | {stem for word in comparatives() for stem in stems(word)}
    )


def _stemmed(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def _between(goal: Asked, one: _Moment | None, other: _Moment | None) -> Result | None:
    if one is None or other is None:
        return None
    first, last = sorted((one, other), key=lambda moment: moment.day)
    value = _length(first, last, goal)
    if value is None:
        return None
    working = f"{_said(first)} to {_said(last)} = {value}"
    return Result(
        value=value, text=value, working=(working,), turn_ids=(one.source.turn.turn_id, other.source.turn.turn_id)
    )


def _apart(goal: Asked, match: re.Match[str], told: Sequence[Happening]) -> Result | None:
    """Return how long before (or after) one did something another did it: "how many years before Tom did Ana join"."""
    other, own = _event(match["other"], told), _event(match["one"], told)
    if own is not None and other is not None:
        return _between(goal, own, other)
    verb = {one.verb for one in told if other is not None and one is other.source}
    one = _event(f"{match['one']} {' '.join(verb)}", told)
    return _between(goal, one, other)


def _since(goal: Asked, found: _Moment | None, today: date) -> Result | None:
    if found is None or found.day > today:
        return None
    value = _length(found, _Moment(today, "day", found.source), goal)
    if value is None:
        return None
    return Result(
        value=value,
        text=f"{value} ago",
        working=(f"{_said(found)} to {Interval.format(today, 'day')} = {value}",),
        turn_ids=(found.source.turn.turn_id,),
    )


def _ahead(goal: Asked, found: _Moment | None, today: date) -> Result | None:
    if found is None or found.day < today:
        return None
    value = _length(_Moment(today, "day", found.source), found, goal)
    if value is None:
        return None
    return Result(
        value=value,
        text=value,
        working=(f"{Interval.format(today, 'day')} to {_said(found)} = {value}",),
        turn_ids=(found.source.turn.turn_id,),
    )


def _length(first: _Moment, last: _Moment, goal: Asked) -> str | None:
    """Return the time between two moments in the unit that is asked for; None when they are not known that exactly."""
    unit = goal.unit or next(
        (u for u in ("day", "week", "month", "year") if re.search(rf"\bmany {u}s\b", goal.text, re.IGNORECASE)), ""
    )
    coarse = {first.precision, last.precision}
    gap = relativedelta(last.day, first.day)
    days = (last.day - first.day).days
    match unit:
        case "year":
            years = last.day.year - first.day.year if "year" in coarse else gap.years
            return _counted(years, "year")
        case "month":
            return None if "year" in coarse else _counted(gap.years * 12 + gap.months, "month")
        case "day":
            return _counted(days, "day") if coarse == {"day"} else None
        case "week":
            if coarse != {"day"}:
                return None
            weeks, rest = divmod(days, 7)
            return _counted(weeks, "week") + (f" and {_counted(rest, 'day')}" if rest else "")
    if "year" in coarse:
        return _counted(last.day.year - first.day.year, "year")
    if coarse == {"day"} and days <= LEAST_DAYS:
        return _counted(days, "day")
    parts = [(gap.years, "year"), (gap.months, "month"), (gap.days if coarse == {"day"} else 0, "day")]
    return " and ".join(_counted(n, unit) for n, unit in parts if n) or None


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _said(moment: _Moment) -> str:
    precision = moment.precision
    return Interval.format(moment.day, "year" if precision == "year" else "month" if precision == "month" else "day")


def _age(goal: Asked, text: str, told: Sequence[Happening], today: date | None) -> Result | None:
    """Return how old somebody is, or was when something happened: the time since he was born."""
    match = OLD.search(text)
    owners = goal.owners
    if match is None or len(owners) != 1:
        return None
    births = [
        one
        for one in told
        if one.about & BIRTH
        and one.when is not None
        and (one.owner and (one.owner <= owners[0] or owners[0] <= one.owner))
    ]
    if len({one.when for one in births}) != 1 or births[-1].when is None or births[-1].when.start is None:
        return None
    born = _Moment(births[-1].when.start, births[-1].when.start_precision, births[-1])
    then: _Moment | None
    if match["when"]:
        others = [
            one
            for one in told
            if one not in births and (not one.owner or one.owner <= owners[0] or owners[0] <= one.owner)
        ]
        then = _event(" ".join(w for w in match["when"].split() if not set(stems(w)) & owners[0]), others)
    elif goal.when is not None and goal.when.start is not None:
        then = _Moment(goal.when.start, goal.when.start_precision, births[-1])
    else:
        then = _Moment(today, "day", births[-1]) if today is not None else None
    if then is None or then.day < born.day:
        return None
    years = (
        relativedelta(then.day, born.day).years
        if "year" not in (born.precision, then.precision)
        else then.day.year - born.day.year
    )
    value = str(years)
    turn_ids = (born.source.turn.turn_id, then.source.turn.turn_id)
    return Result(
        value=value,
        text=f"{value} years old",
        working=(f"{_said(born)} to {_said(then)} = {_counted(years, 'year')}",),
        turn_ids=tuple(dict.fromkeys(turn_ids)),
    )


def _stay(goal: Asked, text: str, told: Sequence[Happening]) -> Result | None:
    """Return how long somebody was somewhere: from when he joined or started to when he left or stopped."""
    asker = frozenset(stems(goal.turn.speaker)) if goal.turn is not None and re.search(r"\bI\b", text) else frozenset()
    who = goal.owners[0] if goal.owners else asker
    if not who:
        return None
    wanted = {s for s in stems(text) if s not in _light()} - frozenset(stems(goal.verb)) - who
    mine = [one for one in told if one.when is not None and one.when.start is not None and wanted <= one.about]
    mine = [one for one in mine if wanted and one.owner and (one.owner <= who or who <= one.owner)]
    first = [one for one in mine if one.verb in JOINED]
    last = [one for one in mine if one.verb in LEFT]
    if len({one.when for one in first}) != 1 or len({one.when for one in last}) != 1:
        return None
    one, other = (
        _Moment(d.when.start, d.when.start_precision, d) for d in (first[-1], last[-1]) if d.when and d.when.start
    )
    return _between(goal, one, other) if one.day <= other.day else None
