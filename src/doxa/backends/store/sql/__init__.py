"""sql: the log in a relational database: SQLite by default, Postgres by URL, one schema for both.

A file for each table or concern; `SQLStore` is all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from doxa.backends.store import Change
from doxa.backends.store.channel import Channel
from doxa.backends.store.connect import HEAD, open_engine, parse_url
from doxa.backends.store.partitions import count_parts
from doxa.backends.store.server import Server, own_connection
from doxa.backends.store.sql.answers import Answers
from doxa.backends.store.sql.erasing import Erasing
from doxa.backends.store.sql.keys import Keys
from doxa.backends.store.sql.leases import Leases
from doxa.backends.store.sql.log import Log
from doxa.backends.store.sql.records import Records
from doxa.core.sealing import MemoryKey

__all__ = ["SQLStore", "open_store"]


def open_store(
    location: str, *, durability: str = "process", key: MemoryKey | None = None, **settings: Any
) -> SQLStore:
    """Return the store at a path, `:memory:` or an SQLAlchemy URL; see `connect.open_engine` for what it raises.

    Args:
        location: where it is.
        durability: of an SQLite file; see the setting `store.durability`.
        key: of an SQLite file that is encrypted.
        settings: those of `server.Server`, by name.
    """
    server = Server(**settings)
    engine, end = open_engine(parse_url(location), durability=durability, server=server, key=key)
    store = SQLStore(engine, server=server, end=end)
    try:
        store.finish_wiping()
    except BaseException:
        store.close()
        raise
    return store


class SQLStore(Log, Erasing, Answers, Records, Keys, Leases):
    """The `Store` over SQLAlchemy Core. Receiving a turn costs one transaction of four statements."""

    def __init__(self, engine: sa.Engine, *, server: Server, end: Callable[[], None]) -> None:
        super().__init__(engine, server=server, end=end)
        self.salt: bytes | None = engine.get_execution_options().get("salt")
        """That of an encrypted file; the files beside it are encrypted by it as well."""
        url = parse_url(server.listen_url) if server.listen_url else engine.url
        speaks = server.notify and not self._sqlite
        self._channel = Channel(lambda: own_connection(url, server)) if speaks else None

    def describe(self) -> dict[str, Any]:
        """Say what this is, for `doxa doctor`."""
        location = self._engine.url.render_as_string(hide_password=True)
        about = {"backend": self._engine.dialect.name, "location": location, "format": HEAD}
        if self._sqlite:
            path = Path(self._where)
            size = path.stat().st_size if not self._memory and path.is_file() else None
            return about | {"bytes": size, "encrypted": self.salt is not None}
        with self._read() as connection:
            size = connection.execute(sa.text("SELECT pg_database_size(current_database())")).scalar_one()
            version = connection.exec_driver_sql("SHOW server_version").scalar_one()
            parts = count_parts(connection)
        pool: Any = self._engine.pool
        return about | {
            "bytes": int(size),
            "server": str(version),
            "partitions": parts,
            "pool": {"size": pool.size(), "overflow": self._server.pool_overflow, "in_use": pool.checkedout()},
        }

    def listen(self, told: Callable[[Change | None], None]) -> Callable[[], None]:
        """Call back when a log was moved, over one connection for all who ask. See `Store`."""
        return self._channel.add(told) if self._channel is not None else lambda: None

    def _tell(self, scope: str, ordinal: int) -> None:
        if self._channel is not None:
            self._channel.tell(scope, ordinal)

    def close(self) -> None:
        """Give back every connection."""
        self._closed = True
        if self._channel is not None:
            self._channel.close()
        self._end()
