"""A search as Graphiti configures it -> what one search of a memory finds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, TypeVar

from graphiti_core.edges import EntityEdge
from graphiti_core.errors import NodeNotFoundError, SearchRerankerError
from graphiti_core.nodes import EntityNode
from graphiti_core.search.search_config import EdgeReranker, NodeReranker, SearchConfig, SearchResults
from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, SearchFilters
from graphiti_core.utils.datetime_utils import ensure_utc

from doxa.integrations.graphiti.groups import key_of
from doxa.integrations.graphiti.shapes import Graph

__all__ = ["merged", "searched"]

COMPARED: Mapping[ComparisonOperator, Callable[[Any, Any], bool]] = {
    ComparisonOperator.equals: operator.eq,
    ComparisonOperator.not_equals: operator.ne,
    ComparisonOperator.greater_than: operator.gt,
    ComparisonOperator.less_than: operator.lt,
    ComparisonOperator.greater_than_equal: operator.ge,
    ComparisonOperator.less_than_equal: operator.le,
}
TIMES = ("valid_at", "invalid_at", "created_at", "expired_at")
NEAR, NEXT, FAR = 10.0, 1.0, 0.0
"""Scores by distance from a centre, as Graphiti gives them: the centre itself, what an edge leads to, all else."""
T = TypeVar("T")
Ranked = list[tuple[float, T]]


def searched(
    graph: Graph, query: str, config: SearchConfig, filters: SearchFilters, center: str | None
) -> SearchResults:
    """Return what a group has for a query, best first, with scores. Cost: one search, O(facts).

    Raises:
        SearchRerankerError: it is to be ordered by the distance from a node that is not given.
    """
    evidence = graph.network.search(query)
    found = graph.network.found(evidence)
    results = SearchResults()
    if config.edge_config is not None:
        edges = [(score, graph.edge(graph.network.facts[key])) for key, score in found.items()]
        fitting = [(score, edge) for score, edge in edges if _fits(edge, filters) and _ends_fit(edge, graph, filters)]
        ranked = _edges_by(config.edge_config.reranker, fitting, graph, center)
        results.edges, results.edge_reranker_scores = _best(ranked, config)
    if config.node_config is not None:
        nodes = [one for one in _nodes(found, graph) if _is_labelled(one[1], filters)]
        ranked_nodes = _nodes_by(config.node_config.reranker, nodes, graph, center)
        results.nodes, results.node_reranker_scores = _best(ranked_nodes, config)
    if config.episode_config is not None:
        told = [(one.score, graph.episodes.uuid_of_turn(turn_id)) for one in evidence for turn_id in one.turn_ids]
        uuids = {uuid: score for score, uuid in reversed(told) if uuid is not None}
        best, scores = _best([(uuids[uuid], uuid) for uuid in reversed(uuids)], config)
        for uuid, score in zip(best, scores, strict=True):
            with suppress(NodeNotFoundError):  # it was removed meanwhile
                results.episodes.append(graph.with_edges(graph.episodes.get(uuid)))
                results.episode_reranker_scores.append(score)
    return results


def merged(results: Sequence[SearchResults], limit: int) -> SearchResults:
    """Return the best of what several groups have."""
    every = SearchResults.merge(list(results))
    best = SearchConfig(limit=limit, reranker_min_score=FAR)
    for items, scores in (
        ("edges", "edge_reranker_scores"),
        ("nodes", "node_reranker_scores"),
        ("episodes", "episode_reranker_scores"),
    ):
        ranked: Ranked[Any] = list(zip(getattr(every, scores), getattr(every, items), strict=True))
        kept, told = _best(ranked, best)
        setattr(every, items, kept)
        setattr(every, scores, told)
    return every


def _best(ranked: Ranked[T], config: SearchConfig) -> tuple[list[T], list[float]]:
    """Return what scores best with its scores; of two that score alike, the one that came first."""
    kept = [one for one in ranked if one[0] >= config.reranker_min_score]
    kept = sorted(kept, key=lambda one: -one[0])[: config.limit]
    return [one for _, one in kept], [score for score, _ in kept]


def _edges_by(
    reranker: EdgeReranker, edges: Ranked[EntityEdge], graph: Graph, center: str | None
) -> Ranked[EntityEdge]:
    if reranker is EdgeReranker.node_distance:
        near = _distances(graph, center)
        return [(near(edge.source_node_uuid), edge) for _, edge in edges]
    if reranker is EdgeReranker.episode_mentions:
        return [(float(len(edge.episodes)), edge) for _, edge in edges]
    return edges


def _nodes_by(
    reranker: NodeReranker, nodes: Ranked[EntityNode], graph: Graph, center: str | None
) -> Ranked[EntityNode]:
    if reranker is NodeReranker.node_distance:
        near = _distances(graph, center)
        return [(near(node.uuid), node) for _, node in nodes]
    if reranker is NodeReranker.episode_mentions:
        counts = graph.counts()
        return [(float(counts.get(node.uuid, 0)), node) for _, node in nodes]
    return nodes


def _distances(graph: Graph, center: str | None) -> Callable[[str], float]:
    if center is None:
        raise SearchRerankerError("No center node provided for Node Distance reranker")
    near = {center: NEAR}
    for ends in graph.pairs():
        if center in ends:
            near |= {end: near.get(end, NEXT) for end in ends}
    return lambda uuid: near.get(uuid, FAR)


def _nodes(found: Mapping[str, float], graph: Graph) -> Ranked[EntityNode]:
    """Return the people and things that facts are about with the scores of those, each once."""
    scores: dict[str, float] = {}
    for key, score in found.items():
        for one in graph.network.ends([graph.network.facts[key]]):
            if one.key in graph.network.entities:
                scores.setdefault(one.key, score)
    return [(score, graph.node(graph.network.entities[key])) for key, score in scores.items()]


def _is_labelled(node: EntityNode, filters: SearchFilters) -> bool:
    return not filters.node_labels or not set(filters.node_labels).isdisjoint(node.labels)


def _ends_fit(edge: EntityEdge, graph: Graph, filters: SearchFilters) -> bool:
    """Tell whether both ends have one of the labels that are asked for."""
    if not filters.node_labels:
        return True
    ends = graph.network.ends([graph.network.facts[key_of(edge.uuid)]])
    return all(_is_labelled(graph.node(one), filters) for one in ends)


def _fits(edge: EntityEdge, filters: SearchFilters) -> bool:
    """Tell whether an edge is one that the filters let through; a field that is None is not looked at."""
    named = (
        (filters.edge_types, edge.name),
        (filters.edge_uuids, edge.uuid),
        (filters.edge_source_node_uuids, edge.source_node_uuid),
        (filters.edge_target_node_uuids, edge.target_node_uuid),
    )
    if any(wanted is not None and value not in wanted for wanted, value in named):
        return False
    return all(_in_time(getattr(edge, name), getattr(filters, name)) for name in TIMES)


def _in_time(value: datetime | None, wanted: list[list[DateFilter]] | None) -> bool:
    """Tell whether a moment fits all of one of several lists, as Graphiti asks its database."""
    return wanted is None or any(all(_compares(value, one) for one in group) for group in wanted)


def _compares(value: datetime | None, one: DateFilter) -> bool:
    if one.comparison_operator is ComparisonOperator.is_null:
        return value is None
    if one.comparison_operator is ComparisonOperator.is_not_null:
        return value is not None
    asked = ensure_utc(one.date)
    return value is not None and asked is not None and COMPARED[one.comparison_operator](value, asked)
