"""The axioms of an ontology that facts of different slots can break, and what follows from them, as rules.

Two kinds. *Rules* make facts: who is married has a marital status. *Constraints* only say what cannot be: nobody is
both older and younger than another. Both come from the ontology's RDF where OWL 2 can say it, and from `axioms.toml`
where it would need a value restriction for every value.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import combinations
from typing import Any

from doxa.core.ontology import Ontology, RelationType
from doxa.core.values import Atom, Relation, Rule, Term
from doxa.memory import relation_type

__all__ = ["Axioms", "axioms"]

X, Y, Z = (Term(key, key) for key in ("?x", "?y", "?z"))


@dataclass(frozen=True, slots=True)
class Axioms:
    """What holds of everybody."""

    rules: tuple[Rule, ...]
    constraints: tuple[Rule, ...]
    relations: frozenset[str]
    """The relations that any of them speaks of."""


@lru_cache(maxsize=32)
def axioms(ontology: Ontology) -> Axioms:
    """Return the axioms of an ontology as rules. O(relations); cached.

    Source: OWL 2 Profiles, table 5 (prp-asyp, prp-pdw, prp-ifp, prp-symp); functional relations are slots, and
    prp-irp is left to `logic.closure`, since a case never binds two variables to one thing.
    """
    table = tomllib.loads(files("doxa.revise").joinpath("axioms.toml").read_text(encoding="utf-8"))
    rules = tuple(map(_rule, table["rule"]))
    stated = (rule for kind in ontology.relations.values() for rule in _constraints(kind, ontology))
    exclusive = (rule for group in table["exclusive"] for rule in _exclusive(group))
    constraints = (*stated, *exclusive)
    atoms = (atom for rule in (*rules, *constraints) for atom in (*rule.if_, *rule.then))
    return Axioms(rules, constraints, frozenset(atom.relation.name for atom in atoms))


def _constraints(kind: RelationType, ontology: Ontology) -> Iterator[Rule]:
    if kind.abstract:
        return
    holds = Atom(subject=X, relation=kind.relation, object=Y)
    back = Atom(subject=Y, relation=kind.relation, object=X, polarity=not kind.asymmetric)
    if kind.asymmetric or (kind.symmetric and kind.functional):
        yield _axiom([holds], [back], f"“{kind.label}” {'never ' if kind.asymmetric else ''}goes both ways")
    if kind.inverse_functional:
        other = Atom(subject=Z, relation=kind.relation, object=Y, polarity=False)
        yield _axiom([holds], [other], f"only one at a time “{kind.label}” the same")
    for name in kind.disjoint:
        if (rival := ontology.relations.get(name)) is not None and name > kind.name:
            never = Atom(subject=X, relation=rival.relation, object=Y, polarity=False)
            yield _axiom([holds], [never], f"nobody both “{kind.label}” and “{rival.label}” the same")


def _exclusive(group: Mapping[str, Any]) -> Iterator[Rule]:
    """Yield the constraints that no two values of a group hold of one thing."""
    for one, other in combinations(group["values"], 2):
        if_, then = _atom(["?x", group["relation"], one]), _atom(["?x", f"not {group['relation']}", other])
        yield _axiom([if_], [then], f"nothing is {one} and {other}")


def _axiom(if_: list[Atom], then: list[Atom], span: str) -> Rule:
    return Rule(if_=tuple(if_), then=tuple(then), role="system", span=span)


def _rule(entry: Mapping[str, Any]) -> Rule:
    if_, then = ([_atom(words) for words in entry[side]] for side in ("if", "then"))
    return _axiom(if_, then, entry["why"])


def _atom(written: list[str]) -> Atom:
    """Return the atom of `[subject, relation, object]`; "not" before the relation denies it."""
    subject, name, thing = written
    relation = relation_type(name.removeprefix("not "))
    return Atom(
        subject=Term(subject, subject),
        relation=Relation(relation.name, relation.label),
        object=Term(thing.casefold(), thing),
        polarity=not name.startswith("not "),
    )
