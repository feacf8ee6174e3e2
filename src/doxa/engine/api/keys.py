"""API keys: made, recognised and revoked. The database keeps a hash of each; the secret is shown once."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from doxa.core.access import ANYONE, RIGHTS, Key, Right
from doxa.core.errors import InputError, NotFoundError
from doxa.engine.api.doxa import Doxa
from doxa.engine.intake import clean

__all__ = ["Keys"]

SECRET_BYTES = 32
"""With so many random bytes a fast hash is as good as a slow one: nobody guesses 2 ** 256 secrets."""
SHAPE = re.compile(r"doxa_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


class Keys:
    """The API keys of one database, of every tenant. Safe between threads and processes.

    Args:
        doxa: an engine on the database.
    """

    def __init__(self, doxa: Doxa) -> None:
        self._doxa = doxa

    def add(
        self,
        *,
        tenant: str | None = None,
        users: Collection[str] = (ANYONE,),
        rights: Collection[Right] = ("read", "write"),
        label: str = "",
    ) -> tuple[Key, str]:
        """Make a key, and return it with its secret, which cannot be had again.

        Args:
            tenant: whose users it opens; by default that of the settings.
            users: whose memories it opens; `*` for those of all users of the tenant.
            rights: any of read, write, erase, admin.
            label: what it is for, in the list.

        Raises:
            InputError: a user, the tenant or a right is none.
        """
        if isinstance(users, str) or not users or not all(str(one).strip() for one in users):
            raise InputError(f"keys: users: expected one or more names, or {ANYONE!r} for all, got {users!r}.")
        if isinstance(rights, str) or not rights or not set(rights) <= set(RIGHTS):
            raise InputError(f"keys: rights: expected some of {', '.join(RIGHTS)}; got {rights!r}.")
        whose = self._doxa if tenant is None else self._doxa.tenant(tenant)
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(SECRET_BYTES)
        key = Key(
            key_id=key_id,
            tenant=whose.parts.config.tenant,
            users=frozenset(users),
            rights=frozenset(rights),
            label=clean(label).strip(),
            created_at=datetime.now(UTC),
            hashed=_hashed(secret),
        )
        self._keep(key)
        return key, f"doxa_{key_id}_{secret}"

    def list(self) -> list[Key]:
        """Return every key, the revoked ones too, oldest first."""
        found = self._doxa.parts.log.store.keys()
        return sorted((_key(key_id, body) for key_id, body in found.items()), key=lambda key: key.created_at)

    def revoke(self, key_id: str) -> Key:
        """Make a key worthless at once, in every process; revoking twice is harmless.

        Raises:
            NotFoundError: there is no such key.
        """
        key = self._find(key_id)
        if key is None:
            raise NotFoundError(f"There is no API key {key_id!r}. `doxa keys list` shows them all.")
        if key.revoked_at is None:
            key = replace(key, revoked_at=datetime.now(UTC))
            self._keep(key)
        return key

    def recognise(self, presented: str) -> Key | None:
        """Return the key whose secret somebody presents; None for one that is unknown, wrong or revoked.

        Cost: one query by primary key and one SHA-256.
        """
        shape = SHAPE.fullmatch(presented)
        key = self._find(shape[1]) if shape else None
        if shape is None or key is None or not hmac.compare_digest(key.hashed, _hashed(shape[2])):
            return None
        return None if key.revoked_at else key

    def _find(self, key_id: str) -> Key | None:
        body = self._doxa.parts.log.store.keys(key_id).get(key_id)
        return None if body is None else _key(key_id, body)

    def _keep(self, key: Key) -> None:
        body = {
            "tenant": key.tenant,
            "users": sorted(key.users),
            "rights": [right for right in RIGHTS if right in key.rights],
            "label": key.label,
            "created_at": key.created_at.isoformat(),
            "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
            "hashed": key.hashed,
        }
        self._doxa.parts.log.store.keep_key(key.key_id, body)


def _hashed(secret: str) -> str:
    return f"sha256:{sha256(secret.encode()).hexdigest()}"


def _key(key_id: str, body: Mapping[str, Any]) -> Key:
    revoked = body["revoked_at"]
    return Key(
        key_id=key_id,
        tenant=body["tenant"],
        users=frozenset(body["users"]),
        rights=frozenset(body["rights"]),
        label=body["label"],
        created_at=datetime.fromisoformat(body["created_at"]),
        revoked_at=datetime.fromisoformat(revoked) if revoked else None,
        hashed=body["hashed"],
    )
