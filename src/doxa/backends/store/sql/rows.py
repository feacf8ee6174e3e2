"""Rows as the tables hold them <-> rows as the store gives them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from doxa.backends.store import Head, NewRow, Row

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CHUNK = 500
"""How many ordinals go into one statement; databases bound the number of parameters."""
T = TypeVar("T")


def chunks(some: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield parts that are small enough for one statement."""
    yield from (some[at : at + CHUNK] for at in range(0, len(some), CHUNK))


def dumps(body: Mapping[str, Any]) -> str:
    """Return a body as it is stored."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def values_of(scope: str, ordinal: int, row: NewRow, turn_id: str | None) -> dict[str, Any]:
    """Return the columns of an event."""
    return {
        "scope": scope,
        "ordinal": ordinal,
        "kind": row.kind,
        "turn_id": turn_id,
        "about": row.about,
        "known_at": (row.known_at - EPOCH) // timedelta(microseconds=1),
        "body": dumps(row.body),
        "fence": row.fence,
    }


def row_of(found: Sequence[Any]) -> Row:
    """Return the row of an event's columns."""
    ordinal, kind, turn_id, about, known_at, body, fence = found
    known, said = EPOCH + timedelta(microseconds=known_at), json.loads(body)
    return Row(ordinal=ordinal, kind=kind, turn_id=turn_id, about=about, known_at=known, body=said, fence=fence)


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


def head_of(found: Sequence[Any] | None) -> Head:
    """Return the head of its columns; all zero for none."""
    if found is None:
        return Head()
    ordinal, state, received, maintained, fence = found
    return Head(ordinal=ordinal, state=state, received=received, maintained=maintained, fence=fence)


def erasure() -> NewRow:
    """Return the row that says that the past before it was rewritten."""
    return NewRow(kind="erased", known_at=datetime.now(UTC), body={})
