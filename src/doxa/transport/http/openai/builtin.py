"""Without an upstream: the built-in writer, in the shapes of OpenAI.

What it cannot do (tools, structured outputs, several choices, log probabilities) is refused, never left out silently.
Tokens are estimated, since no model counts any; the header `Doxa-Usage: estimated` says so.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from doxa.core.errors import InputError
from doxa.core.tokens import estimate_tokens
from doxa.transport.http.access import AGENT_HEADER, Room
from doxa.transport.http.openai.conversation import Conversation, read_chat
from doxa.transport.http.openai.editing import Body
from doxa.transport.http.openai.errors import refused
from doxa.transport.http.openai.hearing import turn_id_of
from doxa.transport.http.openai.streams import completion_events
from doxa.transport.http.openai.who import let_in, room_of, session_of, session_of_words
from doxa.transport.http.state import served
from doxa.transport.http.telling import spans

__all__ = ["MODEL", "USAGE", "Written", "complete", "embed", "models", "require_simple", "streamed", "write"]

MODEL = "doxa"
MOST_TEXTS = 2048
"""Texts that are encoded at once, as at OpenAI."""
SINCE = 1735689600
"""When the model is said to be of (the protocol wants a time)."""
USAGE = {"Doxa-Usage": "estimated"}
REFUSED = {
    "tools": "calls no tools",
    "functions": "calls no functions",
    "logprobs": "has no log probabilities",
    "top_logprobs": "has no log probabilities",
    "audio": "does not speak",
    "background": "answers at once",
    "prompt": "fills in no prompt templates",
}
"""Fields that ask for what the built-in writer does not do."""


@dataclass(frozen=True, slots=True)
class Written:
    """A reply with what it took, in tokens by estimate."""

    text: str
    given: int
    taken: int
    turn_id: str
    """The turn that it answers."""


class UnsupportedError(InputError):
    """The built-in writer cannot do what a request asks for."""


def complete(request: Request, body: Body) -> Response:
    """Return a chat completion."""
    room = room_of(request, body.data)
    require_simple(body.data)
    talk = read_chat(body)
    session = session_of(request, body.data) or session_of_words(talk)
    written = write(request, room, talk, session)
    usage = {"prompt_tokens": written.given, "completion_tokens": written.taken}
    message: dict[str, Any] = {"role": "assistant", "content": written.text, "refusal": None, "annotations": []}
    data: dict[str, Any] = {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {**usage, "total_tokens": written.given + written.taken},
        "service_tier": "default",
        "system_fingerprint": None,
    }
    if body.data.get("stream") is not True:
        return JSONResponse(data, headers=USAGE)
    options = body.data.get("stream_options")
    return streamed(
        completion_events(data, usage=isinstance(options, Mapping) and options.get("include_usage") is True)
    )


def write(request: Request, room: Room, talk: Conversation, session: str) -> Written:
    """Return what the built-in writer answers to the newest message, which is remembered with the reply."""
    last = talk.said[-1] if talk.said else None
    if last is None or last.role != "user" or not last.text.strip():
        raise InputError("The built-in writer answers the user: the last message has to be theirs, and to have a text.")
    room.require("read")
    agent = request.headers.get(AGENT_HEADER)
    dialogue = room.dialogue("write", session=session, agent=agent, speaker=last.speaker)
    turn_id = turn_id_of(session, last.digest)
    reply = dialogue.respond(last.text, turn_id=turn_id)
    served(request).numbers.count(reply.trace)
    spans("doxa.reply", reply.trace)
    given = sum(estimate_tokens(one.text) for one in talk.said)
    return Written(reply.text, given, estimate_tokens(reply.text), turn_id)


def streamed(events: Iterable[bytes]) -> Response:
    """Return events as a stream."""
    return StreamingResponse(events, media_type="text/event-stream", headers=USAGE)


def require_simple(data: Mapping[str, Any]) -> None:
    """Refuse what the built-in writer does not do.

    Raises:
        UnsupportedError: it is asked for.
    """
    for name, why in REFUSED.items():
        if data.get(name):
            raise UnsupportedError(_unable(name, why))
    if data.get("n") not in (None, 1):
        raise UnsupportedError(_unable("n", "writes one reply"))
    for holder, name in ((data, "response_format"), (data.get("text"), "format")):
        shape = holder.get(name) if isinstance(holder, Mapping) else None
        if isinstance(shape, Mapping) and shape.get("type") not in (None, "text"):
            raise UnsupportedError(_unable(name, "writes plain text, and follows no schema"))


def models(request: Request, name: str | None = None) -> Response:
    """Return the one model there is, or a list of it."""
    let_in(request)
    model = {"id": MODEL, "object": "model", "created": SINCE, "owned_by": "doxa"}
    if name is None:
        return JSONResponse({"object": "list", "data": [model]})
    if name != MODEL:
        message = f"There is no model {name!r} here: without server.upstream there is {MODEL!r} alone."
        return refused(404, message, code="model_not_found", param="model")
    return JSONResponse(model)


def embed(request: Request, body: Body) -> Response:
    """Return embeddings by the encoder of the engine."""
    let_in(request)
    encoder = served(request).doxa.parts.encoder
    given = body.data.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(one, str) and one for one in texts):
        raise InputError(f"input: expected a text or a list of texts that are not empty, got {str(given)[:80]!r}.")
    if len(texts) > MOST_TEXTS:
        raise InputError(f"input: expected at most {MOST_TEXTS:,} texts, got {len(texts):,}. Send them in parts.")
    if body.data.get("dimensions") not in (None, encoder.dims):
        raise UnsupportedError(f"dimensions: the vectors of {encoder.name} have {encoder.dims}. Leave it out.")
    rows = encoder.encode(texts).astype("<f4")
    packed = body.data.get("encoding_format") == "base64"
    data = [
        {
            "object": "embedding",
            "index": place,
            "embedding": base64.b64encode(row.tobytes()).decode() if packed else row.tolist(),
        }
        for place, row in enumerate(rows)
    ]
    size = sum(estimate_tokens(text) for text in texts)
    usage = {"prompt_tokens": size, "total_tokens": size}
    return JSONResponse({"object": "list", "data": data, "model": encoder.name, "usage": usage}, headers=USAGE)


def _unable(name: str, why: str) -> str:
    return f"{name}: the built-in writer {why}. Leave it out, or set server.upstream to the address of a model."
