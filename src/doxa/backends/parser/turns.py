"""What a reader of turns takes and gives: lines, and what the last one says in places of their characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from doxa.backends.parser import Parse

__all__ = ["Heard", "Line", "Place", "Told", "TurnReader"]


@dataclass(frozen=True, slots=True)
class Line:
    """Who says what."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Characters `start` to `end` of a line, by its number; `start` is -1 for the name of its speaker."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A claim that a memory should keep, in words of the lines."""

    anchor: Place
    """The word that it hangs on: the head of its object, or its verb where it has none."""
    subject: Place
    relation: str
    """As the corpus has it (`works_at`); empty where words of the lines name it."""
    words: tuple[Place, ...]
    """The verb or noun that names it, with its particle and preposition; else the anchor."""
    object: Place
    times: tuple[tuple[str, Place], ...]
    """`from`, `to`, `on`, and `instead` and `by`, with their words."""
    flags: frozenset[str]
    """not, plan, wish, maybe, over, withdraw, minor, correct."""
    p: float
    """How likely it is a claim at all, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a turn says."""

    claims: tuple[Told, ...]
    meant: tuple[tuple[Place, Place], ...]
    """Words that refer, and the words before that they mean; of a relative pronoun the likeliest ones."""
    parses: tuple[tuple[tuple[int, ...], Parse], ...]
    """Of each sentence of the turn, where its words start, and its parse; none of a turn without a claim."""

    def antecedent(self, place: Place) -> Place | None:
        """Return the words that a place refers to, at the end of the chain; None where it refers to none."""
        known = {(one.line, one.end): goal for one, goal in self.meant}
        found = known.get((place.line, place.end))
        for _ in range(3):
            if found is None or (further := known.get((found.line, found.end))) is None:
                break
            found = further
        return found


@runtime_checkable
class TurnReader(Protocol):
    """A parser that reads turns as well; the built-in one is deterministic."""

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """Gives back what each turn says; a turn is the last of some lines, oldest first.

        Raises:
            BackendError: The model failed or is not installed.
            ClosedError: It was closed.
        """
