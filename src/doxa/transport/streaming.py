"""A blocking call that tells of itself -> server-sent events."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.to_thread
from starlette.responses import StreamingResponse

from doxa.core.errors import DoxaError
from doxa.core.trace import Step, watched
from doxa.transport.plain import plain
from doxa.transport.trouble import Trouble

__all__ = ["EVENTS", "HEARTBEAT_S", "UNBUFFERED", "Trouble", "streamed"]

logger = logging.getLogger("doxa.server")
EVENTS = "text/event-stream"
HEARTBEAT_S = 10.0
"""Seconds of silence after which a comment is sent, so that nothing on the way takes the connection for dead."""
UNBUFFERED = {"X-Accel-Buffering": "no"}
"""Some proxies would hold the events back until there are enough of them."""
Event = tuple[str, Any] | None
"""Its name and what it says; None is the end."""


AsTrouble = Callable[[DoxaError], Trouble]


async def streamed(
    work: Callable[[], dict[str, Any]],
    after: Callable[[], dict[str, Any]],
    *,
    problem: AsTrouble,
    heartbeat_s: float = HEARTBEAT_S,
) -> StreamingResponse:
    """Return a response that tells the steps of a call as they end (`step`), what it returns (`reply`), and `done`.

    A call that fails before its first step ended raises here, so that the response has the status of the error; later
    it is told as an event `error`. Where the client hangs up the call goes on to its end, which the response waits for:
    what was said is remembered with its reply.

    Args:
        work: the call; it runs in a thread.
        after: what is done once the reply was told; `done` tells what it returns.
        problem: what an error of ours is to whoever called.
        heartbeat_s: seconds of silence after which a comment is sent.

    Raises:
        DoxaError: the call failed at once.
    """
    loop, events = asyncio.get_running_loop(), asyncio.Queue[Event | BaseException]()

    def tell(event: Event | BaseException) -> None:
        loop.call_soon_threadsafe(events.put_nowait, event)

    def step_ended(step: Step) -> None:
        tell(("step", plain(step)))

    def run() -> None:
        try:
            with watched(step_ended):
                tell(("reply", work()))
            tell(("done", after()))
        except Exception as error:  # noqa: BLE001  it is raised or told where the response is made
            tell(error)
        tell(None)

    running = asyncio.ensure_future(anyio.to_thread.run_sync(run))
    first = await events.get()
    if isinstance(first, BaseException):
        await running
        raise first
    return StreamingResponse(
        _frames(first, events, running, problem, heartbeat_s), media_type=EVENTS, headers=UNBUFFERED
    )


async def _frames(
    first: Event,
    events: asyncio.Queue[Event | BaseException],
    running: asyncio.Future[None],
    problem: AsTrouble,
    heartbeat_s: float,
) -> AsyncIterator[str]:
    event: Event | BaseException = first
    try:
        while event is not None:
            if isinstance(event, BaseException):
                event = ("error", _told(event, problem))
            yield f"event: {event[0]}\ndata: {json.dumps(event[1], ensure_ascii=False)}\n\n"
            while True:
                try:
                    event = await asyncio.wait_for(events.get(), heartbeat_s)
                    break
                except TimeoutError:
                    yield ": still at work\n\n"
    finally:
        with anyio.CancelScope(shield=True):
            await running


def _told(error: BaseException, problem: AsTrouble) -> dict[str, Any]:
    """Return what is said of an error once the status can no longer say it."""
    if isinstance(error, DoxaError):
        found = problem(error)
        return {"type": f"urn:doxa:{found.kind}", "status": found.status, "detail": found.detail}
    logger.error("unexpected error", exc_info=error)
    detail = f"Something went wrong here that is no fault of the request ({type(error).__name__}); the log tells more."
    return {"type": "urn:doxa:unexpected", "status": 500, "detail": detail}
