"""Arc scores -> the best tree with exactly one root.

Source: Chu and Liu 1965, Edmonds 1967 (maximum spanning arborescence); McDonald et al. 2005 for parsing. One root is
forced by a penalty on root arcs that outweighs all other arcs together (Stanojevic and Cohen 2021 discuss this and
faster ways); the result is the best one-root tree.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_tree"]

Scores = NDArray[np.floating]
Heads = NDArray[np.int64]


def best_tree(scores: Scores) -> Heads:
    """Gives back the head of each word in the best tree, -1 for the root, `(n,) int64`.

    Args:
        scores: `(n, n + 1)` finite scores, dependent by head; column 0 is the root. A word's arc to itself is ignored.

    Returns:
        Deterministic; ties go to the lower head. Mostly O(n^2), as the best heads of words often form a tree
        already; O(n^3) at worst.
    """
    size = len(scores)
    if size == 0:
        return np.empty(0, dtype=np.int64)
    full = np.full((size + 1, size + 1), -np.inf)
    full[1:] = np.asarray(scores, dtype=np.float64)
    np.fill_diagonal(full, -np.inf)
    finite = full[1:][np.isfinite(full[1:])]
    full[1:, 0] -= (finite.max() - finite.min() + 1.0) * (size + 1)
    heads = _arborescence(full)
    heads[0] = 0
    found: Heads = heads[1:] - 1
    return found


def _arborescence(scores: NDArray[np.float64]) -> Heads:
    """Heads of the best arborescence from node 0; contracts one cycle at a time, then opens them in reverse."""
    size = len(scores)
    heads: Heads = scores.argmax(axis=1)
    heads[0] = 0
    cycle = _cycle(heads)
    if cycle is None:
        return heads
    inside = np.zeros(size, dtype=bool)
    inside[cycle] = True
    outside = np.flatnonzero(~inside)  # node 0 is never in a cycle
    kept = len(outside)
    own = scores[cycle, heads[cycle]]
    entering = scores[np.ix_(cycle, outside)] - own[:, None]
    leaving = scores[np.ix_(outside, cycle)]
    smaller = np.full((kept + 1, kept + 1), -np.inf)
    smaller[:kept, :kept] = scores[np.ix_(outside, outside)]
    smaller[:kept, kept] = leaving.max(axis=1)
    smaller[kept, :kept] = entering.max(axis=0)
    found = _arborescence(smaller)
    for node in range(1, kept):
        to_cycle = found[node] == kept
        heads[outside[node]] = cycle[leaving[node].argmax()] if to_cycle else outside[found[node]]
    entry = found[kept]
    heads[cycle[entering[:, entry].argmax()]] = outside[entry]
    return heads


def _cycle(heads: Heads) -> Heads | None:
    """The nodes of one cycle, or `None`; linear."""
    seen = np.zeros(len(heads), dtype=np.int64)
    seen[0] = -1
    for start in range(1, len(heads)):
        node = start
        while seen[node] == 0:
            seen[node] = start
            node = int(heads[node])
        if seen[node] == start:
            nodes = [node]
            while heads[nodes[-1]] != node:
                nodes.append(int(heads[nodes[-1]]))
            return np.array(nodes, dtype=np.int64)
    return None
