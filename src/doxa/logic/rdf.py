"""Facts as RDF: every current statement as a triple, and every fact as a node with status, validity and sources.

Source: RDF 1.1 (https://www.w3.org/TR/rdf11-concepts/), reification as in RDF Schema 1.1 section 5.3, sources by
PROV-O (https://www.w3.org/TR/prov-o/).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, serialize

from doxa.core.values import Fact, Modality, Status, Turn

__all__ = ["to_turtle"]

PREFIXES = {
    "doxa": "urn:doxa:vocabulary:",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "prov": "http://www.w3.org/ns/prov#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def to_turtle(facts: Iterable[Fact], turns: Mapping[str, Turn], *, user: str) -> str:
    """Return facts with their sources as Turtle.

    Args:
        facts: any facts; those that are held, asserted and positive are plain triples as well.
        turns: the turns that the facts cite, by id.
        user: whose memory it is; part of every name.
    """
    facts = list(facts)
    triples = [triple for fact in facts for triple in _fact(fact, user)]
    cited = dict.fromkeys(turn_id for fact in facts for turn_id in fact.turn_ids)
    triples += [triple for key in cited if key in turns for triple in _turn(turns[key], user)]
    data = serialize(triples, format=RdfFormat.TURTLE, prefixes=PREFIXES)
    return (data or b"").decode("utf-8")


def _fact(fact: Fact, user: str) -> Iterator[Triple]:
    node, subject, thing = (
        _name(user, "fact", fact.fact_id),
        _thing(user, fact.subject.key),
        _thing(user, fact.object.key),
    )
    relation = _term("doxa", quote(fact.relation.name, safe=""))
    if fact.status is Status.HELD and fact.modality is Modality.ASSERTED and fact.polarity:
        yield Triple(subject, relation, thing)
    for named, label in ((subject, fact.subject.label), (relation, fact.relation.label), (thing, fact.object.label)):
        yield Triple(named, _term("rdfs", "label"), Literal(label))
    yield Triple(node, _term("rdf", "type"), _term("rdf", "Statement"))
    yield Triple(node, _term("rdf", "subject"), subject)
    yield Triple(node, _term("rdf", "predicate"), relation)
    yield Triple(node, _term("rdf", "object"), thing)
    yield Triple(node, _term("doxa", "polarity"), Literal(fact.polarity))
    yield Triple(node, _term("doxa", "modality"), Literal(str(fact.modality)))
    yield Triple(node, _term("doxa", "status"), Literal(str(fact.status)))
    for local, day in (("validFrom", fact.valid.start), ("validUntil", fact.valid.end)):
        if day is not None:
            yield Triple(node, _term("doxa", local), Literal(day.isoformat(), datatype=_term("xsd", "date")))
    for turn_id in fact.turn_ids:
        yield Triple(node, _term("prov", "wasDerivedFrom"), _name(user, "turn", turn_id))


def _turn(turn: Turn, user: str) -> Iterator[Triple]:
    node, at = _name(user, "turn", turn.turn_id), Literal(turn.at.isoformat(), datatype=_term("xsd", "dateTime"))
    yield Triple(node, _term("rdf", "type"), _term("prov", "Entity"))
    yield Triple(node, _term("prov", "value"), Literal(turn.text))
    yield Triple(node, _term("prov", "wasAttributedTo"), _thing(user, turn.speaker.casefold()))
    yield Triple(node, _term("prov", "generatedAtTime"), at)


def _name(user: str, kind: str, key: str) -> NamedNode:
    return NamedNode(f"urn:doxa:{quote(user, safe='')}:{kind}:{quote(key, safe='')}")


def _thing(user: str, key: str) -> NamedNode:
    return _name(user, "thing", key)


def _term(prefix: str, local: str) -> NamedNode:
    return NamedNode(PREFIXES[prefix] + local)
