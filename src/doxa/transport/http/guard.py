"""Limits of the server: who may ask where no key is needed, the size of a body, how much is worked on at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doxa.transport.http.problems import Problem, Shape

__all__ = ["Guard", "Loopback"]

UNCOUNTED = ("/healthz", "/readyz", "/metrics")
"""They tell how a server is, and most of all one that is busy."""
HERE = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.I)
"""The names of this machine as it calls itself."""


class Loopback:
    """An ASGI application in front of another that answers this machine alone; for a server that needs no keys.

    A page whose name was made to lead to this machine has another `Host`, and a page of elsewhere another `Origin`:
    without this either could read or change the memory of whoever looks at it.

    Args:
        app: the other one.
        origins: pages that may call all the same; `*` for any.
        told: how a refusal is said.
    """

    def __init__(self, app: ASGIApp, *, origins: Collection[str], told: Shape) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._told = told

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and (detail := self._stranger(Headers(scope=scope))):
            problem = Problem(status=403, kind="forbidden", detail=detail)
            app: ASGIApp = self._told(Request(scope, receive), problem) if scope["type"] == "http" else _closed
            await app(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _stranger(self, headers: Headers) -> str:
        """Return why a request is none of this machine's; empty where it is."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not HERE.fullmatch(hosts[0]):
            host = ", ".join(hosts)[:80] or "a request without a host"
            return f"{host} is not this machine (127.0.0.1, localhost), and server.open is for this machine only."
        for origin in headers.getlist("origin"):
            scheme, _, whose = origin.partition("://")
            known = "*" in self._origins or origin in self._origins
            if not known and not (scheme in ("http", "https") and HERE.fullmatch(whose)):
                return f"Pages of {origin[:80]} may not call; the setting server.cors names those that may."
        return ""


async def _closed(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "websocket.close", "code": 1008})


class Guard:
    """An ASGI application in front of another that refuses bodies that are too large and requests that are too many.

    Args:
        app: the other one.
        max_body_bytes: largest body.
        max_bytes_at_once: largest bodies of all requests at once; one that is alone may have more.
        larger: the largest body under these paths, which is not held in memory.
        concurrency: requests at once.
        told: how a refusal is said.
        waits: tells of a request that it only waits for notices: it is not one of those that are worked on at once.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_body_bytes: int,
        max_bytes_at_once: int,
        larger: dict[str, int],
        concurrency: int,
        told: Shape,
        waits: Callable[[Scope], bool] = lambda _: False,
    ) -> None:
        self._app = app
        self._max = max_body_bytes
        self._at_once = max_bytes_at_once
        self._larger = larger
        self._most = concurrency
        self._told = told
        self._waits = waits
        self.under_way = 0
        self.bytes_under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNCOUNTED:
            await self._app(scope, receive, send)
            return
        larger = self._larger.get(scope["path"].removeprefix(scope.get("root_path", "")))
        most = self._max if larger is None else larger
        told = Headers(scope=scope).get("content-length", "")
        size = int(told) if told.isdecimal() else 0
        if size > most:
            await self._refuse(scope, receive, send, 413, "too-large", too_large(size, most))
        elif self._waits(scope):
            await self._app(scope, receive, send)
        elif self.under_way >= self._most:
            detail = f"The server works on {self._most} requests at once (server.concurrency). Try again in a second."
            await self._refuse(scope, receive, send, 503, "busy", detail)
        elif larger is None and self._is_full(size):
            await self._refuse(scope, receive, send, 503, "busy", full(self._at_once))
        else:
            await self._counted(scope, receive, send, most, size if larger is None else None)

    async def _counted(self, scope: Scope, receive: Receive, send: Send, most: int, size: int | None) -> None:
        """Let a request through; `size` is that of its body as it is told, None where it is not held in memory."""
        taken, held = 0, size or 0

        async def bounded() -> Message:
            nonlocal taken, held
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > most:
                raise HTTPException(413, too_large(taken, most))
            if size is not None and taken > held:
                if self._is_full(taken - held, beside=held):
                    raise HTTPException(503, full(self._at_once), headers={"Retry-After": "1"})
                self.bytes_under_way += taken - held
                held = taken
            return message

        self.under_way += 1
        self.bytes_under_way += held
        try:
            await self._app(scope, bounded, send)
        finally:
            self.under_way -= 1
            self.bytes_under_way -= held

    def _is_full(self, more: int, *, beside: int = 0) -> bool:
        """Tell whether there is no room for more bytes; who holds all that there are has room."""
        others = self.bytes_under_way - beside
        return more > 0 and others > 0 and self.bytes_under_way + more > self._at_once

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, status: int, kind: str, detail: str) -> None:
        headers = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
        problem = Problem(status=status, kind=kind, detail=detail, headers=headers)
        await self._told(Request(scope, receive), problem)(scope, receive, send)


def too_large(size: int, most: int) -> str:
    """Return what is said of a body that is too large."""
    what = f"The body has {size:,} bytes or more, and at most {most:,} are taken (server.max_body_bytes)."
    return f"{what} Send it in parts."


def full(most: int) -> str:
    """Return what is said where there is no room for a body beside those that are worked on."""
    return f"The server works on bodies of {most:,} bytes at once (server.max_bytes_at_once). Try again in a second."
