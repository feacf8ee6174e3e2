"""Memories searched, listed and told one by one.

What is given is what is believed now, or was true on the `reference_date`. Search is always by words, meaning and
graph at once, so `rerank` and `keyword_search` change nothing. A score is 0 to 1 and comparable within one answer; it
is no cosine.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import Field

from doxa.core.errors import InputError
from doxa.core.values import Turn
from doxa.engine import ENTITIES, Entry, Filter, Shelf, moment
from doxa.transport.http.mem0.asking import Body, as_mem0, let_in, opened, room_for, rooms
from doxa.transport.http.page import needs

__all__ = ["found", "router"]

router = APIRouter(tags=["mem0"])
MOST = 1000


class Asking(Body):
    """Which memories, and what of them."""

    filters: dict[str, Any] | list[Any] | None = None
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    metadata: dict[str, Any] | None = None
    fields: list[str] | None = None
    show_expired: bool = False
    latest_only: bool = True

    def filter(self) -> Filter:
        """Return everything that the memories have to fit."""
        whole = self.filters
        if self.metadata:
            whole = {"AND": [*([whole] if whole else []), {"metadata": self.metadata}]}
        return as_mem0(whole, {name: getattr(self, name) for name in ENTITIES})

    def shown(self, entry: Entry, **more: Any) -> dict[str, Any]:
        """Return what is asked for of a memory."""
        data = entry.data(**more)
        unknown = [name for name in self.fields or () if name not in (*data, "score")]
        if unknown:
            raise InputError(f"fields: expected some of {', '.join(data)}; got {', '.join(unknown)}.")
        return {name: value for name, value in data.items() if not self.fields or name in self.fields}


class SearchIn(Asking):
    """A search."""

    query: str = Field(min_length=1)
    top_k: int = Field(10, ge=1, le=MOST)
    limit: int | None = Field(None, ge=1, le=MOST)
    threshold: float | None = None
    reference_date: int | float | str | None = None
    rerank: bool | None = None
    keyword_search: bool | None = None


class ListIn(Asking):
    """A list."""

    start_date: str | None = None
    end_date: str | None = None
    page: int | None = Field(None, ge=1)
    page_size: int | None = Field(None, ge=1, le=MOST)

    def filter(self) -> Filter:
        """Return everything that the memories have to fit."""
        bounds = {"gte": self.start_date, "lte": self.end_date}
        if given := {name: day for name, day in bounds.items() if day is not None}:
            whole = [*([self.filters] if self.filters else []), {"created_at": given}]
            return self.model_copy(update={"filters": {"AND": whole}, "start_date": None, "end_date": None}).filter()
        return super().filter()


@router.post("/v3/memories/search/", openapi_extra=needs("read"))
@router.post("/v2/memories/search/", openapi_extra=needs("read"))
def search(asked: SearchIn, request: Request) -> dict[str, Any]:
    """Return the memories that bear on a query, best first."""
    let_in(request)
    filters = asked.filter()
    as_of = None if asked.reference_date is None else moment(asked.reference_date, what="reference_date").date()
    most = asked.limit or asked.top_k
    least = asked.threshold if asked.threshold is not None else 0.0
    ranked = [
        one
        for room in rooms(request, filters)
        for one in Shelf(room.memory(), as_of=as_of, past=not asked.latest_only).ranked(
            asked.query, most, partial(_fits, asked=asked, filters=filters)
        )
    ]
    best = [one for one in sorted(ranked, key=lambda one: -one.score)[:most] if one.score >= least]
    return {"results": [asked.shown(one.entry, score=round(one.score, 4)) for one in best]}


def _fits(entry: Entry, *, asked: Asking, filters: Filter) -> bool:
    today = datetime.now(UTC).date().isoformat()
    return filters.fits(entry.values) and (asked.show_expired or entry.expires is None or entry.expires >= today)


def found(request: Request, asked: Asking) -> Iterator[Entry]:
    """Yield the memories that fit, those that came last first."""
    let_in(request)
    filters = asked.filter()
    entries = [
        entry
        for room in rooms(request, filters)
        for entry in Shelf(room.memory(), past=not asked.latest_only).entries
        if _fits(entry, asked=asked, filters=filters)
    ]
    earliest = datetime.min.replace(tzinfo=UTC)
    yield from sorted(entries, key=lambda entry: entry.created_at or earliest, reverse=True)


Page = Annotated[int | None, Query(ge=1)]
Size = Annotated[int | None, Query(ge=1, le=MOST)]


@router.post("/v3/memories/", openapi_extra=needs("read"))
@router.post("/v2/memories/", openapi_extra=needs("read"))
def get_all(asked: ListIn, request: Request, page: Page = None, page_size: Size = None) -> dict[str, Any]:
    """Return one page of the memories that fit."""
    number, size = page or asked.page or 1, page_size or asked.page_size or 100
    entries = list(found(request, asked))
    start = (number - 1) * size

    def other(place: int, *, there: bool) -> str | None:
        return f"{request.url.replace(query=urlencode({'page': place, 'page_size': size}))}" if there else None

    return {
        "count": len(entries),
        "next": other(number + 1, there=start + size < len(entries)),
        "previous": other(number - 1, there=number > 1 and bool(entries)),
        "results": [asked.shown(entry) for entry in entries[start : start + size]],
    }


@router.get("/v1/memories/{memory_id}/", openapi_extra=needs("read"))
def get(memory_id: str, request: Request) -> dict[str, Any]:
    """Return a memory, with the messages that it rests on."""
    room, handle = opened(request, memory_id)
    entry = Shelf(room.memory(), past=True).standing(handle)
    return entry.data(sources=[_message(turn) for turn in entry.turns])


def _message(turn: Turn) -> dict[str, Any]:
    return {"role": turn.role, "content": turn.text, "name": turn.speaker, "created_at": turn.at.isoformat()}


@router.get("/v1/memories/{memory_id}/history/", openapi_extra=needs("read"))
def history(memory_id: str, request: Request) -> list[dict[str, Any]]:
    """Return what a memory was and became, oldest first: corrections by `update` and revisions by what was said."""
    room, handle = opened(request, memory_id)
    shelf = Shelf(room.memory(), past=True)
    shelf.standing(handle)
    return [
        {
            "id": f"{handle}.{place}",
            "memory_id": str(handle),
            "user_id": handle.user,
            "event": step.event,
            "input": [_message(turn) for turn in step.turns],
            "old_memory": step.before,
            "new_memory": step.after,
            "reason": step.reason,
            "created_at": step.at and step.at.isoformat(),
            "updated_at": step.at and step.at.isoformat(),
        }
        for place, step in enumerate(shelf.steps(handle))
    ]


class SummaryIn(Body):
    """Whose summary."""

    filters: dict[str, Any] | None = None


@router.post("/v1/summary/", openapi_extra=needs("read"))
def summary(asked: SummaryIn, request: Request) -> dict[str, Any]:
    """Return what is believed of a user as a short text."""
    let_in(request)
    filters = as_mem0(asked.filters, {})
    if others := filters.fields - {"user_id"}:
        raise InputError(f"get_summary: a summary is of all that a user said; leave {', '.join(others)} out.")
    return {"summary": room_for(request, filters).memory().summary(), "status": "SUCCEEDED"}
