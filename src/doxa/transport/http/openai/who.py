"""A request -> whose memory it means, and which session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from doxa.core.access import Key
from doxa.transport.http.access import SESSION_HEADER, Room
from doxa.transport.http.openai.conversation import Conversation, digest
from doxa.transport.http.state import served

__all__ = ["let_in", "room_of", "session_of", "session_of_words"]

LONGEST = 200


def let_in(request: Request) -> Key | None:
    """Let in a request that touches no memory, and return its key. Raises as `Gate.key`."""
    key = served(request).gate.key(request)
    request.state.key_id, request.state.tenant = (key.key_id, key.tenant) if key else ("open", None)
    return key


def room_of(request: Request, data: Mapping[str, Any]) -> Room:
    """Return the room of a request: of the user that the header names, else the key, else a field of OpenAI's.

    Raises:
        InputError: nobody can be called that.
        RefusedError: as `Gate.room`.
    """
    metadata = data.get("metadata")
    inner = metadata if isinstance(metadata, Mapping) else {}
    user = _first(data.get("user"), data.get("safety_identifier"), inner.get("user"))
    room = served(request).gate.room(request, or_else=user)
    for right in room.scope.rights:
        room.memory(right)  # refuses what is no name, which has to be told before an upstream is asked
    request.state.key_id, request.state.tenant = room.scope.key_id, room.scope.tenant
    return room


def session_of(request: Request, data: Mapping[str, Any]) -> str | None:
    """Return the session that a request names; None where it names none."""
    metadata = data.get("metadata")
    inner = metadata if isinstance(metadata, Mapping) else {}
    talk = data.get("conversation")
    named = talk.get("id") if isinstance(talk, Mapping) else talk
    found = _first(request.headers.get(SESSION_HEADER), inner.get("session"), named, data.get("prompt_cache_key"))
    return found if found is None or len(found) <= LONGEST else f"openai-{digest(found)}"


def session_of_words(talk: Conversation) -> str:
    """Return a session for a conversation that names none: that of all those that begin with the same words."""
    first = next((said.text for said in talk.users), "")
    return f"openai-{digest(first)[:16]}"


def _first(*values: Any) -> str | None:
    """Return the first text that says something, as it is: names that differ in blanks are those of two users."""
    return next((value for value in values if isinstance(value, str) and value.strip()), None)
