"""The places of a memory in the order in which they were said, so that a stretch of days is found without a scan."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doxa.memory import Columns, Pack, PackWriter, UserState

__all__ = ["Timeline"]


class Timeline:
    """Places by their time. It holds nothing as long as turns come in the order in which they were said."""

    def __init__(self) -> None:
        self._columns = Columns()
        """Those of the memory."""
        self._size = 0
        self._places: NDArray[np.int32] | None = None
        """The places in order, where that is not the order in which they came."""
        self._at = np.zeros(0, dtype=np.int64)

    def sync(self, state: UserState) -> None:
        """Take in the places that came since. Cost O(what is new), and a copy of all when some came late."""
        self._columns = state.columns
        size = len(state.places)
        if size == self._size:
            return
        at = state.columns.at[self._size : size]
        before = self._at if self._places is not None else state.columns.at[max(self._size - 1, 0) : self._size]
        if np.any(np.diff(np.concatenate([before[-1:], at])) < 0) and self._places is None:
            self._places, self._at = np.arange(self._size, dtype=np.int32), state.columns.at[: self._size].copy()
        if self._places is not None:
            order = np.argsort(at, kind="stable")
            where = np.searchsorted(self._at, at[order], side="right")
            self._places = np.insert(self._places, where, (order + self._size).astype(np.int32))
            self._at = np.insert(self._at, where, at[order])
        self._size = size

    def between(self, first: int, last: int, most: int) -> NDArray[np.intp]:
        """Return the places said from `first` to `last`, both in microseconds and included, the latest `most` of them.

        Cost O(log n + most).
        """
        at = self._columns.at[: self._size] if self._places is None else self._at
        start, stop = np.searchsorted(at, [first, last + 1])
        start = max(start, stop - most)
        if self._places is None:
            return np.arange(start, stop)
        return self._places[start:stop].astype(np.intp)

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it."""
        writer.value(f"{name}.size", self._size)
        if self._places is not None:
            writer.array(f"{name}.places", self._places)
            writer.array(f"{name}.at", self._at)

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of all that is here."""
        self._size = pack.value(f"{name}.size")
        self._places = pack.array(f"{name}.places") if f"{name}.places" in pack else None
        self._at = pack.array(f"{name}.at") if self._places is not None else np.zeros(0, dtype=np.int64)
