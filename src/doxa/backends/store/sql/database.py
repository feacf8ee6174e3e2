"""The database under a store: transactions, reads, and calls that a lost connection broke off."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError

from doxa.backends.pauses import pauses
from doxa.backends.store.cipher import errors_of_files, is_spoilt
from doxa.backends.store.failures import ROLLED_BACK, damaged, is_lost, mapped_errors, state
from doxa.backends.store.server import Server
from doxa.core.errors import ClosedError, StoreConflictError, StoreLockedError, StoreUnavailableError

LOOKED_THROUGH = 256 << 20
"""Bytes of a file in which a table is looked through before it is read: a tenth of a second or so."""
MOST_DUE = 1 << 30
"""How far erasings are counted in the head of a file."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.02, 1.0
P = ParamSpec("P")
R = TypeVar("R")
D = TypeVar("D", bound="Database")


def sent_again(*, twice: bool = False) -> Callable[[Callable[Concatenate[D, P], R]], Callable[Concatenate[D, P], R]]:
    """Have a call sent again when its connection is lost, or Postgres gave its transaction up, for `store.retry_s`.

    Args:
        twice: whether doing it twice is doing it once. Otherwise it is sent again only where the transaction was
            surely not written.
    """

    def around(method: Callable[Concatenate[D, P], R]) -> Callable[Concatenate[D, P], R]:
        @wraps(method)
        def call(self: D, /, *args: P.args, **given: P.kwargs) -> R:
            until = time.monotonic() + self._server.retry_s
            waits: Iterator[float] | None = None  # most calls need none
            while True:
                try:
                    return method(self, *args, **given)
                except (StoreUnavailableError, StoreLockedError) as exc:
                    if not _may_go_again(exc, twice=twice) or self._closed or time.monotonic() >= until:
                        raise
                waits = waits or pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S)
                time.sleep(next(waits))

        return call

    return around


def _may_go_again(exc: StoreUnavailableError | StoreLockedError, *, twice: bool) -> bool:
    if isinstance(exc, StoreUnavailableError):
        return twice or not exc.uncertain
    return state(exc.__cause__) in ROLLED_BACK


class Database:
    """An engine, and the ways in which its tables are read and written."""

    def __init__(self, engine: sa.Engine, *, server: Server, end: Callable[[], None]) -> None:
        self._engine = engine
        self._server = server
        self._end = end
        self._closed = False
        self._where = str(engine.url.database).removeprefix("file:")
        self._sqlite = engine.dialect.name == "sqlite"
        self._memory = self._sqlite and engine.url.database in (None, "", ":memory:")
        self._writer = threading.RLock()
        # One statement is a transaction of its own in Postgres: to read takes one exchange with the server, not three.
        self._reader = engine if self._sqlite else engine.execution_options(isolation_level="AUTOCOMMIT")
        self._compiled: dict[sa.Select[Any], Any] = {}
        self._sound: set[str] = set()

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        """Give a transaction. Writers of one process wait for each other only where the database has one writer."""
        self._require_open()
        alone: AbstractContextManager[Any] = self._writer if self._sqlite else nullcontext()
        with alone, mapped_errors(self._where):
            try:
                with (
                    self._engine.connect().execution_options(write=True) as connection,
                    connection.begin() as transaction,
                ):
                    yield connection
                    self._commit(transaction)
            except IntegrityError as exc:
                raise StoreConflictError(f"{self._where}: another writer was faster ({exc.orig}).") from exc

    def _note_erasing(self, connection: sa.Connection) -> None:
        """Take note, in the transaction that erases, that the file has to be written anew; see `Erasing.wipe`."""
        if self._sqlite and not self._memory:
            due: int = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
            connection.exec_driver_sql(f"PRAGMA user_version = {due % MOST_DUE + 1}")

    def _commit(self, transaction: sa.Transaction) -> None:
        try:
            transaction.commit()
        except DBAPIError as exc:
            if self._sqlite:
                # SQLAlchemy takes it for ended: it would go back to the pool open, with the lock that keeps others out.
                self._engine.dialect.do_rollback(transaction.connection.connection)
                raise
            if not is_lost(exc):
                raise
            raise StoreUnavailableError(
                f"The database server of {self._where} was lost while it wrote ({' '.join(str(exc.orig).split())}), so "
                "that nobody knows whether it did. See what is there before you send the same again.",
                uncertain=True,
            ) from exc

    @contextmanager
    def _read(self) -> Iterator[sa.Connection]:
        self._require_open()
        alone: AbstractContextManager[Any] = self._writer if self._memory else nullcontext()
        with alone, mapped_errors(self._where), self._reader.connect() as connection:
            yield connection

    def _require_sound(self, table: sa.Table) -> None:
        """Refuse a table whose index does not lead to every row, where no row says that another one is missing.

        Looked at once, in a file up to `LOOKED_THROUGH` bytes: some milliseconds for a megabyte of the table.

        Raises:
            StoreDamagedError: it is damaged.
        """
        if not self._sqlite or self._memory or table.name in self._sound:
            return
        if Path(self._where).stat().st_size <= LOOKED_THROUGH:
            with self._read() as connection:
                found = connection.exec_driver_sql(f"PRAGMA integrity_check({table.name})").scalars().all()
            if found != ["ok"]:
                raise damaged(self._where, f"the table of {table.name} ({found[0]})")
        self._sound.add(table.name)

    def _require_open(self) -> None:
        """Refuse a closed store on a server, where the pool would connect anew.

        Raises:
            ClosedError: it was closed.
        """
        if self._closed and not self._sqlite:
            raise ClosedError(f"The store at {self._where} was closed. Open it again.")

    def _asked(self, query: sa.Select[Any], **given: object) -> Iterator[Sequence[Any]]:
        """Return what a query finds that a server asks at every request.

        SQLite's driver takes a tenth of the time of SQLAlchemy's connection, a millisecond less where little else runs.
        """
        if not self._sqlite or self._memory:
            with self._read() as connection:
                return iter(connection.execute(query, given).all())
        compiled = self._compiled.get(query)
        if compiled is None:
            compiled = self._compiled[query] = query.compile(dialect=self._engine.dialect)
        with mapped_errors(self._where), closing(self._engine.raw_connection()) as connection:
            values = [given[name] for name in compiled.positiontup or ()]
            try:
                found = connection.cursor().execute(str(compiled), values)
                return iter(found.fetchall())
            except errors_of_files() as exc:
                if is_spoilt(exc):
                    connection.invalidate(exc)
                raise

    def _insert_into(self, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
        """Return an INSERT that may say what happens where the key is there already."""
        return sqlite.insert(table) if self._sqlite else postgresql.insert(table)

    def wipe(self, scope: str | None = None) -> None:
        """Leave no byte of what was erased; see `Erasing`."""
        raise NotImplementedError

    def _tell(self, scope: str, ordinal: int) -> None:
        """Have others told that a log stands at an ordinal now: after it was written."""
