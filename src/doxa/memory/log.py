"""The event log of every user, and the states that are folded from it.

`with log.user("ana") as state:` gives the state of a user, caught up with whatever other threads and
processes have written, and locked for this thread until the block ends.
"""

from __future__ import annotations

import logging
import threading
from collections import ChainMap, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from typing import Any, Literal
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.store import Head, NewRow, Row, Store, Vector
from doxa.core.errors import BackendError, TurnConflictError
from doxa.core.feedback import Feedback
from doxa.core.ontology import Ontology
from doxa.core.promotions import Promotion
from doxa.core.tasks import TaskCommit
from doxa.core.values import Change, Claim, Receipt, Rule, Turn
from doxa.memory.beliefs import Beliefs, GivenUp
from doxa.memory.codec import (
    change_from,
    change_to,
    claim_from,
    claim_to,
    feedback_from,
    feedback_to,
    promotion_from,
    promotion_to,
    rule_from,
    rule_to,
    turn_from,
    turn_to,
)
from doxa.memory.forest import TaskForest
from doxa.memory.ontology import using
from doxa.memory.passages import encoded_texts
from doxa.memory.promotions import Promotions
from doxa.memory.state import Note, UserState
from doxa.memory.taskcodec import commit_from, commit_to
from doxa.memory.vectors import from_bytes, to_bytes

__all__ = ["Event", "MemoryLog", "fold", "fold_row", "task_commit_of", "turn_of"]

logger = logging.getLogger("doxa")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A change of state: what a turn said (`maintained`), what several turns were lifted to (`promoted`, `demoted`), or
    what a person did by hand (the other kinds; `tasked` to the tasks, `annotated` to the metadata of a turn)."""

    kind: Literal[
        "maintained",
        "withdrawn",
        "distrusted",
        "retracted",
        "identified",
        "undone",
        "feedback",
        "promoted",
        "demoted",
        "tasked",
        "annotated",
    ]
    known_at: datetime
    about: Turn | None = None
    claims: Sequence[Claim] = ()
    rules: Sequence[Rule] = ()
    changes: Sequence[Change] = ()
    target: str = ""
    """The turn that was withdrawn or annotated, the source that is distrusted, the fact that was retracted, or the
    promotion that was demoted, or (`promoted`) is one again."""
    undoes: str = ""
    """Of `undone`: the kind of the event that it takes back, the last one that was not taken back before."""
    reason: str = ""
    degraded: str = ""
    extraction: Mapping[str, Any] = field(default_factory=dict)
    """What a language model read out of the turn, as data; a replay reads it from here and asks no model."""
    note: Note = field(default_factory=Note)
    promotions: Sequence[Promotion] = ()
    automatic: bool = False
    """Of `demoted`: nobody asked for it, the statements contradict each other by now."""
    denials: int = 0
    """How many of the claims, the last ones, a model's judgement added: they deny what the others clash with."""

    feedback: Sequence[Feedback] = ()
    """Of `feedback`: what some answers told, a micro-batch."""

    tasks: TaskCommit | Mapping[str, Any] | None = None
    """What it does to the tasks; of a stored row as its data, which is read when it is folded."""
    task_reading: Mapping[str, Any] = field(default_factory=dict)
    """What a language model said that the turn does to the tasks, as data; nothing that is folded hangs on it."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Of `annotated`: all the metadata that the turn has from then on."""

    @property
    def task_number(self) -> int:
        """The number of its commit of the tasks; 0 where it has none."""
        return self.tasks.number if isinstance(self.tasks, TaskCommit) else (self.tasks or {}).get("n", 0)

    @property
    def given_up(self) -> GivenUp:
        """What it gives up, or takes up again; only of what is about a turn, a source or a fact."""
        match self.undoes or self.kind:
            case "distrusted":
                return "source", self.target.casefold()
            case "retracted":
                return "fact", self.target
            case _:
                return "turn", self.target

    def body(self) -> dict[str, Any]:
        """Return the event as data for its row."""
        data: dict[str, Any] = {
            "claims": [claim_to(claim) for claim in self.claims],
            "rules": [rule_to(rule) for rule in self.rules],
            "changes": [change_to(change) for change in self.changes],
            "target": self.target,
            "undoes": self.undoes,
            "reason": self.reason,
            "degraded": self.degraded,
            "intents": list(self.note.intents),
            "by": self.note.by,
            "tokens": [self.note.prompt_tokens, self.note.completion_tokens] if self.note.by else [],
            "dropped": list(self.note.dropped),
            "extraction": dict(self.extraction),
            "promotions": [promotion_to(promotion) for promotion in self.promotions],
            "automatic": self.automatic,
            "denials": self.denials,
            "feedback": [feedback_to(told) for told in self.feedback],
            "tasks": commit_to(self.tasks, self.about) if isinstance(self.tasks, TaskCommit) else self.tasks,
            "task_reading": dict(self.task_reading),
            "metadata": dict(self.metadata),
            "route": self.note.route,
            "judged_by": self.note.judged_by,
            "judge_tokens": [self.note.judge_prompt_tokens, self.note.judge_completion_tokens]
            if self.note.judged_by
            else [],
        }
        return {key: value for key, value in data.items() if value}

    @classmethod
    def from_row(cls, row: Row, turn: Turn | None) -> Event:
        """Return the event of a stored row."""
        return cls(
            kind=row.kind,  # type: ignore[arg-type]  # checked by the caller
            known_at=row.known_at,
            about=turn,
            claims=[claim_from(data) for data in row.body.get("claims", ())],
            rules=[rule_from(data) for data in row.body.get("rules", ())],
            changes=[change_from(data) for data in row.body.get("changes", ())],
            target=row.body.get("target", ""),
            undoes=row.body.get("undoes", ""),
            reason=row.body.get("reason", ""),
            degraded=row.body.get("degraded", ""),
            extraction=row.body.get("extraction", {}),
            note=_note_from(row.body),
            promotions=[promotion_from(data) for data in row.body.get("promotions", ())],
            automatic=row.body.get("automatic", False),
            denials=row.body.get("denials", 0),
            feedback=[feedback_from(data, at=row.known_at) for data in row.body.get("feedback", ())],
            tasks=row.body.get("tasks"),
            task_reading=row.body.get("task_reading", {}),
            metadata=row.body.get("metadata", {}),
        )


