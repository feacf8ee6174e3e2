"""What is particular to SQLite: which files are ours, and how a connection to one is prepared."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from doxa.backends.store.cipher import MAGIC, PageCipher, errors_of_files, looking, seems_encrypted
from doxa.backends.store.failures import mapped_errors
from doxa.core.errors import StoreError, StoreForeignError, StoreKeyError, StoreLockedError, StoreReadOnlyError
from doxa.core.private import private_file
from doxa.core.sealing import MemoryKey

APPLICATION_ID = 0x446F7861
"""Marks an SQLite file as ours: the letters `Doxa`."""
POLL_S = 0.01
CONNECTED: WeakKeyDictionary[Any, tuple[int, int] | None] = WeakKeyDictionary()
"""The files that the engines of this process are connected to, by connection: device and inode."""
CONNECTING = threading.RLock()
UNKNOWN = ("not a database", "unable to open")
"""In what SQLite says of a file that nobody can have open."""


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


def check_file(path: Path, key: MemoryKey | None = None, *, held: bool = False) -> None:
    """Refuse what is not ours, or not to be opened by this key or without one, before anything could write to it.

    A file that this process holds (`hold`) is read without a look at locks.
    """
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
    mark, tables = _look(path, key, alone=held or is_frozen(path))
    if mark != APPLICATION_ID and tables:
        raise StoreForeignError(
            f"{path} is the SQLite database of another program; it was left as it is. Give another path. If it was a "
            f"memory and is damaged, `doxa check-file {path}` says what is left of it."
        )


def _look(path: Path, key: MemoryKey | None, *, alone: bool) -> tuple[int, int]:
    """Return the mark of a file and how many tables it has, by a connection that only reads.

    Only SQLite opens what may be a database: where anybody else in the process closes it, all locks of the process on
    it are gone (https://www.sqlite.org/howtocorrupt.html, 2.2), and with them what its other engines write.

    Raises:
        StoreForeignError: it is no database.
        StoreKeyError: it is encrypted and there is no key, or it is otherwise than by this one.
        StoreDamagedError: it begins like one, and cannot be read.
    """
    try:
        with looking(path, key, alone=alone) as connection:
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except errors_of_files(MemoryError, UnicodeDecodeError) as exc:
        if any(sign in str(exc) for sign in UNKNOWN):
            require_key(path, key)
            if key is None:
                _require_magic(path)
        with mapped_errors(str(path)):
            raise exc
    return mark, tables


def require_key(path: Path, key: MemoryKey | None) -> None:
    """Refuse a file, which is not empty, that is encrypted where there is no key, or otherwise than by this one.

    Raises:
        StoreKeyError: it is; the message says which as far as it can be told.
        StoreLockedError: this process has it open.
    """
    is_plain = _begins(path) == MAGIC
    if key is None:
        if not is_plain and seems_encrypted(path):
            raise StoreKeyError(
                f"{path} is encrypted, and no key was given; it was left as it is. Say which key it has: "
                "store.key_file (DOXA_STORE_KEY_FILE=FILE). If it was never encrypted it is no memory."
            )
    elif is_plain:
        raise StoreKeyError(
            f"{path} is not encrypted, and a key was given; it was left as it is. Encrypt it with `doxa rekey {path} "
            "--to KEYFILE`, or unset store.key and store.key_file."
        )
    elif not PageCipher.of(path, key).fits(path):
        raise StoreKeyError(
            f"{path} cannot be opened by the key that was given (store.key, store.key_file); it was left as it is. "
            "Give the key that it was encrypted by. If that is the one, the file is no memory, or its first bytes are "
            "damaged: restore a copy of it."
        )


def _begins(path: Path) -> bytes:
    _require_closed(path)
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC))
    except OSError as exc:
        raise StoreReadOnlyError(f"The memory {path} cannot be read: {exc.strerror}. Check its rights.") from exc


def _require_magic(path: Path) -> None:
    """Refuse what does not begin like an SQLite file."""
    if _begins(path) != MAGIC:
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


def _require_closed(path: Path) -> None:
    """Refuse a file that this process has open: to read it otherwise than by SQLite would end its locks (`_look`)."""
    with CONNECTING:
        connected = [*CONNECTED.values()]
    if (inode := _inode(path)) is not None and inode in connected:
        raise StoreLockedError(
            f"{path} is open in this process, and was not read. Close every Doxa on it first, or run `doxa check-file "
            f"{path}`, which is a process of its own."
        )


def _inode(path: Path) -> tuple[int, int] | None:
    """Return what a file is on its disk, whatever its name; None for one that is not there."""
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_dev, told.st_ino


def know_connections(engine: sa.Engine, path: Path) -> None:
    """Have `CONNECTED` know the connections of an engine to a file."""

    @sa.event.listens_for(engine, "connect")
    def connected(_: object, record: Any) -> None:
        with CONNECTING:
            CONNECTED[record] = _inode(path)

    @sa.event.listens_for(engine, "close")
    def closed(_: object, record: Any) -> None:
        with CONNECTING:
            CONNECTED.pop(record, None)


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
        except errors_of_files() as exc:
            if "locked" not in str(exc) or time.monotonic() >= until:
                raise
            time.sleep(POLL_S)
