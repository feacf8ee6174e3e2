"""Limits of the server: the size of a body, and how much is worked on at once."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doxa.transport.http.problems import Problem, Shape

__all__ = ["Guard"]

UNCOUNTED = ("/healthz", "/readyz", "/metrics")
"""They tell how a server is, and most of all one that is busy."""


class Guard:
    """An ASGI application in front of another that refuses bodies that are too large and requests that are too many.

    Args:
        app: the other one.
        max_body_bytes: largest body.
        larger: the largest body under paths with these ends.
        concurrency: requests at once.
        told: how a refusal is said.
        waits: tells of a request that it only waits for notices: it is not one of those that are worked on at once.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_body_bytes: int,
        larger: dict[str, int],
        concurrency: int,
        told: Shape,
        waits: Callable[[Scope], bool] = lambda _: False,
    ) -> None:
        self._app = app
        self._max = max_body_bytes
        self._larger = larger
        self._most = concurrency
        self._told = told
        self._waits = waits
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNCOUNTED:
            await self._app(scope, receive, send)
            return
        most = next((size for end, size in self._larger.items() if scope["path"].endswith(end)), self._max)
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > most:
            await self._refuse(scope, receive, send, 413, "too-large", too_large(int(length), most))
        elif self._waits(scope):
            await self._app(scope, receive, send)
        elif self.under_way >= self._most:
            detail = f"The server works on {self._most} requests at once (server.concurrency). Try again in a second."
            await self._refuse(scope, receive, send, 503, "busy", detail)
        else:
            await self._counted(scope, receive, send, most)

    async def _counted(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        taken = 0

        async def bounded() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                raise HTTPException(413, too_large(taken, most))
            return message

        self.under_way += 1
        try:
            await self._app(scope, bounded, send)
        finally:
            self.under_way -= 1

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, status: int, kind: str, detail: str) -> None:
        headers = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        problem = Problem(status=status, kind=kind, detail=detail, headers=headers)
        await self._told(Request(scope, receive), problem)(scope, receive, send)


def too_large(size: int, most: int) -> str:
    """Return what is said of a body that is too large."""
    what = f"The body has {size:,} bytes or more, and at most {most:,} are taken (server.max_body_bytes)."
    return f"{what} Send it in parts."
