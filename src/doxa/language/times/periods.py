"""What the words of a time expression mean: periods of the calendar, times of day, amounts of time, repetitions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from dateutil.relativedelta import relativedelta

__all__ = [
    "CODES", "Amount", "Bound", "Clock", "Grain", "Hours", "Period", "Repeat", "Seen", "dated", "monday_of", "moved",
    "period_of",
]  # fmt: skip

Grain = Literal[
    "instant", "stretch", "day", "week", "weekend", "month", "quarter", "season", "year", "decade", "century", "span"
]
Bound = Literal["", "before", "after", "since", "until", "around", "more", "less", "start", "mid", "end"]

SECONDS = {
    "second": 1, "minute": 60, "hour": 3600, "day": 86400, "night": 86400, "week": 604800, "weekend": 172800,
    "fortnight": 1209600, "month": 2592000, "quarter": 7776000, "year": 31536000, "decade": 315360000,
    "century": 3153600000, "business day": 86400,
}  # fmt: skip
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
CODES = {
    "second": (1, "S"), "minute": (1, "M"), "hour": (1, "H"), "day": (1, "D"), "night": (1, "D"), "week": (1, "W"),
    "weekend": (1, "WE"), "fortnight": (2, "W"), "month": (1, "M"), "quarter": (3, "M"), "year": (1, "Y"),
    "decade": (10, "Y"), "century": (100, "Y"), "business day": (1, "BD"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """The point of view: when something is said, and whether it speaks of the past."""

    now: datetime
    past: bool
    day_first: bool = False
    """Whether 5/4/2023 is 5 April; with full stops (5.4.2023) it always is."""

    @property
    def today(self) -> datetime:
        """Return the midnight at which the day of speaking begins."""
        return datetime(self.now.year, self.now.month, self.now.day)  # noqa: DTZ001 - local time throughout


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From `start` until `end` (exclusive; equal for an instant), in the local time of the speaker.

    `year`, `month`, `day` and `weekday` are what was said, so that a range can read its two ends together; `loose`
    marks what may be no time at all in prose ("the day").
    """

    start: datetime
    end: datetime
    grain: Grain
    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    bound: Bound = ""
    timex: str = ""
    clocked: Clock | None = None
    loose: bool = False
    counted: str = ""
    """The unit, when it is an amount of time from now ("three years ago"): it is as exact as that."""
    named: bool = False
    """A day with a name of its own ("Christmas")."""
    places: tuple[tuple[int, int], tuple[int, int]] | None = None
    """Where the day and where the time of day stand in the text, when both were said."""
    ends: tuple[Grain, Grain] | None = None
    """How exact the two ends of a range are; None for a period that is one unit of the calendar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A time of day. `sure` says that morning or afternoon is known; `part` is the part of the day it was said with."""

    hour: int
    minute: int = 0
    second: int = 0
    sure: bool = False
    part: str = ""
    bound: Bound = ""
    zone_min: int | None = None
    """Minutes from UTC, when a time zone was named; the time itself stays as it was said."""

    @property
    def seconds(self) -> int:
        """Return the seconds since midnight."""
        return self.hour * 3600 + self.minute * 60 + self.second

    @property
    def timex(self) -> str:
        """Return the time as TIMEX3 writes it."""
        if self.second:
            return f"T{self.hour:02}:{self.minute:02}:{self.second:02}"
        return f"T{self.hour:02}:{self.minute:02}" if self.minute else f"T{self.hour:02}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """A stretch of a day, in seconds since midnight; `end` may lie on the next day."""

    start: int
    end: int
    sure: bool = True
    part: str = ""
    bound: Bound = ""
    zone_min: int | None = None
    """As in `Clock`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A length of time: amounts with their units, largest first as they were said."""

    parts: tuple[tuple[float, str], ...]
    bound: Bound = ""

    @property
    def seconds(self) -> float:
        """Return the length in seconds, with months of 30 and years of 365 days."""
        return sum(number * SECONDS[unit] for number, unit in self.parts)

    @property
    def fine(self) -> bool:
        """Tell whether it counts hours, minutes or seconds."""
        return any(unit in ("hour", "minute", "second") for _, unit in self.parts)

    @property
    def timex(self) -> str:
        """Return the amount as TIMEX3 writes it ("P2W")."""
        text, clock = "P", ""
        for number, unit in self.parts:
            scale, code = CODES[unit]
            piece = f"{number * scale:g}{code}"
            if unit in ("hour", "minute", "second"):
                clock += piece
            else:
                text += piece
        return text + (f"T{clock}" if clock else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Something that happens again and again: a TIMEX3 value ("P1W", "XXXX-WXX-1T09")."""

    timex: str
    count: int = 1


def moved(moment: datetime, amount: Amount, sign: int) -> datetime:
    """Return a moment an amount later (or, with sign -1, earlier). Raises OverflowError outside the years 1 to 9999."""
    for number, unit in amount.parts:
        if unit == "weekend":
            moment += timedelta(weeks=sign * number)
        elif unit == "business day":
            moment = _working_day(moment, int(number), sign)
        elif unit in MONTHS_IN:
            months = number * MONTHS_IN[unit]
            moment += relativedelta(months=sign * int(months)) + timedelta(days=sign * 30 * (months % 1))
        else:
            moment += timedelta(seconds=sign * number * SECONDS[unit])
    return moment


def _working_day(moment: datetime, number: int, sign: int) -> datetime:
    weeks, rest = divmod(number, 5)
    moment += timedelta(weeks=sign * weeks)
    while rest:
        moment += timedelta(days=sign)
        rest -= moment.weekday() < 5
    return moment


def dated(day: datetime | date, /, **said: int | None) -> Period:
    """Return the period of one day."""
    start = datetime(day.year, day.month, day.day)  # noqa: DTZ001
    return Period(start=start, end=start + timedelta(days=1), grain="day", **said)  # type: ignore[arg-type]


def monday_of(day: datetime) -> datetime:
    """Return the Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def period_of(unit: str, day: datetime) -> Period:
    """Return the week, month, quarter ... in which a day lies."""
    midnight = day.replace(hour=0, minute=0, second=0, microsecond=0)
    first = midnight.replace(day=1)
    match unit:
        case "week":
            start = monday_of(midnight)
            return Period(start=start, end=start + timedelta(weeks=1), grain="week")
        case "weekend":
            start = monday_of(midnight) + timedelta(days=5)
            return Period(start=start, end=start + timedelta(days=2), grain="weekend")
        case "workweek":
            start = monday_of(midnight)
            return Period(start=start, end=start + timedelta(days=5), grain="span")
        case "fortnight":
            start = monday_of(midnight)
            return Period(start=start, end=start + timedelta(weeks=2), grain="span")
        case "month":
            return Period(start=first, end=first + relativedelta(months=1), grain="month")
        case "quarter":
            start = first.replace(month=(first.month - 1) // 3 * 3 + 1)
            return Period(start=start, end=start + relativedelta(months=3), grain="quarter")
        case "year":
            start = first.replace(month=1)
            return Period(start=start, end=start + relativedelta(years=1), grain="year")
        case "decade" | "century":
            span = 10 if unit == "decade" else 100
            start = first.replace(month=1, year=max(1, first.year // span * span))
            return Period(start=start, end=start + relativedelta(years=span), grain=unit)
        case _:
            return dated(midnight)
