"""A SPARQL query -> what is believed that answers it."""

from __future__ import annotations

from doxa.core.bindings import Bindings
from doxa.engine.history.replay import believed_by
from doxa.engine.intake import Day, Moment, read_day, read_end, require_text
from doxa.engine.wiring.parts import Parts
from doxa.engine.wiring.placing import ontology_of
from doxa.logic import FactGraph, QueryGraph

__all__ = ["sparql"]

KEPT = 4
"""How many graphs of one user are kept until something changes: the present, and some days that are asked about."""


def sparql(
    query: str, parts: Parts, user: str, *, as_of: Day | None, known_at: Moment | None, limit_s: float | None
) -> Bindings:
    """Return what a query finds among the facts of a user; see `Memory.sparql`.

    The graph is built at the first query (O(facts)) and kept with the state that it was made from.
    """
    require_text(query, "sparql")
    day = None if as_of is None else read_day(as_of)
    known = None if known_at is None else read_end(known_at)
    with parts.log.user(user) as state:
        key = ("sparql", day, known)
        graph: QueryGraph | None = state.derived.get(key)
        if graph is None:
            beliefs = state.beliefs if known is None else believed_by(parts.log, user, known)
            today = state.today() if known is None else known.date()
            facts = list(beliefs.select(now=today, as_of=day))
            turns = {turn_id: turn for fact in facts for turn_id in fact.turn_ids if (turn := state.turn(turn_id))}
            graph = QueryGraph(FactGraph(user, ontology_of(facts, parts)), facts, turns)
            if len(state.derived) >= KEPT:
                state.derived.clear()
            state.derived[key] = graph
    return graph.query(query, limit_s=limit_s)
