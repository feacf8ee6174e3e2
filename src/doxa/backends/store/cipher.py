"""Encrypted SQLite files: how a connection gets its key, and what their pages hold without SQLite.

The format is that of SQLCipher 4 as it comes (https://www.zetetic.net/sqlcipher/design/), so that its tools open a file
by the same key. The file begins with its salt. Each page of 4096 bytes is AES-256-CBC, with 80 bytes at its end: the
vector (16), and HMAC-SHA512 over what is encrypted, the vector and the number of the page.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from doxa.core.errors import MissingDependencyError
from doxa.core.sealing import EXTRA, PURPOSE, SALT, MemoryKey, require_cryptography

__all__ = [
    "MAGIC",
    "PAGE",
    "RESERVED",
    "PageCipher",
    "begin_encrypted",
    "driver",
    "errors_of_files",
    "is_spoilt",
    "keyed",
    "looking",
    "salt_of",
    "seems_encrypted",
    "unlock",
]

MAGIC = b"SQLite format 3\x00"
PAGE, RESERVED = 4096, 80
VECTOR, TAG = 16, 64
ROUNDS, MASK = 2, 0x3A
"""How the key of the HMAC is derived of the page's key, over the salt with each byte masked."""
BEGIN_MS = 10_000
NO_DATABASE = "not a database"
SPOILT = (NO_DATABASE, "malformed")
"""In what SQLCipher says of a page that is not what was written under the key."""
SAMPLED = 32
VARIED = 240
"""Different bytes, at least, in a page that looks like chance: there all 256 are expected, in one of text some 100."""


def driver(key: MemoryKey | None) -> ModuleType:
    """Return the module that opens files.

    Raises:
        MissingDependencyError: there is a key, and the extra `encrypted` is not installed.
    """
    if key is None:
        return sqlite3
    try:
        import sqlcipher3.dbapi2
    except ImportError as exc:
        raise MissingDependencyError("sqlcipher3", extra=EXTRA, purpose=PURPOSE) from exc
    found: ModuleType = sqlcipher3.dbapi2
    return found


