"""The nouns of an ontology: classes, relations and what holds of them.

Values only: `logic` reads them from Turtle or from pydantic classes, `memory` hands them to whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from doxa.core.values import Modality, Relation

__all__ = ["ClassType", "Nature", "Ontology", "RelationType"]

Nature = Literal["state", "event", "permanent"]
"""A state holds for a while, an event happens at a time, and what is permanent holds for good."""
HELPERS = {
    Modality.PLANNED: "plans to",
    Modality.DESIRED: "wants to",
    Modality.POSSIBLE: "may",
    Modality.HYPOTHETICAL: "would",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassType:
    """A class: `parents` are the names of the classes above it that the ontology itself describes."""

    name: str
    label: str
    iri: str
    parents: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    """IRIs of classes of other ontologies that it is below (`dul:Agent`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationType:
    """A relation with its grammar and its axioms.

    `functional`: at most one object at a time. `usual`: one as a rule, so that a later one takes its place, though
    several that are told together all hold ("I work at the library and at the pub"): no axiom says that it is one.

    Source: OWL 2 Structural Specification, section 9.2 (https://www.w3.org/TR/owl2-syntax/).
    """

    name: str
    label: str
    functional: bool = False
    usual: bool = False
    kind: Literal["verb", "noun"] = "verb"
    base: str = ""
    past: str = ""
    iri: str = ""
    """Its name in RDF; empty for a relation that no ontology lists."""
    phrases: tuple[str, ...] = ()
    """Other wordings that mean it, verbs in their base form."""
    parents: tuple[str, ...] = ()
    domain: str = ""
    """The class of its subjects, by name; empty is any."""
    range: str = ""
    """The class of its objects, or what a literal stands for, by name; empty is any."""
    datatype: str = ""
    """The IRI of a datatype when its objects are literals; empty for relations between things."""
    inverse: str = ""
    inverse_functional: bool = False
    symmetric: bool = False
    transitive: bool = False
    asymmetric: bool = False
    irreflexive: bool = False
    disjoint: tuple[str, ...] = ()
    """Relations that never hold of the same pair."""
    nature: Nature = "state"
    abstract: bool = False
    """It only groups others."""
    answered_by: tuple[str, ...] = ()

    @property
    def relation(self) -> Relation:
        """Return the relation as claims carry it."""
        return Relation(self.name, self.label)

    def render(
        self,
        subject: str,
        value: str,
        *,
        polarity: bool = True,
        past: bool = False,
        modality: Modality,
        to_you: bool = False,
    ) -> str:
        """Return a plain sentence, without its time and without a full stop; `to_you` says it to its subject."""
        if self.kind == "noun":
            head = f"your {self.label}" if to_you else f"{subject}'s {self.label}"
            return f"{head} {self._noun_phrase(polarity, past, modality)} {value}".rstrip()
        phrase = self._verb_phrase(polarity, past, modality)
        return (
            f"you {self._second_person(phrase)} {value}".rstrip() if to_you else f"{subject} {phrase} {value}".rstrip()
        )

    def _second_person(self, phrase: str) -> str:
        """Return a verb phrase in the third person as it stands after "you"."""
        first, _, rest = phrase.partition(" ")
        plain = {"is": "are", "was": "were", "does": "do", "plans": "plan", "wants": "want", "has": "have"}
        if first in plain:
            return f"{plain[first]} {rest}".rstrip()
        return self.base if phrase == self.label else phrase

    def _noun_phrase(self, polarity: bool, past: bool, modality: Modality) -> str:
        if modality is not Modality.ASSERTED:
            verb = {Modality.POSSIBLE: "may be", Modality.DESIRED: "should be"}.get(modality, "is planned:")
        else:
            verb = "was" if past else "is"
        return verb if polarity else f"{verb} not"

    def _verb_phrase(self, polarity: bool, past: bool, modality: Modality) -> str:
        if modality is not Modality.ASSERTED:
            if modality is Modality.DESIRED and self.name in ("wants", "needs"):
                return self._indicative(polarity, past)
            return f"{HELPERS[modality]} {self.base}" if polarity else f"{HELPERS[modality]} not {self.base}"
        return self._indicative(polarity, past)

    def _indicative(self, polarity: bool, past: bool) -> str:
        phrase = self.past if past else self.label
        if polarity:
            return phrase
        first, _, rest = phrase.partition(" ")
        if first in ("is", "was"):
            return f"{first} not {rest}".rstrip()
        return f"{'did' if past else 'does'} not {self.base}"


@dataclass(frozen=True, kw_only=True, eq=False)
class Ontology:
    """Classes and relations by name. Two of them are the same only if they are one object, so they can be keys."""

    classes: Mapping[str, ClassType] = field(default_factory=dict)
    relations: Mapping[str, RelationType] = field(default_factory=dict)
    disjoint: tuple[tuple[str, ...], ...] = ()
    """Groups of classes of which no two share an individual."""

    def ancestors(self, name: str) -> Iterator[str]:
        """Yield the relations above one, nearest first, each once; nothing for a relation that is not listed."""
        return _above(name, self.relations)

    def classes_above(self, name: str) -> Iterator[str]:
        """Yield the classes above one, nearest first, each once."""
        return _above(name, self.classes)

    def kinds(self, name: str) -> tuple[str, ...]:
        """Return the relations below one, at any depth, in the order of the ontology."""
        return self._below.get(name, ())

    @cached_property
    def _below(self) -> Mapping[str, tuple[str, ...]]:
        below: dict[str, tuple[str, ...]] = {}
        for name in self.relations:
            for parent in self.ancestors(name):
                below[parent] = (*below.get(parent, ()), name)
        return below


def _above(name: str, known: Mapping[str, RelationType] | Mapping[str, ClassType]) -> Iterator[str]:
    seen, waiting = {name}, [name]
    while waiting:
        entry = known.get(waiting.pop(0))
        for parent in entry.parents if entry is not None else ():
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
                yield parent
