"""What the graph of a memory says: paths from whom and what a query names to the turns that tell of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.memory import microseconds
from doxa.recall.concepts.concepts import concepts_of, inventory
from doxa.recall.graph.graph import (
    MICROSECONDS_A_DAY,
    NEVER,
    Ids,
    MemoryGraph,
    Standpoint,
    path_weights,
)
from doxa.recall.graph.nodes import CONCEPT_KEY
from doxa.recall.graph.relations import kinds_of
from doxa.recall.graph.tags import STATED
from doxa.recall.graph.walk import Walk
from doxa.recall.queries.query import Query
from doxa.recall.views.candidates import Candidates, Look, Places, Scores, by_speaker

__all__ = ["Graph", "tastes_of", "told_at"]

EPOCH_DAY = 719_163
"""`date(1970, 1, 1).toordinal()`."""
HALF = 0.02
"""A walk that ends at a turn this likely counts half."""
OTHERS = 0.5
"""What a fact counts that fits the query and is about somebody else."""
OFF_TOPIC = 0.3
"""What a path to a turn that is about none of the concepts of a query for advice counts."""
OPEN = 0.5
"""How much a taste is about a query that names no concept and asks for advice."""
ASKER = 0.2
"""How much of the walk starts from the people that a query names, against 1 from what it names."""
WIDER = 3
"""Times its budget of turns that the view looks at before it proposes."""
SEEDS = 24
"""Nodes from which a walk starts at most."""
KEPT = 3
"""Lists of places whose facts are kept for a query: what it proposes, scores and explains."""
LATEST = 64
"""Facts of a person that are proposed at most when they fit the query: the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a query says of the graph."""

    since: Standpoint
    people: Ids
    """Nodes of those whom it is about, sorted."""
    relations: Ids
    """Relations whose wording it shares, sorted."""
    sought: int
    """What it seeks, as bits of `KINDS`."""
    about: Mapping[str, float]
    """What it is about in kind."""
    concepts: Mapping[str, float]
    """The same, and what its people are known to like of that."""
    tastes: Mapping[str, tuple[float, int]]
    """The promotions of its people: the strength and the source of each, by concept."""
    weights: Mapping[str, float]
    """How far each kind of path alone can raise the score `graph`."""
    walk: Walk

    def fits(self, graph: MemoryGraph, source: Ids) -> NDArray[np.bool_]:
        """Tell which facts the query asks for, by their relation or by the kind of thing that they tell."""
        named = among(graph.sources.take("relation", source), self.relations)
        fits: NDArray[np.bool_] = named | ((graph.sources.take("serves", source) & self.sought) > 0)
        return fits


@dataclass(frozen=True, slots=True)
class Told:
    """The facts of some places, as `MemoryGraph.told` gives them."""

    places: Places
    rows: Ids
    source: Ids


class Graph:
    """Scores `graph`, how well paths from the query lead to a turn, and the parts of it, each 0 to 1.

    | score | path |
    |---|---|
    | `told` | anything that the turn tells: surer and rarer facts, and more of them, count more |
    | `graph_subject` | a person of the query -fact-> anything <-told in- turn |
    | `graph_relation` | the same, where the relation is in the query's words |
    | `graph_sought` | the same, where the fact tells the kind of thing that the query seeks |
    | `graph_concept` | what the query is about <-about- turn, with what the person is known to like of it |
    | `graph_stance` | a person of the query -states a liking, a limit or a habit in-> turn |
    | `graph_taste` | both at once |
    | `graph_walk` | a random walk of up to three hops over facts, names, concepts and turns |

    `graph` itself is how likely at least one of them leads there (a noisy or), each held down by its weight in
    `graph.toml`. It leaves out `told`, which is no path from the query.
    """

    name = "graph"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return the turns to which the best paths lead. The edges that it touches are bounded."""
        if budget <= 0:
            return Candidates.none()
        graph, reading = look.index.graph, read(look)
        stating = look.index.tags.stating(reading.concepts, LATEST)
        parts = (self._walked(graph, reading, budget), self._fitting(graph, reading), stating)
        places = np.unique(np.concatenate(parts))
        if not len(places):
            return Candidates.none()
        scores = self.scores(look, places)["graph"]
        return look.best(places[scores > 0], scores[scores > 0], budget)

    def _walked(self, graph: MemoryGraph, reading: Reading, budget: int) -> Places:
        """Return the turns where the walk ends most likely."""
        places = graph.nodes.places(reading.walk.nodes)
        turns = np.flatnonzero(places >= 0)
        best = np.lexsort((-places[turns], -reading.walk.mass[turns]))[: WIDER * budget]
        return places[turns[best]]

    def _fitting(self, graph: MemoryGraph, reading: Reading) -> Places:
        """Return the turns of the latest facts about the people of a query that fit it."""
        edges = np.unique(graph.edges_of(reading.people, LATEST * 4)[1])
        ends = graph.edges.take("end", edges).astype(np.intp)
        source = graph.edges.take("source", edges).astype(np.intp)
        told = (source >= 0) & (graph.nodes.places(ends) >= 0)
        ends, source = ends[told], source[told]
        return np.unique(graph.nodes.places(ends[reading.fits(graph, source)])[-LATEST:])

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return the scores of every place, 0 to 1. Cost O(facts of these turns)."""
        graph, reading, size = look.index.graph, read(look), len(places)
        rows, source = told_at(look, places)
        strength = graph.strengths(source, reading.since)
        things = graph.sources.take("object", source).astype(np.intp)
        worth = strength * np.where(things >= 0, graph.nodes.rarity(np.maximum(things, 0)), 0)
        about = among(graph.sources.take("subject", source), reading.people)
        owned = strength * np.where(about, 1, OTHERS)
        named = among(graph.sources.take("relation", source), reading.relations)
        sought = (graph.sources.take("serves", source) & reading.sought) > 0
        mass = reading.walk.at(graph.turns(places))
        concept, stance = self._stated(look, places)
        # Asked where to eat, that somebody loves dogs is beside the point, however surely they said it. A question that
        # names no topic has nothing beside its point, whatever of its people's tastes was promoted.
        near = np.where(concept > 0, 1, OFF_TOPIC).astype(np.float32) if reading.about else np.float32(1)
        parts = {
            "graph_subject": near * either(rows[about], worth[about], size),
            "graph_relation": most(rows[named], owned[named], size),
            "graph_sought": near * most(rows[sought], owned[sought], size),
            "graph_concept": concept,
            "graph_stance": near * stance,
            "graph_taste": concept * stance,
            "graph_walk": (mass / (mass + HALF)).astype(np.float32),
        }
        misses = [1 - np.float32(weight) * parts[name] for name, weight in reading.weights.items()]
        told = either(rows, worth, size)
        return {"graph": 1 - np.prod(misses, axis=0), "told": told, **parts}

    def _stated(self, look: Look, places: Places) -> tuple[Scores, Scores]:
        """Return which share of the query's concepts turns are about, and how sure its people state something."""
        tags, reading = look.index.tags, read(look)
        if "preference" not in look.query.seeks:  # what people like is evidence for advice, and noise elsewhere
            return np.zeros(len(places), dtype=np.float32), np.zeros(len(places), dtype=np.float32)
        stances = tags.stances(places)
        if look.query.speakers:
            stances = stances * by_speaker(look.query, look.state, places)
        return tags.about(places, reading.concepts), stances

    def path(self, look: Look, place: int) -> str:
        """Return the path to a place in words: "Ana -loves-> Titanic"; empty when none leads there."""
        graph, reading = look.index.graph, read(look)
        if "graph_taste" in reading.weights and (taste := self._taste(look, place)):
            return taste
        where = np.array([place], dtype=np.intp)
        fact = self._best_fact(reading, graph, told_at(look, where)[1])
        if fact is not None:
            return graph.wording_of(fact)
        way = reading.walk.way(int(graph.turns(where)[0]))
        return joined([graph.step(*step) for step in way[:-1]])

    def _best_fact(self, reading: Reading, graph: MemoryGraph, source: Ids) -> int | None:
        """Return the fact that fits the query best; None when none is of its people and none is asked for."""
        about = among(graph.sources.take("subject", source), reading.people)
        fits = about + reading.fits(graph, source).astype(np.float32)
        if not fits.any():
            return None
        strength = graph.strengths(source, reading.since)
        best = int(np.argmax((fits > 0) * (strength > 0) * (fits + strength)))
        return int(source[best]) if fits[best] * strength[best] > 0 else None

    def _taste(self, look: Look, place: int) -> str:
        """Return the path over a concept that a person of the query likes, and the turn is about; empty for none."""
        graph, reading, about = look.index.graph, read(look), look.index.tags.of(place)
        turn = graph.label(int(graph.turns(np.array([place], dtype=np.intp))[0]))
        tastes = [(weight * about[name], name) for name, (weight, _) in reading.tastes.items() if name in about]
        if tastes:
            name = max(tastes)[1]
            return f"{graph.wording_of(reading.tastes[name][1])} <-about- {turn}"
        shared = [(weight * about[name], name) for name, weight in reading.concepts.items() if name in about]
        stated = look.index.tags.stances(np.array([place], dtype=np.intp))[0] >= STATED
        return f"{inventory()[max(shared)[1]].label} <-about- {turn}" if shared and stated else ""


