"""A short random walk with restart on the memory graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hop", "Walk", "walk"]

WIDTH = 48
"""Nodes from which a walk goes on after every hop: the likeliest."""
MOST_EDGES = 32
"""Edges of a node that a walk looks at: the latest."""
DAMPING = 0.5
"""Share of the mass that goes on at every hop; HippoRAG's choice for its walks as well."""

Point = TypeVar("Point", contravariant=True)
Nodes = NDArray[np.intp]
Mass = NDArray[np.float64]


class Walkable(Protocol[Point]):
    """What a walk needs of a graph."""

    def edges_of(self, nodes: Nodes, limit: int) -> tuple[Nodes, Nodes]:
        """Return rows of `nodes` and the edges that touch them, the `limit` latest of each."""
        ...

    def degree(self, nodes: Nodes) -> Nodes:
        """Return how many edges touch every node."""
        ...

    def across(self, nodes: Nodes, edges: Nodes) -> Nodes:
        """Return the other end of every edge."""
        ...

    def weights(self, edges: Nodes, since: Point, /) -> NDArray[np.float32]:
        """Return what edges weigh, seen from some point of time."""
        ...


@dataclass(frozen=True, slots=True)
class Hop:
    """Where a walk is after some steps: nodes, sorted, their mass, and the edge by which most of it came."""

    nodes: Nodes
    mass: Mass
    sources: Nodes
    edges: Nodes

    def row(self, node: int) -> int | None:
        """Return the row of a node, or None."""
        row = int(np.searchsorted(self.nodes, node))
        return row if row < len(self.nodes) and self.nodes[row] == node else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Where a random walk ends, and how it came there."""

    nodes: Nodes
    """Nodes that it reaches, `(n,)`, sorted."""
    mass: Mass
    """How likely it ends there, `(n,)`; at most 1 in all."""
    touched: int = 0
    """How many edges were looked at."""
    hops: tuple[Hop, ...] = ()

    def at(self, nodes: Nodes) -> Mass:
        """Return the mass at some nodes, `(k,)`; 0 where it does not come. Cost O(k log n)."""
        if not len(self.nodes):
            return np.zeros(len(nodes))
        rows = np.minimum(np.searchsorted(self.nodes, nodes), len(self.nodes) - 1)
        return np.where(self.nodes[rows] == nodes, self.mass[rows], 0.0)

    def way(self, node: int) -> list[tuple[int, int, int]]:
        """Return the likeliest way to a node as `(from, edge, to)`, first step first; empty when it starts there."""
        found = [
            (float(hop.mass[row]), number) for number, hop in enumerate(self.hops) if (row := hop.row(node)) is not None
        ]
        steps: list[tuple[int, int, int]] = []
        for number in range(max(found, default=(0.0, 0))[1], 0, -1):
            hop = self.hops[number]
            row = hop.row(node)
            if row is None:
                break
            steps.append((int(hop.sources[row]), int(hop.edges[row]), node))
            node = int(hop.sources[row])
        return steps[::-1]


def walk(graph: Walkable[Point], seeds: Mapping[int, float], since: Point, *, hops: int) -> Walk:
    """Return where a walk that goes on with probability `DAMPING` is after at most `hops` steps.

    It is the power series of personalised PageRank cut off after `hops` terms, with a frontier of `WIDTH` nodes and
    `MOST_EDGES` edges a node: what it touches is bounded, however long the history.

    Args:
        graph: the graph.
        seeds: node -> how likely the walk starts there; scaled to 1 in all.
        since: from when the graph is looked at.
        hops: how many steps.

    Source: personalised PageRank, T. Haveliwala, "Topic-Sensitive PageRank" (WWW 2002); truncated as in D. Fogaras
    et al. (2005). Deterministic. Cost O(hops x WIDTH x MOST_EDGES).
    """
    total = sum(seeds.values())
    start = np.array(sorted(node for node, mass in seeds.items() if mass > 0), dtype=np.intp)
    if not total or not len(start):
        return Walk(nodes=np.empty(0, dtype=np.intp), mass=np.empty(0))
    none = np.full(len(start), -1, dtype=np.intp)
    taken = [Hop(start, np.array([seeds[node] / total for node in start.tolist()]), none, none)]
    touched = 0
    for _ in range(hops):
        hop, looked_at = _step(graph, taken[-1], since)
        touched += looked_at
        taken.append(hop)
    nodes, which = np.unique(np.concatenate([hop.nodes for hop in taken]), return_inverse=True)
    mass = (1 - DAMPING) * sums(which, np.concatenate([hop.mass for hop in taken]), len(nodes))
    return Walk(nodes=nodes, mass=mass, touched=touched, hops=tuple(taken))


def _step(graph: Walkable[Point], hop: Hop, since: Point) -> tuple[Hop, int]:
    """Return where the walk is one step on, and how many edges that took."""
    rows = np.arange(len(hop.nodes))
    if len(rows) > WIDTH:
        rows = np.sort(np.lexsort((hop.nodes, -hop.mass))[:WIDTH])
    nodes, mass = hop.nodes[rows], hop.mass[rows]
    where, edges = graph.edges_of(nodes, MOST_EDGES)
    weights = graph.weights(edges, since).astype(np.float64)
    out = sums(where, weights, len(nodes))
    # What the edges that are not looked at would carry off is lost, so a hub passes on little to each.
    seen = np.minimum(MOST_EDGES / np.maximum(graph.degree(nodes), 1), 1)
    share = np.divide(DAMPING * mass * seen, out, out=np.zeros(len(nodes)), where=out > 0)
    flow = weights * share[where]
    ends = graph.across(nodes[where], edges)
    reached, which = np.unique(ends, return_inverse=True)
    # Of the edges into a node, the one with the most flow comes last among its rows.
    order = np.lexsort((-edges, flow, which))
    best = order[np.searchsorted(which[order], np.arange(len(reached)), side="right") - 1]
    arrived = sums(which, flow, len(reached))
    there = arrived > 0
    after = Hop(reached[there], arrived[there], nodes[where[best]][there], edges[best][there])
    return after, len(edges)


def sums(rows: Nodes, values: Mass, size: int) -> Mass:
    """Return the sum of the values of every row, `(size,)`."""
    return np.bincount(rows, weights=values, minlength=size).astype(np.float64)
