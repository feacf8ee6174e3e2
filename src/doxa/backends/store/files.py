"""What is particular to SQLite: which files are ours, and how a connection to one is prepared."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from doxa.backends.store.failures import mapped_errors
from doxa.core.errors import StoreError, StoreForeignError, StoreReadOnlyError
from doxa.core.private import private_file

APPLICATION_ID = 0x446F7861
"""Marks an SQLite file as ours: the letters `Doxa`."""
POLL_S = 0.01
SQLITE_MAGIC = b"SQLite format 3\x00"


def in_memory(url: sa.URL) -> bool:
    """Tell whether a database lives and dies with this process."""
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def is_frozen(path: Path) -> bool:
    """Tell whether a file lies where nothing can be written, so that not even a reader's lock can be made."""
    return path.exists() and not os.access(path.parent, os.W_OK)


def as_uri(url: sa.URL, *, immutable: bool) -> sa.URL:
    """Return an URL by which a file is only read; with `immutable`, without a look at whether others write it."""
    query = {"mode": "ro", "uri": "true"} | ({"immutable": "1"} if immutable else {})
    return url.set(database=f"file:{quote(str(url.database))}", query=query)


def check_file(path: Path) -> None:
    """Refuse what is not ours before anything could write to it."""
    if path.is_dir():
        raise StoreForeignError(
            f"{path} is a folder; expected the path of a memory file, such as {path / 'memory.db'}."
        )
    if not path.parent.is_dir():
        raise StoreError(f"The folder {path.parent} does not exist. Make it first, or give another path.")
    if not path.exists():
        if not os.access(path.parent, os.W_OK):
            raise StoreReadOnlyError(f"The folder {path.parent} cannot be written. Give a path in a writable folder.")
        return
    if not path.stat().st_size:
        return
    log = path.with_name(f"{path.name}-wal")
    if is_frozen(path) and log.exists() and log.stat().st_size:
        raise StoreReadOnlyError(
            f"{path} lies where nothing can be written, and its newest turns are still in {log.name}. Copy both files "
            "to a writable folder and open them there, or close the process that is writing."
        )
    mark, tables = _look(path)
    if mark != APPLICATION_ID and tables:
        raise StoreForeignError(
            f"{path} is the SQLite database of another program; it was left as it is. Give another path. If it was a "
            f"memory and is damaged, `doxa check-file {path}` says what is left of it."
        )


def _look(path: Path) -> tuple[int, int]:
    """Return the mark of a file and how many tables it has, by a connection that only reads.

    Only SQLite opens what may be a database: where anybody else in the process closes it, all locks of the process on
    it are gone (https://www.sqlite.org/howtocorrupt.html, 2.2), and with them what its other engines write.

    Raises:
        StoreForeignError: it is no database.
        StoreDamagedError: it begins like one, and cannot be read.
    """
    try:
        with closing(_read_only(path)) as connection:
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except (sqlite3.Error, MemoryError) as exc:
        _require_magic(path)
        with mapped_errors(str(path)):
            raise exc
    return mark, tables


def _read_only(path: Path) -> sqlite3.Connection:
    frozen = "&immutable=1" if is_frozen(path) else ""
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro{frozen}", uri=True)


def _require_magic(path: Path) -> None:
    """Refuse what cannot be read, or does not begin like an SQLite file."""
    try:
        with path.open("rb") as file:
            magic = file.read(len(SQLITE_MAGIC))
    except OSError as exc:
        raise StoreReadOnlyError(f"The memory {path} cannot be read: {exc.strerror}. Check its rights.") from exc
    if magic != SQLITE_MAGIC:
        raise StoreForeignError(
            f"{path} is not a Doxa memory (it does not start like an SQLite file); it was left as it is. "
            "Give another path, or move the file away. To read a transcript use `doxa ingest FILE`; if it was a memory "
            f"and is damaged, `doxa check-file {path}` says what is left of it."
        )


def begin_file(path: Path) -> None:
    """Make a database file that is its owner's alone, where there is none; SQLite gives what lies beside it its mode.

    Raises:
        StoreReadOnlyError: it cannot be made.
    """
    try:
        private_file(path)
    except OSError as exc:
        raise StoreReadOnlyError(f"The memory {path} cannot be made: {exc.strerror}. Give another path.") from exc


def prepare_connections(engine: sa.Engine, *, durability: str, timeout_s: float, frozen: bool) -> None:
    """Have every new connection and transaction of an engine begin as ours do; `frozen` ones write nothing."""

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves: the driver's own would start in the wrong mode
        connection.execute(f"PRAGMA busy_timeout = {int(timeout_s * 1000)}")
        if frozen:
            return
        _write_ahead(connection, timeout_s)
        connection.execute(f"PRAGMA synchronous = {'FULL' if durability == 'power' else 'NORMAL'}")
        connection.execute("PRAGMA secure_delete = ON")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        write = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write and not frozen else "BEGIN")


def _write_ahead(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Switch to the write-ahead log. SQLite does not wait for others that open a new file at the same moment."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as exc:
            if "locked" not in str(exc) or time.monotonic() >= until:
                raise
            time.sleep(POLL_S)
