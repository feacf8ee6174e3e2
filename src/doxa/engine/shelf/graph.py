"""A memory -> the graph of entities, observations and relations that clients of MCP's reference server read and write.

What such a client wrote, or its file held, are turns of one sentence each (`backends/transcripts/archives/graph.py`);
they are read back letter for letter. Facts that came in another way are shown beside them: those between two entities
as relations, the others as observations of their subject.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from doxa.backends.transcripts import MARK
from doxa.core.values import Fact, Turn

if TYPE_CHECKING:
    from doxa.engine.api.memory import Memory

__all__ = ["Graph", "Node", "Origin", "Triple", "graph_of", "touching"]

UNKNOWN = "thing"
Origin = tuple[Literal["turn", "fact"], str]
"""What has to go for a piece of the graph to go: a turn or a fact, by its id."""
Triple = tuple[str, str, str]
"""From, relation type, to."""


@dataclass(slots=True)
class Node:
    """An entity; what it is and what is observed of it, with where each comes from."""

    kind: str
    origins: list[Origin] = field(default_factory=list)
    observations: dict[str, list[Origin]] = field(default_factory=dict)


@dataclass(slots=True)
class Graph:
    """The graph of one memory."""

    nodes: dict[str, Node] = field(default_factory=dict)
    relations: dict[Triple, list[Origin]] = field(default_factory=dict)


def graph_of(memory: Memory) -> Graph:
    """Return the graph: what was written as such, and what is believed besides. Cost: linear in turns and facts."""
    graph, written = Graph(), set()
    for turn in memory.turns():
        if (said := _written(turn)) is not None:
            written.add(turn.turn_id)
            _place(graph, turn, said)
    kinds = {one.key: one.kind or UNKNOWN for one in memory.entities()}
    for fact in memory.facts():
        if not fact.premises and not written.issuperset(fact.turn_ids):
            _believe(graph, fact, kinds, memory)
    return graph


def _written(turn: Turn) -> dict[str, Any] | None:
    """Return what a turn was in the graph; None for any other, though its session may be called "graph theory"."""
    if not turn.session.startswith(MARK + "{"):
        return None
    try:
        said = json.loads(turn.session.removeprefix(MARK))
    except ValueError:
        return None
    match said:
        case {"relation": [str(), str(), str()]} | {"name": str(), "type": str()}:
            return dict(said)
        case {"name": str(), "before": str(), "capital": bool()}:
            return dict(said)
    return None


def _place(graph: Graph, turn: Turn, said: dict[str, Any]) -> None:
    origin: Origin = ("turn", turn.turn_id)
    if "relation" in said:
        graph.relations.setdefault(tuple(said["relation"]), []).append(origin)
    elif "type" in said:
        node = graph.nodes.setdefault(said["name"], Node(said["type"]))
        node.kind = said["type"]
        node.origins.append(origin)
    else:
        text = turn.text.removeprefix(said["before"])
        text = text[:1].upper() + text[1:] if said["capital"] else text
        graph.nodes.setdefault(said["name"], Node(UNKNOWN)).observations.setdefault(text, []).append(origin)


def _believe(graph: Graph, fact: Fact, kinds: dict[str, str], memory: Memory) -> None:
    origin: Origin = ("fact", fact.fact_id)
    node = graph.nodes.setdefault(fact.subject.label, Node(kinds.get(fact.subject.key, UNKNOWN)))
    if fact.object.key in kinds and fact.polarity:
        graph.nodes.setdefault(fact.object.label, Node(kinds[fact.object.key]))
        graph.relations.setdefault((fact.subject.label, fact.relation.name, fact.object.label), []).append(origin)
    else:
        node.observations.setdefault(memory.describe(fact), []).append(origin)


def touching(graph: Graph, names: set[str]) -> Iterator[tuple[Triple, list[Origin]]]:
    """Yield the relations that begin or end at one of the names."""
    for relation, origins in graph.relations.items():
        if relation[0] in names or relation[2] in names:
            yield relation, origins
