"""A memory -> an OWL graph with provenance.

What is believed now is asserted plainly (`thing:ana doxa:livesIn thing:lisbon`), with an `owl:Axiom` that names its
record; what is denied is an `owl:NegativePropertyAssertion`. Every fact of any standing is a record of its own
(`meta:Fact`) with status, validity and confidence, derived (PROV-O) from the turns that say it. The log itself is turns
and events, so that a memory can be read back.

Source: OWL 2 Mapping to RDF Graphs (https://www.w3.org/TR/owl2-mapping-to-rdf/), tables 1 and 2; PROV-O
(https://www.w3.org/TR/prov-o/).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from doxa.core.ontology import Ontology
from doxa.core.values import Change, Fact, Relation, Turn
from doxa.logic.axioms import declarations, iri_of, type_of
from doxa.logic.coherence import ANY, Coherent, fits
from doxa.logic.names import PREFIXES, user_iri
from doxa.logic.terms import TYPE, day, flag, moment, number, term

__all__ = ["FactGraph"]

LABEL, INDIVIDUAL = term("rdfs:label"), term("owl:NamedIndividual")
DERIVED, ATTRIBUTED, GENERATED = term("prov:wasDerivedFrom"), term("prov:wasAttributedTo"), term("prov:generatedAtTime")
ENTITY, FACT = term("prov:Entity"), term("meta:Fact")


class FactGraph:
    """The graph of one user's facts; every name in it carries the user's."""

    def __init__(self, user: str, ontology: Ontology) -> None:
        self.user, self.ontology = user, ontology
        self._nodes: dict[tuple[str, str], NamedNode] = {}

    @cached_property
    def prefixes(self) -> Mapping[str, str]:
        """Return the prefixes of the graph: the standards, and the things, facts, turns and events of the user."""
        own = {kind: user_iri(self.user, kind, "") for kind in ("thing", "fact", "turn", "event", "change")}
        return {**PREFIXES, **own}

    def node(self, kind: str, key: str) -> NamedNode:
        """Return the IRI of something of the user's."""
        node = self._nodes.get((kind, key))
        if node is None:
            node = self._nodes[kind, key] = NamedNode(user_iri(self.user, kind, key))
        return node

    def current(self, facts: Iterable[Fact], *, coherent: bool) -> Iterator[Triple]:
        """Yield what is believed: declarations, things with their classes, assertions and denials.

        Args:
            facts: what is believed now, or was on a day.
            coherent: leave out assertions that would make the ontology inconsistent.
        """
        facts = list(facts)
        chosen = Coherent.of(facts, self.ontology)
        asserted = chosen.asserted if coherent else [f for f in facts if f.modality == "asserted" and f.polarity]
        for fact in asserted:
            yield from self._assertion(fact)
        for fact in chosen.denied:
            yield from self._denial(fact)
        for key, classes in chosen.classes.items():
            for name in classes:
                if name in self.ontology.classes:
                    yield Triple(self.node("thing", key), TYPE, NamedNode(self.ontology.classes[name].iri))

    def vocabulary(self, facts: Iterable[Fact]) -> Iterator[Triple]:
        """Yield the axioms of the relations that facts use, and the names of the things that they are about."""
        facts = list(facts)
        relations: dict[str, Relation] = {}
        things: dict[tuple[str, str], None] = {}
        for fact in facts:
            relations.setdefault(fact.relation.name, fact.relation)
            things[fact.subject.key, fact.subject.label] = things[fact.object.key, fact.object.label] = None
        yield from declarations(relations.values(), self.ontology)
        for key, label in things:
            yield Triple(self.node("thing", key), TYPE, INDIVIDUAL)
            yield Triple(self.node("thing", key), LABEL, Literal(label))

    def described(
        self, facts: Iterable[Fact], current: Iterable[Fact], turns: Mapping[str, Turn], *, coherent: bool
    ) -> Iterator[Triple]:
        """Yield facts with all that is told of them: vocabulary, assertions, records, and the turns that they cite.

        Args:
            facts: of any standing.
            current: those of them that are believed.
            turns: those that they cite, by id.
            coherent: leave out assertions that would make the ontology inconsistent.
        """
        facts = list(facts)
        yield from self.vocabulary(facts)
        yield from self.current(current, coherent=coherent)
        for fact in facts:
            yield from self.record(fact, turns)
        for turn in turns.values():
            yield from self.turn(turn)

    def statement(self, fact: Fact) -> Triple:
        """Return what a fact says of its subject, without its source, standing or polarity."""
        subject, relation = self.node("thing", fact.subject.key), iri_of(fact.relation.name, self.ontology)
        return Triple(subject, relation, self._value(fact))

    def denial(self, fact: Fact) -> Iterator[Triple]:
        """Yield what says that a fact does not hold."""
        node, (subject, relation, value) = BlankNode(f"n{fact.fact_id}"), self.statement(fact)
        target = "owl:targetValue" if isinstance(value, Literal) else "owl:targetIndividual"
        yield Triple(node, TYPE, term("owl:NegativePropertyAssertion"))
        yield Triple(node, term("owl:sourceIndividual"), subject)
        yield Triple(node, term("owl:assertionProperty"), relation)
        yield Triple(node, term(target), value)

    def _assertion(self, fact: Fact) -> Iterator[Triple]:
        said, axiom = self.statement(fact), BlankNode(f"a{fact.fact_id}")
        yield said
        yield Triple(axiom, TYPE, term("owl:Axiom"))
        yield Triple(axiom, term("owl:annotatedSource"), said.subject)
        yield Triple(axiom, term("owl:annotatedProperty"), said.predicate)
        yield Triple(axiom, term("owl:annotatedTarget"), said.object)
        yield Triple(axiom, term("meta:fact"), self.node("fact", fact.fact_id))

    def _denial(self, fact: Fact) -> Iterator[Triple]:
        yield from self.denial(fact)
        yield Triple(BlankNode(f"n{fact.fact_id}"), term("meta:fact"), self.node("fact", fact.fact_id))

    def _value(self, fact: Fact) -> NamedNode | Literal:
        kind = type_of(fact.relation, self.ontology)
        if kind.datatype:
            typed = kind.datatype != ANY and fits(fact.object.label, kind.datatype)
            return Literal(fact.object.label, datatype=NamedNode(kind.datatype) if typed else None)
        return self.node("thing", fact.object.key)

    def record(self, fact: Fact, turns: Mapping[str, Turn]) -> Iterator[Triple]:
        """Yield the record of a fact; `turns` holds those that it cites, by id."""
        node, valid = self.node("fact", fact.fact_id), fact.valid
        yield Triple(node, TYPE, FACT)
        yield Triple(node, TYPE, ENTITY)
        yield Triple(node, LABEL, Literal(str(fact)))
        yield Triple(node, META["subject"], self.node("thing", fact.subject.key))
        yield Triple(node, META["relation"], iri_of(fact.relation.name, self.ontology))
        yield Triple(node, META["object"], self.node("thing", fact.object.key))
        yield Triple(node, META["polarity"], flag(fact.polarity))
        yield Triple(node, META["modality"], Literal(str(fact.modality)))
        yield Triple(node, META["status"], Literal(str(fact.status)))
        yield Triple(node, META["disputed"], flag(fact.disputed))
        yield Triple(node, META["functional"], flag(fact.functional))
        yield Triple(node, META["confidence"], number(fact.confidence))
        if valid.start is not None:
            yield Triple(node, META["validFrom"], day(valid.start))
            yield Triple(node, META["validFromPrecision"], Literal(valid.start_precision))
        if valid.end is not None:
            yield Triple(node, META["validUntil"], day(valid.end))
            yield Triple(node, META["validUntilPrecision"], Literal(valid.end_precision))
        if fact.known_at is not None:
            yield Triple(node, GENERATED, moment(fact.known_at))
        for turn_id in fact.turn_ids:
            yield Triple(node, DERIVED, self.node("turn", turn_id))
        for speaker in dict.fromkeys(turns[key].speaker for key in fact.turn_ids if key in turns):
            yield Triple(node, ATTRIBUTED, self.node("thing", speaker.casefold()))

    def turn(self, turn: Turn) -> Iterator[Triple]:
        """Yield a turn: what was said, by whom, when."""
        node = self.node("turn", turn.turn_id)
        yield Triple(node, TYPE, term("meta:Turn"))
        yield Triple(node, TYPE, ENTITY)
        yield Triple(node, term("prov:value"), Literal(turn.text))
        yield Triple(node, GENERATED, moment(turn.at))
        yield Triple(node, ATTRIBUTED, self.node("thing", turn.speaker.casefold()))
        yield Triple(node, META["speaker"], Literal(turn.speaker))
        yield Triple(node, META["role"], Literal(turn.role))
        yield Triple(node, META["session"], Literal(turn.session))
        if turn.generated:
            yield Triple(node, META["generated"], flag(True))

    def change(self, change: Change, name: str) -> Iterator[Triple]:
        """Yield one step of revision: what happened to which fact, and why."""
        node = self.node("change", name)
        yield Triple(node, TYPE, term("meta:Change"))
        yield Triple(node, META["kind"], Literal(str(change.kind)))
        yield Triple(node, META["fact"], self.node("fact", change.fact.fact_id))
        if change.reason:
            yield Triple(node, META["reason"], Literal(change.reason))
        for other in change.because:
            yield Triple(node, META["because"], self.node("fact", other))


META = {
    name: term(f"meta:{name}")
    for name in "subject relation object polarity modality status disputed functional confidence validFrom validUntil "
    "validFromPrecision validUntilPrecision speaker role session generated kind fact reason because place body".split()
}


def in_graph(triples: Iterable[Triple], name: NamedNode | DefaultGraph) -> Iterator[Quad]:
    """Yield triples as quads of a named graph."""
    for triple in triples:
        yield Quad(triple.subject, triple.predicate, triple.object, name)
