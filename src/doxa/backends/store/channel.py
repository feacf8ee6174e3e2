"""Changes that processes on one Postgres database tell each other of, over one connection of its own."""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import threading
from collections.abc import Callable, Iterable
from typing import Any

from doxa.backends.pauses import pauses
from doxa.backends.store import Change

logger = logging.getLogger("doxa")

NAME = "doxa"
"""The channel; a message is an ordinal and a scope, and nothing that anybody said."""
GATHER_S = 0.01
"""How long changes are gathered before they are told: one message for many turns of a user, and one statement."""
LIMIT = 10_000
"""How many logs are named at most that could not be told of; beyond these, anything may have changed."""
ANYTHING = "*"
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 10.0

Told = Callable[[Change | None], None]


class Channel:
    """A thread that tells others of changes here, and calls back for theirs; it connects anew where it is cut off.

    Everything may have changed while it was, so that it then calls back with None. No callback may block or raise.

    Changes are told after they were written, not in their transaction: Postgres writes transactions that tell of
    something one after the other, which halves what a server takes, and nothing rests on being told.
    """

    def __init__(self, connect: Callable[[], Any]) -> None:
        self._connect = connect
        self._guard = threading.Lock()
        self._told: list[Told] = []
        self._due: dict[str, int] = {}
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._wake, self._woken = socket.socketpair()

    def add(self, told: Told) -> Callable[[], None]:
        """Call back from now on; returns what ends that."""
        with self._guard:
            self._told.append(told)
            self._start()

        def stop() -> None:
            with self._guard, contextlib.suppress(ValueError):
                self._told.remove(told)

        return stop

    def tell(self, scope: str, ordinal: int) -> None:
        """Have the others told that a log was moved. Waits for nothing."""
        with self._guard:
            first = not self._due
            self._due.pop(scope, None)
            self._due[scope if len(self._due) < LIMIT else ANYTHING] = ordinal
            self._start()
        if first:
            self._rouse()

    def close(self) -> None:
        """Tell what is left, and end the thread and its connection."""
        self._ended.set()
        self._rouse()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._wake.close()
        self._woken.close()

    def _start(self) -> None:
        if self._thread is None and not self._ended.is_set():
            self._thread = threading.Thread(target=self._run, name="doxa-channel", daemon=True)
            self._thread.start()

    def _rouse(self) -> None:
        with contextlib.suppress(OSError):
            self._wake.send(b"x")

    def _run(self) -> None:
        import psycopg

        waits = pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        while True:
            try:
                with self._connect() as connection:
                    connection.execute(f"LISTEN {NAME}")
                    self._call([None])  # what changed before nobody told us
                    waits = pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S)
                    self._exchange(connection)
                    return
            except (psycopg.Error, OSError) as exc:
                if self._ended.is_set():
                    return
                pause = next(waits)
                logger.info("No changes of other processes are heard for %.1f s: %s", pause, exc)
                self._ended.wait(pause)

    def _exchange(self, connection: Any) -> None:
        """Tell and hear until the end; raises what the driver raises when the connection is lost."""
        while True:
            self._send(connection)
            # Before waiting: what came with an answer lies in the driver already, and wakes no socket.
            self._call(_change_of(one.payload) for one in connection.notifies(timeout=0))
            if self._ended.is_set():
                return
            if self._roused(connection):
                self._ended.wait(GATHER_S)
                self._woken.recv(4096)

    def _roused(self, connection: Any) -> bool:
        """Wait until something came over the connection, or from this process; tells whether from here."""
        with selectors.DefaultSelector() as selector:  # no `select`, which knows the first 1024 files alone
            selector.register(connection.fileno(), selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            return any(key.fileobj is self._woken for key, _ in selector.select())

    def _send(self, connection: Any) -> None:
        with self._guard:
            due, self._due = self._due, {}
        if not due:
            return
        messages = [ANYTHING if scope == ANYTHING else f"{ordinal} {scope}" for scope, ordinal in due.items()]
        try:
            connection.execute(f"SELECT pg_notify('{NAME}', one) FROM unnest(%s::text[]) AS one", [messages])
        except BaseException:
            with self._guard:
                self._due = due | self._due
            raise

    def _call(self, changes: Iterable[Change | None]) -> None:
        for change in changes:
            with self._guard:
                told = list(self._told)
            for one in told:
                one(change)


def _change_of(payload: str) -> Change | None:
    """Return what a message says; None for one that names no log: then anything may have changed."""
    ordinal, _, scope = payload.partition(" ")
    return Change(scope=scope, ordinal=int(ordinal)) if ordinal.isdigit() else None
