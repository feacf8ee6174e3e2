"""What is encoded of every turn, in a byte a number, and the places of a memory that are nearest to a query.

A place has a row for its whole text and, when it says several things, one for each of its passages: one sentence of a
long turn is then as near to a query as if it stood alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["VectorMatrix", "from_bytes", "to_bytes"]

BLOCK = 4096
"""Rows of a full block (1.5 MB at 384 dimensions), which is never moved again."""
FIRST = 64
"""Rows of a new block; it doubles until it is full, so a small memory costs little and a large one has little slack."""
GROWTH = 1.25
"""Room is made for a quarter more codes at a time."""
STEPS = 127
"""A number of a row is one of -127 to 127 steps; the step is the row's own."""
STRIDE = 32
"""Every 32nd code tells how near the nearest ones are."""
NEVER = 65535
"""Farther than anything."""
SAMPLED = 16384
"""From so many codes on it is asked of a sample; below, of all."""

Places = NDArray[np.integer[Any]]


def to_bytes(vector: NDArray[np.float32]) -> bytes:
    """Return vectors, one after the other, as little-endian float16: cosines change by less than 0.001."""
    return vector.astype("<f2").tobytes()


def from_bytes(data: bytes) -> NDArray[np.float32]:
    """Return the numbers of `to_bytes`, without the shape."""
    return np.frombuffer(data, dtype="<f2").astype(np.float32)


