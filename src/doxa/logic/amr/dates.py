"""The stretch of time that a `date-entity` or `date-interval` stands for."""

from __future__ import annotations

from datetime import date
from typing import Final

from doxa.core.values import Interval, Precision
from doxa.logic.amr.graph import AmrGraph

__all__ = ["interval_of", "until"]

_DECEMBER: Final = 12


def interval_of(graph: AmrGraph, variable: str) -> Interval | None:
    """Return the day, month, year, decade or century that a date names, as a point; a `date-interval` from op1 to op2.

    None where it names none of them, or a day that no calendar has (31 June).
    """
    if graph.nodes[variable].concept == "date-interval":
        first, last = (_bound(graph, variable, role) for role in ("op1", "op2"))
        if first is None and last is None:
            return None
        opens, closes = first or Interval(), last or Interval()
        return Interval(
            start=opens.start,
            start_precision=opens.start_precision,
            end=closes.start,
            end_precision=closes.start_precision,
        )
    year, month, day = (_number(graph, variable, role) for role in ("year", "month", "day"))
    if year is None:
        return _long(graph, variable)
    precision: Precision = "day" if month and day else "month" if month else "year"
    try:
        start = date(year, month or 1, (day if month else 1) or 1)
    except (ValueError, OverflowError):
        return None
    return Interval(start=start, end=start, start_precision=precision, end_precision=precision)


def until(interval: Interval) -> date | None:
    """Return the first day after an interval; None where it has no end, or the calendar ends."""
    if interval.end is None:
        return None
    year, month = interval.end.year, interval.end.month
    try:
        if interval.end_precision == "year":
            return date(year + 1, 1, 1)
        if interval.end_precision == "month":
            return date(year + month // _DECEMBER, month % _DECEMBER + 1, 1)
        return date.fromordinal(interval.end.toordinal() + 1)
    except (ValueError, OverflowError):
        return None


def _bound(graph: AmrGraph, variable: str, role: str) -> Interval | None:
    node = graph.target(variable, role)
    return interval_of(graph, node.variable) if node and node.concept == "date-entity" else None


def _number(graph: AmrGraph, variable: str, role: str) -> int | None:
    found = graph.constant(variable, role) or ""
    return int(found) if found.isascii() and found.isdigit() and len(found) <= 4 else None


def _long(graph: AmrGraph, variable: str) -> Interval | None:
    """Return a decade (1990) or a century (19 is 1801 to 1900)."""
    decade, century = _number(graph, variable, "decade"), _number(graph, variable, "century")
    try:
        if decade is not None:
            first, last = date(decade, 1, 1), date(decade + 9, 1, 1)
        elif century is not None:
            first, last = date(century * 100 - 99, 1, 1), date(century * 100, 1, 1)
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return Interval(start=first, end=last, start_precision="year", end_precision="year")
