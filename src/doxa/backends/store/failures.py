"""Errors of databases -> errors of ours that say what to do."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from doxa.backends.store.cipher import errors_of_files
from doxa.core.errors import (
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

MIN_FREE_BYTES = 64 * 1024
ROLLED_BACK = ("40001", "40P01")
"""Postgres gave up one of two transactions that were in each other's way; it can be sent again."""
TOO_LARGE = "54000"
"""A value goes beyond what an index or a row has room for."""
GONE = ("57P01", "57P02", "57P03", "57P05", "08000", "08001", "08003", "08004", "08006", "53300")
"""The server shuts down, starts, drops idle connections, cannot be reached, or has too many connections."""
DAMAGE = (
    "not a database",
    "malformed",
    "could not decode to utf-8",
    "no such table",
    "no such column",
    "too big",
    "unsupported file format",
)
"""In what SQLite says of a file of ours that is not as we have written it."""
UNREADABLE = (ValueError, TypeError, OverflowError, RecursionError)
"""What a value of the wrong kind raises where it is read."""
REFUSED = ("authentication failed", "does not exist", "pg_hba.conf", "startup parameter")
"""In what a server says that will say the same the next time."""


@contextmanager
def mapped_errors(where: str) -> Iterator[None]:
    """Turn every database error inside the block into a `StoreError` that says what to do."""
    try:
        yield
    except errors_of_files(DBAPIError, *errors_of_server()) as exc:
        raise mapped(exc, where) from exc
    except MemoryError as exc:  # what SQLite says of a length that is none
        raise damaged(where, "a part of it, which says that it is longer than there is memory for,") from exc
    except UnicodeDecodeError as exc:  # SQLite quotes what is there in what it says of it
        raise damaged(where, "a name in it, which is no text,") from exc
    except PoolTimeoutError as exc:
        raise StoreLockedError(
            f"All connections of this process to {where} are in use; nothing was written. Try again, or raise the "
            "settings store.pool_size, store.pool_overflow or store.pool_timeout_s."
        ) from exc
    except SQLAlchemyError as exc:
        raise StoreError(f"The database {where} failed: {exc}") from exc


def errors_of_server() -> tuple[type[Exception], ...]:
    """Return the errors of the driver of Postgres, if it was loaded: what connections beside the pool raise."""
    loaded = sys.modules.get("psycopg")
    return () if loaded is None else (loaded.Error,)


def damaged(where: str, what: str) -> StoreDamagedError:
    """Return the error that says that something is not what was written."""
    where = where.removeprefix("file:")
    return StoreDamagedError(
        f"The memory {where} is damaged: {what} is not what was written. Nothing was changed. See what is touched with "
        f"`doxa check-file {where}`; what can be mended is mended with --mend.",
        what=what,
    )


@contextmanager
def readable(where: str, what: str) -> Iterator[None]:
    """Turn what a value of the wrong kind, in a row without a digest, raises inside the block into damage."""
    try:
        yield
    except UNREADABLE as exc:
        raise damaged(where, what) from exc


def mapped(exc: BaseException, where: str) -> StoreError:
    """Return the error of ours for one of a driver."""
    orig = getattr(exc, "orig", None) or exc
    if isinstance(orig, errors_of_files()):
        return _of_sqlite(str(orig), where)
    return _of_postgres(exc, where, state(exc), " ".join(str(orig).split()))


def state(exc: BaseException | None) -> str | None:
    """Return the SQLSTATE of an error of Postgres; None where it has none."""
    found = getattr(getattr(exc, "orig", None) or exc, "sqlstate", None)
    return found if isinstance(found, str) else None


def is_of_values(exc: BaseException) -> bool:
    """Tell whether an error says that Postgres cannot hold a value; it will say so of the same one again."""
    loaded = sys.modules.get("psycopg")
    orig = getattr(exc, "orig", None) or exc
    return loaded is not None and (isinstance(orig, loaded.DataError) or state(exc) == TOO_LARGE)


def is_lost(exc: BaseException) -> bool:
    """Tell whether an error says that the connection is gone, or could not be made."""
    if not isinstance(exc, DBAPIError):
        return False
    if exc.connection_invalidated or state(exc) in GONE:
        return True
    return isinstance(exc, OperationalError) and state(exc) is None and not _is_refusal(str(exc.orig))


def _is_refusal(message: str) -> bool:
    return any(part in message for part in REFUSED)


def _of_postgres(exc: BaseException, where: str, code: str | None, message: str) -> StoreError:
    if code == "25P03":
        return StoreLockedError(
            f"Postgres ended a transaction on {where} that did nothing for longer than store.idle_s; nothing was "
            "written. Try again, or raise the setting."
        )
    if is_lost(exc):
        return StoreUnavailableError(
            f"The database server of {where} does not answer ({message}); nothing of this call was written. See "
            "whether it runs and has connections left, and try again."
        )
    if code == "57014":
        return StoreLockedError(
            f"A statement on {where} took longer than the setting store.statement_s, and was broken off; nothing was "
            "written. Try again with less at once, or raise the setting."
        )
    if code == "55P03":
        return StoreLockedError(
            f"Somebody else has held what this call needs of {where} for longer than the setting store.timeout_s; "
            "nothing was written. Try again, or raise the setting."
        )
    if code in ROLLED_BACK:
        return StoreLockedError(
            f"Another transaction on {where} was in the way of this one ({message}); nothing was written. Try again."
        )
    if code == "53100":
        return StoreFullError(f"No room is left for {where} on its server ({message}). Nothing of this was written.")
    if code in ("25006", "42501"):
        return StoreReadOnlyError(
            f"The database {where} cannot be written ({message}). Give the address of the primary server, and a role "
            "that owns the tables of Doxa."
        )
    if "startup parameter" in message:
        return StoreError(
            f"What is between this process and {where} refuses time-outs ({message}). Where it is PgBouncer, set "
            "store.pgbouncer (DOXA_STORE_PGBOUNCER=true)."
        )
    return StoreError(f"The database {where} failed: {message}")


def _of_sqlite(message: str, where: str) -> StoreError:
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
        return _of_sqlite("database or disk is full", where)
    if any(sign in low for sign in DAMAGE):
        return damaged(where, f"a part of it ({message})")
    if "disk i/o" in low:
        return StoreError(
            f"The disk under the memory {where} failed ({message}); nothing of this was written. Try again; where it "
            f"goes on, see what is touched with `doxa check-file {where}`."
        )
    return StoreError(f"The database {where} failed: {message}")


def _disk_is_full(where: str) -> bool:
    """Tell whether too little room is left for one page and its journal; SQLite calls that an I/O error at times."""
    try:
        return shutil.disk_usage(Path(where).parent).free < MIN_FREE_BYTES
    except OSError:
        return False
