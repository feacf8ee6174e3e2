"""sql: the log in a relational database: SQLite by default, Postgres by URL, one schema for both.

A file for each table or concern; `SQLStore` is all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from doxa.backends.store import Change
from doxa.backends.store.connect import HEAD, open_engine, parse_url
from doxa.backends.store.listening import Listener
from doxa.backends.store.partitions import count_parts
from doxa.backends.store.server import Server, own_connection
from doxa.backends.store.sql.answers import Answers
from doxa.backends.store.sql.erasing import Erasing
from doxa.backends.store.sql.heads import CHANNEL
from doxa.backends.store.sql.keys import Keys
from doxa.backends.store.sql.leases import Leases
from doxa.backends.store.sql.log import Log
from doxa.backends.store.sql.records import Records

__all__ = ["SQLStore", "open_store"]


def open_store(location: str, *, durability: str = "process", **settings: Any) -> SQLStore:
    """Return the store at a path, `:memory:` or an SQLAlchemy URL; see `connect.open_engine` for what it raises.

    Args:
        location: where it is.
        durability: of an SQLite file; see the setting `store.durability`.
        settings: those of `server.Server`, by name.
    """
    server = Server(**settings)
    engine, end = open_engine(parse_url(location), durability=durability, server=server)
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
        self._listening = threading.Lock()
        self._listener: Listener | None = None

    def describe(self) -> dict[str, Any]:
        """Say what this is, for `doxa doctor`."""
        location = self._engine.url.render_as_string(hide_password=True)
        about = {"backend": self._engine.dialect.name, "location": location, "format": HEAD}
        if self._sqlite:
            path = Path(self._where)
            return about | {"bytes": path.stat().st_size if not self._memory and path.is_file() else None}
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
        if self._sqlite or not self._server.notify or self._closed:
            return lambda: None
        with self._listening:
            if self._listener is None:
                url = parse_url(self._server.listen_url) if self._server.listen_url else self._engine.url
                self._listener = Listener(lambda: own_connection(url, self._server), CHANNEL)
            return self._listener.add(told)

    def close(self) -> None:
        """Give back every connection."""
        self._closed = True
        with self._listening:
            if self._listener is not None:
                self._listener.close()
                self._listener = None
        self._end()
