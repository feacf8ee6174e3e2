"""What goes into a closure and what comes out of it: statements, what follows, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode

__all__ = ["Clash", "Delta", "Node", "Proof", "Statement", "Step", "minimal"]

Node = NamedNode | BlankNode | Literal
T = TypeVar("T")


class Statement(NamedTuple):
    """A triple of generalised RDF: what is inferred may have a literal as its subject."""

    subject: Node
    predicate: Node
    object: Node


@dataclass(frozen=True, slots=True)
class Clash:
    """An inconsistency: the rule of OWL 2 RL that found it, and the terms that tell it from others of that rule.

    Where a rule treats two of them alike, they stand in the order in which this closure met them.
    """

    rule: str
    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """What one change of the asserted statements did to the inferred ones. Asserted statements are not in it."""

    added: tuple[Statement, ...] = ()
    removed: tuple[Statement, ...] = ()
    clashes: tuple[Clash, ...] = ()
    """Inconsistencies that were not there before."""
    settled: tuple[Clash, ...] = ()
    """Inconsistencies that are gone."""


@dataclass(frozen=True, slots=True)
class Step:
    """One conclusion of a proof; what is asserted has no rule and no premises."""

    conclusion: Statement | Clash
    rule: str = ""
    premises: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Proof:
    """Why something holds: every step after those that it needs, the last one what was to be shown."""

    steps: Sequence[Step]

    @property
    def conclusion(self) -> Statement | Clash:
        """Return what is shown."""
        return self.steps[-1].conclusion

    @cached_property
    def support(self) -> tuple[Statement, ...]:
        """Return the asserted statements that it rests on."""
        leaves = (step.conclusion for step in self.steps if not step.rule)
        return tuple(leaf for leaf in leaves if isinstance(leaf, Statement))


def minimal(given: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """Return the part of what is given that is left when nothing more can go, with `holds` still true of it.

    `holds` has to be monotone and true of all that is given. Cost: one test for each item.
    """
    kept = list(given)
    for item in given:
        without = [one for one in kept if one is not item]
        if holds(without):
            kept = without
    return kept
