"""What the graph of a memory says: paths from whom and what a query names to the turns that tell of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from doxa.memory import microseconds
from doxa.recall.graph import MICROSECONDS_A_DAY, Ids, MemoryGraph, Standpoint, kinds_of
from doxa.recall.views.candidates import Candidates, Look, Places, Scores
from doxa.recall.walk import Walk

__all__ = ["Graph"]

EPOCH_DAY = 719_163
"""`date(1970, 1, 1).toordinal()`."""
SUBJECT, RELATION, SOUGHT, WALKED = 0.4, 0.3, 0.5, 0.3
"""How far each kind of path alone can raise the score `graph`."""
HALF = 0.02
"""A walk that ends at a turn this likely counts half."""
ASKER = 0.2
"""How much of the walk starts from the people that a query names, against 1 from what it names."""
WIDER = 3
"""Times its budget of turns that the view looks at before it proposes."""
SEEDS = 24
"""Nodes from which a walk starts at most."""
LATEST = 64
"""Facts of a person that are proposed at most when they fit the query: the latest."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a query says of the graph."""

    since: Standpoint
    people: Ids
    """Nodes of those whom it is about, sorted."""
    relations: Ids
    """Relations whose wording it shares, sorted."""
    sought: int
    """What it seeks, as bits of `KINDS`."""
    walk: Walk


class Graph:
    """Scores `graph`, how well paths from the query lead to a turn, and `told`, how much a turn tells at all.

    Paths are: a person -fact-> anything <-told in- turn; the same where the fact's relation is in the query's words, or
    tells what the query seeks; and a random walk of up to three hops from what it names, over facts, names, concepts
    and the turns that mention them.
    """

    name = "graph"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return the turns to which the best paths lead. The edges that it touches are bounded."""
        if budget <= 0:
            return Candidates.none()
        graph, reading = look.index.graph, read(look)
        places = np.union1d(self._walked(graph, reading, budget), self._fitting(graph, reading))
        if not len(places):
            return Candidates.none()
        scores = self.scores(look, places)["graph"]
        return look.best(places[scores > 0], scores[scores > 0], budget)

    def _walked(self, graph: MemoryGraph, reading: Reading, budget: int) -> Places:
        """Return the turns where the walk ends most likely."""
        places = graph.places(reading.walk.nodes)
        turns = np.flatnonzero(places >= 0)
        best = np.lexsort((-places[turns], -reading.walk.mass[turns]))[: WIDER * budget]
        return places[turns[best]]

    def _fitting(self, graph: MemoryGraph, reading: Reading) -> Places:
        """Return the turns of the latest facts about the people of a query that fit it."""
        _, edges = graph.edges_of(reading.people, LATEST * 4)
        ends = graph.edges["end"][edges].astype(np.intp)
        source = graph.edges["source"][edges].astype(np.intp)
        told = (source >= 0) & (graph.places(ends) >= 0)
        ends, source = ends[told], source[told]
        fits = np.isin(graph.sources["relation"][source], reading.relations)
        fits |= (graph.sources["serves"][source] & reading.sought) > 0
        return np.unique(graph.places(ends[fits])[-LATEST:])

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return both scores of every place, 0 to 1. Cost O(facts of these turns)."""
        graph, reading = look.index.graph, read(look)
        rows, source = graph.told(places)
        strength = graph.strengths(source, reading.since)
        things = graph.sources["object"][source].astype(np.intp)
        rare = np.where(things >= 0, graph.rarity(np.maximum(things, 0)), 0)
        about = np.isin(graph.sources["subject"][source], reading.people)
        size = len(places)
        subject = either(rows[about], (strength * rare)[about], size)
        named = np.isin(graph.sources["relation"][source], reading.relations)
        sought = (graph.sources["serves"][source] & reading.sought) > 0
        weight = strength * np.where(about, 1, 0.5)
        mass = reading.walk.at(graph.turns(places))
        paths = (
            SUBJECT * subject,
            RELATION * most(rows[named], weight[named], size),
            SOUGHT * most(rows[sought], weight[sought], size),
            WALKED * mass / (mass + HALF),
        )
        graph_score = 1 - np.prod([1 - path for path in paths], axis=0)
        return {"graph": graph_score.astype(np.float32), "told": either(rows, strength * rare, size)}

    def path(self, look: Look, place: int) -> str:
        """Return the path to a place in words: "Ana -loves-> Titanic"; empty when none leads there."""
        graph, reading = look.index.graph, read(look)
        _, source = graph.told(np.array([place], dtype=np.intp))
        strength = graph.strengths(source, reading.since)
        fits = np.isin(graph.sources["subject"][source], reading.people).astype(np.float32)
        fits += np.isin(graph.sources["relation"][source], reading.relations)
        fits += (graph.sources["serves"][source] & reading.sought) > 0
        if len(source) and fits.max() > 0:
            return graph.wording_of(int(source[np.argmax(fits + strength)]))
        way = reading.walk.way(int(graph.turns(np.array([place], dtype=np.intp))[0]))
        return joined([graph.step(*step) for step in way[:-1]])


