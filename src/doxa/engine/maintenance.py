"""Turns that were received -> turns that are understood, in order per user, behind the caller's back."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from doxa.backends.store import owner_name
from doxa.core.errors import BackendError, ClosedError, StoreConflictError
from doxa.core.values import Turn
from doxa.engine.answers import store_answers
from doxa.engine.feedback import store_feedback
from doxa.engine.judging import judge
from doxa.engine.pending import MICRO_BATCH
from doxa.engine.promotion import lift
from doxa.engine.trimming import propose
from doxa.engine.turn import absorb
from doxa.engine.wiring import Parts
from doxa.memory import encoded_texts
from doxa.recall import index_of
from doxa.understand import Extraction

__all__ = ["Maintenance"]

BLOCK = 64
"""Turns that are encoded together; also how often a lease is renewed."""
LEASE_S = 30.0
"""How long another process waits for this one before it takes over. A dead process on this machine is seen at once."""
POLL_S = 0.02
"""How often to look whether another process has finished."""

logger = logging.getLogger("doxa")


class Maintenance:
    """One background thread that processes the turns of all users. It starts at the first turn."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._queue: deque[str] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._active: str | None = None
        self._stopping = False
        self._abandoned = False
        self._errors: dict[str, Exception] = {}
        self._owner = owner_name()

    def schedule(self, user: str) -> None:
        """Ask for the pending turns of a user to be processed."""
        with self._changed:
            self._errors.pop(user, None)  # it is tried again: an old failure is no news
            if user not in self._queue:
                self._queue.append(user)
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(target=self._run, name="doxa-maintenance", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def wait(self, user: str, timeout_s: float | None = None) -> bool:
        """Wait until all turns that had been received for a user when it was called are processed.

        Returns:
            False when the time was over first.

        Raises:
            ClosedError: the engine was closed before they were.
            Exception: what stopped the processing, once.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        wanted: int | None = None
        while True:
            self._check_running()
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
                if user not in self._queue and self._active != user:
                    self.schedule(user)
                self._changed.wait(min(POLL_S, left) if left is not None else POLL_S)

    def rest(self, user: str, timeout_s: float) -> None:
        """Wait a moment for what follows the processing of a user's turns: promotions."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while (user in self._queue or self._active == user) and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(min(POLL_S, left))

    def _check_running(self) -> None:
        if self._stopping and (self._thread is None or not self._thread.is_alive()):
            raise ClosedError("This Doxa was closed. What was received is kept; it is processed at the next open.")

    def stop(self, *, drain: bool) -> None:
        """End the thread; with `drain`, after it has processed everything that was scheduled."""
        with self._changed:
            self._stopping = True
            self._abandoned = not drain
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while (user := self._next()) is not None:
            try:
                self._process(user)
            except Exception as exc:  # noqa: BLE001  kept for the next wait(); the turns stay received
                logger.warning("turns of user %r wait to be processed: %s", user, exc)
                with self._changed:
                    self._errors[user] = exc
            with self._changed:
                self._active = None
                self._changed.notify_all()

    def _next(self) -> str | None:
        with self._changed:
            while not self._queue and not self._stopping:
                self._changed.wait()
            if self._abandoned or not self._queue:
                return None
            self._active = self._queue.popleft()
            return self._active

    def _process(self, user: str) -> None:
        """Process one block, then let other users have their turn."""
        store_feedback(self._parts.log, self._parts.told, user, least=MICRO_BATCH)
        store_answers(self._parts, user, least=MICRO_BATCH)
        store, scope = self._parts.log.store, self._parts.log.scope(user)
        if not (block := self._pending(user)):
            if self._lift(user):
                self.schedule(user)
            return
        if not store.lease(scope, owner=self._owner, seconds=LEASE_S):
            self._later(user)
            return
        extractions = self._parts.extract(user, block)
        if any(extractions) and not store.lease(scope, owner=self._owner, seconds=LEASE_S):
            self._later(user)  # the model took so long that another process has taken over
            return
        if not self._process_block(block, extractions):
            self._later(user)
            return
        store.lease(scope, owner=self._owner, seconds=0)
        more = self._lift(user)
        if self._pending(user) or more:
            self.schedule(user)

    def _lift(self, user: str) -> bool:
        """Bring what search keeps up to date, so that no search has to; lift what was said to promotions.

        True when there is more to read. A failure loses no turn.
        """
        if self._abandoned:
            return False
        try:
            with self._parts.log.user(user) as state:
                index_of(state)
            return lift(user, self._parts, busy=bool(self._pending(user)))
        except Exception as exc:  # noqa: BLE001  nothing that was said hangs on it, and it is tried again
            logger.warning("nothing was lifted for user %r this time: %s", user, exc)
            return False

    def _pending(self, user: str) -> list[Turn]:
        if self._abandoned:
            return []
        with self._parts.log.user(user) as state:
            return state.pending(self._parts.block(BLOCK))

    def _later(self, user: str) -> None:
        """Another process is at it: look again in a moment, unless this one is about to end."""
        if not self._stopping:
            time.sleep(POLL_S)
            self.schedule(user)

    def _process_block(self, block: list[Turn], extractions: list[Extraction | None]) -> bool:
        """Process some turns of one user in order; False when another process took over while a model was asked."""
        vectors, degraded = self._encode(block)
        store, scope = self._parts.log.store, self._parts.log.scope(block[0].user)
        for turn, vector, extraction in zip(block, vectors, extractions, strict=True):
            if self._abandoned:
                break
            judgement = judge(turn, None if vector is None else vector[0], self._parts, extraction=extraction)
            reading = propose(turn, self._parts)
            if (judgement or reading) and not store.lease(scope, owner=self._owner, seconds=LEASE_S):
                return False
            while not self._abandoned:
                try:
                    absorb(
                        turn, vector, self._parts, extraction=extraction, judgement=judgement, reading=reading,
                        degraded=degraded,
                    )  # fmt: skip
                    break
                except StoreConflictError:
                    continue
            with self._changed:
                self._changed.notify_all()
        return True

    def _encode(self, block: list[Turn]) -> tuple[list[NDArray[np.float32] | None], str]:
        """Return the rows of every turn, `(r, dims)`: its whole text and its passages; None for one of Doxa's own."""
        texts = [[] if turn.generated else encoded_texts(turn) for turn in block]
        try:
            encoded = self._parts.encoder.encode([text for of_turn in texts for text in of_turn])
        except BackendError as exc:
            return [None] * len(block), f"the encoder failed: {exc}"
        stops = list(accumulate(map(len, texts)))
        return [encoded[stop - len(rows) : stop] if rows else None for rows, stop in zip(texts, stops, strict=True)], ""
