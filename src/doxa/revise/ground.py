"""Rules -> the cases of them that some propositions touch. Lazy: nothing is made ground that nobody speaks of.

A rule "every trainee gets a locker" has one case for each trainee; two facts meet in the solver only through cases.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple, Protocol

from doxa.core.values import Atom, Relation, Rule, Term
from doxa.memory import predicate_of, rule_id

__all__ = ["Case", "Facts", "Literal", "Proposition", "RuleBase", "Spoken"]

MAX_CASES = 1000
"""Cases of one rule that are looked at for one proposition; of a rule that joins more the others are left out."""


class Proposition(NamedTuple):
    """Who, and what is said of them: what two facts or atoms share when they speak of one thing."""

    subject: str
    predicate: str

    @classmethod
    def of(cls, subject: Term, relation: Relation, thing: Term) -> Proposition:
        """Return what a fact or a ground atom speaks of."""
        return cls(subject.key, predicate_of(relation, thing))


class Literal(NamedTuple):
    """An atom of a case, and whether the case says that it holds or that it does not."""

    proposition: Proposition
    positive: bool
    atom: Atom


@dataclass(frozen=True, slots=True)
class Case:
    """A rule about certain people and things: when all of `body` hold, all of `head` do."""

    rule: Rule
    rule_id: str
    body: tuple[Literal, ...]
    head: tuple[Literal, ...]
    derives: bool = True
    """Whether what follows becomes a fact; a constraint only says what cannot be."""

    @property
    def name(self) -> tuple[str, ...]:
        """What identifies the case among all."""
        said = (f"{'' if lit.positive else '-'}{'|'.join(lit.proposition)}" for lit in (*self.body, *self.head))
        return (self.rule_id, *said)

    @property
    def known_at(self) -> datetime | None:
        """Since when the rule is known; None for an axiom."""
        return self.rule.known_at

    def literals(self) -> Iterator[Literal]:
        """Yield the literals of body and head."""
        yield from self.body
        yield from self.head


Spoken = tuple[Term, Relation, Term]
"""What a claim, a fact or an atom speaks of, whether it says that it holds or not."""


class Facts(Protocol):
    """What the variables of a rule may stand for."""

    def saying(self, predicate: str) -> Iterable[Spoken]:
        """Return the propositions with a predicate, of whomever."""
        ...

    def relating(self, relation: str, subject: str | None = None) -> Iterable[Spoken]:
        """Return the propositions of a relation; of one subject, by its key, or of all."""
        ...


Binding = Mapping[str, Term]


class RuleBase:
    """Rules by the propositions that they speak of. Building it costs O(atoms), a lookup O(cases found)."""

    def __init__(
        self, rules: Iterable[Rule], *, constraints: Iterable[Rule] = (), named: Callable[[Term], Term] | None = None
    ) -> None:
        """Index rules, and constraints from which no facts are made.

        Args:
            rules: stated by a user, or axioms.
            constraints: axioms that only say what cannot be.
            named: gives the entity that a term stands for.
        """
        self.cut: dict[str, Rule] = {}
        """Rules that had more cases than `MAX_CASES` for a proposition that was looked up, by their ids."""
        self._entries: list[_Entry] = []
        self._by_predicate: dict[str, list[tuple[_Entry, Atom]]] = defaultdict(list)
        self._by_relation: dict[str, list[tuple[_Entry, Atom]]] = defaultdict(list)
        for derives, group in ((True, rules), (False, constraints)):
            for rule in dict.fromkeys(group):
                if _binds(rule):
                    self._add(_Entry(rule, rule_id(rule), _renamed(rule, named), derives))

    def _add(self, entry: _Entry) -> None:
        self._entries.append(entry)
        for atom in entry.atoms():
            if _variable(atom.object):
                self._by_relation[atom.relation.name].append((entry, atom))
            else:
                self._by_predicate[predicate_of(atom.relation, atom.object)].append((entry, atom))

    def touching(self, subject: Term, relation: Relation, thing: Term, facts: Facts) -> list[Case]:
        """Return the cases that speak of a proposition, each once."""
        known = (*self._by_predicate.get(predicate_of(relation, thing), ()), *self._by_relation.get(relation.name, ()))
        found: dict[tuple[str, ...], Case] = {}
        for entry, atom in known:
            binding = _unified(atom, subject, thing, {})
            if binding is not None:
                for case in self._some(entry, binding, facts):
                    found.setdefault(case.name, case)
        return list(found.values())

    def all_cases(self, facts: Facts) -> list[Case]:
        """Return every case of every rule; only for a few of them. `MAX_CASES` counts for each match of an atom."""
        pairs = ((entry, binding) for entry in self._entries for binding in entry.bindings(facts))
        return list({case.name: case for pair in pairs for case in self._some(*pair, facts)}.values())

    def _some(self, entry: _Entry, binding: Binding, facts: Facts) -> Iterator[Case]:
        """Yield the cases of a rule under a binding, `MAX_CASES` at most, and note where there are more."""
        for number, case in enumerate(entry.cases(binding, facts)):
            if number == MAX_CASES:
                self.cut[entry.rule_id] = entry.stated
                return
            yield case


@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    """A rule as it was said, and by the entities that its names stand for."""

    stated: Rule
    rule_id: str
    rule: Rule
    derives: bool

    def atoms(self) -> tuple[Atom, ...]:
        return (*self.rule.if_, *self.rule.then)

    def bindings(self, facts: Facts) -> list[Binding]:
        """Return those of every proposition that one of the atoms speaks of, so the same that `touching` would find."""
        bindings = [found for atom in self.atoms() if _open(atom, {}) for found in _matches(atom, {}, facts)]
        return bindings if any(_open(atom, {}) for atom in self.atoms()) else [{}]

    def cases(self, binding: Binding, facts: Facts) -> Iterator[Case]:
        """Yield the cases under a binding."""
        waiting = [binding]
        while waiting:
            bound = waiting.pop()
            open_atom = next((atom for atom in self.atoms() if _open(atom, bound)), None)
            if open_atom is not None:
                waiting.extend(_matches(open_atom, bound, facts))
                continue
            case = Case(
                self.stated,
                self.rule_id,
                _literals(self.rule.if_, bound),
                _literals(self.rule.then, bound),
                self.derives,
            )
            if len({term.key for term in bound.values()}) == len(bound):  # "no two of them" is not about one twice
                yield case


def _renamed(rule: Rule, named: Callable[[Term], Term] | None) -> Rule:
    if named is None:
        return rule

    def told(atom: Atom) -> Atom:
        return replace(atom, subject=named(atom.subject), object=named(atom.object))

    return replace(rule, if_=tuple(map(told, rule.if_)), then=tuple(map(told, rule.then)))


def _binds(rule: Rule) -> bool:
    """Tell whether a rule says how the world is: what must be done need not be, and what may be done neither."""
    return bool(rule.if_) and all(
        atom.deontic == "" or (atom.deontic == "may" and not atom.polarity) for atom in rule.then
    )


def _variable(term: Term) -> bool:
    return term.key.startswith("?")


def _unified(atom: Atom, subject: Term, thing: Term, binding: Binding) -> Binding | None:
    """Return a binding under which an atom speaks of a subject and an object; None when there is none."""
    found = dict(binding)
    pairs = [(atom.subject, subject)] + ([(atom.object, thing)] if _variable(atom.object) else [])
    for pattern, term in pairs:
        if not _variable(pattern):
            if pattern.key != term.key:
                return None
        elif found.setdefault(pattern.key, term).key != term.key:
            return None
    return found


def _open(atom: Atom, binding: Binding) -> bool:
    return any(_variable(term) and term.key not in binding for term in (atom.subject, atom.object))


def _matches(atom: Atom, binding: Binding, facts: Facts) -> list[Binding]:
    """Return the ways to bind the open variables of an atom to what facts speak of."""
    atom = _bound(atom, binding)
    if _variable(atom.object):
        known = facts.relating(atom.relation.name, None if _variable(atom.subject) else atom.subject.key)
    else:
        known = facts.saying(predicate_of(atom.relation, atom.object))
    found = (_unified(atom, subject, thing, binding) for subject, _, thing in known)
    keyed = {tuple(sorted((key, term.key) for key, term in bound.items())): bound for bound in found if bound}
    return list(reversed(keyed.values()))


def _bound(atom: Atom, binding: Binding) -> Atom:
    subject, thing = binding.get(atom.subject.key, atom.subject), binding.get(atom.object.key, atom.object)
    return Atom(
        subject=subject, relation=atom.relation, object=thing, polarity=atom.polarity, valid=atom.valid, span=atom.span
    )


def _literals(atoms: Sequence[Atom], binding: Binding) -> tuple[Literal, ...]:
    bound = (_bound(atom, binding) for atom in atoms)
    return tuple(Literal(Proposition.of(a.subject, a.relation, a.object), a.polarity, a) for a in bound)
