"""A chronicle -> the facts that were known at a moment, and what differs between two standpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from typing import TypeVar

import numpy as np

from doxa.core.values import EARLIEST, Change, ChangeKind, Fact, Status
from doxa.core.views import Differences, Differing, DifferingKind, Lasting, Stage, Standpoint, Steps, Subject, Timeline
from doxa.engine.viewing.chronicle import LAST, NONE, NOW, Chronicle, Column, Rows, days_held
from doxa.engine.viewing.index import standing_of
from doxa.engine.viewing.order import cursor_of
from doxa.memory import microseconds

__all__ = ["Asked", "differences", "timeline"]

T = TypeVar("T")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HALF = 32
"""Bits by which the first part of a place is before its second one."""
LOW = (1 << HALF) - 1
HIGH = (1 << HALF - 1) - 1
"""The largest first part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Of whom and how much of it."""

    subject: Subject | None = None
    keys: tuple[str, ...] | None = None
    """Of the names of the subject; None for everything."""
    after: int | None = None
    """The place behind which the page begins."""
    limit: int
    today: date | None = None


def timeline(
    asked: Asked, at: Standpoint, chronicle: Chronicle, changes: Sequence[Change], *, holding: bool
) -> Timeline:
    """Return one page of the facts that were known.

    Args:
        asked: of whom, and which page.
        at: by what moment they were known, and on which day they are looked at.
        chronicle: that of the memory.
        changes: those of the memory.
        holding: only those that held on that day.

    Cost: a few passes over columns of the rows that are about the subject, and O(limit).
    """
    rows = chronicle.rows(asked.keys)
    known = chronicle.known(rows, at.known)
    held = chronicle.holding(known, at.true)
    places, total = _places(held if holding else known, chronicle)
    chosen, following = _page(places, asked)
    today = asked.today if at.known is None else at.known.date()
    row_of = _by_fact(known, chronicle)
    shown = [chronicle.change(int(row_of[place & LOW]), changes).fact for place in chosen]
    return Timeline(
        items=tuple(_lasting(fact, at.true, today) for fact in shown),
        next=following,
        total=total,
        at=at,
        subject=asked.subject,
        holding=len(held),
        known=_known_steps(rows, at.known, chronicle),
        true=_true_steps(known, at.true, chronicle),
        mixed=chronicle.is_mixed(at.known),
    )


def _lasting(fact: Fact, day: date, today: date | None) -> Lasting:
    starts, ends = days_held(fact)
    stage: Stage = "never" if fact.status is Status.RETRACTED else standing_of(fact, today)
    return Lasting(fact=fact, stage=stage, holds=starts <= day.toordinal() < ends)


def _places(rows: Rows, chronicle: Chronicle) -> tuple[Column, int]:
    """Return the places of the facts of some rows, unsorted: by the latest fact of their question, then by their own.

    A question is what a relation says of a subject.
    """
    facts, slots = (chronicle.column(name)[rows] for name in ("fact", "slot"))
    latest = np.zeros(int(slots.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(latest, slots, facts)
    return ((HIGH - latest[slots]) << HALF) | facts, len(rows)


def _page(places: Column, asked: Asked) -> tuple[list[int], str]:
    """Return the lowest places of a page, in order, and what leads to the next one."""
    if asked.after is not None:
        places = places[places > asked.after]
    if len(places) > asked.limit:
        places = np.partition(places, asked.limit)[: asked.limit + 1]
    found = np.sort(places).tolist()
    return found[: asked.limit], cursor_of(found[asked.limit - 1]) if len(found) > asked.limit else ""


def _by_fact(rows: Rows, chronicle: Chronicle) -> Column:
    """Return the row of each fact, by its number; NONE for one that has none among them."""
    row_of = np.full(len(chronicle.facts), NONE, dtype=np.int64)
    row_of[chronicle.column("fact")[rows]] = rows
    return row_of


def _known_steps(rows: Rows, at: datetime | None, chronicle: Chronicle) -> Steps[datetime] | None:
    """Return along the moments at which something came to be known; what has no date is known from the first on."""
    moments = chronicle.column("since")[rows]
    moments = moments[moments > microseconds(EARLIEST)]
    until = NOW if at is None else microseconds(at)
    here = int(moments[moments <= until].max(initial=-NOW))
    return _steps(moments, here, until, lambda number: EPOCH + timedelta(microseconds=number))


def _true_steps(rows: Rows, at: date, chronicle: Chronicle) -> Steps[date] | None:
    """Return along the days on which something began or was over."""
    days = np.concatenate([chronicle.column(name)[rows] for name in ("starts", "ends")])
    return _steps(days[(days > 1) & (days < LAST)], at.toordinal(), at.toordinal(), date.fromordinal)


def _steps(values: Column, low: int, high: int, read: Callable[[int], T]) -> Steps[T] | None:
    """Return the ends of some values, the last one below `low` and the first one above `high`."""
    if not len(values):
        return None
    lower, higher = values[values < low], values[values > high]
    return Steps(
        first=read(int(values.min())),
        last=read(int(values.max())),
        earlier=read(int(lower.max())) if len(lower) else None,
        later=read(int(higher.min())) if len(higher) else None,
    )


def differences(
    asked: Asked, first: Standpoint, second: Standpoint, chronicle: Chronicle, changes: Sequence[Change]
) -> Differences:
    """Return one page of the facts that were believed to hold at one standpoint, and not or otherwise at the other.

    Args:
        asked: of whom, and which page.
        first: the standpoint before.
        second: the standpoint after; no less was known there.
        chronicle: that of the memory.
        changes: those of the memory.

    Cost: a few passes over columns of the rows that are about the subject, and for each fact shown O(its changes).
    """
    rows = chronicle.rows(asked.keys)
    sides = [_Side.of(rows, at, chronicle) for at in (first, second)]
    was, now = (side.held for side in sides)
    look = chronicle.column("look")
    both = np.flatnonzero((was != NONE) & (now != NONE))
    facts: dict[DifferingKind, Rows] = {
        "added": np.flatnonzero((was == NONE) & (now != NONE)),
        "gone": np.flatnonzero((was != NONE) & (now == NONE)),
        "otherwise": both[look[was[both]] != look[now[both]]],
    }
    every = np.concatenate(list(facts.values()))
    before, after = (side.known[every] for side in sides)
    made, ended = chronicle.column("change"), chronicle.column("ended_by")
    numbers = np.where(after != NONE, made[after], ended[before])
    chosen, following = _page(((HIGH - numbers) << HALF) | every, asked)
    items = (_differing(place & LOW, sides, chronicle, changes) for place in chosen)
    return Differences(
        items=tuple(items),
        next=following,
        total=len(every),
        first=first,
        second=second,
        counts={kind: len(some) for kind, some in facts.items()},
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """The row of each fact at a standpoint, by its number, NONE where there is none: of all, and of what held."""

    known: Column
    held: Column

    @classmethod
    def of(cls, rows: Rows, at: Standpoint, chronicle: Chronicle) -> _Side:
        known = chronicle.known(rows, at.known)
        return cls(_by_fact(known, chronicle), _by_fact(chronicle.holding(known, at.true), chronicle))


def _differing(fact: int, sides: Sequence[_Side], chronicle: Chronicle, changes: Sequence[Change]) -> Differing:
    """Return how a fact differs between two sides, and what made it so."""
    before, after = (int(side.known[fact]) for side in sides)
    was, now = (bool(side.held[fact] != NONE) for side in sides)
    look = chronicle.column("look")
    by_day = NONE not in (before, after) and look[before] == look[after]
    if after == NONE:
        change = changes[chronicle.column("ended_by")[before]]
    else:
        change = _telling(after, NONE if by_day else before, chronicle, changes)
    return Differing(
        kind="otherwise" if was and now else "added" if now else "gone",
        before=None if before == NONE else chronicle.change(before, changes).fact,
        after=None if after == NONE else chronicle.change(after, changes).fact,
        change=change,
        by_day=bool(by_day),
    )


def _telling(row: int, until: int, chronicle: Chronicle, changes: Sequence[Change]) -> Change:
    """Return the last change of a fact up to a row and after another that was more than saying it again."""
    last = chronicle.change(row, changes)
    for earlier in chain((row,), chronicle.earlier(row)):
        change = chronicle.change(earlier, changes)
        if earlier == until:
            break
        if change.kind is not ChangeKind.SUPPORT:
            return change
    return last
