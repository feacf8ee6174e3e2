"""queue: scopes with waiting turns -> calls, one at a time for each scope.

`postgres:URL` shares the work among all processes on a database, over pgqueuer; `polled` is for one process on a file.
Nothing is lost with a queue: what waits is in the heads of the logs, and is looked for there again and again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

__all__ = ["Queue", "Waiting", "Work", "called"]

Work = Callable[[str], float | None]
"""Does a part of what waits for a scope; returns after how many seconds it wants to be called again, None when not."""
Waiting = Callable[[], Sequence[str]]
"""Returns the scopes for which something waits."""

logger = logging.getLogger("doxa")


class Queue(Protocol):
    """Who works on what waits, and when."""

    def run(self, work: Work, waiting: Waiting, *, most: int, every_s: float) -> None:
        """Have what waits worked on until `stop`, at most `most` scopes at a time, each by one caller.

        Work may be called once more when nothing is left to do; it has to see that for itself.

        Args:
            work: what is called, in threads; what it raises ends the call and nothing else.
            waiting: what is called every `every_s` seconds for what has come; a scope that is known stays one.
            most: scopes that are worked on at a time, by this process.
            every_s: how long new work may go unseen.

        Raises:
            StoreError: the database cannot be used.
        """
        ...

    def stop(self) -> None:
        """End `run`, from any thread: calls under way are waited for."""
        ...


def called(work: Work, scope: str) -> float | None:
    """Call; what it raises is told here, so that no words of a turn get into the tables of a queue."""
    try:
        return work(scope)
    except Exception:
        logger.exception("what waits was not worked on")
        return None
