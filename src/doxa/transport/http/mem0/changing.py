"""Memories corrected and deleted.

`update` corrects, under the same id; the log keeps both texts, and `history` tells them. `delete` erases for good every
message that tells nothing else; one that tells other facts as well is kept (`kept_messages`). What a deleted fact had
taken the place of holds again, unless `delete_linked` asks for that to be deleted as well.

Deleting needs the right `erase`, whatever is kept in the end: a key that may not erase cannot promise it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from json import dumps
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from doxa.core.errors import InputError
from doxa.engine import Entry, Handle, Shelf, amend, moment, noted, remove
from doxa.transport.http.access import Room
from doxa.transport.http.mem0.asking import opened
from doxa.transport.http.page import needs
from doxa.transport.http.state import served

__all__ = ["router"]

router = APIRouter(tags=["mem0"])
BATCH = 1000
OWN = ("metadata", "expiration_date")


class UpdateIn(BaseModel):
    """A correction."""

    model_config = ConfigDict(extra="forbid")

    text: str | None = Field(None, min_length=1)
    metadata: dict[str, Any] | None = None
    timestamp: int | float | str | None = None
    expiration_date: str | None = Field(None, pattern=r"^\d{4}-\d\d-\d\d$")


class UpdateOneIn(UpdateIn):
    """A correction, and of what."""

    memory_id: str


class Updates(BaseModel):
    """Several corrections."""

    memories: list[UpdateOneIn] = Field(min_length=1, max_length=BATCH)


class OneIn(BaseModel):
    """Which memory."""

    memory_id: str


class Deletions(BaseModel):
    """Several deletions."""

    memories: list[OneIn] = Field(min_length=1, max_length=BATCH)


@router.put("/v1/memories/{memory_id}/", openapi_extra=needs("read", "write"))
def update(memory_id: str, told: UpdateIn, request: Request) -> dict[str, Any]:
    """Correct a memory, and return it."""
    room, entry = _writable(request, memory_id)
    _require_fitting(request, told)
    _correct(room, entry, told)
    return Shelf(room.memory(), past=True).standing(entry.handle).data()


@router.put("/v1/batch/", openapi_extra=needs("read", "write"))
def batch_update(told: Updates, request: Request) -> dict[str, Any]:
    """Correct several memories; when one of them is not there, or cannot be corrected so, none is corrected."""
    all_ = [(*_writable(request, one.memory_id), one) for one in told.memories]
    for _, entry, one in all_:
        _require_fitting(request, one)
        if not entry.turns:
            raise InputError("update: nobody said this memory, it follows from other facts; correct those instead.")
    if len({entry.handle for _, entry, _ in all_}) < len(all_):
        raise InputError("batch_update: expected each memory once. Send the corrections of one in requests of its own.")
    for room, entry, one in all_:
        _correct(room, entry, one)
    return {"message": f"Successfully updated {len(all_)} memories"}


def _writable(request: Request, memory_id: str) -> tuple[Room, Entry]:
    room, handle = opened(request, memory_id)
    room.require("write")
    return room, Shelf(room.memory(), past=True).standing(handle)


def _require_fitting(request: Request, told: UpdateIn) -> None:
    """Refuse a correction that could not be made, before anything is changed."""
    if not told.model_fields_set - {"memory_id"}:
        raise InputError("update: give at least one of text, metadata, timestamp, expiration_date.")
    if told.text is None and told.timestamp is not None:
        raise InputError("update: a timestamp says when the new text was said; give text as well.")
    if told.timestamp is not None:
        moment(told.timestamp, what="timestamp")
    if told.text is not None and not told.text.strip():
        raise InputError("update: text: expected one with words in it. Leave it out, or delete the memory.")
    try:
        metadata = dumps(noted(told.metadata), ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError) as exc:
        raise InputError(f"update: metadata: expected plain JSON data: {exc}.") from exc
    most = served(request).doxa.parts.config.engine.max_turn_chars
    for name, size in (("text", len(told.text or "")), ("metadata", len(metadata))):
        if size > most:
            raise InputError(
                f"update: {name}: expected at most {most:,} characters, got {size:,}. Shorten it, or raise the setting "
                "engine.max_turn_chars."
            )


def _correct(room: Room, entry: Entry, told: UpdateIn) -> None:
    amend(
        entry,
        told.text,
        {name: getattr(told, name) for name in OWN if name in told.model_fields_set},
        memory=room.memory("write"),
        dialogue=partial(room.dialogue, "write"),
        at=None if told.timestamp is None else moment(told.timestamp, what="timestamp"),
    )
    if told.text is not None:
        room.wait()


@router.delete("/v1/memories/{memory_id}/", openapi_extra=needs("read", "erase"))
def delete(memory_id: str, request: Request, delete_linked: bool = False) -> dict[str, Any]:
    """Delete a memory, and with `delete_linked` what it had taken the place of."""
    room, handle = opened(request, memory_id)
    return {"message": "Memory deleted successfully!", **_delete(room, [handle], linked=delete_linked)}


@router.delete("/v1/batch/", openapi_extra=needs("read", "erase"))
def batch_delete(told: Deletions, request: Request) -> dict[str, Any]:
    """Delete several memories; when one of them is not there, none is deleted."""
    of_user: dict[str, tuple[Room, list[Handle]]] = {}
    for one in told.memories:
        room, handle = opened(request, one.memory_id)
        of_user.setdefault(handle.user, (room, []))[1].append(handle)
    for room, handles in of_user.values():
        room.require("erase")
        shelf = Shelf(room.memory(), past=True)
        for handle in handles:
            shelf.standing(handle)
    for room, handles in of_user.values():
        _delete(room, handles, linked=False)
    return {"message": f"Successfully deleted {len(told.memories)} memories"}


def _delete(room: Room, handles: Sequence[Handle], *, linked: bool) -> dict[str, int]:
    room.require("erase")
    return remove(room.memory(), handles, linked=linked)
