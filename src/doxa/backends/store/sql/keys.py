"""The table of API keys, which belongs to no user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from doxa.backends.store.schema import keys
from doxa.backends.store.sql.database import Database, sent_again

BODY_OF_KEY = sa.select(keys.c.body).where(keys.c.key_id == sa.bindparam("key_id"))


class Keys(Database):
    """Who may use the database through a server."""

    @sent_again(twice=True)
    def keep_key(self, key_id: str, body: Mapping[str, Any]) -> None:
        """Write an API key's record. See `Store`."""
        with self._write() as connection:
            connection.execute(sa.delete(keys).where(keys.c.key_id == key_id))
            connection.execute(sa.insert(keys).values(key_id=key_id, body=json.dumps(body, ensure_ascii=False)))

    @sent_again(twice=True)
    def keys(self, key_id: str | None = None) -> dict[str, Mapping[str, Any]]:
        """Return the records of API keys. See `Store`."""
        if key_id is not None:
            found = next(self._asked(BODY_OF_KEY, key_id=key_id), None)
            return {} if found is None else {key_id: json.loads(found[0])}
        with self._read() as connection:
            rows = connection.execute(sa.select(keys.c.key_id, keys.c.body).order_by(keys.c.key_id))
            return {name: json.loads(body) for name, body in rows}
