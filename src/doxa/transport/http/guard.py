"""Limits of the server: who may ask where no key is needed, the size of a body, how much is worked on at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

import anyio
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
AGAIN = {"Retry-After": "1"}
CLOSE = {"Connection": "close"}
BODY_S = 30.0
"""Seconds in which a body is to be complete; of an import, those in which more of it is to come."""
MOST_OF_A_WAIT = 16_384
"""Bytes of the body of a request that only waits for notices: it is held for as long as that waits, perhaps hours."""


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

    A body is read here until it is complete, and only then is its request one of those that are worked on: whoever
    sends none, with a key or without, keeps nobody out.

    Args:
        app: the other one.
        max_body_bytes: largest body.
        max_bytes_at_once: largest bodies of all requests at once; one that is alone may have more.
        larger: the largest body under these paths, which is not held in memory and read by the application itself.
        concurrency: requests at once.
        told: how a refusal is said.
        waits: tells of a request that it only waits for notices: it is not one of those that are worked on at once.
        body_s: seconds that a body may take.
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
        body_s: float = BODY_S,
    ) -> None:
        self._app = app
        self._max = max_body_bytes
        self._at_once = max_bytes_at_once
        self._larger = larger
        self._most = concurrency
        self._told = told
        self._waits = waits
        self._body_s = body_s
        self.under_way = 0
        self.bytes_under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in UNCOUNTED:
            await self._app(scope, receive, send)
            return
        larger = self._larger.get(scope["path"].removeprefix(scope.get("root_path", "")))
        waits = larger is None and self._waits(scope)
        most = larger or (min(self._max, MOST_OF_A_WAIT) if waits else self._max)
        told = Headers(scope=scope).get("content-length", "")
        size = int(told) if told.isdecimal() else 0
        if size > most:
            await self._refuse(scope, receive, send, too_large(size, most, waits=waits))
        elif not waits and self.under_way >= self._most:
            await self._refuse(scope, receive, send, busy(self._most))
        elif larger is not None:
            await self._counted(scope, self._in_parts(receive, most), send)
        elif self._is_full(size):
            await self._refuse(scope, receive, send, full(self._at_once))
        else:
            await self._held(scope, receive, send, most, waits=waits)

    async def _held(self, scope: Scope, receive: Receive, send: Send, most: int, *, waits: bool) -> None:
        """Let a request through once its body is here; what has come of it counts, and not what is told of it."""
        body = _Body()
        try:
            problem = await self._read(body, receive, most, waits=waits)
            if problem is None and not waits and self.under_way >= self._most:
                problem = busy(self._most)  # since its head came
            if problem is not None:
                await self._refuse(scope, receive, send, problem)
            elif waits:
                await self._app(scope, body.before(receive), send)
            else:
                await self._counted(scope, body.before(receive), send)
        finally:
            self.bytes_under_way -= body.size

    async def _read(self, body: _Body, receive: Receive, most: int, *, waits: bool) -> Problem | None:
        """Read a body until it is complete; return what kept it from that."""
        with anyio.move_on_after(self._body_s):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return Problem(status=400, kind="hung-up", detail="The client hung up within the body.")
                part = message.get("body", b"")
                if body.size + len(part) > most:
                    return too_large(body.size + len(part), most, waits=waits)
                if self._is_full(len(part), beside=body.size):
                    return full(self._at_once)
                self.bytes_under_way += len(part)
                body.add(part)
                if not message.get("more_body"):
                    return None
        return too_slow(self._body_s)

    def _in_parts(self, receive: Receive, most: int) -> Receive:
        """Return what gives a body as it comes, to an application that lets in whom it reads one of."""
        taken, complete = 0, False

        async def bounded() -> Message:
            nonlocal taken, complete
            try:
                with anyio.fail_after(None if complete else self._body_s):
                    message = await receive()
            except TimeoutError:
                raise _raised(too_slow(self._body_s)) from None
            taken += len(message.get("body", b""))
            complete = not message.get("more_body")
            if taken > most:
                raise _raised(too_large(taken, most))
            return message

        return bounded

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self.under_way -= 1

    def _is_full(self, more: int, *, beside: int = 0) -> bool:
        """Tell whether there is no room for more bytes; who holds all that there are has room."""
        others = self.bytes_under_way - beside
        return more > 0 and others > 0 and self.bytes_under_way + more > self._at_once

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, problem: Problem) -> None:
        await self._told(Request(scope, receive), problem)(scope, receive, send)


class _Body:
    """The body of a request as far as it is here, and how large that is."""

    def __init__(self) -> None:
        self.size = 0
        self._here = bytearray()  # a part may be one byte, and as an object of its own takes fifty

    def add(self, part: bytes) -> None:
        """Take in what has come."""
        self._here += part
        self.size += len(part)

    def before(self, receive: Receive) -> Receive:
        """Return what gives the whole body once, and then what comes after it."""
        given = False

        async def whole() -> Message:
            nonlocal given
            if given:
                return await receive()
            given, here = True, bytes(self._here)
            self._here.clear()
            return {"type": "http.request", "body": here, "more_body": False}

        return whole


def _raised(problem: Problem) -> HTTPException:
    """Return a problem for an application that is at work already, which closes the sentence itself."""
    return HTTPException(problem.status, problem.detail.removesuffix("."), headers=dict(problem.headers))


def too_large(size: int, most: int, *, waits: bool = False) -> Problem:
    """Return what is said of a body that is too large, or too large for a request that only waits for notices."""
    why = "of a request that waits for notices" if waits else "(server.max_body_bytes)"
    what = f"The body has {size:,} bytes or more, and at most {most:,} are taken {why}."
    return Problem(status=413, kind="too-large", detail=f"{what} Send it in parts.")


def too_slow(seconds: float) -> Problem:
    """Return what is said of a body that does not come."""
    what = f"The body did not come within {seconds:g} s."
    detail = f"{what} Send it again, in parts where the connection is slow."
    return Problem(status=408, kind="too-slow", detail=detail, headers=CLOSE)


def busy(most: int) -> Problem:
    """Return what is said where as many requests are worked on as may be."""
    detail = f"The server works on {most:,} requests at once (server.concurrency). Try again in a second."
    return Problem(status=503, kind="busy", detail=detail, headers=AGAIN)


def full(most: int) -> Problem:
    """Return what is said where there is no room for a body beside those that are worked on."""
    what = f"The server works on bodies of {most:,} bytes at once (server.max_bytes_at_once)."
    return Problem(status=503, kind="busy", detail=f"{what} Try again in a second.", headers=AGAIN)
