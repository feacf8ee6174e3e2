"""Facts by what they say of somebody: where the wording of a rule meets that of a fact.

"If room 1 is occupied" and "room 1 | is | occupied" are one proposition, although the verb and the adjective stand in
different fields. So propositions are compared by subject and *predicate*: the stems of relation and object together.
"""

from __future__ import annotations

from functools import lru_cache

from doxa.core.values import Fact, Relation, Term
from doxa.language import stems
from doxa.memory.paged import Lists, Pack, PackWriter, Table, joined

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


class PredicateIndex:
    """Facts by predicate and subject, and by relation. Adding one costs O(1), a lookup O(facts found).

    Args:
        facts: where they are.
        relations: those whose facts are indexed, None for all: as long as no rule is stated only those of axioms are.
    """

    def __init__(self, facts: Table[Fact], relations: frozenset[str] | None = frozenset()) -> None:
        self._facts = facts
        self.relations = relations
        self._saying = Lists()
        self._said_of = Lists()
        self._relating = Lists()

    @classmethod
    def of(cls, facts: Table[Fact], relations: frozenset[str] | None) -> PredicateIndex:
        """Return the index of the facts of some relations; None for all. Cost O(facts)."""
        index = cls(facts, relations)
        for row in facts.rows():
            index.add(row, facts.at(row))
        return index

    def covers(self, relations: frozenset[str] | None) -> bool:
        """Tell whether the facts of some relations are indexed; None for all."""
        return self.relations is None or (relations is not None and relations <= self.relations)

    def add(self, row: int, fact: Fact) -> None:
        """Take in a fact, if its relation is indexed."""
        for index, key in self._keys(fact):
            index.append(key, row)

    def remove(self, row: int, fact: Fact) -> None:
        """Forget a fact."""
        for index, key in self._keys(fact):
            index.remove(key, row)

    def saying(self, predicate: str, subject: str | None = None) -> list[str]:
        """Return the ids of the facts that say a predicate of a subject, in the order in which they came to be.

        Args:
            predicate: as `predicate_of` gives it.
            subject: the key of whom it is said of; None for anybody.
        """
        rows = self._saying.get(predicate) if subject is None else self._said_of.get(joined(predicate, subject))
        return [self._facts.key_at(row) for row in rows]

    def relating(self, relation: str) -> list[str]:
        """Return the ids of the facts of a relation, in the order in which they came to be."""
        return [self._facts.key_at(row) for row in self._relating.get(relation)]

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it."""
        writer.value(f"{name}.of", None if self.relations is None else sorted(self.relations))
        for part, index in self._parts.items():
            index.save(writer, f"{name}.{part}")

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of what is here."""
        relations = pack.value(f"{name}.of")
        self.relations = None if relations is None else frozenset(relations)
        for part, index in self._parts.items():
            index.load(pack, f"{name}.{part}")

    @property
    def _parts(self) -> dict[str, Lists]:
        return {"saying": self._saying, "said_of": self._said_of, "relating": self._relating}

    def _keys(self, fact: Fact) -> list[tuple[Lists, str]]:
        if self.relations is not None and fact.relation.name not in self.relations:
            return []
        predicate = predicate_of(fact.relation, fact.object)
        said_of = joined(predicate, fact.subject.key)
        return [(self._saying, predicate), (self._said_of, said_of), (self._relating, fact.relation.name)]
