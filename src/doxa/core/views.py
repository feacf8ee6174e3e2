"""What is shown of a memory, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

from doxa.core.promotions import Promotion
from doxa.core.values import Entity, Fact, Turn

__all__ = [
    "Counts",
    "Foreseen",
    "Lesser",
    "Listing",
    "Place",
    "Quote",
    "ReviewItem",
    "ReviewKind",
    "ReviewPage",
    "Standing",
    "Subject",
    "TurnPage",
    "Work",
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
class TurnPage:
    """One page of turns, the latest first; how many there are is not counted."""

    items: tuple[Turn, ...] = ()
    next: str = ""
    """What leads to the next page (`after`), which may be shorter or empty; empty at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesser:
    """A turn that could not be processed in full."""

    turn: Turn
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How the processing of turns goes, behind whoever tells them."""

    busy: bool = False
    """Whether something waits or is under way for this memory."""
    per_second: float = 0.0
    """Turns of all users that this process understood in a second, in the last minute."""
    failed: str = ""
    """Why the turns of this memory wait to be processed; empty where nothing failed last."""
    failed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What would go if turns were erased, as far as it can be told without reading later turns again.

    Lists are cut to a number that can be shown; the counts are of the whole.
    """

    turn_ids: tuple[str, ...] = ()
    """Those that are meant and that there are; none of them is named where everything is meant."""
    turns: tuple[Turn, ...] = ()
    """What would be erased, in the order in which it was said: the turns that are meant, and Doxa's replies."""
    turn_count: int = 0
    replies: int = 0
    """How many of them are replies of Doxa's own that would go along, since they may repeat it."""
    erased: tuple[Fact, ...] = ()
    """Facts that nothing else says."""
    erased_count: int = 0
    kept: tuple[Fact, ...] = ()
    """Facts that other turns say as well, and that stay."""
    kept_count: int = 0
    otherwise: tuple[Fact, ...] = ()
    """Facts that stay and that the turns had ended, dated or put in doubt: that comes undone."""
    otherwise_count: int = 0
    promotions: tuple[Promotion, ...] = ()
    """What was lifted from several statements, some of which would go."""
    promotion_count: int = 0
    answers: int = 0
    """Answers that are kept and may repeat it."""
    tasks: tuple[str, ...] = ()
    """Names of the tasks, and of what is in them, that the turns made or changed."""
    task_count: int = 0
    records: int = 0
    """What programs keep beside the memory, that these turns say."""
    later: int = 0
    """Turns that would be read again without them; what they say may turn out otherwise than it did."""
