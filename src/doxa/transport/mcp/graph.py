"""A memory -> the graph of entities, observations and relations that clients of the reference server read and write.

What such a client writes is remembered as turns: one sentence each, from which facts are read as from any other. A
turn's session says what it was in the graph, so that it is read back letter for letter. Facts that came in another way
are shown beside it: those between two entities as relations, the others as observations of their subject.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from doxa.core.errors import TurnConflictError
from doxa.core.values import Fact, Turn
from doxa.engine import Memory
from doxa.transport.mcp.rooms import Room

__all__ = [
    "Graph",
    "Node",
    "Origin",
    "Relation",
    "add_entity",
    "add_observation",
    "add_relation",
    "read",
    "remove",
    "touching",
]

MARK = "graph "
"""How the sessions of such turns begin."""
UNKNOWN = "thing"
Origin = tuple[Literal["turn", "fact"], str]
"""What has to go for a piece of the graph to go: a turn or a fact, by its id."""
Relation = tuple[str, str, str]
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
    relations: dict[Relation, list[Origin]] = field(default_factory=dict)


def read(memory: Memory) -> Graph:
    """Return the graph: what was written as such, and what is believed besides. Cost: linear in turns and facts."""
    graph, written = Graph(), set()
    for turn in memory.turns():
        if turn.session.startswith(MARK):
            written.add(turn.turn_id)
            _place(graph, turn, json.loads(turn.session.removeprefix(MARK)))
    kinds = {one.key: one.kind or UNKNOWN for one in memory.entities()}
    for fact in memory.facts():
        if not fact.premises and not written.issuperset(fact.turn_ids):
            _believe(graph, fact, kinds, memory)
    return graph


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


def add_entity(room: Room, name: str, kind: str) -> bool:
    """Write an entity; return False where there is one of that name."""
    article = "an" if kind[:1].casefold() in "aeiou" else "a"
    return _write(room, {"name": name, "type": kind}, f"{name} is {article} {kind}.", key=("entity", name))


def add_observation(room: Room, name: str, content: str) -> bool:
    """Write an observation of an entity, as a sentence about it; return False where it was written before."""
    named = any(one.casefold() in content.casefold() for one in (name, name.replace("_", " ")))
    capital = not named and content[:1].isupper() and not content[1:2].isupper()
    sentence = content[:1].lower() + content[1:] if capital else content
    before = "" if named else f"{name} "
    said = {"name": name, "before": before, "capital": capital}
    return _write(room, said, before + sentence, key=("observation", name, content))


def add_relation(room: Room, relation: Relation) -> bool:
    """Write a relation, as a sentence; return False where it was written before."""
    start, kind, end = relation
    text = f"{start} {kind.replace('_', ' ')} {end}."
    return _write(room, {"relation": list(relation)}, text, key=("relation", *relation))


def _write(room: Room, said: dict[str, Any], text: str, *, key: tuple[str, ...]) -> bool:
    # The id is made of what is written: of writers at the same time, one writes it and the others find it there.
    turn_id = f"graph/{key[0]}/{sha256(json.dumps(key).encode()).hexdigest()[:32]}"
    dialogue = room.dialogue("write", session=MARK + json.dumps(said, ensure_ascii=False))
    try:
        return not dialogue.absorb(text, turn_id=turn_id).duplicate
    except TurnConflictError:  # an entity of another type has the name; it stays as it is
        return False


def remove(room: Room, origins: Iterable[Origin]) -> None:
    """Let pieces of the graph go: turns that were written as such are erased, facts that were told are retracted."""
    wanted = dict.fromkeys(origins)
    # Both rights are asked for before anything goes.
    erasing = room.memory("erase") if any(kind == "turn" for kind, _ in wanted) else None
    memory = room.memory("write")
    for kind, key in wanted:
        if kind == "turn" and erasing is not None:
            erasing.forget(turn_id=key)
        else:
            memory.retract(key, reason="it was deleted from the graph")


def touching(graph: Graph, names: set[str]) -> Iterator[tuple[Relation, list[Origin]]]:
    """Yield the relations that begin or end at one of the names."""
    for relation, origins in graph.relations.items():
        if relation[0] in names or relation[2] in names:
            yield relation, origins
