from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.reason.tree.paths import cheapest_paths

NODES = 6
STEPS = st.dictionaries(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from([1.0, 1.5, 2.25, 4.0]),
)


def graph_of(steps):
    graph = {node: {} for node in range(NODES)}
    for (one, other), cost in steps.items():
        graph[one][other] = graph[other][one] = cost
    return graph


def cost_of(graph, path):
    return sum(graph[one][other] for one, other in pairwise(path))


def every_path(graph, start, end):
    """Return all paths without loops, the cheapest first."""
    between = [node for node in graph if node not in (start, end)]
    ways = [(start, *some, end) for length in range(NODES - 1) for some in permutations(between, length)]
    joined = [way for way in ways if all(other in graph[one] for one, other in pairwise(way))]
    return sorted(joined, key=lambda way: cost_of(graph, way))


@given(STEPS, st.integers(1, 5))
def test_they_are_the_cheapest_of_all_paths_without_loops(steps, k):
    graph = graph_of(steps)
    found = cheapest_paths(graph, 0, NODES - 1, k)
    best = every_path(graph, 0, NODES - 1)[:k]
    assert [cost_of(graph, path) for path in found] == pytest.approx([cost_of(graph, path) for path in best])
    assert len(set(found)) == len(found) and all(len(set(path)) == len(path) for path in found)


def test_of_equally_cheap_paths_the_lower_numbers_come_first():
    graph = graph_of({(0, 1): 1.0, (0, 2): 1.0, (1, 5): 1.0, (2, 5): 1.0})
    assert cheapest_paths(graph, 0, 5, 3) == [(0, 1, 5), (0, 2, 5)]
