"""An ontology -> the axioms of some of its relations, as RDF: what a graph of facts needs to be read by itself."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from doxa.core.ontology import Ontology, RelationType
from doxa.core.values import Relation
from doxa.logic.names import relation_iri
from doxa.logic.terms import TYPE, flag, term

__all__ = [
    "RECORD_TERMS",
    "class_axioms",
    "connected",
    "declarations",
    "iri_of",
    "listed",
    "mentioned",
    "relation_axioms",
    "type_of",
]

RECORD_TERMS = {
    "owl:AnnotationProperty": (
        "meta:format meta:user meta:noun meta:abstract meta:valueType meta:nature meta:usually meta:fact meta:subject "
        "meta:relation meta:object meta:polarity meta:modality meta:status meta:disputed meta:functional "
        "meta:confidence meta:validFrom meta:validUntil meta:validFromPrecision meta:validUntilPrecision meta:place "
        "meta:kind meta:session meta:speaker meta:role meta:generated meta:body meta:reason meta:because "
        "prov:value prov:generatedAtTime prov:startedAtTime prov:wasDerivedFrom prov:wasAttributedTo prov:used "
        "prov:wasGeneratedBy"
    ),
    "owl:Class": "meta:Fact meta:Turn meta:Event meta:Change prov:Entity prov:Activity",
}
"""What the records of a memory are written with. All of it annotates, so no reasoner draws a conclusion from it."""
SUBCLASS, SUBPROPERTY, LABEL = term("rdfs:subClassOf"), term("rdfs:subPropertyOf"), term("rdfs:label")
DOMAIN, RANGE = term("rdfs:domain"), term("rdfs:range")


def iri_of(relation: str, ontology: Ontology) -> NamedNode:
    """Return the IRI of a relation, that of the ontology if it has one."""
    known = ontology.relations.get(relation)
    return NamedNode(known.iri if known is not None and known.iri else relation_iri(relation))


def type_of(relation: Relation, ontology: Ontology) -> RelationType:
    """Return the type of a relation; one that no ontology lists may relate anything to anything."""
    known = ontology.relations.get(relation.name)
    return known or RelationType(name=relation.name, label=relation.label, iri=relation_iri(relation.name))


def declarations(relations: Iterable[Relation], ontology: Ontology) -> Iterator[Triple]:
    """Yield the axioms of relations, of those above them, and of the classes that they name. O(relations)."""
    for kind, names in RECORD_TERMS.items():
        for name in names.split():
            yield Triple(term(name), TYPE, term(kind))
    kinds = {kind.name: kind for relation in relations for kind in _with_parents(type_of(relation, ontology), ontology)}
    named = {name for kind in kinds.values() for name in (kind.domain, kind.range) if name in ontology.classes}
    named |= {parent for name in named for parent in ontology.classes_above(name)}
    yield from _classes(named, ontology)
    for name in sorted(kinds):
        yield from _relation(kinds[name], kinds.keys(), ontology)


def class_axioms(ontology: Ontology, used: Collection[str] = ()) -> Iterator[Triple]:
    """Yield what an ontology says of its classes, as far as conclusions are drawn from it. O(classes).

    Args:
        ontology: the classes.
        used: IRIs that other axioms use; classes of other ontologies are left out where they are not among them.
    """
    outside = {iri for kind in ontology.classes.values() for iri in kind.also}.difference(used)
    for triple in _classes(set(ontology.classes), ontology):
        named = {node.value for node in (triple.subject, triple.object) if isinstance(node, NamedNode)}
        if triple.predicate != LABEL and named.isdisjoint(outside):
            yield triple


def connected(names: Iterable[str], ontology: Ontology, known: Container[str] = ()) -> Iterator[str]:
    """Yield listed relations and those that their axioms name, at any distance, each once; not those that are known."""
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        kind = ontology.relations.get(name)
        if kind is not None and name not in seen and name not in known:
            seen.add(name)
            waiting += [*kind.parents, *kind.disjoint, *([kind.inverse] if kind.inverse else [])]
            yield name


def mentioned(axioms: Iterable[Triple]) -> set[str]:
    """Return the IRIs that axioms are about."""
    return {node.value for one in axioms for node in (one.subject, one.object) if isinstance(node, NamedNode)}


def relation_axioms(names: Iterable[str], ontology: Ontology) -> Iterator[Triple]:
    """Yield what an ontology says of some of its relations, as far as conclusions are drawn from it. O(names)."""
    annotations = (LABEL, term("meta:nature"), term("meta:noun"))
    for name in names:
        found = _relation(ontology.relations[name], ontology.relations, ontology)
        yield from (triple for triple in found if triple.predicate not in annotations)


def _with_parents(kind: RelationType, ontology: Ontology) -> Iterator[RelationType]:
    yield kind
    for name in ontology.ancestors(kind.name):
        if name in ontology.relations:
            yield ontology.relations[name]


def _classes(names: set[str], ontology: Ontology) -> Iterator[Triple]:
    outside = {iri for name in names for iri in ontology.classes[name].also}
    for iri in sorted(outside):
        yield Triple(NamedNode(iri), TYPE, term("owl:Class"))
    for name in sorted(names):
        cls = ontology.classes[name]
        node = NamedNode(cls.iri)
        yield Triple(node, TYPE, term("owl:Class"))
        yield Triple(node, LABEL, Literal(cls.label, language="en"))
        for iri in [*(ontology.classes[p].iri for p in cls.parents if p in names), *cls.also]:
            yield Triple(node, SUBCLASS, NamedNode(iri))
    for place, group in enumerate(ontology.disjoint):
        members = [NamedNode(ontology.classes[name].iri) for name in group if name in names]
        if len(members) > 1:
            yield from listed(f"disjoint{place}", "owl:AllDisjointClasses", "owl:members", members)


def listed(name: str, kind: str, property_: str, members: Sequence[NamedNode]) -> Iterator[Triple]:
    """Yield an axiom that has its members in a list."""
    nodes = [BlankNode(f"{name}x{i}") for i in range(len(members))]
    yield Triple(BlankNode(name), TYPE, term(kind))
    yield Triple(BlankNode(name), term(property_), nodes[0])
    rests: list[NamedNode | BlankNode] = [*nodes[1:], term("rdf:nil")]
    for node, member, rest in zip(nodes, members, rests, strict=True):
        yield Triple(node, term("rdf:first"), member)
        yield Triple(node, term("rdf:rest"), rest)


def _relation(kind: RelationType, listed: Iterable[str], ontology: Ontology) -> Iterator[Triple]:
    node = iri_of(kind.name, ontology)
    yield Triple(node, TYPE, term("owl:DatatypeProperty" if kind.datatype else "owl:ObjectProperty"))
    for held, name in (
        (kind.functional and not kind.usual, "Functional"),
        (kind.inverse_functional, "InverseFunctional"),
        (kind.symmetric, "Symmetric"),
        (kind.transitive, "Transitive"),
        (kind.asymmetric, "Asymmetric"),
        (kind.irreflexive, "Irreflexive"),
    ):
        if held:
            yield Triple(node, TYPE, term(f"owl:{name}Property"))
    if kind.usual:
        yield Triple(node, term("meta:usually"), Literal("one"))
    yield Triple(node, LABEL, Literal(kind.label))
    for parent in kind.parents:
        yield Triple(node, SUBPROPERTY, iri_of(parent, ontology))
    if kind.domain in ontology.classes:
        yield Triple(node, DOMAIN, NamedNode(ontology.classes[kind.domain].iri))
    range_iri = kind.datatype or (ontology.classes[kind.range].iri if kind.range in ontology.classes else "")
    if range_iri:
        yield Triple(node, RANGE, NamedNode(range_iri))
    if kind.inverse in listed:
        yield Triple(node, term("owl:inverseOf"), iri_of(kind.inverse, ontology))
    for other in kind.disjoint:
        if other in listed:
            yield Triple(node, term("owl:propertyDisjointWith"), iri_of(other, ontology))
    yield Triple(node, term("meta:nature"), Literal(kind.nature))
    if kind.kind == "noun":
        yield Triple(node, term("meta:noun"), flag(True))
