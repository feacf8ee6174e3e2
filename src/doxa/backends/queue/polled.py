"""A queue of one process: it asks what waits, and goes through it."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from doxa.backends.queue import Waiting, Work, called

__all__ = ["open_queue"]


def open_queue(_: str = "") -> Polled:
    """Return a queue for a database that one process works on."""
    return Polled()


class Polled:
    """The `Queue` without a server. When a scope is due again is known to this process alone."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._due: dict[str, float] = {}

    def run(self, work: Work, waiting: Waiting, *, most: int, every_s: float) -> None:
        """Work on what waits. See `Queue`."""
        with ThreadPoolExecutor(most, thread_name_prefix="doxa-worker") as threads:
            while not self._stopped.is_set():
                asked = time.monotonic()
                found = set(waiting())
                self._due = {scope: due for scope, due in self._due.items() if scope in found}
                ready = [scope for scope in sorted(found) if self._due.get(scope, 0.0) <= asked]
                list(threads.map(lambda scope: self._call(work, scope), ready))
                following = min(self._due.values(), default=asked + every_s)
                self._stopped.wait(max(0.0, min(following, asked + every_s) - time.monotonic()))

    def stop(self) -> None:
        """End `run`. See `Queue`."""
        self._stopped.set()

    def _call(self, work: Work, scope: str) -> None:
        if self._stopped.is_set():
            return
        self._due.pop(scope, None)
        if (again_s := called(work, scope)) is not None:
            self._due[scope] = time.monotonic() + again_s
