"""Bytes that a program keeps beside a memory: written, read back, erased with it, and never understood."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256

from doxa.core.errors import InputError, NotFoundError
from doxa.engine.api.doxa import Doxa
from doxa.engine.api.memory import Memory
from doxa.engine.intake import clean

__all__ = ["Records", "forget_turns", "short"]

LONGEST_KEY, LONGEST_SHELF = 400, 64
BETWEEN, INSIDE = b"\0", b"\xff"
"""What stands between the names of a key, and for the same byte in a name: no text has it in UTF-8."""


class Records:
    """Records of one user on one shelf, by key. Safe between threads and processes; the last writer of a key wins.

    Args:
        doxa: an engine on the database.
        user: with whose memory they are erased.
        shelf: a name of the program's own, so that two programs never meet.

    Raises:
        InputError: the name of the shelf is empty or longer than 64 characters; everywhere, a name or a key has NUL or
            half a surrogate pair in it, which not every database can store.
    """

    def __init__(self, doxa: Doxa, *, user: str, shelf: str) -> None:
        if not 0 < len(shelf) <= LONGEST_SHELF:
            raise InputError(f"records: shelf: expected 1 to {LONGEST_SHELF} characters, got {shelf!r}.")
        _require_storable(shelf)
        self._store, self._shelf = doxa.parts.log.store, shelf
        self._scope = doxa.parts.log.scope(user)

    def put(
        self,
        bodies: Mapping[str, bytes | None],
        *,
        expected: Mapping[str, bytes | None] | None = None,
        said_by: Mapping[str, str] | None = None,
    ) -> bool:
        """Write records by key, all or none, durable on return; None removes the one of a key.

        Args:
            bodies: the records.
            expected: records that have to be as here, None for those that there must not be; of several writers who
                expect the same one is let through.
            said_by: by key the id of the turn that says the same; with the turn the record is erased, whoever forgets
                it.

        Returns:
            Whether they were written; False where something is not as expected.

        Raises:
            InputError: a key is empty or longer than 400 characters.
        """
        for key in bodies:
            if not 0 < len(key) <= LONGEST_KEY:
                raise InputError(f"records: key: expected 1 to {LONGEST_KEY} characters, got {len(key)}: {key[:80]!r}.")
        _require_storable(*bodies, *(expected or ()), *(said_by or {}).values())
        return not bodies or self._store.keep_records(
            self._scope, self._shelf, bodies, expected=expected, said_by=said_by
        )

    def get(self, *keys: str) -> dict[str, bytes]:
        """Return the records of some keys that are there, in the order of the keys' code points."""
        _require_storable(*keys)
        return self._store.records(self._scope, self._shelf, keys=keys) if keys else {}

    def all(self, prefix: str = "") -> dict[str, bytes]:
        """Return the records whose keys begin alike, in the order of the keys' code points. O(records)."""
        _require_storable(prefix)
        return self._store.records(self._scope, self._shelf, prefix=prefix)

    def last(self, prefix: str) -> tuple[str, bytes] | None:
        """Return the highest of the keys that begin alike with its record; None where there is none."""
        _require_storable(prefix)
        return self._store.last_record(self._scope, self._shelf, prefix=prefix)

    def erase(self, prefix: str = "") -> int:
        """Remove the records whose keys begin alike, with every byte of them; return how many there were.

        Raises:
            StoreLockedError: they are gone, and bytes of them stay until nobody else reads the file.
        """
        _require_storable(prefix)
        return self._store.erase_records(self._scope, self._shelf, prefix=prefix)


def _require_storable(*names: str) -> None:
    for name in names:
        if "\0" in name or name != clean(name):
            raise InputError(
                "records: expected names without NUL and without half surrogate pairs, which not every database can "
                f"store; got {name[:80]!r}. A key of any name is made by `short`."
            )


def short(*names: str) -> str:
    """Return 24 digits for one or more names of any length, to build a key of: other names give others.

    They stay what they are from release to release, since what is stored is found by them.
    """
    parts = (name.encode(errors="surrogatepass").replace(BETWEEN, INSIDE) for name in names)
    return sha256(BETWEEN.join(parts)).hexdigest()[:24]


def forget_turns(memory: Memory, turn_ids: Iterable[str]) -> None:
    """Erase turns that what a program kept was said by; those that are gone already are left out.

    Raises:
        StoreLockedError: all are gone, and bytes of some stay until nobody else reads the file.
    """
    if gone := [*turn_ids]:
        with suppress(NotFoundError):
            memory.forget(turn_id=gone)
