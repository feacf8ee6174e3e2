"""What happens in memories -> server-sent events for everybody who looks at them.

A memory that somebody looks at has one watcher, whoever many look: it asks twice a second for the version, which is one
query, and writes what is new once for all of them. Nobody has a queue of their own: who looks remembers how far they
have read in the last batches, and where those are gone is told to load the page again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

import anyio
import anyio.to_thread

from doxa.core.errors import DoxaError
from doxa.core.views import News, Point
from doxa.transport.inspector.entry import secret_of
from doxa.transport.inspector.rendering import render
from doxa.transport.inspector.visit import Visit

if TYPE_CHECKING:
    from doxa.engine import Live

__all__ = ["Following"]

T = TypeVar("T")
logger = logging.getLogger("doxa.server")
EVERY_S = 0.5
"""How often a memory is looked at: other processes may change it, so that nothing here would tell."""
RECHECK_S = 3.0
"""How often it is asked whether keys still count."""
HEARTBEAT_S = 15.0
RETRY_MS = 2_000
"""After what time a browser comes again."""
MOST_AT_ONCE = 100
"""Events that are written at once; of more, the latest are."""
BATCHES = 16
"""Batches that are kept for those who are slow to read."""
MOST, MOST_OF_A_KEY = 2_000, 200
"""Who may look at the same time: in all, and with one key."""
THREADS = 16
"""That look at memories, at most: those of the server are for its answers."""


@dataclass(eq=False, slots=True)
class _Viewer:
    """Somebody who looks."""

    visit: Visit
    key_id: str
    over: bool = False
    """The key does not count any more."""

    @property
    def address(self) -> str:
        """What the links in events depend on."""
        return self.visit.link("")


@dataclass(slots=True)
class _Feed:
    """A memory that somebody looks at."""

    live: Live
    viewers: dict[_Viewer, None] = field(default_factory=dict)
    point: Point = field(default_factory=Point)
    """What the batches lead to."""
    waiting: tuple[object, ...] = ()
    """How many turns waited then, and the ids of the first."""
    batches: deque[tuple[Point, dict[str, str]]] = field(default_factory=lambda: deque(maxlen=BATCHES))
    """What was new, by the address of who looks, and to which point it leads."""
    told: int = 0
    """How many batches there were."""
    over: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the watcher may have nothing to wait for any more."""
    looking: asyncio.Lock = field(default_factory=asyncio.Lock)
    ready: asyncio.Future[None] | None = None

    def wake(self) -> None:
        """Have everybody look what there is."""
        self.changed.set()
        self.changed = asyncio.Event()

    def end(self) -> None:
        """Have everybody leave."""
        self.over = True
        self.stirred.set()
        self.wake()


