"""Opens a database: an SQLAlchemy engine that is ours, at the newest schema, or a clear refusal."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from doxa.core.errors import (
    ConfigError,
    MissingDependencyError,
    StoreError,
    StoreForeignError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreVersionError,
)

HEAD = "m005"
"""The newest migration."""
APPLICATION_ID = 0x446F7861
"""Marks an SQLite file as ours: the letters `Doxa`."""
MIGRATING = threading.Lock()
"""Alembic keeps the migration that runs in module globals, so that one process runs one at a time."""
POLL_S = 0.01
MIN_FREE_BYTES = 64 * 1024
DIALECTS = ("sqlite", "postgresql", "postgres")
SQLITE_MAGIC = b"SQLite format 3\x00"


def parse_url(location: str) -> sa.URL:
    """Return the SQLAlchemy URL of a path, `:memory:`, `sqlite:PATH` or an URL.

    Raises:
        ConfigError: it looks like an URL and cannot be read as one.
    """
    if not location.removeprefix("sqlite:").strip():
        raise ConfigError('Expected the path of a memory file, ":memory:", or an SQLAlchemy URL; got an empty text.')
    if re.match(r"^[a-z][a-z0-9+]*://", location):
        try:
            url = sa.make_url(location)
        except ArgumentError as exc:
            raise ConfigError(f"Expected a path or an SQLAlchemy URL, got {location!r}.") from exc
        if url.get_backend_name() not in DIALECTS:
            raise ConfigError(f"Expected a path, sqlite:... or postgresql://...; {url.drivername!r} is not supported.")
        return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgres", "postgresql") else url
    path = location.removeprefix("sqlite:")
    return sa.URL.create("sqlite", database=path)


def open_engine(url: sa.URL, *, durability: str, timeout_s: float) -> sa.Engine:
    """Return an engine on a database that is ours and at the newest schema; a new file is made.

    Raises:
        StoreForeignError: the file is something else or damaged; it is left as it is.
        StoreVersionError: a newer Doxa wrote it.
        StoreReadOnlyError: the folder or file cannot be written.
        MissingDependencyError: the database's driver is not installed.
    """
    if url.get_backend_name() == "sqlite" and not _in_memory(url):
        _check_file(Path(str(url.database)))
    frozen = url.get_backend_name() == "sqlite" and not _in_memory(url) and _is_frozen(Path(str(url.database)))
    try:
        engine = sa.create_engine(_immutable(url) if frozen else url, **_options(url))
    except (ModuleNotFoundError, NoSuchModuleError) as exc:
        raise MissingDependencyError("psycopg", extra="postgres", purpose=f"The database {url.drivername}") from exc
    if url.get_backend_name() == "sqlite":
        _listen(engine, durability=durability, timeout_s=timeout_s, frozen=frozen)
    try:
        with mapped_errors(str(url.database)):
            _migrate(engine)
    except BaseException:
        engine.dispose()  # a refused file is not kept open
        raise
    return engine


def _in_memory(url: sa.URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def _is_frozen(path: Path) -> bool:
    """Tell whether a file lies where nothing can be written, so that not even a reader's lock can be made."""
    return path.exists() and not os.access(path.parent, os.W_OK)


def _immutable(url: sa.URL) -> sa.URL:
    return url.set(database=f"file:{quote(str(url.database))}", query={"immutable": "1", "mode": "ro", "uri": "true"})


def _options(url: sa.URL) -> dict[str, Any]:
    if _in_memory(url):
        return {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    return {} if url.get_backend_name() == "sqlite" else {"pool_pre_ping": True}


def _check_file(path: Path) -> None:
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
    try:
        with path.open("rb") as file:
            magic = file.read(16)
    except OSError as exc:
        raise StoreReadOnlyError(f"The memory {path} cannot be read: {exc.strerror}. Check its rights.") from exc
    if not magic:
        return
    log = path.with_name(f"{path.name}-wal")
    if _is_frozen(path) and log.exists() and log.stat().st_size:
        raise StoreReadOnlyError(
            f"{path} lies where nothing can be written, and its newest turns are still in {log.name}. Copy both files "
            "to a writable folder and open them there, or close the process that is writing."
        )
    if magic != SQLITE_MAGIC:
        raise StoreForeignError(
            f"{path} is not a Doxa memory (it does not start like an SQLite file); it was left as it is. "
            "Give another path, or move the file away. To read a transcript use `doxa ingest FILE`."
        )
    with mapped_errors(str(path)):
        frozen = "&immutable=1" if _is_frozen(path) else ""
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro{frozen}", uri=True)
        try:
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
    if mark != APPLICATION_ID and tables:
        raise StoreForeignError(
            f"{path} is the SQLite database of another program; it was left as it is. Give another path."
        )


def _listen(engine: sa.Engine, *, durability: str, timeout_s: float, frozen: bool) -> None:
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


def _migrate(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        found = _version(connection)
    if found == HEAD:
        return
    from alembic import command
    from alembic.config import Config as AlembicConfig  # slow to import, and needed once in the life of a file
    from alembic.script import ScriptDirectory

    config = AlembicConfig()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if found is not None and found not in known:
        raise StoreVersionError(
            f"The memory {engine.url.database} has format {found}, and this Doxa knows up to {HEAD}; "
            "it was left as it is. Upgrade with: pip install --upgrade doxa"
        )
    with MIGRATING, engine.connect().execution_options(write=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":  # SQLite's write transaction is a lock already
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID})")
        if _version(connection) != HEAD:  # another process may have been faster
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


@contextmanager
def mapped_errors(where: str) -> Iterator[None]:
    """Turn every database error inside the block into a `StoreError` that says what to do."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as exc:
        raise _mapped(str(getattr(exc, "orig", exc)), where) from exc
    except SQLAlchemyError as exc:
        raise StoreError(f"The database {where} failed: {exc}") from exc


def _disk_is_full(where: str) -> bool:
    """Tell whether too little room is left for one page and its journal; SQLite calls that an I/O error at times."""
    try:
        return shutil.disk_usage(Path(where).parent).free < MIN_FREE_BYTES
    except OSError:
        return False


def _mapped(message: str, where: str) -> StoreError:
    low = message.lower()
    if "locked" in low or "busy" in low:
        return StoreLockedError(
            f"The memory {where} is locked by another process; nothing was written. Try again, close the other "
            "process, or raise the setting store.timeout_s."
        )
    if "readonly" in low or "read-only" in low or "unable to open" in low:
        return StoreReadOnlyError(
            f"The memory {where} cannot be written ({message}). Check the rights of file and folder."
        )
    if "full" in low:
        return StoreFullError(f"No room is left for the memory {where} ({message}). Nothing of this turn was written.")
    if "disk i/o" in low and _disk_is_full(where):
        return _mapped("database or disk is full", where)
    if "not a database" in low or "malformed" in low or "disk i/o" in low:
        return StoreForeignError(
            f"The memory {where} is damaged or no memory ({message}); it was left as it is. Restore a copy of it."
        )
    return StoreError(f"The database {where} failed: {message}")
