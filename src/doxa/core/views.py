"""What is shown of a memory, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from doxa.core.values import Change, Claim, Entity, Fact, Rule, Turn

__all__ = [
    "Counts",
    "Listing",
    "Place",
    "Quote",
    "ReviewItem",
    "ReviewKind",
    "ReviewPage",
    "Spoken",
    "Standing",
    "Subject",
    "Understood",
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
class Spoken:
    """A turn among those of its session."""

    turn: Turn
    before: tuple[Turn, ...] = ()
    after: tuple[Turn, ...] = ()
    withdrawn: datetime | None = None
    """When it was withdrawn; None where it is trusted."""
    degraded: str = ""
    """Why it could not be understood in full."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """What a turn was understood to say, and what came of it."""

    claims: tuple[Claim, ...] = ()
    """None of a turn that was withdrawn."""
    rules: tuple[Rule, ...] = ()
    facts: tuple[Fact, ...] = ()
    """Those that rest on it."""
    changes: tuple[Change, ...] = ()
    waits: bool = False
    """It was not read yet."""


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
