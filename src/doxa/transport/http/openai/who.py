"""A request -> whose memory it means, and which session."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from doxa.core.access import Key
from doxa.core.errors import NotFoundError
from doxa.transport.http.access import SESSION_HEADER, Room
from doxa.transport.http.openai.conversation import Conversation, digest
from doxa.transport.http.openai.proxy import proxy_of
from doxa.transport.http.openai.relaying import require_below
from doxa.transport.http.problems import ForbiddenError
from doxa.transport.http.state import served

__all__ = ["let_in", "let_through", "room_of", "session_of", "session_of_words"]

LONGEST = 200
ANYBODYS = re.compile(
    r"GET /models(/.*)?"
    r"|POST /(chat/completions|completions|responses|embeddings|moderations|rerank|responses/input_tokens)"
    r"|POST /(audio/(speech|transcriptions|translations)|images/(generations|edits|variations))"
)
"""What leaves nothing in the account of an upstream, and shows nothing that is there."""
RESPONSE = re.compile(r"[A-Z]+ /responses/([^/]+)(/.*)?")


def let_in(request: Request) -> Key | None:
    """Let in a request that touches no memory, and return its key. Raises as `Gate.key`."""
    key = served(request).gate.key(request)
    request.state.key_id, request.state.tenant = (key.key_id, key.tenant) if key else ("open", None)
    return key


def let_through(request: Request) -> None:
    """Let a request that touches no memory through to the upstream.

    Where the upstream is asked with the key of the operator, its account is that of all users: files, stored
    completions and the like are shown to `admin` alone, and a response to whom it was made for.

    Raises:
        ForbiddenError: it asks for what is of all users.
        NotFoundError: it asks for the response of another user.
        HTTPException: its path could lead elsewhere.
    """
    key, proxy = let_in(request), proxy_of(request)
    require_below(request)
    if key is None or "admin" in key.rights or not proxy.lends_key(request):
        return
    asked = f"{request.method} {request.scope['path'].partition('/openai/v1')[2]}"
    if found := RESPONSE.fullmatch(asked):
        if proxy.links.is_known(found[1]) and proxy.links.get(room_of(request, {}).scope, found[1]) is None:
            raise NotFoundError(f"There is no response {found[1][:80]!r} of this user.")
    elif not ANYBODYS.fullmatch(asked):
        raise ForbiddenError(
            f"{asked[:80]} is of the account of server.upstream_key, which all users share. Send a key of your own for "
            "the upstream (Authorization, beside Doxa-Key), or one of Doxa's that may: doxa keys add --right admin."
        )


def room_of(request: Request, data: Mapping[str, Any]) -> Room:
    """Return the room of a request: of the user that the header names, else the key, else a field of OpenAI's."""
    metadata = data.get("metadata")
    inner = metadata if isinstance(metadata, Mapping) else {}
    user = _first(data.get("user"), data.get("safety_identifier"), inner.get("user"))
    room = served(request).gate.room(request, or_else=user)
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
