"""Facts and names in the order in which they are shown, pages of them, and the cursors between pages."""

from __future__ import annotations

import base64
import binascii
import json
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from math import inf
from typing import Any, TypeVar

from doxa.core.errors import InputError
from doxa.core.values import EARLIEST, Fact
from doxa.memory import microseconds

__all__ = ["Rank", "add", "cursor_of", "drop", "earliest", "latest", "place_of", "read_cursor", "unplaced"]

Rank = tuple[float, float, str]
"""When a fact came to be known, when it came to be in the memory, its id."""
K = TypeVar("K", bound=tuple[Any, ...])


def place_of(fact: Fact, number: int) -> Rank:
    """Return where a fact stands among others, the earliest first; `number` is its place among all."""
    return microseconds(fact.known_at or EARLIEST), number, fact.fact_id


def unplaced(moment: float, *, first: bool = False) -> Rank:
    """Return where a fact of a moment stood of which no more is known: behind all others of that moment.

    Args:
        moment: when it came to be known.
        first: before all others of that moment instead.
    """
    return moment, -inf if first else inf, ""


def add(places: list[K], place: K) -> None:
    """Put one more in order. O(log n) comparisons; one that comes last is only appended."""
    if not places or places[-1] < place:
        places.append(place)
    else:
        insort(places, place)


def drop(places: list[K], place: K) -> None:
    """Take one out of an order that has it."""
    at = bisect_left(places, place)
    assert places[at] == place
    del places[at]


def latest(lists: Sequence[list[Rank]], before: Rank | None, limit: int) -> tuple[list[Rank], bool]:
    """Return up to `limit` of several orders together, the latest first, and whether more follow.

    Args:
        lists: each in ascending order. What stands in several is given once.
        before: only what stands before it.
        limit: how many at most.

    Cost: O(lists x limit).
    """
    found: dict[Rank, None] = {}
    for places in lists:
        stop = len(places) if before is None else bisect_left(places, before)
        found |= dict.fromkeys(places[max(0, stop - limit - 1) : stop])
    ordered = sorted(found, reverse=True)
    return ordered[:limit], len(ordered) > limit


def earliest(lists: Sequence[list[Rank]], after: Rank | None, limit: int) -> tuple[list[Rank], bool]:
    """Return up to `limit` of several orders together, the earliest first, and whether more follow; see `latest`."""
    found: dict[Rank, None] = {}
    for places in lists:
        start = 0 if after is None else bisect_right(places, after)
        found |= dict.fromkeys(places[start : start + limit + 1])
    ordered = sorted(found)
    return ordered[:limit], len(ordered) > limit


def cursor_of(*parts: float | str) -> str:
    """Return a place as a short text that may stand in an address."""
    return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def read_cursor(after: str, *kinds: type | tuple[type, ...]) -> list[Any] | None:
    """Return the parts of a cursor; None for an empty one.

    Raises:
        InputError: it is no cursor of this list.
    """
    if after == "":
        return None
    try:
        parts = json.loads(base64.urlsafe_b64decode(after.encode() + b"=" * (-len(after) % 4)))
    except (binascii.Error, ValueError, RecursionError, AttributeError):
        parts = None
    fits = isinstance(parts, list) and len(parts) == len(kinds) and all(map(isinstance, parts, kinds))
    if not fits:
        raise InputError(f"after: expected what the page before gave as `next`, got {str(after)[:60]!r}.")
    return list(parts)
