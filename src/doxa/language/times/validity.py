"""Time expressions as a memory keeps them: where they stand in a text, and which days they make a statement valid on.

A month stays a month and a year a year ("last month" -> month, "last summer" -> year); "for six years" is a
start; a weekday is the latest one before or the next one after, as the words around it say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal

from doxa.core.values import Interval, Precision
from doxa.language.times.expressions import Expression, read_times
from doxa.language.times.periods import Amount, Clock, Grain, Hours, Period, Repeat, Seen, moved
from doxa.language.times.tokens import words

__all__ = ["DAYS", "MONTHS", "NUMBERS", "TimeKind", "TimeSpan", "find_times", "number_of"]

TimeKind = Literal["point", "since", "until", "range", "duration", "clock"]

MONTHS = "january february march april may june july august september october november december".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
NUMBERS = {
    word: number
    for number, words in enumerate(
        "zero|a an one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
        "seventeen|eighteen|nineteen|twenty".split("|")
    )
    for word in words.split()
} | {"thirty": 30, "forty": 40, "fifty": 50, "couple of": 2, "a couple of": 2, "dozen": 12, "a few": 3, "few": 3}

LEAD = re.compile(
    r"(?:\b(?P<since>ever since|since|starting(?: on| in| from)?|as of|as from|from)|"
    r"\b(?P<until>until|till|up to|through)|"
    r"\b(?P<at>on|in|by|at|around|about|during|for|over|back in|early in|late in))\s+"
    r"(?:the (?:(?:end|start|beginning) of )?)?$",
    re.IGNORECASE,
)
CLOCK_LEAD = re.compile(r"\b(?:at|from|by|around|about) $", re.IGNORECASE)
FOR = re.compile(
    r"\b(?:for|over|these) (?:the )?(?:(?:about|over|almost|nearly|more than|at least|around|only|just) )*$",
    re.IGNORECASE,
)
NOT_LASTING = re.compile(r" (?:ago|old|from|later|time|every|away|a|per|each)\b", re.IGNORECASE)
STILL = re.compile(r" (?:now|already)\b", re.IGNORECASE)
OWNED = re.compile(r"\b(?:my|our|his|her|their|your|a|the|\w+'s) $", re.IGNORECASE)
HABIT = re.compile(r"\b(?:every|each|most|all) (?:other )?$", re.IGNORECASE)
PRECISIONS: dict[str, Precision] = {
    "month": "month", "quarter": "month", "season": "year", "year": "year", "decade": "year", "century": "year",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSpan:
    """A time expression: `text[start:end]` says when. A point has `valid.start == valid.end`."""

    start: int
    end: int
    text: str
    valid: Interval
    kind: TimeKind

    def state(self) -> Interval:
        """Return when a state holds that began (or, for "until", ended) at this time."""
        if self.kind in ("point", "since", "duration"):
            return Interval(start=self.valid.start, start_precision=self.valid.start_precision)
        return self.valid


def find_times(text: str, at: datetime, *, past: bool | None = None, day_first: bool = False) -> list[TimeSpan]:
    """Return the time expressions of a text that date a statement, in order, none overlapping.

    Args:
        text: what was said.
        at: when it was said.
        past: the tense: a bare weekday, day or month lies before `at` when true, after it when false; None leaves it to
            the words around, as in `read_times`.
        day_first: whether 5/4/2023 is 5 April, as in `read_times`.

    Repetitions ("every Monday") and lengths that lead to no date ("a two-hour film") are left out. A date that does not
    exist (31 February, year 0) is no time expression. Cost O(len(text)); deterministic.
    """
    spans: list[TimeSpan] = []
    for expression in read_times(text, at, past=past, day_first=day_first):
        for start, end, value in _pieces(expression):
            piece = Expression(start=start, end=end, text=text[start:end], value=value)
            span = _span(text, piece, at)
            if span is not None and (not spans or spans[-1].end <= span.start):
                spans.append(span)
    return spans


def number_of(word: str) -> int | None:
    """Return the value of a small number, in digits or words; None for anything else."""
    word = word.casefold().strip()
    return int(word) if word.isdecimal() and word.isascii() and len(word) < 7 else NUMBERS.get(word)


def _pieces(expression: Expression) -> list[tuple[int, int, Period | Clock | Hours | Amount | Repeat]]:
    """Return a day and a time of day that stand together as two expressions."""
    value = expression.value
    if not isinstance(value, Period) or value.places is None:
        return [(expression.start, expression.end, value)]
    (day_start, day_end), (clock_start, clock_end) = value.places
    day = replace(value, places=None)
    if day_start < clock_start:
        return [(expression.start, day_end, day), (clock_start, expression.end, Clock(hour=0))]
    return [(expression.start, clock_end, Clock(hour=0)), (day_start, expression.end, day)]


def _span(text: str, piece: Expression, at: datetime) -> TimeSpan | None:
    match piece.value:
        case Clock(part="") | Clock(sure=True) | Hours(part=""):
            lead = CLOCK_LEAD.search(text[max(0, piece.start - 8) : piece.start])
            start = piece.start - len(lead[0]) if lead else piece.start
            return _made(text, start, piece.end, Interval(), "clock")
        case Amount():
            return _lasting(text, piece, piece.value, at)
        case Period():
            return _dated(text, piece, piece.value)
        case _:
            return None


def _made(text: str, start: int, end: int, valid: Interval, kind: TimeKind) -> TimeSpan:
    return TimeSpan(start=start, end=end, text=text[start:end], valid=valid, kind=kind)


def _lasting(text: str, piece: Expression, amount: Amount, at: datetime) -> TimeSpan | None:
    """Return what has lasted for an amount of time; None when the amount is only a length."""
    still = STILL.match(text, piece.end)
    lead = FOR.search(text[max(0, piece.start - 40) : piece.start])
    if NOT_LASTING.match(text, piece.end) or amount.fine or not (lead or still):
        return None
    try:
        start = moved(Seen(now=at.replace(tzinfo=None), past=True).today, amount, -1)
    except (ValueError, OverflowError):  # before the year 1
        return None
    first = piece.start - len(lead[0]) if lead else piece.start
    return _made(text, first, still.end() if still else piece.end, _since(start, amount.parts[0][1]), "duration")


def _since(start: datetime, unit: str) -> Interval:
    precision = PRECISIONS.get(unit, "day")
    return Interval(start=_floor(start.date(), precision), start_precision=precision)


def _dated(text: str, piece: Expression, period: Period) -> TimeSpan | None:
    before, after = text[max(0, piece.start - 40) : piece.start], text[piece.end : piece.end + 30]
    lead = LEAD.search(before)
    if period.loose or period.timex == "PRESENT_REF" or _describes(period, before, after, led=lead is not None):
        return None
    start = piece.start - len(lead[0]) if lead else piece.start
    if period.grain == "span" and period.counted and period.start < period.end and _is_over(piece):
        return _made(text, start, piece.end, _since(period.start, period.counted), "duration")
    valid = _valid(period)
    bound = period.bound
    if bound == "since" or bound == "after" or (lead and lead["since"] and period.ends is None):
        valid = Interval(start=valid.start, start_precision=valid.start_precision)
        return _made(text, start, piece.end, valid, "since")
    deadline = piece.text[:3].casefold() == "by "
    if (bound in ("until", "before") and not deadline) or (lead and lead["until"]):
        last = period.end.date() if "end" in (period.bound, period.timex) else valid.start
        valid = Interval(end=last, end_precision=valid.start_precision)
        return _made(text, start, piece.end, valid, "until")
    return _made(text, start, piece.end, valid, "point" if valid.start == valid.end else "range")


def _is_over(piece: Expression) -> bool:
    return bool(re.search(r"\b(?:last|past|previous)\b", piece.text, re.IGNORECASE))


def _describes(period: Period, before: str, after: str, *, led: bool) -> bool:
    """Tell whether a day only says which one a thing is ("the Monday meeting", "our Christmas tree")."""
    noun = re.match(r" ([a-z]+)", after)
    if period.weekday is not None and period.grain == "day":
        return bool(HABIT.search(before) or (not led and noun and OWNED.search(before)))
    if period.named:
        return bool(
            noun and noun[1] not in words().chars and not (led and re.search(r"\b(?:on|since|until|by) $", before))
        )
    return False


def _valid(period: Period) -> Interval:
    """Return the days of a period, as coarse as it was said."""
    first, last = period.start.date(), period.end.date()
    if period.ends is not None:
        opening, closing = (_precision(grain) for grain in period.ends)
        return Interval(
            start=_floor(first, opening), end=_floor(last, closing), start_precision=opening, end_precision=closing
        )
    precision = PRECISIONS.get(period.counted, _precision(period.grain))
    if period.grain in ("quarter", "decade", "century") or period.grain in ("week", "weekend", "span"):
        return Interval(start=first, end=last, start_precision=precision, end_precision=precision)
    day = _floor(first, precision)
    return Interval(start=day, end=day, start_precision=precision, end_precision=precision)


def _precision(grain: Grain) -> Precision:
    return PRECISIONS.get(grain, "day")


def _floor(day: date, precision: Precision) -> date:
    if precision == "year":
        return day.replace(month=1, day=1)
    return day.replace(day=1) if precision == "month" else day
