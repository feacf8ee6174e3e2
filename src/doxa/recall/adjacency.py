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
            self._columns = {name: np.resize(column, room) for name, column in self._columns.items()}
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
        self._nodes, self._edges = Table({"node": "i4"}), Table({"edge": "i4"})
        self._starts = np.zeros(1, dtype=np.int64)
        self._sorted = np.zeros(0, dtype=np.int32)
        self._tail: dict[int, list[int]] = defaultdict(list)
        self._bulk = 0

    def __len__(self) -> int:
        return len(self._nodes)

    def add(self, node: int, edge: int) -> None:
        """Note that an edge touches a node."""
        self._nodes.add(node=node)
        self._edges.add(edge=edge)
        self._tail[node].append(edge)
        if len(self._nodes) - self._bulk > max(LEAST_TAIL, TAIL_SHARE * self._bulk):
            self._merge()

    def _merge(self) -> None:
        nodes = self._nodes["node"]
        self._sorted = self._edges["edge"][np.argsort(nodes, kind="stable")]
        self._starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(nodes))])
        self._tail = defaultdict(list)
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
        late = [self._tail[node][-limit:] if node in self._tail else () for node in nodes.tolist()]
        room = limit - np.fromiter(map(len, late), dtype=np.int64, count=len(late))
        counts = np.minimum(ends - starts, room)
        rows = np.repeat(np.arange(len(nodes)), counts)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        edges = self._sorted[np.repeat(ends - counts, counts) + offsets]
        tail = [(row, edge) for row, found in enumerate(late) for edge in found]
        if tail:
            rows = np.concatenate([rows, np.array([row for row, _ in tail], dtype=np.intp)])
            edges = np.concatenate([edges, np.array([edge for _, edge in tail], dtype=np.int32)])
        return rows, edges.astype(np.intp)

    def degree(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return how many edges touch every node, `(k,)`. Cost O(k)."""
        last = len(self._starts) - 1
        starts, ends = self._starts[np.minimum(nodes, last)], self._starts[np.minimum(nodes + 1, last)]
        late = np.fromiter((len(self._tail.get(node, ())) for node in nodes.tolist()), dtype=np.intp, count=len(nodes))
        return (ends - starts).astype(np.intp) + late
