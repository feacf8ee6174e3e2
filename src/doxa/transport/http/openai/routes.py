"""Paths under /openai/v1 -> what answers them: the upstream, or without one the built-in writer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio.to_thread
from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Send

from doxa.core.errors import InputError
from doxa.transport.http.openai import builtin, stored
from doxa.transport.http.openai.editing import Body, require_plain
from doxa.transport.http.openai.exchange import asked_of, exchanged
from doxa.transport.http.openai.lending import let_through
from doxa.transport.http.openai.proxy import proxy_of
from doxa.transport.http.openai.relaying import Relayed, pass_on, require_below
from doxa.transport.http.openai.who import let_in
from doxa.transport.http.page import needs
from doxa.transport.http.state import served

__all__ = ["router"]

router = APIRouter(prefix="/openai/v1", tags=["openai"])
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
Make = Callable[[Request, Body], Response]
TEXT, FLAG, INTEGER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
LIST = {"type": "array", "items": {}}
SHARED = {"model": TEXT, "stream": FLAG, "user": TEXT, "metadata": {"type": "object"}}
CHAT = {"type": "object", "required": ["messages"], "properties": {"messages": LIST, **SHARED}}
RESPONSE = {
    "type": "object",
    "properties": {"input": {"anyOf": [TEXT, LIST]}, "previous_response_id": TEXT, "conversation": {}, **SHARED},
}
EMBEDDING = {
    "type": "object",
    "required": ["input"],
    "properties": {"input": {"anyOf": [TEXT, LIST]}, "model": TEXT, "encoding_format": TEXT, "dimensions": INTEGER},
}
"""Fields of bodies that Doxa looks at; all others are relayed as they are."""
ANY_KEY = needs()


@router.post("/chat/completions", response_class=Response, openapi_extra=needs("read", "write", body=CHAT))
async def chat_completions(request: Request) -> Response:
    """Answer a conversation, with what is remembered beside the words of the user."""
    return await _conversation(request, builtin.complete, chat=True)


@router.post("/responses", response_class=Response, openapi_extra=needs("read", "write", body=RESPONSE))
async def create_response(request: Request) -> Response:
    """Answer a conversation, or go on with one (`previous_response_id`)."""
    return await _conversation(request, stored.create, chat=False)


@router.get("/responses/{key}", response_class=Response, openapi_extra=ANY_KEY)
async def retrieve_response(request: Request, key: str) -> Response:
    """Return a response again."""
    return await _either(request, partial(stored.retrieve, key=key))


@router.delete("/responses/{key}", response_class=Response, openapi_extra=ANY_KEY)
async def delete_response(request: Request, key: str) -> Response:
    """Keep a response no longer; what was said stays in the memory."""
    return await _either(request, partial(stored.delete, key=key))


@router.post("/responses/{key}/cancel", response_class=Response, openapi_extra=ANY_KEY)
async def cancel_response(request: Request, key: str) -> Response:
    """Cancel a response in the background."""
    return await _either(request, partial(stored.cancel, key=key))


@router.get("/responses/{key}/input_items", response_class=Response, openapi_extra=ANY_KEY)
async def response_input_items(request: Request, key: str) -> Response:
    """Return what a response was given."""
    return await _either(request, partial(stored.input_items, key=key))


@router.post("/embeddings", response_class=Response, openapi_extra=needs(body=EMBEDDING))
async def embeddings(request: Request) -> Response:
    """Return the vectors of texts."""
    if proxy_of(request).relays:
        return await _relayed(request)
    return await anyio.to_thread.run_sync(builtin.embed, request, _body(await request.body()))


@router.get("/models", response_class=Response, openapi_extra=ANY_KEY)
async def list_models(request: Request) -> Response:
    """Return the models there are."""
    return await _either(request, builtin.models)


@router.get("/models/{name:path}", response_class=Response, openapi_extra=ANY_KEY)
async def retrieve_model(request: Request, name: str) -> Response:
    """Return one model."""
    return await _either(request, partial(builtin.models, name=name))


@router.api_route("/{path:path}", methods=METHODS, include_in_schema=False)
async def anything(request: Request, path: str) -> Response:
    """Relay a request that is none of the others as it came."""
    if proxy_of(request).relays:
        return await _relayed(request)
    await anyio.to_thread.run_sync(let_in, request)
    raise HTTPException(404, "this takes a model: set server.upstream to the address of an OpenAI-compatible server")


async def _conversation(request: Request, offline: Make, *, chat: bool) -> Response:
    relays = proxy_of(request).relays
    try:
        body = Body(await request.body())
    except ValueError as exc:
        if relays and served(request).settings.verify != "block":  # the upstream says what is wrong with it
            return await _relayed(request)
        raise InputError(f"The body is no JSON object: {exc}.") from exc
    if relays:
        require_below(request)
        return await exchanged(request, body, chat=chat)
    require_plain(body)
    return await anyio.to_thread.run_sync(offline, request, body)


async def _either(request: Request, offline: Callable[[Request], Response]) -> Response:
    if proxy_of(request).relays:
        return await _relayed(request)
    return await anyio.to_thread.run_sync(offline, request)


async def _relayed(request: Request) -> Response:
    """Return the answer of the upstream to a request that touches no memory."""
    await anyio.to_thread.run_sync(let_in, request)  # before its body is read
    proxy, body = proxy_of(request), await request.body()
    await anyio.to_thread.run_sync(let_through, request, body)

    async def work(send: Send) -> None:
        answer = await proxy.upstream().send(asked_of(request, body, proxy.key))
        try:
            await pass_on(answer, send)
        finally:
            await answer.close()

    return Relayed(work)


def _body(raw: bytes) -> Body:
    try:
        return Body(raw)
    except ValueError as exc:
        raise InputError(f"The body is no JSON object: {exc}.") from exc
