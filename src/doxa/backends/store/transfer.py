"""All rows of one database -> another one, scope by scope, each compared by digest.

A scope is copied in one transaction of the target, and read back before that ends: it is there as it was, or not at
all. So a transfer that was broken off goes on where it stopped, by doing again what is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError

from doxa.backends.store import Head
from doxa.backends.store.connect import file_engine, open_engine, parse_url, require_known, version_of
from doxa.backends.store.digests import DIGESTED, is_whole, part, with_digest
from doxa.backends.store.failures import damaged, errors_of_server, is_of_values, mapped, mapped_errors
from doxa.backends.store.files import check_file, in_memory
from doxa.backends.store.schema import answers, events, heads, keys, records, vectors
from doxa.backends.store.server import Server, make_engine
from doxa.backends.store.sql.bulk import insert_all
from doxa.backends.store.sql.heads import ERASED, head_values, move_head
from doxa.backends.store.sql.rows import require_room
from doxa.core.errors import InputError, NotFoundError, StoreError, StoreForeignError
from doxa.core.migration import Moved
from doxa.core.sealing import MemoryKey

BATCH = 2000
"""How many rows are read at once."""
LEASE = (heads.c.owner, heads.c.lease_until, heads.c.fence, heads.c.failures, heads.c.failed_at, heads.c.failure)
"""What is nobody's any more elsewhere, and what failed here; the next token is above those that are in the log."""
TABLES = (events, vectors, answers, records, heads)
MARKS = {"previous", "digest", "undigested"}
"""What shows that a row is whole; it is made anew in the target, and is no part of what is compared."""
MARK = sa.select(heads.c.ordinal).where(heads.c.scope == ERASED)

Told = Callable[[int], None]


def open_transfer(
    source: str,
    *,
    target: str,
    only_compare: bool = False,
    durability: str = "process",
    key: MemoryKey | None = None,
    target_key: MemoryKey | None = None,
    held: bool = False,
    **settings: Any,
) -> Transfer:
    """Return what copies one database into another; the source is opened to be read, and a new target is made.

    Args:
        source: a path or an SQLAlchemy URL.
        target: a path or an SQLAlchemy URL.
        only_compare: open the target to be read as well.
        durability: of an SQLite target.
        key: of a source that is an encrypted file.
        target_key: of a target that is one.
        held: whether this process holds the source (`hold`).
        settings: those of `server.Server`, by name.

    Raises:
        InputError: they are one, or the source is in the memory of this process.
        NotFoundError: there is no source, or nothing to compare it with.
        StoreError: one of them cannot be opened.
    """
    server = replace(Server(**settings), statement_s=0.0, idle_s=0.0)  # a whole log is one transaction
    source_url, target_url = parse_url(source), parse_url(target)
    if in_memory(source_url) or in_memory(target_url):
        raise InputError("Expected two databases that last, got one in the memory of this process.")
    if _place(source_url) == _place(target_url):
        raise InputError("Expected two databases, got the same one twice.")
    ours = _reading_side(source_url, server, key, held=held)
    try:
        if only_compare:
            return Transfer(ours, _reading_side(target_url, server, target_key))
        engine, end = open_engine(target_url, durability=durability, server=server, key=target_key)
        return Transfer(ours, _Side(engine, end))
    except BaseException:
        ours.close()
        raise


def _place(url: sa.URL) -> object:
    if url.get_backend_name() == "sqlite":
        return Path(str(url.database)).resolve()
    return url.host, url.port or 5432, url.database, url.query.get("host")


def _reading_side(url: sa.URL, server: Server, key: MemoryKey | None, *, held: bool = False) -> _Side:
    """Open a database that is not written, whatever its format, if we know it."""
    if url.get_backend_name() == "sqlite":
        path = Path(str(url.database))
        check_file(path, key, held=held)
        if not path.exists():
            raise NotFoundError(f"There is no memory at {path}; nothing was copied.")
        engine = file_engine(url, durability="process", timeout_s=server.timeout_s, read_only=True, key=key, held=held)
    else:
        engine = make_engine(url, server).execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    try:
        side = _Side(engine, engine.dispose)
        with side.reading() as connection:
            found = version_of(connection)
        require_known(found, url)
        if found is None:
            raise StoreForeignError(f"{url.database} is no Doxa memory; nothing was copied.")
    except BaseException:
        engine.dispose()
        raise
    return side