class Following:
    """Everybody who looks at a memory of one server as it changes. It is used from one event loop."""

    def __init__(self) -> None:
        self._feeds: dict[tuple[str, str], _Feed] = {}
        self._watchers: set[asyncio.Task[None]] = set()
        self._threads: anyio.CapacityLimiter | None = None
        self._stopped = False

    @property
    def viewers(self) -> int:
        """How many look."""
        return sum(len(feed.viewers) for feed in self._feeds.values())

    def is_full(self, key_id: str) -> bool:
        """Tell whether nobody else may look, or nobody else with this key. O(viewers)."""
        of_key = sum(one.key_id == key_id for feed in self._feeds.values() for one in feed.viewers)
        return self._stopped or self.viewers >= MOST or of_key >= MOST_OF_A_KEY

    def stop(self) -> None:
        """Have everybody leave, since the server is to stop."""
        self._stopped = True
        for feed in self._feeds.values():
            feed.end()

    async def events(self, visit: Visit, after: Point | None) -> AsyncIterator[str]:
        """Give what happens as server-sent events, until whoever looks leaves, their key is revoked, or `stop`.

        Args:
            visit: who looks; they may.
            after: what they have seen; None for what there is.
        """
        scope = visit.room.scope
        feed = self._feed((scope.tenant, scope.user), visit)
        viewer = _Viewer(visit, scope.key_id)
        feed.viewers[viewer] = None
        try:
            await self._begun((scope.tenant, scope.user), feed)
            yield f"retry: {RETRY_MS}\n\n"
            async for frames in self._told(feed, viewer, after):
                yield frames
        finally:
            del feed.viewers[viewer]
            if not feed.viewers:
                feed.stirred.set()

    def _feed(self, key: tuple[str, str], visit: Visit) -> _Feed:
        feed = self._feeds.get(key)
        if feed is None or feed.over:
            feed = self._feeds[key] = _Feed(visit.room.live())
        return feed

    async def _begun(self, key: tuple[str, str], feed: _Feed) -> None:
        """Have a memory watched, and wait until it is known where its events begin."""
        if feed.ready is None:
            feed.ready = asyncio.get_running_loop().create_future()
            watcher = asyncio.create_task(self._watch(key, feed))
            self._watchers.add(watcher)
            watcher.add_done_callback(self._watchers.discard)
        await asyncio.shield(feed.ready)

    async def _told(self, feed: _Feed, viewer: _Viewer, after: Point | None) -> AsyncIterator[str]:
        if after is not None and not after.within(feed.point):  # the page was made after the last look
            await self._look(feed)
        told, seen = feed.told, feed.point
        yield await self._written(feed, viewer, seen if after is None else after, seen)
        while not feed.over:
            if viewer.over:
                yield _event("over", "This key no longer counts.")
                return
            if told == feed.told:
                changed = feed.changed
                try:
                    await asyncio.wait_for(changed.wait(), HEARTBEAT_S)
                except TimeoutError:
                    yield ": still here\n\n"
                continue
            missed = feed.told - told
            if missed > len(feed.batches):
                told, seen = feed.told, feed.point
                yield _event("reload", "", seen)
                continue
            end, frames = feed.batches[-missed]
            found = frames.get(viewer.address)
            yield await self._written(feed, viewer, seen, end) if found is None else found
            told, seen = told + 1, end

    async def _written(self, feed: _Feed, viewer: _Viewer, then: Point, until: Point) -> str:
        """Return what happened between two points, written for one who looks."""
        return await self._in_thread(
            lambda: frames_of(feed.live.since(then, until=until, limit=MOST_AT_ONCE), viewer.visit)
        )

    async def _watch(self, key: tuple[str, str], feed: _Feed) -> None:
        """Look at a memory until nobody looks any more. What stops that ends the streams, and browsers come again."""
        assert feed.ready is not None
        try:
            version = await self._in_thread(feed.live.version)
            feed.point = await self._in_thread(feed.live.point)
            feed.ready.set_result(None)
            checked = monotonic()
            while feed.viewers and not feed.over:
                await _rest(feed)
                if monotonic() - checked >= RECHECK_S:
                    await self._recheck(feed)
                    checked = monotonic()
                latest = await self._in_thread(feed.live.version)
                if latest != version:
                    version = latest
                    await self._look(feed)
        except DoxaError as error:
            logger.warning("a memory can no longer be followed: %s", error)
        except Exception:
            logger.exception("a memory can no longer be followed")
        finally:
            feed.end()
            if not feed.ready.done():
                feed.ready.set_result(None)
            if self._feeds.get(key) is feed:
                del self._feeds[key]

    async def _look(self, feed: _Feed) -> None:
        """Write what is new, once for everybody whose links are the same."""

        def written() -> tuple[News, dict[str, str]]:
            news = feed.live.since(feed.point, limit=MOST_AT_ONCE)
            return news, {address: frames_of(news, visit) for address, visit in visits.items()}

        async with feed.looking:
            visits = {viewer.address: viewer.visit for viewer in feed.viewers}
            news, frames = await self._in_thread(written)
            waiting = (news.waits, *(turn.turn_id for turn in news.waiting))
            if news.happenings or news.lost or waiting != feed.waiting:
                feed.batches.append((news.point, frames))
                feed.told += 1
            feed.point, feed.waiting = news.point, waiting
            feed.wake()

    async def _recheck(self, feed: _Feed) -> None:
        """Send those away whose key was revoked."""
        by_key = {viewer.key_id: viewer for viewer in feed.viewers}
        for key_id, one in by_key.items():
            desk, request = one.visit.desk, one.visit.request
            if await self._in_thread(partial(desk.counts, request, secret=secret_of(request))):
                continue
            for viewer in feed.viewers:
                viewer.over |= viewer.key_id == key_id
            feed.wake()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(THREADS)
        return await anyio.to_thread.run_sync(work, limiter=self._threads)


async def _rest(feed: _Feed) -> None:
    with anyio.move_on_after(EVERY_S):
        await feed.stirred.wait()
    feed.stirred.clear()


def frames_of(news: News, visit: Visit) -> str:
    """Return news as server-sent events; what waits to be understood is told each time."""
    told = [_event("reload", "", news.point)] if news.lost else []
    if news.left_out:
        told.append(_event("skipped", str(news.left_out)))
    told += [_event(one.kind, render("_happening.html", visit=visit, one=one), one.point) for one in news.happenings]
    told.append(_event("waiting", render("_waiting.html", visit=visit, news=news)))
    return "".join(told)


def _event(name: str, data: str, point: Point | None = None) -> str:
    """Return one event; with a point it is where a browser that lost the connection goes on."""
    lines = "".join(f"data: {line}\n" for line in data.replace("\r", " ").split("\n"))
    return f"event: {name}\n{lines}" + (f"id: {point}\n\n" if point is not None else "\n")
