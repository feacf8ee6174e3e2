"""How it goes: what waits, how fast it is, what models cost, what runs on a lesser path; a memory carried away."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isinf
from pathlib import Path

from starlette.responses import Response

from doxa.core.drift import Drift, Window
from doxa.core.errors import InputError
from doxa.transport.inspector.entry import secret_of
from doxa.transport.inspector.visit import Visit
from doxa.transport.measures import Speed
from doxa.transport.spooling import MEDIA, spooled

__all__ = ["PATHS"]

LESSER, PATHS_SHOWN, USERS = 20, 12, 50
BAR = 120
"""Units of the longest bar."""
WINDOWS, LISTED, REFRESHES = 60, 7, 3
"""Windows that are drawn, and those and the refreshes that are listed, the latest ones."""
CURVE = (600, 80)
"""Width and height of the curve of recall, in units; it stretches to the width of the page."""
RESIDENT = Path("/proc/self/statm")
UNITS = ("B", "KB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A speed as it is drawn."""

    speed: Speed
    p50: int
    p95: int
    """How long the bars are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Recall over the windows, as it is drawn: one point for each, and a line where it is as a rule."""

    points: str
    """`x,y` for each window that could be judged."""
    usual: float | None
    """How high the line is."""
    alarms: tuple[tuple[float, float], ...]
    """Where alarms were raised."""
    said: str
    """The same in words."""


def curve_of(found: Drift) -> Curve | None:
    """Return the curve of recall; None where no window could be judged."""
    drawn = [window for window in found.windows if window.judged][-WINDOWS:]
    if not drawn:
        return None
    width, height = CURVE
    raised = {alarm.window for alarm in found.alarms}

    def at(place: int, window: Window) -> tuple[float, float]:
        return round(4 + (width - 8) * place / max(len(drawn) - 1, 1), 1), level(window.recall)

    def level(share: float) -> float:
        return round(4 + (height - 8) * (1 - share), 1)

    places = [at(place, window) for place, window in enumerate(drawn)]
    low, high = (pick(window.recall for window in drawn) for pick in (min, max))
    usual = None if found.reference is None else found.reference.recall
    windows = "1 window" if len(drawn) == 1 else f"{len(drawn)} windows"
    said = f"Recall at 10 in {windows}, from {low:.2f} to {high:.2f}, {drawn[-1].recall:.2f} in the last one"
    return Curve(
        points=" ".join(f"{x},{y}" for x, y in places),
        usual=None if usual is None else level(usual),
        alarms=tuple(spot for spot, window in zip(places, drawn, strict=True) if window.number in raised),
        said=said if usual is None else f"{said}; {usual:.2f} as a rule",
    )


def health(visit: Visit) -> Response:
    """Show how it goes; parameter `lesser` where the page of turns begins that were not processed in full."""
    room = visit.room
    whole = "admin" in room.scope.rights  # what the server as a whole does is no business of one user
    measures = visit.desk.measures if whole else None
    with room.view(settle=False).opened() as view:
        counts, spent = view.counts(), view.spent()
        turns = view.degraded(after=visit.text("lesser"), limit=LESSER)
    about, drift = room.describe(), room.memory().drift()
    return visit.shown(
        "health.html",
        counts=counts,
        work=room.work(),
        about=about,
        kept=size_of(about["store"].get("bytes")),
        resident=size_of(resident_bytes()) if whole else "",
        uptime="" if measures is None else duration(measures.uptime_s()),
        requests=drawn(measures.requests()[:PATHS_SHOWN] if measures else ()),
        steps=drawn(measures.steps_taken() if measures else ()),
        stumbled=measures.lesser() if measures else {},
        spending=measures.spending() if measures else (),
        spent=spent,
        lesser=room.lesser(),
        turns=turns,
        drift=drift,
        curve=curve_of(drift),
        size=CURVE,
        listed=drift.windows[-LISTED:],
        refreshes=drift.refreshes[-REFRESHES:],
        formats=MEDIA,
        may={right: right in room.scope.rights for right in ("erase", "admin")},
        ms=ms,
    )


def checkup(visit: Visit) -> Response:
    """Show what is installed, what works and what is missing, as `doxa doctor` does; nothing is asked of a server."""
    return visit.shown("health_checkup.html", checks=visit.room.checked())


def export(visit: Visit) -> Response:
    """Give the whole memory as a file.

    Raises:
        InputError: parameter `format` names none.
    """
    format = next((one for one in MEDIA if one == visit.text("format", "jsonl")), None)
    if format is None:
        raise InputError(f"format: expected one of {', '.join(MEDIA)}, got {visit.text('format')[:40]!r}.")
    return spooled(visit.room.memory(), format)


def users(visit: Visit) -> Response:
    """Show whose memories a key opens, and how many turns each holds; parameter `after` the last name before."""
    known = visit.desk.whose(visit.request, secret=secret_of(visit.request))
    left = [name for name in sorted(known) if name > visit.text("after")]
    shown = left[:USERS]
    sizes = visit.desk.sizes(visit.request, shown, secret=secret_of(visit.request))
    after = shown[-1] if len(left) > USERS else ""
    return visit.shown("health_users.html", users={name: sizes.get(name, 0) for name in shown}, after=after)


def drawn(speeds: Sequence[Speed]) -> list[Bar]:
    """Return speeds with bars on one scale."""
    longest = max((value for one in speeds for value in _finite(one)), default=0.0) or 1.0

    def length(value: float) -> int:
        return BAR if isinf(value) else round(BAR * value / longest)

    return [Bar(speed=one, p50=length(one.p50_ms), p95=length(one.p95_ms)) for one in speeds]


def _finite(one: Speed) -> Iterator[float]:
    return (value for value in (one.p50_ms, one.p95_ms) if not isinf(value))


def ms(value: float) -> str:
    """Return milliseconds as people write them."""
    if isinf(value):
        return "longer than 30 s"
    if value >= 1000:
        return f"{value / 1000:,.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def size_of(count: int | None) -> str:
    """Return a number of bytes as people write it; empty where it is not known."""
    if count is None:
        return ""
    value, unit = float(count), 0
    while value >= 1000 and unit < len(UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.1f} {UNITS[unit]}" if unit else f"{count} {UNITS[0]}"


def duration(seconds: float) -> str:
    """Return a time that passed in its two largest units."""
    whole = int(seconds)
    parts = [(whole // 86_400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "min"), (whole % 60, "s")]
    first = next((at for at, (value, _) in enumerate(parts) if value), len(parts) - 1)
    return " ".join(f"{value} {unit}" for value, unit in parts[first : first + 2])


def resident_bytes() -> int | None:
    """Return the memory that this process has in use; None where the system does not say so in `/proc`."""
    try:
        pages = int(RESIDENT.read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


PATHS = {"health": health, "health/checkup": checkup, "health/export": export, "users": users}
