"""What is wrong with the file of a memory, and what could be mended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["FileCheck", "LogCheck"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCheck:
    """What is left of the log of a user."""

    tenant: str
    user: str
    turns: int
    """Turns that are as they were written."""
    lost: tuple[str, ...] = ()
    """Ids of turns that are not; `row N` where the id is lost as well."""
    unread: tuple[str, ...] = ()
    """Ids of turns that are whole, and of which is lost how they were understood: mending reads them again."""
    changes: int = 0
    """Other rows that are lost, at least: what was corrected, merged, undone or done to the tasks by hand."""

    disordered: bool = False
    """Whether it was not written down where it ends, or a turn was taken in twice; nothing is lost by that."""

    @property
    def whole(self) -> bool:
        """Whether nothing of it is lost or in disorder."""
        return not (self.lost or self.unread or self.changes or self.disordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCheck:
    """What was found in a file."""

    path: str
    complaints: tuple[str, ...] = ()
    """What SQLite finds wrong with its pages; it does not look into rows."""
    damaged: Mapping[str, int] = field(default_factory=dict)
    """Rows that are there and are not what was written, by table."""
    logs: tuple[LogCheck, ...] = ()
    kept: str = ""
    """Where the damaged file lies now that it was mended; empty where nothing was written."""

    @property
    def sound(self) -> bool:
        """Whether every byte that counts is as it was written."""
        return not self.complaints and not self.damaged and all(log.whole for log in self.logs)
