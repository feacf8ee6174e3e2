"""What is removed from every table of a scope, and how the freed space is wiped."""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from doxa.backends.store.failures import mapped_errors
from doxa.backends.store.partitions import count_parts, number_of, part_of
from doxa.backends.store.schema import answers, events, heads, keys, records, vectors
from doxa.backends.store.server import own_connection
from doxa.backends.store.sql.database import sent_again
from doxa.backends.store.sql.heads import ERASED, FORGIVEN, Heads, insert_event, move_head
from doxa.backends.store.sql.rows import ROWS, chunks, erasure, row_of, values_of
from doxa.core.errors import StoreConflictError, StoreError, StoreLockedError

logger = logging.getLogger("doxa")

POLL_S = 0.01
IN_MEMORY = 256 << 20
"""Bytes of a file that is copied in memory to write it anew; a larger one is in the folder for temporary files."""
USER_TABLES = (events, vectors, answers, records, heads)


class Erasing(Heads):
    """Rows that are taken back for good."""

    def rewrite(
        self, scope: str, *, delete: Sequence[int], replace: Mapping[int, Mapping[str, Any]], expected: int
    ) -> dict[str, int]:
        """Remove and replace rows, then wipe what was freed. See `Store`."""
        counts = self._rewritten(scope, delete=delete, replace=replace, expected=expected)
        self.wipe(scope)
        return counts

    @sent_again()
    def _rewritten(
        self, scope: str, *, delete: Sequence[int], replace: Mapping[int, Mapping[str, Any]], expected: int
    ) -> dict[str, int]:
        with self._write() as connection:
            head = self._locked_head(connection, scope)
            if head.ordinal != expected:
                raise StoreConflictError(f"{scope}: expected a log of {expected} rows, found {head.ordinal}.")
            self._note_erasing(connection)
            kept = _delete_records(connection, scope, delete)
            links = _links(connection, scope, delete)
            counts = _delete(connection, scope, delete) | ({"records": kept} if kept else {})
            last = self._relinked(connection, scope, links, replace, head.ordinal)
            # This row tells every reader that the past before it was rewritten.
            ordinal = head.ordinal + 1
            turns = (events.c.scope == scope, events.c.turn_id.is_not(None))
            received = connection.execute(sa.select(sa.func.max(events.c.ordinal)).where(*turns)).scalar() or 0
            stands = dataclasses.replace(head, ordinal=ordinal, state=ordinal, received=received)
            move_head(connection, scope, stands, **FORGIVEN)
            insert_event(connection, scope, ordinal, erasure(), None, previous=last)
        self._tell(scope, ordinal)
        return counts

    def _relinked(
        self,
        connection: sa.Connection,
        scope: str,
        gone: Mapping[int, int | None],
        bodies: Mapping[int, Mapping[str, Any]],
        last: int,
    ) -> int | None:
        """Replace bodies, and have what followed rows that are gone follow the row before them.

        Args:
            connection: where they are gone already.
            scope: whose log it is.
            gone: for each row that is gone the one before it.
            bodies: the new bodies by ordinal.
            last: the last row that there was.

        Returns:
            The last row that there is; 0 for none, None where no row says which that is.

        Raises:
            StoreDamagedError: a row that is to be written anew is not what was written.
        """
        chosen: dict[int, Any] = {}
        for column, some in ((events.c.ordinal, bodies), (events.c.previous, gone)):
            for part in chunks([*some]):
                found = connection.execute(ROWS.where(column.in_(part)), {"scope": scope})
                chosen |= {one.ordinal: one for one in found}
        for ordinal, one in chosen.items():
            row = row_of(one, scope, self._where)
            new = dataclasses.replace(row, body=bodies.get(ordinal, row.body))
            values = values_of(scope, ordinal, new, row.turn_id, previous=_before(one.previous, gone))
            this = (events.c.scope == scope, events.c.ordinal == ordinal)
            connection.execute(sa.update(events).where(*this).values(values))
        return _before(last, gone)

    def erase(self, scope: str) -> dict[str, int]:
        """Remove a whole log, then wipe what was freed. See `Store`."""
        counts = self._erased(scope)
        self.wipe(scope)
        return counts

    @sent_again()
    def _erased(self, scope: str) -> dict[str, int]:
        with self._write() as connection:
            self._held_head(connection, scope)  # nobody begins or moves it meanwhile, else a row would outlive it
            self._note_erasing(connection)
            these = events.c.scope == scope
            kinds = sa.select(events.c.kind, sa.func.count()).where(these).group_by(events.c.kind)
            last = connection.execute(sa.select(sa.func.max(events.c.ordinal)).where(these)).scalar()
            counts: dict[str, int] = {"vectors": 0} | {str(kind): int(n) for kind, n in connection.execute(kinds)}
            connection.execute(sa.delete(events).where(these))
            counts["vectors"] = connection.execute(sa.delete(vectors).where(vectors.c.scope == scope)).rowcount
            if last is not None:
                before = self._locked_head(connection, ERASED)
                move_head(connection, ERASED, dataclasses.replace(before, ordinal=max(before.ordinal, last)))
            connection.execute(sa.delete(answers).where(answers.c.scope == scope))
            kept = connection.execute(sa.delete(records).where(records.c.scope == scope)).rowcount
            counts |= {"records": kept} if kept else {}
            connection.execute(sa.delete(heads).where(heads.c.scope == scope))
        self._tell(scope, 0)
        return counts

    def wipe(self, scope: str | None = None) -> None:
        """Leave no erased byte in SQLite's file and its write-ahead log, and no erased row in Postgres' tables.

        SQLite zeroes rows where they stand (`secure_delete`), but not the copies of them that a page has in its free
        space since it was split: the file is written anew, in O(its size), if anything was erased since that was done.
        Postgres does not zero what VACUUM frees: it is written over in time, and its write-ahead log, its standbys and
        every copy keep what they have.
        """
        if not self._sqlite:
            self._vacuum(scope)
        if not self._sqlite or self._memory:
            return
        try:
            self._compact(wait=True)
            wiped = self._checkpoint(wait=True)
        except StoreError as exc:
            raise StoreLockedError(
                f"The rows were erased from {self._where}, but its file could not be written anew without what is left "
                f"of them between others ({exc}) Run the same command again once that is mended: it wipes the file, "
                "and then says that there is nothing more to erase."
            ) from exc
        if not wiped:
            raise StoreLockedError(
                f"The rows were erased from {self._where}, but another process is reading it, so its write-ahead log "
                "still holds them. Close the other process and run the same command again: it wipes the log, and then "
                "says that there is nothing more to erase."
            )

    def finish_wiping(self) -> None:
        """Wipe what a process that died between erasing and wiping left; where others are at work, leave it to them.

        In Postgres the server's own autovacuum does that.
        """
        if self._sqlite and not self._memory:
            with suppress(StoreError):
                self._compact(wait=False)
            self._checkpoint(wait=False)

    def _vacuum(self, scope: str | None) -> None:
        """Have Postgres remove erased rows, in the parts of a scope or everywhere. Cost: O(changed pages)."""
        names = [table.name for table in USER_TABLES]
        try:
            with self._read() as connection:
                parts = count_parts(connection) if scope is not None else 0
                if parts:
                    number = number_of(connection, str(scope), parts)
                    names = [part_of(name, number) for name in names]
            skipped: list[str] = []
            with mapped_errors(self._where), own_connection(self._engine.url, self._server) as connection:
                connection.add_notice_handler(lambda said: _warned(said, skipped))
                connection.execute(f"VACUUM (INDEX_CLEANUP TRUE) {', '.join([*names, keys.name])}")
            if skipped:  # the server's own autovacuum frees it later
                logger.warning(
                    "What was erased from %s is gone, and the space that it took is not freed: %s. Doxa needs a role "
                    "that owns its tables.", self._where, skipped[0],
                )  # fmt: skip
        except StoreError as exc:
            raise StoreLockedError(
                f"The rows were erased from {self._where}, but the space that they took could not be freed ({exc}) "
                "Run the same command again, or `VACUUM` in the database."
            ) from exc

    def _compact(self, *, wait: bool) -> None:
        """Write the file anew where something was erased since it was."""
        with self._outside(wait=wait) as raw:
            (due,) = raw.execute("PRAGMA user_version").fetchone()
            if due:
                # SQLite makes a copy first: in memory, so that it is on no other disk, unless it is too large for that.
                size = Path(self._where).stat().st_size
                raw.execute(f"PRAGMA temp_store = {'MEMORY' if size <= IN_MEMORY else 'DEFAULT'}")
                raw.execute("VACUUM")
                raw.execute("PRAGMA temp_store = DEFAULT")
                raw.execute("BEGIN IMMEDIATE")
                (now,) = raw.execute("PRAGMA user_version").fetchone()
                if now == due:  # else others erased something meanwhile, and wipe it themselves
                    raw.execute("PRAGMA user_version = 0")
                raw.execute("COMMIT")

    def _checkpoint(self, *, wait: bool) -> bool:
        with self._outside(wait=wait) as raw:
            (timeout_ms,) = raw.execute("PRAGMA busy_timeout").fetchone()
            # SQLite waits for readers, but not for somebody else's checkpoint.
            until = time.monotonic() + timeout_ms / 1000
            while True:
                (busy, _, _) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not busy or time.monotonic() >= until:
                    return not busy
                time.sleep(POLL_S)

    @contextmanager
    def _outside(self, *, wait: bool) -> Iterator[Any]:
        """Give a connection of SQLite's driver, outside of SQLAlchemy's transactions."""
        with self._writer, mapped_errors(self._where), self._engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            (timeout_ms,) = raw.execute("PRAGMA busy_timeout").fetchone()
            raw.execute(f"PRAGMA busy_timeout = {timeout_ms if wait else 0}")
            try:
                yield raw
            finally:
                if raw.in_transaction:
                    raw.rollback()
                raw.execute(f"PRAGMA busy_timeout = {timeout_ms}")


