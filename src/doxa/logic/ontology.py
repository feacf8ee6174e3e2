"""Turtle -> an ontology: classes, relations and their axioms, each read from the terms of OWL 2.

Source: OWL 2 Mapping to RDF Graphs (https://www.w3.org/TR/owl2-mapping-to-rdf/), the parts that a relation inventory
needs. What else a file says stays in the file: class expressions and property chains are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from doxa.core.errors import FormatError, NotFoundError
from doxa.core.ontology import ClassType, Nature, Ontology, RelationType
from doxa.logic.marks import DEEPEST, is_nested
from doxa.logic.names import PREFIXES, name_of_local

__all__ = ["builtin_ontology", "merge", "read_axioms", "read_ontology"]

Graph = Mapping[str, Mapping[str, Sequence[object]]]
"""Subject -> predicate -> objects, by IRI; blank nodes as `_:id`."""
RDF, RDFS, OWL, SKOS, META = (PREFIXES[name] for name in ("rdf", "rdfs", "owl", "skos", "meta"))
ANNOTATIONS = {"AnnotationProperty", "OntologyProperty", "DeprecatedProperty"}
NATURES: tuple[Nature, ...] = get_args(Nature)


@cache
def builtin_ontology() -> Ontology:
    """Return the inventory that comes with Doxa. Read once, in about 15 ms."""
    source = files("doxa.logic").joinpath("ontology.ttl")
    return merge(Ontology(), _read(source.read_bytes(), path="ontology.ttl", known=Ontology()))


def read_ontology(path: Path, *, known: Ontology) -> Ontology:
    """Return an ontology with the classes and relations of a Turtle file added to it.

    What the file says of a relation that is known is added to what is known of it; a label replaces the old one.

    Args:
        path: a Turtle file (or N-Triples, which is Turtle).
        known: what the file may refer to.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is no Turtle, or a relation has no place in it; the line or the relation is named.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError as exc:
        raise NotFoundError(f"There is no ontology {path} (setting `ontology`).") from exc
    except OSError as exc:
        raise FormatError(f"expected a Turtle file, could not read it: {exc}", path=str(path)) from exc
    return merge(known, _read(data, path=str(path), known=known))


def read_axioms(path: Path, *, known: Ontology) -> tuple[Triple, ...]:
    """Return all that a Turtle file says, class expressions and property chains included, for a reasoner.

    Args:
        path: a file that `read_ontology` has read.
        known: the ontology with what the file added to it. What the file calls by a name that is known (`ex:likes` is
            `likes`) is called by its IRI there.

    Raises:
        FormatError: it cannot be read any more.
    """
    try:
        data = path.read_bytes()
        quads = list(_parsed(data, rename=True))
    except (OSError, SyntaxError, ValueError) as exc:
        raise FormatError(f"expected an ontology in Turtle, got: {exc.args[0]}", path=str(path)) from exc
    renamed = _Reader(_graph(data, str(path)), known, data, str(path)).renamed()
    return tuple(
        Triple(*(renamed.get(node, node) for node in (quad.subject, quad.predicate, quad.object))) for quad in quads
    )


def merge(known: Ontology, added: Ontology) -> Ontology:
    """Return both; a relation or class of both is what the second says."""
    return Ontology(
        classes={**known.classes, **added.classes},
        relations=_both_ways({**known.relations, **added.relations}),
        disjoint=(*known.disjoint, *(group for group in added.disjoint if group not in known.disjoint)),
    )


def _read(data: bytes, *, path: str, known: Ontology) -> Ontology:
    reader = _Reader(_graph(data, path), known, data, path)
    classes = {kind.name: kind for kind in reader.classes()}
    relations = {kind.name: kind for kind in reader.relations(classes)}
    return Ontology(classes=classes, relations=relations, disjoint=tuple(reader.disjoint(classes)))


def _graph(data: bytes, path: str) -> Graph:
    graph: dict[str, dict[str, list[object]]] = {}
    try:
        for triple in _parsed(data):
            objects = graph.setdefault(_id(triple.subject), {}).setdefault(triple.predicate.value, [])
            objects.append(triple.object if isinstance(triple.object, Literal) else _id(triple.object))
    except (SyntaxError, ValueError) as exc:
        line = getattr(exc, "lineno", None)
        raise FormatError(f"expected an ontology in Turtle, got: {exc.args[0]}", path=path, line=line) from exc
    return graph


def _parsed(data: bytes, *, rename: bool = False) -> Iterator[Any]:
    """Yield the statements of a Turtle file; with `rename`, its blank nodes are unlike those of any other."""
    if is_nested(data):
        raise ValueError(f"triples in triples of more than {DEEPEST} levels")
    yield from parse(data, format=RdfFormat.TURTLE, rename_blank_nodes=rename)


def _id(node: object) -> str:
    return node.value if isinstance(node, NamedNode) else str(node)


