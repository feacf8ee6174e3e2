"""The settings of the database: where it is slow, crowded or far away."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr

from doxa.core.errors import ConfigError
from doxa.core.roles import Group
from doxa.core.sealing import MemoryKey, read_key

__all__ = ["MEMORY", "StoreConfig", "database_file"]

MEMORY = ":memory:"
"""The address of a database that lives and dies with its process."""
FILES = ("sqlite+pysqlite:///", "sqlite:///", "sqlite:")
"""What the address of a file may begin with."""


def database_file(location: str) -> str | None:
    """Return the file that a database is; `:memory:` or nothing for one in memory, None for one on a server."""
    scheme, colon, rest = location.partition("://")
    location = f"{scheme.lower()}{colon}{rest}" if colon else location
    begins = next((one for one in FILES if location.startswith(one)), None)
    if begins is not None:
        return location.removeprefix(begins)
    return None if "://" in location else location


class StoreConfig(Group):
    """Where the memory is kept, how safe a write is, and whether it is encrypted."""

    key: SecretStr | None = Field(
        None,
        description="Key by which an SQLite file and the files beside it are encrypted (extra `encrypted`): a "
        "passphrase, or `x'...'` with 64 hexadecimal digits. `doxa rekey` encrypts a file that is there.",
    )
    key_file: Path | None = Field(
        None, description="File that holds the key, which nobody else may read, as an alternative to `key`."
    )
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

    def secret(self) -> MemoryKey | None:
        """Return the key of the memory, from the setting or its file; None where it is not encrypted.

        Raises:
            ConfigError: both are given, the file cannot be read, or it holds no key.
        """
        if self.key is not None and self.key_file is not None:
            raise ConfigError("Expected store.key or store.key_file, got both. Unset one of them.")
        if self.key is not None:
            return MemoryKey(self.key.get_secret_value())
        return None if self.key_file is None else read_key(self.key_file)

    def options(self) -> dict[str, Any]:
        """Return what the factory of a store is given; raises as `secret`."""
        return {**self.model_dump(exclude={"key", "key_file"}), "key": self.secret()}
