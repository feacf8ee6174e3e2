"""Quads <-> Turtle, N-Quads and JSON-LD, the same bytes for the same quads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, parse, serialize
from pyoxigraph import Literal as Value

from doxa.logic.marks import DEEPEST, is_nested

__all__ = ["GraphFormat", "read_quads", "write_quads"]

GraphFormat = Literal["turtle", "nquads", "jsonld"]
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
STRING = "http://www.w3.org/2001/XMLSchema#string"


def write_quads(quads: Iterable[Quad], format: GraphFormat, prefixes: Mapping[str, str]) -> str:
    """Return quads in a format. Turtle and JSON-LD hold all graphs as one."""
    if format == "jsonld":
        return _json_ld(quads, prefixes)
    if format == "nquads":
        return _decoded(serialize(quads, format=RdfFormat.N_QUADS))
    return _ordered(
        _decoded(serialize((quad.triple for quad in quads), format=RdfFormat.TURTLE, prefixes=dict(prefixes)))
    )


def _decoded(data: bytes | None) -> str:
    return (data or b"").decode("utf-8")


def _ordered(turtle: str) -> str:
    """Put the prefixes, which come in any order, in one."""
    end = re.match(r"(?:@prefix [^\n]*\n)*", turtle).end()  # type: ignore[union-attr]  # it matches nothing as well
    return "".join(sorted(turtle[:end].splitlines(keepends=True))) + turtle[end:]


def _json_ld(quads: Iterable[Quad], prefixes: Mapping[str, str]) -> str:
    """Return JSON-LD 1.1 with a context of the prefixes and one line for every node."""
    nodes: dict[str, dict[str, Any]] = {}
    short = _Shortener(prefixes)
    for quad in quads:
        node = nodes.setdefault(short.iri(quad.subject), {})
        if quad.predicate.value == RDF_TYPE:
            node.setdefault("@type", []).append(short.iri(quad.object))
        else:
            node.setdefault(short.iri(quad.predicate), []).append(short.value(quad.object))
    lines = [json.dumps({"@id": name, **node}, ensure_ascii=False) for name, node in nodes.items()]
    context = json.dumps(dict(sorted(prefixes.items())), ensure_ascii=False)
    return f'{{"@context": {context},\n"@graph": [\n' + ",\n".join(lines) + "\n]}\n"


class _Shortener:
    """IRIs -> compact IRIs of a context, each worked out once."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._names = {iri: name for name, iri in prefixes.items()}
        self._known: dict[str, str] = {}

    def iri(self, node: object) -> str:
        """Return the compact form of a node."""
        if isinstance(node, BlankNode):
            return str(node)
        full = node.value if isinstance(node, NamedNode) else str(node)
        if full not in self._known:
            cut = full.rfind("#") + 1
            name = self._names.get(full[:cut])
            # "prefix://..." would be read as a whole IRI
            self._known[full] = full if name is None or full[cut:].startswith("//") else f"{name}:{full[cut:]}"
        return self._known[full]

    def value(self, node: object) -> Any:
        """Return an object of a statement: a string, a typed or tagged value, or a reference."""
        if not isinstance(node, Value):
            return {"@id": self.iri(node)}
        if node.language:
            return {"@value": node.value, "@language": node.language}
        plain = node.datatype.value == STRING
        return node.value if plain else {"@value": node.value, "@type": self.iri(node.datatype)}


def read_quads(data: bytes) -> Iterator[Quad]:
    """Yield the quads of a text in any of the formats, which is told from how it begins.

    Raises:
        ValueError: it is in none of them; a SyntaxError of the parser, with its line, comes as it is.
    """
    start = data.lstrip()[:2000]
    if start[:1] in (b"{", b"["):
        form = RdfFormat.JSON_LD
    elif re.match(rb"(?:#[^\n]*\n\s*)*(?:<[^>\s]*>|_:\S+) <[^>\s]*> [^\n]*\.\s*(?:\n|$)", start):
        form = RdfFormat.N_QUADS
    elif re.match(rb"@|<|_:|#|\[|\w*:|prefix\b|base\b", start, re.I):
        form = RdfFormat.TRIG
    else:
        raise ValueError("RDF in Turtle, N-Quads or JSON-LD")
    if is_nested(data, json=form is RdfFormat.JSON_LD):
        raise ValueError(f"RDF of at most {DEEPEST} levels")
    for quad in parse(data, format=form):
        yield quad if isinstance(quad, Quad) else Quad(quad.subject, quad.predicate, quad.object)
