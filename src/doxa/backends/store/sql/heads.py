"""The table of heads: where a log stands, who may move it, and who is told."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from doxa.backends.store import Failure, Head, NewRow, Row
from doxa.backends.store.digests import with_digest
from doxa.backends.store.failures import damaged
from doxa.backends.store.schema import events, heads
from doxa.backends.store.sql.bulk import insert_all
from doxa.backends.store.sql.database import Database, sent_again
from doxa.backends.store.sql.rows import erasure, head_of, require_room, values_of

HEADS = sa.select(heads.c.ordinal, heads.c.state, heads.c.received, heads.c.maintained, heads.c.fence, heads.c.digest)
HEAD_OF_SCOPE = HEADS.where(heads.c.scope == sa.bindparam("scope"))
HELD_HEAD = HEAD_OF_SCOPE.with_for_update()
MOVE_HEAD = sa.update(heads).where(heads.c.scope == sa.bindparam("moved"))
INSERT_EVENT = sa.insert(events)
FIRST_ROW = sa.select(sa.func.min(events.c.ordinal)).where(events.c.scope == sa.bindparam("scope"))
UNPROCESSED = heads.c.received > heads.c.maintained
FORGIVEN = {"failures": 0, "failed_at": None, "failure": None}
SERVER_NOW: sa.ColumnElement[Any] = sa.cast(sa.func.extract("epoch", sa.func.clock_timestamp()), sa.Float)
"""The clock of the Postgres server, which all its clients share."""
ERASED = ""
"""The scope in `heads` that remembers the highest ordinal of any log that was erased, and of none of them the name."""


class Heads(Database):
    """Where logs stand."""

    @sent_again(twice=True)
    def head(self, scope: str) -> Head:
        """Return where a log stands. See `Store`."""
        found = next(self._asked(HEAD_OF_SCOPE, scope=scope), None)
        if found is None and next(self._asked(FIRST_ROW, scope=scope))[0] is not None:
            found = next(self._asked(HEAD_OF_SCOPE, scope=scope), None)  # the log may have been begun in between
            if found is None:
                raise damaged(self._where, f"where the log of {scope} stands")
        return head_of(found, scope, self._where)

    @sent_again(twice=True)
    def stands(self, scope: str, ordinal: int) -> bool:
        """Tell whether a row is there, and nothing was erased since. See `Store`."""
        there = sa.exists().where(events.c.scope == scope, events.c.ordinal == ordinal)
        with self._read() as connection:
            return bool(connection.execute(sa.select(there & ~erased_after(scope, ordinal))).scalar())

    @sent_again(twice=True)
    def pending(self, *, free: bool = False) -> list[str]:
        """Return the scopes with unprocessed turns. See `Store`."""
        query = sa.select(heads.c.scope).where(UNPROCESSED).order_by(heads.c.scope)
        if free:
            query = query.where(sa.or_(heads.c.owner.is_(None), heads.c.lease_until <= self._now()))
        with self._read() as connection:
            return list(connection.execute(query).scalars())

    @sent_again()
    def fail(self, scope: str, reason: str) -> int:
        """Note a failure. See `Store`."""
        said = reason.replace("\0", "?").encode(errors="replace").decode()  # it may quote what no database can hold
        failed = {"failures": heads.c.failures + 1, "failed_at": self._now(), "failure": said}
        with self._write() as connection:
            noted = sa.update(heads).where(heads.c.scope == scope, UNPROCESSED).values(failed)
            return connection.execute(noted.returning(heads.c.failures)).scalar() or 0

    @sent_again(twice=True)
    def failures(self) -> list[Failure]:
        """Return what waits after a failure. See `Store`."""
        columns = (heads.c.scope, heads.c.failures, heads.c.failed_at, heads.c.failure)
        query = sa.select(*columns).where(heads.c.failures > 0, UNPROCESSED).order_by(heads.c.failed_at.desc())
        with self._read() as connection:
            return [
                Failure(scope=scope, times=times, at=datetime.fromtimestamp(at, UTC), reason=reason)
                for scope, times, at, reason in connection.execute(query)
            ]

    @sent_again(twice=True)
    def forgive(self, scope: str) -> bool:
        """Count failures anew. See `Store`."""
        with self._write() as connection:
            failed = (heads.c.scope == scope, heads.c.failures > 0)
            return bool(connection.execute(sa.update(heads).where(*failed).values(FORGIVEN)).rowcount)

    def _now(self) -> sa.ColumnElement[Any]:
        """Return the seconds since 1970, by the clock that all who use the database share."""
        return sa.literal(time.time()) if self._sqlite else SERVER_NOW

    @sent_again(twice=True)
    def scopes(self) -> list[str]:
        """Return every scope. See `Store`."""
        with self._read() as connection:
            query = sa.select(heads.c.scope).where(heads.c.ordinal > 0, heads.c.scope != ERASED).order_by(heads.c.scope)
            return list(connection.execute(query).scalars())

    def _locked_head(self, connection: sa.Connection, scope: str) -> Head:
        """Return the head of a scope, beginning its log where there is none; nobody else moves it meanwhile."""
        head, begun = self._held_head(connection, scope)
        if not begun or scope == ERASED:
            return head
        before = sa.select(heads.c.ordinal).where(heads.c.scope == ERASED)
        last = connection.execute(before).scalar() or 0
        if not last:
            return head
        first = last + 1
        head = Head(ordinal=first, state=first)
        move_head(connection, scope, head)
        insert_event(connection, scope, first, erasure(), None, previous=0)
        return head

    def _held_head(self, connection: sa.Connection, scope: str) -> tuple[Head, bool]:
        """Return the head of a scope, and whether it was made here; nobody else makes, moves or removes it meanwhile.

        Where another first writer is at work Postgres waits until it has ended, so that the head may be there then.

        Raises:
            InputError: the scope is too long for Postgres.
        """
        while True:
            found = connection.execute(HELD_HEAD, {"scope": scope}).one_or_none()
            if found is not None:
                return head_of(found, scope, self._where), False
            require_room(connection, scope)
            make = self._insert_into(heads).on_conflict_do_nothing().returning(heads.c.scope)
            if connection.execute(make, head_values(scope, Head())).one_or_none() is not None:
                if connection.execute(FIRST_ROW, {"scope": scope}).scalar() is not None:
                    raise damaged(self._where, f"where the log of {scope} stands")
                return Head(), True


def erased_after(scope: str, ordinal: int) -> sa.Exists:
    """Return whether the log tells of an erasure behind a row, as part of a statement."""
    return sa.exists().where(events.c.scope == scope, events.c.ordinal > ordinal, events.c.kind == "erased")


def head_values(scope: str, head: Head) -> dict[str, Any]:
    """Return the columns of a head that say where a log stands; the token of its lease is none of them."""
    stands = {"ordinal": head.ordinal, "state": head.state, "received": head.received, "maintained": head.maintained}
    return with_digest(heads, {"scope": scope, **stands})


def move_head(connection: sa.Connection, scope: str, head: Head, **more: Any) -> None:
    """Write where a log stands; `more` are columns that no digest is of."""
    values = head_values(scope, head) | more
    connection.execute(MOVE_HEAD, {"moved": scope, **values})


def insert_event(
    connection: sa.Connection, scope: str, ordinal: int, row: NewRow, turn_id: str | None, *, previous: int | None
) -> None:
    """Write one row of a log, behind the one at the ordinal `previous`."""
    connection.execute(INSERT_EVENT, values_of(scope, ordinal, row, turn_id, previous=previous))


def insert_rows(connection: sa.Connection, scope: str, rows: Sequence[Row], *, previous: int) -> None:
    """Write rows of a log that follow each other, behind the one at the ordinal `previous`."""
    before = [previous, *(row.ordinal for row in rows[:-1])]
    links = zip(rows, before, strict=True)
    values = (values_of(scope, row.ordinal, row, row.turn_id, previous=last) for row, last in links)
    insert_all(connection, events, values)
