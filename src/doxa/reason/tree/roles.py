"""The three judgements of the tree, as Protocols: what to try next, how good a state is, what to say.

Each is asked about all states of a level in one call, so that one that waits (for a language model) waits once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from doxa.core.values import Draft, Fact, Interval, Term, Turn
from doxa.reason.tree.actions import Action
from doxa.reason.tree.state import State, Task

__all__ = ["Policy", "Proposal", "Recalled", "Tools", "Valuer", "Writer"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A move that a policy would make, and how likely it finds it.

    A policy that has the answer at hand when it proposes ANSWER may give it as `draft`: it is then not written again,
    which saves one wait a level.
    """

    action: Action
    probability: float
    draft: Draft | None = None


class Policy(Protocol):
    """Says what to try next."""

    def propose(self, states: Sequence[State], task: Task, width: int) -> list[list[Proposal]]:
        """Return up to `width` moves for each state, the likeliest first; `[]` for a call that failed.

        The probabilities of one state's moves sum to 1 at most. No state is terminal.
        """


class Valuer(Protocol):
    """Says how good states are."""

    def score(self, states: Sequence[State], task: Task) -> list[float | None]:
        """Return the value of each state, 0 to 1; None for a call that failed, which drops the state.

        Of an open state: how promising it is. Of a terminal one (`state.draft`): how good the answer is.
        """


class Writer(Protocol):
    """Says what follows from states, in words."""

    def write(self, states: Sequence[State], task: Task) -> list[Draft | None]:
        """Return an answer from what each state has gathered, with its citations; None where nothing can be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What the memory says to a sub-question."""

    draft: Draft | None = None
    """The answer without a tree; None or abstained when there is none."""
    facts: tuple[Fact, ...] = ()
    """The facts that the answer rests on."""
    turn_ids: tuple[str, ...] = ()
    """The turns that bear on it, best first."""
    when: Interval | None = None
    """The time of what the answer tells: when it began, held or happened."""
    text: str = ""
    """What was found, in words; empty for nothing."""


def _nothing_computed(expression: str, facts: Sequence[Fact], task: Task) -> Draft | None:
    return None


def _unknown(name: str) -> Term | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """How moves reach the memory. Each locks it for as long as it looks, so that roles may wait in between."""

    expand: Callable[[Term, int], Sequence[Fact]]
    """Entity, hops -> the facts around it, nearest first."""
    paths: Callable[[Term, Term, int], Sequence[Sequence[Fact]]]
    """Two entities, k -> chains of facts between them, best first."""
    recall: Callable[[str, date | None], Recalled]
    """Sub-question, day of the world -> what the memory says to it."""
    turn: Callable[[str], Turn | None]
    """Turn id -> the turn."""
    entity: Callable[[str], Term | None] = field(default=_unknown)
    """Name -> the entity that it stands for, as a policy needs it that gives names; None for an unknown one."""
    compute: Callable[[str, Sequence[Fact], Task], Draft | None] = field(default=_nothing_computed)
    """Expression or question, facts, task -> the exact result with its working; None where there is nothing to do."""
