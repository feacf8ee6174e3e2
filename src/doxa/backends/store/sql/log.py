"""The tables of events and vectors: what is appended and read."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from doxa.backends.store import Head, NewRow, Received, Row, Vector
from doxa.backends.store.digests import is_whole, with_digest
from doxa.backends.store.failures import damaged
from doxa.backends.store.schema import events, heads, vectors
from doxa.backends.store.sql.bulk import insert_all
from doxa.backends.store.sql.database import sent_again
from doxa.backends.store.sql.heads import FORGIVEN, Heads, erased_after, insert_event, insert_rows, move_head
from doxa.backends.store.sql.rows import ROWS, chunks, row_of, rows_of, standing, stored
from doxa.core.errors import StaleLeaseError, StoreConflictError

ROWS_AFTER = ROWS.where(events.c.ordinal > sa.bindparam("after")).order_by(events.c.ordinal)
ROW_OF_TURN = ROWS.where(events.c.turn_id == sa.bindparam("turn_id"))
logger = logging.getLogger("doxa")

RETRIES = 8
"""How often a turn is sent again when Postgres lets two writers of one turn through at once."""
LONGEST_SESSION = 300
"""Characters of a session that are in the id of a turn which came without one."""
_vectors = vectors


class Log(Heads):
    """The log of every scope, with its vectors."""

    def receive(
        self, scope: str, row: NewRow, *, turn_id: str | None, unless_erased_after: int | None = None
    ) -> Received:
        """Append a turn, or give back the stored one. See `Store`."""
        # By its id a turn is found again where nobody knows whether it was written.
        receive = self._receive_new if turn_id is None else self._receive_known
        return receive(scope, row, turn_id, unless_erased_after)

    @sent_again()
    def _receive_new(self, *turn: Any) -> Received:
        return self._receive(*turn)

    @sent_again(twice=True)
    def _receive_known(self, *turn: Any) -> Received:
        return self._receive(*turn)

    def _receive(self, scope: str, row: NewRow, turn_id: str | None, unless_erased_after: int | None) -> Received:
        for attempt in range(RETRIES):
            try:
                with self._write() as connection:
                    received = self._received(connection, scope, row, turn_id, unless_erased_after)
            except StoreConflictError as exc:
                if not isinstance(exc.__cause__, IntegrityError) or attempt == RETRIES - 1:
                    raise
            else:
                if not received.duplicate:
                    self._tell(scope, received.row.ordinal)
                return received
        raise AssertionError("unreachable")

    def _received(
        self, connection: sa.Connection, scope: str, row: NewRow, turn_id: str | None, unless_erased_after: int | None
    ) -> Received:
        if turn_id is not None:
            known = connection.execute(ROW_OF_TURN, {"scope": scope, "turn_id": turn_id}).one_or_none()
            if known is not None:
                return Received(row=row_of(known, scope, self._where), duplicate=True)
        head = self._locked_head(connection, scope)
        since = unless_erased_after
        if since is not None and connection.execute(sa.select(erased_after(scope, since))).scalar():
            raise StoreConflictError(f"{scope}: something was erased after row {since}.")
        ordinal = head.ordinal + 1
        turn_id = turn_id if turn_id is not None else _made_id(row, ordinal)
        insert_event(connection, scope, ordinal, row, turn_id, previous=head.ordinal)
        move_head(connection, scope, replace(head, ordinal=ordinal, received=ordinal))
        return Received(row=stored(row, ordinal, turn_id), duplicate=False)

    @sent_again(twice=True)
    def receive_many(self, scope: str, turns: Mapping[str, NewRow]) -> dict[str, Received]:
        """Append turns, or give back the stored ones. See `Store`."""
        with self._write() as connection:
            head = self._locked_head(connection, scope)
            found: dict[str, Received] = {}
            for part in chunks(list(turns)):
                known = connection.execute(ROWS.where(events.c.turn_id.in_(part)), {"scope": scope})
                rows = [row_of(one, scope, self._where) for one in known]
                found |= {str(row.turn_id): Received(row=row, duplicate=True) for row in rows}
            new = enumerate((key for key in turns if key not in found), start=head.ordinal + 1)
            rows = [stored(turns[key], ordinal, key) for ordinal, key in new]
            if rows:
                insert_rows(connection, scope, rows, previous=head.ordinal)
                last = rows[-1].ordinal
                move_head(connection, scope, replace(head, ordinal=last, received=last))
        if rows:
            self._tell(scope, rows[-1].ordinal)
        return found | {str(row.turn_id): Received(row=row, duplicate=False) for row in rows}

    @sent_again()
    def append(self, scope: str, row: NewRow, *, expected_state: int, vector: tuple[str, bytes] | None = None) -> Row:
        """Append a change of state. See `Store`."""
        with self._write() as connection:
            head = self._locked_head(connection, scope)
            if row.fence is not None and row.fence != head.fence:
                raise StaleLeaseError(scope, row.fence, head.fence)
            found = StoreConflictError(f"{scope}: expected state {expected_state}, found {head.state}.")
            written = self._appended(connection, scope, head, row, vector) if head.state == expected_state else None
            if written is None and (expected_state or row.about is not None):
                raise found
        if written is None:
            # The first change of an empty log: what it was begun with stays, and is seen when it is tried again.
            raise found
        self._tell(scope, written.ordinal)
        return written

    def _appended(
        self, connection: sa.Connection, scope: str, head: Head, row: NewRow, vector: tuple[str, bytes] | None
    ) -> Row:
        ordinal = head.ordinal + 1
        insert_event(connection, scope, ordinal, row, None, previous=head.ordinal)
        if vector is not None and row.about is not None:
            insert = self._insert_into(vectors).values(_vector_values(scope, row.about, *vector))
            new = {name: insert.excluded[name] for name in ("data", "digest")}  # one may be left of a lost reading
            connection.execute(insert.on_conflict_do_update(index_elements=["scope", "ordinal", "model"], set_=new))
        stands = replace(head, ordinal=ordinal, state=ordinal)
        if row.about is None:
            move_head(connection, scope, stands)
        else:
            move_head(connection, scope, replace(stands, maintained=max(head.maintained, row.about)), **FORGIVEN)
        return stored(row, ordinal, None)

    @sent_again()
    def restore(self, scope: str, rows: Sequence[Row]) -> None:
        """Write a whole log in one transaction. See `Store`."""
        with self._write() as connection:
            head = self._locked_head(connection, scope)
            if head.received:
                raise StoreConflictError(f"{scope}: expected an empty log, found {head.ordinal} rows.")
            base = head.ordinal
            moved = [
                replace(row, ordinal=row.ordinal + base, about=None if row.about is None else row.about + base)
                for row in rows
            ]
            insert_rows(connection, scope, moved, previous=base)
            stands = standing(moved, ordinal=base, state=head.state, fence=head.fence)
            move_head(connection, scope, stands, fence=stands.fence)
        self._tell(scope, stands.ordinal)

    @sent_again(twice=True)
    def read(self, scope: str, *, after: int = 0) -> list[Row]:
        """Return the rows after an ordinal. See `Store`."""
        rows = self._rows_after(scope, after)
        if not rows and self.head(scope).ordinal > after:
            rows = self._rows_after(scope, after)  # it may have come in between
            if not rows and self.head(scope).ordinal > after:
                raise damaged(self._where, f"what is behind row {after} of {scope}")
        return rows

    def _rows_after(self, scope: str, after: int) -> list[Row]:
        return rows_of(self._asked(ROWS_AFTER, scope=scope, after=after), scope, self._where, after=after)

    @sent_again(twice=True)
    def vectors(self, scope: str, *, model: str, after: int = 0) -> list[Vector]:
        """Return the vectors of a model. See `Store`."""
        query = (
            sa.select(vectors.c.ordinal, vectors.c.data, vectors.c.digest)
            .where(vectors.c.scope == scope, vectors.c.model == model, vectors.c.ordinal > after)
            .order_by(vectors.c.ordinal)
        )
        with self._read() as connection:
            found = connection.execute(query).all()
        whole = [(n, data) for n, data, digest in found if is_whole((scope, n, model, data), digest)]
        if len(whole) < len(found):
            logger.warning("%d vectors of %s are damaged and are made anew.", len(found) - len(whole), scope)
        return [Vector(ordinal=ordinal, data=data) for ordinal, data in whole]

    @sent_again(twice=True)
    def put_vectors(self, scope: str, *, model: str, vectors: Sequence[Vector]) -> None:
        """Replace the vectors of stored turns. See `Store`."""
        table = _vectors
        ordinals = [vector.ordinal for vector in vectors]
        with self._write() as connection:
            # Who erases the turns waits until these are written, and takes them along.
            connection.execute(sa.select(heads.c.ordinal).where(heads.c.scope == scope).with_for_update())
            known = set[int]()
            for part in chunks(ordinals):
                connection.execute(sa.delete(table).where(table.c.scope == scope, table.c.ordinal.in_(part)))
                these = (events.c.scope == scope, events.c.ordinal.in_(part), events.c.turn_id.is_not(None))
                known |= set(connection.execute(sa.select(events.c.ordinal).where(*these)).scalars())
            rows = (_vector_values(scope, one.ordinal, model, one.data) for one in vectors if one.ordinal in known)
            insert_all(connection, table, rows)

    @sent_again(twice=True)
    def count_turns(self, scopes: Collection[str]) -> dict[str, int]:
        """Count turns. See `Store`."""
        query = sa.select(events.c.scope, sa.func.count()).where(events.c.turn_id.is_not(None))
        asked = (query.where(events.c.scope.in_(some)).group_by(events.c.scope) for some in chunks([*scopes]))
        with self._read() as connection:
            return {scope: count for one in asked for scope, count in connection.execute(one)}


def _vector_values(scope: str, ordinal: int, model: str, data: bytes) -> dict[str, Any]:
    """Return the columns of a vector."""
    return with_digest(_vectors, {"scope": scope, "ordinal": ordinal, "model": model, "data": data})


def _made_id(row: NewRow, ordinal: int) -> str:
    """Return the id of a turn that came without one: its session, as far as a database has room for it, and place."""
    session = str(row.body.get("session", "turn")).replace("\0", "")
    return f"{session[:LONGEST_SESSION]}:{ordinal}"