def _note_from(body: Mapping[str, Any]) -> Note:
    """Return how a turn was understood; rows of earlier versions do not say."""
    prompt, completion = body.get("tokens") or (0, 0)
    judge_prompt, judge_completion = body.get("judge_tokens") or (0, 0)
    return Note(
        intents=tuple(body.get("intents", ())),
        by=body.get("by", ""),
        prompt_tokens=prompt,
        completion_tokens=completion,
        dropped=tuple(body.get("dropped", ())),
        route=body.get("route", ""),
        judged_by=body.get("judged_by", ""),
        judge_prompt_tokens=judge_prompt,
        judge_completion_tokens=judge_completion,
    )


@dataclass(slots=True)
class _Loaded:
    """A user's state with its lock; `pins` counts the threads inside or waiting."""

    state: UserState
    lock: threading.RLock = field(default_factory=threading.RLock)
    pins: int = 0


class MemoryLog:
    """Event logs and states of all users of one tenant. Safe between threads and between processes."""

    def __init__(
        self,
        store: Store,
        encoder: Encoder,
        *,
        tenant: str,
        capacity: int,
        ontology: Ontology | None = None,
        policy: str = "recency",
    ) -> None:
        self.store = store
        self.encoder = encoder
        self.ontology = ontology
        """The ontology of all users; None is the one that comes with Doxa."""
        self.policy = policy
        """Which of several beliefs that clash gives way, for all users."""
        self._tenant = quote(tenant, safe="")
        self._capacity = capacity
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._guard = threading.Lock()

    def scope(self, user: str) -> str:
        """Return the name of a user's log in the store; a slash in a tenant's name cannot reach another's users."""
        return f"{self._tenant}/{user}"

    def of_tenant(self, name: str) -> MemoryLog:
        """Return the log of another tenant in the same database."""
        return MemoryLog(
            self.store,
            self.encoder,
            tenant=name,
            capacity=self._capacity,
            ontology=self.ontology,
            policy=self.policy,
        )

    def users(self) -> list[str]:
        """Return the users of this tenant that have a log."""
        return self._users_of(self.store.scopes())

    def pending(self) -> list[str]:
        """Return the users with turns that were received and not yet processed."""
        return self._users_of(self.store.pending())

    def _users_of(self, scopes: Sequence[str]) -> list[str]:
        prefix = self.scope("")
        return [scope.removeprefix(prefix) for scope in scopes if scope.startswith(prefix)]

    def head(self, user: str) -> Head:
        """Return where a user's log stands in the database."""
        return self.store.head(self.scope(user))

    def receive(self, turn: Turn, *, unless_erased_after: int | None = None) -> tuple[Turn, Receipt]:
        """Store a turn, durable on return, and give it back as it is stored; an empty `turn_id` gets one.

        Raises:
            TurnConflictError: the id is known with another text.
            StoreConflictError: something was erased after the row at ordinal `unless_erased_after`.
            StoreError: nothing was stored.
        """
        row = NewRow(kind="turn", known_at=turn.at, body=turn_to(turn))
        received = self.store.receive(
            self.scope(turn.user), row, turn_id=turn.turn_id or None, unless_erased_after=unless_erased_after
        )
        stored = turn_of(received.row, turn.user)
        if received.duplicate and stored.text != turn.text:
            raise TurnConflictError(stored.turn_id, turn.user)
        return stored, Receipt(turn_id=stored.turn_id, duplicate=received.duplicate)

    @contextmanager
    def user(self, user: str) -> Iterator[UserState]:
        """Give the state of a user, caught up and locked until the block ends, which speaks by the ontology.

        Cost: one query when nothing is new.
        """
        loaded = self._pin(user)
        try:
            with loaded.lock, using(self.ontology):
                self._catch_up(loaded, user)
                yield loaded.state
        finally:
            self._unpin(loaded)

    def append(self, user: str, state: UserState, event: Event, vector: NDArray[np.float32] | None = None) -> None:
        """Store an event and fold it into the state; call inside `user()`.

        Raises:
            StoreConflictError: another process changed the state since it was caught up; do it again.
        """
        about = event.about.ordinal if event.about else None
        row = NewRow(kind=event.kind, known_at=event.known_at, body=event.body(), about=about)
        data = None if vector is None else (self.encoder.name, to_bytes(vector))
        stored = self.store.append(self.scope(user), row, expected_state=state.state, vector=data)
        state.whole = False  # until the event is folded: an interrupt may come at any point
        if stored.ordinal > state.ordinal + 1:  # turns came in since the state was caught up; changes did not
            between = self.store.read(self.scope(user), after=state.ordinal)
            for received in (row for row in between if row.ordinal < stored.ordinal):
                state.receive(turn_of(received, user))
        rounded = None if data is None else from_bytes(data[1])
        fold(state, event, rounded)
        state.advance(stored.ordinal)
        state.whole = True

    def forget_state(self, user: str) -> None:
        """Drop the loaded state of a user, so that the next use reads the log again."""
        with self._guard:
            self._loaded.pop(user, None)

    def rows(self, user: str) -> list[Row]:
        """Return the whole log of a user."""
        return self.store.read(self.scope(user))

    def _pin(self, user: str) -> _Loaded:
        with self._guard:
            loaded = self._loaded.get(user)
            if loaded is None:
                loaded = self._loaded[user] = _Loaded(state=self._fresh(user))
            loaded.pins += 1
            self._loaded.move_to_end(user)
            for name in [name for name, entry in self._loaded.items() if not entry.pins]:
                if len(self._loaded) <= self._capacity:
                    break
                del self._loaded[name]
            return loaded

    def _unpin(self, loaded: _Loaded) -> None:
        with self._guard:
            loaded.pins -= 1

    def _fresh(self, user: str) -> UserState:
        return UserState(
            user=user, dims=self.encoder.dims, encoder=self.encoder.name, beliefs=Beliefs(policy=self.policy)
        )

    def _catch_up(self, loaded: _Loaded, user: str) -> None:
        state, head = loaded.state, self.head(user)
        if head.ordinal == state.ordinal and state.whole:
            return
        rows = self.store.read(self.scope(user), after=state.ordinal) if head.ordinal > state.ordinal else []
        if head.ordinal < state.ordinal or not state.whole or any(row.kind == "erased" for row in rows):
            state = self._fresh(user)  # the past was rewritten, or a fold was cut short: fold it anew
            rows = self.store.read(self.scope(user))
        known: Sequence[Vector] = ()
        if any(row.kind == "maintained" for row in rows):  # turns that only came in have none
            known = self.store.vectors(self.scope(user), model=self.encoder.name, after=state.maintained)
        self._fold_rows(state, rows, {vector.ordinal: from_bytes(vector.data) for vector in known})
        loaded.state = state

    def _fold_rows(self, state: UserState, rows: Sequence[Row], vectors: dict[int, NDArray[np.float32]]) -> None:
        turns = {row.ordinal: turn_of(row, state.user) for row in rows if row.kind == "turn"}
        self._encode_missing(state.user, rows, ChainMap(turns, state.turns), vectors)
        state.whole = False  # as in `append`
        for row in rows:
            fold_row(state, row, vectors.get(row.about or 0))
        state.whole = True

    def _encode_missing(
        self, user: str, rows: Sequence[Row], turns: Mapping[int, Turn], vectors: dict[int, NDArray[np.float32]]
    ) -> None:
        """Encode processed turns that have no rows of this encoder, or too few (it was changed, or had failed).

        When it fails again they stay as they are, and the next time that this state is loaded they are tried again.
        """
        processed = (turns[row.about or 0] for row in rows if row.kind == "maintained" and row.about in turns)
        texts = {turn.ordinal: encoded_texts(turn) for turn in processed if not turn.generated}
        size = self.encoder.dims
        missing = {
            o: of_turn for o, of_turn in texts.items() if o not in vectors or vectors[o].size != len(of_turn) * size
        }
        if not missing:
            return
        try:
            encoded = self.encoder.encode([text for of_turn in missing.values() for text in of_turn])
        except BackendError as exc:
            logger.warning(
                "%d turns of user %r are found by words alone, the encoder failed: %s", len(missing), user, exc
            )
            return
        stops = accumulate(map(len, missing.values()))
        rows_out = [
            Vector(ordinal=ordinal, data=to_bytes(encoded[stop - len(of_turn) : stop]))
            for (ordinal, of_turn), stop in zip(missing.items(), stops, strict=True)
        ]
        self.store.put_vectors(self.scope(user), model=self.encoder.name, vectors=rows_out)
        vectors.update({vector.ordinal: from_bytes(vector.data) for vector in rows_out})


