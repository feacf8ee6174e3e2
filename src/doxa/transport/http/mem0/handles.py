"""The ids that clients hold: each says whose memory it is in, so that a path needs no user beside it."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from typing import Literal, get_args

from starlette.requests import Request

from doxa.core.errors import NotFoundError
from doxa.transport.http.access import Room
from doxa.transport.http.state import served

__all__ = ["Handle", "opened"]

Kind = Literal["fact", "turn", "event"]


@dataclass(frozen=True, slots=True)
class Handle:
    """What an id stands for. It is no secret and opens nothing: the key that comes with it must open its user."""

    user: str
    kind: Kind
    key: str

    def __str__(self) -> str:
        packed = json.dumps([self.user, self.kind, self.key], ensure_ascii=False, separators=(",", ":"))
        return urlsafe_b64encode(packed.encode()).decode().rstrip("=")

    @classmethod
    def read(cls, text: str) -> Handle:
        """Return what an id stands for.

        Raises:
            NotFoundError: it is no id that this server gave out.
        """
        try:
            found = json.loads(urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
        except (NotBase64, ValueError, RecursionError):
            found = None
        if isinstance(found, list) and len(found) == 3 and all(isinstance(part, str) for part in found):
            user, kind, key = found
            if user and kind in get_args(Kind):
                return cls(user, kind, key)
        raise NotFoundError(f"There is no memory {text[:80]!r}. get_all(filters={{'user_id': ...}}) lists them.")


def opened(request: Request, text: str) -> tuple[Room, Handle]:
    """Return the room of the user that an id names, and what it stands for there.

    Raises:
        NotFoundError: it is no id, or one of another user than the request names.
        RefusedError: the key does not open the memory of this user.
    """
    gate = served(request).gate
    try:
        handle = Handle.read(text)
    except NotFoundError:
        gate.key(request)  # a stranger is told that the key is wrong, whatever the id
        raise
    room = gate.room(request, handle.user)
    if room.scope.user != handle.user:
        raise NotFoundError(f"User {room.scope.user!r} has no memory {text[:80]!r}.")
    return room, handle
