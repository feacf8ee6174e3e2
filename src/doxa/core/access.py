"""Who may touch whose memory, and how.

A `Key` is what the owner of a database hands out; a `Scope` is what one request may touch by it, and the only way in
for code that serves others.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Literal, get_args

__all__ = ["ANYONE", "RIGHTS", "Key", "Right", "Scope", "pseudonym", "without_password"]

Right = Literal["read", "write", "erase", "admin"]
"""`read` what is remembered; `write` turns, corrections and tasks; `erase` for good; `admin`: the server itself."""
RIGHTS: tuple[Right, ...] = get_args(Right)
ANYONE = "*"
"""As the user of a key: every user of its tenant."""
PSEUDONYM = 12
"""Hexadecimal digits of a pseudonym."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An API key as it is kept: its secret is known to whoever holds it, and to nobody else."""

    key_id: str
    tenant: str
    users: frozenset[str]
    """Whose memories it opens; `*` opens those of everybody of the tenant."""
    rights: frozenset[Right]
    label: str = ""
    created_at: datetime
    revoked_at: datetime | None = None
    hashed: str = field(repr=False)
    """How the secret is recognised: `sha256:` and the digest."""

    @property
    def only_user(self) -> str | None:
        """The user whom a request with this key means when it names none; None where there may be several."""
        return next(iter(self.users)) if len(self.users) == 1 and ANYONE not in self.users else None

    def opens(self, user: str) -> bool:
        """Tell whether it opens the memory of a user of its tenant."""
        return ANYONE in self.users or user in self.users


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one request may touch: one user of one tenant, with some rights."""

    tenant: str
    user: str
    rights: Collection[Right]
    key_id: str


def pseudonym(scope: str) -> str:
    """Return what the log calls the owner of a memory (`tenant/user`): those who know the name find it, others do not.

    The beginning of the SHA-256 digest, as `printf %s default/ana | sha256sum` gives it.
    """
    return sha256(scope.encode()).hexdigest()[:PSEUDONYM]


def without_password(url: str) -> str:
    """Return an address of a database as it may be shown; a path is shown as it is."""
    url = re.sub(r"([?&]\w*password=)[^&]*", r"\1****", url)
    head, at, tail = url.rpartition("@")
    scheme, found, rest = head.partition("://")
    user, colon, _ = rest.partition(":")
    return f"{scheme}://{user}{colon}{'****' if colon else ''}@{tail}" if at and found else url
