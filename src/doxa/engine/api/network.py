"""A memory -> nodes and edges, as Graphiti has it: entities, and the facts between them."""

from __future__ import annotations

from collections.abc import Iterable

from doxa.core.values import Entity, Evidence, Fact, Status
from doxa.engine.api.memory import Memory

__all__ = ["Network"]

CANDIDATES = 100
"""Pieces of evidence that a search looks at: many turns say nothing that is an edge."""
TOLD = (Status.HELD, Status.SUPERSEDED)


class Network:
    """The facts and entities of a memory as they are when this is made. Cost: O(facts).

    Args:
        memory: of whom.
        past: also what held once; what never was true, or is not believed, is left out.
    """

    def __init__(self, memory: Memory, *, past: bool = False) -> None:
        self.memory = memory
        self.past = past
        facts = memory.facts(current=False) if past else memory.facts()
        self.facts = {fact.fact_id: fact for fact in facts if not past or fact.status in TOLD}
        self.entities = {one.key: one for one in memory.entities()}
        self._of_turn: dict[str, list[Fact]] = {}
        self._of_subject: dict[str, list[Fact]] = {}
        for fact in self.facts.values():
            self._of_subject.setdefault(fact.subject.key, []).append(fact)
            for turn_id in fact.turn_ids:
                self._of_turn.setdefault(turn_id, []).append(fact)

    def search(self, query: str) -> list[Evidence]:
        """Return what bears on a query, best first. Cost: one search."""
        return self.memory.search(query, k=CANDIDATES, superseded=self.past, shared=False)

    def found(self, evidence: Iterable[Evidence]) -> dict[str, float]:
        """Return the ids of the facts that evidence speaks for, in its order, each with its best score."""
        found: dict[str, float] = {}
        for one in evidence:
            told = [fact.fact_id for turn_id in one.turn_ids for fact in self._of_turn.get(turn_id, ())]
            for key in (*one.fact_ids, *told):
                if key in self.facts:
                    found.setdefault(key, one.score)
        return found

    def said(self, turn_ids: Iterable[str]) -> list[Fact]:
        """Return the facts that rest on any of some turns, in the order of the turns."""
        found = {fact.fact_id: fact for turn_id in turn_ids for fact in self._of_turn.get(turn_id, ())}
        return list(found.values())

    def ends(self, facts: Iterable[Fact]) -> list[Entity]:
        """Return the subjects and objects of facts, each once; one that is no entity is one of its own label."""
        terms = {term.key: term for fact in facts for term in (fact.subject, fact.object)}
        return [self.entities.get(key, Entity(key=key, label=term.label)) for key, term in terms.items()]

    def about(self, entity: Entity) -> list[Fact]:
        """Return the facts that an entity is the subject of."""
        return self._of_subject.get(entity.key, [])

    def summary(self, entity: Entity) -> str:
        """Return what is known of an entity, as sentences; empty where nothing is."""
        return ". ".join(self.memory.describe(fact) for fact in self.about(entity))