def joined(steps: Sequence[object]) -> str:
    """Return steps as one path."""
    return "; ".join(map(str, steps))


def read(look: Look) -> Reading:
    """Return what the query of a look says of the graph; it is worked out once."""
    known = look.notes.get("graph")
    if not isinstance(known, Reading):
        known = look.notes["graph"] = _read(look)
    return known


def _read(look: Look) -> Reading:
    query, graph = look.query, look.index.graph
    since = Standpoint(
        historical=query.past,
        day=None if query.today is None else query.today.toordinal() - EPOCH_DAY,
        known=None if query.known_at is None else microseconds(query.known_at) // MICROSECONDS_A_DAY,
    )
    people = np.array(sorted(_people(look)), dtype=np.intp)
    return Reading(
        since=since,
        people=people,
        relations=graph.relations_with(query.terms),
        sought=kinds_of(query.seeks),
        walk=graph.walk(_seeds(look, people), since),
    )


def _people(look: Look) -> set[int]:
    """Return the nodes of the speakers that the query names, and of the asker where they speak of themselves."""
    query, beliefs, graph = look.query, look.state.beliefs, look.index.graph
    names = set(query.speakers)
    if query.own or "preference" in query.seeks:
        names.add(look.state.person() or look.state.user)
    nodes = (graph.node(beliefs.key(name.casefold())) for name in names)
    return {node for node in nodes if node is not None}


def _seeds(look: Look, people: Ids) -> dict[int, float]:
    """Return where a walk starts: the names that the query has words of, by rarity, its concepts, and its people."""
    query, graph = look.query, look.index.graph
    nodes, shares = graph.linked([*query.terms, *(term for term, _ in query.expansions)])
    strengths = shares**2 * graph.rarity(nodes)
    seeds = dict(zip(nodes.tolist(), strengths.tolist(), strict=True))
    for key, weight in [
        *((look.state.beliefs.key(label.casefold()), 1.0) for label in query.entities),
        *((f"concept {concept}", weight) for concept, weight in query.concepts),
    ]:
        node = graph.node(key)
        if node is not None:
            seeds[node] = max(seeds.get(node, 0.0), weight)
    for node in people.tolist():
        seeds[node] = max(seeds.get(node, 0.0), ASKER)
    best = sorted(seeds, key=lambda node: (-seeds[node], node))[:SEEDS]
    return {node: seeds[node] for node in best}


def either(rows: Ids, chances: Scores, size: int) -> Scores:
    """Return for every row that at least one of its chances comes true, `(size,) float32` (a noisy or)."""
    misses = np.bincount(rows, weights=np.log1p(-np.minimum(chances, np.float32(0.999))), minlength=size)
    return (1 - np.exp(misses)).astype(np.float32)


def most(rows: Ids, values: Scores, size: int) -> Scores:
    """Return the largest value of every row, 0 where there is none, `(size,) float32`."""
    found = np.zeros(size, dtype=np.float32)
    np.maximum.at(found, rows, values.astype(np.float32))
    return found
