"""What a sentence says: a frame for each predicate, with the arguments that it is said with."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from doxa.core.values import Interval, Turn
from doxa.language.amounts import Number

__all__ = ["Argument", "Frame", "Sentence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """A noun phrase in its frame, with the number that counts or measures it."""

    start: int
    end: int
    """Where its noun phrase stands in the turn, without its preposition."""
    head: str
    """Base form of its noun; empty for a bare number."""
    words: frozenset[str]
    """Stems of its words, of what belongs to it as well ("classrooms on the upper floor")."""
    label: str
    """Its words as they stand, without article and number."""
    role: str
    """"subject", "object", "predicate", "than", or its preposition ("on"); "" for a time without one ("every day")."""
    name: bool = False
    """It is a proper name."""
    each: bool = False
    """It is said of each of several ("in each row")."""
    definite: bool = False
    """It speaks of what is known: "the pears", "10 of the pears", "half of them"."""
    indefinite: bool = False
    """It has the article "a"."""
    owner: str = ""
    """Pronoun or name before it ("my", "Ana")."""
    number: Number | None = None
    more: int = 0
    """1 for "3 more", -1 for "3 fewer"."""
    vague: bool = False
    """It has a quantity that is no number ("some")."""

    @property
    def value(self) -> Fraction | None:
        """Return the number as it stands."""
        return self.number.value if self.number else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A verb with its noun phrases, in the order in which they are said."""

    start: int
    end: int
    """Where its predicate stands in the turn."""
    verb: str
    """Base form, with its particle ("fly away"); "be" beside an adjective, which `state` names then."""
    state: str
    subject: Argument | None
    arguments: tuple[Argument, ...]
    """All but the subject; those of an "of" follow the phrase that they belong to."""
    negative: bool = False
    future: bool = False
    passive: bool = False
    conditional: bool = False
    words: frozenset[str] = frozenset()
    """Stems of all its words."""
    when: Interval | None = None
    """The first time that its sentence tells."""
    clock_min: int | None = None
    """Minutes after midnight of a clock time that is named."""
    more: int = 0
    """1 or -1 where "more" or "less" belongs to the verb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a turn with its frames."""

    turn: Turn
    text: str
    start: int
    """Where it begins in the turn."""
    number: int
    """Its place among the sentences of the turn."""
    frames: tuple[Frame, ...]
    question: bool
