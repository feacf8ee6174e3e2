"""The rules of OWL 2 RL as text -> rules as values.

Source: OWL 2 Profiles, section 4.3, tables 4 to 9 (https://www.w3.org/TR/owl2-profiles/); `rules.toml` says which.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from pyoxigraph import Literal, NamedNode

from doxa.logic.names import PREFIXES
from doxa.logic.terms import term

__all__ = ["INTERNAL", "SAME_AS", "Atom", "Guard", "Rule", "Symbol", "Variable", "rules"]

INTERNAL = "urn:doxa:closure#"
"""What the names of our own vocabulary begin with: statements about lists, which nobody asked for."""
SAME_AS = term("owl:sameAs")
GUARDS = ("within", "outside", "differ", "apart", "alike")
COMPARISONS = ("!=", "<", "<=")


class Variable(str):
    """A variable of a rule, without its question mark."""

    __slots__ = ()


Symbol = Variable | NamedNode | Literal
Atom = tuple[Symbol, ...]
"""Three terms of a statement; of an inconsistency, what tells it from others."""
Guard = tuple[str, Symbol, Symbol]
"""A test of two bound terms: `!=`, an order, or one of `GUARDS`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When all of `body` is there and all `guards` hold, `head` follows; or, with `clash`, something is wrong."""

    name: str
    body: tuple[Atom, ...]
    guards: tuple[Guard, ...]
    head: Atom
    clash: bool = False

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Return the variables of the body, in order."""
        return tuple(dict.fromkeys(one for atom in self.body for one in atom if isinstance(one, Variable)))


@cache
def rules() -> tuple[Rule, ...]:
    """Return every rule, in the order of the file, with those that keep names apart."""
    tables = tomllib.loads(files("doxa.logic.closure").joinpath("rules.toml").read_text(encoding="utf-8"))
    read = [_read(name, text) for table in tables.values() for name, texts in table.items() for text in texts]
    return tuple(rule for one in read for rule in _apart(one))


def _read(name: str, text: str) -> Rule:
    body, _, head = text.partition("->")
    clauses = [clause.split() for clause in body.split(";") if clause.strip()]
    first, *rest = head.split()
    return Rule(
        name=name,
        body=tuple(tuple(map(_symbol, clause)) for clause in clauses if not _is_guard(clause)),
        guards=tuple(_guard(clause) for clause in clauses if _is_guard(clause)),
        head=tuple(map(_symbol, rest if first == "false" else (first, *rest))),
        clash=first == "false",
    )


def _is_guard(clause: list[str]) -> bool:
    return clause[0] in GUARDS or clause[1] in COMPARISONS


def _guard(clause: list[str]) -> Guard:
    test, one, other = clause if clause[0] in GUARDS else (clause[1], clause[0], clause[2])
    return test, _symbol(one), _symbol(other)


def _symbol(word: str) -> Symbol:
    if word.startswith("?"):
        return Variable(word[1:])
    if word.startswith('"'):
        return Literal(word.strip('"'), datatype=NamedNode(PREFIXES["xsd"] + "nonNegativeInteger"))
    if word.startswith(":"):
        return NamedNode(INTERNAL + word[1:])
    return term("rdf:type" if word == "a" else word)


def _apart(rule: Rule) -> Iterator[Rule]:
    """Yield a rule; of one that identifies two things, also that it is wrong where names are known to differ."""
    if rule.clash or rule.head[1] != SAME_AS or rule.name.startswith("eq-"):
        yield rule
        return
    one, _, other = rule.head
    yield replace(rule, guards=(*rule.guards, ("alike", one, other)))
    guards: tuple[Guard, ...] = (*rule.guards, ("<", one, other), ("apart", one, other))
    yield replace(rule, guards=guards, head=rule.variables, clash=True)
