"""What is shown of a memory, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Generic, Literal, TypeVar

from doxa.core.values import Change, Claim, Entity, Fact, Rule, Turn

__all__ = [
    "Counts",
    "Deed",
    "DeedKind",
    "Differences",
    "Differing",
    "DifferingKind",
    "Joined",
    "Lasting",
    "Listing",
    "Place",
    "Quote",
    "ReviewItem",
    "ReviewKind",
    "ReviewPage",
    "Spoken",
    "Stage",
    "Standing",
    "Standpoint",
    "Steps",
    "Subject",
    "Timeline",
    "Understood",
    "Voice",
]

T = TypeVar("T")
Place = tuple[int, int]
"""From which character of a text (inclusive) to which (exclusive)."""
Standing = Literal["firm", "tentative", "past"]
"""What is believed today and nobody disputes; what is doubted or disputed; what no longer is so or never was."""
Stage = Literal[Standing, "never"]
"""The same, with what was taken back apart: that never was."""
DifferingKind = Literal["added", "gone", "otherwise"]
ReviewKind = Literal["disputed", "doubtful", "tentative"]
DeedKind = Literal["accepted", "distrusted", "identified", "maintained", "retracted", "withdrawn"]
"""What a person does by hand, and a turn that was understood ("maintained")."""


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
    identities: tuple[Fact, ...] = ()
    """What makes several names stand for the one that they are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage(Listing[ReviewItem]):
    """One page of what waits for a person."""

    previous: str = ""
    """What leads to the page before (`before`); empty at the beginning."""
    totals: Mapping[ReviewKind, int] = field(default_factory=dict)
    """How many of each kind there are, whichever kind was asked for."""
    names: int = 0
    """How many of them say which names are one's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A person or thing that has several names, and what says so."""

    entity: Entity
    identities: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """Something that changed a memory: what a person did by hand, or a turn."""

    kind: DeedKind
    at: datetime
    changes: tuple[Change, ...] = ()
    stands: bool = True
    """False where it was taken back."""
    last: bool = False
    """Whether `undo` takes it back next."""
    target: str = ""
    """The turn, source or fact that was given up."""
    turn: Turn | None = None
    reason: str = ""


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
class Voice:
    """A turn that says a fact, and where it does."""

    turn: Turn
    quote: Quote


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Standpoint:
    """From where the facts are looked at: what was known by a moment of what is true on a day."""

    known: datetime | None = None
    """None for all that is known now."""
    true: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """A fact as it stood at a moment of knowledge; its `turn_ids` are those of its last change."""

    fact: Fact
    stage: Stage
    holds: bool
    """Whether it was believed to hold on the day of the world that is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps(Generic[T]):
    """What there is along an axis of time: its ends, and where the next step to each side leads."""

    first: T
    last: T
    earlier: T | None = None
    later: T | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline(Listing[Lasting]):
    """One page of facts in time: those that touched the same question follow each other, the latest question first."""

    at: Standpoint
    subject: Subject | None = None
    """Whom it is about; None for everything."""
    holding: int = 0
    """How many of all hold on the day of the world."""
    known: Steps[datetime] | None = None
    """When something came to be known; None where nothing ever did."""
    true: Steps[date] | None = None
    """When something that was known began or ended; None where no day of it is known."""
    mixed: bool = False
    """Whether some of what was known by then was told to the memory after what was known only later: it is shown as
    it was understood with that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """A fact that was believed to hold at one standpoint and not, or otherwise, at another."""

    kind: DifferingKind
    before: Fact | None = None
    """As it stood at the first; None where it was not known."""
    after: Fact | None = None
    """As it stood at the second; None where it was not known, or has another name there."""
    change: Change | None = None
    """What last changed it in between; where nothing did, what gave it its days."""
    by_day: bool = False
    """Nothing changed in what was believed of it: only the days of the world differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences(Listing[Differing]):
    """One page of what differs between two standpoints, what was changed last first."""

    first: Standpoint
    second: Standpoint
    counts: Mapping[DifferingKind, int] = field(default_factory=dict)
