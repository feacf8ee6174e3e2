"""The log, read backwards -> what was done, and whether it stands or was taken back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from doxa.backends.store import Row
from doxa.memory import MemoryLog, UserState

__all__ = ["BY_HAND", "DoneRow", "deeds"]

BY_HAND = ("withdrawn", "distrusted", "retracted", "identified", "accepted")
"""The kinds of rows that say what a person did by hand."""
NEAR, FARTHER = 256, 16
"""Rows that are looked at first, and how many times as many where these do not do."""


@dataclass(frozen=True, slots=True)
class DoneRow:
    """A row that changed what is believed or the tasks."""

    row: Row
    stands: bool
    """False where it was taken back."""


def deeds(log: MemoryLog, user: str, state: UserState, *, most: int | None = None) -> Iterator[DoneRow]:
    """Yield what changed the memory of a user, the latest first; call inside `log.user()`.

    Every `undone` takes back the last change before it that was not taken back yet. Rows behind the state are left out:
    what another process wrote meanwhile is a conflict for whoever writes by what is found here.

    Args:
        log: the logs of all users.
        user: whose.
        state: the state of that log.
        most: how many of the last rows are looked at; None for as many as it takes.

    Cost: reading rows up to the last one that is taken, or a few times that.
    """
    size, back, told = most or NEAR, 0, state.ordinal
    while True:
        start = max(0, state.ordinal - size)
        rows = log.rows_after(user, start)
        for row in reversed(rows):
            if row.ordinal > told:
                continue  # the shorter look had it, or the state has not
            if row.kind == "undone":
                back += 1
            elif _changed(row):
                yield DoneRow(row, not back)
                back = max(0, back - 1)
        if start == 0 or most is not None:
            return
        told, size = start, size * FARTHER


def _changed(row: Row) -> bool:
    """Tell whether a row changed what is believed, or the tasks."""
    if row.kind != "maintained":
        return row.kind in BY_HAND
    return bool(row.body.get("changes") or row.body.get("rules") or row.body.get("tasks", {}).get("edits"))
