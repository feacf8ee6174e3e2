"""Messages -> turns, and what became of them.

Every message is on disk before anything is answered. Then either the answer waits until it is understood and lists
the memories that changed, or (`async_mode`) it is PENDING, and its event tells the same later.

An event of a memory is a change of Doxa's: ADD where a fact is new, or believed again; UPDATE where one no longer
holds, or is told more exactly; DELETE where one never was true; NONE where it was known already. A message that
became no fact is a memory itself, with ADD.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from json import dumps
from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import Field

from doxa.core.errors import DoxaError, InputError, NotFoundError
from doxa.engine import ENTITIES, OURS, Handle, Shelf, moment, noted, notes
from doxa.transport.http.mem0.asking import Body, as_mem0, let_in, opened, room_for
from doxa.transport.http.page import needs
from doxa.transport.http.state import served

__all__ = ["router"]

logger = logging.getLogger("doxa.server")
router = APIRouter(tags=["mem0"])
STORED = "{count} messages are stored and are understood in the background."
Name = Annotated[str, Field(min_length=1, max_length=200)]


class AddIn(Body):
    """Messages to remember."""

    messages: Annotated[list[dict[str, Any]], Field(max_length=10_000)] | dict[str, Any] | str
    user_id: Name | None = None
    agent_id: Name | None = None
    app_id: Name | None = None
    run_id: Name | None = None
    filters: dict[str, Any] | None = None
    """Another place for the four before it."""
    metadata: dict[str, Any] | None = None
    infer: bool = True
    timestamp: int | float | str | None = None
    expiration_date: str | None = Field(None, pattern=r"^\d{4}-\d\d-\d\d$")
    async_mode: bool = False

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The messages as a list."""
        if isinstance(self.messages, str):
            return [{"role": "user", "content": self.messages}]
        return [self.messages] if isinstance(self.messages, dict) else self.messages

    def whose(self) -> dict[str, str]:
        """Return the user, agent, app and run, wherever they are given.

        Raises:
            InputError: two places say different things, or `filters` holds something else.
        """
        found = {name: value for name in ENTITIES if (value := getattr(self, name)) is not None}
        for name, value in (self.filters or {}).items():
            if name not in ENTITIES or not isinstance(value, str) or found.get(name, value) != value:
                raise InputError(f"add: filters: expected {', '.join(ENTITIES)}, each once; got {name}: {value!r}.")
            found[name] = value
        return found


@router.post("/v3/memories/add/", openapi_extra=needs("write"))
@router.post("/v1/memories/", openapi_extra=needs("write"))
def add(told: AddIn, request: Request) -> dict[str, Any]:
    """Remember messages."""
    let_in(request)
    whose = told.whose()
    room = room_for(request, as_mem0(None, {"user_id": whose.pop("user_id", None)}))
    event = uuid4().hex
    metadata = noted(told.metadata, **whose, event=event, expiration_date=told.expiration_date)
    _require_bounded(metadata, len(told.lines), served(request).settings.max_body_bytes)
    dialogue = room.dialogue("write", session=whose.get("run_id"), agent=whose.get("agent_id"))
    at = None if told.timestamp is None else moment(told.timestamp, what="timestamp")
    receipts = dialogue.add(told.lines, at=at, verbatim=not told.infer, metadata=metadata)
    if not receipts:
        raise InputError("add: none of the messages has words; nothing was stored.")
    turn_ids = [receipt.turn_id for receipt in receipts]
    if all(receipt.duplicate for receipt in receipts):  # ids of messages that were sent before: so was their event
        known = {turn.turn_id: turn for turn in room.memory("write").turns(withdrawn=True)}
        event = str(notes(known[turn_ids[0]]).get("event", event)) if turn_ids[0] in known else event
    event_id = str(Handle(room.scope.user, "event", event))
    pending = {"message": STORED.format(count=len(receipts)), "status": "PENDING", "event_id": event_id}
    if told.async_mode or "read" not in room.scope.rights:  # what became of it tells what was remembered before
        return pending
    try:
        room.wait()
    except DoxaError as exc:  # no error of the request: a client that is told of one would send all of it again
        logger.warning("what was told is kept, and not understood yet: %s", exc)
        return {**pending, "message": f"{pending['message']} Not yet, because: {exc}"}
    shelf = Shelf(room.memory("write"), past=True)
    return {"results": list(shelf.tell(turn_ids)), "event_id": event_id, "status": "SUCCEEDED"}


def _require_bounded(metadata: Mapping[str, Any], count: int, most: int) -> None:
    """Refuse metadata that would fill more than a body may have, since it is kept with each of the messages."""
    size = len(dumps(metadata, ensure_ascii=False).encode("utf-8", "replace")) if count > 1 else 0
    if size * count > most:
        raise InputError(
            f"add: metadata is kept with each message: {count:,} times {size:,} bytes are more than {most:,} "
            "(server.max_body_bytes); nothing was stored. Send fewer messages at once, or less metadata."
        )


@router.get("/v1/event/{event_id}/", openapi_extra=needs("read"))
def event(event_id: str, request: Request) -> dict[str, Any]:
    """Tell how far an addition is, and what it led to."""
    room, handle = opened(request, event_id)
    memory = room.memory()
    everything = memory.turns(withdrawn=True)
    turns = [one for one in everything if handle.kind == "event" and notes(one).get("event") == handle.key]
    if not turns:
        raise NotFoundError("There is no such event: its messages were deleted, or it is the id of something else.")
    # Turns are understood in the order in which they came; what came after this list was made counts as waiting too.
    waiting = everything[len(everything) - memory.stats()["pending"] :]
    done = turns[-1] not in waiting
    results = list(Shelf(memory, past=True).tell([turn.turn_id for turn in turns])) if done else []
    return {
        "id": event_id,
        "event_type": "ADD",
        "status": "SUCCEEDED" if done else "PENDING",
        "results": results,
        "metadata": {name: value for name, value in turns[0].metadata.items() if name != OURS},
        "created_at": turns[0].at.isoformat(),
    }
