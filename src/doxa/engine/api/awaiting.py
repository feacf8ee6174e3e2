"""What blocks -> what is awaited: the methods of asynchronous twins of what users hold, and one call in a thread."""

from __future__ import annotations

from asyncio import CancelledError, ensure_future, to_thread, wait
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

__all__ = ["awaited", "finished"]

P = ParamSpec("P")
R = TypeVar("R")


def awaited(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """Return a method that runs another one of its `_twin` in a thread, so that the event loop goes on."""

    @wraps(method)
    async def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await to_thread(method, self._twin, *args, **kwargs)

    return run


async def finished(act: Callable[[], R]) -> R:
    """Return what a call in a thread gives back; who is cancelled waits for its end, since nothing can stop it.

    Raises:
        CancelledError: somebody cancelled it meanwhile; whatever the call did is done.
    """
    running = ensure_future(to_thread(act))
    cancelled: CancelledError | None = None
    while not running.done():
        try:
            await wait({running})
        except CancelledError as exc:
            cancelled = exc
    if cancelled is not None:
        running.exception()  # seen, so that nobody is warned of it
        raise cancelled
    return running.result()
