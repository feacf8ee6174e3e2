"""Facts -> the facts that follow from them by an ontology, and those that cannot hold together, kept up to date.

What goes in: the current facts of a memory that are asserted, denials as negative assertions, and the axioms of the
relations that they use. Things of different names are different things (people mean that when they use two names, and
`merge` is how they say otherwise), so two values of a functional relation are a clash and not one thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pyoxigraph import Literal, NamedNode, Triple

from doxa.core.consistency import Inconsistency
from doxa.core.ontology import ClassType, Ontology, RelationType
from doxa.core.values import Fact, Interval, Modality, Relation, Status, Term
from doxa.logic.axioms import class_axioms, connected, iri_of, mentioned, relation_axioms, type_of
from doxa.logic.closure import Clash, Closure, Delta, Node, Statement, minimal
from doxa.logic.graph import FactGraph
from doxa.logic.terms import TYPE
from doxa.logic.wording import Wording, with_article

__all__ = ["IS_A", "Consequences", "OwlState"]

IS_A = Relation("is_a", "is")
"""What membership in a class is told with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequences:
    """What some facts brought about by coming or going."""

    inferred: tuple[Fact, ...] = ()
    """Facts that follow now and did not before; `premises` are the ids of the facts that they follow from."""
    withdrawn: tuple[Fact, ...] = ()
    """Facts that followed before and do not any more."""
    inconsistencies: tuple[Inconsistency, ...] = ()
    """What cannot hold together, and was not there before."""


