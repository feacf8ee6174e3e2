"""Facts and an ontology -> whether they agree; by OWL 2 RL with our closure, by OWL 2 DL with HermiT."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pyoxigraph import NamedNode, Triple

from doxa.core.consistency import Consistency, Inconsistency
from doxa.core.errors import BackendUnavailableError
from doxa.core.ontology import Ontology
from doxa.core.values import Fact, Modality, Status
from doxa.logic.axioms import class_axioms, connected, iri_of, listed, mentioned, relation_axioms, type_of
from doxa.logic.graph import FactGraph
from doxa.logic.hermit import Hermit
from doxa.logic.owl import OwlState
from doxa.logic.terms import TYPE, term
from doxa.logic.wording import Wording, joined

__all__ = ["check_dl", "check_rl", "report"]


def check_rl(facts: Iterable[Fact], user: str, ontology: Ontology, axioms: Sequence[Triple] = ()) -> Consistency:
    """Return whether current facts agree with an ontology by the rules of OWL 2 RL.

    Every clash is told with a smallest set of facts. Sound; not complete for all of OWL 2. O(facts).
    """
    start = time.perf_counter()
    found = report(OwlState(user, ontology, facts, axioms=axioms))
    return replace(found, seconds=time.perf_counter() - start)


def report(state: OwlState) -> Consistency:
    """Return what a state says of its facts."""
    start, found = time.perf_counter(), tuple(state.inconsistencies())
    return Consistency(
        method="owl-rl",
        consistent=not found,
        facts=len(state),
        inconsistencies=found,
        inferred=len(state.inferred()),
        seconds=time.perf_counter() - start,
    )


def check_dl(
    facts: Iterable[Fact], user: str, ontology: Ontology, axioms: Sequence[Triple] = (), *, limit_s: float = 60.0
) -> Consistency:
    """Return whether current facts agree with an ontology by all of OWL 2 DL.

    What OWL 2 RL finds is told by its rules; what only the reasoner finds, by a set of facts that is made smaller
    (QuickXplain, Junker, AAAI 2004) until nothing can go or the time is up. Things are told apart where a functional
    relation could take them for one.

    Args:
        facts: what is believed.
        user: whose facts they are.
        ontology: its classes and relations.
        axioms: more axioms, as they stand in Turtle files.
        limit_s: how long it may take; one question to the reasoner takes about a second.

    Raises:
        BackendError: the reasoner is not there, took too long for its first answer, or cannot read the graph.
    """
    search = _Search(Hermit.find(), FactGraph(user, ontology), axioms, time.perf_counter(), limit_s)
    told = [fact for fact in facts if fact.status is Status.HELD and fact.modality is Modality.ASSERTED]
    found = list(check_rl(told, user, ontology, axioms).inconsistencies)
    clashing = {fact.fact_id for one in found for fact in one.facts}
    rest = [fact for fact in told if fact.fact_id not in clashing]
    while not search.consistent(rest):
        kept = search.smallest(rest)
        found.append(_by_reasoner(kept, search, minimal=not search.late))
        if search.late or not kept:
            break
        rest = [fact for fact in rest if fact not in kept]
    return Consistency(
        method="owl-dl",
        consistent=not found,
        facts=len(told),
        inconsistencies=tuple(found),
        seconds=time.perf_counter() - search.start,
    )


def _by_reasoner(facts: Sequence[Fact], search: _Search, *, minimal: bool) -> Inconsistency:
    said = joined([f"“{search.words.fact(fact)}”" for fact in facts]) if facts else "The axioms"
    amount = {0: "clash by themselves", 1: "cannot hold", 2: "cannot both hold"}.get(len(facts), "cannot all hold")
    text = f"{said} {amount} under the ontology{'' if minimal else '; the time was up before fewer were found'}."
    return Inconsistency(rule="owl-dl", facts=tuple(facts), text=text, minimal=minimal)


@dataclass(slots=True)
class _Search:
    """Questions to the reasoner about some of the facts, until the time is up."""

    reasoner: Hermit
    graph: FactGraph
    axioms: Sequence[Triple]
    start: float
    limit_s: float
    late: bool = False
    words: Wording = field(init=False)

    def __post_init__(self) -> None:
        relations = {
            iri_of(name, self.graph.ontology).value: kind for name, kind in self.graph.ontology.relations.items()
        }
        self.words = Wording(self.graph.ontology, {}, relations)

    def consistent(self, facts: Sequence[Fact]) -> bool:
        left = self.limit_s - (time.perf_counter() - self.start)
        return self.reasoner.consistent(_triples(facts, self.graph, self.axioms), timeout_s=max(left, 1.0))

    def smallest(self, facts: Sequence[Fact]) -> list[Fact]:
        """Return inconsistent facts of which none can go, or fewer than given when it gets late."""
        return [] if self._clash([]) else self._divide([], list(facts), grown=False)

    def _divide(self, base: list[Fact], facts: list[Fact], *, grown: bool) -> list[Fact]:
        """Return what of some facts has to be added to a base for an inconsistency."""
        if grown and self._clash(base):
            return []
        if len(facts) == 1 or self.late:
            return facts
        left, right = facts[: len(facts) // 2], facts[len(facts) // 2 :]
        of_right = self._divide(base + left, right, grown=True)
        of_left = self._divide(base + of_right, left, grown=bool(of_right))
        return of_left + of_right

    def _clash(self, facts: Sequence[Fact]) -> bool:
        """Tell whether facts are inconsistent; when it is late nobody knows, and no fact is let go."""
        if not self.late:
            try:
                return not self.consistent(facts)
            except BackendUnavailableError:
                self.late = True
        return False


def _triples(facts: Sequence[Fact], graph: FactGraph, axioms: Sequence[Triple]) -> Iterator[Triple]:
    """Yield facts with the axioms that they need, and which of their things are different ones."""
    ontology, used = graph.ontology, mentioned(axioms)
    names = dict.fromkeys(fact.relation.name for fact in facts)
    names |= {name: None for name, kind in ontology.relations.items() if kind.iri in used}
    yield from axioms
    yield from class_axioms(ontology, used)
    yield from relation_axioms(connected(names, ontology), ontology)
    for fact in facts:
        said = graph.statement(fact)
        if fact.relation.name not in ontology.relations:
            yield Triple(said.predicate, TYPE, term("owl:ObjectProperty"))
        for node in (said.subject, said.object):
            if isinstance(node, NamedNode):
                yield Triple(node, TYPE, term("owl:NamedIndividual"))
        yield from [said] if fact.polarity else graph.denial(fact)
    for place, things in enumerate(_told_apart(facts, ontology, used)):
        members = [graph.node("thing", key) for key in things]
        yield from listed(f"different{place}", "owl:AllDifferent", "owl:distinctMembers", members)


def _told_apart(facts: Sequence[Fact], ontology: Ontology, used: set[str]) -> list[list[str]]:
    """Return the groups of things that a functional relation might take for one."""
    groups: dict[tuple[str, str, bool], dict[str, None]] = {}
    for fact in facts:
        kind = type_of(fact.relation, ontology)
        if kind.datatype or not fact.polarity:
            continue
        for name in (kind.name, *ontology.ancestors(kind.name)):
            above = ontology.relations.get(name, kind)
            inverse = ontology.relations.get(above.inverse)
            axiom = above.iri in used
            if axiom or (above.functional and not above.usual) or (inverse is not None and inverse.inverse_functional):
                groups.setdefault((name, fact.subject.key, True), {})[fact.object.key] = None
            if axiom or above.inverse_functional or (inverse is not None and inverse.functional):
                groups.setdefault((name, fact.object.key, False), {})[fact.subject.key] = None
            if above.symmetric and above.functional:
                groups.setdefault((name, fact.object.key, True), {})[fact.subject.key] = None
    return [list(group) for group in groups.values() if len(group) > 1]
