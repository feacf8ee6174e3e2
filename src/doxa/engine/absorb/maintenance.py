"""Turns that were received -> turns that are understood, in order per user, behind the caller's back."""

from __future__ import annotations

import logging
import threading
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import accumulate
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doxa.backends.store import owner_name
from doxa.core.access import pseudonym
from doxa.core.errors import BackendError, ClosedError, StaleLeaseError, StoreConflictError
from doxa.core.values import Turn
from doxa.core.views import Work
from doxa.engine.absorb.drifting import tend
from doxa.engine.absorb.promotion import lift
from doxa.engine.absorb.turn import absorb
from doxa.engine.answer.feedback import store_feedback
from doxa.engine.history.answers import store_answers
from doxa.engine.history.shadow import store_shadows
from doxa.engine.reading.clashes import judge
from doxa.engine.reading.tasks import propose
from doxa.engine.reading.turns import readable
from doxa.engine.tenure import Tenure, held
from doxa.engine.wiring.parts import Parts
from doxa.engine.wiring.pending import MICRO_BATCH
from doxa.language import opening
from doxa.memory import encoded_texts, mention_index
from doxa.recall import index_of
from doxa.understand import read_ahead

__all__ = ["Maintenance"]

BLOCK = 64
"""Turns that are encoded together, and processed before other users have their turn."""
BLOCK_CHARS = 4_000_000
"""Characters that they have together at most, if they are more than one: what is in memory for a user is bounded."""
POLL_S = 0.02
"""How often to look whether another process has finished."""
AHEAD = 8
"""Turns that models see together, before the first of them is absorbed."""
SENTENCES_AHEAD = 100
"""Sentences of a turn that are parsed ahead: those of `AHEAD` turns are what the parser keeps."""
QUIET_S, PATIENCE_S = 0.1, 2.0
"""How long nobody may have asked before more is lifted to promotions, and how often some is lifted all the same."""
LATELY_S, MOST_DONE = 60.0, 10_000
"""Seconds in which turns are counted that were processed, and how many are at most."""
NEWS_S = 1.0
"""How often to look where this process is at it, and tells of it."""

logger = logging.getLogger("doxa")


