"""The event log of every user, and the states that are folded from it.

`with log.user("ana") as state:` gives the state of a user, caught up with whatever other threads and
processes have written, and locked for this thread until the block ends.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder import Encoder
from doxa.backends.store import Change, Head, NewRow, Row, Store, Vector
from doxa.core.errors import BackendError, PackError, StoreDamagedError, StoreError, TurnConflictError
from doxa.core.ontology import Ontology
from doxa.core.values import Receipt, Turn
from doxa.memory.beliefs import Beliefs
from doxa.memory.codec import turn_from, turn_to
from doxa.memory.events import EVENTS, Event, Maintained, event_of
from doxa.memory.freshness import Freshener
from doxa.memory.ontology import using
from doxa.memory.passages import encoded_texts
from doxa.memory.snapshots import Snapshots, digest_of
from doxa.memory.state import UserState
from doxa.memory.vectors import from_bytes, to_bytes

__all__ = ["MemoryLog", "fold_row", "turn_of"]

SAVED_LEAST, SAVED_SHARE = 256, 0.1
"""A snapshot is written once so many rows came since the last one, and such a share of all rows."""
WORTH = 16
"""From so many rows on a snapshot is written of a state that is let go."""

logger = logging.getLogger("doxa")


@dataclass(slots=True)
class _Loaded:
    """A user's state with its lock; `pins` counts the threads inside or waiting."""

    state: UserState
    lock: threading.RLock = field(default_factory=threading.RLock)
    pins: int = 0
    nbytes: int = 0
    """What the state took when it was last used."""
    saved: int = 0
    """The last row in its snapshot."""


