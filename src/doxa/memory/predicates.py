"""Facts by what they say of somebody: where the wording of a rule meets that of a fact.

"If room 1 is occupied" and "room 1 | is | occupied" are one proposition, although the verb and the adjective stand in
different fields. So propositions are compared by subject and *predicate*: the stems of relation and object together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from doxa.core.values import Fact, Relation, Term
from doxa.language import stems

__all__ = ["PredicateIndex", "predicate_of"]

COPULAS = frozenset(["is_a", "has_state", "works_as"])
"""Relations that say what somebody is; which of them a reader chooses is no difference between two propositions."""


def predicate_of(relation: Relation, thing: Term) -> str:
    """Return what a relation and its object say, in stems: "is occupied", "be occupied |" -> "occupi"."""
    return _predicate(relation.name, relation.label, thing.label)


@lru_cache(maxsize=65536)
def _predicate(name: str, label: str, thing: str) -> str:
    said = thing if name in COPULAS else f"{label} {thing}"
    return " ".join(stems(said)) or f"{name} {thing}".strip().casefold()


@dataclass(slots=True)
class PredicateIndex:
    """Ids of facts by predicate and subject, and by relation. Adding, removing cost O(1), a lookup O(facts found)."""

    relations: frozenset[str] | None = frozenset()
    """The relations whose facts are indexed, None for all: as long as no rule is stated only those of axioms are."""
    _by_predicate: dict[str, dict[str, dict[str, None]]] = field(default_factory=lambda: defaultdict(dict))
    _by_relation: dict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    @classmethod
    def of(cls, facts: Iterable[Fact], relations: frozenset[str] | None) -> PredicateIndex:
        """Return the index of the facts of some relations; None for all."""
        index = cls(relations)
        for fact in facts:
            index.add(fact)
        return index

    def covers(self, relations: frozenset[str] | None) -> bool:
        """Tell whether the facts of some relations are indexed; None for all."""
        return self.relations is None or (relations is not None and relations <= self.relations)

    def _wanted(self, fact: Fact) -> bool:
        return self.relations is None or fact.relation.name in self.relations

    def add(self, fact: Fact) -> None:
        """Take in a fact, if its relation is indexed."""
        if self._wanted(fact):
            subjects = self._by_predicate[predicate_of(fact.relation, fact.object)]
            subjects.setdefault(fact.subject.key, {})[fact.fact_id] = None
            self._by_relation[fact.relation.name][fact.fact_id] = None

    def remove(self, fact: Fact) -> None:
        """Forget a fact."""
        if self._wanted(fact):
            del self._by_predicate[predicate_of(fact.relation, fact.object)][fact.subject.key][fact.fact_id]
            del self._by_relation[fact.relation.name][fact.fact_id]

    def saying(self, predicate: str, subject: str | None = None) -> Iterator[str]:
        """Yield the ids of the facts that say a predicate of a subject; of anybody for None."""
        subjects = self._by_predicate.get(predicate, {})
        if subject is not None:
            yield from subjects.get(subject, ())
            return
        for ids in subjects.values():
            yield from ids

    def relating(self, relation: str) -> Iterator[str]:
        """Yield the ids of the facts of a relation, in the order in which they came to be."""
        yield from self._by_relation.get(relation, ())
