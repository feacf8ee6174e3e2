"""The state of one user: the fold of that user's events."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import date, datetime
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from doxa.core.feedback import Feedback
from doxa.core.values import Change, Claim, Rule, Turn
from doxa.language import stems
from doxa.logic import OwlState
from doxa.memory.beliefs import Beliefs, GivenUp
from doxa.memory.codec import FEEDBACK, Codec, Named
from doxa.memory.columns import Columns, microseconds, moment
from doxa.memory.forest import TaskForest
from doxa.memory.lexical import InvertedIndex
from doxa.memory.paged import Lists, Pack, PackWriter, Records
from doxa.memory.promotions import Promotions
from doxa.memory.taskcodec import commit_from, commit_to
from doxa.memory.turns import Turns
from doxa.memory.vectors import VectorMatrix

__all__ = ["Kept", "Note", "Spent", "UserState"]

PARTS = ("turns", "beliefs", "lexical", "vectors", "columns", "feedback", "promotions", "_sessions")
VALUES = ("degraded", "ordinal", "erased", "state", "maintained")
"""What a snapshot has of a state: parts that save and load themselves, and plain values."""
SMALLEST, ROW_BYTES, PLACE_BYTES = 1 << 17, 4096, 512
"""What a state takes whatever is in it, a row of the log that lies in no pack, and what is held of a turn in one."""
NOTES_KEPT = 64
"""Turns of which it is kept in memory how they were understood: those that may be answered just now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """How a turn was understood: what it does, by whom it was read, and what that cost."""

    intents: tuple[str, ...] = ()
    by: str = ""
    """The prompt and the model that read it; empty for the built-in way."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dropped: tuple[str, ...] = ()
    """What a model claimed and a check turned down, each with the reason."""
    judged_by: str = ""
    """The prompt and the model that judged what it clashes with; empty when no model was asked."""
    judge_prompt_tokens: int = 0
    judge_completion_tokens: int = 0
    route: str = ""
    """Why it went to the tasks, or did not; empty where that was not asked."""
    taught: int = 0
    """Marks that had taught the reader that heard it; 0 for none."""


@dataclass(slots=True)
class Spent:
    """What a model cost that read turns."""

    turns: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@runtime_checkable
class Kept(Protocol):
    """What a verb keeps beside a state and can be written with it; the verb looks for it in `UserState.packed`.

    It can be brought up to date from any later state of the same log.
    """

    def save(self, writer: PackWriter, /) -> None:
        """Write it, by names that begin with its key in `UserState.kept` and a dot."""


@dataclass(slots=True)
class UserState:
    """Everything that is known of one user, in memory. Not safe between threads: `MemoryLog` guards it.

    `turns` holds every turn, received or processed, by ordinal. A turn gets a *place* when it is processed;
    `places[i]` is the ordinal of the turn at row i of the inverted index and of the vector matrix. Replies that
    Doxa itself wrote get no place, so what was recalled is never recalled again as if it were news.
    """

    user: str
    dims: int
    turns: Turns = field(init=False)
    beliefs: Beliefs = field(default_factory=Beliefs)
    places: array[int] = field(default_factory=lambda: array("q"))
    lexical: InvertedIndex = field(default_factory=InvertedIndex)
    vectors: VectorMatrix = field(init=False)
    columns: Columns = field(default_factory=Columns)
    """Session links, speaker, role and time of every place."""
    promotions: Promotions = field(default_factory=Promotions)
    """What was lifted from statements to concepts, and taken down again; `standing` tells which hold now."""
    encoder: str = ""
    """The name of what made the vectors."""
    withdrawn: dict[str, datetime] = field(default_factory=dict)
    """Ids of turns that were withdrawn, and when: kept in the log, no longer believed or recalled."""
    aside: dict[str, datetime] = field(default_factory=dict)
    """Ids of what of shared memories does not count for this user (`core.shared`), and since when."""
    degraded: dict[str, str] = field(default_factory=dict)
    """Turn id -> why it could not be processed in full."""
    notes: dict[str, Note] = field(default_factory=dict)
    """Turn id -> how it was understood, for the latest turns (`NOTES_KEPT`); the log has them all."""
    spent: dict[str, Spent] = field(default_factory=dict)
    """What models cost that read turns, by what they did: "read", "judge", "tasks"; not what answers cost."""
    feedback: Records[tuple[Feedback, ...]] = field(default_factory=lambda: Records(FEEDBACK))
    """What answers told about the search behind them, in the micro-batches in which it was stored."""
    ordinal: int = 0
    """The last row that was folded."""
    erased: int = field(default=0, compare=False)
    """The row of the last erasure: what was made of the state before it may repeat what is gone."""
    state: int = 0
    """The last row that changed the state (not a received turn)."""
    whole: bool = True
    """False while a row is folded; when it stays so, the fold was cut short and the state must not be used."""
    maintained: int = 0
    """The last turn that was processed."""
    derived: dict[Hashable, Any] = field(default_factory=dict)
    """What was worked out from the state and may be kept until it changes; emptied then."""
    kept: dict[str, Any] = field(default_factory=dict, compare=False)
    """What a verb keeps beside the state and brings up to date itself; it can be made anew at any time."""
    owl: OwlState | None = None
    """What follows from the facts by the ontology, as of when it was last asked for; `OwlState.sync` brings it up."""
    _people: dict[str, None] = field(default_factory=dict)
    _sessions: Lists = field(default_factory=Lists)
    _now: datetime | None = None
    _silenced: dict[GivenUp, list[list[str]]] = field(default_factory=dict)
    """The turns that were withdrawn at one go, by what was given up; the latest last."""
    _tasks: TaskForest | None = field(default_factory=TaskForest)
    """None as long as nobody asked for those of the pack."""
    _commits: Records[Any] = field(default_factory=Records, compare=False)
    """The commits of the tasks in the pack, as data."""
    _begun: int = field(default=0, compare=False)
    """The row up to which it lies in the pack."""
    packed: Pack | None = field(default=None, compare=False)
    """What the state began with, where it did not begin with nothing."""

    def __post_init__(self) -> None:
        self.turns = Turns(self.user)
        self.vectors = VectorMatrix(self.dims)

    @property
    def tasks(self) -> TaskForest:
        """The tasks that the user is at."""
        if self._tasks is None:
            self._tasks = TaskForest()
            for data in self._commits:
                self._tasks.apply(commit_from(data, self._tasks))
        return self._tasks

    def receive(self, turn: Turn) -> None:
        """Fold a received turn."""
        self.derived.clear()
        self.turns.add(turn)
        self._sessions.append(turn.session, turn.ordinal)
        if turn.role == "user":
            self._people[turn.speaker] = None
        self.ordinal = max(self.ordinal, turn.ordinal)
        self._now = turn.at if self._now is None else max(self._now, turn.at)

    def maintain(
        self,
        turn: Turn,
        claims: list[Claim],
        changes: list[Change],
        vector: NDArray[np.float32] | None,
        *,
        rules: list[Rule] | None = None,
        note: Note | None = None,
    ) -> None:
        """Fold the result of processing a turn; without a vector the turn is found by words alone."""
        self.beliefs.learn(claims, changes, rules or ())
        self.maintained = turn.ordinal
        if note is not None:
            self.notes[turn.turn_id] = note
            if len(self.notes) > NOTES_KEPT:
                del self.notes[next(iter(self.notes))]
        if not turn.generated:
            self.lexical.add(stems(turn.text))
            self.vectors.add(vector if vector is not None else np.zeros(self.dims, dtype=np.float32))
            self.columns.add(turn)
            self.places.append(turn.ordinal)

    def spend(self, on: str, prompt_tokens: int, completion_tokens: int) -> None:
        """Note what a model cost that read one more turn."""
        spent = self.spent.setdefault(on, Spent())
        spent.turns += 1
        spent.prompt_tokens += prompt_tokens
        spent.completion_tokens += completion_tokens

    def withdraw(self, turn_ids: Sequence[str], known_at: datetime, *, by: GivenUp) -> None:
        """Note that turns are no longer believed or recalled; those that were withdrawn before stay as they are."""
        new = [turn_id for turn_id in turn_ids if turn_id not in self.withdrawn]
        self.withdrawn |= dict.fromkeys(new, known_at)
        self._silenced.setdefault(by, []).append(new)

    def annotate(self, turn_id: str, metadata: Mapping[str, Any]) -> None:
        """Give a turn other metadata."""
        known = self.turns.by_id(turn_id)
        assert known is not None
        self.turns.add(replace(known, metadata=metadata))

    def trust(self, given_up: GivenUp) -> None:
        """Take the turns back that were withdrawn last with something."""
        for turn_id in self._silenced.get(given_up, [[]]).pop():
            del self.withdrawn[turn_id]

    def turns_of(self, speaker: str) -> list[str]:
        """Return the ids of the turns that a speaker is known to have said so far, in order. O(turns)."""
        name, last = speaker.casefold(), self.maintained
        return [
            turn.turn_id for turn in self.turns.values() if turn.ordinal <= last and turn.speaker.casefold() == name
        ]

    @property
    def nbytes(self) -> int:
        """About how many bytes it takes, in arrays and objects. Cost O(1)."""
        return SMALLEST + ROW_BYTES * (self.ordinal - self._begun) + PLACE_BYTES * len(self.places)

    def advance(self, ordinal: int) -> None:
        """Note that the row at `ordinal` changed the state."""
        self.derived.clear()
        self.ordinal = max(self.ordinal, ordinal)
        self.state = max(self.state, ordinal)

    def turn(self, turn_id: str) -> Turn | None:
        """Return the turn of an id, or None."""
        return self.turns.by_id(turn_id)

    def received(self, *, session: str | None = None, after: int = 0) -> Iterator[Turn]:
        """Give turns in the order in which they were received, those after an ordinal."""
        ordinals = self.turns if session is None else self.session(session)
        return (self.turns[ordinal] for ordinal in ordinals if ordinal > after)

    def trusts(self, turn_id: str) -> bool:
        """Tell whether there is a turn of that id and it was not withdrawn."""
        return turn_id not in self.withdrawn and self.turns.ordinal_of(turn_id) is not None

    def place(self, ordinal: int) -> int | None:
        """Return the row of a turn in the indexes, or None when it is not indexed."""
        place = bisect_left(self.places, ordinal)
        return place if place < len(self.places) and self.places[place] == ordinal else None

    @property
    def sessions(self) -> Mapping[str, Sequence[int]]:
        """The ordinals of every session's turns, by its name, in the order in which the sessions began."""
        return _Sessions(self._sessions)

    def session(self, name: str) -> Sequence[int]:
        """Return the ordinals of a session's turns, in order; they must not be changed."""
        return self._sessions.get(name)

    def latest(self, size: int) -> list[Turn]:
        """Return up to `size` turns that came last in the session of the latest turn, oldest first."""
        if not self.turns or not size:
            return []
        last = self.turns[next(reversed(self.turns))]
        return [self.turns[ordinal] for ordinal in self.session(last.session)[-size:]]

    def context(self, turn: Turn, size: int) -> list[Turn]:
        """Return up to `size` turns of the same session that came just before a turn, oldest first."""
        ordinals = self.session(turn.session)
        stop = bisect_left(ordinals, turn.ordinal)
        return [self.turns[ordinal] for ordinal in ordinals[max(0, stop - size) : stop]]

    def pending(self, limit: int | None = None) -> list[Turn]:
        """Return the turns that were received and not yet processed, in order, and no more than `limit`."""
        waiting = self.turns.between(self.maintained + 1, self.ordinal)
        return [self.turns[ordinal] for ordinal in waiting[:limit]]

    def person(self) -> str | None:
        """Return the name of the one person who spoke as the user; None when there was nobody, or more than one."""
        return next(iter(self._people)) if len(self._people) == 1 else None

    def now(self) -> datetime | None:
        """Return the memory's clock: the time of the latest turn; None when there is none."""
        return self._now

    def today(self) -> date | None:
        """Return the day of `now`."""
        now = self.now()
        return None if now is None else now.date()

    def counts(self) -> dict[str, Any]:
        """Return how much of everything there is."""
        return {
            "turns": len(self.turns),
            "pending": len(self.turns.between(self.maintained + 1, self.ordinal)),
            "sessions": len(self._sessions),
            "facts": len(self.beliefs.facts),
            "rules": len(self.beliefs.rules),
            "changes": len(self.beliefs.changes),
            "revisions": sum(change.revises for change in self.beliefs.changes),
            "withdrawn": len(self.withdrawn),
            "degraded": len(self.degraded),
            "feedback": sum(map(len, self.feedback)),
        }

    def save(self, writer: PackWriter) -> None:
        """Write it, and of what verbs keep beside it whatever can be written. Cost O(its bytes)."""
        for name in PARTS:
            getattr(self, name).save(writer, name)
        writer.array("places", np.array(self.places, np.int64))
        commits = self._commits
        if self._tasks is not None:
            commits = Records()
            for commit in self._tasks.commits:
                commits.append(commit_to(commit))
        commits.save(writer, "tasks")
        for name in VALUES:
            writer.value(name, getattr(self, name))
        writer.value("people", list(self._people))
        writer.value("now", None if self._now is None else microseconds(self._now))
        writer.value("withdrawn", [(key, microseconds(at)) for key, at in self.withdrawn.items()])
        writer.value("aside", [(key, microseconds(at)) for key, at in self.aside.items()])
        writer.value("silenced", list(self._silenced.items()))
        writer.value("notes", [(key, NOTE.to(note)) for key, note in self.notes.items()])
        writer.value("spent", [(key, astuple(spent)) for key, spent in self.spent.items()])
        self._save_kept(writer)

    def _save_kept(self, writer: PackWriter) -> None:
        """Write what verbs keep; what nobody asked for since it was written knows what it has read, and is copied."""
        kept = {name: one for name, one in self.kept.items() if isinstance(one, Kept)}
        for one in kept.values():
            one.save(writer)
        before = self.packed
        carried = [] if before is None else [name for name in before.value("kept") if name not in kept]
        for name in carried:
            assert before is not None
            writer.carry(before, f"{name}.")
        writer.value("kept", [*kept, *carried])

    def load(self, pack: Pack) -> None:
        """Begin with what a pack has; the bulk of it is read when it is asked for. Cost O(its arrays), no turn is read.

        Raises:
            PackError: it is damaged; the state must not be used.
        """
        for name in PARTS:
            getattr(self, name).load(pack, name)
        self.places = pack.numbers("places")
        self._commits.load(pack, "tasks")
        self._tasks = None if len(self._commits) else TaskForest()
        for name in VALUES:
            setattr(self, name, pack.value(name))
        self._people = dict.fromkeys(pack.value("people"))
        now = pack.value("now")
        self._now = None if now is None else moment(now)
        self.withdrawn = {key: moment(at) for key, at in pack.value("withdrawn")}
        self.aside = {key: moment(at) for key, at in pack.value("aside")}
        self._silenced = {(kind, what): given for (kind, what), given in pack.value("silenced")}
        self.notes = {key: NOTE.of(note) for key, note in pack.value("notes")}
        self.spent = {key: Spent(*spent) for key, spent in pack.value("spent")}
        self.packed, self._begun = pack, self.ordinal


NOTE = Codec(
    Note,
    "intents by prompt_tokens completion_tokens dropped judged_by judge_prompt_tokens judge_completion_tokens route "
    "taught",
    intents=Named("intents", list, tuple),
    dropped=Named("dropped", list, tuple),
)


class _Sessions(Mapping[str, Sequence[int]]):
    """The ordinals of every session's turns, read in place."""

    def __init__(self, lists: Lists) -> None:
        self._lists = lists

    def __getitem__(self, name: str) -> Sequence[int]:
        if name not in self._lists:
            raise KeyError(name)
        return self._lists.get(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._lists)

    def __len__(self) -> int:
        return len(self._lists)
