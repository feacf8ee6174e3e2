"""The places of a memory in the order in which they were said, so that a stretch of days is found without a scan."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from doxa.memory import UserState

__all__ = ["Timeline"]


@dataclass(slots=True)
class Timeline:
    """Places by their time. Turns that come in order are appended; one that comes late has all sorted anew."""

    _places: NDArray[np.int32] = field(default_factory=lambda: np.zeros(64, dtype=np.int32))
    _at: NDArray[np.int64] = field(default_factory=lambda: np.zeros(64, dtype=np.int64))
    _size: int = 0

    def sync(self, state: UserState) -> None:
        """Take in the places that came since. Amortised cost O(what is new), O(n log n) when some came late."""
        size = len(state.places)
        if size == self._size:
            return
        if size > len(self._places):
            room = size // 4 + 64
            self._places = np.concatenate([self._places, np.zeros(room + size - len(self._places), dtype=np.int32)])
            self._at = np.concatenate([self._at, np.zeros(len(self._places) - len(self._at), dtype=np.int64)])
        self._places[self._size : size] = np.arange(self._size, size)
        self._at[self._size : size] = state.columns.at[self._size :]
        if np.any(np.diff(self._at[max(self._size - 1, 0) : size]) < 0):
            order = np.lexsort((self._places[:size], self._at[:size]))
            self._places[:size], self._at[:size] = self._places[order], self._at[order]
        self._size = size

    def between(self, first: int, last: int, most: int) -> NDArray[np.intp]:
        """Return the places said from `first` to `last`, both in microseconds and included, the latest `most` of them.

        Cost O(log n + most).
        """
        start, stop = np.searchsorted(self._at[: self._size], [first, last + 1])
        return self._places[max(start, stop - most) : stop].astype(np.intp)
