"""Where the facts of a memory are found again: by slot, by who they are about, by what they name and by their words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from doxa.core.values import Fact, Term
from doxa.language import stems_of
from doxa.memory.identity import is_identity
from doxa.memory.paged import Lists, Pack, PackWriter, Table, joined
from doxa.memory.slots import Slot, slot_of

__all__ = ["FactIndex"]


class FactIndex:
    """Rows of facts by their parts. Adding one costs O(its words), a lookup O(facts found).

    Keys of entities are those under which their facts are kept. Identities are found by slot and by `identities` alone.

    Args:
        facts: where they are.
    """

    def __init__(self, facts: Table[Fact]) -> None:
        self._facts = facts
        self._by_slot = Lists()
        self._by_subject = Lists()
        self._by_relation = Lists()
        """By subject and relation."""
        self._by_object = Lists()
        self._by_value = Lists()
        """By stems of the object as it was called first; of some rows the fact is forgotten."""
        self._of_relation = Lists()
        self._identities = Lists()
        self._possessions = Lists()
        """By owner, the subjects that are theirs, as numbers of `_by_subject`."""
        self._words = Lists()
        """By stem, the subjects whose first name had it, as numbers of `_by_subject`; of some nothing is told now."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FactIndex):
            return NotImplemented
        return self._parts == other._parts

    __hash__ = None  # type: ignore[assignment]

    def add(self, row: int, fact: Fact) -> None:
        """Take in a fact."""
        self._by_slot.append(joined(*slot_of(fact)), row)
        if is_identity(fact):
            for term in (fact.subject, fact.object):
                self._identities.append(term.key, row)
            return
        key, owner = fact.subject.key, _owner(fact.subject.key)
        new, back = self._by_subject.number(key) is None, key not in self._by_subject
        for index, place in self._places(fact):
            index.append(place, row)
        if owner and back:
            self._possessions.append(owner, self._subject(key))
        for stem in stems_of(fact.subject.label) if new else ():
            self._words.append(stem, self._subject(key))
        for stem in stems_of(fact.object.label):
            self._by_value.append(stem, row)

    def remove(self, row: int, fact: Fact) -> None:
        """Forget a fact that is no identity. O(facts that share a part with it)."""
        key, owner = fact.subject.key, _owner(fact.subject.key)
        self._by_slot.remove(joined(*slot_of(fact)), row)
        for index, place in self._places(fact):
            index.remove(place, row)
        if owner and key not in self._by_subject:
            self._possessions.remove(owner, self._subject(key))

    def in_slot(self, slot: Slot) -> list[Fact]:
        """Return the facts of a slot, in the order in which they came to be."""
        return self._found(self._by_slot.get(joined(*slot)))

    def about(self, key: str, relation: str | None, latest: int | None) -> list[Fact]:
        """Return the facts about an entity, or those of one relation; the `latest` of them, None for all."""
        rows = self._by_subject.get(key) if relation is None else self._by_relation.get(joined(key, relation))
        return self._found(rows if latest is None else rows[-latest:])

    def valued_at(self, key: str) -> list[Fact]:
        """Return the facts whose object is an entity."""
        return self._found(self._by_object.get(key))

    def of_relations(self, names: Iterable[str], stems: Collection[str]) -> list[Fact]:
        """Return the facts of some relations, of those with stems those whose object has one."""
        rows = {row for name in names for row in self._of_relation.get(name)}
        if stems:
            rows &= {row for stem in stems for row in self._by_value.get(stem)}
        return self._found(sorted(rows))

    def naming(self, stems: Collection[str]) -> list[Fact]:
        """Return the facts that have a stem in their subject, relation or object. Cost O(relations + facts found)."""
        rows = {row for stem in stems for row in self._by_value.get(stem)}
        alike = [name for name in self._of_relation if not stems_of(name.replace("_", " ")).isdisjoint(stems)]
        rows |= {row for name in alike for row in self._of_relation.get(name)}
        rows |= {row for key in self._named(stems) for row in self._by_subject.get(key)}
        return self._found(sorted(rows - self._facts.gone))

    def subjects(self, stems: Iterable[str]) -> list[Term]:
        """Return those of whom anything is told and whose name has a stem, in the order in which they came."""
        return [self._facts.at(self._by_subject.get(key)[-1]).subject for key in self._named(stems)]

    def possessions(self, owner: str) -> list[str]:
        """Return the keys of the subjects that are an owner's."""
        return [self._by_subject.key_at(number) for number in self._possessions.get(owner)]

    def identities(self, keys: Iterable[str]) -> list[Fact]:
        """Return the identities that name one of some keys."""
        return self._found(dict.fromkeys(row for key in keys for row in self._identities.get(key)))

    def save(self, writer: PackWriter, name: str) -> None:
        """Write it."""
        for part, index in self._parts.items():
            index.save(writer, f"{name}.{part}")

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack has in place of what is here."""
        for part, index in self._parts.items():
            index.load(pack, f"{name}.{part}")

    @property
    def _parts(self) -> dict[str, Lists]:
        return {
            "slot": self._by_slot,
            "subject": self._by_subject,
            "relation": self._by_relation,
            "object": self._by_object,
            "value": self._by_value,
            "of_relation": self._of_relation,
            "identities": self._identities,
            "possessions": self._possessions,
            "words": self._words,
        }

    def _places(self, fact: Fact) -> Iterator[tuple[Lists, str]]:
        key, relation = fact.subject.key, fact.relation.name
        yield self._by_subject, key
        yield self._by_relation, joined(key, relation)
        yield self._by_object, fact.object.key
        yield self._of_relation, relation

    def _named(self, stems: Iterable[str]) -> list[str]:
        """Return the subjects of whom anything is told and whose name has a stem."""
        numbers = sorted({number for stem in stems for number in self._words.get(stem)})
        return [key for key in map(self._by_subject.key_at, numbers) if key in self._by_subject]

    def _subject(self, key: str) -> int:
        number = self._by_subject.number(key)
        assert number is not None
        return number

    def _found(self, rows: Iterable[int]) -> list[Fact]:
        return [self._facts.at(row) for row in rows]


def _owner(key: str) -> str:
    """Return whose a subject is ("ana" of "ana's rent"); empty for nobody's."""
    return key.rpartition("'s ")[0]
