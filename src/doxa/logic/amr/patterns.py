"""The design patterns: how names, quantities, dates, predicates, modifiers, modals and AMR's own frames are written.

Source: FRED (Gangemi et al., "Semantic Web Machine Reading with FRED", Semantic Web 8(6), 2017) for events as
individuals, roles, truth values, modality, quantifiers and compound classes. Where FRED asserts what a sentence only
denies, wishes or asks, we keep the individual and its truth value, and write no direct statement about the world.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from doxa.logic.amr.dates import interval_of, until
from doxa.logic.amr.graph import AmrEdge, AmrNode
from doxa.logic.amr.scope import contents
from doxa.logic.amr.triples import TYPE, Writer
from doxa.logic.amr.vocabulary import camel, expand, frames, literal, local, table

__all__ = ["absorbed", "compound", "constant", "describe_node", "link_frame", "modality", "predicate"]

DATE_TIME: Final = expand("xsd:dateTime")
TIED: Final = {"have-rel-role-91": ("ARG0", "ARG1"), "have-org-role-91": ("ARG0", "ARG1")}
"""Frames whose third role is what the first party is to the second."""
DUAL: Final = {"Possible": "Necessary", "Necessary": "Possible"}


def absorbed(writer: Writer, variable: str) -> bool:
    """Tell whether a node is no thing of its own: a name, or a word that only counts or points."""
    graph, node = writer.graph, writer.graph.nodes[variable]
    into = graph.into(variable)
    if node.concept == "name":
        return bool(into) and all(edge.role == "name" for edge in into)
    if graph.out(variable) or len(into) != 1:
        return False
    role = into[0].role
    if role == "mod" and node.concept in table("only_as_quantity")["words"]:
        return False
    words = {"mod": (*table("quantifiers"), *table("determiners")), "quant": tuple(table("quantifiers"))}
    return node.concept in words.get(role, ()) or (role == "polarity" and node.concept == "amr-unknown")


def describe_node(writer: Writer, node: AmrNode) -> None:
    """Write what a node is: its class, name, identity elsewhere, time, truth value."""
    graph, thing = writer.graph, writer.thing(node.variable)
    if node.concept in table("pronouns") and not graph.name(node.variable):
        writer.is_a(thing, expand(table("pronouns")[node.concept]))
        writer.label(thing, node.concept)
    elif node.concept == "amr-unknown":
        writer.is_a(thing, expand("amr:Unknown"))
    else:
        writer.is_a(thing, writer.concept(node))
    if name := graph.name(node.variable):
        writer.label(thing, name)
        writer.value(thing, "schema:name", Literal(name.encode("utf-8", "replace").decode("utf-8")))
    wiki = graph.constant(node.variable, "wiki")
    if wiki and wiki != "-":
        prefix = "wikidata" if re.fullmatch(r"Q\d+", wiki) else "dbpedia"
        same = NamedNode(expand(f"{prefix}:").value + local(wiki))
        writer.link(thing, "owl:sameAs", same)
        writer.add(Triple(same, TYPE, expand("owl:NamedIndividual")))
    if node.concept in ("date-entity", "date-interval"):
        _date(writer, node, thing)
    if graph.denied(node.variable):
        writer.link(thing, "boxing:hasTruthValue", writer.term("boxing:False"))


def _date(writer: Writer, node: AmrNode, thing: NamedNode) -> None:
    """Write when a date starts and ends, as xsd:dateTime: OWL 2 has no xsd:date."""
    interval = interval_of(writer.graph, node.variable)
    if interval is None:
        return
    for name, day in (("amr:start", interval.start), ("amr:end", until(interval))):
        if day is not None:
            writer.value(thing, name, Literal(f"{day.isoformat()}T00:00:00", datatype=DATE_TIME))


def compound(writer: Writer, edge: AmrEdge) -> None:
    """Write a modifier: a quantifier, a determiner, or a quality with the class of things that have it."""
    graph = writer.graph
    node, head = graph.nodes[edge.target], graph.nodes[edge.source]
    thing = writer.thing(edge.source)
    if absorbed(writer, edge.target):
        quantifies = node.concept in table("quantifiers")
        name = table("quantifiers" if quantifies else "determiners")[node.concept]
        writer.link(thing, f"quant:has{'Quantifier' if quantifies else 'Determiner'}", writer.term(name))
        return
    writer.link(thing, "dul:hasQuality", writer.thing(edge.target))
    plain = not node.frame and not graph.name(edge.target) and edge.target in writer.classes
    if plain and edge.source in writer.classes and not head.frame:
        narrow = writer.own(camel(node.concept) + camel(head.concept))
        writer.kind(narrow, writer.classes[edge.source])
        writer.label(narrow, f"{node.lemma} {head.lemma}".replace("-", " "))
        writer.is_a(thing, narrow)


def predicate(writer: Writer, edge: AmrEdge) -> None:
    """Write "X is a NOUN" or "X is ADJECTIVE": `edge` leads from the predicate to X by `:domain`.

    Asserted, the two are one thing, or X has the quality. Denied, X is in the complement of the class. Anything else
    only relates the two.
    """
    graph, node = writer.graph, writer.graph.nodes[edge.source]
    subject, told = writer.thing(edge.target), writer.thing(edge.source)
    writer.link(told, "amr:domain", subject)
    scope = writer.scopes[edge.source]
    kind = writer.classes.get(edge.source)
    if scope.modality != "asserted" or scope.asked or kind is None:
        return
    if scope.denied:
        other = BlankNode(f"not{len(writer.triples)}{sha256(writer.base.encode()).hexdigest()[:8]}")
        writer.add(Triple(other, TYPE, expand("owl:Class")))
        writer.add(Triple(other, expand("owl:complementOf"), writer.classed(_described(writer, edge.source, kind))))
        writer.is_a(subject, other)
    elif writer.pos_of(node.lemma.replace("-", " ")) in ("a", "r") and not graph.name(edge.source):
        writer.link(subject, "dul:hasQuality", told)
    else:
        writer.link(subject, "owl:sameAs", told)
        writer.is_a(subject, kind)


def _described(writer: Writer, variable: str, kind: NamedNode) -> NamedNode:
    """Return the class that a predicate names with everything said about it: "a good cat", not "a cat"."""
    others = [e for e in writer.graph.out(variable) if e.role not in ("domain", "polarity", "wiki", "name")]
    if not others:
        return kind
    narrow = writer.own(f"{camel(writer.graph.nodes[variable].concept)}_{local(variable)}")
    writer.kind(narrow, kind)
    writer.is_a(writer.thing(variable), narrow)
    return narrow


def modality(writer: Writer, variable: str) -> None:
    """Write how the content of a modal is meant, on the content: "not possible" is "necessary that not"."""
    content = contents(writer.graph, variable)
    if content is None or not content[1]:
        return
    name, denied = content[1], writer.graph.denied(variable)
    if denied and name not in DUAL:
        return  # who does not want it may not mind it
    thing = writer.thing(content[0])
    term = table("modality_terms")[DUAL[name] if denied else name]
    writer.link(thing, "boxing:hasModality", writer.term(term))
    if denied and not writer.graph.denied(content[0]):
        writer.link(thing, "boxing:hasTruthValue", writer.term("boxing:False"))


def link_frame(writer: Writer, node: AmrNode) -> None:
    """Write what one of AMR's own frames says in one triple, where the sentence asserts it."""
    graph = writer.graph
    if not writer.scopes[node.variable].held:
        return
    if node.concept in TIED:
        _tie(writer, node)
        return
    link = frames(node.concept).get("link")
    first, second = graph.target(node.variable, "ARG1"), graph.target(node.variable, "ARG2")
    if link and first and second:
        writer.link(writer.thing(first.variable), link, writer.thing(second.variable))


