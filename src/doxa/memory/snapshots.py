"""The fold of a user's log as a file, so that a memory opens without reading its log from the beginning.

A snapshot is no truth: it is made from the log, holds nothing else, and is thrown away when the code that folds, the
encoder or the ontology is another one, when the log was rewritten since, or when a byte of it is not what was written.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec

from doxa.backends.store import Row
from doxa.core.errors import PackError, StoreReadOnlyError
from doxa.core.private import private_folder
from doxa.core.sealing import Seal
from doxa.memory.columns import microseconds
from doxa.memory.files import drop_unfinished
from doxa.memory.paged import Pack, write_pack
from doxa.memory.state import UserState

__all__ = ["Snapshots", "digest_of"]

FORMAT = 1
FOLDING = ("core", "language", "memory", "logic", "recall")
"""The packages that a fold and what recall keeps beside it are made by."""
READ = (".py", ".toml", ".ttl")
SUFFIX = ".fold"

logger = logging.getLogger("doxa")


class Snapshots:
    """The snapshots of one database, each a file of its own in a folder. Safe between threads and processes.

    Args:
        folder: where they are; it is made when it is needed.
        of: what they must have been made with: the names of encoder, ontology and policy.
        seal: what encrypts them; one that is not encrypted is not used then.
    """

    def __init__(self, folder: Path, of: Mapping[str, str], seal: Seal | None = None) -> None:
        self._folder = folder
        self._of = dict(of)
        self._seal = seal

    def open(self, scope: str) -> Pack | None:
        """Return the snapshot of a scope; None where there is none that can be used. One that is damaged is removed."""
        try:
            pack = Pack.open(self._path(scope), self._seal)
        except FileNotFoundError:
            return None
        except (OSError, PackError) as exc:
            logger.warning("The snapshot of a memory cannot be used, its log is read instead: %s", exc)
            if isinstance(exc, PackError):  # nobody reads it any more, and it may hold what is erased by now
                self.drop(scope)
            return None
        return pack if self._about(scope).items() <= pack.about.items() else None

    def write(self, scope: str, state: UserState, *, last: bytes) -> bool:
        """Write the snapshot of a state; False where the folder cannot be written. Cost O(its bytes).

        Args:
            scope: whose log it is the fold of.
            state: the state.
            last: the digest of the last row in it, by which the log is known again.
        """
        path = self._path(scope)
        about = {**self._about(scope), "ordinal": state.ordinal, "last": last}
        try:
            private_folder(path.parent)
            with write_pack(path, about, self._seal) as writer:
                state.save(writer)
        except (OSError, StoreReadOnlyError) as exc:
            logger.warning("No snapshot of a memory was written, it will be read from its log: %s", exc)
            return False
        return True

    def drop(self, scope: str) -> None:
        """Remove the snapshot of a scope, since what it holds is to be gone."""
        path = self._path(scope)
        path.unlink(missing_ok=True)
        drop_unfinished(path)

    def _path(self, scope: str) -> Path:
        name = blake2b(scope.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return self._folder / name[:2] / f"{name[2:]}{SUFFIX}"

    def _about(self, scope: str) -> dict[str, Any]:
        return {"format": FORMAT, "scope": scope, "folded_by": folding(), **self._of}


def digest_of(row: Row) -> bytes:
    """Return a digest of a row of a log."""
    told = (row.ordinal, row.kind, row.turn_id, row.about, microseconds(row.known_at), row.body)
    return blake2b(msgspec.msgpack.encode(told), digest_size=16).digest()


@cache
def folding() -> str:
    """Return a digest of the code that folds; another version of Doxa reads the log anew. Cost: some milliseconds."""
    found = blake2b(version("doxa").encode(), digest_size=16)
    for package in FOLDING:
        for path, data in _sources(files("doxa").joinpath(package), package):
            found.update(f"{path} {len(data)} ".encode() + data)
    return found.hexdigest()


def _sources(folder: Traversable, path: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _sources(entry, f"{path}/{entry.name}")
        elif entry.name.endswith(READ):
            found.append((f"{path}/{entry.name}", entry.read_bytes()))
    return found
