"""Whose memory a tool works on: the room of the request that called it, and no other.

A tool has no argument that names a user. Whoever serves says which room a request is in (over HTTP its key, over stdio
the start command), and tools find that one with `here`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from doxa.transport.room import Room

__all__ = ["entered", "here", "inside"]

_ROOM: ContextVar[Room | None] = ContextVar("room", default=None)


@contextmanager
def entered(room: Room | None) -> Iterator[None]:
    """Have what runs inside, and the threads that it starts, find this room."""
    token = _ROOM.set(room)
    try:
        yield
    finally:
        _ROOM.reset(token)


def here() -> Room:
    """Return the room of the request that is being answered.

    Raises:
        RuntimeError: nothing is being answered, so nobody's memory may be touched.
    """
    room = _ROOM.get()
    if room is None:
        raise RuntimeError("No request is being answered here, so there is no memory to work on.")
    return room


def inside() -> tuple[str, str]:
    """Return tenant and user of the request that is being answered."""
    scope = here().scope
    return scope.tenant, scope.user
