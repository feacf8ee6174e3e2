"""What a user says of what a reader of turns heard, and what came of it: the reader is taught by these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Mark", "MarkedLine", "MarkedTurn", "Missed", "Taught", "TaughtBy", "Unsure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedLine:
    """Who says what, as it was said."""

    speaker: str
    text: str
    turn_id: str = ""
    """The turn of the memory that it is; empty where it was written by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What is so of a claim that was heard. Subject, words and object are those of the lines, exactly."""

    subject: str
    """Who or what it is about; the name of the speaker where no words say it."""
    words: str
    """The verb or noun that names the relation."""
    object: str
    right: bool
    """Whether the lines say this at all."""
    keep: bool
    """Whether it is worth keeping; nothing that is not right is."""
    relation: str = ""
    """The name that the relation should have; empty where the reader's is right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A claim that was not heard. It is kept for later training of the reader: a head can add nothing."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedTurn:
    """A turn behind those before it, with the marks on its claims."""

    lines: tuple[MarkedLine, ...]
    """The turn is the last one."""
    claims: tuple[Mark, ...] = ()
    missed: tuple[Missed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsure:
    """A claim of which the reader is not sure whether it is one, to be marked."""

    lines: tuple[MarkedLine, ...]
    """The turn, last, behind those before it."""
    subject: str
    words: str
    object: str
    relation: str
    """By name; empty where its words name it."""
    flags: tuple[str, ...] = ()
    """How it is meant: `not`, `over`, `plan`, `wish`, `maybe`, `withdraw`, `correct`."""
    p: float
    """How likely it is worth keeping, 0 to 1, with what the reader was taught so far."""
    kept: bool
    """Whether that is enough to keep it."""

    @property
    def turn_id(self) -> str:
        """The turn that it is a claim of."""
        return self.lines[-1].turn_id


@dataclass(frozen=True, slots=True, kw_only=True)
class TaughtBy:
    """The head that is in use for a user."""

    path: Path
    """Its file."""
    marks: int
    """Claims that it was fitted to."""
    relations: tuple[str, ...]
    """Names of relations that it may give in place of the reader's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """What teaching the reader did, and why."""

    accepted: bool
    """The new head is no worse than the reader alone."""
    reason: str
    """In a sentence, for people."""
    in_use: bool = False
    """Whether it was put in use: not where this was only a trial."""
    marks: int = 0
    """Claims with a mark that the reader hears: what there is to learn from."""
    trained: int = 0
    """Of these, claims that were learned from."""
    dev: int = 0
    """The others, which both were compared on: those of every fifth turn."""
    unheard: int = 0
    """Marks on claims that the reader does not hear, or no longer; they teach nothing."""
    broken: tuple[str, ...] = ()
    """Lines of the file that cannot be read, each with its number and what was expected; they are left as they are."""
    missed: int = 0
    """Claims that were added by hand; they count as not found in both figures."""
    before: Mapping[str, float] = field(default_factory=dict)
    """Figures of the reader alone on `dev`: `f1` of what it keeps, `precision`, `recall`, `log_loss`."""
    after: Mapping[str, float] = field(default_factory=dict)
    """The same with the head."""
