"""The relations of a memory graph: a number each, what they are called, and which kinds of thing they tell."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Fact
from doxa.language import stems
from doxa.memory import Form, Keys, Lists, Pack, PackWriter, Records, inventory, relation_type
from doxa.recall.graph.settings import settings

__all__ = ["KINDS", "Relations", "kinds_of", "told_by"]

KINDS = ("preference", "place", "person", "time", "count")
"""What a query may seek (`Query.seeks`) and a fact may tell."""
NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|once|twice)\b", re.IGNORECASE
)


class Relations:
    """Relations in the order in which they came. Adding one costs O(its words)."""

    def __init__(self) -> None:
        self._names = Keys()
        self._told: Records[tuple[str, int]] = Records(Form(list, tuple))
        """What each is called, and the kinds of thing that it tells, as bits of `KINDS`."""
        self._having = Lists()
        """Relations by the stems of their wording."""

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str, label: str) -> int:
        """Return the number of a relation, a new one if it was not there."""
        number = self._names.add(name)
        if number == len(self._told):
            self._told.append((label, served_by(name, label)))
            for stem in dict.fromkeys(stems(label)):
                self._having.append(stem, number)
        return number

    def label(self, number: int) -> str:
        """Return what a relation is called."""
        return self._told[number][0]

    def serves(self, number: int) -> int:
        """Return the kinds of thing that the objects of a relation are, as bits of `KINDS`."""
        return self._told[number][1]

    def having(self, terms: Iterable[str]) -> NDArray[np.intp]:
        """Return the numbers of the relations whose wording shares a stem with some, sorted."""
        return np.array(sorted({number for stem in terms for number in self._having.get(stem)}), dtype=np.intp)

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        self._names.save(writer, f"{name}.names")
        self._told.save(writer, f"{name}.told")
        self._having.save(writer, f"{name}.having")

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._names.load(pack, f"{name}.names")
        self._told.load(pack, f"{name}.told")
        self._having.load(pack, f"{name}.having")


def served_by(name: str, label: str) -> int:
    """Return the kinds of thing (bits of `KINDS`) that the objects of a relation are."""
    relation, known = relation_type(name, label), set(inventory().ancestors(name))
    words, found = set(stems(label)), 0
    for bit, kind in enumerate(KINDS):
        asked = settings()["seeks"][kind]
        if (
            name in asked.get("relations", ())
            or relation.range in asked.get("ranges", ())
            or not known.isdisjoint(asked.get("groups", ()))
            or not words.isdisjoint(asked.get("stems", ()))
            or (relation.kind == "verb" and label.rpartition(" ")[2] in asked.get("prepositions", ()))
        ):
            found |= 1 << bit
    return found


def told_by(fact: Fact) -> int:
    """Return the kinds of thing that a fact tells beside its relation: a time, a number."""
    dated = fact.valid.start is not None or fact.valid.end is not None
    counted = NUMBER.search(fact.object.label) is not None
    return (dated << KINDS.index("time")) | (counted << KINDS.index("count"))


def kinds_of(seeks: Iterable[str]) -> int:
    """Return kinds of thing that a query seeks as bits of `KINDS`; unknown ones are left out."""
    return sum(1 << KINDS.index(kind) for kind in set(seeks) if kind in KINDS)
