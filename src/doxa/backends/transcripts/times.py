"""A moment from what a file writes: ISO, epoch, or a date in words."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

from dateutil import parser

__all__ = ["day_order", "instant", "is_day_first"]

_LONGEST: Final = 64
_EPOCH: Final = re.compile(r"\d{9,16}(\.\d+)?")
_DAY_FIRST: Final = re.compile(r"\s*\d{1,2}\.\d{1,2}\.\d{2,4}\b")  # dots are written where the day comes first
_SLASHED: Final = re.compile(r"(?<!\d)(?P<one>\d{1,2})(?P<sign>[-/])(?P<two>\d{1,2})(?P=sign)\d{2,4}(?!\d)")
# An epoch in seconds, milliseconds or microseconds is told by its size; anything smaller is no date of a chat.
_SMALLEST_EPOCH, _MILLISECONDS, _MICROSECONDS = 1e8, 1e11, 1e14
# The zones of RFC 2822, section 4.3, in hours; any other abbreviation means different zones to different people.
_ZONES: Final[Mapping[str, int]] = {
    "UTC": 0, "GMT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip
# dateutil fills what a text leaves out from a default. Two defaults that differ in every part show what it filled.
_DEFAULTS: Final = (datetime(2000, 1, 1), datetime(2001, 2, 2))  # noqa: DTZ001 - it adds the zone of the text


def is_day_first(stamps: Iterable[str]) -> bool:
    """Tells whether dates such as `12/05/2024` have the day first, as `13/05/2024` among them shows.

    One file writes all its dates one way. Where no date tells, or they disagree, the month is first.
    """
    return day_order(stamps) is True


def day_order(stamps: Iterable[str]) -> bool | None:
    """Tells whether such dates have the day first; None where no date of the file tells, or they disagree."""
    pairs = [(int(found["one"]), int(found["two"])) for stamp in stamps for found in _SLASHED.finditer(stamp)]
    day_first, month_first = any(one > 12 for one, _ in pairs), any(two > 12 for _, two in pairs)
    return None if day_first == month_first else day_first


def instant(value: object, *, day_first: bool = False) -> datetime:
    """Gives back the moment that a value of a file names, in UTC; without a zone it is taken as UTC.

    Args:
        value: ISO text, a date in words with day, month and year, or an epoch in seconds, milliseconds or
            microseconds. `3/2/2024` is month first, `2.3.2024` day first. A date alone is its midnight.
        day_first: `3/2/2024` is 3 February.

    Raises:
        ValueError: It names no single moment ("Monday", "May 2023", "32 March 2024").
    """
    if isinstance(value, str) and _EPOCH.fullmatch(value.strip()):
        return _from_epoch(float(value))
    if isinstance(value, str):
        return _in_utc(_from_text(value.strip(), day_first=day_first))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_epoch(value)
    raise ValueError("neither text nor a number")


def _from_epoch(number: float) -> datetime:
    if not _SMALLEST_EPOCH <= number < 1e17:
        raise ValueError("no epoch of our time")
    scale = 1e6 if number >= _MICROSECONDS else 1e3 if number >= _MILLISECONDS else 1
    try:
        return datetime.fromtimestamp(number / scale, UTC)
    except (OverflowError, OSError) as exc:
        raise ValueError("an epoch out of range") from exc


def _from_text(text: str, *, day_first: bool) -> datetime:
    if not text or len(text) > _LONGEST:
        raise ValueError("empty or too long for a date")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass  # not ISO: dateutil reads the other ways to write a date
    day_first = bool(_DAY_FIRST.match(text) or (day_first and _SLASHED.search(text)))
    one, other = (_parse(text, default, day_first=day_first) for default in _DEFAULTS)
    if one != other:
        raise ValueError("day, month or year is missing")
    return one


def _parse(text: str, default: datetime, *, day_first: bool) -> datetime:
    try:
        return parser.parse(text, default=default, dayfirst=day_first, tzinfos=_zone)
    except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as exc:
        # Odd input makes dateutil fail in more ways than the ParserError that it documents.
        raise ValueError("no date, or one in an unknown time zone") from exc


def _zone(name: str | None, offset_s: int | None) -> tzinfo | None:
    if offset_s is not None:
        return timezone(timedelta(seconds=offset_s))
    if name is None:
        return None
    if name not in _ZONES:
        raise ValueError(f"an unknown time zone: {name}")
    return timezone(timedelta(hours=_ZONES[name]))


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as exc:
        raise ValueError("out of the range of dates") from exc
