"""The state of one user: the fold of that user's events."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.core.feedback import Feedback
from doxa.core.values import Change, Claim, Rule, Turn
from doxa.language import stems
from doxa.logic import OwlState
from doxa.memory.beliefs import Beliefs, GivenUp
from doxa.memory.columns import Columns
from doxa.memory.forest import TaskForest
from doxa.memory.lexical import InvertedIndex
from doxa.memory.promotions import Promotions
from doxa.memory.vectors import VectorMatrix

__all__ = ["Note", "Spent", "UserState"]

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


@dataclass(slots=True)
class UserState:
    """Everything that is known of one user, in memory. Not safe between threads: `MemoryLog` guards it.

    `turns` holds every turn, received or processed, by ordinal. A turn gets a *place* when it is processed;
    `places[i]` is the ordinal of the turn at row i of the inverted index and of the vector matrix. Replies that
    Doxa itself wrote get no place, so what was recalled is never recalled again as if it were news.
    """

    user: str
    dims: int
    turns: dict[int, Turn] = field(default_factory=dict)
    beliefs: Beliefs = field(default_factory=Beliefs)
    places: list[int] = field(default_factory=list)
    lexical: InvertedIndex = field(default_factory=InvertedIndex)
    vectors: VectorMatrix = field(init=False)
    columns: Columns = field(default_factory=Columns)
    """Session links, speaker, role and time of every place."""
    promotions: Promotions = field(default_factory=Promotions)
    """What was lifted from statements to concepts, and taken down again; `standing` tells which hold now."""
    encoder: str = ""
    """The name of what made the vectors."""
    tasks: TaskForest = field(default_factory=TaskForest)
    """The tasks that the user is at."""
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
    feedback: list[tuple[Feedback, ...]] = field(default_factory=list)
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
    _by_id: dict[str, int] = field(default_factory=dict)
    _place_of: dict[int, int] = field(default_factory=dict)
    _sessions: dict[str, list[int]] = field(default_factory=dict)
    _now: datetime | None = None
    _silenced: dict[GivenUp, list[list[str]]] = field(default_factory=dict)
    """The turns that were withdrawn at one go, by what was given up; the latest last."""

    def __post_init__(self) -> None:
        self.vectors = VectorMatrix(self.dims)

    def receive(self, turn: Turn) -> None:
        """Fold a received turn."""
        self.derived.clear()
        self.turns[turn.ordinal] = turn
        self._by_id[turn.turn_id] = turn.ordinal
        self._sessions.setdefault(turn.session, []).append(turn.ordinal)
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
            self._place_of[turn.ordinal] = self.lexical.add(stems(turn.text))
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
        ordinal = self._by_id[turn_id]
        self.turns[ordinal] = replace(self.turns[ordinal], metadata=metadata)

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

    def advance(self, ordinal: int) -> None:
        """Note that the row at `ordinal` changed the state."""
        self.derived.clear()
        self.ordinal = max(self.ordinal, ordinal)
        self.state = max(self.state, ordinal)

    def turn(self, turn_id: str) -> Turn | None:
        """Return the turn of an id, or None."""
        ordinal = self._by_id.get(turn_id)
        return None if ordinal is None else self.turns[ordinal]

    def received(self, *, session: str | None = None, after: int = 0) -> Iterator[Turn]:
        """Give turns in the order in which they were received, those after an ordinal."""
        ordinals = self.turns if session is None else self.session(session)
        return (self.turns[ordinal] for ordinal in ordinals if ordinal > after)

    def trusts(self, turn_id: str) -> bool:
        """Tell whether there is a turn of that id and it was not withdrawn."""
        return turn_id in self._by_id and turn_id not in self.withdrawn

    def place(self, ordinal: int) -> int | None:
        """Return the row of a turn in the indexes, or None when it is not indexed."""
        return self._place_of.get(ordinal)

    @property
    def sessions(self) -> Mapping[str, Sequence[int]]:
        """The ordinals of every session's turns, by its name, in the order in which the sessions began."""
        return self._sessions

    def session(self, name: str) -> list[int]:
        """Return the ordinals of a session's turns, in order."""
        return self._sessions.get(name, [])

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
        waiting = (self.turns[o] for o in range(self.maintained + 1, self.ordinal + 1) if o in self.turns)
        return list(islice(waiting, limit))

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
            "pending": len(self.pending()),
            "sessions": len(self._sessions),
            "facts": len(self.beliefs.facts),
            "rules": len(self.beliefs.rules),
            "changes": len(self.beliefs.changes),
            "revisions": sum(change.revises for change in self.beliefs.changes),
            "withdrawn": len(self.withdrawn),
            "degraded": len(self.degraded),
            "feedback": sum(map(len, self.feedback)),
        }