class Maintenance:
    """Background threads that process the turns of all users, those of one user in one thread at a time.

    They start when there are turns. One is enough for the built-in reading; where a model is waited for, there is one
    for each user whose turns wait, `engine.workers` at most.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        roles = parts.config.roles
        waits = any(player != "builtin" for player in (roles.extract, roles.judge, roles.tasks))
        self._most = parts.config.engine.workers if waits else 1
        self._queue: deque[str] = deque()
        self._due: dict[str, float] = {}
        """From when on a user who waits is wanted, by the monotonic clock; at once where there is none."""
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._active: set[str] = set()
        self._waiting: dict[str, list[threading.Event]] = {}
        """Who waits for the turns of a user, to be told when there is news of them."""
        self._answering = 0
        self._quiet_from = 0.0
        """When, by the monotonic clock, the last question will have been answered long enough ago."""
        self._patient_until = 0.0
        """When, by the same clock, promotions come in between whoever asks."""
        self._stopping = False
        self._abandoned = False
        self._errors: dict[str, Exception] = {}
        self._failed: dict[str, tuple[datetime, str]] = {}
        """When and why the turns of a user could not be processed, until they can."""
        self._done: deque[float] = deque(maxlen=MOST_DONE)
        """When turns were processed lately, by the monotonic clock."""
        self._owner = owner_name()

    def schedule(self, user: str, *, after_s: float = 0.0) -> None:
        """Ask for the pending turns of a user to be processed, or for that in a while where nobody waits for it."""
        with self._changed:
            self._errors.pop(user, None)  # it is tried again: an old failure is no news
            if not after_s:
                self._due.pop(user, None)
            if user not in self._queue:
                self._queue.append(user)
                if after_s:
                    self._due[user] = time.monotonic() + after_s
            at_work = len(self._active) + sum(waiting not in self._active for waiting in self._queue)
            if len(self._threads) < min(at_work, self._most) and not self._stopping:
                self._threads.append(threading.Thread(target=self._run, name="doxa-maintenance", daemon=True))
                self._threads[-1].start()
            self._changed.notify_all()

    def wait(self, user: str, timeout_s: float | None = None) -> bool:
        """Wait until all turns that had been received for a user when it was called are processed.

        Returns:
            False when the time was over first.

        Raises:
            ClosedError: the engine was closed before they were.
            Exception: what stopped the processing, once.
        """
        news = threading.Event()
        with self._changed:
            self._waiting.setdefault(user, []).append(news)
        try:
            return self._wait(user, news, None if timeout_s is None else time.monotonic() + timeout_s)
        finally:
            with self._changed:
                self._waiting[user].remove(news)
                if not self._waiting[user]:
                    del self._waiting[user]

    def _wait(self, user: str, news: threading.Event, deadline: float | None) -> bool:
        wanted: int | None = None
        while True:
            self._check_running()
            news.clear()
            head = self._parts.log.head(user)
            wanted = head.received if wanted is None else min(wanted, head.received)  # less when turns were erased
            if wanted <= head.maintained:
                return True
            with self._changed:
                if (error := self._errors.pop(user, None)) is not None:
                    raise error
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return False
                if user in self._due or (user not in self._queue and user not in self._active):
                    self.schedule(user)
                look_s = NEWS_S if user in self._active else POLL_S
            news.wait(look_s if left is None else min(look_s, left))

    def rest(self, user: str, timeout_s: float) -> None:
        """Wait a moment for what follows the processing of a user's turns: promotions."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            if user in self._due:
                self.schedule(user)
            while (user in self._queue or user in self._active) and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(min(POLL_S, left))

    @contextmanager
    def answering(self) -> Iterator[None]:
        """While it lasts and a moment longer promotions wait: who asks comes first."""
        with self._changed:
            if not self._answering and (now := time.monotonic()) >= self._quiet_from:
                self._patient_until = now + PATIENCE_S
            self._answering += 1
        try:
            yield
        finally:
            with self._changed:
                self._answering -= 1
                self._quiet_from = time.monotonic() + QUIET_S
                self._changed.notify_all()

    def _is_quiet(self) -> bool:
        """Tell whether nobody asks, or it has been asked for so long that what waits comes in between."""
        now = time.monotonic()
        with self._changed:
            if self._stopping or (not self._answering and now >= self._quiet_from):
                return True
            if now < self._patient_until:
                return False
            self._patient_until = now + PATIENCE_S
            return True

    def work(self, user: str) -> Work:
        """Return how the processing goes. Unlike `wait` it takes no failure away."""
        now = time.monotonic()
        with self._changed:
            while self._done and self._done[0] < now - LATELY_S:
                self._done.popleft()
            span = min(LATELY_S, now - self._done[0]) if len(self._done) == MOST_DONE else LATELY_S
            when, why = self._failed.get(user, (None, ""))
            return Work(
                busy=user in self._queue or user in self._active,
                per_second=len(self._done) / span,
                failed=why,
                failed_at=when,
            )

    def busy(self) -> set[str]:
        """Return the users for whom there is something to do or being done, promotions included."""
        with self._changed:
            return {*self._queue, *self._active}

    def _check_running(self) -> None:
        if self._stopping and not any(thread.is_alive() for thread in self._threads):
            raise ClosedError("This Doxa was closed. What was received is kept; it is processed at the next open.")

    def stop(self, *, drain: bool, limit_s: float | None = None) -> None:
        """End the threads; with `drain`, after they have processed everything that was scheduled.

        Args:
            drain: whether what was scheduled is processed first.
            limit_s: how many seconds that may take; then they end after the turn that they are at.
        """
        with self._changed:
            self._stopping = True
            self._abandoned = not drain
            self._changed.notify_all()
            threads = list(self._threads)
        until = None if limit_s is None else time.monotonic() + limit_s
        for thread in threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))
        with self._changed:
            self._abandoned = self._abandoned or until is not None
            self._changed.notify_all()
        for thread in threads:
            thread.join()

    def _run(self) -> None:
        while (user := self._next()) is not None:
            try:
                self._process(user)
                self._failed.pop(user, None)
            except Exception as exc:  # noqa: BLE001  kept for the next wait(); the turns stay received
                logger.warning("turns of user %s wait to be processed: %s", self._called(user), exc)
                with self._changed:
                    self._errors[user] = exc
                    self._failed[user] = datetime.now(UTC), str(exc)
            with self._changed:
                self._active.discard(user)
            self._tell(user)

    def _tell(self, user: str) -> None:
        """Wake those who wait for the turns of a user."""
        with self._changed:
            for news in self._waiting.get(user, ()):
                news.set()
            self._changed.notify_all()

    def _next(self) -> str | None:
        """Return the first user that waits and whom no other thread is at; None at the end."""
        with self._changed:
            while not self._abandoned:
                now = time.monotonic()
                due = {one: 0.0 if self._stopping else self._due.get(one, 0.0) for one in self._queue}
                free = [one for one in self._queue if one not in self._active]
                user = next((one for one in free if due[one] <= now), None)
                if user is not None:
                    self._queue.remove(user)
                    self._due.pop(user, None)
                    self._active.add(user)
                    return user
                if self._stopping and not self._queue:
                    return None
                self._changed.wait(min((due[one] - now for one in free), default=None))
            return None

    def _process(self, user: str) -> None:
        """Process one block, then let other users have their turn."""
        store_feedback(self._parts.log, self._parts.told, user, least=MICRO_BATCH)
        store_answers(self._parts, user, least=MICRO_BATCH)
        store_shadows(self._parts, user, least=MICRO_BATCH)
        if not (block := self._pending(user)):
            if self._lift(user):
                self.schedule(user)
            elif user in self._parts.closed:
                self._tend(user)
            return
        if not self._process_alone(block):
            self._later(user)
            return
        more = self._lift(user)
        if self._pending(user) or more or user in self._parts.closed:
            self.schedule(user)
        self._parts.log.save(user)

    def process(self, user: str) -> Literal["done", "more", "busy"]:
        """Process one block of a user's turns in this thread; for who has no other thread process them.

        Returns:
            Whether all are processed, some are left, or another process is at them.

        Raises:
            Exception: what stopped the processing; the turns stay received.
        """
        if block := self._pending(user):
            if not self._process_alone(block):
                return "busy"
            self._parts.log.save(user)
            if self._pending(user):
                return "more"
        return "more" if self._lift(user) else "done"

    def _process_alone(self, block: list[Turn]) -> bool:
        """Process some turns under the lease of their user; False when it is another's, or became so."""
        log, user = self._parts.log, block[0].user
        with held(log.store, log.scope(user), owner=self._owner, seconds=self._parts.config.engine.lease_s) as tenure:
            return tenure is not None and self._process_block(tenure, block)

    def _lift(self, user: str) -> bool:
        """Bring what search keeps up to date, so that no search has to; lift what was said to promotions.

        True when there is more to read. A failure loses no turn.
        """
        if self._abandoned:
            return False
        try:
            with self._parts.log.user(user) as state:
                index_of(state)
                mention_index(state)
            if not self._is_quiet():  # no thread waits for that: other users' turns may
                self.schedule(user, after_s=QUIET_S)
                return False
            return lift(user, self._parts, busy=bool(self._pending(user)))
        except Exception as exc:  # noqa: BLE001  nothing that was said hangs on it, and it is tried again
            logger.warning("nothing was lifted for user %s this time: %s", self._called(user), exc)
            return False

    def _tend(self, user: str) -> None:
        """Look at a window of questions that was closed, and refresh what was learned if search drifts.

        A refresh takes some seconds, once in weeks. A failure loses no turn.
        """
        if self._abandoned or self._stopping:
            return  # the alarm stands, and the next window that is closed leads here again
        if not self._is_quiet():
            self.schedule(user, after_s=QUIET_S)
            return
        first = self._parts.closed.pop(user, 0)
        try:
            tend(self._parts, user, since=first)
        except Exception as exc:  # noqa: BLE001  nothing that was said hangs on it, and it is tried again
            logger.warning("nothing was refreshed for user %s this time: %s", self._called(user), exc)

    def _called(self, user: str) -> str:
        """Return what the log calls a user."""
        return pseudonym(self._parts.log.scope(user))

    def _pending(self, user: str) -> list[Turn]:
        if self._abandoned:
            return []
        with self._parts.log.user(user) as state:
            block = state.pending(self._parts.block(BLOCK))
        return block[: max(1, bisect_right(list(accumulate(len(turn.text) for turn in block)), BLOCK_CHARS))]

    def _later(self, user: str) -> None:
        """Another process is at it: look again in a moment, unless this one is about to end."""
        if not self._stopping:
            self.schedule(user, after_s=POLL_S)

    def _process_block(self, tenure: Tenure, block: list[Turn]) -> bool:
        """Process some turns of one user in order; False when another process took over meanwhile."""
        extractions = self._parts.extract(block[0].user, block)
        vectors, degraded = self._encode(block)
        for place, (turn, vector, extraction) in enumerate(zip(block, vectors, extractions, strict=True)):
            if self._abandoned:
                break
            if place % AHEAD == 0:
                self._read_ahead(block[place : place + AHEAD], vectors[place : place + AHEAD])
            judgement = judge(turn, None if vector is None else vector[0], self._parts, extraction=extraction)
            reading = propose(turn, self._parts)
            if not tenure.keeps(at_once=bool(extraction or judgement or reading)):
                return False  # a model took so long that another process has taken over
            while not self._abandoned:
                try:
                    absorb(
                        turn, vector, self._parts, fence=tenure.fence, extraction=extraction, judgement=judgement,
                        reading=reading, degraded=degraded,
                    )  # fmt: skip
                    break
                except StaleLeaseError:  # this process was held up for longer than its lease
                    logger.info("another process reads the turns of user %s now", self._called(turn.user))
                    return False
                except StoreConflictError:
                    continue
            with self._changed:
                self._done.append(time.monotonic())
            self._tell(turn.user)
        return True

    def _read_ahead(self, turns: Sequence[Turn], vectors: Sequence[NDArray[np.float32] | None]) -> None:
        """Have the models see turns while others can still read the memory: they keep what they found for `absorb`."""
        told = [(turn.text, rows[0]) for turn, rows in zip(turns, vectors, strict=True) if rows is not None]
        self._parts.queries.keep(dict(told))
        with suppress(BackendError):  # `absorb` says so
            read_ahead(self._with_context(turns), self._parts.parser, most=SENTENCES_AHEAD)
            if self._parts.grader() is not None:
                for text, _ in told:
                    self._parts.request(opening(text))

    def _with_context(self, turns: Sequence[Turn]) -> list[tuple[Turn, list[Turn]]]:
        with self._parts.log.user(turns[0].user) as state:
            told = [(turn, state.context(turn, self._parts.config.engine.context_turns)) for turn in turns]
            return [(readable(turn), [readable(one) for one in context]) for turn, context in told]

    def _encode(self, block: list[Turn]) -> tuple[list[NDArray[np.float32] | None], str]:
        """Return the rows of every turn, `(r, dims)`: its whole text and its passages; None for one of Doxa's own."""
        texts = [[] if turn.generated else encoded_texts(turn) for turn in block]
        try:
            encoded = self._parts.encoder.encode([text for of_turn in texts for text in of_turn])
        except BackendError as exc:
            return [None] * len(block), f"the encoder failed: {exc}"
        stops = list(accumulate(map(len, texts)))
        return [encoded[stop - len(rows) : stop] if rows else None for rows, stop in zip(texts, stops, strict=True)], ""
