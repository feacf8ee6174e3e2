"""store: rows of a user's event log -> durable rows.

One append-only log per scope (tenant/user). A row is a received turn or a change of state; its `ordinal`
is its place in that log. Two writers are kept apart by optimistic version: a change of state names the last
change that it has seen, and is refused with `StoreConflictError` when there is a newer one. What is made of a
turn is written under a lease as well, and refused once somebody else has held it (`StaleLeaseError`). Turns are
received without any such check, so receiving never waits for thinking.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Protocol

__all__ = ["Change", "Failure", "Head", "NewRow", "Received", "Row", "Store", "Vector", "owner_name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """A row to append: `about` the turn at that ordinal, if any, and under the lease with the token `fence`, if any."""

    kind: str
    known_at: datetime
    body: Mapping[str, Any]
    about: int | None = None
    fence: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(NewRow):
    """A row as it is stored."""

    ordinal: int
    turn_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """The encoding of the turn at `ordinal`: `data` is `dims` little-endian float16 numbers."""

    ordinal: int
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What became of a turn: its row, and whether that row was there before."""

    row: Row
    duplicate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a scope's log stands: last row, last change of state, last turn, last turn that was processed.

    `fence` is the token of who held its lease last.
    """

    ordinal: int = 0
    state: int = 0
    received: int = 0
    maintained: int = 0
    fence: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A log was moved, by whomever: its last row is at `ordinal` now; 0 where it was erased."""

    scope: str
    ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The turns of a scope could not be processed: how often in a row, when the last time, and why."""

    scope: str
    times: int
    at: datetime
    reason: str


class Store(Protocol):
    """A database of event logs. All methods are atomic, safe between threads and between processes.

    Every method may raise `StoreError` (locked, read-only, full, damaged), and one that begins a scope `InputError`
    where its name is too long for the database.
    """

    def receive(
        self, scope: str, row: NewRow, *, turn_id: str | None, unless_erased_after: int | None = None
    ) -> Received:
        """Append a turn, durable on return; a known `turn_id` gives back the stored row instead.

        Raises:
            StoreConflictError: something was erased after the row at ordinal `unless_erased_after`.
        """
        ...

    def receive_many(self, scope: str, turns: Mapping[str, NewRow]) -> dict[str, Received]:
        """Append turns by their ids, all or none, durable on return; known ones give back the stored rows instead."""
        ...

    def append(self, scope: str, row: NewRow, *, expected_state: int, vector: tuple[str, bytes] | None = None) -> Row:
        """Append a change of state with the vector `(model, data)` of its turn.

        Raises:
            StaleLeaseError: the row has a `fence`, and somebody else has held the lease since.
            StoreConflictError: the last change of state is not `expected_state`.
        """
        ...

    def restore(self, scope: str, rows: Sequence[Row]) -> None:
        """Write a whole log, all of it or nothing; ordinals are moved where an erased log had them.

        Raises:
            StoreConflictError: the scope has rows already.
        """
        ...

    def read(self, scope: str, *, after: int = 0) -> list[Row]:
        """Return the rows after ordinal `after`, in order."""
        ...

    def stands(self, scope: str, ordinal: int) -> bool:
        """Tell whether the log has a row of this ordinal still, and nothing was erased since. No row is read."""
        ...

    def vectors(self, scope: str, *, model: str, after: int = 0) -> list[Vector]:
        """Return the vectors of `model` for turns after ordinal `after`, in order."""
        ...

    def put_vectors(self, scope: str, *, model: str, vectors: Sequence[Vector]) -> None:
        """Write vectors of turns that are stored (after a change of model); those of erased turns are left out."""
        ...

    def head(self, scope: str) -> Head:
        """Return where the log of a scope stands; all zero for an unknown one."""
        ...

    def pending(self, *, free: bool = False) -> list[str]:
        """Return the scopes with turns that were received and not yet processed; with `free`, those nobody holds."""
        ...

    def fail(self, scope: str, reason: str) -> int:
        """Note that processing the turns of a scope failed; returns how often in a row, until one is processed."""
        ...

    def failures(self) -> list[Failure]:
        """Return the scopes whose turns wait after a failure, the latest first. Cost: O(scopes)."""
        ...

    def forgive(self, scope: str) -> bool:
        """Count the failures of a scope anew; False where there are none."""
        ...

    def scopes(self) -> list[str]:
        """Return every scope with at least one row."""
        ...

    def count_turns(self, scopes: Collection[str]) -> dict[str, int]:
        """Return how many turns some scopes have; one without any is left out. Cost: O(turns of these)."""
        ...

    def lease(self, scope: str, *, owner: str, seconds: float) -> int:
        """Take, renew or (seconds <= 0) give back the right to process a scope, by the clock of the database.

        A lease avoids double work. What makes sure that there is one writer is its token, which `append` checks in the
        transaction that writes: who was away for longer than a lease writes nothing any more. The lease of a process
        that died on this machine is taken over at once.

        Returns:
            The token: the same while the lease is renewed, a higher one at every change of holder. 0 when the lease is
            another's, was given back, or there is no such log.
        """
        ...

    def rewrite(
        self, scope: str, *, delete: Sequence[int], replace: Mapping[int, Mapping[str, Any]], expected: int
    ) -> dict[str, int]:
        """Remove rows (with their vectors) and replace bodies, in one transaction; then wipe the freed space.

        Returns the number of rows and vectors removed, by kind.

        Raises:
            StoreConflictError: the log has rows after ordinal `expected`.
        """
        ...

    def erase(self, scope: str) -> dict[str, int]:
        """Remove a whole log, its vectors and its head; then wipe the freed space. Returns counts by kind.

        A log that is begun anew under this scope continues after the ordinals of the old one, so that nobody takes
        the one for the other.
        """
        ...

    def wipe(self, scope: str | None = None) -> None:
        """Leave no byte of what was erased, from a scope or at all, where an earlier attempt was cut short.

        In Postgres: no row. What held it is written over in time; its write-ahead log and its copies are its own.

        Raises:
            StoreLockedError: somebody else is reading.
        """
        ...

    def keep_answers(self, scope: str, bodies: Mapping[str, Mapping[str, Any]], *, latest: int) -> None:
        """Write answers by id, an older one of the same id giving way; only the `latest` of the scope are kept."""
        ...

    def answers(self, scope: str, answer_id: str | None = None) -> list[Mapping[str, Any]]:
        """Return the answers that are kept, oldest first, or the one of an id."""
        ...

    def latest_answers(
        self, scope: str, *, before: int | None = None, limit: int
    ) -> list[tuple[int, Mapping[str, Any]]]:
        """Return the latest answers that are kept, or those before a place: each with its place, the latest first."""
        ...

    def amend_answers(self, scope: str, bodies: Mapping[str, Mapping[str, Any]]) -> None:
        """Write answers anew in their places; one that is no longer kept stays away."""
        ...

    def drop_answers(self, scope: str, answer_ids: Sequence[str]) -> None:
        """Remove answers; `rewrite`, `erase` or `wipe` after it leave no byte of them."""
        ...

    def keep_key(self, key_id: str, body: Mapping[str, Any]) -> None:
        """Write an API key's record, durable on return; one of the same id gives way."""
        ...

    def keys(self, key_id: str | None = None) -> dict[str, Mapping[str, Any]]:
        """Return the records of all API keys by id, in the order of the ids, or that of one id if it is there."""
        ...

    def forget_keys(self, tenant: str, user: str) -> None:
        """Take the label from the API keys that open this user alone, and remove those of them that are revoked.

        `erase` or `wipe` after it leaves no byte of what is gone. A record that cannot be read stays.
        """
        ...

    def listen(self, told: Callable[[Change | None], None]) -> Callable[[], None]:
        """Call back in another thread when a log was moved, in this process too; returns what ends that.

        None says that anything may have changed: at first, and where the connection was lost for a while. Changes may
        come late, twice or never, so that nothing may rest on them: what they save is time. A file tells of none.
        """
        ...

    def describe(self) -> dict[str, Any]:
        """Return what it is, for `doxa doctor`: backend, location, format version, size in bytes."""
        ...

    def close(self) -> None:
        """Give back every connection."""
        ...

    def keep_records(
        self,
        scope: str,
        shelf: str,
        bodies: Mapping[str, bytes | None],
        *,
        expected: Mapping[str, bytes | None] | None = None,
        said_by: Mapping[str, str] | None = None,
    ) -> bool:
        """Write records by key, all or none, durable on return; None removes one, and its bytes at the next `wipe`.

        Nothing is written, and False returned, where a record is not as `expected`; None there stands for none. A
        record goes with the turn that it is `said_by`.
        """
        ...

    def records(
        self, scope: str, shelf: str, *, keys: Sequence[str] | None = None, prefix: str = ""
    ) -> dict[str, bytes]:
        """Return the records of some keys, or all whose keys begin alike, by key in the order of code points."""
        ...

    def last_record(self, scope: str, shelf: str, *, prefix: str) -> tuple[str, bytes] | None:
        """Return the highest of the keys that begin alike with its record; None where there is none."""
        ...

    def count_records(self, scope: str, turn_ids: Collection[str] | None = None) -> int:
        """Return how many records there are, on all shelves, or how many of them some turns say."""
        ...

    def erase_records(self, scope: str, shelf: str, *, prefix: str = "") -> int:
        """Remove the records whose keys begin alike, then wipe the freed space. Returns how many there were."""
        ...


def owner_name() -> str:
    """Return a new name for a holder of leases: `host/pid/number`. Two of one process are two."""
    return f"{socket.gethostname()}/{os.getpid()}/{next(_NUMBERS)}"


_NUMBERS = count(1)
