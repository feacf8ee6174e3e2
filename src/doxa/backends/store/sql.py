"""The log in a relational database: SQLite by default, Postgres by URL, one schema for both."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from doxa.backends.store import Head, NewRow, Received, Row, Vector
from doxa.backends.store.connect import HEAD, mapped_errors, open_engine, parse_url
from doxa.backends.store.schema import answers, events, heads, keys, records, vectors
from doxa.core.errors import StoreConflictError, StoreLockedError

ROWS = sa.select(events.c.ordinal, events.c.kind, events.c.turn_id, events.c.about, events.c.known_at, events.c.body)
HEADS = sa.select(heads.c.ordinal, heads.c.state, heads.c.received, heads.c.maintained)
ROWS_AFTER = ROWS.where(events.c.scope == sa.bindparam("scope"), events.c.ordinal > sa.bindparam("after")).order_by(
    events.c.ordinal
)
HEAD_OF_SCOPE = HEADS.where(heads.c.scope == sa.bindparam("scope"))
BODY_OF_KEY = sa.select(keys.c.body).where(keys.c.key_id == sa.bindparam("key_id"))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CHUNK = 500
"""How many ordinals go into one statement; databases bound the number of parameters."""
T = TypeVar("T")
HIGHEST = chr(0x10FFFF)
"""Above what any key goes on with."""
ERASED = ""
"""The scope in `heads` that remembers the highest ordinal of any log that was erased, and of none of them the name."""
POLL_S = 0.01
RETRIES = 8
"""How often a turn is sent again when Postgres lets two first writers of one scope through at once."""


def open_store(location: str, *, durability: str = "process", timeout_s: float = 30.0) -> SQLStore:
    """Return the store at a path, `:memory:` or an SQLAlchemy URL; see `connect.open_engine` for what it raises."""
    url = parse_url(location)
    store = SQLStore(open_engine(url, durability=durability, timeout_s=timeout_s))
    try:
        store.finish_wiping()
    except BaseException:
        store.close()
        raise
    return store


class SQLStore:
    """The `Store` over SQLAlchemy Core. Receiving a turn costs one transaction of four statements."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._where = str(engine.url.database).removeprefix("file:")
        self._memory = engine.dialect.name == "sqlite" and engine.url.database in (None, "", ":memory:")
        self._sqlite = engine.dialect.name == "sqlite"
        self._writer = threading.RLock()
        self._compiled = {one: one.compile(dialect=engine.dialect) for one in (ROWS_AFTER, HEAD_OF_SCOPE, BODY_OF_KEY)}

    def receive(
        self, scope: str, row: NewRow, *, turn_id: str | None, unless_erased_after: int | None = None
    ) -> Received:
        """Append a turn, or give back the stored one. See `Store`."""
        for attempt in range(RETRIES):
            try:
                with self._write() as connection:
                    return self._receive(connection, scope, row, turn_id, unless_erased_after)
            except StoreConflictError as exc:
                if not isinstance(exc.__cause__, IntegrityError) or attempt == RETRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _receive(
        self, connection: sa.Connection, scope: str, row: NewRow, turn_id: str | None, unless_erased_after: int | None
    ) -> Received:
        if turn_id is not None:
            known = connection.execute(ROWS.where(events.c.scope == scope, events.c.turn_id == turn_id)).one_or_none()
            if known is not None:
                return Received(row=_row(known), duplicate=True)
        head = self._locked_head(connection, scope)
        if unless_erased_after is not None and _erased_after(connection, scope, unless_erased_after):
            raise StoreConflictError(f"{scope}: something was erased after row {unless_erased_after}.")
        ordinal = head.ordinal + 1
        turn_id = turn_id if turn_id is not None else f"{row.body.get('session', 'turn')}:{ordinal}"
        _insert(connection, scope, ordinal, row, turn_id)
        connection.execute(sa.update(heads).where(heads.c.scope == scope).values(ordinal=ordinal, received=ordinal))
        return Received(row=_stored(row, ordinal, turn_id), duplicate=False)

    def receive_many(self, scope: str, turns: Mapping[str, NewRow]) -> dict[str, Received]:
        """Append turns, or give back the stored ones. See `Store`."""
        with self._write() as connection:
            head = self._locked_head(connection, scope)
            found: dict[str, Received] = {}
            for part in _chunks(list(turns)):
                known = connection.execute(ROWS.where(events.c.scope == scope, events.c.turn_id.in_(part)))
                found |= {row.turn_id: Received(row=_row(row), duplicate=True) for row in known}
            new = enumerate((key for key in turns if key not in found), start=head.ordinal + 1)
            rows = [_stored(turns[key], ordinal, key) for ordinal, key in new]
            if rows:
                connection.execute(sa.insert(events), [_values(scope, row.ordinal, row, row.turn_id) for row in rows])
                last = rows[-1].ordinal
                changed = sa.update(heads).where(heads.c.scope == scope).values(ordinal=last, received=last)
                connection.execute(changed)
            return found | {str(row.turn_id): Received(row=row, duplicate=False) for row in rows}

    def append(self, scope: str, row: NewRow, *, expected_state: int, vector: tuple[str, bytes] | None = None) -> Row:
        """Append a change of state. See `Store`."""
        with self._write() as connection:
            head = self._locked_head(connection, scope)
            found = StoreConflictError(f"{scope}: expected state {expected_state}, found {head.state}.")
            if head.state == expected_state:
                return _append(connection, scope, head, row, vector)
            if expected_state or row.about is not None:
                raise found
        # The first change of an empty log: what `_locked_head` began it with stays, and is seen when it is tried again.
        raise found

    def restore(self, scope: str, rows: Sequence[Row]) -> None:
        """Write a whole log in one transaction. See `Store`."""
        with self._write() as connection:
            head = self._locked_head(connection, scope)
            if head.received:
                raise StoreConflictError(f"{scope}: expected an empty log, found {head.ordinal} rows.")
            base = head.ordinal
            for row in rows:
                about = None if row.about is None else row.about + base
                _insert(connection, scope, row.ordinal + base, replace(row, about=about), row.turn_id)
            turns = [row.ordinal + base for row in rows if row.turn_id is not None]
            changes = [row.ordinal + base for row in rows if row.turn_id is None]
            processed = [row.about + base for row in rows if row.about is not None]
            values = {
                "ordinal": max([base, *turns, *changes]),
                "state": max([head.state, *changes]),
                "received": max(turns, default=0),
                "maintained": max(processed, default=0),
            }
            connection.execute(sa.update(heads).where(heads.c.scope == scope).values(values))

    def read(self, scope: str, *, after: int = 0) -> list[Row]:
        """Return the rows after an ordinal. See `Store`."""
        return [_row(found) for found in self._asked(ROWS_AFTER, scope=scope, after=after)]

    def vectors(self, scope: str, *, model: str, after: int = 0) -> list[Vector]:
        """Return the vectors of a model. See `Store`."""
        query = (
            sa.select(vectors.c.ordinal, vectors.c.data)
            .where(vectors.c.scope == scope, vectors.c.model == model, vectors.c.ordinal > after)
            .order_by(vectors.c.ordinal)
        )
        with self._read() as connection:
            return [Vector(ordinal=ordinal, data=data) for ordinal, data in connection.execute(query)]

    def put_vectors(self, scope: str, *, model: str, vectors: Sequence[Vector]) -> None:
        """Replace the vectors of stored turns. See `Store`."""
        table = _vectors
        ordinals = [vector.ordinal for vector in vectors]
        with self._write() as connection:
            stored = set[int]()
            for part in _chunks(ordinals):
                connection.execute(sa.delete(table).where(table.c.scope == scope, table.c.ordinal.in_(part)))
                these = (events.c.scope == scope, events.c.ordinal.in_(part), events.c.turn_id.is_not(None))
                stored |= set(connection.execute(sa.select(events.c.ordinal).where(*these)).scalars())
            known = [vector for vector in vectors if vector.ordinal in stored]
            rows = [{"scope": scope, "ordinal": v.ordinal, "model": model, "data": v.data} for v in known]
            if rows:
                connection.execute(sa.insert(table), rows)

    def head(self, scope: str) -> Head:
        """Return where a log stands. See `Store`."""
        return _head(next(self._asked(HEAD_OF_SCOPE, scope=scope), None))

    def pending(self) -> list[str]:
        """Return the scopes with unprocessed turns. See `Store`."""
        with self._read() as connection:
            query = sa.select(heads.c.scope).where(heads.c.received > heads.c.maintained).order_by(heads.c.scope)
            return list(connection.execute(query).scalars())

    def scopes(self) -> list[str]:
        """Return every scope. See `Store`."""
        with self._read() as connection:
            query = sa.select(heads.c.scope).where(heads.c.ordinal > 0, heads.c.scope != ERASED).order_by(heads.c.scope)
            return list(connection.execute(query).scalars())

    def count_turns(self, scopes: Collection[str]) -> dict[str, int]:
        """Count turns. See `Store`."""
        query = sa.select(events.c.scope, sa.func.count()).where(events.c.turn_id.is_not(None))
        asked = (query.where(events.c.scope.in_(some)).group_by(events.c.scope) for some in _chunks([*scopes]))
        with self._read() as connection:
            return {scope: count for one in asked for scope, count in connection.execute(one).tuples()}

    def lease(self, scope: str, *, owner: str, seconds: float) -> bool:
        """Take, renew or give back a lease. See `Store`."""
        now = time.time()
        with self._write() as connection:
            query = sa.select(heads.c.owner, heads.c.lease_until).where(heads.c.scope == scope).with_for_update()
            found = connection.execute(query).one_or_none()
            if found is None:
                return True
            theirs = found.owner not in (None, owner) and (found.lease_until or 0) > now and _alive(found.owner)
            if not theirs:
                mine = {"owner": owner, "lease_until": now + seconds} if seconds > 0 else _NOBODY
                connection.execute(sa.update(heads).where(heads.c.scope == scope).values(mine))
            return not theirs

    def rewrite(
        self, scope: str, *, delete: Sequence[int], replace: Mapping[int, Mapping[str, Any]], expected: int
    ) -> dict[str, int]:
        """Remove and replace rows, then wipe what was freed. See `Store`."""
        with self._write() as connection:
            head = self._locked_head(connection, scope)
            if head.ordinal != expected:
                raise StoreConflictError(f"{scope}: expected a log of {expected} rows, found {head.ordinal}.")
            kept = _delete_records(connection, scope, delete)
            counts = _delete(connection, scope, delete) | ({"records": kept} if kept else {})
            for ordinal, body in replace.items():
                this = (events.c.scope == scope, events.c.ordinal == ordinal)
                connection.execute(sa.update(events).where(*this).values(body=_dumps(body)))
            # This row tells every reader that the past before it was rewritten.
            ordinal = head.ordinal + 1
            turns = (events.c.scope == scope, events.c.turn_id.is_not(None))
            received = connection.execute(sa.select(sa.func.max(events.c.ordinal)).where(*turns)).scalar() or 0
            values: dict[str, Any] = {"ordinal": ordinal, "state": ordinal, "received": received}
            connection.execute(sa.update(heads).where(heads.c.scope == scope).values(values))
            _insert(connection, scope, ordinal, _erasure(), None)
        self.wipe()
        return counts

    def erase(self, scope: str) -> dict[str, int]:
        """Remove a whole log, then wipe what was freed. See `Store`."""
        with self._write() as connection:
            everything = list(
                connection.execute(
                    sa.select(events.c.ordinal).where(events.c.scope == scope).order_by(events.c.ordinal)
                ).scalars()
            )
            counts = _delete(connection, scope, everything)
            if everything:
                last = max(self._locked_head(connection, ERASED).ordinal, everything[-1])
                connection.execute(sa.update(heads).where(heads.c.scope == ERASED).values(ordinal=last))
            connection.execute(sa.delete(answers).where(answers.c.scope == scope))
            kept = connection.execute(sa.delete(records).where(records.c.scope == scope)).rowcount
            counts |= {"records": kept} if kept else {}
            connection.execute(sa.delete(heads).where(heads.c.scope == scope))
        self.wipe()
        return counts

    def keep_answers(self, scope: str, bodies: Mapping[str, Mapping[str, Any]], *, latest: int) -> None:
        """Write answers, and remove the oldest beyond `latest`. See `Store`."""
        with self._write() as connection:
            self._locked_head(connection, scope)  # one writer at a time
            connection.execute(sa.delete(answers).where(*_of(scope, list(bodies))))
            last = connection.execute(
                sa.select(sa.func.max(answers.c.ordinal)).where(answers.c.scope == scope)
            ).scalar()
            first = (last or 0) + 1
            rows = [
                {"scope": scope, "ordinal": ordinal, "answer_id": key, "body": _dumps(body)}
                for ordinal, (key, body) in enumerate(bodies.items(), start=first)
            ]
            connection.execute(sa.insert(answers), rows)
            old = (answers.c.scope == scope, answers.c.ordinal < first + len(rows) - latest)
            connection.execute(sa.delete(answers).where(*old))

    def answers(self, scope: str, answer_id: str | None = None) -> list[Mapping[str, Any]]:
        """Return the answers that are kept. See `Store`."""
        these = (answers.c.scope == scope,) if answer_id is None else _of(scope, [answer_id])
        query = sa.select(answers.c.body).where(*these).order_by(answers.c.ordinal)
        with self._read() as connection:
            return [json.loads(body) for body in connection.execute(query).scalars()]

    def latest_answers(
        self, scope: str, *, before: int | None = None, limit: int
    ) -> list[tuple[int, Mapping[str, Any]]]:
        """Return the latest answers, each with its place. See `Store`."""
        these = [answers.c.scope == scope, *([] if before is None else [answers.c.ordinal < before])]
        columns = sa.select(answers.c.ordinal, answers.c.body).where(*these)
        query = columns.order_by(answers.c.ordinal.desc()).limit(limit)
        with self._read() as connection:
            return [(place, json.loads(body)) for place, body in connection.execute(query)]

    def amend_answers(self, scope: str, bodies: Mapping[str, Mapping[str, Any]]) -> None:
        """Write answers anew in their places. See `Store`."""
        with self._write() as connection:
            for key, body in bodies.items():
                connection.execute(sa.update(answers).where(*_of(scope, [key])).values(body=_dumps(body)))

    def drop_answers(self, scope: str, answer_ids: Sequence[str]) -> None:
        """Remove answers. See `Store`."""
        with self._write() as connection:
            connection.execute(sa.delete(answers).where(*_of(scope, answer_ids)))

    def keep_key(self, key_id: str, body: Mapping[str, Any]) -> None:
        """Write an API key's record. See `Store`."""
        with self._write() as connection:
            connection.execute(sa.delete(keys).where(keys.c.key_id == key_id))
            connection.execute(sa.insert(keys).values(key_id=key_id, body=json.dumps(body, ensure_ascii=False)))

    def keys(self, key_id: str | None = None) -> dict[str, Mapping[str, Any]]:
        """Return the records of API keys. See `Store`."""
        if key_id is not None:
            found = next(self._asked(BODY_OF_KEY, key_id=key_id), None)
            return {} if found is None else {key_id: json.loads(found[0])}
        with self._read() as connection:
            rows = connection.execute(sa.select(keys.c.key_id, keys.c.body).order_by(keys.c.key_id))
            return {name: json.loads(body) for name, body in rows}

    def keep_records(
        self,
        scope: str,
        shelf: str,
        bodies: Mapping[str, bytes | None],
        *,
        expected: Mapping[str, bytes | None] | None = None,
        said_by: Mapping[str, str] | None = None,
    ) -> bool:
        """Write and remove records. See `Store`."""
        said = said_by or {}
        rows = [
            {"scope": scope, "shelf": shelf, "key": key, "body": body, "turn_id": said.get(key)}
            for key, body in bodies.items()
            if body is not None
        ]
        with self._write() as connection:
            if expected and not self._are(connection, scope, shelf, expected):
                return False
            for some in _chunks([key for key, body in bodies.items() if body is None]):
                connection.execute(sa.delete(records).where(*self._on(scope, shelf), records.c.key.in_(some)))
            if rows:
                insert = (sqlite if self._sqlite else postgresql).insert(records)
                keys = ["scope", "shelf", "key"]
                new = {"body": insert.excluded.body, "turn_id": insert.excluded.turn_id}
                connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=new), rows)
        return True

    def records(
        self, scope: str, shelf: str, *, keys: Sequence[str] | None = None, prefix: str = ""
    ) -> dict[str, bytes]:
        """Return records. See `Store`."""
        query = sa.select(records.c.key, records.c.body).where(*self._on(scope, shelf, prefix))
        with self._read() as connection:
            if keys is None:
                found = [tuple(row) for row in connection.execute(query)]
            else:
                parts = (connection.execute(query.where(records.c.key.in_(some))) for some in _chunks(list(keys)))
                found = [tuple(row) for part in parts for row in part]
        return dict(sorted(found))

    def last_record(self, scope: str, shelf: str, *, prefix: str) -> tuple[str, bytes] | None:
        """Return the last record. See `Store`."""
        query = sa.select(records.c.key, records.c.body).where(*self._on(scope, shelf, prefix))
        with self._read() as connection:
            key: sa.ColumnElement[str] = records.c.key if self._sqlite else records.c.key.collate("C")
            found = connection.execute(query.order_by(key.desc()).limit(1)).first()
        return None if found is None else (found[0], found[1])

    def count_records(self, scope: str, turn_ids: Collection[str] | None = None) -> int:
        """Count records. See `Store`."""
        query = sa.select(sa.func.count()).select_from(records).where(records.c.scope == scope)
        said = [query] if turn_ids is None else (query.where(records.c.turn_id.in_(p)) for p in _chunks([*turn_ids]))
        with self._read() as connection:
            return sum(connection.execute(one).scalar_one() for one in said)

    def erase_records(self, scope: str, shelf: str, *, prefix: str = "") -> int:
        """Remove records, then wipe what was freed. See `Store`."""
        with self._write() as connection:
            gone: int = connection.execute(sa.delete(records).where(*self._on(scope, shelf, prefix))).rowcount
        if gone:
            self.wipe()
        return gone

    def _on(self, scope: str, shelf: str, prefix: str = "") -> list[sa.ColumnElement[bool]]:
        """Return what picks records of a shelf; Postgres orders keys by its locale, and there no index helps."""
        key = records.c.key
        found = [records.c.scope == scope, records.c.shelf == shelf]
        if prefix:
            found.append(sa.func.substr(key, 1, len(prefix)) == prefix)
            found += [key >= prefix, key < prefix + HIGHEST] if self._sqlite else []
        return found

    def wipe(self) -> None:
        """Leave no erased byte in the write-ahead log; freed pages are zeroed by `secure_delete`. See `Store`."""
        if not self._checkpoint(wait=True):
            raise StoreLockedError(
                f"The rows were erased from {self._where}, but another process is reading it, so its write-ahead log "
                "still holds them. Close the other process and run the same command again: it wipes the log, and then "
                "says that there is nothing more to erase."
            )

    def finish_wiping(self) -> None:
        """Wipe what a process that died between erasing and wiping left; where others are reading, leave it to them."""
        self._checkpoint(wait=False)

    def _checkpoint(self, *, wait: bool) -> bool:
        if self._engine.dialect.name != "sqlite" or self._memory:
            return True
        with self._writer, mapped_errors(self._where), self._engine.connect() as connection:
            raw: Any = connection.connection.driver_connection  # outside SQLAlchemy's transaction
            (timeout_ms,) = raw.execute("PRAGMA busy_timeout").fetchone()
            raw.execute(f"PRAGMA busy_timeout = {timeout_ms if wait else 0}")
            try:
                # SQLite waits for readers, but not for somebody else's checkpoint.
                until = time.monotonic() + (timeout_ms / 1000 if wait else 0)
                busy = True
                while busy:
                    (busy, _, _) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                    if busy and time.monotonic() >= until:
                        break
                    time.sleep(POLL_S if busy else 0)
            finally:
                raw.execute(f"PRAGMA busy_timeout = {timeout_ms}")
        return not busy

    def describe(self) -> dict[str, Any]:
        """Say what this is, for `doxa doctor`."""
        path = Path(self._where)
        size = path.stat().st_size if not self._memory and path.is_file() else None
        location = self._engine.url.render_as_string(hide_password=True)
        return {"backend": self._engine.dialect.name, "location": location, "format": HEAD, "bytes": size}

    def close(self) -> None:
        """Give back every connection."""
        self._engine.dispose()

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        with self._writer, mapped_errors(self._where):
            connection = self._engine.connect().execution_options(write=True)
            try:
                with connection, connection.begin():
                    yield connection
            except IntegrityError as exc:
                raise StoreConflictError(f"{self._where}: another writer was faster ({exc.orig}).") from exc

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        if self._memory:
            with self._writer, mapped_errors(self._where), self._engine.connect() as connection:
                yield connection
        else:
            with mapped_errors(self._where), self._engine.connect() as connection:
                yield connection

    def _asked(self, query: sa.Select[Any], **given: object) -> Iterator[Sequence[Any]]:
        """Return what a query finds that a server asks at every request.

        SQLite's driver takes a tenth of the time of SQLAlchemy's connection, a millisecond less where little else runs.
        """
        if self._engine.dialect.name != "sqlite" or self._memory:
            with self._read() as connection:
                return iter(connection.execute(query, given).all())
        compiled = self._compiled[query]
        with mapped_errors(self._where), closing(self._engine.raw_connection()) as connection:
            values = [given[name] for name in compiled.positiontup or ()]
            found = connection.cursor().execute(str(compiled), values)
            return iter(found.fetchall())

    def _are(self, connection: sa.Connection, scope: str, shelf: str, expected: Mapping[str, bytes | None]) -> bool:
        """Tell whether records are as expected, until the transaction ends for all who ask so of this shelf."""
        if not self._sqlite:  # there a transaction that writes is the only one
            place = int.from_bytes(sha256(f"{scope}\0{shelf}".encode()).digest()[:8], signed=True)
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(place)))
        query = sa.select(records.c.key, records.c.body).where(*self._on(scope, shelf))
        parts = (connection.execute(query.where(records.c.key.in_(some))) for some in _chunks(list(expected)))
        found: dict[str, bytes] = {key: body for part in parts for key, body in part}
        return all(found.get(key) == body for key, body in expected.items())

    @staticmethod
    def _locked_head(connection: sa.Connection, scope: str) -> Head:
        query = HEADS.where(heads.c.scope == scope).with_for_update()
        found = connection.execute(query).one_or_none()
        if found is not None:
            return _head(found)
        before = sa.select(heads.c.ordinal).where(heads.c.scope == ERASED)
        last = connection.execute(before).scalar() or 0
        first = last + 1 if last and scope != ERASED else 0
        values = {"scope": scope, "ordinal": first, "state": first, "received": 0, "maintained": 0}
        connection.execute(sa.insert(heads).values(values))
        if first:
            _insert(connection, scope, first, _erasure(), None)
        return Head(ordinal=first, state=first)


