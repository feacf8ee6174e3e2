"""The nouns of Doxa: what the verbs take and give.

Every value is frozen, so it may be shared between threads and kept in a trace. `Turn` goes in; `Claim`
is what one turn says, `Rule` what it says in general; `Fact` is what the memory holds because of claims; `Change`
is one step from one set of facts to the next; `Evidence` and `Reply` come out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Literal

from doxa.core.background import Background
from doxa.core.trace import Trace
from doxa.core.turns import Receipt, Role, ToTasks, Turn
from doxa.core.verdicts import SentenceKind, SentenceVerdict, Verdict, VerdictLabel

__all__ = [
    "Act",
    "Asks",
    "Atom",
    "Certificate",
    "Change",
    "ChangeKind",
    "Citation",
    "Claim",
    "Conflict",
    "Dispute",
    "Draft",
    "EARLIEST",
    "Entity",
    "Evidence",
    "Explanation",
    "Fact",
    "Interval",
    "Modality",
    "OpenProposition",
    "Precision",
    "Question",
    "QuestionKind",
    "Receipt",
    "Relation",
    "Reply",
    "Role",
    "Rule",
    "SentenceKind",
    "SentenceVerdict",
    "Status",
    "Term",
    "ToTasks",
    "Turn",
    "UNBELIEVED",
    "Verdict",
    "VerdictLabel",
]

Precision = Literal["year", "month", "day"]
INTERNAL = {"internal": True}
"""Marks fields that nobody is told of."""
Asks = Literal["object", "subject", "start", "end", "duration", "truth", "count", "source", "anything"]
QuestionKind = Literal["value", "who", "where", "when", "why", "how", "yesno", "count", "list", "how_long", "how_much"]
"""What a sentence does: only statements and promises can be wrong."""


EARLIEST = datetime.min.replace(tzinfo=UTC)
"""Stands for a moment that is not known, where moments are put in order."""


class Modality(StrEnum):
    """How a statement is meant; only `ASSERTED` says how the world is."""

    ASSERTED = "asserted"
    PLANNED = "planned"
    DESIRED = "desired"
    POSSIBLE = "possible"
    HYPOTHETICAL = "hypothetical"


class Act(StrEnum):
    """What a speaker does with a proposition."""

    STATE = "state"
    """Says that it holds (or, with polarity false, that it does not)."""
    CORRECT = "correct"
    """Says that it holds and that what was said before never did ("sorry, I meant Bonn")."""
    REFINE = "refine"
    """Says more exactly what was said before ("in Porto, to be exact" after "in Portugal"): both hold."""
    WITHDRAW = "withdraw"
    """Takes it back ("forget that", "it was a joke")."""


class Status(StrEnum):
    """Where a fact stands in the memory."""

    HELD = "held"
    """Believed: true within its validity."""
    SUPERSEDED = "superseded"
    """Was true, and another fact took its place; its validity has an end."""
    RETRACTED = "retracted"
    """Never was true, or nothing that is still trusted supports it."""
    QUARANTINED = "quarantined"
    """Said by a source that is not trusted on its own (an assistant about its user)."""
    TENTATIVE = "tentative"
    """Said, but not surely enough read to be believed: it changes no other fact and is no answer without its quote."""


UNBELIEVED = frozenset((Status.QUARANTINED, Status.TENTATIVE))
"""Said, kept and shown on request, and not believed until somebody says it again or confirms it."""


class ChangeKind(StrEnum):
    """What a change does to a fact."""

    ASSERT = "assert"
    SUPPORT = "support"
    CLOSE = "close"
    RETRACT = "retract"
    RESTORE = "restore"
    REFINE = "refine"
    QUARANTINE = "quarantine"
    NOTE = "note"
    """It is kept as tentative."""
    DISPUTE = "dispute"
    MERGE = "merge"
    """Two names stand for one entity from now on."""
    SPLIT = "split"
    """Two names no longer stand for one entity."""
    MOVE = "move"
    """The fact is told of an entity under another name, or as part of another; it replaces those in `because`."""


class Conflict(StrEnum):
    """How what is said relates to what was believed."""

    UPDATE = "update"
    """The world changed: what was believed held until then."""
    CORRECTION = "correction"
    """What was believed never was true."""
    CONTRADICTION = "contradiction"
    """Both cannot be true and nothing says which one is."""
    REFINEMENT = "refinement"
    """It says more exactly what was believed."""

    @property
    def words(self) -> str:
        """The kind of conflict as people say it."""
        return {
            Conflict.UPDATE: "an update: the world changed",
            Conflict.CORRECTION: "a correction: it never was so",
            Conflict.CONTRADICTION: "a contradiction: both cannot be so",
            Conflict.REFINEMENT: "a refinement: it is said more exactly",
        }[self]


ADDING = frozenset(map(ChangeKind, "assert support quarantine note merge move".split()))
"""Changes that leave earlier beliefs as they were."""


@dataclass(frozen=True, slots=True)
class Term:
    """A thing or a value: `key` is its identity within one user's memory, `label` is for people."""

    key: str
    label: str

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed relation: `name` is its identity (`works_at`), `label` is for people ("works at")."""

    name: str
    label: str

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """When something holds: from `start` (inclusive) until `end` (exclusive); None is unbounded or unknown.

    The precision says how coarse the text was: "in March 2024" is `start=2024-03-01`, precision month.
    A point event has `start == end` and holds during that day, month or year.
    """

    start: date | None = None
    end: date | None = None
    start_precision: Precision = "day"
    end_precision: Precision = "day"

    def holds_on(self, day: date) -> bool:
        """Tell whether `day` lies in the interval; an unknown bound excludes nothing."""
        if self.start is not None and self.start == self.end:
            after = self.after(self.start, self.end_precision)
            return self.start <= day and (after is None or day < after)
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)

    @staticmethod
    def after(day: date, precision: Precision) -> date | None:
        """Return the first day after the day, month or year; None where the calendar ends."""
        last_year = day.year == date.max.year
        if day == date.max or (last_year and (precision == "year" or (precision == "month" and day.month == 12))):
            return None
        if precision == "year":
            return date(day.year + 1, 1, 1)
        if precision == "month":
            return (day.replace(day=28) + timedelta(days=4)).replace(day=1)
        return day + timedelta(days=1)

    def __str__(self) -> str:
        start, end = self.format(self.start, self.start_precision), self.format(self.end, self.end_precision)
        if start and start == end:
            return f"{start}"
        if start and end:
            return f"from {start} until {end}"
        return f"since {start}" if start else f"until {end}" if end else ""

    @staticmethod
    def format(day: date | None, precision: Precision) -> str:
        """Return a day as people write it, as coarse as its precision; empty for None."""
        if day is None:
            return ""
        if precision == "year":
            return f"{day.year:04d}"
        return f"{day:%B} {day.year:04d}" if precision == "month" else f"{day.day} {day:%B} {day.year:04d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one turn says: a binary proposition with polarity, modality, time and source.

    Negation is carried by `polarity` alone, lexical negation included (dislike = like, polarity false).
    """

    subject: Term
    relation: Relation
    object: Term
    polarity: bool = True
    modality: Modality = Modality.ASSERTED
    act: Act = Act.STATE
    valid: Interval = field(default_factory=Interval)
    ended: bool = False
    """A past state that no longer holds when it is said, whether or not the end is dated."""
    replaces: str | None = None
    """For a correction that names the wrong value: the key of that value."""
    functional: bool = False
    """At most one object at a time (one residence, one age)."""
    adds: bool = False
    """It says itself that it holds beside other values ("I also work at the bakery")."""
    confidence: float = 1.0
    """How likely it is right and worth keeping, calibrated (`understand.gate`); 1 where nobody doubts the reading."""
    tentative: bool = False
    """Too unsure to be believed on its own (setting `revise.firm`)."""
    turn_id: str = ""
    speaker: str = ""
    source: str = ""
    """From whom or what the speaker has it ("Dad", "the land registry"); empty for the speaker's own word."""
    role: Role = "user"
    known_at: datetime | None = None
    span: str = ""
    """The sentence that says it, as it was understood."""
    accepted: str = ""
    """How a person accepted by hand what a turn says ("accepted by hand: as the passport has it"); else empty."""
    number: int | None = field(default=None, compare=False, repr=False, metadata=INTERNAL)
    """Its place among all claims of a memory, in the order in which they came in; None until it was taken in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom:
    """One proposition of a rule: what a claim says, without a source of its own.

    A subject or object whose key begins with "?" is a variable, the same one throughout its rule. Membership in a
    class is `is_a` ("every trainee": ?x is_a trainee; "all my sisters": ?x is_a Ana's sister).
    """

    subject: Term
    relation: Relation
    object: Term
    """Empty for a verb without one ("it rains")."""
    polarity: bool = True
    deontic: Literal["", "must", "may"] = ""
    """"must": it is demanded ("has to stay"); "may": it is allowed, or with polarity false forbidden."""
    valid: Interval = field(default_factory=Interval)
    span: str = ""
    """The words that say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a turn says in general or on a condition: when all of `if_` hold, all of `then` do.

    "B only if A" is stored as "if B then A", "C unless A" as "if not A then C", "not both" as one rule in either
    direction, "exactly one of" as every pair that excludes each other and what is left when the others are ruled out.
    """

    if_: tuple[Atom, ...] = ()
    then: tuple[Atom, ...] = ()
    lifts: str = ""
    """The id of an earlier rule that no longer holds ("forget that rule"); such a rule has no atoms of its own."""
    turn_id: str = ""
    speaker: str = ""
    role: Role = "user"
    span: str = ""
    """The sentence that says it."""
    known_at: datetime | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenProposition:
    """What one predicate of a sentence says, in the words of the sentence."""

    subject: str
    relation: str
    arguments: tuple[str, ...]
    confidence: float
    """How sure the parser is of the arcs that this rests on, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A canonical proposition, the turns that support it, and where it stands."""

    fact_id: str
    subject: Term
    relation: Relation
    object: Term
    polarity: bool = True
    modality: Modality = Modality.ASSERTED
    valid: Interval = field(default_factory=Interval)
    status: Status = Status.HELD
    disputed: bool = False
    functional: bool = False
    turn_ids: tuple[str, ...] = ()
    known_at: datetime | None = None
    confidence: float = 1.0
    premises: tuple[str, ...] = ()
    """The ids of the facts and rules that it follows from; empty for what somebody said."""

    def __str__(self) -> str:
        relation = str(self.relation) if self.polarity else f"not: {self.relation}"
        sentence = f"{self.subject} | {relation} | {self.object}"
        notes = [str(self.valid)] if str(self.valid) else []
        notes += [str(self.modality)] if self.modality is not Modality.ASSERTED else []
        notes += [str(self.status)] if self.status is not Status.HELD else []
        return f"{sentence} ({', '.join(notes)})" if notes else sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One step of revision: what happened to which fact, because of which turn, and why."""

    kind: ChangeKind
    fact: Fact
    """The fact as it is after the change; of a support, `turn_ids` are only those that it adds."""
    turn_id: str | None = None
    known_at: datetime | None = None
    reason: str = ""
    because: tuple[str, ...] = ()
    """The ids of the facts and rules that it clashed with."""
    conflict: Conflict | None = None
    """What kind of conflict caused it; None when there was none."""

    @property
    def revises(self) -> bool:
        """True when an earlier belief was changed, not only added to."""
        return self.kind not in ADDING

    def __str__(self) -> str:
        return f"{self.kind}: {self.fact}" + (f" - {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Facts of which at most one can be true, and nothing says which one."""

    facts: tuple[Fact, ...]
    question: str
    """What to ask the user to settle it."""

    def __str__(self) -> str:
        return self.question


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A person or thing that facts are about, with every name that stands for it."""

    key: str
    label: str
    aliases: tuple[str, ...] = ()
    """Its other names, in the order in which they came up."""
    kind: str = ""
    """What it is, when that is known: "person", "place", "organisation"."""
    facts: int = 0
    """Facts that are believed of it, as their subject or object."""

    def __str__(self) -> str:
        return f"{self.label} ({', '.join(self.aliases)})" if self.aliases else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: a proposition with a hole. `asks` says which part of it is wanted."""

    text: str
    kind: QuestionKind = "value"
    subject: Term | None = None
    relation: Relation | None = None
    object: Term | None = None
    """The object that the question names ("Do I live in Berlin?", "Who works at Siemens?"), if any."""
    asks: Asks = "anything"
    polarity: bool = True
    functional: bool = False
    as_of: date | None = None
    """A day that the question names."""
    within: Interval | None = None
    """The month, year or stretch that it names, where it names no day."""
    source: str = ""
    """Whose word is asked for ("according to Dad"); empty for what is believed."""
    past: bool = False
    """It asks about history ("used to", "before", "did I ever")."""
    terms: tuple[str, ...] = ()
    """Its content words."""
    expects: str = ""
    """What kind of thing it asks for: "person", "place", "date", "clock", "number", ..., or its own noun ("fruit")."""
    noun: str = ""
    """The noun with its question word ("fruits" in "which fruits", "children" in "how many children")."""
    about: tuple[Term, ...] = ()
    """Whom and what it speaks of, its subject first."""
    focus: tuple[str, ...] = ()
    """The base forms of what it asks about, less names, times and question words; empty without a parser."""
    head: str = ""
    """Of those the one that the question hangs on; empty for "is", "have" and the like."""
    loose: tuple[str, ...] = ()
    """Those that only place what is asked about ("at home")."""
    settled: bool = False
    """It asks whether something is established, or was said: what is not known is answered with no."""
    tests: str = ""
    """The statement that a question of yes or no tests, in its own words; empty for another question."""
    before: str = ""
    """What came after that which is asked for ("right before Berlin")."""
    after: str = ""
    """What came before that which is asked for."""
    alternatives: tuple[Question, ...] = ()
    """Other ways to read it, closest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Something that bears on a query, with its score in every view and the path that found it."""

    text: str
    turn_ids: tuple[str, ...]
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    kind: Literal["turn", "fact"] = "turn"
    path: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()
    """The ids of the facts that are held and that its turn supports."""
    memory: str = ""
    """The shared memory that it is from (setting `memory.shared`); empty for the user's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A turn that an answer rests on; `fact_id` when it does so through a fact."""

    turn_id: str
    text: str = ""
    speaker: str = ""
    at: datetime | None = None
    fact_id: str | None = None
    memory: str = ""
    """The shared memory that the turn is from; empty for the user's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer before it is checked: what a writer gives back."""

    text: str
    value: str | None = None
    citations: tuple[Citation, ...] = ()
    confidence: float = 0.0
    abstained: bool = False
    disputed: bool = False
    settled: bool = False
    """It follows by arithmetic, or nothing can answer what is asked: no quote is better."""
    general: bool = False
    """Part of it is what a language model knows of the world, and stands in no turn (`reason.knowledge`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the user gets: the answer, what it rests on, and what changed because of the turn."""

    text: str
    value: str | None = None
    """The bare answer: "Berlin", "yes", "red, blue"; None when there is none."""
    citations: tuple[Citation, ...] = ()
    revisions: tuple[Change, ...] = ()
    intents: tuple[str, ...] = ()
    verdict: Verdict = field(default_factory=Verdict)
    trace: Trace = field(default_factory=Trace)
    confidence: float = 0.0
    abstained: bool = False
    """It does not know."""
    disputed: bool = False
    """Its sources disagree."""
    answer_id: str | None = None
    """The id under which it is kept with its trace (`Memory.why_answered`); None where none are kept."""
    background: tuple[Background, ...] = ()
    """General knowledge that bears on the conversation. It is no fact about anybody, and never cited."""
    alternatives: tuple[str, ...] = ()
    """Other replies, each by another piece of background, where several were asked for."""
    memories: tuple[str, ...] = ()
    """The shared memories that it draws on, cited or not; such a reply is not remembered as a turn."""
    overruled: tuple[str, ...] = ()
    """The ids of facts of shared memories that cannot be true beside the user's own, from which it answers."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a fact stands where it stands."""

    fact: Fact
    turns: tuple[Turn, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    """Turn id -> on whose word its speaker said it ("Dad", "the land registry"); speakers' own words are left out."""
    premises: tuple[Fact, ...] = ()
    """The facts that it follows from, if nobody said it."""
    rules: tuple[Rule, ...] = ()
    """The rules by which it follows from them."""
    conclusions: tuple[Fact, ...] = ()
    """What follows from it, or did while it was believed."""
    changes: tuple[Change, ...] = ()
    displaced: tuple[Fact, ...] = ()
    displaced_by: tuple[Fact, ...] = ()
    """What took its place; or, where it is disputed, what others say."""
    conflicts: Mapping[str, Conflict] = field(default_factory=dict)
    """Fact id -> the kind of conflict with it, of those that were displaced or displace."""
    identities: tuple[Fact, ...] = ()
    """What makes several names stand for the one that the fact is about."""
    derivation: tuple[str, ...] = ()
    """Of an inferred fact, the sentences that show how it follows."""
    text: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Proof of an erasure: what was removed, when, and a digest of this record (it holds no erased text)."""

    user: str
    turn_ids: tuple[str, ...]
    erased: Mapping[str, int]
    """Number of records removed, by kind: turns, events, vectors, facts."""
    at: datetime
    digest: str
