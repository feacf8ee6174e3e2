"""A memory file that nobody else can use while it is held: nothing is lost where another file takes its place."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from doxa.backends.store.cipher import driver, errors_of_files, salt_of, unlock
from doxa.backends.store.connect import parse_url
from doxa.backends.store.failures import mapped_errors
from doxa.backends.store.files import check_file, in_memory
from doxa.core.access import without_password
from doxa.core.errors import InputError, NotFoundError, StoreError, StoreKeyError, StoreLockedError
from doxa.core.sealing import MemoryKey

__all__ = ["Hold", "open_hold"]

WAIT_MS = 1000


class Hold:
    """A memory file that is locked; this process reads it without a look at locks (`held`)."""

    def __init__(self, connection: Any, salt: bytes | None) -> None:
        self.salt = salt
        """That of an encrypted file; None for one that is not."""
        self._connection = connection

    def close(self) -> None:
        """Let others in again."""
        self._connection.close()


def open_hold(location: str, *, key: MemoryKey | None = None) -> Hold:
    """Return a hold on a memory file, which has no write-ahead log then. One that is not encrypted needs no key.

    Raises:
        InputError: it is no file.
        NotFoundError: there is none.
        StoreKeyError: it is encrypted, and not by this key.
        StoreLockedError: somebody has it open.
        StoreError: it cannot be used.
    """
    url = parse_url(location)
    if url.get_backend_name() != "sqlite" or in_memory(url):
        raise InputError(f"Expected the path of a memory file, got {without_password(location)!r}.")
    path = Path(str(url.database))
    if not path.is_file() or not path.stat().st_size:
        raise NotFoundError(f"There is no memory at {path}.")
    try:
        check_file(path, key)
    except StoreKeyError:
        if key is None:
            raise
        with suppress(StoreError):  # what it is then is said of the key that was given
            check_file(path, None)
            key = None
        if key is not None:
            raise
    salt = salt_of(path, key) if key is not None else None
    connection = driver(key).connect(str(path), isolation_level=None, check_same_thread=False)
    try:
        if key is not None and salt is not None:
            unlock(connection, key, salt)
        _take(connection, path)
    except BaseException:
        connection.close()
        raise
    return Hold(connection, salt)


def _take(connection: Any, path: Path) -> None:
    try:
        connection.execute(f"PRAGMA busy_timeout = {WAIT_MS}")
        # To leave the write-ahead log takes that nobody else has the file open, in this process or another.
        connection.execute("PRAGMA journal_mode = DELETE").close()
        connection.execute("BEGIN EXCLUSIVE")
        # Whoever came in between has begun one again, and that one lets others in.
        with closing(connection.execute("PRAGMA journal_mode")) as cursor:
            (mode,) = cursor.fetchone()
    except errors_of_files() as exc:
        if "locked" not in str(exc):
            with mapped_errors(str(path)):
                raise
        mode = ""
    if mode != "delete":
        raise StoreLockedError(
            f"Somebody has {path} open; it was left as it is. Close every process that uses it (a server, a worker, a "
            "chat), and try again."
        )