def _append(connection: sa.Connection, scope: str, head: Head, row: NewRow, vector: tuple[str, bytes] | None) -> Row:
    ordinal = head.ordinal + 1
    _insert(connection, scope, ordinal, row, None)
    if vector is not None and row.about is not None:
        values = {"scope": scope, "ordinal": row.about, "model": vector[0], "data": vector[1]}
        connection.execute(sa.insert(vectors).values(values))
    changed: dict[str, Any] = {"ordinal": ordinal, "state": ordinal}
    if row.about is not None:
        changed["maintained"] = max(head.maintained, row.about)
    connection.execute(sa.update(heads).where(heads.c.scope == scope).values(changed))
    return _stored(row, ordinal, None)


def _erasure() -> NewRow:
    return NewRow(kind="erased", known_at=datetime.now(UTC), body={})


def _erased_after(connection: sa.Connection, scope: str, ordinal: int) -> bool:
    these = (events.c.scope == scope, events.c.ordinal > ordinal, events.c.kind == "erased")
    return connection.execute(sa.select(events.c.ordinal).where(*these).limit(1)).first() is not None


def _of(scope: str, answer_ids: Sequence[str]) -> tuple[sa.ColumnElement[bool], ...]:
    return answers.c.scope == scope, answers.c.answer_id.in_(answer_ids)


