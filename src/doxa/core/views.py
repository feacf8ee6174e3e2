"""What is shown of a memory, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from doxa.core.answers import Answered
from doxa.core.errors import InputError
from doxa.core.tasks import TaskCommit
from doxa.core.values import Change, Entity, Fact, Turn

__all__ = [
    "Counts",
    "Happening",
    "Listing",
    "News",
    "Place",
    "Point",
    "Quote",
    "ReviewItem",
    "ReviewKind",
    "ReviewPage",
    "Said",
    "Session",
    "Standing",
    "Subject",
]

T = TypeVar("T")
Place = tuple[int, int]
"""From which character of a text (inclusive) to which (exclusive)."""
Standing = Literal["firm", "tentative", "past"]
"""What is believed today and nobody disputes; what is doubted or disputed; what no longer is so or never was."""
ReviewKind = Literal["disputed", "doubtful", "tentative"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[T]):
    """One page of a list."""

    items: tuple[T, ...] = ()
    next: str = ""
    """What leads to the next page (`after`); empty at the end."""
    total: int = 0
    """How many there are on all pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A person or thing, and how many facts are about it, by where they stand."""

    entity: Entity
    firm: int = 0
    tentative: int = 0
    past: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """Something that waits for a person to say what is right."""

    key: str
    """The id of its first fact."""
    kind: ReviewKind
    facts: tuple[Fact, ...]
    """The sides of a dispute; else the one fact."""
    when: datetime | None = None
    """When the latest of them came to be known."""
    question: str = ""
    """What to ask, to settle a dispute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage(Listing[ReviewItem]):
    """One page of what waits for a person."""

    totals: Mapping[ReviewKind, int] = field(default_factory=dict)
    """How many of each kind there are, whichever kind was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Where a turn says a fact: the sentence, and in it the words of the subject and of the object if they stand there.

    All places are in the text of the turn.
    """

    turn_id: str
    sentence: Place | None = None
    """None where it is not clear which one says it."""
    subject: Place | None = None
    object: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much of everything there is."""

    turns: int = 0
    waiting: int = 0
    """Turns that were received and not yet understood."""
    facts: int = 0
    """Those that say that two names are one's too."""
    by_status: Mapping[str, int] = field(default_factory=dict)
    by_standing: Mapping[Standing, int] = field(default_factory=dict)
    to_review: Mapping[ReviewKind, int] = field(default_factory=dict)
    entities: int = 0
    changes: int = 0
    revisions: int = 0
    """Changes of what was believed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session, and what was said in it last."""

    name: str
    turns: int
    latest: Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A turn as a dialogue shows it."""

    turn: Turn
    withdrawn: bool = False
    """It is no longer trusted."""
    degraded: str = ""
    """Why it could not be understood in full; empty where it was, or is not yet."""
    answer: Answered | None = None
    """Of a reply, how it was found, with the words of what it cites; None where that is not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """How much of what happened in a memory somebody has seen. As a text it may stand in an address."""

    turn: int = 0
    """The ordinal of the last turn."""
    change: int = 0
    """How many changes of what is believed."""
    commit: int = 0
    """The number of the last change of the tasks."""
    mark: str = "0"
    """What tells whether that is still the past of the memory: erasing writes it anew."""

    def within(self, other: Point) -> bool:
        """Tell whether whoever has seen another point has seen this one, as long as both are of one past."""
        return self.turn <= other.turn and self.change <= other.change and self.commit <= other.commit

    def __str__(self) -> str:
        return f"{self.turn}-{self.change}-{self.commit}-{self.mark}"

    @staticmethod
    def read(text: str) -> Point:
        """Return the point that a text is of.

        Raises:
            InputError: it is of none.
        """
        parts = text.split("-")
        fits = len(parts) == 4 and all(part.isascii() and part.isdecimal() and len(part) < 16 for part in parts[:3])
        if not fits or not (parts[3].isascii() and parts[3].isalnum() and len(parts[3]) <= 8):
            raise InputError(f"after: expected the id of an event of this memory, got {text[:60]!r}.")
        return Point(turn=int(parts[0]), change=int(parts[1]), commit=int(parts[2]), mark=parts[3])


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happened in a memory: a turn was received, a belief changed, or the tasks did."""

    point: Point
    """What is seen by whoever has seen this."""
    what: Said | Change | TaskCommit
    others: tuple[Fact, ...] = ()
    """Of a change of belief, the facts that it clashed with."""
    paths: Mapping[str, str] = field(default_factory=dict)
    """Of a change of the tasks, the path of every node that it names, by its id."""

    @property
    def kind(self) -> Literal["turn", "change", "task"]:
        """What it is."""
        if isinstance(self.what, Said):
            return "turn"
        return "change" if isinstance(self.what, Change) else "task"


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What happened in a memory since somebody looked."""

    point: Point
    """What is seen with it."""
    happenings: tuple[Happening, ...] = ()
    """The latest of it, oldest first."""
    left_out: int = 0
    """How much happened before those that is not among them."""
    lost: bool = False
    """The past was written anew since, or too much happened to be told: everything has to be looked at again."""
    waiting: tuple[Turn, ...] = ()
    """The first turns that wait to be understood."""
    waits: int = 0
    """How many wait."""
