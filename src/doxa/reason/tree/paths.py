"""The cheapest paths between two nodes of a small graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from heapq import heappop, heappush
from itertools import pairwise

__all__ = ["Graph", "Path", "cheapest_paths"]

Graph = Mapping[int, Mapping[int, float]]
"""Node -> neighbour -> what the step costs, 0 or more; every step both ways."""
Path = tuple[int, ...]


def cheapest_paths(graph: Graph, start: int, end: int, k: int) -> list[Path]:
    """Return up to `k` paths without loops, the cheapest first; of equally cheap ones the lower numbers.

    Source: Yen 1971, Finding the K Shortest Loopless Paths in a Network; each search is A*, guided by how far the end
    is when nothing is closed. O(k length) searches.
    """
    left = _distances(graph, end)
    first = _cheapest(graph, (start,), end, left, ())
    waiting = [] if first is None else [first]
    known = {path for _, path in waiting}
    found: list[Path] = []
    while waiting and len(found) < k:
        _, path = heappop(waiting)
        found.append(path)
        for length in range(1, len(path)):
            root = path[:length]
            closed = {other[length] for other in found if other[:length] == root}
            other = _cheapest(graph, root, end, left, closed)
            if other is not None and other[1] not in known:
                known.add(other[1])
                heappush(waiting, other)
    return found


def _distances(graph: Graph, end: int) -> dict[int, float]:
    """Return what the cheapest path to `end` costs from every node that has one (Dijkstra)."""
    left: dict[int, float] = {}
    waiting = [(0.0, end)]
    while waiting:
        cost, here = heappop(waiting)
        if here not in left:
            left[here] = cost
            for there, step in graph[here].items():
                heappush(waiting, (cost + step, there))
    return left


def _cheapest(
    graph: Graph, root: Path, end: int, left: Mapping[int, float], closed: Collection[int]
) -> tuple[float, Path] | None:
    """Return the cheapest path that begins with `root` and goes on by none of `closed`, with its cost."""
    if root[-1] not in left:
        return None
    done = set(root[:-1])
    paid = sum(graph[one][other] for one, other in pairwise(root))
    waiting = [(paid + left[root[-1]], paid, root)]
    while waiting:
        _, cost, path = heappop(waiting)
        here = path[-1]
        if here == end:
            return cost, path
        if here in done:
            continue
        done.add(here)
        for there, step in graph[here].items():
            if there not in done and not (path == root and there in closed):
                heappush(waiting, (cost + step + left[there], cost + step, (*path, there)))
    return None
