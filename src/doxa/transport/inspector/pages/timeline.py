"""Facts in time: when each was true, by what was known at a moment, and what differs between two moments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from starlette.responses import Response

from doxa.core.errors import InputError
from doxa.core.views import Standpoint, Steps
from doxa.transport.inspector.drawing import draw
from doxa.transport.inspector.rendering import day
from doxa.transport.inspector.visit import Visit

__all__ = ["PATHS"]

ROWS = 40
SHOWN = ("all", "holding")


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A slider over days, and the field beside it."""

    name: str
    """The parameter that it sets."""
    title: str
    kind: str
    """The type of the field."""
    value: str
    """What stands in the field."""
    words: str
    first: date
    days: int
    place: int
    """Which of the days is chosen."""


def timeline(visit: Visit) -> Response:
    """Show facts in time.

    Parameters: `of` the key or name of a person or thing, none for everything; `known` by what moment something was
    known, `true` the day of the world; `known2` and `true2` another standpoint, to compare with; `show` "holding" for
    what held on that day alone; `after` and `diff` where the page of each list begins.
    """
    of, show = visit.text("of"), visit.text("show", "all")
    if show not in SHOWN:
        raise InputError(f"show: expected one of {', '.join(SHOWN)}, got {show[:40]!r}.")
    comparing = bool(visit.text("known2") or visit.text("true2"))
    with visit.room.view().opened() as view:
        at = view.standpoint(visit.text("known"), visit.text("true"))
        facts = view.timeline(at, of=of, holding=show == "holding", after=visit.text("after"), limit=ROWS)
        differing, axes = None, _axes(at, facts.known, facts.true)
        if comparing:
            other = view.standpoint(visit.text("known2"), visit.text("true2") or at.true.isoformat())
            differing = view.differences(other, at, of=of, after=visit.text("diff"), limit=ROWS)
            axes += _axes(other, facts.known, facts.true, "2")
    return visit.shown(
        "timeline.html",
        facts=facts,
        differing=differing,
        axes=axes,
        show=show,
        picture=draw(facts),
        other=_other(at, facts.known),
    )


def _axes(at: Standpoint, known: Steps[datetime] | None, true: Steps[date] | None, mark: str = "") -> list[Axis]:
    """Return the sliders of a standpoint; an axis reaches as far as what is known, and what is chosen."""
    last = at.known or (known.last if known else datetime.combine(at.true, datetime.min.time(), UTC))
    days = [last.date(), *([known.first.date(), known.last.date()] if known else ())]
    written = f"{last + timedelta(microseconds=-last.microsecond % 1_000_000):%Y-%m-%dT%H:%M:%S}" if at.known else ""
    words = f"{day(last)}, {last:%H:%M}" if at.known else "now"
    found = [_axis(f"known{mark}", "Known by", "datetime-local", written or f"{last:%Y-%m-%dT23:59:59}", words, days)]
    days = [at.true, *([true.first, true.last] if true else ())]
    return [*found, _axis(f"true{mark}", "True on", "date", at.true.isoformat(), day(at.true), days)]


def _axis(name: str, title: str, kind: str, value: str, words: str, days: list[date]) -> Axis:
    """Return a slider whose first day is chosen."""
    first = min(days)
    return Axis(
        name=name, title=title, kind=kind, value=value, words=words, first=first,
        days=(max(days) - first).days, place=(days[0] - first).days,
    )  # fmt: skip


def _other(at: Standpoint, known: Steps[datetime] | None) -> Standpoint:
    """Return what a standpoint is compared with at first: what was known before the last step."""
    earlier = known.earlier if known is not None else None
    return Standpoint(known=earlier or at.known, true=at.true)


PATHS = {"timeline": timeline}
