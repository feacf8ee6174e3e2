"""Some facts -> RDF that a person takes along."""

from __future__ import annotations

from collections.abc import Sequence

from doxa.core.values import Fact
from doxa.engine.wiring.parts import Parts
from doxa.engine.wiring.placing import ontology_of
from doxa.logic import FactGraph, GraphFormat, excerpt, write_quads
from doxa.memory import is_current

__all__ = ["written"]


def written(facts: Sequence[Fact], parts: Parts, user: str, format: GraphFormat) -> str:
    """Return facts with their sources: what is believed of them is asserted, and each has a record.

    Cost: O(what it writes), and one encoding for every relation that no ontology lists, once.
    """
    with parts.log.user(user) as state:
        current = [fact for fact in facts if is_current(fact, state.today())]
        cited = (state.turn(key) for fact in facts for key in fact.turn_ids)
        turns = {turn.turn_id: turn for turn in cited if turn is not None}
    graph = FactGraph(user, ontology_of(facts, parts))
    return write_quads(excerpt(graph, facts, current, turns), format, graph.prefixes)
