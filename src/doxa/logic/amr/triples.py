"""Collects the triples of one graph, gives out names, and declares every name as OWL 2 DL wants it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from doxa.logic.amr.graph import AmrGraph, AmrNode
from doxa.logic.amr.scope import Scope, scopes
from doxa.logic.amr.vocabulary import camel, expand, frames, literal, local, table

__all__ = ["PartOfSpeech", "Writer"]

PartOfSpeech = Callable[[str], str | None]
"""From a word to "n", "v", "a" or "r"; None where it is unknown."""
BUILT_IN = tuple(expand(f"{prefix}:").value for prefix in ("rdf", "rdfs", "owl", "xsd"))
TYPE, LABEL, SUBCLASS = expand("rdf:type"), expand("rdfs:label"), expand("rdfs:subClassOf")
CLASS, INDIVIDUAL = expand("owl:Class"), expand("owl:NamedIndividual")


@dataclass(slots=True)
class Writer:
    """The graph that is read, and what was written of it so far."""

    graph: AmrGraph
    base: str
    pos_of: PartOfSpeech
    triples: dict[Triple, None] = field(default_factory=dict)
    things: dict[str, NamedNode] = field(default_factory=dict)
    classes: dict[str, NamedNode] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    scopes: dict[str, Scope] = field(default_factory=dict)
    _taken: dict[str, int] = field(default_factory=dict)
    _kinds: dict[NamedNode, dict[NamedNode, None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scopes = scopes(self.graph)

    def thing(self, variable: str) -> NamedNode:
        """Return the individual of a node: its name, or its concept with a number."""
        if variable not in self.things:
            name = self.graph.name(variable)
            stem = local(name) if name else local(self.graph.nodes[variable].lemma)
            number = self._taken[stem] = self._taken.get(stem, 0) + 1
            made = stem if name and number == 1 else f"{stem}_{number}"
            while made in self._taken and made != stem:  # a name may look like a numbered concept
                number += 1
                made = f"{stem}_{number}"
            self._taken.setdefault(made, 1)
            self.things[variable] = NamedNode(self.base + made)
            self._kinds.setdefault(self.things[variable], {})[INDIVIDUAL] = None
        return self.things[variable]

    def own(self, name: str) -> NamedNode:
        """Return a name in the namespace of this graph."""
        return NamedNode(self.base + name)

    def concept(self, node: AmrNode) -> NamedNode:
        """Return the class of a node's concept, with its place under DOLCE where AMR itself says what it is."""
        made = self.own(camel(node.concept))
        self.classes[node.variable] = made
        self.label(made, node.lemma.replace("-", " "))
        if node.frame:
            self.kind(made, expand("dul:Situation" if node.special else self._state(node)))
            self.link(made, "owl:equivalentClass", self.classed(NamedNode(expand("pbrs:").value + local(node.concept))))
        elif node.concept in table("types"):
            self.kind(made, expand(table("types")[node.concept]))
        elif node.concept.endswith("-quantity"):
            self.kind(made, expand("dul:Amount"))
        return made

    def _state(self, node: AmrNode) -> str:
        return "dul:Quality" if self.pos_of(node.lemma.replace("-", " ")) in ("a", "r") else "dul:Event"

    def classed(self, name: NamedNode) -> NamedNode:
        """Note that a name is a class."""
        self._kinds.setdefault(name, {})[CLASS] = None
        return name

    def is_a(self, thing: NamedNode, kind: NamedNode | BlankNode) -> None:
        """Say that an individual belongs to a class."""
        if isinstance(kind, NamedNode):
            self.classed(kind)
        self.add(Triple(thing, TYPE, kind))

    def kind(self, narrow: NamedNode, wide: NamedNode) -> None:
        """Say that one class is under another."""
        self.classed(narrow)
        self.add(Triple(narrow, SUBCLASS, self.classed(wide)))

    def label(self, name: NamedNode, text: str) -> None:
        """Give a name its label."""
        self.add(Triple(name, LABEL, Literal(text.encode("utf-8", "replace").decode("utf-8"))))

    def link(self, subject: NamedNode, predicate: str, target: NamedNode) -> None:
        """Relate two individuals (or, in OWL's own vocabulary, two classes)."""
        self.relate(subject, expand(predicate), target)

    def relate(self, subject: NamedNode, predicate: NamedNode, target: NamedNode) -> None:
        """Relate two individuals by a property that may be of this graph."""
        if not predicate.value.startswith(BUILT_IN):
            self._kinds.setdefault(predicate, {})[expand("owl:ObjectProperty")] = None
        self.add(Triple(subject, predicate, target))

    def term(self, name: str) -> NamedNode:
        """Return an individual of the vocabulary ("boxing:False")."""
        found = expand(name)
        self._kinds.setdefault(found, {})[INDIVIDUAL] = None
        return found

    def value(self, subject: NamedNode, predicate: str, constant: str | Literal) -> None:
        """Give an individual a value."""
        found = expand(predicate)
        self._kinds.setdefault(found, {})[expand("owl:DatatypeProperty")] = None
        self.add(Triple(subject, found, literal(constant) if isinstance(constant, str) else constant))

    def role(self, source: AmrNode, role: str) -> str:
        """Return the property of a role to a thing."""
        named = frames(source.concept).get(role)
        return f"amr:{local(named)}" if named else table("roles").get(role) or f"amr:{local(role)}"

    def add(self, triple: Triple) -> None:
        """Keep a triple; the same one again adds nothing."""
        self.triples[triple] = None

    def done(self) -> tuple[Triple, ...]:
        """Return what was written, with the declarations first."""
        ontology = NamedNode(self.base.rstrip("#/"))
        first = {Triple(ontology, TYPE, expand("owl:Ontology")): None}
        for name, kinds in self._kinds.items():
            if not name.value.startswith(BUILT_IN):
                first.update({Triple(name, TYPE, kind): None for kind in kinds})
        return tuple(first | self.triples)