class _Side:
    """A database, and the columns that it has: one of an earlier format lacks some, and is read as it is."""

    def __init__(self, engine: sa.Engine, close: Callable[[], None]) -> None:
        self.engine = engine
        self.close = close
        with self.reading() as connection:
            built = sa.inspect(connection)
            there = set(built.get_table_names())
            self.columns = {
                table.name: {column["name"] for column in built.get_columns(table.name)}
                for table in (*TABLES, keys)
                if table.name in there
            }

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Give a transaction that sees one moment."""
        with mapped_errors(str(self.engine.url.database)), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Give a transaction that may write."""
        with mapped_errors(str(self.engine.url.database)):
            connection = self.engine.connect().execution_options(write=True)
            with connection, connection.begin():
                yield connection

    def keys(self, connection: sa.Connection) -> dict[str, str]:
        """Return the API keys."""
        if keys.name not in self.columns:
            return {}
        return {row.key_id: row.body for row in connection.execute(sa.select(keys.c.key_id, keys.c.body))}

    def rows(
        self, connection: sa.Connection, table: sa.Table, scope: str, *, whole: bool = False
    ) -> Iterator[Sequence[Any]]:
        """Yield the rows of a scope in the order of their key, byte by byte; no more than a batch is in memory.

        Raises:
            StoreDamagedError: they have to be `whole`, and one is not, or one of a log is missing.
        """
        there = self.columns.get(table.name)
        if there is None:
            return
        names = [*_names(table), *(mark for mark in ("previous", "digest") if mark in table.c)]
        columns = [table.c[name] if name in there else sa.null().label(name) for name in names]
        key: list[sa.ColumnElement[Any]] = [column for column in table.primary_key.columns if column.name != "scope"]
        if connection.dialect.name == "postgresql":
            key = [column.collate("C") if isinstance(column.type, sa.String) else column for column in key]
        query = sa.select(*columns).where(table.c.scope == scope).order_by(*key)
        last = 0
        with connection.execute(query, execution_options={"stream_results": True, "yield_per": BATCH}) as found:
            for row in found:
                if whole:
                    last = self._require_whole(table, scope, dict(zip(names, row, strict=True)), last)
                yield row[: len(_names(table))]
        if whole and table is events:
            ends = connection.execute(sa.select(heads.c.ordinal).where(heads.c.scope == scope)).scalar() or 0
            if ends != last:
                raise damaged(str(self.engine.url.database), f"what is behind row {last} of {scope}")

    def _require_whole(self, table: sa.Table, scope: str, row: Mapping[str, Any], last: int) -> int:
        """Return the ordinal of a row that is what was written; `last` is that of the one before it in a log."""
        said = [row[name] for name in DIGESTED[table.name] if name in row]
        if not is_whole(said, row["digest"]):
            raise damaged(str(self.engine.url.database), f"a row of {table.name} of {scope}")
        if row.get("previous") not in (None, last):
            raise damaged(str(self.engine.url.database), f"what is before row {row['ordinal']} of {scope}")
        return int(row.get("ordinal", last))


