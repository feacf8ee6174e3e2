"""Parts of longer periods, ranges from one period to another, and open bounds: "until", "after", "no later than"."""

from __future__ import annotations

import calendar
from dataclasses import replace
from datetime import datetime, timedelta

from dateutil.relativedelta import relativedelta

from doxa.language.times.clocks import between, read_hour
from doxa.language.times.dates import weekday_of
from doxa.language.times.grammar import Action, Found, Reading
from doxa.language.times.periods import Bound, Clock, Grain, Hours, Period, Seen, dated, monday_of, moved, period_of
from doxa.language.times.relative import kind_of, staged

__all__ = ["RANGE_ACTIONS"]

BOUNDS: tuple[Bound, ...] = ("before", "after", "since", "until", "around")


def _nth(found: Found, seen: Seen) -> Reading | None:
    number = -1 if "last" in found else int(found.value("ord") or found.value("n") or 1)
    of: Period | None = found.value("of")
    if "in" in found:
        return kind_of(_around(found.value("in"), found.word("u")))
    if "near" in found and of is not None:
        return _beside(of, found.word("near"), -1 if found.word("side") == "before" else 1)
    if "side" in found and of is not None:
        weekday = found.value("d").weekday
        back = found.word("side") == "before"
        return None if weekday is None else Reading("DAY", dated(weekday_of(of.start, weekday, back)))
    if "here" in found:
        of = period_of(found.word("here"), seen.today)
    if "d" in found:
        weekday = found.value("d").weekday
        if weekday is None or of is None or of.grain not in ("month", "year"):
            return None
        return Reading("DAY", _nth_weekday(of, weekday, number))
    if "k" in found and of is not None and "last" in found:
        return kind_of(Period(start=moved(of.end, found.value("k"), -1), end=of.end, grain="span"))
    if "k" in found and of is not None:
        return kind_of(Period(start=of.start, end=moved(of.start, found.value("k"), 1), grain="span"))
    unit = found.word("u") or "quarter"
    if of is None:
        if unit != "week" or not 1 <= number <= 53:
            return None
        of = period_of("year", seen.today)
    return _nth_unit(of, unit, number)


def _beside(day: Period, unit: str, sign: int) -> Reading:
    """Return the day, week or weekend before or after a day."""
    if unit == "weekend":
        saturday = weekday_of(day.start, 5, sign < 0)
        return kind_of(Period(start=saturday, end=saturday + timedelta(days=2), grain="weekend"))
    if unit == "week":
        return kind_of(period_of("week", day.start + timedelta(weeks=sign)))
    return Reading("DAY", dated(day.start + timedelta(days=sign)))


def _around(day: Period, unit: str) -> Period:
    if unit == "week":
        return period_of("week", day.start)
    start, end = monday_of(day.start) + timedelta(days=5), monday_of(day.start) + timedelta(days=7)
    if day.start.weekday() == 0:  # a Monday makes the weekend before it longer
        start, end = day.start - timedelta(days=2), day.end
    elif day.start.weekday() in (3, 4):
        start = day.start
    return Period(start=start, end=end, grain="weekend")


def _nth_weekday(of: Period, weekday: int, number: int) -> Period:
    if number < 0:
        return dated(weekday_of(of.end, weekday, True))
    day = weekday_of(of.start - timedelta(days=1), weekday, False) + timedelta(weeks=number - 1)
    if day >= of.end:
        raise ValueError("no such weekday")
    return dated(day)


