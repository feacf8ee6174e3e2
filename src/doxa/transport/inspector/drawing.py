"""Facts in time -> a picture: what an SVG says in its attributes. Places across are percents, so that it fits a phone.

A row is a label, and under it a bar over the days of the world on which the fact held. Where it is not known when it
began, a thin line leads from the edge to the day on which it came to be known; where it is not known that it ends, the
bar has an arrow at the edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from markupsafe import Markup

from doxa.core.values import Fact, Interval
from doxa.core.views import Lasting, Stage, Timeline
from doxa.transport.inspector.rendering import visible

__all__ = ["Bar", "Picture", "Tick", "draw"]

HEAD, ROW = 24, 38
"""Heights, in pixels."""
EDGE = 99.0
"""Where a bar ends that has an arrow, in percent."""
MARGIN = 0.05
"""Of all days, on each side."""
FEWEST_DAYS = 30
LEAST = 0.6
"""How wide a day is at least, in percent."""
MOST_TICKS, MOST_DAYS = 6, 4
"""How many months or years, and how many days, have room beside each other on a phone."""
LONGEST_LABEL = 90
"""Characters."""
CSS: dict[Stage, str] = {"firm": "firm", "tentative": "unsure", "past": "quiet", "never": "wrong"}
ROOM = {"day": 11, "month": 8, "year": 5}
"""How far from an edge a tick has to be for its words to fit on a phone, in percent."""
YEAR_DAYS = 365.25
MONTHS = (1, 3, 6)
YEARS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A row of the picture."""

    lasting: Lasting
    css: str
    label: str
    top: int
    """Of the row, in pixels."""
    left: float
    """Where the days that are known begin, in percent."""
    width: float
    from_edge: bool
    """It is not known when it began."""
    to_edge: bool
    """It is not known that it ends."""
    learned: float | None
    """When it came to be known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A day that is written over the picture."""

    at: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is drawn."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    line: float
    """Where the day of the world is."""
    height: int


def draw(facts: Timeline) -> Picture:
    """Return the picture of a page of facts."""
    scale = _Scale.over([*_days(facts.items), facts.at.true])
    bars = tuple(_bar(one, HEAD + place * ROW, scale) for place, one in enumerate(facts.items))
    height = HEAD + len(bars) * ROW
    return Picture(bars=bars, ticks=tuple(scale.ticks()), line=scale.at(facts.at.true), height=height)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Days -> percents."""

    first: float
    last: float

    @classmethod
    def over(cls, days: list[date]) -> _Scale:
        first, last = min(days).toordinal(), max(days).toordinal() + 1
        margin = max((last - first) * MARGIN, (FEWEST_DAYS - (last - first)) / 2)
        return cls(first - margin, last + margin)

    def at(self, day: date) -> float:
        return round(100 * (day.toordinal() - self.first) / (self.last - self.first), 2)

    def ticks(self) -> Iterator[Tick]:
        """Yield the beginnings of as many years, months or weeks as there is room for."""
        days = self.last - self.first
        months = next((step for step in MONTHS if days / (step * YEAR_DAYS / 12) <= MOST_TICKS), 0)
        years = next((step for step in YEARS if days / (step * YEAR_DAYS) <= MOST_TICKS), YEARS[-1])
        coarse = "day" if days < MONTHS[1] * YEAR_DAYS / 12 else "month" if months else "year"
        for day in self._weeks() if coarse == "day" else self._beginnings(months, years):
            if ROOM[coarse] < self.at(day) < 100 - ROOM[coarse]:
                words = {"day": f"{day.day} {day:%b %Y}", "month": f"{day:%b %Y}", "year": f"{day.year}"}
                yield Tick(at=self.at(day), words=words[coarse])

    def _weeks(self) -> Iterator[date]:
        step = timedelta(days=max(7, round((self.last - self.first) / MOST_DAYS)))
        day = date.fromordinal(max(1, int(self.first) + 1))
        while day.toordinal() < self.last:
            yield day
            if date.max - day < step:
                return
            day += step

    def _beginnings(self, months: int, years: int) -> Iterator[date]:
        first = date.fromordinal(max(1, int(self.first))).year
        last = date.fromordinal(min(date.max.toordinal(), int(self.last))).year
        for year in range(first, last + 1):
            if months:
                yield from (date(year, month, 1) for month in range(1, 13, months))
            elif year % years == 0:
                yield date(year, 1, 1)


def _days(shown: tuple[Lasting, ...]) -> Iterator[date]:
    """Yield the days that the picture has to reach."""
    for one in shown:
        valid, known = one.fact.valid, one.fact.known_at
        yield from (day for day in (valid.start, valid.end, known.date() if known else None) if day is not None)


def _bar(one: Lasting, top: int, scale: _Scale) -> Bar:
    fact = one.fact
    valid, known = fact.valid, scale.at(fact.known_at.date()) if fact.known_at else None
    start, end = valid.start, valid.end
    if start is not None and start == end:
        end = Interval.after(start, valid.end_precision)
    right = scale.at(end) if end else EDGE
    left = scale.at(start) if start else min(right, known or 0.0)
    return Bar(
        lasting=one,
        css=CSS[one.stage],
        label=_label(fact),
        top=top,
        left=left,
        width=round(max(right - left, LEAST if start else 0.0), 2),
        from_edge=start is None,
        to_edge=end is None,
        learned=known,
    )


def _label(fact: Fact) -> str:
    """Return a fact as text for a picture, in which nothing can be marked."""
    words = f"{fact.subject.label} {'' if fact.polarity else 'not: '}{fact.relation.label} {fact.object.label}"
    text = Markup("").join(visible(words[: LONGEST_LABEL + 1])).striptags()
    return text if len(words) <= LONGEST_LABEL else f"{text[:LONGEST_LABEL]}…"
