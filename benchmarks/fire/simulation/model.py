"""What has to be so: what was said, acknowledged, erased and done by hand, of each user, beside the tables."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field
from typing import Any

__all__ = ["BY_HAND", "Deed", "Said", "User", "Wrong", "rows_of"]

BY_HAND = ("withdrawn", "distrusted", "retracted", "identified", "accepted", "undone")
ROWS = "SELECT ordinal, kind, turn_id, about, body, known_at FROM events WHERE scope = ? ORDER BY ordinal"
HEAD = "SELECT ordinal, state, received, maintained FROM heads WHERE scope = ?"


class Wrong(AssertionError):
    """Something is not as it has to be."""


@dataclass(slots=True)
class Said:
    """A turn, and what the client that tells it knows of it."""

    turn_id: str
    text: str
    at: str
    session: str
    speaker: str
    verbatim: bool = False
    tasks: bool = False
    begun: int = 0
    """At which step it was sent for the first time; 0: not yet."""
    acknowledged: int = 0
    """At which step the client learned that it is stored; 0: not yet."""
    unsure: bool = False
    """Whether a request came to no answer, so that it may be stored."""
    sent: int = 0
    """How many requests with it there were."""
    flying: int = 0
    """How many requests with it are under way."""
    gone: str = ""
    """`yes` where it was erased, `maybe` where that was begun and nobody knows."""


@dataclass(slots=True)
class Deed:
    """Something that was done by hand."""

    kind: str
    about: Any
    ordinal: int = 0
    """Of the row that says so."""


@dataclass(slots=True)
class Row:
    """A row of a log, as it is in the table."""

    ordinal: int
    kind: str
    turn_id: str | None
    about: int | None
    text: str
    """The body, as it is stored."""
    known_at: int

    @property
    def body(self) -> dict[str, Any]:
        """The body."""
        return dict(json.loads(self.text))


@dataclass(slots=True)
class User:
    """What one user said and did."""

    name: str
    said: dict[str, Said] = field(default_factory=dict)
    deeds: list[Deed] = field(default_factory=list)
    doing: list[Deed] = field(default_factory=list)
    """What was begun, and may be done or not."""
    rows: list[Row] = field(default_factory=list)
    """The log as it was looked at the last time."""
    erasing: int = 0
    """How often an erasure was begun or ended, and the log may have been rewritten."""
    erasers: int = 0
    """How many erasures are under way."""
    looked: int = 0
    """The same, at the last look."""
    erased_all: bool = False
    """Whether everything may have been erased since the last look."""
    lost: bool = False
    """Whether acknowledged turns may be gone since the last look: the power failed, and they were not synced."""

    @property
    def scope(self) -> str:
        """The name of the log."""
        return f"default/{self.name}"

    @property
    def is_whole(self) -> bool:
        """Whether nothing was, or is being, erased since the last look."""
        return self.looked == self.erasing and not self.erasers

    def check(self, connection: sqlite3.Connection, step: int) -> None:
        """Compare the log with what has to be there.

        Raises:
            Wrong: something is not so.
        """
        rows, head = rows_of(connection, self.scope)
        if self.lost:
            self._take_back(rows)
        self._check_head(rows, head)
        self._check_turns(rows, step)
        self._check_ordinals(rows)
        self._check_readings(rows)
        self._name_deeds(rows)
        self.rows, self.looked, self.lost = rows, self.erasing, False
        self.erased_all = self.erased_all and self.erasers > 0

    def present(self) -> set[str]:
        """Return the ids of the turns that have to be there."""
        return {one.turn_id for one in self.said.values() if one.acknowledged and not one.gone}

    def _take_back(self, rows: list[Row]) -> None:
        """Take note that the log is an earlier one: its client has to tell again what is missing."""
        if self.looked == self.erasing and not any(one.gone == "maybe" for one in self.said.values()):
            known = {row.ordinal: row.text for row in self.rows}
            lost = any(known.get(row.ordinal) != row.text for row in rows if row.ordinal in known)
            if lost:
                raise Wrong(f"{self.name}: after the power failed the log is not the beginning of what it was")
        there = {row.turn_id for row in rows}
        for one in self.said.values():
            if one.turn_id not in there:
                one.acknowledged = 0
            if one.gone:
                one.gone = "" if one.turn_id in there else "yes"
        ordinals = {row.ordinal for row in rows if row.kind in BY_HAND}
        self.deeds = [deed for deed in self.deeds if deed.ordinal in ordinals]
        self.rows, self.looked = rows, self.erasing

    def _check_head(self, rows: list[Row], head: tuple[int, ...]) -> None:
        last = rows[-1].ordinal if rows else 0
        received = max((row.ordinal for row in rows if row.kind == "turn"), default=0)
        if not rows and head == (0, 0, 0, 0):
            return
        if head[0] != last or head[2] != received:
            raise Wrong(f"{self.name}: the head says {head}, the log ends at {last} with turn {received}")

    def _check_turns(self, rows: list[Row], step: int) -> None:
        there: dict[str, Row] = {}
        begun = 0
        for row in rows:
            if row.kind != "turn":
                continue
            key, body = str(row.turn_id), row.body
            if key in there:
                raise Wrong(f"{self.name}: turn {key} is there twice")
            there[key] = row
            one = self.said.get(key)
            if one is None or not one.begun:
                raise Wrong(f"{self.name}: turn {key} was never said by this user: {body}")
            if body["text"] != one.text:
                raise Wrong(f"{self.name}: turn {key} says {body['text']!r}, and {one.text!r} was said")
            if one.acknowledged and one.acknowledged < begun:
                raise Wrong(f"{self.name}: turn {key} comes behind one that was said after it")
            begun = max(begun, one.begun)
            if one.gone == "yes":
                raise Wrong(f"{self.name}: turn {key} was erased, and is there")
        for one in self.said.values():
            if one.acknowledged and not one.gone and one.turn_id not in there:
                if self.erased_all:
                    one.gone = "maybe" if one.flying else "yes"  # sent twice, and the other may come behind the erasure
                else:
                    raise Wrong(f"{self.name}: turn {one.turn_id} was acknowledged at step {one.acknowledged}, is gone")
            if one.gone == "maybe" and not one.flying and self.is_whole:
                one.gone = "" if one.turn_id in there else "maybe"

    def _check_ordinals(self, rows: list[Row]) -> None:
        """What was there is there as it was, and what came since follows without a gap, unless something was erased."""
        if not self.is_whole:
            return
        if [row.ordinal for row in rows[: len(self.rows)]] != [row.ordinal for row in self.rows]:
            raise Wrong(f"{self.name}: rows are gone that nobody erased")
        if any(a.text != b.text for a, b in zip(self.rows, rows, strict=False)):
            raise Wrong(f"{self.name}: a row was rewritten that nobody touched")
        last = self.rows[-1].ordinal if self.rows else 0
        new = [row.ordinal for row in rows[len(self.rows) :]]
        if new and (self.rows or new[0] == 1) and new != list(range(last + 1, last + 1 + len(new))):
            raise Wrong(f"{self.name}: ordinals have a gap behind {last}: {new}")

    def _check_readings(self, rows: list[Row]) -> None:
        about = [row.about for row in rows if row.kind == "maintained"]
        turns = {row.ordinal for row in rows if row.kind == "turn"}
        if len(about) != len(set(about)):
            raise Wrong(f"{self.name}: a turn was read twice: {about}")
        if about != sorted(about, key=lambda one: one or 0):
            raise Wrong(f"{self.name}: turns were read out of order: {about}")
        if not set(about) <= turns:
            raise Wrong(f"{self.name}: what was read of a turn is there, and the turn is not")

    def _name_deeds(self, rows: list[Row]) -> None:
        """Find the rows of what was done by hand."""
        known = {deed.ordinal for deed in self.deeds}
        for row in rows:
            if row.kind not in BY_HAND or row.ordinal in known:
                continue
            deed = next((one for one in reversed(self.doing) if one.kind == row.kind), None)
            if deed is None:
                raise Wrong(f"{self.name}: row {row.ordinal} says {row.kind}, and nobody did that: {row.text}")
            deed.ordinal = row.ordinal
            self.doing.remove(deed)
            self.deeds.append(deed)


def rows_of(connection: sqlite3.Connection, scope: str) -> tuple[list[Row], tuple[int, ...]]:
    """Return the log of a scope and its head, of one moment."""
    connection.execute("BEGIN")
    rows = [Row(*found) for found in connection.execute(ROWS, (scope,))]
    head = connection.execute(HEAD, (scope,)).fetchone()
    connection.execute("COMMIT")
    return rows, tuple(head) if head else (0, 0, 0, 0)