def turn_of(row: Row, user: str) -> Turn:
    """Return the turn of a received row."""
    return turn_from(row.body, turn_id=str(row.turn_id), user=user, ordinal=row.ordinal, at=row.known_at)


def fold_row(state: UserState, row: Row, vector: NDArray[np.float32] | None = None) -> None:
    """Bring a state one row further; `vector` is that of the turn which the row concerns."""
    if row.kind == "turn":
        state.receive(turn_of(row, state.user))
        return
    if row.kind != "erased":
        fold(state, Event.from_row(row, state.turns.get(row.about or 0)), vector)
    state.advance(row.ordinal)


def fold(state: UserState, event: Event, vector: NDArray[np.float32] | None) -> None:
    """Bring a state one event further. Deterministic: the same events give the same state."""
    if event.kind == "maintained" and event.about is not None:
        claims, changes, rules = list(event.claims), list(event.changes), list(event.rules)
        state.maintain(event.about, claims, changes, vector, rules=rules, note=event.note)
        if event.degraded:
            state.degraded[event.about.turn_id] = event.degraded
    elif event.kind == "withdrawn":
        state.withdraw([event.target], event.known_at, by=event.given_up)
        state.beliefs.drop_turn(event.target, event.changes)
    elif event.kind == "distrusted":
        state.withdraw(state.turns_of(event.target), event.known_at, by=event.given_up)
        state.beliefs.drop_source(event.target, event.changes)
    elif event.kind == "identified":
        state.beliefs.learn(event.claims, event.changes)
    elif event.kind == "retracted":
        state.beliefs.drop_support(state.beliefs.facts[event.target], event.changes)
    elif event.kind == "annotated":
        state.annotate(event.target, event.metadata)
    elif event.kind == "feedback":
        state.feedback.append(tuple(event.feedback))
    elif event.kind == "undone":
        _undo(state, event)
    elif event.kind in ("promoted", "demoted"):
        _promote(state.promotions, event)
    if event.tasks is not None:
        state.tasks.apply(task_commit_of(event, state.tasks))


def task_commit_of(event: Event, forest: TaskForest) -> TaskCommit:
    """Return what an event does to the tasks, over the forest as it is before it; only of one that does something."""
    if isinstance(event.tasks, TaskCommit):
        return event.tasks
    return commit_from(event.tasks or {}, forest, event.about)


def _promote(promotions: Promotions, event: Event) -> None:
    """Fold what was lifted to concepts, or taken down."""
    for promotion in event.promotions:
        promotions.promote(promotion)
    if event.kind == "promoted" and event.target:
        promotions.enable(event.target)
    elif event.kind == "demoted":
        promotions.demote(event.target, event.reason, automatic=event.automatic)


def _undo(state: UserState, event: Event) -> None:
    """Fold what takes the last change back."""
    if event.undoes == "maintained":
        state.withdraw([event.target], event.known_at, by=event.given_up)
        state.beliefs.drop_turn(event.target, event.changes)
    elif event.undoes == "identified":
        state.beliefs.drop_claims(event.claims, event.changes)
    else:
        state.trust(event.given_up)
        state.beliefs.bring_back(event.given_up, event.changes)
