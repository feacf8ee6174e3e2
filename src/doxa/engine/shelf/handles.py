"""The ids that clients hold: each says whose memory it is in, so that a path needs no user beside it."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from typing import Literal, get_args

from doxa.core.errors import NotFoundError

__all__ = ["Handle"]

Kind = Literal["fact", "turn", "event"]


@dataclass(frozen=True, slots=True)
class Handle:
    """What an id stands for. It is no secret."""

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
            NotFoundError: it is no such id.
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