class VectorMatrix:
    """Rows of unit length by place; a row takes `dims + dims / 8 + 4` bytes and is off by half a step at most.

    Two stages find what is near: the signs of all rows are compared with those of the query (a bit a dimension), and
    the nearest by sign are compared in full. On 55,000 sentences of dialogue, the 512 nearest by sign hold 99.9% of the
    ten rows that a search in full finds. Source: Charikar 2002, "Similarity estimation techniques from rounding
    algorithms" (with the encoder's own axes in place of random ones, which did no better).
    """

    def __init__(self, dims: int) -> None:
        self._dims = dims
        self._words = -(-dims // 64)
        self._blocks: list[NDArray[np.int8]] = []
        self._steps = np.zeros(FIRST, dtype=np.float32)
        self._codes = np.zeros((self._words, FIRST), dtype=np.uint64)
        self._first = np.zeros(FIRST, dtype=np.int32)
        self._size = 0
        self._places = 0
        self.read = 0
        """Rows that were compared in full since it was made: what a search costs."""

    def __len__(self) -> int:
        return self._places

    def add(self, vectors: NDArray[np.float32]) -> int:
        """Append a place with its rows, `(dims,)` or `(r, dims)` or the same flat, the whole first, and return it.

        Amortised cost O(r dims).
        """
        rows = np.asarray(vectors, dtype=np.float32).reshape(-1, self._dims)
        if self._places + 1 == len(self._first):
            self._first = _grown(self._first)
        for row in rows:
            self._append(row)
        self._places += 1
        self._first[self._places] = self._size
        return self._places - 1

    def _append(self, row: NDArray[np.float32]) -> None:
        number, inside = divmod(self._size, BLOCK)
        if number == len(self._blocks):
            self._blocks.append(np.zeros((FIRST, self._dims), dtype=np.int8))
        elif inside == len(self._blocks[number]):
            self._blocks[number] = np.concatenate([self._blocks[number], np.zeros_like(self._blocks[number])])
        if self._size == len(self._steps):
            self._steps, self._codes = _grown(self._steps), _grown(self._codes)
        step = float(np.abs(row).max()) / STEPS
        self._blocks[number][inside] = np.rint(row / step) if step else 0
        self._steps[self._size] = step
        self._codes[:, self._size] = self._code(row)
        self._size += 1

    def _code(self, row: NDArray[np.float32]) -> NDArray[np.uint64]:
        bits = np.zeros(self._words * 64, dtype=np.bool_)
        bits[: self._dims] = row > 0
        return np.packbits(bits).view(np.uint64)

    def nearest(
        self, query: NDArray[np.float32], count: int, *, searched: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return places that are near to a unit query, each once, and the cosine of the best row of each.

        Args:
            query: `(dims,) float32`.
            count: how many rows are compared in full; about as many places at most are returned, in order of place.
            searched: by place, False for one that is not wanted, `(n,) bool`; None wants all.

        Not exact: a near row may be missing when its signs are not. Cost O(n) on a bit a number, O(count dims) in full.
        """
        far = self._distances(query)
        rows = self._nearest_rows(far, count)
        places = self._places_of(rows)
        if searched is not None:
            kept = searched[places]
            if 2 * kept.sum() < len(rows) < self._size:  # too few are left: look again without the others
                counts = np.diff(self._first[: self._places + 1])
                far[np.repeat(~searched, counts)] = NEVER
                rows = self._nearest_rows(far, count)
                places = self._places_of(rows)
                kept = searched[places]
            rows, places = rows[kept], places[kept]
        if not len(rows):
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        return places[starts], np.maximum.reduceat(self._dot(rows, query), starts)

    def _places_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.asarray(np.searchsorted(self._first[: self._places + 1], rows, side="right") - 1, dtype=np.intp)

    def _distances(self, query: NDArray[np.float32]) -> NDArray[np.uint16]:
        """Return in how many signs every row differs from a query, `(rows,)`. Cost O(rows dims / 64)."""
        far = np.zeros(self._size, dtype=np.uint16)
        differ, ones = np.empty(self._size, dtype=np.uint64), np.empty(self._size, dtype=np.uint8)
        for codes, word in zip(self._codes, self._code(query), strict=True):
            np.bitwise_xor(codes[: self._size], word, out=differ)
            np.bitwise_count(differ, out=ones)
            far += ones
        return far

    def _nearest_rows(self, far: NDArray[np.uint16], count: int) -> NDArray[np.intp]:
        """Return the `count` rows that are least far, in order; all that tie with the last are among them."""
        if len(far) <= count:
            return np.arange(len(far))
        if len(far) >= SAMPLED:  # a limit from a sample leaves few to be sorted
            nth = 2 * count // STRIDE
            rows = np.flatnonzero(far <= np.partition(far[::STRIDE], nth)[nth])
            if len(rows) >= count:
                return np.compress(far[rows] <= np.partition(far[rows], count - 1)[count - 1], rows)
        return np.flatnonzero(far <= np.partition(far, count - 1)[count - 1])

    def at(self, places: Places, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of the whole text of some places, `(k,) float32`; 0 for one below 0. Cost O(k dims)."""
        scores = np.zeros(len(places), dtype=np.float32)
        there = np.flatnonzero(places >= 0)
        scores[there] = self._dot(self._first[places[there]], query)
        return scores

    def best_at(self, places: Places, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of the nearest row of every place, the whole text included, `(k,) float32`."""
        if not len(places):
            return np.empty(0, dtype=np.float32)
        first, counts = self._first[places], self._first[places + 1] - self._first[places]
        starts = np.cumsum(counts) - counts
        rows = np.repeat(first - starts, counts) + np.arange(counts.sum())
        best: NDArray[np.float32] = np.maximum.reduceat(self._dot(rows, query), starts)
        return best

    def _dot(self, rows: NDArray[np.integer[Any]], query: NDArray[np.float32]) -> NDArray[np.float32]:
        self.read += len(rows)
        scores = np.zeros(len(rows), dtype=np.float32)
        numbers = rows // BLOCK
        for number in np.unique(numbers):
            inside = np.flatnonzero(numbers == number)
            scores[inside] = self._blocks[number][rows[inside] % BLOCK].astype(np.float32) @ query
        scores *= self._steps[rows]
        return scores

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of the whole text of every place with a unit query, `(n,) float32`. Cost O(n dims)."""
        return self.at(np.arange(self._places), query)

    def row(self, place: int) -> NDArray[np.float32]:
        """Return the vector of the whole text of a place, `(dims,) float32`."""
        number, inside = divmod(int(self._first[place]), BLOCK)
        row: NDArray[np.float32] = self._blocks[number][inside].astype(np.float32) * self._steps[self._first[place]]
        return row

    def rows_of(self, place: int) -> NDArray[np.float32]:
        """Return the rows of a place, the whole text first, `(r, dims)`."""
        rows = np.arange(self._first[place], self._first[place + 1])
        found = np.stack([self._blocks[row // BLOCK][row % BLOCK] for row in rows.tolist()])
        return found.astype(np.float32) * self._steps[rows, None]

    def rows(self) -> NDArray[np.float32]:
        """Return all rows, `(rows, dims)`, those of one place after those of the one before."""
        empty = np.zeros((0, self._dims), dtype=np.int8)
        rows = np.concatenate([empty, *self._blocks])[: self._size]
        return rows.astype(np.float32) * self._steps[: self._size, None]


def _grown(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with room for a quarter more on its last axis."""
    room = np.zeros((*array.shape[:-1], int(array.shape[-1] * GROWTH) + 1), dtype=array.dtype)
    room[..., : array.shape[-1]] = array
    return room