def _nth_unit(of: Period, unit: str, number: int) -> Reading | None:
    if unit == "week" and of.grain in ("month", "year"):
        # the first week is the one with the first Thursday (ISO 8601)
        first = monday_of(of.start + timedelta(days=(3 - of.start.weekday()) % 7))
        last = monday_of(of.end - timedelta(days=1))
        if last + timedelta(days=3) >= of.end and of.grain == "year":
            last -= timedelta(weeks=1)
        monday = last if number < 0 else first + timedelta(weeks=number - 1)
        return kind_of(Period(start=monday, end=monday + timedelta(weeks=1), grain="week")) if monday < of.end else None
    if unit == "weekend" and of.grain in ("month", "year"):
        saturday = _nth_weekday(of, 5, number).start
        return kind_of(Period(start=saturday, end=saturday + timedelta(days=2), grain="weekend"))
    if unit == "day" and of.grain != "day":
        day = of.end - timedelta(days=1) if number < 0 else of.start + timedelta(days=number - 1)
        return Reading("DAY", dated(day)) if day < of.end else None
    months = {"month": 1, "quarter": 3, "half": 6}.get(unit, 0)
    if not months or of.grain != "year":
        return None
    number = 12 // months if number < 0 else number
    if not 1 <= number <= 12 // months:
        return None
    start = of.start + relativedelta(months=months * (number - 1))
    grain = "month" if unit == "month" else "quarter"
    return kind_of(Period(start=start, end=start + relativedelta(months=months), grain=grain))  # type: ignore[arg-type]


def _stage(found: Found, seen: Seen) -> Reading | None:
    if "eo" in found and "d" in found:
        return _ended(found.value("d"), "end")
    if "eo" in found:
        unit = {"d": "day", "m": "month", "y": "year"}[found.word("eo")[-1]]
        return _ended(period_of(unit, seen.today), "end")
    unit = found.word("u")
    period = next((found.value(name) for name in "abcdefg" if name in found), None)
    if "gone" in found or "rest" in found:
        if period is None:
            period = period_of(unit, seen.today)
        if period.grain == "day" and period.start != seen.today:
            return None
        return _left(
            period, "rest" in found, seen, through=found.first.word in ("rest", "remaining", "remainder", "the")
        )
    if period is None:
        period = period_of(unit, seen.today)
    if period.grain in ("instant", "stretch") or period.bound:
        return None
    stage = found.look("s", "stage")
    if found.word("s") in ("early", "late", "mid") and period.grain == "day":
        return None
    return _ended(period, stage)


def _ended(period: Period, stage: str) -> Reading | None:
    if period.grain == "day":
        if stage != "end":
            return None
        moment = period.end - timedelta(seconds=1)
        return Reading("INSTANT", Period(start=moment, end=moment, grain="instant"))
    return Reading("SPAN", staged(period, stage))


def _left(period: Period, rest: bool, seen: Seen, *, through: bool) -> Reading | None:
    """Return what is over of a period that is under way, or what is left of it."""
    if not period.start <= seen.now < period.end:
        return Reading("SPAN", staged(period, "end" if rest else "start"))
    if period.grain == "day":
        end = period.end - timedelta(seconds=1)
        start, end = (seen.now, end) if rest else (period.start, seen.now)
        return Reading("STRETCH", Period(start=start, end=end, grain="stretch"))
    if not rest:
        return Reading("SPAN", Period(start=period.start, end=seen.today, grain="span"))
    end = period.end
    if through:
        end -= timedelta(days=1)
    return Reading("SPAN", Period(start=seen.today, end=end, grain="span"))


# --- from one period to another


def _aligned(period: Period, after: datetime) -> Period:
    """Return a period whose year, month or week was left open, as the first one after a moment."""
    length = period.end - period.start
    if period.year is not None:
        return period
    if period.weekday is not None:
        start = weekday_of(after.replace(hour=0, minute=0, second=0), period.weekday, False)
        shift = timedelta(hours=period.start.hour, minutes=period.start.minute)
        return replace(period, start=start + shift, end=start + shift + length)
    if period.month is not None:
        day = period.start.day
        for year in range(after.year, after.year + 9):
            if day <= calendar.monthrange(year, period.month)[1]:
                start = period.start.replace(year=year, month=period.month)
                if start > after:
                    return replace(period, start=start, end=start + length)
    if period.day is not None and period.month is None:
        for step in range(4):
            month = after.replace(day=1, hour=0, minute=0, second=0) + relativedelta(months=step)
            if period.day <= calendar.monthrange(month.year, month.month)[1]:
                start = month.replace(day=period.day)
                if start > after:
                    return replace(period, start=start, end=start + length)
    return period


