"""Which edges touch every node of a graph that grows: compressed rows, and a small tail of what came since."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from doxa.memory import Pack, PackWriter

__all__ = ["Adjacency"]

LEAST_TAIL = 1024
SHARE = 0.125
"""The tail is merged into what came lately, and that into the bulk, when it has grown by this share, so an edge is
copied O(1) times in all."""


class Run(NamedTuple):
    """The edges of every node in a row: those of node `i` are `edges[starts[i] : starts[i + 1]]`, oldest first."""

    starts: NDArray[np.uint32]
    edges: NDArray[np.int32]


NONE = Run(np.zeros(1, dtype=np.uint32), np.zeros(0, dtype=np.int32))


class Adjacency:
    """The edges of every node, oldest first. Four bytes an edge and node, and more for the few that came last.

    Adding costs amortised O(1), a lookup O(edges that it gives back). What a lookup gives does not depend on what was
    merged when. Nothing of what lies in a pack is copied until it is merged with as much as an eighth of it.
    """

    def __init__(self) -> None:
        self._bulk = NONE
        self._lately = NONE
        self._tail: dict[int, array[int]] = {}
        self._waiting = 0
        """How many edges are in the tail."""

    def __len__(self) -> int:
        return len(self._bulk.edges) + len(self._lately.edges) + self._waiting

    def add(self, node: int, edge: int) -> None:
        """Note that an edge touches a node."""
        tail = self._tail.get(node)
        if tail is None:
            tail = self._tail[node] = array("i")
        tail.append(edge)
        self._waiting += 1
        if self._waiting > max(LEAST_TAIL, SHARE * len(self._lately.edges)):
            self._settle()

    def _settle(self) -> None:
        self._lately = _merged(self._lately, _run_of(self._tail))
        self._tail, self._waiting = {}, 0
        if len(self._lately.edges) > SHARE * len(self._bulk.edges):
            self._bulk, self._lately = _merged(self._bulk, self._lately), NONE

    def of(self, nodes: NDArray[np.intp], limit: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the edges of some nodes, the `limit` latest of each.

        Args:
            nodes: `(k,)`, each once.
            limit: how many edges a node gives back at most.

        Returns:
            Rows of `nodes`, in order, and edges, those of a node oldest first, both `(edges,)`. Cost O(edges), however
            many a node has.
        """
        late = [self._tail.get(node) for node in nodes.tolist()] if self._waiting else []
        tail = [(row, edge) for row, edges in enumerate(late) if edges for edge in edges[-limit:]]
        found = [np.array(tail, dtype=np.intp).reshape(-1, 2).T]
        left = np.full(len(nodes), limit) - np.bincount(found[0][0], minlength=len(nodes))
        for run in (self._lately, self._bulk):
            if len(run.edges):
                found.append(_latest(run, nodes, left))
                left -= np.bincount(found[-1][0], minlength=len(nodes))
        told = [one for one in reversed(found) if one.shape[1]]
        if len(told) < 2:
            return (told[0][0], told[0][1]) if told else (found[0][0], found[0][1])
        rows, edges = np.concatenate(told, axis=1)
        order = np.argsort(rows, kind="stable")
        return rows[order], edges[order]

    def of_one(self, node: int) -> list[int]:
        """Return all edges of a node, oldest first. Cost O(its edges), and little for a few."""
        found: list[int] = []
        for starts, edges in (self._bulk, self._lately):
            if node + 1 < len(starts):
                found += edges[starts[node] : starts[node + 1]].tolist()
        return [*found, *self._tail.get(node, ())]

    def degree(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return how many edges touch every node, `(k,)`. Cost O(k)."""
        waiting = np.array([len(self._tail.get(node, ())) for node in nodes.tolist()], dtype=np.intp)
        for run in (self._lately, self._bulk):
            starts, ends = _bounds(run, nodes)
            waiting += ends - starts
        return waiting

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of it."""
        run = _merged(_merged(self._bulk, self._lately), _run_of(self._tail))
        writer.array(f"{name}.starts", run.starts)
        writer.array(f"{name}.edges", run.edges)

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of all that is here."""
        self._bulk, self._lately = Run(pack.array(f"{name}.starts"), pack.array(f"{name}.edges")), NONE
        self._tail, self._waiting = {}, 0


def _bounds(run: Run, nodes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where the edges of nodes begin and end."""
    last = len(run.starts) - 1
    starts, ends = run.starts[np.minimum(nodes, last)], run.starts[np.minimum(nodes + 1, last)]
    return starts.astype(np.intp), ends.astype(np.intp)


def _latest(run: Run, nodes: NDArray[np.intp], most: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return rows of nodes and the latest edges of each, `(2, edges)`, as many as `most` says of every node."""
    starts, ends = _bounds(run, nodes)
    counts = np.minimum(ends - starts, most)
    rows = np.repeat(np.arange(len(nodes)), counts)
    offsets = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([rows, run.edges[np.repeat(ends - counts, counts) + offsets]])


def _run_of(tail: Mapping[int, array[int]]) -> Run:
    if not tail:
        return NONE
    nodes = sorted(tail)
    counts = np.zeros(nodes[-1] + 2, dtype=np.uint32)
    counts[np.array(nodes) + 1] = [len(tail[node]) for node in nodes]
    edges = np.frombuffer(b"".join(tail[node].tobytes() for node in nodes), dtype=np.int32)
    return Run(np.cumsum(counts, dtype=np.uint32), edges)


def _merged(old: Run, new: Run) -> Run:
    """Return two runs as one, the edges of the new one behind those of the old. Cost O(edges)."""
    if not len(new.edges) or not len(old.edges):
        return old if len(old.edges) else new
    size = max(len(old.starts), len(new.starts))
    left, right = (np.pad(run.starts, (0, size - len(run.starts)), mode="edge") for run in (old, new))
    ends = np.repeat(left[1:].astype(np.intp), np.diff(right))
    return Run(left + right, np.insert(old.edges, ends, new.edges))
