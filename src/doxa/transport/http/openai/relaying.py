"""The answer of an upstream -> the client, piece by piece as it comes; a client that hangs up ends the call."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any
from urllib.parse import unquote

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from doxa.backends.upstream import Answer
from doxa.core.errors import BackendUnavailableError, DoxaError
from doxa.transport.http.openai.headers import for_client

__all__ = ["Relayed", "pass_on", "path_of", "require_below", "send_whole"]

logger = logging.getLogger("doxa.server")
Work = Callable[[Send], Awaitable[None]]


def path_of(request: Request) -> str:
    """Return the path of a request behind that of the proxy, as it was written."""
    return str(request.scope["raw_path"].decode("latin-1").partition("/openai/v1")[2])


def require_below(request: Request) -> None:
    """Refuse a path that could lead elsewhere than below the address of the upstream, whoever reads it.

    Without a slash at its beginning it would go on with the name of the host: `http://upstream` and `%2F@elsewhere/`.
    """
    written = plain = path_of(request)
    while (decoded := unquote(plain)) != plain:  # who is behind the upstream may decode once more
        plain = decoded
    parts = re.split(r"[/\\]", plain)
    if not written.startswith("/") or any(part.partition(";")[0].strip() in (".", "..") for part in parts):
        raise HTTPException(404, "a path may not leave that of the upstream")


class Relayed(Response):
    """An answer that is worked on until it is sent, or until the client hangs up, which cancels the work.

    Args:
        work: sends the answer.
        after: what is done when the answer is there in full; nobody waits for it.
        meanwhile: what is done while the answer is worked on; what has not begun by its end is left out.
    """

    def __init__(
        self,
        work: Work,
        after: Callable[[], Awaitable[None]] | None = None,
        meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        super().__init__()
        self._work = work
        self._after = after
        self._meanwhile = meanwhile

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        failed: DoxaError | None = None
        ended = False

        async def noted(message: Message) -> None:
            nonlocal ended
            ended = ended or (message["type"] == "http.response.body" and not message.get("more_body", False))
            await send(message)

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            if self._meanwhile is not None:
                tasks.start_soon(self._meanwhile)
            try:
                await self._work(noted)
            except DoxaError as exc:  # outside of the group, where it would be wrapped
                failed = exc
            tasks.cancel_scope.cancel()
        if failed is not None:
            raise failed
        if ended and self._after is not None:
            with anyio.CancelScope(shield=True):
                await self._after()


async def pass_on(
    answer: Answer,
    send: Send,
    *,
    more: Mapping[str, str] | None = None,
    seen: Callable[[bytes], None] | None = None,
    ending: Callable[[], AsyncIterator[bytes]] | None = None,
) -> None:
    """Send an answer as it comes.

    Args:
        answer: the answer; the caller closes it.
        send: the client.
        more: headers beside those of the upstream.
        seen: told every piece before it is sent.
        ending: what is sent behind the answer.

    Where the upstream breaks off, so does this: the client sees what it would see without a proxy.
    """
    headers = for_client(answer.headers, more, sized=ending is None)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    try:
        async for chunk in answer.chunks():
            if seen is not None:
                seen(chunk)
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    except BackendUnavailableError as exc:
        logger.warning("the upstream broke off in the middle of an answer: %s", exc)
        return
    if ending is not None:
        async for chunk in ending():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def send_whole(
    answer: Answer, body: bytes, send: Send, *, more: Mapping[str, str] | None = None, sized: bool = True
) -> None:
    """Send an answer whose body was read; `sized` tells whether that is still the body of the upstream."""
    headers = for_client(answer.headers, more, sized=sized)
    if not sized:
        headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
