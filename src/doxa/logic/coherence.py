"""Facts -> those that can be asserted together without making an OWL ontology inconsistent.

People say things that no ontology allows at once, and a memory holds them (as disputed, or because nobody noticed). In
a consistent graph they can only stand as records. Checked are the axioms that the inventory has: functionality,
irreflexivity, asymmetry, disjointness of relations and of classes, with inverses, symmetry and parents taken into
account. Sound for those; conclusions through transitive relations are not drawn. Cost O(facts).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from doxa.core.ontology import Ontology, RelationType
from doxa.core.values import Fact, Modality
from doxa.logic.axioms import type_of

__all__ = ["ANY", "Coherent", "fits"]

ANY = "http://www.w3.org/2000/01/rdf-schema#Literal"
XSD = "http://www.w3.org/2001/XMLSchema#"
LEXICAL = {
    "string": r"(?s:.*)",
    "integer": r"[+-]?\d+",
    "decimal": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)",
    "double": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?",
    "float": r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?",
    "boolean": r"true|false|0|1",
    "dateTime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?",
    "anyURI": r"\S+",
}
"""What a literal of a datatype looks like (XML Schema 1.1 part 2); a datatype that is not listed is never asserted."""


def fits(label: str, datatype: str) -> bool:
    """Tell whether a value can be written as a literal of a datatype."""
    if datatype == ANY:
        return True
    pattern = LEXICAL.get(datatype.removeprefix(XSD)) if datatype.startswith(XSD) else None
    return pattern is not None and re.fullmatch(pattern, label, re.ASCII) is not None


@dataclass(slots=True)
class Coherent:
    """The facts that are asserted, those that are denied, and the classes of things that follow."""

    ontology: Ontology
    asserted: list[Fact] = field(default_factory=list)
    denied: list[Fact] = field(default_factory=list)
    classes: dict[str, dict[str, None]] = field(default_factory=dict)
    """Classes of every thing by key, most specific or not, in the order in which they were learnt."""
    _pairs: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    _literals: set[tuple[str, str, str]] = field(default_factory=set)

    @classmethod
    def of(cls, facts: Iterable[Fact], ontology: Ontology) -> Coherent:
        """Return what of some current facts can be asserted together, in their order."""
        found, plain = cls(ontology), [fact for fact in facts if fact.modality is Modality.ASSERTED]
        positive = [fact for fact in plain if fact.polarity]
        values = Counter(key for key, _ in dict.fromkeys(pair for fact in positive for pair in _slots(fact, ontology)))
        for fact in positive:
            single = all(values[key] == 1 for key, _ in _slots(fact, ontology))
            if single and found._takes(fact):
                found.asserted.append(fact)
        found.denied = [fact for fact in plain if not fact.polarity and found._denies(fact)]
        return found

    def _takes(self, fact: Fact) -> bool:
        kind = type_of(fact.relation, self.ontology)
        subject, value = fact.subject.key, fact.object.key
        if kind.datatype:
            taken = fits(fact.object.label, kind.datatype) and self._classify([(subject, kind.domain)])
            if taken:
                self._literals.add((subject, kind.name, fact.object.label))
            return taken
        implied = list(_implied(subject, kind, value, self.ontology))
        if any(self._clashes(one, relation, other) for one, relation, other in implied):
            return False
        classes = [(key, name) for one, rel, other in implied for key, name in ((one, rel.domain), (other, rel.range))]
        if not self._classify(classes):
            return False
        for one, relation, other in implied:
            self._pairs.setdefault((one, other), set()).add(relation.name)
        return True

    def _clashes(self, one: str, kind: RelationType, other: str) -> bool:
        if one == other and (kind.irreflexive or kind.asymmetric):
            return True
        held = self._pairs.get((one, other), set())
        back = self._pairs.get((other, one), set())
        return not held.isdisjoint(kind.disjoint) or (kind.asymmetric and kind.name in back)

    def _classify(self, classes: Iterable[tuple[str, str]]) -> bool:
        """Learn the classes of things, all or none; False when they exclude each other."""
        new = [(key, name) for key, name in classes if name]
        wanted: dict[str, set[str]] = {}
        for key, name in new:
            wanted.setdefault(key, set(self.classes.get(key, ()))).add(name)
        for names in wanted.values():
            closed = names | {above for name in names for above in self.ontology.classes_above(name)}
            if any(len(closed.intersection(group)) > 1 for group in self.ontology.disjoint):
                return False
        for key, name in new:
            self.classes.setdefault(key, {})[name] = None
        return True

    def _denies(self, fact: Fact) -> bool:
        kind = type_of(fact.relation, self.ontology)
        if kind.datatype:
            told = (fact.subject.key, kind.name, fact.object.label) in self._literals
            return fits(fact.object.label, kind.datatype) and not told
        held = self._pairs.get((fact.subject.key, fact.object.key), set())
        return not kind.transitive and fact.relation.name not in held


def _slots(fact: Fact, ontology: Ontology) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield the places that take one value only, each with the value of this fact or of what follows from it."""
    kind = type_of(fact.relation, ontology)
    value = fact.object.label if kind.datatype else fact.object.key
    for one, relation, other in _implied(fact.subject.key, kind, value, ontology):
        if relation.functional and not relation.usual:
            yield ("of", one, relation.name), other
        if relation.inverse_functional:
            yield ("to", other, relation.name), one


def _implied(
    subject: str, kind: RelationType, value: str, ontology: Ontology
) -> Iterator[tuple[str, RelationType, str]]:
    """Yield what follows from one assertion by parents, symmetry and inverses, itself first."""
    waiting, seen = [(subject, kind, value)], {(subject, kind.name, value)}
    for one, relation, other in waiting:
        yield one, relation, other
        names = [(one, parent, other) for parent in relation.parents]
        names += [(other, relation.name, one)] if relation.symmetric else []
        names += [(other, relation.inverse, one)] if relation.inverse else []
        for found in names:
            if found not in seen and found[1] in ontology.relations:
                seen.add(found)
                waiting.append((found[0], ontology.relations[found[1]], found[2]))
