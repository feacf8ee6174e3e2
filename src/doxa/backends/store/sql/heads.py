"""The table of heads: where a log stands, who may move it, and who is told."""

from __future__ import annotations

import sqlalchemy as sa

from doxa.backends.store import Head, NewRow
from doxa.backends.store.schema import events, heads
from doxa.backends.store.sql.database import Database, sent_again
from doxa.backends.store.sql.rows import erasure, head_of, values_of

HEADS = sa.select(heads.c.ordinal, heads.c.state, heads.c.received, heads.c.maintained)
HEAD_OF_SCOPE = HEADS.where(heads.c.scope == sa.bindparam("scope"))
ERASED = ""
"""The scope in `heads` that remembers the highest ordinal of any log that was erased, and of none of them the name."""


class Heads(Database):
    """Where logs stand."""

    @sent_again(twice=True)
    def head(self, scope: str) -> Head:
        """Return where a log stands. See `Store`."""
        return head_of(next(self._asked(HEAD_OF_SCOPE, scope=scope), None))

    @sent_again(twice=True)
    def pending(self) -> list[str]:
        """Return the scopes with unprocessed turns. See `Store`."""
        with self._read() as connection:
            query = sa.select(heads.c.scope).where(heads.c.received > heads.c.maintained).order_by(heads.c.scope)
            return list(connection.execute(query).scalars())

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
        values = {"scope": scope, "ordinal": 0, "state": 0, "received": 0, "maintained": 0}
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
