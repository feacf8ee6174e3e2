"""A SPARQL query -> what is believed that answers it."""

from __future__ import annotations

from datetime import date, datetime

from doxa.core.bindings import Bindings
from doxa.engine.placing import ontology_of
from doxa.engine.replay import believed_by
from doxa.engine.wiring import Parts
from doxa.logic import FactGraph, QueryGraph

__all__ = ["sparql"]

KEPT = 4
"""How many graphs of one user are kept until something changes: the present, and some days that are asked about."""


def sparql(query: str, parts: Parts, user: str, *, as_of: date | None, known_at: datetime | None) -> Bindings:
    """Return what a query finds among the facts of a user; see `Memory.sparql`.

    The graph is built at the first query (O(facts)) and kept with the state that it was made from.
    """
    with parts.log.user(user) as state:
        key = ("sparql", as_of, known_at)
        graph: QueryGraph | None = state.derived.get(key)
        if graph is None:
            beliefs = state.beliefs if known_at is None else believed_by(parts.log, user, known_at)
            today = state.today() if known_at is None else known_at.date()
            facts = list(beliefs.select(now=today, as_of=as_of))
            turns = {turn_id: turn for fact in facts for turn_id in fact.turn_ids if (turn := state.turn(turn_id))}
            graph = QueryGraph(FactGraph(user, ontology_of(facts, parts)), facts, turns)
            if len(state.derived) >= KEPT:
                state.derived.clear()
            state.derived[key] = graph
    return graph.query(query)
