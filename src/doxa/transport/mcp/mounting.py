"""MCP servers -> routes of an HTTP application, each request in the room that its key opens."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doxa.core.config import MCP_PROFILES, ServerConfig
from doxa.transport.mcp.sessions import METHODS, SESSION, VERSION, Sessions

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.mcpserver import MCPServer

    from doxa.transport.room import Room
    from doxa.transport.trouble import Trouble

__all__ = ["PATH", "Endpoints", "shape", "waits"]

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SERVER_ERRORS = 500
INVALID_REQUEST, INTERNAL_ERROR = -32600, -32603
"""Of JSON-RPC. While the SDK is loaded in a thread of its own, nothing of it can be imported beside that."""
HELD_TO_HEADERS = "2026-07-28"
"""The first revision of which the SDK refuses a message that is not what its headers say, or that it does not know."""
MOST, MOST_OF_A_KEY = 2_000, 200
"""Streams on which clients wait for notices, all together and of one key."""


def shape(request: Request, problem: Trouble) -> Response:
    """Return what went wrong before a message was read, as an error of JSON-RPC."""
    code = INTERNAL_ERROR if problem.status >= SERVER_ERRORS else INVALID_REQUEST
    error = {"code": code, "message": problem.detail, "data": {"type": f"urn:doxa:{problem.kind}"}}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, problem.status, headers=dict(problem.headers))


def waits(scope: Scope) -> bool:
    """Tell whether a request only waits for notices, perhaps for hours, and takes no time of the server."""
    if not str(scope["path"]).startswith(PATH):
        return False
    headers = Headers(scope=scope)
    if scope["method"] == "GET":
        return SESSION in headers
    versions = headers.getlist(VERSION)  # of two the SDK reads the first
    is_held_to_it = len(versions) == 1 and versions[0] >= HELD_TO_HEADERS
    return is_held_to_it and headers.getlist("mcp-method") == ["subscriptions/listen"]


class Endpoints:
    """The MCP servers of an application: at `/mcp` the profile of the settings, at `/mcp/NAME` that of the name.

    The SDK takes a second to load and to put the tools together, so that is done behind a server that listens already;
    requests that come before wait for it.

    Args:
        room_of: lets a request in; raises where it may not come in.
        settings: which profile, whose pages may call, how large a message may be.
    """

    def __init__(self, room_of: Callable[[HTTPConnection], Room], settings: ServerConfig) -> None:
        self._room_of = room_of
        self._settings = settings
        self._waiting: dict[anyio.CancelScope, str] = {}
        """What ends each stream of notices, and the key of whoever waits on it."""
        self._sessions: dict[str, Sessions] = {}
        self._ready = anyio.Event()
        self.routes = [_Endpoint(self, profile).at(path) for path, profile in self._paths()]

    def _paths(self) -> Sequence[tuple[str, str]]:
        return [(PATH, self._settings.mcp_profile), *((f"{PATH}/{profile}", profile) for profile in MCP_PROFILES)]

    @cached_property
    def servers(self) -> Mapping[str, MCPServer[Any]]:
        """The server of each profile."""
        from doxa.transport.mcp.server import server

        return {profile: server(profile, _room_of_message) for profile in MCP_PROFILES}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests until this is left; it may be entered again."""
        self._ready = anyio.Event()
        async with anyio.create_task_group() as tasks:
            over = anyio.Event()
            tasks.start_soon(self._run, over)
            yield
            over.set()

    async def _run(self, over: anyio.Event) -> None:
        servers = await anyio.to_thread.run_sync(lambda: self.servers)
        from mcp.server.transport_security import TransportSecuritySettings

        # The checks of the SDK want the names of a host, which is behind a proxy unknown here; where no keys are
        # needed, the application checks them.
        unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        async with AsyncExitStack() as stack:
            for profile, one in servers.items():
                # This makes the session manager anew, which runs only once; its own routes are not used.
                one.streamable_http_app(
                    max_request_body_size=self._settings.max_body_bytes, transport_security=unchecked
                )
                self._sessions[profile] = Sessions(one.session_manager)
                await stack.enter_async_context(one.session_manager.run())
            self._ready.set()
            await over.wait()

    async def answer(self, profile: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, once it is let in."""
        connection = HTTPConnection(scope)
        self._check_caller(connection)
        room = await anyio.to_thread.run_sync(self._room_of, connection)
        connection.state.room = room
        connection.state.key_id, connection.state.tenant = room.scope.key_id, room.scope.tenant
        await self._ready.wait()
        from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken

        # By these the SDK binds sessions, and what travels with a question, to whoever began them.
        token = AccessToken(
            token="", client_id=room.scope.key_id, scopes=[], subject=f"{room.scope.tenant}/{room.scope.user}"
        )
        scope["user"] = AuthenticatedUser(token)
        app = AuthContextMiddleware(partial(self._sessions[profile].answer, room.scope.key_id))
        if waits(scope):
            await self._until_stopped(app, room.scope.key_id, scope, receive, send)
        else:
            await app(scope, receive, send)

    def stop(self) -> None:
        """End the streams on which clients wait for notices, so that a shutdown need not wait for them."""
        for waiting in list(self._waiting):
            waiting.cancel()

    async def _until_stopped(self, app: ASGIApp, key_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        if len(self._waiting) >= MOST or [*self._waiting.values()].count(key_id) >= MOST_OF_A_KEY:
            what = f"at most {MOST_OF_A_KEY} streams of one key wait for notices, and {MOST:,} of all; end one"
            raise HTTPException(429, what, headers={"Retry-After": "5"})
        open_ = False

        async def noted(message: Message) -> None:
            nonlocal open_
            open_ = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)

        with anyio.CancelScope() as waiting:
            self._waiting[waiting] = key_id
            try:
                await app(scope, receive, noted)
            finally:
                self._waiting.pop(waiting, None)
        if waiting.cancelled_caught and open_:
            await send({"type": "http.response.body", "body": b""})

    def _check_caller(self, connection: HTTPConnection) -> None:
        """Refuse pages that may not call, as the protocol demands."""
        origin = connection.headers.get("origin")
        if origin and origin not in self._settings.cors and not _is_here(urlsplit(origin).hostname):
            raise HTTPException(403, f"pages of {origin} may not call; the setting server.cors names those that may")


def _is_here(host: str | None) -> bool:
    return (host or "").strip("[]") in LOOPBACK


class _Endpoint:
    """The ASGI application of one profile."""

    def __init__(self, endpoints: Endpoints, profile: str) -> None:
        self._endpoints = endpoints
        self._profile = profile

    def at(self, path: str) -> Route:
        """Return the route that leads here."""
        self._route = Route(path, endpoint=self, methods=METHODS, include_in_schema=False)
        (self._route.methods or set()).discard("HEAD")  # which Starlette adds to GET, and the protocol does not have
        return self._route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self._route  # the log and the metrics say which; Starlette, unlike FastAPI, does not
        await self._endpoints.answer(self._profile, scope, receive, send)


def _room_of_message(ctx: ServerRequestContext[Any, Any]) -> Room | None:
    """Return the room of the HTTP request that brought a message, not that of the one that began its session."""
    return getattr(ctx.request.state, "room", None) if ctx.request is not None else None
