"""Vectors of unit length in a byte a number, in memory or in place in a pack."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.core.errors import FormatError
from doxa.memory.paged import Pack, PackWriter

__all__ = ["Rows", "from_bytes", "to_bytes"]

FIRST = 64
"""Rows of the first block in memory; each later one holds as many as all before it, and none is ever moved."""
MOST = 1 << 18
"""Rows of a block at most (100 MB at 384 dimensions, of which only what is written is resident)."""
STEPS = 127
"""A number of a row is one of -127 to 127 steps; the step is the row's own."""
STEP = 4
"""Bytes of the step, float32, behind the numbers of a row."""
HEAD = np.dtype([("version", "u1"), ("dims", "<u2")])
VERSION = 1


def to_bytes(vectors: NDArray[np.float32]) -> bytes:
    """Return vectors, `(dims,)` or `(r, dims)`, in a byte a number: cosines change by less than 0.002.

    The length is odd, by which they are told from float16, as they were written before.
    """
    rows = packed(np.atleast_2d(vectors))
    head = np.array((VERSION, vectors.shape[-1]), HEAD).tobytes()
    return head + rows.tobytes() + bytes(rows.size % 2)


def from_bytes(data: bytes) -> NDArray[np.float32]:
    """Return the numbers of `to_bytes`, without the shape; also those of vectors in little-endian float16.

    Raises:
        FormatError: they were written by a later Doxa.
    """
    if len(data) % 2 == 0:
        return np.frombuffer(data, dtype="<f2").astype(np.float32)
    (head,) = np.frombuffer(data[: HEAD.itemsize], HEAD)
    if head["version"] != VERSION:
        raise FormatError(f"expected vectors of version {VERSION}, got {head['version']}: a newer Doxa wrote them")
    width = int(head["dims"]) + STEP
    count = (len(data) - HEAD.itemsize) // width
    return unpacked(np.frombuffer(data, np.int8, count * width, HEAD.itemsize).reshape(count, width)).ravel()


def packed(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Return vectors, `(r, dims)`, as rows of numbers with the step behind them, `(r, dims + STEP)`."""
    dims = vectors.shape[1]
    rows = np.empty((len(vectors), dims + STEP), np.int8)
    steps = (np.abs(vectors).max(axis=1, keepdims=True) / STEPS).astype("<f4")
    np.rint(vectors / np.where(steps > 0, steps, 1), out=rows[:, :dims], casting="unsafe")
    rows[:, dims:] = steps.view(np.int8)
    return rows


def unpacked(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the vectors of rows, `(r, dims)`."""
    return rows[:, :-STEP].astype(np.float32) * steps_of(rows)[:, None]


def steps_of(rows: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the steps of rows, `(r,)`."""
    return np.ascontiguousarray(rows[:, -STEP:]).view("<f4").ravel().astype(np.float32, copy=False)


class Rows:
    """Rows of `dims + 4` bytes each. Appending copies nothing that is there; each is off by half a step at most."""

    def __init__(self, dims: int) -> None:
        self._dims = dims
        self._pack: Pack | None = None
        self._name = ""
        self._blocks: list[NDArray[np.int8]] = []
        self._starts = np.zeros(0, np.int64)
        """The row with which each block begins."""
        self._base = 0
        """How many lie in the pack: the first block, if there are any."""
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, vectors: NDArray[np.float32]) -> None:
        """Append vectors, `(r, dims)`. Cost O(r dims)."""
        rows = packed(vectors)
        while len(rows):
            inside = self._size - int(self._starts[-1]) if len(self._blocks) else 0
            if not self._blocks or inside == len(self._blocks[-1]):
                self._begin()
                inside = 0
            fitting = rows[: len(self._blocks[-1]) - inside]
            self._blocks[-1][inside : inside + len(fitting)] = fitting
            self._size += len(fitting)
            rows = rows[len(fitting) :]

    def _begin(self) -> None:
        room = min(max(self._size - self._base, FIRST), MOST)
        self._blocks.append(np.zeros((room, self._dims + STEP), np.int8))
        self._starts = np.append(self._starts, self._size)

    def dot(self, rows: NDArray[np.integer[Any]], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the product of each of some rows with a query, `(k,)`. Cost O(k dims)."""
        found = self._taken(rows)
        products: NDArray[np.float32] = (found[:, :-STEP].astype(np.float32) @ query) * steps_of(found)
        return products

    def vectors(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return some rows, `(k, dims)`."""
        return unpacked(self._taken(rows))

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        if self._pack is not None:
            self._pack.checked(self._name, 0, self._base)
        empty = np.zeros((0, self._dims + STEP), np.int8)
        sizes = np.diff(self._starts, append=self._size)
        parts = (block[:size] for block, size in zip(self._blocks, sizes.tolist(), strict=True))
        writer.array(name, empty, *parts)

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here; what is read of them is checked when it first is."""
        rows = pack.rows(name)
        self._pack, self._name, self._base, self._size = pack, name, len(rows), len(rows)
        self._blocks = [rows] if len(rows) else []
        self._starts = np.zeros(len(self._blocks), np.int64)

    def _taken(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int8]:
        if self._pack is not None:
            self._pack.checked_at(self._name, rows[rows < self._base])
        if len(self._blocks) == 1:
            return np.take(self._blocks[0], rows, axis=0)
        found = np.empty((len(rows), self._dims + STEP), np.int8)
        if not len(rows):
            return found
        numbers = np.searchsorted(self._starts, rows, side="right") - 1
        for number in np.unique(numbers).tolist():
            inside = numbers == number
            found[inside] = np.take(self._blocks[number], rows[inside] - self._starts[number], axis=0)
        return found
