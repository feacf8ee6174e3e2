"""A matrix of unit vectors that grows by rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["VectorMatrix", "from_bytes", "to_bytes"]

BLOCK = 4096
"""Rows of a full block (6 MB at 384 dimensions), which is never moved again."""
FIRST = 64
"""Rows of a new block; it doubles until it is full, so a small memory costs little and a large one has little slack."""


def to_bytes(vector: NDArray[np.float32]) -> bytes:
    """Return a vector as little-endian float16: half the room, and cosines change by less than 0.001."""
    return vector.astype("<f2").tobytes()


def from_bytes(data: bytes) -> NDArray[np.float32]:
    """Return the vector of `to_bytes`."""
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


class VectorMatrix:
    """Rows of unit length, `(n, dims) float32`, in blocks; `scores` is their cosine with a query."""

    def __init__(self, dims: int) -> None:
        self._dims = dims
        self._blocks: list[NDArray[np.float32]] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, vector: NDArray[np.float32]) -> int:
        """Append a row `(dims,)` and return its place. Amortised cost O(dims)."""
        number, row = divmod(self._size, BLOCK)
        if number == len(self._blocks):
            self._blocks.append(np.zeros((FIRST, self._dims), dtype=np.float32))
        elif row == len(self._blocks[number]):
            self._blocks[number] = np.concatenate([self._blocks[number], np.zeros_like(self._blocks[number])])
        self._blocks[number][row] = vector
        self._size += 1
        return self._size - 1

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of every row with a unit query, `(n,) float32`. Cost O(n dims)."""
        scores = np.zeros(sum(map(len, self._blocks)), dtype=np.float32)
        for number, block in enumerate(self._blocks):
            np.dot(block, query, out=scores[number * BLOCK : number * BLOCK + len(block)])
        return scores[: self._size]

    def at(self, places: NDArray[np.integer[Any]], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of some rows with a unit query, `(k,) float32`; 0 for a place below 0. Cost O(k dims)."""
        scores = np.zeros(len(places), dtype=np.float32)
        numbers = places // BLOCK  # -1 for a place below 0
        for number, block in enumerate(self._blocks):
            inside = np.flatnonzero(numbers == number)
            if len(inside):
                scores[inside] = block[places[inside] % BLOCK] @ query
        return scores

    def rows(self) -> NDArray[np.float32]:
        """Return a copy of all rows, `(n, dims)`."""
        empty = np.zeros((0, self._dims), dtype=np.float32)
        return np.concatenate([empty, *self._blocks])[: self._size]