class MemoryLog:
    """Event logs and states of all users of one tenant. Safe between threads and between processes."""

    def __init__(
        self,
        store: Store,
        encoder: Encoder,
        *,
        tenant: str,
        capacity: int,
        snapshots: Snapshots | None = None,
        ontology: Ontology | None = None,
        policy: str = "recency",
        warm: Collection[str] = (),
    ) -> None:
        self.store = store
        self.encoder = encoder
        self.ontology = ontology
        """The ontology of all users; None is the one that comes with Doxa."""
        self.policy = policy
        """Which of several beliefs that clash gives way, for all users."""
        self.warm = frozenset(warm)
        """Users whose states stay loaded, beside those that `capacity` leaves room for: everybody reads them."""
        self._tenant = quote(tenant, safe="")
        self.snapshots = snapshots
        """Where states are kept as files; None for a database that is gone when it is closed."""
        self._capacity = capacity
        """Bytes of states that stay loaded."""
        self._nbytes = 0
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._guard = threading.Lock()
        Freshener(store, is_behind=self._is_behind, loaded=self._scopes_loaded, catch_up=self._catch_up_unused)

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
            snapshots=self.snapshots,
            ontology=self.ontology,
            policy=self.policy,
            warm=self.warm,
        )

    def users(self) -> list[str]:
        """Return the users of this tenant that have a log."""
        return self._users_of(self.store.scopes())

    def pending(self) -> list[str]:
        """Return the users with turns that were received and not yet processed."""
        return self._users_of(self.store.pending())

    def _users_of(self, scopes: Sequence[str]) -> list[str]:
        return [self._user_of(scope) for scope in scopes if self._is_ours(scope)]

    def _is_ours(self, scope: str) -> bool:
        return scope.startswith(self.scope(""))

    def _user_of(self, scope: str) -> str:
        return scope.removeprefix(self.scope(""))

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

    def receive_many(self, user: str, turns: Sequence[Turn]) -> list[Receipt | None]:
        """Store turns of one user that have ids, all or none, durable on return.

        Returns:
            A receipt for each; None where its id is known with another text, and what is stored stays.
        """
        first = {turn.turn_id: turn for turn in reversed(turns)}
        rows = {
            turn.turn_id: NewRow(kind="turn", known_at=turn.at, body=turn_to(turn))
            for turn in turns
            if first[turn.turn_id] is turn
        }
        received = self.store.receive_many(self.scope(user), rows)
        receipts: list[Receipt | None] = []
        for turn in turns:
            one = received[turn.turn_id]
            known = one.duplicate or first[turn.turn_id] is not turn
            same = turn_of(one.row, user).text == turn.text
            receipts.append(Receipt(turn_id=turn.turn_id, duplicate=known) if same else None)
        return receipts

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
        except PackError as exc:  # a part of the snapshot that nobody had looked at before
            self._throw_away(user, exc)
            raise
        finally:
            self._unpin(user, loaded)

    def append(
        self,
        user: str,
        state: UserState,
        event: Event,
        vector: NDArray[np.float32] | None = None,
        *,
        fence: int | None = None,
    ) -> None:
        """Store an event and fold it into the state; call inside `user()`.

        Args:
            user: whose event it is.
            state: that of the user, caught up.
            event: what is stored.
            vector: the rows of the turn that it is about.
            fence: the token of the lease under which it came to be, if it needs one.

        Raises:
            StaleLeaseError: somebody else has held the lease since.
            StoreConflictError: another process changed the state since it was caught up; do it again.
        """
        about = event.about.ordinal if event.about else None
        row = NewRow(kind=event.kind, known_at=event.known_at, body=event.body(), about=about, fence=fence)
        data = None if vector is None else (self.encoder.name, to_bytes(vector))
        stored = self.store.append(self.scope(user), row, expected_state=state.state, vector=data)
        state.whole = False  # until the event is folded: an interrupt may come at any point
        if stored.ordinal > state.ordinal + 1:  # turns came in since the state was caught up; changes did not
            between = self.store.read(self.scope(user), after=state.ordinal)
            for received in (row for row in between if row.ordinal < stored.ordinal):
                state.receive(turn_of(received, user))
        rounded = None if data is None else from_bytes(data[1])
        _fold(state, event, rounded)
        state.advance(stored.ordinal)
        state.whole = True

    def forget_state(self, user: str) -> None:
        """Drop the state of a user, loaded or in a file, so that the next use reads the log again."""
        with self._guard:
            self._drop(user)
        if self.snapshots is not None:
            self.snapshots.drop(self.scope(user))

    def let_go(self, user: str) -> None:
        """Drop the loaded state of a user; the next use loads it again."""
        with self._guard:
            self._drop(user)

    def save(self, user: str, *, least: int = SAVED_LEAST, share: float = SAVED_SHARE) -> bool:
        """Write the snapshot of a user's state, if it is loaded and enough rows came since the last one.

        Args:
            user: whose state.
            least: how many rows are enough.
            share: which share of all rows they have to be as well, so that what is written in all stays O(rows).
        """
        with self._guard:
            loaded = self._loaded.get(user)
        return loaded is not None and self._save(user, loaded, least=least, share=share)

    def close(self) -> None:
        """Write the snapshots that are worth it."""
        with self._guard:
            users = list(self._loaded)
        for user in users:
            self.save(user, least=WORTH, share=0.0)

    def _save(self, user: str, loaded: _Loaded, *, least: int, share: float) -> bool:
        if self.snapshots is None:
            return False
        with loaded.lock:
            state = loaded.state
            if not state.whole or state.ordinal - loaded.saved < max(least, share * state.ordinal):
                return False
            try:
                last = self._standing(user, state.ordinal)
                if last is None:
                    return False
                written = self.snapshots.write(self.scope(user), state, last=digest_of(last))
                if self._standing(user, state.ordinal) is None:  # whoever erased has dropped the one before
                    self.snapshots.drop(self.scope(user))
                    return False
            except PackError as exc:
                self._throw_away(user, exc)
                return False
            except StoreError as exc:  # whoever is let go, it is no trouble of the one that is asked for
                logger.warning("No snapshot of a memory was written, it will be read from its log: %s", exc)
                return False
            loaded.saved = state.ordinal
            return written

    def still_has(self, user: str, ordinal: int) -> bool:
        """Tell whether the log still has a row, 0 for none yet, and nothing was erased since. No row is read."""
        return ordinal == 0 or self.store.stands(self.scope(user), ordinal)

    def _standing(self, user: str, ordinal: int) -> Row | None:
        """Return a row; None where it is gone, or anything was erased since."""
        rows = self.store.read(self.scope(user), after=ordinal - 1)
        if not rows or rows[0].ordinal != ordinal or any(row.kind == "erased" for row in rows[1:]):
            return None
        return rows[0]

    def _throw_away(self, user: str, why: PackError) -> None:
        logger.warning("A snapshot is damaged and was thrown away; the log is read again: %s", why)
        self.forget_state(user)

    def rows(self, user: str) -> list[Row]:
        """Return the whole log of a user."""
        return self.store.read(self.scope(user))

    def rows_after(self, user: str, ordinal: int) -> list[Row]:
        """Return the log of a user behind an ordinal."""
        return self.store.read(self.scope(user), after=ordinal)

    def _pin(self, user: str) -> _Loaded:
        with self._guard:
            loaded = self._loaded.get(user)
            if loaded is None:
                loaded = self._loaded[user] = _Loaded(state=self._fresh(user))
            loaded.pins += 1
            self._loaded.move_to_end(user)
            return loaded

    def _unpin(self, user: str, loaded: _Loaded) -> None:
        nbytes = loaded.state.nbytes
        with self._guard:
            loaded.pins -= 1
            if self._loaded.get(user) is not loaded:
                return
            self._nbytes += nbytes - loaded.nbytes
            loaded.nbytes = nbytes
            gone = self._evict()
        for name, entry in gone.items():
            self._save(name, entry, least=WORTH, share=0.0)

    def _evict(self) -> dict[str, _Loaded]:
        """Drop states that nobody uses, the longest unused first, until the others fit; the latest and `warm` stay."""
        gone: dict[str, _Loaded] = {}
        room = self._capacity + sum(self._loaded[name].nbytes for name in self.warm & self._loaded.keys())
        for name in list(self._loaded)[:-1]:
            if self._nbytes <= room:
                break
            if name not in self.warm and not self._loaded[name].pins and (loaded := self._drop(name)) is not None:
                gone[name] = loaded
        return gone

    def _drop(self, user: str) -> _Loaded | None:
        loaded = self._loaded.pop(user, None)
        self._nbytes -= 0 if loaded is None else loaded.nbytes
        return loaded

    def _fresh(self, user: str) -> UserState:
        return UserState(
            user=user, dims=self.encoder.dims, encoder=self.encoder.name, beliefs=Beliefs(policy=self.policy)
        )

    def _is_behind(self, change: Change) -> bool:
        with self._guard:
            loaded = self._loaded.get(self._user_of(change.scope))
        return loaded is not None and self._is_ours(change.scope) and loaded.state.ordinal != change.ordinal

    def _scopes_loaded(self) -> list[str]:
        with self._guard:
            return [self.scope(user) for user in self._loaded]

    def _catch_up_unused(self, scope: str) -> None:
        """Bring a loaded state up to date, unless somebody uses it: whoever does has asked by himself."""
        user = self._user_of(scope)
        with self._guard:
            loaded = self._loaded.get(user)
            if loaded is None:
                return
            loaded.pins += 1
        try:
            if loaded.lock.acquire(blocking=False):
                try:
                    with using(self.ontology):
                        self._catch_up(loaded, user)
                finally:
                    loaded.lock.release()
        finally:
            self._unpin(user, loaded)

    def _catch_up(self, loaded: _Loaded, user: str) -> None:
        state, head = loaded.state, self.head(user)
        if head.ordinal == state.ordinal and state.whole:
            return
        rows = self._unread(loaded, user) if head.ordinal > state.ordinal else []
        state = loaded.state
        if head.ordinal < state.ordinal or not state.whole or any(row.kind == "erased" for row in rows):
            if self.snapshots is not None:
                self.snapshots.drop(self.scope(user))
            state = self._fresh(user)  # the past was rewritten, or a fold was cut short: fold it anew
            rows = self.store.read(self.scope(user))
            loaded.saved = 0
        known: Sequence[Vector] = ()
        if any(row.kind == "maintained" for row in rows):  # turns that only came in have none
            known = self.store.vectors(self.scope(user), model=self.encoder.name, after=state.maintained)
        self._fold_rows(state, rows, {vector.ordinal: from_bytes(vector.data) for vector in known})
        loaded.state = state

    def _unread(self, loaded: _Loaded, user: str) -> list[Row]:
        """Return the rows after those of the state, which begins with a snapshot if it has none yet."""
        scope, state = self.scope(user), loaded.state
        pack = self.snapshots.open(scope) if self.snapshots is not None and not state.ordinal else None
        if pack is None:
            return self.store.read(scope, after=state.ordinal)
        last = int(pack.about["ordinal"])
        rows = self.store.read(scope, after=last - 1)
        if not rows or rows[0].ordinal != last or digest_of(rows[0]) != pack.about["last"]:
            assert self.snapshots is not None
            self.snapshots.drop(scope)  # of another log, as where the power failed
            return self.store.read(scope)
        try:
            state.load(pack)
        except PackError as exc:
            loaded.state = self._fresh(user)
            logger.warning("A snapshot is damaged, the log is read instead: %s", exc)
            return self.store.read(scope)
        loaded.saved = last
        return rows[1:]

    def _fold_rows(self, state: UserState, rows: Sequence[Row], vectors: dict[int, NDArray[np.float32]]) -> None:
        turns: dict[int, Turn] = {}
        for row in rows:
            if row.kind == "turn":
                turns[row.ordinal] = turn_of(row, state.user)
            elif row.about is not None and row.about not in turns and row.about in state.turns:
                turns[row.about] = state.turns[row.about]
        self._encode_missing(state.user, rows, turns, vectors)
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
        if state.turn(str(row.turn_id)) is not None:
            raise StoreDamagedError(
                f"The log of {state.user} is damaged: the turn {row.turn_id} is in it twice, so the index that finds "
                "turns is not what was written. Mend it with `doxa check-file FILE --mend`.",
                what=f"the turn {row.turn_id} of {state.user}",
            )
        state.receive(turn_of(row, state.user))
        return
    if row.kind == "erased":
        state.erased = row.ordinal
    if row.kind in EVENTS:
        _fold(state, event_of(row, state.turns.get(row.about or 0)), vector)
    state.advance(row.ordinal)


def _fold(state: UserState, event: Event, vector: NDArray[np.float32] | None) -> None:
    if isinstance(event, Maintained):
        event.apply(state, vector)
    else:
        event.apply(state)