def _chunks(some: Sequence[T]) -> Iterator[Sequence[T]]:
    yield from (some[at : at + CHUNK] for at in range(0, len(some), CHUNK))


_vectors = vectors
_NOBODY = {"owner": None, "lease_until": None}


def _alive(owner: str) -> bool:
    """Tell whether a lease holder may still run; only a process of this machine can be known to be dead."""
    host, _, pid = owner.rpartition("/")
    if host != socket.gethostname() or not pid.isdigit() or os.name == "nt":  # there, signal 0 would end it
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _insert(connection: sa.Connection, scope: str, ordinal: int, row: NewRow, turn_id: str | None) -> None:
    connection.execute(sa.insert(events).values(_values(scope, ordinal, row, turn_id)))


def _values(scope: str, ordinal: int, row: NewRow, turn_id: str | None) -> dict[str, Any]:
    return {
        "scope": scope,
        "ordinal": ordinal,
        "kind": row.kind,
        "turn_id": turn_id,
        "about": row.about,
        "known_at": (row.known_at - EPOCH) // timedelta(microseconds=1),
        "body": _dumps(row.body),
    }


def _delete(connection: sa.Connection, scope: str, ordinals: Sequence[int]) -> dict[str, int]:
    counts: dict[str, int] = {"vectors": 0}
    for part in _chunks(ordinals):
        these = (events.c.scope == scope, events.c.ordinal.in_(part))
        found = connection.execute(sa.select(events.c.kind, sa.func.count()).where(*these).group_by(events.c.kind))
        for kind, count in found:
            counts[str(kind)] = counts.get(str(kind), 0) + int(count)
        connection.execute(sa.delete(events).where(*these))
        gone = sa.delete(vectors).where(vectors.c.scope == scope, vectors.c.ordinal.in_(part))
        counts["vectors"] += connection.execute(gone).rowcount
    return counts


def _delete_records(connection: sa.Connection, scope: str, ordinals: Sequence[int]) -> int:
    """Remove the records that these turns say."""
    count = 0
    for part in _chunks(ordinals):
        gone = sa.select(events.c.turn_id).where(
            events.c.scope == scope, events.c.ordinal.in_(part), events.c.turn_id.is_not(None)
        )
        said = sa.delete(records).where(records.c.scope == scope, records.c.turn_id.in_(gone))
        count += connection.execute(said).rowcount
    return count


def _dumps(body: Mapping[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _row(found: Sequence[Any]) -> Row:
    ordinal, kind, turn_id, about, known_at, body = found
    known = EPOCH + timedelta(microseconds=known_at)
    return Row(ordinal=ordinal, kind=kind, turn_id=turn_id, about=about, known_at=known, body=json.loads(body))


def _stored(row: NewRow, ordinal: int, turn_id: str | None) -> Row:
    return Row(ordinal=ordinal, kind=row.kind, turn_id=turn_id, about=row.about, known_at=row.known_at, body=row.body)


def _head(found: Sequence[Any] | None) -> Head:
    if found is None:
        return Head()
    ordinal, state, received, maintained = found
    return Head(ordinal=ordinal, state=state, received=received, maintained=maintained)
