"""What is encoded of every turn, in a byte a number, and the places of a memory that are nearest to a query.

A place has a row for its whole text and, when it says several things, one for each of its passages: one sentence of a
long turn is then as near to a query as if it stood alone.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.memory.columns import grown
from doxa.memory.paged import Pack, PackWriter
from doxa.memory.rows import Rows, from_bytes, to_bytes
from doxa.memory.signs import FLAT, PROBED, Signs

__all__ = ["VectorMatrix", "from_bytes", "to_bytes"]

FEW = 4
"""Where a filter leaves at most so many times the rows that are wanted, all of them are compared in full."""
BETWEEN = 4
"""Of more rows than `flat` by so many more are compared in full: by the root of this times the ratio."""
WIDEST = 2
"""Times as many lists are compared at most where a filter leaves few rows, which lie farther out."""

Places = NDArray[np.integer[Any]]


class VectorMatrix:
    """Rows of unit length by place; a row takes `dims + dims / 8 + 12` bytes and is off by half a step at most.

    Two stages find what is near: the signs of rows are compared with those of the query (a bit a dimension), and the
    nearest by sign are compared in full. On 55,000 sentences of dialogue, the 512 nearest by sign hold 99.9% of the
    ten rows that a search in full finds. Source: Charikar 2002, "Similarity estimation techniques from rounding
    algorithms" (with the encoder's own axes in place of random ones, which did no better).

    Args:
        dims: the length of a row.
        flat: beyond so many rows only the signs of some are compared (`Signs`).
    """

    def __init__(self, dims: int, *, flat: int = FLAT) -> None:
        self._dims = dims
        self._flat = flat
        self._rows = Rows(dims)
        self._signs = Signs(self._rows, dims, flat=flat)
        self._first = np.zeros(64, np.int32)
        """The row at which every place begins, and the end."""
        self._owner = np.zeros(64, np.int32)
        """The place of every row."""
        self._places = 0
        self.read = 0
        """Rows that were compared in full since it was made: what a search costs."""

    def __len__(self) -> int:
        return self._places

    def add(self, vectors: NDArray[np.float32]) -> int:
        """Append a place with its rows, `(dims,)` or `(r, dims)` or the same flat, the whole first, and return it.

        Amortised cost O(r dims), in a long history O(r dims root(n)).
        """
        rows = np.asarray(vectors, dtype=np.float32).reshape(-1, self._dims)
        if self._places + 1 == len(self._first):
            self._first = grown(self._first, self._places + 2)
        start, stop = len(self._rows), len(self._rows) + len(rows)
        if stop > len(self._owner):
            self._owner = grown(self._owner, stop)
        self._owner[start:stop] = self._places
        self._rows.append(rows)
        self._signs.append(rows)
        self._places += 1
        self._first[self._places] = stop
        return self._places - 1

    def nearest(
        self, query: NDArray[np.float32], count: int, *, searched: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return places that are near to a unit query, each once, and the cosine of the best row of each.

        Args:
            query: `(dims,) float32`.
            count: how many rows are compared in full, in a long history some times as many, since more come between;
                about as many places at most are returned, in order of place.
            searched: by place, False for one that is not wanted, `(n,) bool`; None wants all.

        Not exact: a near row may be missing when its signs are not near. Cost O(count dims) in full, and by sign as
        `Signs.nearest`; where `searched` leaves few, O(n) on a bit and up to `FEW` times as many in full.
        """
        count *= max(1, isqrt(BETWEEN * len(self._rows) // self._flat))
        if searched is None:
            rows = self._signs.nearest(query, count)
        else:
            rows = self._among(query, count, searched)
        if not len(rows):
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
        places = self._owner[rows].astype(np.intp)
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        return places[starts], np.maximum.reduceat(self._dot(rows, query), starts)

    def _among(self, query: NDArray[np.float32], count: int, searched: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the rows nearest by sign of the places that are searched, in order; all where they are few."""
        if 2 * np.count_nonzero(searched) > self._places:
            rows = self._signs.nearest(query, count)
            kept = rows[searched[self._owner[rows]]]
            if 2 * len(kept) >= len(rows):
                return kept
        places = np.flatnonzero(searched)
        left = int((self._first[places + 1] - self._first[places]).sum())
        if left <= FEW * count:
            return self._rows_at(places)
        wider = min(WIDEST, (len(self._rows) / left) ** 0.5)
        return self._signs.nearest(
            query, count, kept=lambda rows: searched[self._owner[rows]], probed=int(wider * PROBED)
        )

    def _rows_at(self, places: Places) -> NDArray[np.intp]:
        """Return the rows of some places, those of one after those of the one before."""
        first, counts = self._first[places], self._first[places + 1] - self._first[places]
        starts = np.cumsum(counts) - counts
        return np.asarray(np.repeat(first - starts, counts) + np.arange(counts.sum()), dtype=np.intp)

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
        starts = np.cumsum(self._first[places + 1] - self._first[places])[:-1]
        scores = self._dot(self._rows_at(places), query)
        best: NDArray[np.float32] = np.maximum.reduceat(scores, np.concatenate([[0], starts]))
        return best

    def _dot(self, rows: NDArray[np.integer[Any]], query: NDArray[np.float32]) -> NDArray[np.float32]:
        self.read += len(rows)
        return self._rows.dot(rows, query)

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of the whole text of every place with a unit query, `(n,) float32`. Cost O(n dims)."""
        return self.at(np.arange(self._places), query)

    def row(self, place: int) -> NDArray[np.float32]:
        """Return the vector of the whole text of a place, `(dims,) float32`."""
        vector: NDArray[np.float32] = self._rows.vectors(self._first[place : place + 1])[0]
        return vector

    def rows_of(self, place: int) -> NDArray[np.float32]:
        """Return the rows of a place, the whole text first, `(r, dims)`."""
        return self._rows.vectors(np.arange(self._first[place], self._first[place + 1]))

    def rows(self) -> NDArray[np.float32]:
        """Return all rows, `(rows, dims)`, those of one place after those of the one before."""
        return self._rows.vectors(np.arange(len(self._rows)))

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        self._rows.save(writer, f"{name}.rows")
        self._signs.save(writer, f"{name}.signs")
        writer.array(f"{name}.first", self._first[: self._places + 1])

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here; nothing is copied but what is small."""
        self._rows.load(pack, f"{name}.rows")
        self._signs.load(pack, f"{name}.signs")
        self._first = pack.array(f"{name}.first")
        self._places = len(self._first) - 1
        self._owner = np.repeat(np.arange(self._places, dtype=np.int32), self._first[1:] - self._first[:-1])
