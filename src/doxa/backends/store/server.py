"""What is particular to Postgres: its connections, one pool of them for a process, and their time-outs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

PREPARED_AFTER = 5
"""How often a connection is asked the same before it prepares the statement; psycopg's own number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How Postgres is talked to; see the settings `store`."""

    timeout_s: float = 30.0
    partitions: int = 16
    pool_size: int = 8
    pool_overflow: int = 8
    pool_timeout_s: float = 10.0
    statement_s: float = 60.0
    idle_s: float = 10.0
    retry_s: float = 10.0
    pgbouncer: bool = False
    notify: bool = True
    listen_url: str | None = None

    @property
    def limits(self) -> dict[str, int]:
        """The time-outs by their names in Postgres, in milliseconds; 0 sets none."""
        seconds = {
            "statement_timeout": self.statement_s,
            "lock_timeout": self.timeout_s,
            "idle_in_transaction_session_timeout": self.idle_s,
        }
        return {name: int(value * 1000) for name, value in seconds.items()}


def connect_arguments(url: sa.URL, server: Server, session: Mapping[str, object]) -> dict[str, Any]:
    """Return what a connection is made with, `session` its settings; what the URL says itself goes first."""
    found: dict[str, Any] = {
        "application_name": "doxa",
        "connect_timeout": 10,
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
    }
    said = url.query.get("options", ())
    options = [said] if isinstance(said, str) else [*said]
    if "client_encoding" not in " ".join(options):  # else that of the database, the role or the environment is taken
        found["client_encoding"] = "utf8"
    found = {name: value for name, value in found.items() if name not in url.query}
    found["prepare_threshold"] = None if server.pgbouncer else PREPARED_AFTER
    if not server.pgbouncer:
        found["options"] = " ".join([*(f"-c {name}={value}" for name, value in session.items()), *options])
    return found


def make_engine(url: sa.URL, server: Server) -> sa.Engine:
    """Return an engine with a pool as the settings have it; no connection is made yet."""
    engine = sa.create_engine(
        url,
        pool_size=server.pool_size,
        max_overflow=server.pool_overflow,
        pool_timeout=server.pool_timeout_s,
        pool_use_lifo=True,  # what is not needed stays unused, and the server may drop it
        connect_args=connect_arguments(url, server, server.limits),
    )
    if server.pgbouncer:
        limits = "; ".join(f"SET LOCAL {name} = {ms}" for name, ms in server.limits.items())

        @sa.event.listens_for(engine, "begin")
        def limit(connection: sa.Connection) -> None:
            if connection.get_isolation_level() != "AUTOCOMMIT":
                connection.exec_driver_sql(limits)

    return engine


def own_connection(url: sa.URL, server: Server) -> Any:
    """Return a psycopg connection beside the pool, in autocommit; the caller closes it.

    A statement may take as long as it does, but waits for nobody's lock for longer than `timeout_s`; behind PgBouncer
    what the database says holds. Nothing that is written over it has to outlive the server.
    """
    import psycopg

    _, arguments = sa.create_engine(url).dialect.create_connect_args(url)
    session = {**server.limits, "statement_timeout": 0, "synchronous_commit": "off"}
    own = connect_arguments(url, server, session)
    return psycopg.connect(autocommit=True, **{**arguments, **own})


class Pools:
    """The engines of this process: stores of one database, with the same settings, share one."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._shared: dict[tuple[str, Server], tuple[sa.Engine, int]] = {}

    def take(self, url: sa.URL, server: Server) -> tuple[sa.Engine, Callable[[], None]]:
        """Return the engine of a database, and what gives it back; the last one to do so ends its connections."""
        key = (url.render_as_string(hide_password=False), server)
        with self._guard:
            engine, users = self._shared.get(key) or (make_engine(url, server), 0)
            self._shared[key] = (engine, users + 1)
        left = [key]

        def give_back() -> None:
            with self._guard:
                if not left:
                    return
                engine, users = self._shared[left.pop()]
                if users > 1:
                    self._shared[key] = (engine, users - 1)
                    return
                del self._shared[key]
            # A thread may be in the middle of a call: its connection is closed when it comes back.
            sa.event.listen(engine, "checkin", lambda connection, _: connection and connection.close())
            engine.dispose()

        return engine, give_back


POOLS = Pools()
"""One pool for each database in this process."""
