"""The days that a query names: enough to prefer turns by when they were said.

A small reader of its own: a rough period is all that search needs. What a turn means by its time expressions is
read where turns are understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

__all__ = ["Days", "read_days"]

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
NUMBERS = {
    **{word: n for n, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)},
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "a few": 3,
}
DAYS_IN = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}
TOLD_WITHIN = 7
"""People speak of a day on that day or within the week after it."""

MONTH = rf"(?P<month>{'|'.join(MONTHS)})"
DAY = r"(?P<day>[0-3]?\d)(?:st|[nr]d|th)?"
YEAR = r"(?P<year>(?:19|20)\d\d)"
BEFORE_MONTH = "in|during|since|until|till|before|after|by|of|early|late|mid|last|this"


@dataclass(frozen=True, slots=True)
class Days:
    """From the first to the last day, both included."""

    first: date
    last: date


def read_days(query: str, today: date) -> Days | None:
    """Return the days that a query names, or None.

    A month or a day without a year is the latest one that has begun; "before" and "after" a day leave one end open,
    but "the week before 9 June" is near that day. Deterministic; the first pattern that fits is the answer.
    """
    for pattern, read in READERS:
        match = pattern.search(query)
        days = match and read(match, today)
        if match and days:
            return _opened(days, query[: match.start()])
    return None


def _dated(match: re.Match[str], today: date) -> Days | None:
    parts = match.groupdict()
    month = _month(parts["month"])
    try:
        day = date(int(parts["year"] or today.year), month, int(parts["day"]))
        if not parts["year"] and day > today:
            day = day.replace(year=today.year - 1)
    except ValueError:
        return None
    return _told(day, day)


def _of_month(match: re.Match[str], today: date) -> Days | None:
    parts = match.groupdict()
    month = _month(parts["month"])
    year = int(parts["year"]) if parts.get("year") else max(today.year - (month > today.month), 1)
    return Days(date(year, month, 1), _next_month(date(year, month, 1)) - timedelta(days=1))


def _of_year(match: re.Match[str], today: date) -> Days | None:
    year = int(match["year"])
    return Days(date(year, 1, 1), date(year, 12, 31))


def _ago(match: re.Match[str], today: date) -> Days | None:
    unit, words = match["unit"].lower(), " ".join(match["count"].lower().split())
    count = int(words) if words.isdigit() else NUMBERS[words]
    day, slack = _back(today, count * DAYS_IN[unit]), timedelta(days=DAYS_IN[unit] // 2)
    return _told(_back(day, slack.days), day + slack)


def _relative(match: re.Match[str], today: date) -> Days | None:
    if match["day"]:
        day = _back(today, match["day"].lower() == "yesterday")
        return Days(day, today)
    length = DAYS_IN[match["unit"].lower()]
    return Days(_back(today, length if match["which"].lower() == "this" else 2 * length), today)


def _weekday(match: re.Match[str], today: date) -> Days | None:
    return Days(_back(today, (today.weekday() - WEEKDAYS.index(match["weekday"].lower())) % 7 or 7), today)


READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Days | None]], ...] = (
    (re.compile(r"\b(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)\b"), _dated),
    (re.compile(rf"\b{DAY}\s+(?:of\s+)?{MONTH}\b(?:,?\s+{YEAR})?", re.IGNORECASE), _dated),
    (re.compile(rf"\b{MONTH}\s+{DAY}\b(?:,?\s+{YEAR})?", re.IGNORECASE), _dated),
    (re.compile(rf"\b{MONTH},?\s+(?:of\s+)?{YEAR}\b", re.IGNORECASE), _of_month),
    # "May" and "march" are verbs as well: a month alone needs a word before it that leads to a time.
    (re.compile(rf"\b(?:{BEFORE_MONTH})[\s-]{MONTH}\b", re.IGNORECASE), _of_month),
    (
        re.compile(
            rf"\b(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})\s+"
            r"(?P<unit>day|week|month|year)s?\s+ago\b",
            re.IGNORECASE,
        ),
        _ago,
    ),
    (
        re.compile(
            r"\b(?:(?P<which>last|this|past|previous)\s+(?P<unit>weekend|week|month|year)|(?P<day>yesterday|today))\b",
            re.IGNORECASE,
        ),
        _relative,
    ),
    (re.compile(rf"\blast\s+(?P<weekday>{'|'.join(WEEKDAYS)})\b", re.IGNORECASE), _weekday),
    (re.compile(rf"\b(?:in|during|since|until|before|after|of|by|year)\s+{YEAR}\b", re.IGNORECASE), _of_year),
)
OPENING = re.compile(
    rf"(?P<near>\b(?:days?|weeks?|weekend|months?|night|evening|morning|{'|'.join(WEEKDAYS)})\s+)?"
    r"\b(?P<side>before|until|till|by|after|since)\s*$",
    re.IGNORECASE,
)


def _opened(days: Days, lead: str) -> Days:
    """Return the days with the end opened that "before" or "after" leads to."""
    match = OPENING.search(lead)
    if match is None:
        return days
    if match["near"]:
        return Days(_back(days.first, 2 * TOLD_WITHIN), days.last)
    if match["side"].lower() in ("after", "since"):
        return Days(days.first, date.max)
    return Days(date.min, days.last)


def _told(first: date, last: date) -> Days:
    return Days(first, last + timedelta(days=min(TOLD_WITHIN, (date.max - last).days)))


def _month(word: str) -> int:
    """Return the number of a month; 0, which no date has, when it is none."""
    return int(word) if word.isdigit() else MONTHS.index(word.lower()) + 1


def _next_month(first: date) -> date:
    return (first.replace(day=28) + timedelta(days=4)).replace(day=1)


def _back(day: date, days: int) -> date:
    return day - timedelta(days=min(days, (day - date.min).days))
