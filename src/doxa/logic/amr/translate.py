"""One AMR graph -> OWL 2: every node an individual of a class, every role a property, then what the patterns add."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from doxa.core.errors import InputError
from doxa.logic.amr.graph import AmrEdge, AmrGraph, read_amr
from doxa.logic.amr.patterns import absorbed, compound, constant, describe_node, link_frame, modality, predicate
from doxa.logic.amr.triples import PartOfSpeech, Writer
from doxa.logic.amr.vocabulary import expand, prefixes, table

__all__ = ["BASE", "Translation", "to_turtle", "translate"]

BASE = "urn:doxa:amr:graph#"


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """What one graph became."""

    graph: AmrGraph
    base: str
    triples: tuple[Triple, ...]
    nodes: Mapping[str, str]
    """The IRI of the individual of each variable; names and absorbed words have none."""
    classes: Mapping[str, str]
    """The IRI of the class of each variable whose concept is a class of this graph."""
    warnings: tuple[str, ...] = ()


def translate(amr: str | AmrGraph, *, base: str = BASE, pos_of: PartOfSpeech | None = None) -> Translation:
    """Return a graph as OWL 2 DL in FRED's design patterns.

    Args:
        amr: one graph in PENMAN notation, or one that was read.
        base: what the names of this graph start with; two sentences that share it share their classes and individuals.
        pos_of: the likeliest part of speech of a word ("n", "v", "a", "r"), such as a lexicon's; None when unknown.
            It tells "it is nice" from "it is a picture".

    Raises:
        FormatError: The text is not PENMAN, or not one graph. A graph that was read always translates.
        InputError: `base` does not begin an IRI.

    Cost O(nodes + edges), times the members of coordinations; deterministic.
    """
    graph = read_amr(amr) if isinstance(amr, str) else amr
    _check_base(base)
    writer = Writer(graph, base, pos_of or _unknown)
    there = [node for node in graph.nodes.values() if not absorbed(writer, node.variable)]
    for node in there:
        describe_node(writer, node)
    for edge in graph.edges:
        _edge(writer, edge)
    for node in there:
        modality(writer, node.variable)
        if node.special:
            link_frame(writer, node)
    _sentence(writer)
    return Translation(
        graph=graph,
        base=base,
        triples=writer.done(),
        nodes={variable: name.value for variable, name in writer.things.items()},
        classes={variable: name.value for variable, name in writer.classes.items()},
        warnings=(*graph.warnings, *writer.warnings),
    )


def to_turtle(translations: Iterable[Translation]) -> str:
    """Return the triples of some translations as Turtle, subject by subject; the same input gives the same text."""
    translations = tuple(translations)
    grouped: dict[NamedNode | BlankNode | Triple, dict[Triple, None]] = {}
    for translation in translations:
        for triple in translation.triples:
            grouped.setdefault(triple.subject, {})[triple] = None
    names = prefixes()
    bases = {translation.base for translation in translations}
    if len(bases) == 1:
        names[""] = bases.pop()
    triples = [triple for group in grouped.values() for triple in group]
    data = serialize(triples, format=RdfFormat.TURTLE, prefixes=names)
    return (data or b"").decode("utf-8")


def _check_base(base: str) -> None:
    try:
        NamedNode(f"{base}x")
    except ValueError as exc:
        raise InputError(f"Expected an IRI that names can start with, such as {BASE}, got {base!r}.") from exc


def _unknown(word: str) -> str | None:
    return None


def _edge(writer: Writer, edge: AmrEdge) -> None:
    if absorbed(writer, edge.source):
        return
    if edge.constant:
        constant(writer, edge)
    elif edge.role == "domain":
        predicate(writer, edge)
    elif edge.role == "mod":
        compound(writer, edge)
    elif edge.role == "polarity":
        writer.link(writer.thing(edge.source), "boxing:hasTruthValue", writer.term("amr:Unknown"))
    elif edge.role == "quant" and absorbed(writer, edge.target):
        name = table("quantifiers")[writer.graph.nodes[edge.target].concept]
        writer.link(writer.thing(edge.source), "quant:hasQuantifier", writer.term(name))
    elif not absorbed(writer, edge.target):
        _role(writer, edge)


def _role(writer: Writer, edge: AmrEdge) -> None:
    """Write a role between two things; one that leads to "a and b" leads to a and to b as well."""
    node = writer.graph.nodes[edge.source]
    numbered = edge.role.rstrip("0123456789")
    if numbered in ("op", "snt") and writer.graph.nodes[edge.source].concept in table("types"):
        writer.link(writer.thing(edge.source), "dul:hasMember", writer.thing(edge.target))
        return
    name = writer.role(node, edge.role)
    seen = {edge.target: None}
    queue = [edge.target]
    while queue:
        variable = queue.pop(0)
        writer.link(writer.thing(edge.source), name, writer.thing(variable))
        if writer.graph.nodes[variable].concept != "and":
            continue
        for member in writer.graph.members(variable):
            if not member.constant and member.target not in seen:
                seen[member.target] = None
                queue.append(member.target)


def _sentence(writer: Writer) -> None:
    """Write where the graph starts, and its text."""
    sentence = writer.own("sentence")
    writer.is_a(sentence, expand("amr:Sentence"))
    if not absorbed(writer, writer.graph.top):
        writer.link(sentence, "amr:focus", writer.thing(writer.graph.top))
    text = writer.graph.text
    if text:
        writer.value(sentence, "amr:text", Literal(text.encode("utf-8", "replace").decode("utf-8")))
