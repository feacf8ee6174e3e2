"""Long lists -> pages, with a cursor that says where the next one begins."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query

from doxa.core.errors import InputError
from doxa.transport.plain import plain

__all__ = ["Cursor", "Limit", "cursor_to", "number_of", "paged"]

T = TypeVar("T")
NO_CURSOR = "cursor: expected `next` of a page of {kind}, got {cursor!r}."
MOST_DIGITS = 18
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]
Cursor = Annotated[
    str | None,
    Query(description="`next` of the page before, with the same other parameters; by default the first page."),
]


def paged(
    kind: str, items: Sequence[T], key: Callable[[T], str], *, cursor: str | None, limit: int, order: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the page of a list that follows a cursor. O(list).

    What came to the end of the list since the page before is on a later one; nothing is twice on them.

    Args:
        kind: of what the list is, so that the cursor of another one is refused.
        items: the list.
        key: what an item is told apart by.
        cursor: that of the page before.
        limit: most items on the page.
        order: the keys of a longer list in which these items come in the same order, and what left it remains.

    Raises:
        InputError: it is no cursor of such a list, or where it stood is gone.
    """
    start = 0
    if cursor is not None:
        after = _place_of(kind, cursor)
        rank = {one: place for place, one in enumerate(order or map(key, items))}
        if after not in rank:
            raise InputError("cursor: what it stood at is no longer there. Begin again with the first page.")
        start = next((place for place, one in enumerate(items) if rank[key(one)] > rank[after]), len(items))
    found = items[start : start + limit]
    more = start + limit < len(items)
    return {"items": plain(found), "next": cursor_to(kind, key(found[-1])) if more else None}


def number_of(kind: str, cursor: str) -> int:
    """Return the number at which a cursor stands.

    Raises:
        InputError: it is no cursor of such a list.
    """
    place = _place_of(kind, cursor)
    if not place.isdecimal() or len(place) > MOST_DIGITS:
        raise InputError(NO_CURSOR.format(kind=kind, cursor=cursor[:40]))
    return int(place)


def cursor_to(kind: str, place: str) -> str:
    """Return a cursor that stands at a place."""
    return urlsafe_b64encode(f"{kind}\n{place}".encode()).decode().rstrip("=")


def _place_of(kind: str, cursor: str) -> str:
    try:
        whose, _, place = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition("\n")
    except ValueError:
        whose, place = "", ""
    if whose != kind:
        raise InputError(NO_CURSOR.format(kind=kind, cursor=cursor[:40]))
    return place
