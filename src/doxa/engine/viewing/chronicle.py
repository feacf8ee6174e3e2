"""Every fact as it stood after each of its changes: when that was known, and when it held in the world."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import EARLIEST, Change, ChangeKind, Fact, Interval, Status
from doxa.memory import Beliefs, UserState, is_identity, microseconds

__all__ = ["LAST", "NONE", "NOW", "Chronicle", "Column", "Rows", "chronicle_of", "days_held"]

KEPT = "chronicle"
NOW = 2**62
"""Microseconds since 1970 of a moment behind all that was said."""
NEVER = (1, 0)
"""The days of what held on none."""
LAST = date.max.toordinal() + 1
"""The day behind all days."""
NONE = -1
"""The row that is none."""
COLUMNS = ("since", "until", "starts", "ends", "fact", "slot", "look", "change", "ended_by", "before")
UNTIL, ENDED_BY, BEFORE = (COLUMNS.index(name) for name in ("until", "ended_by", "before"))
Rows = NDArray[np.intp]
Column = NDArray[np.int64]


def chronicle_of(state: UserState) -> Chronicle:
    """Return the chronicle of a memory, brought up to date. Cost: O(what changed since the last call)."""
    found: Chronicle | None = state.kept.get(KEPT)
    if found is None or found.read > len(state.beliefs.changes):
        found = state.kept[KEPT] = Chronicle()
    try:
        found.sync(state.beliefs)
    except BaseException:  # half of an update, as an interrupt leaves it, must not stay
        del state.kept[KEPT]
        raise
    return found


def days_held(fact: Fact) -> tuple[int, int]:
    """Return from which day (inclusive) until which (exclusive) a fact held, as `date.toordinal` counts them."""
    start, end, precision = fact.valid.start, fact.valid.end, fact.valid.end_precision
    if fact.status not in (Status.HELD, Status.SUPERSEDED):
        return NEVER
    if start is not None and start == end:
        if fact.status is Status.SUPERSEDED and precision == "day":
            return NEVER  # it gave way on its first day
        end = Interval.after(start, precision)
    return start.toordinal() if start else 0, end.toordinal() if end else LAST


@dataclass(slots=True)
class Chronicle:
    """A row for each change of a fact, in columns that grow together: about 90 bytes a change.

    A row counts from when its change was known until one of the same fact was that was logged later. Where all that was
    known by a moment was logged before all that was known after it, this is what was believed then. Of other moments
    (`is_mixed`) it tells what the changes say that were known by then, which were made with knowledge of others.
    """

    read: int = 0
    facts: dict[str, int] = field(default_factory=dict)
    """Ids of facts -> their numbers, in the order in which they came to be."""
    _columns: dict[str, Column] = field(
        default_factory=lambda: {name: np.zeros(64, dtype=np.int64) for name in COLUMNS}
    )
    _size: int = 0
    _fresh: list[list[int]] = field(default_factory=list)
    """Rows behind the columns, while changes are read: many at once are put into columns faster than one by one."""
    _last: list[int] = field(default_factory=list)
    """The last row of each fact."""
    _of: dict[str, array[int]] = field(default_factory=dict)
    """Rows by whom they are about."""
    _slots: dict[tuple[str, str], int] = field(default_factory=dict)
    _looks: dict[tuple[Interval, Status, bool], int] = field(default_factory=dict)
    _latest: int = -NOW
    _mixed: list[tuple[int, int]] = field(default_factory=list)
    """From when (inclusive) until when (exclusive) what was known was logged in another order; ascending."""

    def sync(self, beliefs: Beliefs) -> None:
        """Read the changes that came since."""
        for number in range(self.read, len(beliefs.changes)):
            change = beliefs.changes[number]
            known = microseconds(change.known_at or EARLIEST)
            if is_identity(change.fact):
                continue
            self._note_order(known)
            if change.kind is ChangeKind.MOVE:
                for fact_id in change.because:
                    self._end(fact_id, known, number)
                if change.fact.fact_id in change.because:
                    continue
            self._add(change, known, number)
        self._store()
        self.read = len(beliefs.changes)

    def _note_order(self, known: int) -> None:
        """Note that something was logged after what was known later."""
        if known >= self._latest:
            self._latest = known
            return
        start = known
        while self._mixed and self._mixed[-1][1] >= known:
            start = min(start, self._mixed.pop()[0])
        self._mixed.append((start, self._latest))

    def _add(self, change: Change, known: int, number: int) -> None:
        fact = change.fact
        self._end(fact.fact_id, known, number)
        place = self.facts.setdefault(fact.fact_id, len(self.facts))
        if place == len(self._last):
            self._last.append(NONE)
        slot = self._slots.setdefault((fact.subject.key, fact.relation.name), len(self._slots))
        look = self._looks.setdefault((fact.valid, fact.status, fact.disputed), len(self._looks))
        row = self._size + len(self._fresh)
        self._fresh.append([known, NOW + 1, *days_held(fact), place, slot, look, number, NONE, self._last[place]])
        for key in {fact.subject.key, fact.object.key}:
            self._of.setdefault(key, array("i")).append(row)
        self._last[place] = row

    def _end(self, fact_id: str, known: int, number: int) -> None:
        """Have the rows of a fact count until a moment. Cost: O(1), or O(rows that were known after it)."""
        row = self._last[self.facts[fact_id]] if fact_id in self.facts else NONE
        while row >= self._size:
            fresh = self._fresh[row - self._size]
            if fresh[UNTIL] <= known:
                return
            fresh[UNTIL], fresh[ENDED_BY], row = known, number, fresh[BEFORE]
        if row == NONE:
            return
        until, ended_by, before = (self._columns[name] for name in ("until", "ended_by", "before"))
        while row != NONE and until[row] > known:
            until[row], ended_by[row], row = known, number, int(before[row])

    def _store(self) -> None:
        """Put the fresh rows into the columns, which double when they are full."""
        if not self._fresh:
            return
        size, block = self._size + len(self._fresh), np.array(self._fresh, dtype=np.int64).T
        while size > len(self._columns["since"]):
            self._columns = {name: np.concatenate([kept, kept]) for name, kept in self._columns.items()}
        for name, values in zip(COLUMNS, block, strict=True):
            self._columns[name][self._size : size] = values
        self._size = size
        self._fresh = []

    def column(self, name: str) -> Column:
        """Return a column, of all rows."""
        return self._columns[name][: self._size]

    def rows(self, keys: Iterable[str] | None) -> Rows:
        """Return the rows of facts about any of some keys, in the order of their changes; None for all rows."""
        if keys is None:
            return np.arange(self._size)
        found = [np.array(self._of[key], dtype=np.intp) for key in keys if key in self._of]
        if len(found) == 1:
            return found[0]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.intp)

    def known(self, rows: Rows, at: datetime | None) -> Rows:
        """Return those of some rows that count at a moment: one of each fact. None for now."""
        moment = NOW if at is None else microseconds(at)
        since, until = self.column("since")[rows], self.column("until")[rows]
        return rows[(since <= moment) & (moment < until)]

    def holding(self, rows: Rows, day: date) -> Rows:
        """Return those of some rows whose facts held on a day."""
        number = day.toordinal()
        return rows[(self.column("starts")[rows] <= number) & (number < self.column("ends")[rows])]

    def is_mixed(self, at: datetime | None) -> bool:
        """Tell whether what was known by a moment was logged in part after what was known only later."""
        moment = NOW if at is None else microseconds(at)
        return any(start <= moment < end for start, end in self._mixed)

    def change(self, row: int, changes: Sequence[Change]) -> Change:
        """Return what made a row."""
        return changes[int(self.column("change")[row])]

    def earlier(self, row: int) -> Iterator[int]:
        """Give the rows of the same fact before one, the latest first."""
        before = self.column("before")
        while (row := int(before[row])) != NONE:
            yield row