def _tie(writer: Writer, node: AmrNode) -> None:
    """Write "Mia is my sister" as `Mia sisterOf i`, and `Mia dul:hasRole sister`."""
    graph = writer.graph
    who, whose, role = (graph.target(node.variable, name) for name in (*TIED[node.concept], "ARG2"))
    if who and role:
        writer.link(writer.thing(who.variable), "dul:hasRole", writer.thing(role.variable))
    if who and whose and role:
        name = camel(role.concept)
        related = writer.own(f"{name[:1].lower()}{name[1:]}Of")
        writer.label(related, f"{role.lemma.replace('-', ' ')} of")
        writer.relate(writer.thing(who.variable), related, writer.thing(whose.variable))
    elif who and whose and node.concept == "have-org-role-91":
        writer.link(writer.thing(who.variable), "dul:isMemberOf", writer.thing(whose.variable))


def constant(writer: Writer, edge: AmrEdge) -> None:
    """Write a role to a constant: a truth value, a mode, a count, or a plain value."""
    thing, role, text = writer.thing(edge.source), edge.role, edge.target
    concept = writer.graph.nodes[edge.source].concept
    if role in ("name", "wiki") or (role == "polarity" and text == "-"):
        return  # told by `describe_node`
    if role == "polarity":
        truth = "boxing:True" if text == "+" else "amr:Unknown"
        writer.link(thing, "boxing:hasTruthValue", writer.term(truth))
    elif role == "mode":
        writer.link(thing, "amr:mode", writer.term(f"amr:{local(text.capitalize())}"))
    else:
        named = frames(concept).get(role)
        generic = f"amr:{local(named or role)}Value"
        writer.value(thing, generic if named else table("values").get(role, generic), text)
        if role == "quant" and not concept.endswith(("-quantity", "-entity")) and literal(text) != literal("1"):
            writer.link(thing, "quant:hasQuantifier", writer.term("quant:multiple"))
