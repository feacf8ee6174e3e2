"""The settings of the database: where it is slow, crowded or far away."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from doxa.core.roles import Group

__all__ = ["MEMORY", "StoreConfig", "database_file"]

MEMORY = ":memory:"
"""The address of a database that lives and dies with its process."""
FILES = ("sqlite+pysqlite:///", "sqlite:///", "sqlite:")
"""What the address of a file may begin with."""


def database_file(location: str) -> str | None:
    """Return the file that a database is; `:memory:` or nothing for one in memory, None for one on a server."""
    begins = next((one for one in FILES if location.startswith(one)), None)
    if begins is not None:
        return location.removeprefix(begins)
    return None if "://" in location else location


class StoreConfig(Group):
    """Where the memory is kept and how safe a write is."""

    durability: Literal["process", "power"] = Field(
        "process",
        description="What an acknowledged turn survives in an SQLite file: the death of the process, or a power loss "
        "(slower). In Postgres it survives both, unless the server is told otherwise.",
    )
    timeout_s: float = Field(
        30.0,
        gt=0,
        description="Seconds to wait for a database, or in Postgres for the log of one user, that somebody else has "
        "locked.",
    )
    partitions: int = Field(
        16,
        ge=0,
        le=256,
        description="Into how many parts, by user, the tables of a new Postgres database are cut; 0 makes plain "
        "tables, for Citus. What there is already stays as it is.",
    )
    pool_size: int = Field(8, gt=0, description="Connections to Postgres that a process keeps open.")
    pool_overflow: int = Field(8, ge=0, description="Connections beyond these that it opens while all are in use.")
    pool_timeout_s: float = Field(10.0, gt=0, description="Seconds to wait for a connection while all are in use.")
    statement_s: float = Field(60.0, ge=0, description="Seconds that one statement in Postgres may take; 0: no limit.")
    idle_s: float = Field(
        10.0,
        ge=0,
        description="Seconds after which Postgres ends a transaction that does nothing, of a process that is held up: "
        "until then nobody else can write to that user. 0: never.",
    )
    retry_s: float = Field(
        10.0,
        ge=0,
        description="Seconds for which a call is sent again that a lost connection to Postgres broke off, where that "
        "cannot write anything twice.",
    )
    pgbouncer: bool = Field(
        False,
        description="Whether a PgBouncer in transaction mode is in between: time-outs are set in each transaction, and "
        "no statement is prepared.",
    )
    notify: bool = Field(
        True, description="Whether every change is told to the other processes on the same Postgres database."
    )
    listen_url: str | None = Field(
        None,
        description="Address at which such changes are listened for where the database's own is a PgBouncer's.",
    )
