"""What is shown of a memory, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Generic, Literal, TypeVar

from doxa.core.answers import Answered
from doxa.core.errors import InputError
from doxa.core.promotions import Promotion
from doxa.core.tasks import TaskCommit
from doxa.core.values import Change, Claim, Entity, Fact, Rule, Turn

__all__ = [
    "Counts",
    "Deed",
    "DeedKind",
    "Differences",
    "Differing",
    "DifferingKind",
    "Foreseen",
    "Happening",
    "Joined",
    "Lasting",
    "Lesser",
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
    "Spoken",
    "Stage",
    "Standing",
    "Standpoint",
    "Steps",
    "Subject",
    "Timeline",
    "TurnPage",
    "Understood",
    "Voice",
    "Work",
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

    number: int
    """What tells it apart, to be undone and nothing else (`Memory.undo`)."""
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
    """Without an id where it is a reply that is not remembered as a turn: it draws on a shared memory."""
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