def joined(steps: Sequence[object]) -> str:
    """Return steps as one path."""
    return "; ".join(map(str, steps))


def read(look: Look) -> Reading:
    """Return what the query of a look says of the graph; it is worked out once."""
    known = look.notes.get("graph")
    if not isinstance(known, Reading):
        known = look.notes["graph"] = _read(look)
    return known


def tastes_of(look: Look) -> Mapping[str, tuple[float, int]]:
    """Return the concepts that are promoted for the people of a query, each with its strength and its source."""
    return read(look).tastes


def _read(look: Look) -> Reading:
    query, graph = look.query, look.index.graph
    since = Standpoint(
        historical=query.past,
        day=None if query.today is None else query.today.toordinal() - EPOCH_DAY,
        known=None if query.known_at is None else microseconds(query.known_at) // MICROSECONDS_A_DAY,
        least=look.spec.tau if look.spec.promotions else NEVER,
    )
    people = np.array(sorted(_people(look)), dtype=np.intp)
    advice = "preference" in query.seeks
    tastes = graph.tastes(people, since)
    about = _about(query, look.state.encoder)
    concepts = _with_tastes(about, tastes) if advice else about
    return Reading(
        since=since,
        people=people,
        relations=graph.relations.having(query.terms),
        sought=kinds_of(query.seeks),
        about=about,
        concepts=concepts,
        tastes=tastes,
        weights=path_weights(advice=advice),
        walk=graph.walk(_seeds(look, people, concepts), since),
    )


