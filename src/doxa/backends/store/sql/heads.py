"""The table of heads: where a log stands, who may move it, and who is told."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from doxa.backends.store import Failure, Head, NewRow
from doxa.backends.store.schema import events, heads
from doxa.backends.store.sql.database import Database, sent_again
from doxa.backends.store.sql.rows import erasure, head_of, values_of

HEADS = sa.select(heads.c.ordinal, heads.c.state, heads.c.received, heads.c.maintained, heads.c.fence)
HEAD_OF_SCOPE = HEADS.where(heads.c.scope == sa.bindparam("scope"))
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
        return head_of(next(self._asked(HEAD_OF_SCOPE, scope=scope), None))

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
        failed = {"failures": heads.c.failures + 1, "failed_at": self._now(), "failure": reason}
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
        connection.execute(sa.update(heads).where(heads.c.scope == scope).values(ordinal=first, state=first))
        insert_event(connection, scope, first, erasure(), None)
        return Head(ordinal=first, state=first)

    def _held_head(self, connection: sa.Connection, scope: str) -> tuple[Head, bool]:
        """Return the head of a scope, and whether it was made here; nobody else makes, moves or removes it meanwhile.

        Where another first writer is at work Postgres waits until it has ended, so that the head may be there then.
        """
        query = HEADS.where(heads.c.scope == scope).with_for_update()
        values = {"scope": scope, "ordinal": 0, "state": 0, "received": 0, "maintained": 0, "fence": 0}
        make = self._insert_into(heads).values(values).on_conflict_do_nothing().returning(heads.c.scope)
        while True:
            found = connection.execute(query).one_or_none()
            if found is not None:
                return head_of(found), False
            if connection.execute(make).one_or_none() is not None:
                return Head(), True


def insert_event(connection: sa.Connection, scope: str, ordinal: int, row: NewRow, turn_id: str | None) -> None:
    """Write one row of a log."""
    connection.execute(sa.insert(events).values(values_of(scope, ordinal, row, turn_id)))