def _is_open(period: Period) -> bool:
    return period.year is None and (period.weekday is not None or period.month is not None or period.day is not None)


def _until(found: Found, seen: Seen) -> Reading | None:
    if "first" in found or "k" in found:
        last: Period = found.value("v")
        clock = read_hour(found, "first", "k", "none")
        start = seen.today + timedelta(seconds=clock.seconds)
        return _range(Period(start=start, end=start, grain="instant"), last) if start < last.start else None
    first = next((found.value(name) for name in "abcdefg" if name in found), None)
    if first is None:
        return None
    if "clock" in found or "h" in found:
        return _until_clock(first, found)
    last = found.value("v")
    spoken = found.first.word in ("from", "between")
    years = first.grain == last.grain == "year"
    if (first.loose or last.loose) and not (years or spoken or "-" in found.source):
        return None
    if first.grain == "day" and last.grain == "stretch":  # "Monday to Friday, 9 to 5"
        last = dated(last.start, weekday=last.weekday)
    if not _is_open(first) and _is_open(last):
        last = _aligned(last, first.start)
    elif _is_open(first):
        first = _before(first, last.start)
    return _range(first, last) if first.start < (last.end if last.bound == "end" else last.start) else None


def _before(period: Period, last: datetime) -> Period:
    """Return a period with an open year or week as the last one before a moment."""
    if period.weekday is not None:
        return _aligned(period, last - timedelta(days=8))
    years = 1 if period.month is not None else 0
    back = relativedelta(years=years) if years else relativedelta(months=1)
    candidate = _aligned(period, last - back - timedelta(days=1))
    return candidate if candidate.start < last else period


def _range(first: Period, last: Period) -> Reading | None:
    end = last.end if last.bound == "end" else last.start
    fine = "instant" in (first.grain, last.grain) or "stretch" in (first.grain, last.grain)
    grain: Grain = "stretch" if fine else "span"
    if fine and first.grain == "day" and last.grain == "instant" and last.clocked is None:
        grain, end = "span", end.replace(hour=0, minute=0, second=0)
    if fine and last.grain == "instant" and last.clocked is None and first.grain not in ("instant", "stretch"):
        grain, end = "span", end.replace(hour=0, minute=0, second=0)
    kind = "STRETCH" if grain == "stretch" else "SPAN"
    return Reading(kind, Period(
        start=first.start, end=end, grain=grain, ends=(first.grain, last.grain), year=first.year,
    ))  # fmt: skip


def _until_clock(first: Period, found: Found) -> Reading | None:
    if first.grain != "instant" or first.clocked is None:
        return None
    hours = between(first.clocked, read_hour(found, "clock", "h", "none"))
    day = first.start - timedelta(seconds=first.clocked.seconds)
    start, end = day + timedelta(seconds=hours.start), day + timedelta(seconds=hours.end)
    return Reading("STRETCH", Period(start=start, end=end, grain="stretch"))


def _bounded(found: Found, seen: Seen) -> Reading | None:
    bound = next((bound for bound in BOUNDS if bound in found), None)
    value = next((found.value(name) for name in "abcdefghi" if name in found), None)
    if bound is None or value is None or value.bound in BOUNDS:
        return None
    if isinstance(value, Clock) and "day" in found:
        moment = found.value("day").start + timedelta(seconds=value.seconds)
        return Reading("OPENED", Period(start=moment, end=moment, grain="instant", bound=bound, clocked=value))
    if isinstance(value, Clock):
        return Reading("CLOCK", replace(value, bound=bound))
    if isinstance(value, Hours):
        return Reading("PART", replace(value, bound=bound))
    if (
        value.loose
        and found.first.word in ("by", "around", "about", "after", "before", "over")
        and value.grain != "year"
    ):
        return None
    return Reading("OPENED", replace(value, bound=bound, timex=value.bound))


RANGE_ACTIONS: dict[str, Action] = {
    "nth": _nth,
    "stage": _stage,
    "until": _until,
    "bounded": _bounded,
}
