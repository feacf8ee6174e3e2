"""Memories searched, listed and told one by one.

What is given is what is believed now, or was true on the `reference_date`. Search is always by words, meaning and
graph at once, so `rerank` and `keyword_search` change nothing. A score is 0 to 1 and comparable within one answer; it
is no cosine.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from pydantic import Field

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import ChangeKind, Turn
from doxa.transport.http.mem0.asking import Body, as_mem0, room_for, rooms
from doxa.transport.http.mem0.filters import ENTITIES, Filter, moment
from doxa.transport.http.mem0.handles import Handle, opened
from doxa.transport.http.mem0.shelf import EVENTS, Entry, Shelf
from doxa.transport.http.page import needs

if TYPE_CHECKING:
    from doxa.engine import Memory

__all__ = ["found", "router"]

router = APIRouter(tags=["mem0"])
FIRST_LOOK = 60
"""Turns that a search looks at first; one that filters look further while less than what is asked for fits."""
MOST = 1000
ASIDE = (ChangeKind.SUPPORT, ChangeKind.DISPUTE, ChangeKind.MERGE, ChangeKind.SPLIT)
"""Changes after which a memory still says what it said."""


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
    filters = asked.filter()
    as_of = None if asked.reference_date is None else moment(asked.reference_date, what="reference_date").date()
    most = asked.limit or asked.top_k
    ranked: list[tuple[float, Entry]] = []
    for room in rooms(request, filters):
        memory = room.memory()
        shelf = Shelf(memory, as_of=as_of, past=not asked.latest_only)
        ranked += _ranked(memory, shelf, asked, filters, as_of, most)
    ranked.sort(key=lambda pair: -pair[0])
    least = asked.threshold if asked.threshold is not None else 0.0
    best = [(score, entry) for score, entry in ranked[:most] if score >= least]
    return {"results": [asked.shown(entry, score=round(score, 4)) for score, entry in best]}


def _ranked(
    memory: Memory, shelf: Shelf, asked: SearchIn, filters: Filter, as_of: date | None, most: int
) -> list[tuple[float, Entry]]:
    """Return memories of one user that fit, with their scores; at least `most` where there are so many."""
    from doxa.engine import overlap

    size = max(FIRST_LOOK, most)
    while True:
        evidence = memory.search(asked.query, k=size, as_of=as_of, superseded=not asked.latest_only)
        best: dict[Handle, tuple[float, Entry]] = {}
        for item in evidence:
            for entry in chain.from_iterable(map(shelf.on, item.turn_ids)):
                if _fits(entry, asked, filters):
                    score = item.score * (1 + overlap(asked.query, entry.text)) / 2
                    best[entry.handle] = max(
                        best.get(entry.handle, (0.0, entry)), (score, entry), key=lambda one: one[0]
                    )
        if len(best) >= most or len(evidence) < size:
            return list(best.values())
        size *= 4


def _fits(entry: Entry, asked: Asking, filters: Filter) -> bool:
    today = datetime.now(UTC).date().isoformat()
    return filters.fits(entry.values) and (asked.show_expired or entry.expires is None or entry.expires >= today)


def found(request: Request, asked: Asking) -> Iterator[Entry]:
    """Yield the memories that fit, those that came last first."""
    filters = asked.filter()
    entries = [
        entry
        for room in rooms(request, filters)
        for entry in Shelf(room.memory(), past=not asked.latest_only).entries
        if _fits(entry, asked, filters)
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
    entry = standing(Shelf(room.memory(), past=True), handle)
    return entry.data(sources=[_message(turn) for turn in entry.turns])


def standing(shelf: Shelf, handle: Handle) -> Entry:
    """Return the memory of an id.

    Raises:
        NotFoundError: there is none, or it was deleted.
    """
    entry = shelf.find(handle) if handle.kind != "event" else None
    if entry is None:
        raise NotFoundError(f"User {shelf.user!r} has no such memory, or no longer. get_all(filters=...) lists them.")
    return entry


def _message(turn: Turn) -> dict[str, Any]:
    return {"role": turn.role, "content": turn.text, "name": turn.speaker, "created_at": turn.at.isoformat()}


@router.get("/v1/memories/{memory_id}/history/", openapi_extra=needs("read"))
def history(memory_id: str, request: Request) -> list[dict[str, Any]]:
    """Return what a memory was and became, oldest first: corrections by `update` and revisions by what was said."""
    room, handle = opened(request, memory_id)
    shelf = Shelf(room.memory(), past=True)
    standing(shelf, handle)
    return list(_history(shelf, handle))


def _history(shelf: Shelf, handle: Handle) -> Iterator[dict[str, Any]]:
    corrections = shelf.corrections(handle)
    steps: list[tuple[str, str | None, datetime | None, list[Turn], str]] = []
    if handle.kind == "fact":
        for change in shelf.changes_of(handle.key):
            by_update = change.kind is ChangeKind.RETRACT and change.turn_id is None and bool(corrections)
            if not by_update and change.kind in EVENTS and change.kind not in ASIDE:
                said = list(shelf.sources([change.turn_id] if change.turn_id else []))
                text = None if change.kind is ChangeKind.RETRACT else shelf.told(change.fact)
                steps.append((EVENTS[change.kind], text, change.known_at, said, change.reason))
    elif (first := shelf.turns.get(handle.key)) is not None:
        steps.append(("ADD", first.text, first.at, [first], ""))
    for turn in corrections:
        made = shelf.made_by.get(turn.turn_id)
        text = turn.text if made is None else shelf.told(shelf.facts[made])
        steps.append(("UPDATE", text, turn.at, [turn], "it was corrected by update"))
    before: str | None = None
    for place, (event, text, at, said, reason) in enumerate(steps):
        yield {
            "id": f"{handle}.{place}",
            "memory_id": str(handle),
            "user_id": handle.user,
            "event": event,
            "input": [_message(turn) for turn in said],
            "old_memory": before,
            "new_memory": text,
            "reason": reason,
            "created_at": at and at.isoformat(),
            "updated_at": at and at.isoformat(),
        }
        before = text


class SummaryIn(Body):
    """Whose summary."""

    filters: dict[str, Any] | None = None


@router.post("/v1/summary/", openapi_extra=needs("read"))
def summary(asked: SummaryIn, request: Request) -> dict[str, Any]:
    """Return what is believed of a user as a short text."""
    filters = as_mem0(asked.filters, {})
    if others := filters.fields - {"user_id"}:
        raise InputError(f"get_summary: a summary is of all that a user said; leave {', '.join(others)} out.")
    return {"summary": room_for(request, filters).memory().summary(), "status": "SUCCEEDED"}
