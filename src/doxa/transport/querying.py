"""Queries in SPARQL from elsewhere: a few at once, none for longer than the server lets it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Semaphore
from typing import TypeVar

import anyio
import anyio.to_thread

from doxa.core.errors import BackendUnavailableError, DoxaError

__all__ = ["BusyError", "Querying"]

T = TypeVar("T")
QUERIES = 4
"""At once: one that took too long goes on where it cannot be stopped."""
GRACE_S = 1.0
"""How long is waited beyond the limit for a query that gives itself up, as most do."""


class BusyError(DoxaError):
    """As much of this is worked on as may be at once."""


class Querying:
    """The queries that are answered by one application.

    Args:
        limit_s: seconds that one may take (setting `server.query_s`).
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._free = Semaphore(QUERIES)
        """Held by each query until it ends, which may be long after somebody waits for it."""

    async def answer(self, ask: Callable[[float], T]) -> T:
        """Return what a query gives, asked in a thread.

        Args:
            ask: asks, for so many seconds at most, and shapes the answer.

        Raises:
            BusyError: as many are worked on as may be.
            BackendUnavailableError: it took longer than it may.
        """

        def work() -> T:
            if not self._free.acquire(blocking=False):
                raise BusyError("As many queries as there may be are worked on. Try again in a second.")
            try:
                return ask(self._limit_s)
            finally:
                self._free.release()

        with anyio.move_on_after(self._limit_s + GRACE_S):
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        raise BackendUnavailableError(
            f"sparql: the query took longer than {self._limit_s:g} s (server.query_s). "
            "Narrow it down, or end it with LIMIT."
        )