class _Reader:
    """One file: its graph, what was known before, and the text for the lines of errors."""

    def __init__(self, graph: Graph, known: Ontology, data: bytes, path: str) -> None:
        self.graph, self.known, self.path = graph, known, path
        self._lines = data.decode("utf-8", "replace").split("\n")
        self._class_names = {kind.iri: kind.name for kind in known.classes.values()}
        own = [iri for iri in self._of_type("Class") if not iri.startswith(PREFIXES["dul"])]
        self._class_names |= {iri: _local(iri) for iri in own if iri not in self._class_names}
        self._names = {kind.iri: kind.name for kind in known.relations.values()}
        about_known = [iri for iri in graph if iri in self._names]
        declared = [*self._of_type("ObjectProperty"), *self._of_type("DatatypeProperty")]
        self._properties = list(dict.fromkeys([*declared, *about_known]))
        self._names |= {iri: self._name(iri) for iri in self._properties if iri not in self._names}

    def renamed(self) -> Mapping[object, NamedNode]:
        """Return the IRIs that stand for what is known under another one, with that."""
        found: dict[object, NamedNode] = {}
        for names, kinds in ((self._names, self.known.relations), (self._class_names, self.known.classes)):
            for iri, name in names.items():
                kind = kinds.get(name)
                if kind is not None and kind.iri not in ("", iri):
                    found[NamedNode(iri)] = NamedNode(kind.iri)
        return found

    def classes(self) -> Iterable[ClassType]:
        """Yield the classes of the file. One whose name is known is that class, also under its other IRI."""
        for iri in (iri for iri in self._of_type("Class") if iri in self._class_names):
            name = self._class_names[iri]
            old = self.known.classes.get(name) or ClassType(name=name, label=_words(name), iri=iri)
            above = self._iris(iri, RDFS + "subClassOf")
            parents = [self._class_names[parent] for parent in above if parent in self._class_names]
            also = [parent for parent in above if parent not in self._class_names]
            also += [iri] if iri != old.iri else []
            yield replace(
                old,
                label=self._label(iri) or old.label,
                parents=tuple(dict.fromkeys((*old.parents, *(parent for parent in parents if parent != name)))),
                also=tuple(dict.fromkeys((*old.also, *also))),
            )

    def relations(self, classes: Mapping[str, ClassType]) -> Iterable[RelationType]:
        """Yield the relations of the file, each with what was known of it before."""
        known = {**self.known.classes, **classes}
        for iri in self.graph:
            if iri not in self._names and any(kind.endswith("Property") for kind in self._types(iri) - ANNOTATIONS):
                raise self._error(
                    iri, "an owl:ObjectProperty, an owl:DatatypeProperty or a known relation", _local(iri)
                )
        for iri in self._properties:
            name = self._names[iri]
            yield self._relation(iri, self.known.relations.get(name), known)

    def _relation(self, iri: str, old: RelationType | None, classes: Mapping[str, ClassType]) -> RelationType:
        name = self._names[iri]
        if old is None:
            old = RelationType(name=name, label=name.replace("_", " "), iri=iri, kind=self._kind(iri, name))
        types = self._types(iri)
        literal = "DatatypeProperty" in types or (bool(old.datatype) and "ObjectProperty" not in types)
        stands_for = META + "valueType" if literal else RDFS + "range"
        datatype = next(iter(self._iris(iri, RDFS + "range")), old.datatype or RDFS + "Literal")
        label = self._label(iri) or old.label
        usual = old.usual or self._text(iri, META + "usually") == "one"
        return replace(
            old,
            label=label,
            base=self._text(iri, META + "base") or (old.base if label == old.label else ""),
            past=self._text(iri, META + "past") or (old.past if label == old.label else ""),
            phrases=tuple(dict.fromkeys((*old.phrases, *self._texts(iri, SKOS + "altLabel")))),
            parents=tuple(dict.fromkeys((*old.parents, *self._relations_of(iri, RDFS + "subPropertyOf")))),
            domain=self._class_of(iri, RDFS + "domain", classes) or old.domain,
            range=self._class_of(iri, stands_for, classes) or old.range,
            datatype=datatype if literal else "",
            inverse=next(iter(self._relations_of(iri, OWL + "inverseOf")), old.inverse),
            disjoint=tuple(dict.fromkeys((*old.disjoint, *self._relations_of(iri, OWL + "propertyDisjointWith")))),
            nature=self._nature(iri) or old.nature,
            abstract=old.abstract or self._text(iri, META + "abstract") == "true",
            answered_by=tuple((self._text(iri, META + "answeredBy") or "").split()) or old.answered_by,
            functional=old.functional or usual or "FunctionalProperty" in types,
            usual=usual and "FunctionalProperty" not in types,
            inverse_functional=old.inverse_functional or "InverseFunctionalProperty" in types,
            symmetric=old.symmetric or "SymmetricProperty" in types,
            transitive=old.transitive or "TransitiveProperty" in types,
            asymmetric=old.asymmetric or "AsymmetricProperty" in types,
            irreflexive=old.irreflexive or "IrreflexiveProperty" in types,
        )

    def disjoint(self, classes: Mapping[str, ClassType]) -> Iterable[tuple[str, ...]]:
        """Yield the groups of classes of which no two share an individual."""
        known = {**self.known.classes, **classes}
        for iri in self._of_type("AllDisjointClasses"):
            names = [self._class_names.get(member, "") for member in self._list(iri, OWL + "members")]
            yield tuple(name for name in names if name in known)
        for iri in (iri for iri in self._class_names if iri in self.graph):
            for other in self._iris(iri, OWL + "disjointWith"):
                if other in self._class_names:
                    yield (self._class_names[iri], self._class_names[other])

    def _name(self, iri: str) -> str:
        local = _local(iri)
        given = self._text(iri, META + "name")
        return given or name_of_local(local if iri.startswith(PREFIXES["doxa"]) else local[:1].lower() + local[1:])

    def _kind(self, iri: str, name: str) -> OneOf["verb", "noun"]:
        """Tell a verb from a noun; without any word on it, "mentors" and "is_paid_by" read as verbs."""
        noun = self._text(iri, META + "noun")
        if noun is not None:
            return "noun" if noun == "true" else "verb"
        inflected = self._text(iri, META + "past") or self._text(iri, META + "base")
        first = (self._label(iri) or name.replace("_", " ")).partition(" ")[0]
        return "verb" if inflected or first == "was" or re.search(r"[^su]s$", first) else "noun"

    def _nature(self, iri: str) -> Nature | None:
        given = self._text(iri, META + "nature")
        found = next((nature for nature in NATURES if nature == given), None)
        if given is not None and found is None:
            raise self._error(iri, f"a nature of {', '.join(NATURES)}", repr(given))
        return found

    def _class_of(self, iri: str, predicate: str, classes: Mapping[str, ClassType]) -> str:
        for other in self._iris(iri, predicate):
            if (name := self._class_names.get(other)) in classes:
                return str(name)
            if other.startswith(PREFIXES["doxa"]):
                raise self._error(iri, "a class of the ontology", f"doxa:{_local(other)}")
        return ""

    def _relations_of(self, iri: str, predicate: str) -> list[str]:
        for other in self._iris(iri, predicate):
            if other.startswith(PREFIXES["doxa"]) and other not in self._names:
                raise self._error(iri, "a relation of the ontology", f"doxa:{_local(other)}")
        return [self._names[other] for other in self._iris(iri, predicate) if other in self._names]

    def _error(self, iri: str, expected: str, got: str) -> FormatError:
        local = _local(iri)
        line = next((n for n, text in enumerate(self._lines, start=1) if local in text), None)
        return FormatError(f"the relation {local}: expected {expected}, got {got}", path=self.path, line=line)

    def _of_type(self, kind: str) -> list[str]:
        return [iri for iri in self.graph if kind in self._types(iri) and (kind[:3] == "All" or iri[:2] != "_:")]

    def _types(self, iri: str) -> set[str]:
        return {kind.removeprefix(OWL) for kind in self._iris(iri, RDF + "type") if kind.startswith(OWL)}

    def _iris(self, iri: str, predicate: str) -> list[str]:
        return [node for node in self.graph[iri].get(predicate, ()) if isinstance(node, str) and node[:2] != "_:"]

    def _list(self, iri: str, predicate: str) -> list[str]:
        found, node = [], next((str(node) for node in self.graph[iri].get(predicate, ())), RDF + "nil")
        seen = set[str]()
        while node in self.graph and node not in seen:  # a list that leads back to itself ends there
            seen.add(node)
            found += self._iris(node, RDF + "first")
            node = next((str(rest) for rest in self.graph[node].get(RDF + "rest", ())), RDF + "nil")
        return found

    def _texts(self, iri: str, predicate: str) -> list[str]:
        """Return the English literals, or those of no language, in the order of the file."""
        literals = [node for node in self.graph[iri].get(predicate, ()) if isinstance(node, Literal)]
        return [literal.value for literal in literals if (literal.language or "en").startswith("en")]

    def _text(self, iri: str, predicate: str) -> str | None:
        return next(iter(self._texts(iri, predicate)), None)

    def _label(self, iri: str) -> str | None:
        return self._text(iri, RDFS + "label")


def _local(iri: str) -> str:
    return re.split(r"[#/:]", iri)[-1]


def _words(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r" \1", name).casefold().strip()


def _both_ways(relations: Mapping[str, RelationType]) -> Mapping[str, RelationType]:
    """Return relations with what is said of one of a pair said of the other as well: inverses and disjoint ones."""
    found = dict(relations)
    for kind in relations.values():
        for other in kind.disjoint:
            if other in found and kind.name not in found[other].disjoint:
                found[other] = replace(found[other], disjoint=(*found[other].disjoint, kind.name))
        if kind.inverse in found and not found[kind.inverse].inverse:
            found[kind.inverse] = replace(found[kind.inverse], inverse=kind.name)
    return found
