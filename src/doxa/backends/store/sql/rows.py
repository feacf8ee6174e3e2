"""Rows as the tables hold them <-> rows as the store gives them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa

from doxa.backends.store import Head, NewRow, Row
from doxa.backends.store.digests import is_whole, with_digest
from doxa.backends.store.failures import UNREADABLE, damaged, readable
from doxa.backends.store.schema import LONGEST_SCOPE, events, heads
from doxa.core.errors import InputError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CHUNK = 500
"""How many ordinals go into one statement; databases bound the number of parameters."""
T = TypeVar("T")


def _of_head(column: sa.Column[int]) -> sa.ScalarSelect[int]:
    """Return a column of the head of the scope that is asked for, from the same moment as what it stands beside."""
    return sa.select(column).where(heads.c.scope == sa.bindparam("scope")).scalar_subquery()


ROWS = sa.select(
    events.c.ordinal,
    events.c.kind,
    events.c.turn_id,
    events.c.about,
    events.c.known_at,
    events.c.body,
    events.c.fence,
    events.c.previous,
    events.c.digest,
    _of_head(heads.c.undigested).label("undigested"),
    _of_head(heads.c.ordinal).label("last"),
).where(events.c.scope == sa.bindparam("scope"))
"""Rows of the log of `scope`, with what their head says of them."""
PREVIOUS, LAST = 7, 10


def chunks(some: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield parts that are small enough for one statement."""
    yield from (some[at : at + CHUNK] for at in range(0, len(some), CHUNK))


def require_room(connection: sa.Connection, scope: str) -> None:
    """Refuse a scope that is to begin, where Postgres has no room for its name; SQLite takes any.

    Raises:
        InputError: it is too long.
    """
    if connection.dialect.name == "postgresql" and len(scope) > LONGEST_SCOPE:
        raise InputError(
            f"Expected a tenant and a user of {LONGEST_SCOPE} characters together at most, got {len(scope)}; nothing "
            "was stored. A character of a tenant that is no plain letter and no digit counts three for each of its "
            "bytes. Choose a shorter name."
        )


def dumps(body: Mapping[str, Any]) -> str:
    """Return a body as it is stored."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def values_of(scope: str, ordinal: int, row: NewRow, turn_id: str | None, *, previous: int | None) -> dict[str, Any]:
    """Return the columns of an event that follows the one at the ordinal `previous`; None where nobody knows."""
    values = {
        "scope": scope,
        "ordinal": ordinal,
        "kind": row.kind,
        "turn_id": turn_id,
        "about": row.about,
        "known_at": (row.known_at - EPOCH) // timedelta(microseconds=1),
        "body": dumps(row.body),
        "fence": row.fence,
        "previous": previous,
    }
    return with_digest(events, values)


def moment_of(known_at: int) -> datetime:
    """Return a time of its microseconds since 1970."""
    return EPOCH + timedelta(microseconds=known_at)


def standing(rows: Sequence[Row], *, ordinal: int = 0, state: int = 0, fence: int = 0) -> Head:
    """Return where a log stands that has some rows, and stood at least so far before them."""
    turns = [row.ordinal for row in rows if row.turn_id is not None]
    changes = [row.ordinal for row in rows if row.turn_id is None]
    return Head(
        ordinal=max([ordinal, *turns, *changes]),
        state=max([state, *changes]),
        received=max(turns, default=0),
        maintained=max((row.about for row in rows if row.about is not None), default=0),
        fence=max([fence, *(row.fence for row in rows if row.fence is not None)]),
    )


def row_of(found: Sequence[Any], scope: str, where: str) -> Row:
    """Return the row of an event's columns, as `ROWS` selects them.

    Raises:
        StoreDamagedError: it is not what was written.
    """
    ordinal, kind, turn_id, about, known_at, body, fence, previous, digest, undigested, last = found
    may_lack = undigested is not None and isinstance(ordinal, int) and ordinal <= undigested
    values = (scope, ordinal, kind, turn_id, about, known_at, body, fence, previous)
    if last is None or not is_whole(values, digest, may_lack=may_lack):
        raise damaged(where, f"row {ordinal} of {scope}")
    try:  # no context (`readable`), which takes nearly as long as all else of a row
        known, said = moment_of(known_at), json.loads(body)
        return Row(ordinal=ordinal, kind=kind, turn_id=turn_id, about=about, known_at=known, body=said, fence=fence)
    except UNREADABLE as exc:
        raise damaged(where, f"row {ordinal} of {scope}") from exc


def rows_of(found: Iterable[Sequence[Any]], scope: str, where: str, *, after: int) -> list[Row]:
    """Return the rows of a log behind an ordinal; `found` is what `ROWS` selects, in order.

    Raises:
        StoreDamagedError: one is not what was written, or is missing.
    """
    rows: list[Row] = []
    last = after
    for columns in found:
        row, previous, last = row_of(columns, scope, where), columns[PREVIOUS], columns[LAST]
        if previous is not None and (previous != rows[-1].ordinal if rows else previous > after):
            raise damaged(where, f"what is before row {row.ordinal} of {scope}")
        rows.append(row)
    if rows and rows[-1].ordinal < last:
        raise damaged(where, f"what is behind row {rows[-1].ordinal} of {scope}")
    return rows


def body_of(body: str, digest: object, values: Sequence[object], where: str, what: str) -> Any:
    """Return the JSON of a row that is no event; `values` are what its digest is of.

    Raises:
        StoreDamagedError: it is not what was written.
    """
    if not is_whole(values, digest):
        raise damaged(where, what)
    with readable(where, what):
        return json.loads(body)


def stored(row: NewRow, ordinal: int, turn_id: str | None) -> Row:
    """Return a new row in its place."""
    return Row(
        ordinal=ordinal,
        kind=row.kind,
        turn_id=turn_id,
        about=row.about,
        known_at=row.known_at,
        body=row.body,
        fence=row.fence,
    )


def head_of(found: Sequence[Any] | None, scope: str, where: str) -> Head:
    """Return the head of its columns; all zero for none.

    Raises:
        StoreDamagedError: it is not what was written.
    """
    if found is None:
        return Head()
    ordinal, state, received, maintained, fence, digest = found
    numbers = (ordinal, state, received, maintained, fence)
    whole = all(isinstance(one, int) for one in numbers) and is_whole((scope, *numbers[:-1]), digest)
    if not whole:
        raise damaged(where, f"where the log of {scope} stands")
    return Head(ordinal=ordinal, state=state, received=received, maintained=maintained, fence=fence)


def erasure() -> NewRow:
    """Return the row that says that the past before it was rewritten."""
    return NewRow(kind="erased", known_at=datetime.now(UTC), body={})