def _about(query: Query, encoder: str) -> dict[str, float]:
    """Return what a query for advice is about in kind; nothing for any other one."""
    if "preference" not in query.seeks:
        return {}
    return dict(query.concepts or concepts_of(query.text, query.vector, encoder=encoder))


def _with_tastes(about: Mapping[str, float], tastes: Mapping[str, tuple[float, int]]) -> dict[str, float]:
    """Return what a query is about, and the kinds of that which its people are known to like or avoid.

    A query for advice that is about nothing in particular is about all that they like.
    """
    found = dict(about)
    for name, (strength, _) in tastes.items():
        domain = about.get(name.partition("/")[0], 0.0 if about else OPEN)
        if domain * strength > found.get(name, 0.0):
            found[name] = domain * strength
    return found


def _people(look: Look) -> set[int]:
    """Return the nodes of the speakers that the query names, and of the asker where they speak of themselves."""
    query, beliefs, graph = look.query, look.state.beliefs, look.index.graph
    names = set(query.speakers)
    if query.own or "preference" in query.seeks:
        names.add(look.state.person() or look.state.user)
    nodes = (graph.node(beliefs.key(name.casefold())) for name in names)
    return {node for node in nodes if node is not None}


def _seeds(look: Look, people: Ids, concepts: Mapping[str, float]) -> dict[int, float]:
    """Return where a walk starts: the names that the query has words of, by rarity, its concepts, and its people."""
    query, graph = look.query, look.index.graph
    nodes, shares = graph.nodes.linked([*query.terms, *(term for term, _ in query.expansions)])
    strengths = shares**2 * graph.nodes.rarity(nodes)
    seeds = dict(zip(nodes.tolist(), strengths.tolist(), strict=True))
    for key, weight in [
        *((look.state.beliefs.key(label.casefold()), 1.0) for label in query.entities),
        *((f"{CONCEPT_KEY}{concept}", weight) for concept, weight in concepts.items()),
    ]:
        node = graph.node(key)
        if node is not None:
            seeds[node] = max(seeds.get(node, 0.0), weight)
    for node in people.tolist():
        seeds[node] = max(seeds.get(node, 0.0), ASKER)
    best = sorted(seeds, key=lambda node: (-seeds[node], node))[:SEEDS]
    return {node: seeds[node] for node in best}


def told_at(look: Look, places: Places) -> tuple[Ids, Ids]:
    """Return which facts turns tell, as rows of `places` and sources of the graph; the same ones are looked up once."""
    known = [one for one in look.notes.get("told", ()) if isinstance(one, Told)]
    for one in known:
        if one.places is places:
            return one.rows, one.source
        if len(places) == 1 and len(row := np.flatnonzero(one.places == places[0])):
            source = one.source[one.rows == row[0]]
            return np.zeros(len(source), dtype=np.intp), source
    rows, source = look.index.graph.told(places)
    look.notes["told"] = [Told(places, rows, source), *known][:KEPT]
    return rows, source


def among(values: NDArray[np.integer[Any]], few: Ids) -> NDArray[np.bool_]:
    """Tell which values are among a few, `(k,) bool`; faster than sorting for the handful that a query names."""
    if len(few) > 8:
        return np.isin(values, few)
    found = np.zeros(len(values), dtype=np.bool_)
    for one in few.tolist():
        found |= values == one
    return found


def either(rows: Ids, chances: Scores, size: int) -> Scores:
    """Return for every row that at least one of its chances comes true, `(size,) float32` (a noisy or)."""
    misses = np.bincount(rows, weights=np.log1p(-np.minimum(chances, np.float32(0.999))), minlength=size)
    return (1 - np.exp(misses)).astype(np.float32)


def most(rows: Ids, values: Scores, size: int) -> Scores:
    """Return the largest value of every row, 0 where there is none, `(size,) float32`."""
    found = np.zeros(size, dtype=np.float32)
    np.maximum.at(found, rows, values.astype(np.float32))
    return found
