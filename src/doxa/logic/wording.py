"""Proofs -> plain words: what follows, from what, and which axiom says so."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from pyoxigraph import Literal, NamedNode

from doxa.core.ontology import ClassType, Ontology, RelationType
from doxa.core.values import Fact, Modality, Term
from doxa.logic.closure import Clash, Node, Proof, Statement, Step
from doxa.logic.names import PREFIXES
from doxa.logic.terms import TYPE, term

__all__ = ["Wording", "joined", "with_article"]


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.logic").joinpath("owl.toml").read_text(encoding="utf-8"))


class Wording:
    """What the terms of one user's graph are called."""

    def __init__(self, ontology: Ontology, things: Mapping[Node, Term], relations: Mapping[str, RelationType]) -> None:
        """Take the ontology, the things by their node, and the relations by their IRI; later ones are seen as well."""
        self._things, self._relations = things, relations
        self._classes: dict[str, ClassType] = {kind.iri: kind for kind in ontology.classes.values()}

    def steps(self, proof: Proof) -> Iterator[str]:
        """Yield one sentence for every conclusion about things; those about relations and classes are left out."""
        for step in proof.steps:
            if step.rule and isinstance(step.conclusion, Statement) and self._is_data(step.conclusion):
                told = joined([self.statement(one) for one in step.premises if self._is_data(one)])
                reasons = "; ".join(dict.fromkeys(self._reasons(step)))
                yield f"{self.statement(step.conclusion)}, because {told}{': ' if reasons else ''}{reasons}."

    def clash(self, proof: Proof, facts: Sequence[Fact]) -> str:
        """Return what is wrong, in one sentence that begins with the facts."""
        last = proof.steps[-1]
        told = [one.conclusion for one in proof.steps if not one.rule]
        follows = [one for one in last.premises if self._is_data(one) and one not in told]
        then = [f"then {joined([self.statement(one) for one in follows])}"] if follows else []
        reasons = "; ".join(dict.fromkeys([*then, *self._reasons(last)]))
        amount = {0: "The axioms clash", 1: "cannot hold", 2: "cannot both hold"}.get(len(facts), "cannot all hold")
        said = f"{joined([f'“{self.fact(fact)}”' for fact in facts])} " if facts else ""
        return f"{said}{amount}: {reasons}." if reasons else f"{said}{amount}."

    def fact(self, fact: Fact) -> str:
        """Return a fact as a plain sentence without its time."""
        kind = next((one for one in self._relations.values() if one.name == fact.relation.name), None)
        kind = kind or RelationType(name=fact.relation.name, label=fact.relation.label)
        return _sentence(kind, fact.subject.label, fact.object.label, polarity=fact.polarity)

    def statement(self, statement: Statement) -> str:
        """Return a statement about a thing as a plain sentence."""
        subject, value = self.name(statement.subject), statement.object
        if statement.predicate == TYPE:
            return f"{subject} is {self._with_article(value)}"
        if statement.predicate == term("owl:sourceIndividual"):
            return "it was denied"
        kind = self._relations.get(_iri(statement.predicate))
        kind = kind or RelationType(name="", label=self.name(statement.predicate))
        return _sentence(kind, subject, self.name(value))

    def name(self, node: Node) -> str:
        """Return what a term is called: its label, its value, or the end of its IRI."""
        if isinstance(node, Literal):
            return node.value
        if node in self._things:
            return self._things[node].label
        kind = self._relations.get(_iri(node)) or self._classes.get(_iri(node))
        return kind.label if kind else _iri(node).rpartition("#")[2].rpartition("/")[2]

    def _is_data(self, statement: Statement) -> bool:
        return statement.subject in self._things or isinstance(statement.subject, Literal)

    def _reasons(self, step: Step) -> Iterator[str]:
        """Yield the axioms that a step rests on, those for which there are words."""
        if isinstance(step.conclusion, Clash) and (text := _table()["clashes"].get(step.conclusion.rule)):
            terms = step.conclusion.terms
            articles = {f"is_{place}": self._with_article(node) for place, node in enumerate(terms)}
            yield text.format(*map(self.name, terms), **articles)
            return
        for axiom in step.premises:
            by_type = axiom.predicate == TYPE
            text = _table()["types" if by_type else "axioms"].get(_short(axiom.object if by_type else axiom.predicate))
            if text is not None and not self._is_data(axiom):
                articles = {"is_s": self._with_article(axiom.subject), "is_o": self._with_article(axiom.object)}
                yield text.format(s=self.name(axiom.subject), o=self.name(axiom.object), **articles)

    def _with_article(self, node: Node) -> str:
        return with_article(self.name(node))


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _sentence(kind: RelationType, subject: str, value: str, *, polarity: bool = True) -> str:
    if not polarity and not kind.base and kind.kind == "verb":
        return f"not: {subject} {kind.label} {value}"
    return kind.render(subject, value, polarity=polarity, modality=Modality.ASSERTED)


def joined(parts: Iterable[str]) -> str:
    """Return parts as people list them, each once."""
    *front, last = dict.fromkeys(parts) or [""]
    return f"{', '.join(front)} and {last}" if front else last


def _iri(node: Node) -> str:
    return node.value if isinstance(node, NamedNode) else ""


def _short(node: Node) -> str:
    found = ((name, iri) for name, iri in PREFIXES.items() if _iri(node).startswith(iri))
    return next((f"{name}:{_iri(node).removeprefix(iri)}" for name, iri in found), "")