class Transfer:
    """Two open databases. The source is read in one snapshot for each scope, and never written."""

    def __init__(self, source: _Side, target: _Side) -> None:
        self._source, self._target = source, target

    def scopes(self) -> dict[str, int]:
        """Return every scope of the source with how far its log goes, in order. Cost: O(scopes), and O(records)."""
        with self._source.reading() as connection:
            rows = connection.execute(sa.select(heads.c.scope, heads.c.ordinal))
            found = {row.scope: row.ordinal for row in rows}
            if records.name in self._source.columns:  # they need no log
                found |= dict.fromkeys(connection.execute(sa.select(records.c.scope).distinct()).scalars(), 0) | found
        found.pop(ERASED, None)
        return dict(sorted(found.items()))

    def move(self, scope: str, *, told: Told = lambda _: None) -> Moved:
        """Copy a scope, or see whether what the target has of it is the same; `told` hears of rows of its log.

        Nothing stays of a scope that the target cannot hold: one with a sign or a length that Postgres does not take.

        Raises:
            StoreError: what was written was read back as something else; nothing of the scope stays.
        """
        with self._source.reading() as source, self._target.writing() as target:
            return self._or_refused(scope, lambda: self._moved(source, target, scope, told))

    def compare(self, scope: str, *, told: Told = lambda _: None) -> Moved:
        """Say whether the target has a scope as the source has it; nothing is written."""
        with self._source.reading() as source, self._target.reading() as target:
            return self._or_refused(scope, lambda: self._compared(source, target, scope, told))

    def move_keys(self) -> Moved:
        """Copy the API keys that the target lacks; where one is another, nothing is written."""
        with self._source.reading() as source, self._target.writing() as target:
            ours, theirs = self._source.keys(source), self._target.keys(target)
            found = _keys_compared(ours, theirs)
            if found.state != "missing":
                return found
            lacking = sorted(ours.keys() - theirs.keys())
            insert_all(target, keys, (with_digest(keys, {"key_id": key, "body": ours[key]}) for key in lacking))
        return replace(found, state="copied")

    def compare_keys(self) -> Moved:
        """Say whether the target has the API keys of the source."""
        with self._source.reading() as source, self._target.reading() as target:
            return _keys_compared(self._source.keys(source), self._target.keys(target))

    def move_erasures(self) -> Moved:
        """Have logs of the target begin after every log that was erased in the source."""
        with self._source.reading() as source, self._target.writing() as target:
            ours, theirs = source.execute(MARK).scalar() or 0, target.execute(MARK.with_for_update()).scalar()
            if ours <= (theirs or 0):
                return _mark_compared(ours, theirs)
            if theirs is None:
                target.execute(sa.insert(heads).values(head_values(ERASED, Head(ordinal=ours))))
            else:
                move_head(target, ERASED, Head(ordinal=ours))
        return Moved(what="erasures", state="copied", rows=1)

    def compare_erasures(self) -> Moved:
        """Say whether logs of the target begin after every log that was erased in the source."""
        with self._source.reading() as source, self._target.reading() as target:
            return _mark_compared(source.execute(MARK).scalar() or 0, target.execute(MARK).scalar())

    def close(self) -> None:
        """Give back every connection."""
        self._source.close()
        self._target.close()

    def _or_refused(self, scope: str, act: Callable[[], Moved]) -> Moved:
        """Return what became of a scope, or why the target cannot hold it."""
        errors: tuple[type[Exception], ...] = (DBAPIError, *errors_of_server())
        try:
            return act()
        except InputError as exc:
            reason = str(exc)
        except errors as exc:
            if not is_of_values(exc):
                raise
            reason = str(mapped(exc, str(self._target.engine.url.database)))
        return Moved(what="log", scope=scope, state="refused", rows=0, reason=reason)

    def _moved(self, source: sa.Connection, target: sa.Connection, scope: str, told: Told) -> Moved:
        if not self._has(target, scope):
            try:
                with target.begin_nested():
                    return self._copied(source, target, scope, told)
            except IntegrityError:
                pass  # somebody else wrote to the scope meanwhile
        return self._compared(source, target, scope, told)

    def _copied(self, source: sa.Connection, target: sa.Connection, scope: str, told: Told) -> Moved:
        require_room(target, scope)
        sent = _Digest()
        for table in TABLES:
            names, rows = _names(table), self._source.rows(source, table, scope, whole=True)
            values = (dict(zip(names, row, strict=True)) for row in sent.over(table, rows, told))
            insert_all(target, table, _marked(table, values))
        highest = sa.select(sa.func.coalesce(sa.func.max(events.c.fence), 0)).where(events.c.scope == scope)
        target.execute(sa.update(heads).where(heads.c.scope == scope).values(fence=highest.scalar_subquery()))
        kept = self._digest(self._target, target, scope)
        if kept.text != sent.text:
            raise StoreError(
                f"The log of {scope} was written to {self._target.engine.url.database} and read back as something "
                "else; nothing of it was kept. See whether that database can be trusted, and run the command again."
            )
        return Moved(what="log", scope=scope, state="copied", rows=sent.rows, digest=sent.text)

    def _compared(self, source: sa.Connection, target: sa.Connection, scope: str, told: Told) -> Moved:
        ours, theirs = self._digest(self._source, source, scope, told), self._digest(self._target, target, scope)
        state: Any = "same" if ours.text == theirs.text else "differs" if theirs.rows else "missing"
        return Moved(what="log", scope=scope, state=state, rows=ours.rows, digest=ours.text)

    def _has(self, target: sa.Connection, scope: str) -> bool:
        """Tell whether the target holds anything of a scope."""
        return any(
            target.execute(sa.select(table.c.scope).where(table.c.scope == scope).limit(1)).first() for table in TABLES
        )

    @staticmethod
    def _digest(side: _Side, connection: sa.Connection, scope: str, told: Told = lambda _: None) -> _Digest:
        digest = _Digest()
        for table in TABLES:
            for _ in digest.over(table, side.rows(connection, table, scope), told):
                pass
        return digest


class _Digest:
    """A running SHA-256 over rows, each value told apart from the next."""

    def __init__(self) -> None:
        self._hash = sha256()
        self.rows = 0

    def over(self, table: sa.Table, rows: Iterator[Sequence[Any]], told: Told) -> Iterator[Sequence[Any]]:
        """Yield rows of a table as they are, and take them in; `told` hears of every so many of the log."""
        self._hash.update(part(table.name))
        count = 0
        for row in rows:
            self._hash.update(b"".join(map(part, row)))
            count += 1
            if table is events and count % BATCH == 0:
                told(count)
            yield row
        self.rows += count

    @property
    def text(self) -> str:
        """The digest as it is shown."""
        return f"v1:{self._hash.hexdigest()}"


def _names(table: sa.Table) -> list[str]:
    return [column.name for column in table.columns if column not in LEASE and column.name not in MARKS]


def _marked(table: sa.Table, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows of one scope, in order, with what shows that they are whole."""
    last = 0
    for values in rows:
        if table is events:
            values["previous"], last = last, values["ordinal"]
        yield with_digest(table, values)


def _keys_compared(ours: dict[str, str], theirs: dict[str, str]) -> Moved:
    differs = any(theirs[key] != body for key, body in ours.items() if key in theirs)
    state: Any = "differs" if differs else "missing" if ours.keys() - theirs.keys() else "same"
    return Moved(what="keys", state=state, rows=len(ours))


def _mark_compared(ours: int, theirs: int | None) -> Moved:
    return Moved(what="erasures", state="same" if ours <= (theirs or 0) else "missing", rows=int(ours > 0))
