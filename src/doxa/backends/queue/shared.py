"""A queue of all processes on a Postgres database, over pgqueuer.

Its tables lie in a schema of their own, and hold the names of scopes while something waits for them. A job that a
process died with is given to another one once its heartbeat has stopped.
"""

from __future__ import annotations

import asyncio
import logging
import random
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import psycopg
from pgqueuer.adapters.drivers.psycopg import PsycopgDriver
from pgqueuer.adapters.persistence import qb
from pgqueuer.adapters.persistence.queries import Queries
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.errors import PgqException, RetryRequested
from pgqueuer.domain.models import Job
from pgqueuer.domain.settings import DBSettings
from pgqueuer.domain.types import Channel

from doxa.backends.pauses import pauses
from doxa.backends.queue import Waiting, Work, called
from doxa.core.errors import StoreUnavailableError

__all__ = ["Shared"]

logger = logging.getLogger("doxa")

SCHEMA, CHANNEL, ENTRY = "doxa_queue", "doxa_queue", "process"
DEAD_AFTER = timedelta(seconds=10)
"""Without a heartbeat for so long a process is taken for dead, and its jobs are given to others."""
BATCH = 1
"""Jobs that are claimed at once: who is busy claims none that another could begin."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 10.0
TRIES = 6
"""How often in a row the database may be out of reach before `run` gives up."""


class Shared:
    """The `Queue` in a database: one job a scope, in the order in which they came."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ended = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shutdown: asyncio.Event | None = None
        self._reached = False

    def run(self, work: Work, waiting: Waiting, *, most: int, every_s: float) -> None:
        """Work on what waits. See `Queue`."""
        tries, waits = 0, pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S, growth=4)
        self._reached = False
        with ThreadPoolExecutor(most, thread_name_prefix="doxa-worker") as threads:
            while not self._ended.is_set():
                try:
                    asyncio.run(self._run(work, waiting, threads, most, every_s))
                except (psycopg.Error, PgqException, OSError, StoreUnavailableError) as exc:
                    if self._reached:  # since the last time
                        tries, waits, self._reached = 0, pauses(FIRST_PAUSE_S, LONGEST_PAUSE_S, growth=4), False
                    tries += 1
                    if tries == TRIES:
                        raise StoreUnavailableError(
                            f"The queue cannot be reached ({' '.join(repr(exc).split())}). What waits stays where it "
                            "is. See whether the database server runs, and start the worker again."
                        ) from exc
                    pause = next(waits)
                    logger.warning("the queue is out of reach, tried again in %.1f s: %r", pause, exc)
                    self._ended.wait(pause)

    def stop(self) -> None:
        """End `run`. See `Queue`."""
        self._ended.set()
        if self._loop is not None and self._shutdown is not None:
            with suppress(RuntimeError):  # it has ended already
                self._loop.call_soon_threadsafe(self._shutdown.set)

    async def _run(self, work: Work, waiting: Waiting, threads: ThreadPoolExecutor, most: int, every_s: float) -> None:
        """Claim jobs until the end, or until the connection is lost."""
        loop = asyncio.get_running_loop()
        async with self._queries() as queries:
            manager = QueueManager(queries, Channel(CHANNEL))
            self._loop, self._shutdown = loop, manager.shutdown
            if self._ended.is_set():
                return

            @manager.entrypoint(ENTRY)
            async def process(job: Job) -> None:
                scope = (job.payload or b"").decode()
                again_s = await loop.run_in_executor(threads, called, work, scope)
                if again_s is not None:
                    raise RetryRequested(timedelta(seconds=again_s))

            looking = asyncio.create_task(self._look(queries, waiting, manager.shutdown, every_s))
            try:
                await manager.run(
                    dequeue_timeout=timedelta(seconds=every_s),
                    batch_size=BATCH,
                    max_concurrent_tasks=max(2 * BATCH, most),
                    shutdown_on_listener_failure=True,
                    heartbeat_timeout=DEAD_AFTER,
                )
            finally:
                manager.shutdown.set()
                await looking

    async def _look(self, queries: Any, waiting: Waiting, shutdown: asyncio.Event, every_s: float) -> None:
        """Put what waits on the queue, again and again; a scope that is on it stays there once."""
        while not shutdown.is_set():
            try:
                scopes = await asyncio.to_thread(waiting)
                if scopes:
                    count = len(scopes)
                    payloads = [scope.encode() for scope in scopes]
                    await queries.enqueue(
                        [ENTRY] * count, payloads, [0] * count, dedupe_key=list(scopes), on_conflict="skip"
                    )
                self._reached = True
            except BaseException:
                shutdown.set()
                raise
            with suppress(TimeoutError):
                await asyncio.wait_for(shutdown.wait(), every_s * random.uniform(0.8, 1.0))

    @asynccontextmanager
    async def _queries(self) -> AsyncIterator[Queries]:
        """Give what talks to the queue; its tables are made where there are none."""
        settings = DBSettings(db_schema=SCHEMA, channel=CHANNEL)
        async with await self._connection() as listening, await self._connection() as asking:
            queries = Queries(
                _Driver(listening, asking),
                qb.QueryBuilderEnvironment(settings),
                qb.QueryQueueBuilder(settings),
                qb.QuerySchedulerBuilder(settings),
            )
            await queries.upgrade()  # under a lock; does nothing where all is there
            yield queries

    async def _connection(self) -> psycopg.AsyncConnection:
        return await psycopg.AsyncConnection.connect(self._url, autocommit=True, application_name="doxa-worker")


class _Driver(PsycopgDriver):
    """The driver of pgqueuer with a connection to listen on, so that no query waits until nothing is heard."""

    def __init__(self, listening: psycopg.AsyncConnection, asking: psycopg.AsyncConnection) -> None:
        super().__init__(listening)
        self._asking = PsycopgDriver(asking)

    async def fetch(self, query: str, *args: object) -> list[dict[str, object]]:
        return await self._asking.fetch(query, *args)

    async def execute(self, query: str, *args: object) -> str:
        return await self._asking.execute(query, *args)
