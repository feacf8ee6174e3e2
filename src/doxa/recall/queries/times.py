"""The days that a query names, as wide as people are in saying when something was said."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time

from doxa.language.times import Period, period_of, read_times

__all__ = ["Days", "read_days", "told"]

TOLD_WITHIN = 7
"""People speak of a day on that day or within the week after it."""
EXACT = frozenset(["month", "quarter", "season", "year", "decade", "century"])
"""Periods so long that what was told after them makes no difference."""
SLACK = {"day": 0, "night": 0, "week": 3, "weekend": 3, "fortnight": 7, "month": 15, "quarter": 45, "year": 182}
"""Days by which "three weeks ago" may be off on either side: half a unit."""
DECADE = 1825
PLANNED = re.compile(r"\bfor (?:the |this |our |my )?$", re.IGNORECASE)
"""What is planned or wanted for a time is spoken of before it."""
AS_OF = re.compile(r"as of\b", re.IGNORECASE)
"""In a question it names a day, not a beginning."""


@dataclass(frozen=True, slots=True)
class Days:
    """From the first to the last day, both included."""

    first: date
    last: date


def read_days(query: str, today: date) -> Days | None:
    """Return the days that a query names, or None; of several times the first with a year counts, else the first.

    A month or a day without a year is the latest one that has begun. "Before" and "after" a day leave one end open, but
    "the week before 9 June" is that week. Days that are all to come are None: nothing was said on them yet.
    Cost O(words of the query); deterministic.

    Args:
        query: what is asked.
        today: the day from which "last week" counts.
    """
    found = read_times(query, datetime.combine(today, time(23), tzinfo=UTC), past=True)
    periods = [
        replace(one.value, bound="") if AS_OF.match(one.text) else one.value
        for one in found
        if isinstance(one.value, Period) and not PLANNED.search(query[: one.start])
    ]
    for period in sorted(periods, key=lambda period: period.year is None):
        if not period.loose and period.timex != "PRESENT_REF":
            days = _days(period)
            if days.first <= today:
                return days
    return None


def told(first: date, last: date) -> Days:
    """Return the days on which people speak of what was from `first` to `last`."""
    return Days(first, _later(last, TOLD_WITHIN))


def _days(period: Period) -> Days:
    first = period.start.date()
    if period.ends is not None and period.ends[1] in EXACT:  # "between March and May" ends where May does
        period = replace(period, end=period_of(period.ends[1], period.end).end)
    last = max(first, _later(period.end.date(), -1)) if period.end.time() == time() else period.end.date()
    if period.bound in ("since", "after"):
        return Days(first, date.max)
    if period.bound in ("until", "before"):
        return Days(date.min, last)
    if period.counted and period.grain == "day":
        slack = SLACK.get(period.counted, DECADE)
        return told(_later(first, -slack), _later(last, slack))
    return Days(first, last) if period.grain in EXACT else told(first, last)


def _later(day: date, days: int) -> date:
    """Return a day some days later (or, below zero, earlier), within the calendar."""
    return date.fromordinal(min(max(day.toordinal() + days, 1), date.max.toordinal()))
