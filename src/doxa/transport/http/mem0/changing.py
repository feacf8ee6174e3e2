"""Memories corrected and deleted.

`update` corrects: what was believed is taken back as never having been so, and the new text is remembered as said by
the user, under the same id; the log keeps both, and `history` tells them. `delete` means gone: every message that the
memory rests on and no other fact does is erased for good with all that was made of it, and with its words of which no
fact was made. A message that tells other facts as well is kept (`kept_messages`): its fact is retracted, and what
else the message says is no longer given as a memory of its own, so that no list or search repeats it; deleting the
other facts, or the run, erases it. What a deleted fact had taken the place of holds again, unless `delete_linked`
asks for that to be deleted as well.

Deleting needs the right `erase`, whatever is kept in the end: a key that may not erase cannot promise it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Status
from doxa.transport.http.access import Room
from doxa.transport.http.mem0.adding import noted
from doxa.transport.http.mem0.filters import moment
from doxa.transport.http.mem0.handles import Handle, opened
from doxa.transport.http.mem0.reading import standing
from doxa.transport.http.mem0.shelf import OURS, Entry, Shelf, entity, notes
from doxa.transport.http.page import needs

if TYPE_CHECKING:
    from doxa.engine import Memory

__all__ = ["erase_turns", "router"]

router = APIRouter(tags=["mem0"])
BATCH = 1000
PASSING = ("event", "memories", "corrects")
"""What is noted of one turn and does not go over to one that corrects it."""


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
    _correct(room, entry, told)
    return standing(Shelf(room.memory(), past=True), entry.handle).data()


@router.put("/v1/batch/", openapi_extra=needs("read", "write"))
def batch_update(told: Updates, request: Request) -> dict[str, Any]:
    """Correct several memories; when one of them is not there, none is corrected."""
    all_ = [(*_writable(request, one.memory_id), one) for one in told.memories]
    for room, entry, one in all_:
        _correct(room, entry, one)
    return {"message": f"Successfully updated {len(all_)} memories"}


def _writable(request: Request, memory_id: str) -> tuple[Room, Entry]:
    room, handle = opened(request, memory_id)
    room.require("write")
    return room, standing(Shelf(room.memory(), past=True), handle)


def _correct(room: Room, entry: Entry, told: UpdateIn) -> None:
    if not told.model_fields_set - {"memory_id"}:
        raise InputError("update: give at least one of text, metadata, timestamp, expiration_date.")
    if told.text is None:
        _annotate(room, entry, told)
        return
    latest = entry.turns[-1] if entry.turns else None
    kept = {} if latest is None else {name: one for name, one in notes(latest).items() if name not in PASSING}
    ends = told.expiration_date if "expiration_date" in told.model_fields_set else entry.expires
    kept |= {"corrects": [entry.handle.kind, entry.handle.key], "expiration_date": ends}
    dialogue = room.dialogue(
        "write",
        session=None if latest is None else latest.session,
        agent=None if latest is None else entity(latest, "agent_id"),
    )
    dialogue.correct(
        told.text,
        fact_id=None if entry.fact is None else entry.fact.fact_id,
        turn_id=entry.turns[0].turn_id if entry.fact is None else None,
        at=None if told.timestamp is None else moment(told.timestamp, what="timestamp"),
        verbatim=latest is not None and latest.verbatim,
        metadata=noted(entry.metadata if told.metadata is None else told.metadata, **kept),
        reason="corrected by update",
    )
    room.wait()


def _annotate(room: Room, entry: Entry, told: UpdateIn) -> None:
    """Note something of one memory, and of no other that rests on the same message."""
    if told.timestamp is not None:
        raise InputError("update: a timestamp says when the new text was said; give text as well.")
    if not entry.turns:
        raise InputError(
            "update: nobody said this memory, it follows from others; there is no message to note it with."
        )
    noted(told.metadata)
    turn = entry.turns[-1]
    ours = dict(notes(turn))
    own = {"metadata": entry.metadata, "expiration_date": entry.expires}
    own |= {name: getattr(told, name) for name in own if name in told.model_fields_set}
    ours["memories"] = {**ours.get("memories", {}), entry.place: own}
    room.memory("write").annotate(turn.turn_id, {**turn.metadata, OURS: ours})


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
            standing(shelf, handle)
    for room, handles in of_user.values():
        _delete(room, handles, linked=False)
    return {"message": f"Successfully deleted {len(told.memories)} memories"}


def _delete(room: Room, handles: Sequence[Handle], *, linked: bool) -> dict[str, int]:
    """Erase what memories alone rest on, take the rest back, and count the messages of both."""
    room.require("erase")
    shelf = Shelf(room.memory(), past=True)
    entries = [standing(shelf, handle) for handle in handles]
    facts = {one.fact.fact_id for one in entries if one.fact is not None}
    facts |= {handle.key for handle in handles if handle.kind == "fact" and handle.key in shelf.facts}
    facts = _with_displaced(room.memory(), facts) if linked else facts
    words = {one.turns[0].turn_id for one in entries if one.fact is None}
    words |= {handle.key for handle in handles if handle.kind == "turn"}
    turns = words | {turn.turn_id for handle in handles for turn in shelf.corrections(handle)}
    turns |= {key for fact_id in facts for key in shelf.facts[fact_id].turn_ids}
    told = (fact for fact in shelf.facts.values() if fact.fact_id not in facts and fact.status is not Status.RETRACTED)
    shared = {key for fact in told for key in fact.turn_ids}
    shared |= {rule.turn_id for rule in room.memory().rules()} - words
    gone = [turn.turn_id for turn in shelf.sources(turns - shared)]
    erase_turns(room, gone)
    _take_back(room, facts, words & shared)
    return {"erased_messages": len(gone), "kept_messages": len(turns & shared)}


def _take_back(room: Room, facts: Collection[str], words: Collection[str]) -> None:
    """Retract facts that are still there, and no longer give the words of turns as memories."""
    memory = room.memory("erase")
    for fact in memory.facts(current=False):
        if fact.fact_id in facts and fact.status is not Status.RETRACTED:
            memory.retract(fact.fact_id, reason="deleted")
    for turn in memory.turns():
        if turn.turn_id in words:
            ours = dict(notes(turn))
            ours["memories"] = {**ours.get("memories", {}), "": {"deleted": True}}
            memory.annotate(turn.turn_id, {**turn.metadata, OURS: ours})


def _with_displaced(memory: Memory, facts: Iterable[str]) -> set[str]:
    """Return facts with those that they took the place of, and so on."""
    found, waiting = set[str](), list(facts)
    while waiting:
        fact_id = waiting.pop()
        if fact_id not in found:
            found.add(fact_id)
            waiting += [fact.fact_id for fact in memory.why(fact_id).displaced]
    return found


def erase_turns(room: Room, turn_ids: Sequence[str]) -> int:
    """Erase turns for good, the latest first, since all that come after an erased one are understood again.

    One that is gone already, with another that it had answered or by another request, is no error.
    """
    memory = room.memory("erase")
    count = 0
    for turn_id in reversed(turn_ids):
        try:
            count += len(memory.forget(turn_id=turn_id).turn_ids)
        except NotFoundError:
            continue
    return count