class OwlState:
    """The current facts of one user under an ontology, with what follows from them.

    Sound and complete for the rules of OWL 2 RL (`logic.closure`). Axioms come in with the first fact that uses their
    relation. Not safe between threads. Cost: of a change, what the rules find to do with it; of the object, O(facts).
    """

    def __init__(
        self, user: str, ontology: Ontology, facts: Iterable[Fact] = (), *, axioms: Iterable[Triple] = ()
    ) -> None:
        """Begin with some facts; about 0.1 ms each.

        Args:
            user: whose facts they are.
            ontology: classes and relations.
            facts: what is believed now.
            axioms: more axioms than the ontology has, such as class expressions and property chains of a Turtle file.
        """
        self.ontology = ontology
        self._graph = FactGraph(user, ontology)
        self._classes: dict[Node, ClassType] = {NamedNode(kind.iri): kind for kind in ontology.classes.values()}
        self._above = {
            kind.label: {
                ontology.classes[one].label for one in ontology.classes_above(kind.name) if one in ontology.classes
            }
            for kind in ontology.classes.values()
        }
        self._facts: dict[str, tuple[Fact, tuple[Statement, ...]]] = {}
        self._said: dict[Statement, tuple[str, ...]] = {}
        """The ids of the facts that say something."""
        self._things: dict[Node, Term] = {}
        self._relations: dict[str, RelationType] = {
            iri_of(name, ontology).value: kind for name, kind in ontology.relations.items()
        }
        self._loaded: set[str] = set()
        more = list(axioms)
        self._axioms = [Statement(*triple) for triple in (*class_axioms(ontology, mentioned(more)), *more)]
        self._closure = self._empty()
        self._scratch: Closure | None = None
        self._words = Wording(ontology, self._things, self._relations)
        self._change(facts, ())

    def __len__(self) -> int:
        """Return the number of facts that are held."""
        return len(self._facts)

    @property
    def firings(self) -> int:
        """Return how often a rule has found all of its premises: the measure of work."""
        return self._closure.firings

    def add(self, *facts: Fact) -> Consequences:
        """Take in facts as they are now: one that is over, retracted or not asserted is taken out."""
        return self.update(add=facts)

    def remove(self, *facts: Fact | str) -> Consequences:
        """Take facts out, by themselves or by id; unknown ones do not matter."""
        return self.update(remove=facts)

    def update(self, *, add: Iterable[Fact] = (), remove: Iterable[Fact | str] = ()) -> Consequences:
        """Take facts out and others in, as one change."""
        delta = self._change(add, remove)
        return Consequences(
            inferred=tuple(self._told(delta.added)),
            withdrawn=tuple(self._told(delta.removed)),
            inconsistencies=tuple(self._inconsistencies(delta.clashes)),
        )

    def sync(self, facts: Iterable[Fact]) -> Consequences:
        """Hold these facts and no others. O(facts) to see what differs, and then the cost of the change alone."""
        wanted = {fact.fact_id: fact for fact in facts}
        gone = [fact_id for fact_id in self._facts if fact_id not in wanted]
        new = [fact for fact_id, fact in wanted.items() if self._facts.get(fact_id, (None,))[0] is not fact]
        return self.update(add=new, remove=gone) if new or gone else Consequences()

    def _change(self, add: Iterable[Fact], remove: Iterable[Fact | str]) -> Delta:
        gone: dict[Statement, None] = {}
        for one in remove:
            gone |= dict.fromkeys(self._forget(one if isinstance(one, str) else one.fact_id))
        come: dict[Statement, None] = {}
        for fact in add:
            gone |= dict.fromkeys(self._forget(fact.fact_id))
            come |= dict.fromkeys(self._learn(fact))
        kept = [one for one in come if one not in gone or one in self._said]
        return self._closure.update(add=kept, remove=[one for one in gone if one not in self._said])

    def inferred(self, *, specific: bool = False) -> list[Fact]:
        """Return every fact that follows and was not told itself. O(statements).

        Args:
            specific: of the classes of a thing, only those that no other one of them is below.
        """
        found = list(self._told(self._closure.inferred()))
        return self._specific(found) if specific else found

    def inferred_about(self, key: str) -> list[Fact]:
        """Return the facts that follow and have a thing as their subject or object; of its classes, the lowest ones.

        Cost: O(statements about it).
        """
        found = list(self._told(self._closure.inferred_about(self._graph.node("thing", key))))
        return self._specific(found)

    def inferred_fact(self, fact_id: str) -> Fact | None:
        """Return a fact that follows by its id; None where nothing of this id does. O(statements)."""
        found = (one for one in self._closure.inferred() if _id_of(one) == fact_id)
        return next(self._told(found), None)

    def _specific(self, facts: list[Fact]) -> list[Fact]:
        """Leave out that a thing is of a class where it is of one below that."""
        above: dict[str, set[str]] = {}
        for fact in (one for one in facts if one.relation == IS_A):
            above.setdefault(fact.subject.key, set()).update(self._above.get(fact.object.key, ()))
        return [one for one in facts if one.relation != IS_A or one.object.key not in above[one.subject.key]]

    def inconsistencies(self) -> list[Inconsistency]:
        """Return what cannot hold together, each set of facts once; empty when all can."""
        return list(self._inconsistencies(self._closure.clashes()))

    def why(self, fact: Fact) -> tuple[str, ...]:
        """Return how a fact follows, in plain words, one sentence for each step; empty when it does not follow."""
        statement = self._class_of(fact) or Statement(*self._graph.statement(fact))
        proof = self._closure.proof(statement)
        return () if proof is None else tuple(self._words.steps(proof))

    # Facts and statements

    def _learn(self, fact: Fact) -> Iterator[Statement]:
        """Take note of a fact, and yield what it says with the axioms that it needs."""
        if fact.status is not Status.HELD or fact.modality is not Modality.ASSERTED:
            return
        yield from self._axioms_of(fact.relation)
        said = [self._graph.statement(fact)] if fact.polarity else list(self._graph.denial(fact))
        statements = tuple(Statement(*triple) for triple in said)
        self._facts[fact.fact_id] = fact, statements
        self._name(fact)
        for one in statements:
            self._said[one] = (*self._said.get(one, ()), fact.fact_id)
        yield from statements

    def _forget(self, fact_id: str) -> Iterator[Statement]:
        """Drop a fact, and yield what nobody says any more."""
        for one in self._facts.pop(fact_id, (None, ()))[1]:
            others = tuple(other for other in self._said.pop(one) if other != fact_id)
            if others:
                self._said[one] = others
            else:
                yield one

    def _name(self, fact: Fact) -> None:
        subject, relation, value = self._graph.statement(fact)
        self._things[subject] = fact.subject
        if not isinstance(value, Literal):
            self._things[value] = fact.object
        self._relations.setdefault(relation.value, type_of(fact.relation, self.ontology))

    def _axioms_of(self, relation: Relation) -> Iterator[Statement]:
        """Yield the axioms of a relation and of those that they name, where they are not known yet."""
        names = list(connected([relation.name], self.ontology, self._loaded))
        if names:
            self._loaded.update(names)
            found = [Statement(*triple) for triple in relation_axioms(names, self.ontology)]
            self._axioms += found
            self._scratch = None
            yield from found

    def _told(self, statements: Iterable[Statement]) -> Iterator[Fact]:
        """Yield what is said of things as facts; what only groups others is left out."""
        for one in statements:
            subject = self._things.get(one.subject)
            if subject is None:
                continue
            if one.predicate == TYPE:
                kind = self._classes.get(one.object)
                if kind is not None:
                    yield self._derived(
                        one, subject, IS_A, Term(kind.label, with_article(kind.label)), functional=False
                    )
                continue
            relation = self._relations.get(one.predicate.value)
            value = self._things.get(one.object)
            if isinstance(one.object, Literal):
                value = Term(one.object.value.casefold(), one.object.value)
            if relation is not None and value is not None and not relation.abstract:
                yield self._derived(one, subject, relation.relation, value, functional=relation.functional)

    def _derived(
        self, statement: Statement, subject: Term, relation: Relation, value: Term, *, functional: bool
    ) -> Fact:
        """Return a statement as a fact that rests on others: it holds while they all do, and is no surer than they."""
        proof = self._closure.proof(statement)
        premises = [] if proof is None else self._facts_of(proof.support)
        known = [fact.known_at for fact in premises if fact.known_at is not None]
        return Fact(
            fact_id=_id_of(statement),
            subject=subject,
            relation=relation,
            object=value,
            functional=functional,
            valid=_common([fact.valid for fact in premises]),
            turn_ids=tuple(dict.fromkeys(turn for fact in premises for turn in fact.turn_ids)),
            known_at=max(known, default=None),
            confidence=min((fact.confidence for fact in premises), default=1.0),
            premises=tuple(fact.fact_id for fact in premises),
        )

    def _facts_of(self, statements: Iterable[Statement]) -> list[Fact]:
        """Return the facts that say something, one for each statement, each once."""
        ids = (self._said[one][0] for one in statements if one in self._said)
        return [self._facts[fact_id][0] for fact_id in dict.fromkeys(ids)]

    def _class_of(self, fact: Fact) -> Statement | None:
        if fact.relation.name != IS_A.name:
            return None
        node = next((node for node, kind in self._classes.items() if kind.label == fact.object.key), None)
        return None if node is None else Statement(self._graph.node("thing", fact.subject.key), TYPE, node)

    # What cannot hold together

    def _inconsistencies(self, clashes: Iterable[Clash]) -> Iterator[Inconsistency]:
        """Yield clashes with a smallest set of facts each, every set once."""
        seen: set[frozenset[str]] = set()
        for clash in clashes:
            proof = self._closure.proof(clash)
            if proof is None:
                continue
            facts = minimal(self._facts_of(proof.support), self._clash_alone)
            found = frozenset(fact.fact_id for fact in facts)
            if found not in seen:
                seen.add(found)
                yield Inconsistency(rule=clash.rule, facts=tuple(facts), text=self._words.clash(proof, facts))

    def _clash_alone(self, facts: Sequence[Fact]) -> bool:
        """Tell whether some of the facts clash without the others."""
        if self._scratch is None:
            self._scratch = self._empty()
        statements = [one for fact in facts for one in self._facts[fact.fact_id][1]]
        self._scratch.add(statements)
        found = bool(self._scratch.clashes())
        self._scratch.remove(statements)
        return found

    def _empty(self) -> Closure:
        return Closure(self._axioms, apart=self._things.__contains__)


def _id_of(statement: Statement) -> str:
    name = "\n".join(map(str, statement))
    return f"o_{blake2b(name.encode(), digest_size=6).hexdigest()}"


def _common(intervals: Sequence[Interval]) -> Interval:
    """Return when all of some intervals hold."""
    starts = [one for one in intervals if one.start is not None]
    ends = [one for one in intervals if one.end is not None]
    first = max(starts, key=lambda one: str(one.start), default=Interval())
    last = min(ends, key=lambda one: str(one.end), default=Interval())
    return Interval(
        start=first.start, start_precision=first.start_precision, end=last.end, end_precision=last.end_precision
    )
