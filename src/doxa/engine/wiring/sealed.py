"""A key -> what encrypts the files beside a database, and how those under another key take their places."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from doxa.core.access import without_password
from doxa.core.errors import ConfigError, StoreReadOnlyError
from doxa.core.sealing import MemoryKey, Seal
from doxa.core.storage import MEMORY, database_file
from doxa.engine.wiring.heads import TAUGHT
from doxa.engine.wiring.learned import ENDING, SNAPSHOTS

__all__ = ["BEGUN", "BESIDE", "DATABASE", "DEAD", "STAGED", "finish_rekeying", "overwritten", "require_file", "seal_of"]

STAGED = ".rekeyed"
"""The ending of the folder with the new files, there from when they are whole until they are in their places."""
BEGUN, DEAD = ".rekeying", ".rekeyed.dead"
"""The endings of the folder in which the new files are made, and of one of an exchange that was cut short before it."""
DATABASE = "memory.db"
BESIDE = (ENDING, TAUGHT)
"""The endings of the folders beside a database of which the files are carried over."""
BLOCK = 1 << 20


def require_file(location: str, key: MemoryKey | None) -> None:
    """Refuse a key for what it does not encrypt.

    Raises:
        ConfigError: the database is on a server.
    """
    if key is not None and database_file(location) is None:
        raise ConfigError(
            f"store.key encrypts a file, and {without_password(location)} is on a server. Encrypt the server's disk, "
            "and unset store.key and store.key_file."
        )


def seal_of(key: MemoryKey | None, salt: bytes | None) -> Seal | None:
    """Return what encrypts the files beside a database; None where there is no key."""
    return None if key is None else Seal(key, salt)


def finish_rekeying(location: str) -> None:
    """Put the files beside a database in their places that an exchange of keys left in its folder.

    That folder holds the new database until it takes the place of the old one: where it is in it, nothing was
    exchanged, and nothing is done. Any number of processes may do this at once. Cost: one look at whether there is
    such a folder.

    Raises:
        StoreReadOnlyError: they cannot be written.
    """
    file = database_file(location)
    if file in (None, "", MEMORY):
        return
    folder = Path(f"{file}{STAGED}")
    if not folder.is_dir() or (folder / DATABASE).exists():
        return
    try:
        for ending in BESIDE:
            for new in _files(folder / ending):
                _put(new, Path(f"{file}{ending}") / new.relative_to(folder / ending))
        for old in _files(Path(f"{file}{SNAPSHOTS}")):  # made from the log, and made anew
            with suppress(FileNotFoundError), old.open("r+b") as opened:
                overwritten(opened)
    except OSError as exc:
        raise StoreReadOnlyError(
            f"{file} has a new key, and the files beside it are in {folder} still: {exc.strerror}. See that the folder "
            "can be written, and open the memory again."
        ) from exc
    for gone in (f"{file}{SNAPSHOTS}", folder):
        shutil.rmtree(gone, ignore_errors=True)


def overwritten(file: BinaryIO) -> None:
    """Write zeros over a file that is of no use any more. What a disk does with the old blocks is its own matter."""
    left = file.seek(0, os.SEEK_END)
    file.seek(0)
    while left:
        left -= file.write(bytes(min(left, BLOCK)))
    file.flush()
    os.fsync(file.fileno())


def _files(folder: Path) -> Iterator[Path]:
    return (one for one in folder.rglob("*") if one.is_file())


def _put(new: Path, path: Path) -> None:
    """Put a file in the place of another, which is overwritten."""
    with suppress(FileNotFoundError), path.open("r+b") as old:  # another process may be doing the same
        new.replace(path)
        overwritten(old)