def _warned(said: Any, words: list[str]) -> None:
    """Add what Postgres says of a table that it leaves out: that is no error there."""
    if said.severity_nonlocalized == "WARNING":
        words.append(said.message_primary)


def _delete(connection: sa.Connection, scope: str, ordinals: Sequence[int]) -> dict[str, int]:
    counts: dict[str, int] = {"vectors": 0}
    for part in chunks(ordinals):
        these = (events.c.scope == scope, events.c.ordinal.in_(part))
        found = connection.execute(sa.select(events.c.kind, sa.func.count()).where(*these).group_by(events.c.kind))
        for kind, count in found:
            counts[str(kind)] = counts.get(str(kind), 0) + int(count)
        connection.execute(sa.delete(events).where(*these))
        gone = sa.delete(vectors).where(vectors.c.scope == scope, vectors.c.ordinal.in_(part))
        counts["vectors"] += connection.execute(gone).rowcount
    return counts


def _links(connection: sa.Connection, scope: str, ordinals: Sequence[int]) -> dict[int, int | None]:
    """Return for each of some rows the one before it."""
    found: dict[int, int | None] = {}
    for part in chunks(ordinals):
        query = sa.select(events.c.ordinal, events.c.previous)
        these = (events.c.scope == scope, events.c.ordinal.in_(part))
        found |= {one.ordinal: one.previous for one in connection.execute(query.where(*these))}
    return found


def _before(ordinal: int | None, gone: Mapping[int, int | None]) -> int | None:
    """Return the row itself, or the nearest before it that is not gone; None where no row says which that is."""
    while ordinal is not None and ordinal in gone:
        ordinal = gone[ordinal]
    return ordinal


def _delete_records(connection: sa.Connection, scope: str, ordinals: Sequence[int]) -> int:
    """Remove the records that these turns say."""
    count = 0
    for part in chunks(ordinals):
        gone = sa.select(events.c.turn_id).where(
            events.c.scope == scope, events.c.ordinal.in_(part), events.c.turn_id.is_not(None)
        )
        said = sa.delete(records).where(records.c.scope == scope, records.c.turn_id.in_(gone))
        count += connection.execute(said).rowcount
    return count