def errors_of_files(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """Return the errors of every driver of files that was loaded, and others that are caught with them."""
    loaded = sys.modules.get("sqlcipher3.dbapi2")
    return (sqlite3.Error, *others) if loaded is None else (sqlite3.Error, loaded.Error, *others)


def salt_of(path: Path, key: MemoryKey) -> bytes | None:
    """Return the salt that an encrypted file begins with; None for one that is not there, empty, or not to be read.

    SQLite reads it: whoever else closes a file ends the locks of this process on it (see `files`).
    """
    if not path.exists() or not path.stat().st_size:
        return None
    with closing(driver(key).connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
        connection.execute(f"PRAGMA key = \"x'{bytes(32).hex()}'\"")  # it is the same whatever the key
        found = connection.execute("PRAGMA cipher_salt").fetchone()
    return bytes.fromhex(found[0]) if found else None


def unlock(connection: Any, key: MemoryKey, salt: bytes) -> None:
    """Give a new connection its key, before anything else."""
    connection.execute("PRAGMA cipher_log_level = NONE")  # else it writes to standard error by itself
    connection.execute(f"PRAGMA key = \"x'{key.bits(salt).hex()}{salt.hex()}'\"")
    connection.execute("PRAGMA cipher_compatibility = 4")


@contextmanager
def looking(path: Path, key: MemoryKey | None, *, alone: bool) -> Iterator[Any]:
    """Give a connection that only reads a file; with `alone`, without a look at whether others write it."""
    uri = f"file:{quote(str(path))}?mode=ro{'&immutable=1' if alone else ''}"
    with closing(driver(key).connect(uri, uri=True)) as connection:
        if key is not None:
            unlock(connection, key, salt_of(path, key) or bytes(SALT))
        yield connection


def keyed(url: sa.URL, path: Path, key: MemoryKey) -> sa.Engine:
    """Return an engine on an encrypted file, whose connections begin with the key; its option `salt` is the file's."""
    salt = salt_of(path, key) or bytes(SALT)
    engine = sa.create_engine(url, module=driver(key), execution_options={"salt": salt})

    @sa.event.listens_for(engine, "do_connect")
    def connect(_: object, __: object, given: Any, options: Any) -> Any:
        connection = driver(key).connect(*given, **options)
        unlock(connection, key, salt)
        return connection

    @sa.event.listens_for(engine, "handle_error")
    def spoilt(context: sa.engine.ExceptionContext) -> None:
        if is_spoilt(context.original_exception):
            context.is_disconnect = True

    return engine


def is_spoilt(exc: BaseException) -> bool:
    """Tell whether a connection is of no use any more: after one bad page SQLCipher refuses all others on it."""
    return any(sign in str(exc) for sign in SPOILT)


def begin_encrypted(path: Path, key: MemoryKey) -> None:
    """Write the first page of a file that is empty, so that it has a salt: that of whoever is first."""
    while salt_of(path, key) is None:
        with closing(driver(key).connect(str(path), isolation_level=None)) as connection:
            unlock(connection, key, os.urandom(SALT))
            connection.execute(f"PRAGMA busy_timeout = {BEGIN_MS}")
            try:
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("PRAGMA user_version = 0")
                connection.execute("COMMIT")
            except errors_of_files() as exc:
                if NO_DATABASE not in str(exc):  # else somebody was faster
                    raise


def seems_encrypted(path: Path) -> bool:
    """Tell whether no page of a file, of some here and there, looks like anything but chance. Cost: some pages."""
    count = path.stat().st_size // PAGE
    with path.open("rb") as file:
        for number in range(0, count, max(1, count // SAMPLED)):
            file.seek(number * PAGE)
            if len({*file.read(PAGE)}) < VARIED:
                return False
    return count > 0


class PageCipher:
    """What opens the pages of one encrypted file."""

    def __init__(self, bits: bytes, salt: bytes) -> None:
        require_cryptography()
        from cryptography.hazmat.primitives.ciphers.algorithms import AES

        masked = bytes(byte ^ MASK for byte in salt)
        self._hmac_key = hashlib.pbkdf2_hmac("sha512", bits, masked, ROUNDS, 32)
        self._aes = AES(bits)

    @classmethod
    def of(cls, path: Path, key: MemoryKey) -> PageCipher:
        """Return what opens the pages of a file; raises OSError where it cannot be read.

        Nobody else in this process may have it open.
        """
        with path.open("rb") as file:
            salt = file.read(SALT).ljust(SALT, b"\0")
        return cls(key.bits(salt), salt)

    def is_whole(self, number: int, page: bytes) -> bool:
        """Tell whether a page is what was written there under this key."""
        first = SALT if number == 1 else 0
        found = hmac.digest(self._hmac_key, page[first:-TAG] + number.to_bytes(4, "little"), "sha512")
        return len(page) == PAGE and hmac.compare_digest(found, page[-TAG:])

    def opened(self, number: int, page: bytes) -> bytes:
        """Return a page as SQLite has it; what is damaged in it comes out as chance, for 16 bytes and one more."""
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.modes import CBC

        if len(page) < PAGE:
            return page
        first = SALT if number == 1 else 0
        opener = Cipher(self._aes, CBC(page[-RESERVED : VECTOR - RESERVED])).decryptor()
        content = opener.update(page[first:-RESERVED]) + opener.finalize()
        return (MAGIC if first else b"") + content + bytes(RESERVED)

    def fits(self, path: Path) -> bool:
        """Tell whether any page of a file, of some here and there, was written under this key."""
        count = path.stat().st_size // PAGE
        with path.open("rb") as file:
            for at in range(0, count, max(1, count // SAMPLED)):
                file.seek(at * PAGE)
                if self.is_whole(at + 1, file.read(PAGE)):
                    return True
        return False
