"""Turns of all users, received by whichever process -> processed here, a user at a time."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from urllib.parse import unquote

from doxa.backends import load
from doxa.backends.queue import Queue
from doxa.core.access import pseudonym
from doxa.core.config import Config
from doxa.core.errors import StoreError, StoreLockedError, StoreUnavailableError
from doxa.engine.absorb.maintenance import Maintenance
from doxa.engine.api.doxa import Doxa
from doxa.engine.intake import require_name
from doxa.engine.wiring.parts import Parts, wire
from doxa.memory import MemoryLog

__all__ = ["Stuck", "Worker", "stuck", "try_again"]

ATTEMPTS = 5
"""After so many failures in a row a user is left alone until somebody says `doxa worker --retry`."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 2.0, 300.0
"""How long a user waits after the first failure; twice as long after each further one, up to the latter."""
BETWEEN_S = 0.05
"""How long a user with more turns waits for the next block, so that others come in between."""
BUSY_S = 1.0
"""How long a user waits whose turns another process is at, or whose database is."""
LOOKED_EVERY_S = 2.0
"""How often it is asked which users wait: what a process left behind that died is seen after so long."""
MOST_CHARS = 500
"""How much is kept of what went wrong."""

logger = logging.getLogger("doxa")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stuck:
    """A user whose turns wait because processing them failed, so often in a row, the last time then and for that."""

    tenant: str
    user: str
    times: int
    at: datetime
    reason: str
    given_up: bool
    """No worker tries it any more."""


class Worker:
    """Processes what waits in a database, for all its tenants, beside any number of other processes.

    It claims a user, processes a block of turns (64 at most, and 4 million characters), and goes on with the next. On
    Postgres workers share a queue; on a file it asks what waits. A user whose turns fail is tried again after a while.
    """

    def __init__(self, parts: Parts, queue: Queue) -> None:
        self._parts, self._queue = parts, queue
        self._store = parts.log.store
        self._tenants: dict[str, Maintenance] = {}
        self._logs: list[MemoryLog] = []
        self._guard = threading.Lock()

    @classmethod
    def open(cls, url: str, *, config: Config | None = None) -> Self:
        """Return a worker on a database.

        Raises:
            ConfigError: a setting cannot be used.
            MissingDependencyError: the package of the queue is not installed.
            StoreError: the database cannot be opened.
        """
        settings = config or Config.load()
        parts = wire(url, settings, None)
        try:
            shared = parts.log.store.describe()["backend"] == "postgresql"
            return cls(parts, load("queue", f"postgres:{settings.store.listen_url or url}" if shared else "polled"))
        except BaseException:
            parts.close()
            raise

    def run(self, *, most: int = 1) -> None:
        """Process what waits until `stop`, of at most `most` users at a time.

        Raises:
            StoreError: the database cannot be used.
        """
        self._queue.run(self._work, self._waiting, most=most, every_s=LOOKED_EVERY_S)

    def stop(self) -> None:
        """End `run`, after the turns that it is at. Any thread may call it."""
        with self._guard:
            for maintenance in self._tenants.values():
                maintenance.stop(drain=False)
        self._queue.stop()

    def close(self) -> None:
        """Give back what was opened. Call it when `run` has ended."""
        self.stop()
        for log in self._logs:
            log.close()
        self._parts.close()

    def _waiting(self) -> list[str]:
        """Return the scopes that nobody is at and nobody has given up; none while the database is busy. O(scopes)"""
        try:
            left = self._given_up()
            return [scope for scope in self._store.pending(free=True) if scope not in left]
        except StoreLockedError as exc:
            logger.warning("what waits is looked for again: %s", exc)
            return []

    def _given_up(self) -> set[str]:
        return {failure.scope for failure in self._store.failures() if failure.times >= ATTEMPTS}

    def _work(self, scope: str) -> float | None:
        """Process a block of a scope; returns after how many seconds it wants more, None when it does not."""
        tenant, user = _named(scope)
        try:
            if scope in self._given_up():  # since it was told to wait
                return None
            outcome = self._maintenance(tenant).process(user)
        except (StoreUnavailableError, StoreLockedError) as exc:  # nothing that the user's turns could help
            logger.warning("turns wait for the database: %s", exc)
            return BUSY_S
        except Exception as exc:  # noqa: BLE001  counted, told by `doxa doctor`, and tried again
            return self._failed(scope, exc)
        return {"done": None, "more": BETWEEN_S, "busy": BUSY_S}[outcome]

    def _failed(self, scope: str, exc: Exception) -> float | None:
        times = 1
        with suppress(StoreError):
            times = self._store.fail(scope, f"{type(exc).__name__}: {exc}"[:MOST_CHARS])
        if times >= ATTEMPTS:
            logger.error("user %s is left alone after %d failures; see doxa doctor", pseudonym(scope), times)
            return None
        again_s = float(min(FIRST_PAUSE_S * 2 ** (times - 1), LONGEST_PAUSE_S))
        logger.warning("turns of user %s failed, tried again in %.0f s: %s", pseudonym(scope), again_s, exc)
        return again_s

    def _maintenance(self, tenant: str) -> Maintenance:
        with self._guard:
            if tenant not in self._tenants:
                parts = self._parts
                mine = parts if tenant == parts.config.tenant else parts.of_tenant(tenant)
                self._tenants[tenant] = Maintenance(mine)
                self._logs.append(mine.log)
            return self._tenants[tenant]


def stuck(doxa: Doxa) -> list[Stuck]:
    """Return the users, of all tenants, whose turns wait because processing them failed. Cost: O(users)."""
    found = []
    for failure in doxa.parts.log.store.failures():
        tenant, user = _named(failure.scope)
        given_up = failure.times >= ATTEMPTS
        found.append(
            Stuck(
                tenant=tenant, user=user, times=failure.times, at=failure.at, reason=failure.reason, given_up=given_up
            )
        )
    return found


def try_again(doxa: Doxa, user: str) -> bool:
    """Have workers try the turns of a user again; False where they have not failed."""
    require_name(user, "user")
    return bool(doxa.parts.log.store.forgive(doxa.parts.log.scope(user)))


def _named(scope: str) -> tuple[str, str]:
    """Return the tenant and the user of a log."""
    tenant, _, user = scope.partition("/")
    return unquote(tenant), user
