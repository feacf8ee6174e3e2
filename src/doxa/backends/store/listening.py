"""Changes that other processes tell of, over one connection of its own."""

from __future__ import annotations

import contextlib
import logging
import random
import select
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

from doxa.backends.store import Change

logger = logging.getLogger("doxa")

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 10.0

Told = Callable[[Change | None], None]


class Listener:
    """A thread that waits on a channel of Postgres and calls back; it connects anew where it is cut off.

    Everything may have changed while it was, so that it then calls back with None. No callback may block or raise.
    """

    def __init__(self, connect: Callable[[], Any], channel: str) -> None:
        self._connect = connect
        self._channel = channel
        self._guard = threading.Lock()
        self._told: list[Told] = []
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._wake, self._woken = socket.socketpair()

    def add(self, told: Told) -> Callable[[], None]:
        """Call back from now on; returns what ends that. The first one starts the thread."""
        with self._guard:
            self._told.append(told)
            if self._thread is None and not self._ended.is_set():
                self._thread = threading.Thread(target=self._run, name="doxa-listener", daemon=True)
                self._thread.start()

        def stop() -> None:
            with self._guard, contextlib.suppress(ValueError):
                self._told.remove(told)

        return stop

    def close(self) -> None:
        """End the thread and its connection."""
        self._ended.set()
        with contextlib.suppress(OSError):
            self._wake.send(b"x")
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._wake.close()
        self._woken.close()

    def _run(self) -> None:
        import psycopg

        pause = FIRST_PAUSE_S
        while not self._ended.is_set():
            try:
                with self._connect() as connection:
                    connection.execute(f"LISTEN {self._channel}")
                    self._tell([None])  # what changed before nobody told us
                    pause = FIRST_PAUSE_S
                    self._listen(connection)
            except (psycopg.Error, OSError) as exc:
                if not self._ended.is_set():
                    logger.info("No changes of other processes are heard for %.1f s: %s", pause, exc)
                    self._ended.wait(pause * random.uniform(0.5, 1.0))
                    pause = min(2 * pause, LONGEST_PAUSE_S)

    def _listen(self, connection: Any) -> None:
        while not self._ended.is_set():
            # Before waiting: what came with an answer lies in the driver already, and wakes no socket.
            self._tell(_change_of(one.payload) for one in connection.notifies(timeout=0))
            select.select([connection.fileno(), self._woken], [], [])

    def _tell(self, changes: Iterable[Change | None]) -> None:
        for change in changes:
            with self._guard:
                told = list(self._told)
            for one in told:
                one(change)


def _change_of(payload: str) -> Change | None:
    """Return what a message says; None for one that is not ours: then anything may have changed."""
    ordinal, _, scope = payload.partition(" ")
    return Change(scope=scope, ordinal=int(ordinal)) if ordinal.isdigit() else None
