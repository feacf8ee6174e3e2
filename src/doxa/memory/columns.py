"""What search asks of every indexed turn at once: its session and neighbours there, its speaker, role and time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Turn
from doxa.memory.paged import Pack, PackWriter, Table

__all__ = ["Columns", "grown", "microseconds", "moment"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
GROWTH = 1.25
"""Room is made for a quarter more at a time."""
NAMES_AND_TYPES = {"session": "i4", "before": "i4", "after": "i4", "speaker": "i4", "role": "i1", "at": "i8"}
ROLES = ("user", "assistant", "system", "tool")


def microseconds(at: datetime) -> int:
    """Return a moment as whole microseconds since 1970 in UTC; a naive one is taken as UTC."""
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - EPOCH) // timedelta(microseconds=1)


def moment(at: int) -> datetime:
    """Return the moment of so many microseconds since 1970 in UTC."""
    return EPOCH + timedelta(microseconds=at)


class Columns:
    """One row a place, in columns that grow together. Adding costs amortised O(1); about 25 bytes a turn.

    Neighbours are kept as links, not as the rows next to it, because sessions may be interleaved.
    """

    def __init__(self) -> None:
        self._columns = {name: np.zeros(16, dtype=kind) for name, kind in NAMES_AND_TYPES.items()}
        self._size = 0
        self._last: Table[int] = Table()
        """The latest place of every session."""
        self.speakers: dict[str, int] = {}
        """Speaker -> number in the column `speaker`, in order of appearance."""

    def __len__(self) -> int:
        return self._size

    def add(self, turn: Turn) -> int:
        """Append the row of a turn, link it to the turn before it in its session, and return its place."""
        if self._size == len(self._columns["at"]):
            self._columns = {name: grown(column, self._size + 1) for name, column in self._columns.items()}
        place, before = self._size, self._last.get(turn.session, -1)
        row = {
            "session": self._columns["session"][before] if before >= 0 else len(self._last),
            "before": before,
            "after": -1,
            "speaker": self.speakers.setdefault(turn.speaker, len(self.speakers)),
            "role": ROLES.index(turn.role),
            "at": microseconds(turn.at),
        }
        for name, value in row.items():
            self._columns[name][place] = value
        if before >= 0:
            self._columns["after"][before] = place
        self._last[turn.session] = place
        self._size += 1
        return place

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        for column, values in self._columns.items():
            writer.array(f"{name}.{column}", values[: self._size])
        self._last.save(writer, f"{name}.last")
        writer.value(f"{name}.speakers", self.speakers)

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here; they stay there until a row is added."""
        self._columns = {column: pack.array(f"{name}.{column}") for column in NAMES_AND_TYPES}
        self._size = len(self._columns["at"])
        self._last.load(pack, f"{name}.last")
        self.speakers = pack.value(f"{name}.speakers")

    @property
    def session(self) -> NDArray[np.int32]:
        """Number of the session, in the order in which they began, `(n,) int32`."""
        return self._columns["session"][: self._size]

    @property
    def before(self) -> NDArray[np.int32]:
        """Place of the turn before in the same session, -1 where there is none, `(n,) int32`."""
        return self._columns["before"][: self._size]

    @property
    def after(self) -> NDArray[np.int32]:
        """Place of the turn after in the same session, -1 where there is none, `(n,) int32`."""
        return self._columns["after"][: self._size]

    @property
    def speaker(self) -> NDArray[np.int32]:
        """Number of the speaker, `(n,) int32`."""
        return self._columns["speaker"][: self._size]

    @property
    def at(self) -> NDArray[np.int64]:
        """Microseconds since 1970 in UTC, `(n,) int64`."""
        return self._columns["at"][: self._size]

    def said_by(self, role: str, places: NDArray[np.integer[Any]] | None = None) -> NDArray[np.bool_]:
        """Tell for every place, or for some, whether a speaker of this role said it, `(k,) bool`. Cost O(k)."""
        roles = self._columns["role"][: self._size] if places is None else self._columns["role"][places]
        return np.asarray(roles == ROLES.index(role))


def grown(array: NDArray[Any], least: int) -> NDArray[Any]:
    """Return a copy of an array with room for a quarter more on its last axis, and for `least` in all."""
    room = np.zeros((*array.shape[:-1], max(int(array.shape[-1] * GROWTH) + 16, least)), dtype=array.dtype)
    room[..., : array.shape[-1]] = array
    return room
