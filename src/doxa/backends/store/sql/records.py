"""The table of records that programs keep beside a memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from doxa.backends.store.digests import is_whole, with_digest
from doxa.backends.store.failures import damaged
from doxa.backends.store.schema import records
from doxa.backends.store.sql.database import Database, sent_again
from doxa.backends.store.sql.rows import chunks, require_room

RECORDS = sa.select(records.c.key, records.c.body, records.c.turn_id, records.c.digest)
HIGHEST = chr(0x10FFFF)
"""Above what any key goes on with."""


class Records(Database):
    """Records by scope, shelf and key."""

    @sent_again()
    def keep_records(
        self,
        scope: str,
        shelf: str,
        bodies: Mapping[str, bytes | None],
        *,
        expected: Mapping[str, bytes | None] | None = None,
        said_by: Mapping[str, str] | None = None,
    ) -> bool:
        """Write and remove records. See `Store`."""
        self._require_sound(records)
        said = said_by or {}
        rows = [
            with_digest(records, {"scope": scope, "shelf": shelf, "key": key, "body": body, "turn_id": said.get(key)})
            for key, body in bodies.items()
            if body is not None
        ]
        with self._write() as connection:
            require_room(connection, scope)
            if expected and not self._are(connection, scope, shelf, expected):
                return False
            for some in chunks([key for key, body in bodies.items() if body is None]):
                connection.execute(sa.delete(records).where(*self._on(scope, shelf), records.c.key.in_(some)))
            if rows:
                insert = self._insert_into(records)
                keys = ["scope", "shelf", "key"]
                new = {name: insert.excluded[name] for name in ("body", "turn_id", "digest")}
                connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=new), rows)
        return True

    @sent_again(twice=True)
    def records(
        self, scope: str, shelf: str, *, keys: Sequence[str] | None = None, prefix: str = ""
    ) -> dict[str, bytes]:
        """Return records. See `Store`."""
        self._require_sound(records)
        query = RECORDS.where(*self._on(scope, shelf, prefix))
        with self._read() as connection:
            if keys is None:
                found = list(connection.execute(query))
            else:
                parts = (connection.execute(query.where(records.c.key.in_(some))) for some in chunks(list(keys)))
                found = [row for part in parts for row in part]
        return dict(sorted(self._whole(scope, shelf, row) for row in found))

    @sent_again(twice=True)
    def last_record(self, scope: str, shelf: str, *, prefix: str) -> tuple[str, bytes] | None:
        """Return the last record. See `Store`."""
        self._require_sound(records)
        query = RECORDS.where(*self._on(scope, shelf, prefix))
        with self._read() as connection:
            found = connection.execute(query.order_by(records.c.key.desc()).limit(1)).first()
        return None if found is None else self._whole(scope, shelf, found)

    @sent_again(twice=True)
    def count_records(self, scope: str, turn_ids: Collection[str] | None = None) -> int:
        """Count records. See `Store`."""
        query = sa.select(sa.func.count()).select_from(records).where(records.c.scope == scope)
        said = [query] if turn_ids is None else (query.where(records.c.turn_id.in_(p)) for p in chunks([*turn_ids]))
        with self._read() as connection:
            return sum(connection.execute(one).scalar_one() for one in said)

    def erase_records(self, scope: str, shelf: str, *, prefix: str = "") -> int:
        """Remove records, then wipe what was freed. See `Store`."""
        gone = self._removed(scope, shelf, prefix)
        if gone:
            self.wipe(scope)
        return gone

    @sent_again()
    def _removed(self, scope: str, shelf: str, prefix: str) -> int:
        with self._write() as connection:
            self._note_erasing(connection)
            gone: int = connection.execute(sa.delete(records).where(*self._on(scope, shelf, prefix))).rowcount
        return gone

    def _whole(self, scope: str, shelf: str, found: Sequence[Any]) -> tuple[str, bytes]:
        """Return the key and the body of a record.

        Raises:
            StoreDamagedError: it is not what was written.
        """
        key, body, turn_id, digest = found
        if not is_whole((scope, shelf, key, body, turn_id), digest) or not isinstance(body, bytes):
            raise damaged(self._where, f"the record {key} on the shelf {shelf} of {scope}")
        return key, body

    def _on(self, scope: str, shelf: str, prefix: str = "") -> list[sa.ColumnElement[bool]]:
        """Return what picks records of a shelf; the range is for the index."""
        key = records.c.key
        found = [records.c.scope == scope, records.c.shelf == shelf]
        if prefix:
            found += [sa.func.substr(key, 1, len(prefix)) == prefix, key >= prefix, key < prefix + HIGHEST]
        return found

    def _are(self, connection: sa.Connection, scope: str, shelf: str, expected: Mapping[str, bytes | None]) -> bool:
        """Tell whether records are as expected, until the transaction ends for all who ask so of this shelf."""
        if not self._sqlite:  # there a transaction that writes is the only one
            place = int.from_bytes(sha256(f"{scope}\0{shelf}".encode()).digest()[:8], signed=True)
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(place)))
        query = sa.select(records.c.key, records.c.body).where(*self._on(scope, shelf))
        parts = (connection.execute(query.where(records.c.key.in_(some))) for some in chunks(list(expected)))
        found: dict[str, bytes] = {key: body for part in parts for key, body in part}
        return all(found.get(key) == body for key, body in expected.items())
