"""What became of a database that was copied into another one, or written anew under another key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Migration", "Moved", "Rekeyed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What became of one log with all that is kept beside it, of the API keys, or of the mark of what was erased.

    `copied` was written and read back; `same` was there already, byte for byte; `differs` means that the target holds
    something else, which was left as it is; `missing` that it holds nothing (only where nothing is copied); `refused`
    that it cannot hold it, for a `reason`, and holds nothing of it.
    """

    what: Literal["log", "keys", "erasures"]
    scope: str = ""
    state: Literal["copied", "same", "differs", "missing", "refused"]
    rows: int
    digest: str = ""
    """Of the rows in the source, in a fixed order, whatever the database: `v1:` and a SHA-256."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """What became of all of it."""

    moved: tuple[Moved, ...]
    rows: int
    """How many rows were compared or copied."""
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether the target holds all of the source."""
        return all(one.state in ("copied", "same") for one in self.moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rekeyed:
    """What became of a file that got another key, or lost its key."""

    path: str
    was_encrypted: bool
    encrypted: bool
    rows: int
    """How many rows were written anew and compared."""
    files: int
    """How many files beside it were carried over."""
    untouched: tuple[str, ...] = ()
    """What else lies beside it under its name, and is as it was: copies that may not be encrypted."""
