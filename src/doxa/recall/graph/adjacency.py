"""Storage of a graph that grows: columns of rows, and the edges of every node in compressed rows with a small tail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Adjacency", "Table"]

GROWTH = 1.25
"""Room is made for a quarter more rows at a time."""
LEAST_TAIL = 1024
TAIL_SHARE = 0.125
"""The tail is merged into the bulk when it has grown by this share, so an edge is copied O(1) times in all."""


class Table:
    """Rows in columns that grow together. Adding costs amortised O(1)."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        """Take the type of every column by its name ("i4", "f4")."""
        self._columns: dict[str, NDArray[Any]] = {name: np.zeros(16, dtype=kind) for name, kind in columns.items()}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return a column, `(n,)`; a view that the next row may part from the table."""
        return self._columns[column][: self._size]

    def add(self, **row: float) -> int:
        """Append a row and return its number."""
        place = self._size
        if place == len(next(iter(self._columns.values()))):
            room = int(place * GROWTH) + 16
            self._columns = {name: _grown(column, room) for name, column in self._columns.items()}
        for name, value in row.items():
            self._columns[name][place] = value
        self._size += 1
        return place


class Adjacency:
    """The edges of every node, oldest first: compressed rows for the bulk, lists for what came since.

    Adding costs amortised O(log n) (the bulk is sorted anew when the tail has grown by `TAIL_SHARE`), a lookup
    O(edges that it gives back).
    """

    def __init__(self) -> None:
        self._halves = Table({"node": "i4", "edge": "i4"})
        self._starts = np.zeros(1, dtype=np.int64)
        self._sorted = np.zeros(0, dtype=np.int32)
        self._tail: dict[int, list[int]] = defaultdict(list)
        self._late = np.zeros(16, dtype=np.int32)
        """How many edges of every node are in the tail; it may be longer than there are nodes."""
        self._bulk = 0

    def __len__(self) -> int:
        return len(self._halves)

    def add(self, node: int, edge: int) -> None:
        """Note that an edge touches a node."""
        self._halves.add(node=node, edge=edge)
        self._tail[node].append(edge)
        if node >= len(self._late):
            self._late = np.concatenate([self._late, np.zeros(int(node * GROWTH) + 16 - len(self._late), np.int32)])
        self._late[node] += 1
        if len(self._halves) - self._bulk > max(LEAST_TAIL, TAIL_SHARE * self._bulk):
            self._merge()

    def _merge(self) -> None:
        nodes = self._halves["node"]
        self._sorted = self._halves["edge"][np.argsort(nodes, kind="stable")]
        self._starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(nodes))])
        self._tail = defaultdict(list)
        self._late[:] = 0
        self._bulk = len(nodes)

    def of(self, nodes: NDArray[np.intp], limit: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the edges of some nodes, the `limit` latest of each.

        Args:
            nodes: `(k,)`, each once.
            limit: how many edges a node gives back at most.

        Returns:
            Rows of `nodes` and edges, both `(edges,)`. Cost O(edges), however many a node has.
        """
        last = len(self._starts) - 1
        starts, ends = self._starts[np.minimum(nodes, last)], self._starts[np.minimum(nodes + 1, last)]
        late = np.minimum(self._late_of(nodes), limit)
        counts = np.minimum(ends - starts, limit - late)
        rows = np.repeat(np.arange(len(nodes)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        edges = self._sorted[np.repeat(ends - counts, counts) + offsets].astype(np.intp)
        fresh = np.flatnonzero(late)
        if not len(fresh):
            return rows, edges
        tail = [edge for node in nodes[fresh].tolist() for edge in self._tail[node][-limit:]]
        rows = np.concatenate([rows, np.repeat(fresh, late[fresh])])
        return rows, np.concatenate([edges, np.array(tail, dtype=np.intp)])

    def degree(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return how many edges touch every node, `(k,)`. Cost O(k)."""
        last = len(self._starts) - 1
        starts, ends = self._starts[np.minimum(nodes, last)], self._starts[np.minimum(nodes + 1, last)]
        return (ends - starts + self._late_of(nodes)).astype(np.intp)

    def _late_of(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        inside = np.minimum(nodes, len(self._late) - 1)
        return np.where(nodes == inside, self._late[inside], 0)


def _grown(column: NDArray[Any], room: int) -> NDArray[Any]:
    """Return a column with room for more rows; `np.resize` would keep twice the column alive behind it."""
    grown = np.zeros(room, dtype=column.dtype)
    grown[: len(column)] = column
    return grown
