"""Days, months, quarters, years and decades of the calendar, and days that have a name."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta
from dateutil.rrule import YEARLY, rrule

from doxa.language.data import table
from doxa.language.times.grammar import Action, Found, Reading
from doxa.language.times.periods import Period, Seen, dated, period_of
from doxa.language.times.tokens import UNKNOWN, Token, words

__all__ = ["DATE_ACTIONS", "day_of", "holiday_on", "holidays_in", "month_of", "nearest", "two_digits", "weekday_of"]

YEARS_AROUND = range(-8, 9)
"""29 February comes again within eight years."""


def nearest(candidates: Iterable[datetime], day: datetime, past: bool) -> datetime:
    """Return the latest candidate until a day (past), or the first from it on; ValueError when there is none."""
    fitting = [moment for moment in candidates if (moment <= day if past else moment >= day)]
    return max(fitting) if past else min(fitting)


def _existing(years: Iterable[int], month: int, day: int) -> list[datetime]:
    return [
        datetime(year, month, day)  # noqa: DTZ001
        for year in years
        if 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
    ]


def day_of(seen: Seen, month: int, day: int, year: int | None = None) -> Period:
    """Return a day of a month, without a year the nearest in the tense. Raises ValueError when there is none."""
    if year is not None:
        return dated(datetime(year, month, day), year=year, month=month, day=day)  # noqa: DTZ001
    around = _existing((seen.now.year + step for step in YEARS_AROUND), month, day)
    return dated(nearest(around, seen.today, seen.past), month=month, day=day)


def month_of(seen: Seen, month: int, year: int | None = None) -> Period:
    """Return a month, without a year the nearest in the tense; this month counts for both."""
    if year is not None:
        return replace(period_of("month", datetime(year, month, 1)), year=year, month=month)  # noqa: DTZ001
    around = _existing((seen.now.year + step for step in (-1, 0, 1)), month, 1)
    return replace(period_of("month", nearest(around, seen.today.replace(day=1), seen.past)), month=month)


def weekday_of(day: datetime, weekday: int, past: bool) -> datetime:
    """Return the last such weekday before a day, or the first after it."""
    if past:
        return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)


def two_digits(number: int, seen: Seen) -> int:
    """Return the year that two digits stand for: from 70 years ago until 29 years ahead."""
    century = seen.now.year // 100 * 100
    year = century + number
    if year > seen.now.year + 29:
        return year - 100
    return year + 100 if year <= seen.now.year - 71 else year


def is_verb(found: Found, token: Token | None) -> bool:
    """Tell whether a word may as well be a verb or a common noun ("may", "march", "sat")."""
    if token is None:
        return False
    written = found.text[token.start : token.end]
    return token.word in ("may", "march", "sat", "sun", "wed") and written.islower()


def _year(found: Found, seen: Seen) -> int | None:
    if "y" in found:
        return int(found.value("y"))
    if "yy" in found:
        word = found.word("yy")
        if word and (not word.isdecimal() or len(word) != 2):
            raise ValueError(f"{word} is no year")
        return two_digits(found.value("yy"), seen)
    return None


def _day_month(found: Found, seen: Seen) -> Reading | None:
    day, month, year = int(found.value("d")), found.look("m", "month"), _year(found, seen)
    if year is None and is_verb(found, found.token("m")) and found.token("m") is found.first:
        token = found.token("d")
        if token and token.word.isdecimal() and found.beside(1) not in ("", ".", ",", "!", "?", "\n", ")"):
            return None
    if is_verb(found, found.token("m")) and found.beside(1) in ("be", "have", "not", "well", "also", "as"):
        return None
    written = found.token("d")
    if year is None and written and written.word.isdecimal() and found.beside(-1) in ("$", "/", "#"):
        return None
    return _existing_day(seen, month, day, year, found.look("w", "weekday"))


def _existing_day(seen: Seen, month: int, day: int, year: int | None, weekday: int | None) -> Reading:
    """Return a day; for one that does not exist (31 February) words without a meaning, all of it."""
    try:
        found = day_of(seen, month, day, year)
        if year is None and weekday is not None and found.start.weekday() != weekday:
            other = day_of(replace(seen, past=not seen.past), month, day)
            found = other if other.start.weekday() == weekday else found
    except ValueError:
        return Reading(UNKNOWN, None)
    return Reading("DAY", found)


def _days_of_month(found: Found, seen: Seen) -> Reading | None:
    month, year = found.look("m", "month") or found.look("m2", "month"), _year(found, seen)
    first, last = int(found.value("a")), int(found.value("b"))
    if first >= last:
        return None
    end = day_of(seen, month, last, year).start
    start = end.replace(day=first)
    if year is None and not seen.past:
        start = day_of(seen, month, first).start
        end = start.replace(day=last)
    return Reading("SPAN", Period(start=start, end=end, grain="span", ends=("day", "day")))


def _date_text(found: Found, seen: Seen) -> Reading | None:
    if "compact" in found:
        word = found.word("compact")
        if not re.fullmatch(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])", word):
            return None
        return Reading("DAY", day_of(seen, int(word[4:6]), int(word[6:]), int(word[:4])))
    if "t" not in found:
        return Reading("DAY", day_of(seen, int(found.value("m")), int(found.value("d")), int(found.value("y"))))
    parts = found.value("t")
    if isinstance(parts, float):
        parts = re.fullmatch(r"(\d{1,2})\.(\d{1,2})", found.word("t"))
        if parts is None:
            return None
        parts = parts.groups()
    day_first = seen.day_first or "." in found.word("t")
    if len(parts) == 3:
        return Reading("DAY", _three(parts, seen, day_first))
    year = None
    if "y" in found:
        year = int(found.value("y"))
        year = year if year > 99 else two_digits(year, seen)
    return Reading("DAY", _two(int(parts[0]), int(parts[1]), seen, day_first, year))


def _two(first: int, second: int, seen: Seen, day_first: bool, year: int | None = None) -> Period:
    """Read "4/22": the month (or the day) first, unless it cannot be one."""
    if first > 12 or (day_first and second <= 12):
        first, second = second, first
    return day_of(seen, first, second, year)


def _three(parts: tuple[str, str, str], seen: Seen, day_first: bool) -> Period:
    """Read "2015-08-12", "08/12/2015" or "21.4.16": a year first if it has four digits, else the month or the day."""
    first, second, third = (int(part) for part in parts)
    if len(parts[0]) > 2:
        return day_of(seen, second, third, first) if second <= 12 else day_of(seen, third, second, first)
    if len(parts[2]) not in (2, 4):
        raise ValueError(f"{parts} is no date")
    year = third if len(parts[2]) > 2 else two_digits(third, seen)
    return _two(first, second, seen, day_first, year)


def _weekday_number(found: Found, seen: Seen) -> Reading | None:
    weekday, number = found.look("w", "weekday"), int(found.value("d"))
    if is_verb(found, found.token("w")):
        return None
    first = seen.today.replace(day=1)
    months = (first + relativedelta(months=step) for step in range(-24, 25))
    days = [day for m in months for day in _existing([m.year], m.month, number) if day.weekday() == weekday]
    here = [day for day in days if (day.year, day.month) == (first.year, first.month)]
    if "sure" in found and here:
        return Reading("DAY", dated(here[0]))
    if not days:
        return None
    return Reading("DAY", dated(nearest(days, seen.today, seen.past)))


def _month(found: Found, seen: Seen) -> Reading | None:
    return Reading("MONTH", month_of(seen, found.look("m", "month"), _year(found, seen)))


def _month_text(found: Found, seen: Seen) -> Reading | None:
    first, second = found.value("t")
    year, month = (first, second) if len(first) == 4 else (second, first)
    if found.beside(-1) in ("-", "/", "$") and found.text[found.first.start - 1] in "-/$":
        return None
    return Reading("MONTH", month_of(seen, int(month), int(year)))


def _quarter(found: Found, seen: Seen) -> Reading | None:
    number = int(found.value("half") or found.value("n") or 0)
    length = 6 if "half" in found else 3
    if not 1 <= number <= 12 // length:
        return None
    loose = "y" not in found
    year = seen.now.year if loose else int(found.value("y"))
    start = datetime(year, (number - 1) * length + 1, 1)  # noqa: DTZ001
    if loose and not seen.past and start + relativedelta(months=length) <= seen.today:
        start += relativedelta(years=1)
    if loose and seen.past and start > seen.today:
        start -= relativedelta(years=1)
    return Reading("SPAN", Period(start=start, end=start + relativedelta(months=length), grain="quarter"))


def _decade(found: Found, seen: Seen) -> Reading | None:
    if "y" in found:
        year = int(found.value("y"))
    elif "century" in found:
        base = {"twenty": 2000, "nineteen": 1900, "eighteen": 1800, "two": 2000}[found.word("century")]
        year = base + (found.look("word", "decade") or (10 if found.word("word") == "tens" else 0))
    else:
        number = found.value("yy") if "yy" in found else found.look("word", "decade")
        year = seen.now.year // 100 * 100 + number
        year = year - 100 if year > seen.now.year else year
    if year % 10:
        return None
    return Reading("SPAN", period_of("decade", datetime(year, 1, 1)))  # noqa: DTZ001


def _century(found: Found, seen: Seen) -> Reading | None:
    number = int(found.value("n"))
    start = datetime(max(1, (number - 1) * 100), 1, 1)  # noqa: DTZ001
    return Reading("SPAN", Period(start=start, end=datetime(number * 100, 1, 1), grain="century"))  # noqa: DTZ001


# --- days with a name


@cache
def holidays_in() -> dict[str, Callable[[int], datetime]]:
    """Return every named day with a function from a year to its date."""
    data = table("times/holidays")
    return {name: _holiday_rule(rule) for name, rule in data.items()}


def _holiday_rule(rule: str) -> Callable[[int], datetime]:
    if rule.startswith("easter"):
        days = timedelta(days=int(rule[6:]))
        return lambda year: datetime.combine(easter(year), datetime.min.time()) + days
    if "-" in rule.split()[0]:
        month, day = (int(part) for part in rule.split("-"))
        return lambda year: datetime(year, month, day)  # noqa: DTZ001
    number, weekday, place, *later = rule.split()
    day = words().values["weekday"][weekday]
    extra = timedelta(days=int(later[0]) if later else 0)

    def on(year: int) -> datetime:
        first = datetime(year, 1, 1)  # noqa: DTZ001
        found = rrule(YEARLY, dtstart=first, count=1, bymonth=int(number), byweekday=day, bysetpos=int(place))
        return next(iter(found)) + extra

    return on


def holiday_on(name: str, seen: Seen, year: int | None = None, step: int | None = None) -> Period:
    """Return a named day: of a year, or the nearest in the tense, or the last (step -1) or next (1) one."""
    on = holidays_in()[name]
    if year is not None:
        return dated(on(year))
    past = seen.past if step is None else step < 0
    around = [on(seen.now.year + offset) for offset in (-2, -1, 0, 1, 2) if 2 < seen.now.year + offset < 9998]
    if step:
        around = [day for day in around if day != seen.today]
    day = nearest(around, seen.today, past)
    return dated(day, month=day.month, day=day.day)


def _holiday(found: Found, seen: Seen) -> Reading | None:
    name = found.value("h")
    step = found.look("r", "relative")
    year = found.value("n")
    if "y" in found:
        year = found.value("y").start.year
    if step == 0:
        year, step = seen.now.year, None
    return Reading("DAY", replace(holiday_on(name, seen, int(year) if year else None, step), named=True))


DATE_ACTIONS: dict[str, Action] = {
    "days_of_month": _days_of_month,
    "day_month": _day_month,
    "date_text": _date_text,
    "weekday_number": _weekday_number,
    "month_text": _month_text,
    "month": _month,
    "quarter": _quarter,
    "decade": _decade,
    "century": _century,
    "holiday": _holiday,
}
