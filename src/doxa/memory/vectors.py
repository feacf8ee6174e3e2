"""A matrix of unit vectors that grows by rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["VectorMatrix", "from_bytes", "to_bytes"]

GROWTH = 1.25
"""Room is made for a quarter more rows at a time: amortised O(1) an append, at most 25% of slack."""


def to_bytes(vector: NDArray[np.float32]) -> bytes:
    """Return a vector as little-endian float16: half the room, and cosines change by less than 0.001."""
    return vector.astype("<f2").tobytes()


def from_bytes(data: bytes) -> NDArray[np.float32]:
    """Return the vector of `to_bytes`."""
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


class VectorMatrix:
    """Rows of unit length, `(n, dims) float32`; `scores` is their cosine with a query."""

    def __init__(self, dims: int) -> None:
        self._rows = np.zeros((16, dims), dtype=np.float32)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, vector: NDArray[np.float32]) -> int:
        """Append a row `(dims,)` and return its place."""
        if self._size == len(self._rows):
            grown = np.zeros((int(self._size * GROWTH) + 16, self._rows.shape[1]), dtype=np.float32)
            grown[: self._size] = self._rows
            self._rows = grown
        self._rows[self._size] = vector
        self._size += 1
        return self._size - 1

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of every row with a unit query, `(n,) float32`. Cost O(n dims)."""
        scores: NDArray[np.float32] = self._rows[: self._size] @ query
        return scores

    def rows(self) -> NDArray[np.float32]:
        """Return a view of all rows, `(n, dims)`."""
        return self._rows[: self._size]
