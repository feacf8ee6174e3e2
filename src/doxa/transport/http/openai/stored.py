"""Responses of the built-in writer: made, kept for who asked for them, and given again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from doxa.core.errors import InputError, NotFoundError
from doxa.transport.http.access import Room
from doxa.transport.http.openai import builtin
from doxa.transport.http.openai.conversation import digest, read_responses
from doxa.transport.http.openai.editing import Body
from doxa.transport.http.openai.proxy import Link, StoredResponse, proxy_of
from doxa.transport.http.openai.streams import response_events
from doxa.transport.http.openai.who import room_of, session_of, session_of_words

__all__ = ["cancel", "create", "delete", "input_items", "retrieve"]

ECHOED: Mapping[str, Any] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "temperature": 1.0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""Fields of a request that its response repeats, with what they are by default."""


def create(request: Request, body: Body) -> Response:
    """Return a new response, streamed where that is asked for."""
    room = room_of(request, body.data)
    builtin.require_simple(body.data)
    proxy = proxy_of(request)
    before = body.data.get("previous_response_id")
    link = proxy.links.get(room.scope, before) if isinstance(before, str) else None
    if before is not None and link is None:
        raise NotFoundError(f"There is no response {before!r} to go on from; it was deleted, or is no longer kept.")
    talk = read_responses(body, before=link.digest if link else "")
    session = link.session if link else session_of(request, body.data) or session_of_words(talk)
    written = builtin.write(request, room, talk, session)
    data = _response(body.data, written)
    if body.data.get("store") is not False:
        proxy.links.keep(room.scope, data["id"], Link(session=session, digest=digest(talk.digest, data["id"])))
        response = StoredResponse(data, _items(body.data.get("input")), written.turn_id)
        proxy.stored.keep(room.scope, data["id"], response, size=len(body.raw))
    if body.data.get("stream") is True:
        return builtin.streamed(response_events(data))
    return JSONResponse(data, headers=builtin.USAGE)


def retrieve(request: Request, key: str) -> Response:
    """Return a response again."""
    return JSONResponse(_found(request, room_of(request, {}), key).data)


def cancel(request: Request, key: str) -> Response:
    """Refuse: a response is there as soon as it has an id."""
    _found(request, room_of(request, {}), key)
    raise InputError(f"Response {key!r} is complete; only one in the background can be cancelled.")


def delete(request: Request, key: str) -> Response:
    """Keep a response no longer. What was said stays in the memory."""
    room = room_of(request, {})
    room.require("write")
    _found(request, room, key)
    proxy_of(request).stored.drop(room.scope, key)
    proxy_of(request).links.drop(room.scope, key)
    return JSONResponse({"id": key, "object": "response", "deleted": True})


def input_items(request: Request, key: str) -> Response:
    """Return what a response was given, the newest first."""
    items = list(_found(request, room_of(request, {}), key).items)
    if request.query_params.get("order", "desc") == "desc":
        items.reverse()
    ends = {"first_id": items[0]["id"] if items else None, "last_id": items[-1]["id"] if items else None}
    return JSONResponse({"object": "list", "data": items, **ends, "has_more": False})


def _found(request: Request, room: Room, key: str) -> StoredResponse:
    room.require("read")
    stored = proxy_of(request).stored
    found = stored.get(room.scope, key)
    if found is not None and not room.memory().turns([found.turn_id], withdrawn=True):
        stored.drop(room.scope, key)  # what it answers was erased
        found = None
    if found is None:
        raise NotFoundError(f"There is no response {key!r} of this user; it was deleted, or is no longer kept.")
    return found


def _items(given: Any) -> tuple[dict[str, Any], ...]:
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return tuple(_item(one) for one in items if isinstance(one, Mapping))


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    content = item.get("content")
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
    kind = item.get("type", "message")
    told = {"content": parts, "status": "completed"} if kind == "message" else {}
    return {"id": f"msg_{uuid4().hex}", "type": kind, **item, **told}


def _response(asked: Mapping[str, Any], written: builtin.Written) -> dict[str, Any]:
    now = int(time.time())
    part = {"type": "output_text", "text": written.text, "annotations": [], "logprobs": []}
    message = {"id": f"msg_{uuid4().hex}", "type": "message", "status": "completed", "role": "assistant"}
    echoed = {name: asked.get(name) if asked.get(name) is not None else usual for name, usual in ECHOED.items()}
    return {
        "id": f"resp_{uuid4().hex}",
        "object": "response",
        "created_at": now,
        "completed_at": now,
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "model": builtin.MODEL,
        "output": [{**message, "content": [part]}],
        "reasoning": {"effort": None, "summary": None},
        "service_tier": "default",
        "store": asked.get("store") is not False,
        "text": {"format": {"type": "text"}},
        "tool_choice": "none",
        "tools": [],
        "usage": {
            "input_tokens": written.given,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written.taken,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": written.given + written.taken,
        },
        **echoed,
    }
