"""The table of API keys, which belongs to no user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import sqlalchemy as sa

from doxa.backends.store.digests import with_digest
from doxa.backends.store.schema import keys
from doxa.backends.store.sql.database import Database, sent_again
from doxa.backends.store.sql.rows import body_of
from doxa.core.errors import StoreDamagedError

KEYS = sa.select(keys.c.key_id, keys.c.body, keys.c.digest)
KEY = KEYS.where(keys.c.key_id == sa.bindparam("key_id"))


class Keys(Database):
    """Who may use the database through a server."""

    @sent_again(twice=True)
    def keep_key(self, key_id: str, body: Mapping[str, Any]) -> None:
        """Write an API key's record. See `Store`."""
        with self._write() as connection:
            connection.execute(sa.delete(keys).where(keys.c.key_id == key_id))
            values = {"key_id": key_id, "body": json.dumps(body, ensure_ascii=False)}
            connection.execute(sa.insert(keys).values(with_digest(keys, values)))

    @sent_again(twice=True)
    def forget_keys(self, tenant: str, user: str) -> None:
        """Remove what tells of a user beside what a key opens. See `Store`."""
        with self._write() as connection:
            self._note_erasing(connection)
            for key_id, text, digest in connection.execute(KEYS.with_for_update()).all():
                with suppress(StoreDamagedError):
                    body = body_of(text, digest, (key_id, text), self._where, f"the record of the API key {key_id}")
                    this = keys.c.key_id == key_id
                    if body["tenant"] != tenant or body["users"] != [user]:
                        continue
                    if body["revoked_at"]:
                        connection.execute(sa.delete(keys).where(this))
                    elif body["label"]:
                        values = {"key_id": key_id, "body": json.dumps({**body, "label": ""}, ensure_ascii=False)}
                        connection.execute(sa.update(keys).where(this).values(with_digest(keys, values)))

    @sent_again(twice=True)
    def keys(self, key_id: str | None = None) -> dict[str, Mapping[str, Any]]:
        """Return the records of API keys. See `Store`."""
        self._require_sound(keys)
        if key_id is not None:
            rows = list(self._asked(KEY, key_id=key_id))
        else:
            with self._read() as connection:
                rows = list(connection.execute(KEYS.order_by(keys.c.key_id)))
        what = "the record of the API key"
        return {name: body_of(body, digest, (name, body), self._where, f"{what} {name}") for name, body, digest in rows}
