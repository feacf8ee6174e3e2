"""Clauses -> which of them can take part in a clash with some others. No solver is asked.

A clause of a minimal clash that is entered by one of its literals is left by every other one, and some clause denies
each; so what no such chain reaches, and what says something that nothing denies, is in no minimal clash with what the
chain begins at, and need not be asked about.

Source: Bibel 1987, "Automated theorem proving", the connection method, which is complete with any clause of a minimal
unsatisfiable set as its start; and the rule of pure literals, Davis and Putnam 1960.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from doxa.logic.differences import Difference
from doxa.logic.literals import Lit

__all__ = ["Connections"]

Name = TypeVar("Name", bound=Hashable)
Clause = tuple[Lit, ...]
BOUNDS = Lit("bounds")
"""Stands for every difference: any bound may clash with any other, by sums along a cycle."""


class Connections(Generic[Name]):
    """Named clauses by their literals. Not safe for two threads at once."""

    def __init__(self) -> None:
        self._clauses: list[tuple[Name, Clause]] = []
        self._containing: defaultdict[Lit, list[int]] = defaultdict(list)

    def add(self, name: Name, clauses: Iterable[Sequence[Lit]]) -> None:
        """Take in the clauses of a name. Cost O(literals)."""
        for clause in clauses:
            literals = _joined(clause)
            for literal in literals:
                self._containing[literal].append(len(self._clauses))
            self._clauses.append((name, literals))

    def around(self, clauses: Iterable[Sequence[Lit]]) -> set[Lit]:
        """Return the literals on the ways from some clauses, theirs included, whichever clauses count.

        What a clause may decide is among them, denied or not. Cost O(clauses that are reached).
        """
        return self._reached(clauses, lambda name: True)[0]

    def clashing(
        self, clauses: Iterable[tuple[Name | None, Sequence[Lit]]], counts: Callable[[Name], bool]
    ) -> set[Name]:
        """Return the names that a minimal clash which has one of some clauses may consist of; mostly a few of all.

        Args:
            clauses: with the names that they are of, or with None.
            counts: tells whether the clauses of a name are taken for true.

        Cost O(clauses that are reached).
        """
        start = [(name, _joined(clause)) for name, clause in clauses]
        _, reached = self._reached((clause for _, clause in start), counts)
        known = list(dict.fromkeys((*start, *(self._clauses[place] for place in reached))))
        using: defaultdict[Lit, list[int]] = defaultdict(list)
        for place, (_, clause) in enumerate(known):
            for literal in clause:
                using[literal].append(place)
        saying = Counter({literal: len(places) for literal, places in using.items()})
        gone = {place for literal, places in using.items() if not saying[_denied(literal)] for place in places}
        waiting = list(gone)
        while waiting:
            for literal in known[waiting.pop()][1]:
                saying[literal] -= 1
                if not saying[literal]:
                    fresh = [place for place in using.get(_denied(literal), ()) if place not in gone]
                    gone.update(fresh)
                    waiting += fresh
        return {name for place, (name, _) in enumerate(known) if name is not None and place not in gone}

    def _reached(
        self, clauses: Iterable[Sequence[Lit]], counts: Callable[[Name], bool]
    ) -> tuple[set[Lit], dict[int, None]]:
        met = {literal for clause in clauses for literal in _joined(clause)}
        waiting = list(met)
        reached: dict[int, None] = {}
        while waiting:
            denied = _denied(waiting.pop())
            for place in self._containing.get(denied, ()):
                name, clause = self._clauses[place]
                if not counts(name):
                    continue
                reached[place] = None
                fresh = [literal for literal in clause if literal != denied and literal not in met]
                met.update(fresh)
                waiting += fresh
        return met, reached


def _joined(clause: Iterable[Lit]) -> Clause:
    """Return the literals of a clause, each once, with one for all differences."""
    return tuple(dict.fromkeys(BOUNDS if isinstance(literal.atom, Difference) else literal for literal in clause))


def _denied(literal: Lit) -> Lit:
    return BOUNDS if literal == BOUNDS else ~literal
