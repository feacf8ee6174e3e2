"""A memory <-> a graph that holds all of it: facts and their sources to be read, and the log to be read back.

As quads, what is believed now stands in the default graph, records stand in one graph for each status, and the log
stands in a graph of its own: reading the default graph alone gives the present, and no named graph has to be known for
it. As triples, all of it is one graph.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Triple

from doxa.core.values import Change, Fact, Status, Turn
from doxa.logic.graph import META, FactGraph, in_graph
from doxa.logic.names import key_of_iri, user_iri
from doxa.logic.terms import TYPE, moment, number, term

__all__ = ["FORMAT", "LogEntry", "entries_of", "excerpt", "to_quads"]

FORMAT = "doxa-export/1"
"""What an export says that it is; the number grows when a reader of the old form would misread the new one."""
TURN_FIELDS = ("session", "speaker", "role", "text", "generated")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One row of a log: a turn, or an event with the changes that it made."""

    kind: str
    at: datetime
    body: Mapping[str, Any]
    turn: Turn | None = None
    about: str | None = None
    """The id of the turn that an event is about."""
    changes: Sequence[Change] = ()


def to_quads(
    graph: FactGraph, facts: Sequence[Fact], current: Sequence[Fact], log: Sequence[LogEntry]
) -> Iterator[Quad]:
    """Yield a memory as quads; the same memory always gives the same quads in the same order.

    Args:
        graph: whose memory it is, and by which ontology.
        facts: every fact, of any standing.
        current: those that are believed now.
        log: every turn and event, oldest first.
    """
    default, turns = DefaultGraph(), {entry.turn.turn_id: entry.turn for entry in log if entry.turn is not None}
    yield from in_graph(_header(graph.user), default)
    yield from in_graph(graph.vocabulary(facts), default)
    yield from in_graph(graph.current(current, coherent=True), default)
    for status in Status:
        records = (triple for fact in facts if fact.status is status for triple in graph.record(fact, turns))
        yield from in_graph(records, graph.node("graph", str(status)))
    for place, entry in enumerate(log, start=1):
        yield from in_graph(_entry(graph, entry, place), graph.node("graph", "log"))


def excerpt(
    graph: FactGraph, facts: Sequence[Fact], current: Sequence[Fact], turns: Mapping[str, Turn]
) -> Iterator[Quad]:
    """Yield some facts as quads of one graph, with the turns that they cite, by id."""
    yield from in_graph(graph.described(facts, current, turns, coherent=True), DefaultGraph())


def _header(user: str) -> Iterator[Triple]:
    node = NamedNode(user_iri(user, "memory", "").rstrip("#"))
    yield Triple(node, TYPE, term("owl:Ontology"))
    yield Triple(node, term("meta:format"), Literal(FORMAT))
    yield Triple(node, term("meta:user"), Literal(user))


def _entry(graph: FactGraph, entry: LogEntry, place: int) -> Iterator[Triple]:
    if entry.turn is not None:
        node, rest = graph.node("turn", entry.turn.turn_id), _without(entry.body, TURN_FIELDS)
        yield from graph.turn(entry.turn)
    else:
        node, rest = graph.node("event", str(place)), dict(entry.body)
        yield Triple(node, TYPE, term("meta:Event"))
        yield Triple(node, TYPE, term("prov:Activity"))
        yield Triple(node, META["kind"], Literal(entry.kind))
        yield Triple(node, term("prov:startedAtTime"), moment(entry.at))
        if entry.about is not None:
            yield Triple(node, term("prov:used"), graph.node("turn", entry.about))
    yield Triple(node, META["place"], number(place))
    if rest:
        yield Triple(node, META["body"], Literal(json.dumps(rest)))
    for i, change in enumerate(entry.changes):
        yield from graph.change(change, f"{place}.{i}")
        yield Triple(graph.node("change", f"{place}.{i}"), term("prov:wasGeneratedBy"), node)


def _without(body: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in names}


def entries_of(quads: Iterable[Quad | Triple]) -> Iterator[dict[str, Any]]:
    """Yield the rows of an archived log as plain data, oldest first, whatever graphs the quads are in.

    Raises:
        ValueError: the graph holds no log of this format, or a row lacks what it needs.
    """
    nodes: dict[str, dict[str, str]] = {}
    marked = False
    for quad in quads:
        subject, predicate, thing = quad.subject, quad.predicate.value, quad.object
        if not isinstance(thing, (Literal, NamedNode)) or not isinstance(subject, NamedNode):
            continue
        marked = marked or (predicate == term("meta:format").value and thing.value == FORMAT)
        nodes.setdefault(subject.value, {})[predicate] = thing.value
    if not marked:
        raise ValueError(f'a graph with meta:format "{FORMAT}"')
    placed = {int(node[META["place"].value]): iri for iri, node in nodes.items() if META["place"].value in node}
    for place in sorted(placed):
        yield _row(placed[place], nodes[placed[place]])


def _row(iri: str, node: Mapping[str, str]) -> dict[str, Any]:
    def text(name: str) -> str:
        value = node.get(term(name).value)
        if value is None:
            raise ValueError(f"{name} of <{iri}>")
        return value

    body = json.loads(node.get(META["body"].value, "{}"))
    if term("prov:value").value not in node:
        used = node.get(term("prov:used").value)
        record = {"kind": text("meta:kind"), "at": text("prov:startedAtTime"), "body": body}
        return record if used is None else {**record, "about": key_of_iri(used)}
    said = {"session": text("meta:session"), "speaker": text("meta:speaker"), "role": text("meta:role")}
    said["text"] = text("prov:value")
    body = {**said, **({"generated": True} if node.get(META["generated"].value) == "true" else {}), **body}
    return {"kind": "turn", "at": text("prov:generatedAtTime"), "turn_id": key_of_iri(iri), "body": body}
