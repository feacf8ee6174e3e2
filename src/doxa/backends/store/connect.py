"""Opens a database: an SQLAlchemy engine that is ours, at the newest schema, or a clear refusal."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from doxa.backends.store.cipher import begin_encrypted, keyed
from doxa.backends.store.failures import mapped_errors
from doxa.backends.store.files import (
    APPLICATION_ID,
    as_uri,
    begin_file,
    check_file,
    in_memory,
    is_frozen,
    know_connections,
    prepare_connections,
)
from doxa.backends.store.schema import metadata
from doxa.backends.store.server import POOLS, Server
from doxa.core.access import without_password
from doxa.core.errors import ConfigError, MissingDependencyError, StoreError, StoreVersionError
from doxa.core.sealing import MemoryKey

HEAD = "m008"
"""The newest migration."""
VERSIONS = """CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)"""
"""The table in which Alembic keeps the newest migration of a database, as it makes it."""
MIGRATING = threading.Lock()
"""Alembic keeps the migration that runs in module globals, so that one process runs one at a time."""
DIALECTS = ("sqlite", "postgresql", "postgres")


def parse_url(location: str) -> sa.URL:
    """Return the SQLAlchemy URL of a path, `:memory:`, `sqlite:PATH` or an URL.

    Raises:
        ConfigError: it looks like an URL and cannot be read as one.
    """
    if not location.removeprefix("sqlite:").strip():
        raise ConfigError('Expected the path of a memory file, ":memory:", or an SQLAlchemy URL; got an empty text.')
    if re.match(r"^[a-z][a-z0-9+]*://", location, re.IGNORECASE):
        try:
            url = sa.make_url(location)
        except (ArgumentError, ValueError) as exc:
            given = without_password(location)
            raise ConfigError(f"Expected a path or an SQLAlchemy URL, got {given!r}.") from exc
        url = url.set(drivername=url.drivername.lower())
        if url.get_backend_name() not in DIALECTS:
            raise ConfigError(f"Expected a path, sqlite:... or postgresql://...; {url.drivername!r} is not supported.")
        return url.set(drivername="postgresql+psycopg") if url.drivername in ("postgres", "postgresql") else url
    path = location.removeprefix("sqlite:")
    return sa.URL.create("sqlite", database=path)


def open_engine(
    url: sa.URL, *, durability: str, server: Server, key: MemoryKey | None = None
) -> tuple[sa.Engine, Callable[[], None]]:
    """Return an engine on a database that is ours and at the newest schema, and what ends its use.

    A new file is made. One in memory, or on a server, has no use for a key.

    Raises:
        StoreForeignError: the file is something else; it is left as it is.
        StoreKeyError: it is encrypted and the key is not its own, or it is not; it is left as it is.
        StoreDamagedError: it is damaged; it is left as it is.
        StoreVersionError: a newer Doxa wrote it.
        StoreReadOnlyError: the folder or file cannot be written.
        MissingDependencyError: the database's driver is not installed.
        StoreError: a database on a server has another encoding than UTF8.
    """
    try:
        if url.get_backend_name() == "sqlite":
            engine = file_engine(url, durability=durability, timeout_s=server.timeout_s, key=key)
            end: Callable[[], None] = engine.dispose
        else:
            engine, end = POOLS.take(url, server)
    except (ModuleNotFoundError, NoSuchModuleError) as exc:
        raise MissingDependencyError("psycopg", extra="postgres", purpose=f"The database {url.drivername}") from exc
    try:
        with mapped_errors(str(url.database)):
            _migrate(engine, partitions=server.partitions)
    except BaseException:
        end()  # a refused file is not kept open
        raise
    return engine, end


def file_engine(
    url: sa.URL,
    *,
    durability: str,
    timeout_s: float,
    read_only: bool = False,
    key: MemoryKey | None = None,
    held: bool = False,
) -> sa.Engine:
    """Return an engine on an SQLite file of ours, or one in memory; with `read_only`, nothing can be written by it.

    One that this process holds (`hold`) can only be read, without a look at locks.

    Raises:
        StoreKeyError: it is encrypted and the key is not its own, or it is not; it is left as it is.
        StoreForeignError: the file is something else; it is left as it is.
        StoreDamagedError: it is damaged; it is left as it is.
        StoreReadOnlyError: it is not there, and cannot be made.
    """
    if in_memory(url):
        engine = sa.create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
        prepare_connections(engine, durability=durability, timeout_s=timeout_s, frozen=False)
        return engine
    path = Path(str(url.database))
    check_file(path, key, held=held)
    frozen = held or is_frozen(path)
    if not (frozen or read_only):
        begin_file(path)
        if key is not None:
            with mapped_errors(str(path)):
                begin_encrypted(path, key)
    url = as_uri(url, immutable=frozen) if frozen or read_only else url
    engine = sa.create_engine(url) if key is None else keyed(url, path, key)
    know_connections(engine, path)
    prepare_connections(engine, durability=durability, timeout_s=timeout_s, frozen=frozen or read_only)
    return engine


def _migrate(engine: sa.Engine, *, partitions: int) -> None:
    with engine.connect() as connection:
        _require_utf8(connection)
        found = version_of(connection)
    if found == HEAD or (found is None and engine.dialect.name == "sqlite" and _begun(engine)):
        return
    from alembic import command
    from alembic.config import Config as AlembicConfig  # slow to import, and of no use to a new file

    config = AlembicConfig()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["partitions"] = partitions
    require_known(found, engine.url)
    with MIGRATING, engine.connect().execution_options(write=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":  # SQLite's write transaction is a lock already
            connection.exec_driver_sql("SET LOCAL statement_timeout = 0")  # the tables may be large
            connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({APPLICATION_ID})")
        found = version_of(connection)  # another process may have been faster, and newer
        require_known(found, engine.url)
        if found != HEAD:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            if engine.dialect.name == "sqlite":
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")


def _require_utf8(connection: sa.Connection) -> None:
    """Refuse a database on a server that cannot store every text.

    Raises:
        StoreError: its encoding is another one.
    """
    if connection.dialect.name != "postgresql":
        return
    driver: Any = connection.connection.driver_connection
    encoding = driver.info.parameter_status("server_encoding")  # told when it was connected: no question is asked
    if encoding not in (None, "UTF8"):
        raise StoreError(
            f"Expected a database with the encoding UTF8, got {connection.engine.url.database} with {encoding}; it was "
            "left as it is. Create one with ENCODING 'UTF8' TEMPLATE template0; what this one holds is copied there by "
            "`doxa migrate`."
        )


def _begun(engine: sa.Engine) -> bool:
    """Make the tables of a new SQLite file, as all migrations together would; False where older ones are there."""
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if (found := version_of(connection)) is not None:  # another process was faster
            return found == HEAD
        metadata.create_all(connection, checkfirst=False)
        connection.exec_driver_sql(VERSIONS)
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (HEAD,))
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    return True


def require_known(found: str | None, url: sa.URL) -> None:
    """Refuse a database of a format that this Doxa does not know.

    Raises:
        StoreVersionError: a newer Doxa wrote it.
    """
    known = {path.stem.partition("_")[0] for path in (Path(__file__).parent / "migrations" / "versions").glob("m*.py")}
    if found is not None and found not in known:
        raise StoreVersionError(
            f"The memory {url.database} has format {found}, and this Doxa knows up to {HEAD}; "
            "it was left as it is. Upgrade with: pip install --upgrade doxa"
        )


def version_of(connection: sa.Connection) -> str | None:
    """Return the format of a database; None for a new one."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
