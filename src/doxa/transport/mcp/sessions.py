"""Messages of MCP over HTTP -> the sessions of one server, which end, and of which a key has so many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

__all__ = ["METHODS", "SESSION", "VERSION", "Sessions"]

METHODS = ("POST", "GET", "DELETE")
"""What the protocol has; the SDK makes a session for any other too."""
SESSION = "mcp-session-id"
VERSION = "mcp-protocol-version"
JSON = "application/json"
IDLE_S = 1800.0
"""Seconds after which a session ends that nobody uses."""
MOST_OF_A_KEY = 200
"""Sessions of one key: each may have a stream of notices, and a key may be that of a program with many users."""
ERRORS = 400
"""The first status that refuses."""


@dataclass(slots=True)
class _Session:
    key_id: str
    under_way: int = 0
    """Requests and open streams."""


class Sessions:
    """The sessions of one server.

    The SDK counts from when the last request of a session came, be its stream still open, keeps what clients end, and
    makes a session for whatever comes without the id of one. So this looks at a message before the SDK does, has time
    stand still as long as anything of a session is under way, and ends what was not begun.

    Args:
        manager: the one of the SDK, which runs from then on as told here.
        idle_s: seconds after which a session ends that nobody uses.
        most: sessions of one key; another takes the place of the one that is idle longest.
    """

    def __init__(
        self, manager: StreamableHTTPSessionManager, *, idle_s: float = IDLE_S, most: int = MOST_OF_A_KEY
    ) -> None:
        manager.session_idle_timeout = idle_s
        self._manager = manager
        self._idle_s = idle_s
        self._most = most
        self._sessions: dict[str, _Session] = {}
        """By their ids, the one that is idle longest first."""

    async def answer(self, key_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a message.

        Raises:
            HTTPException: it is none, or the key has as many sessions as it may, and all of them are in use.
        """
        headers = Headers(scope=scope)
        given = headers.get(SESSION)
        if _is_stateless(headers):
            await self._manager.handle_request(scope, receive, send)
        elif given is None:
            _check_first(scope["method"], headers)
            await self._begin(key_id, scope, receive, send)
        else:
            await self._go_on(given, key_id, scope, receive, send)

    async def _begin(self, key_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        if len(own := self._of(key_id)) >= self._most and all(one.under_way for one in own.values()):
            what = f"this key has {self._most:,} sessions, and all of them are in use; end one, or try again later"
            raise HTTPException(429, what, headers={"Retry-After": "5"})
        begun, refused = "", False

        async def noted(message: Message) -> None:
            nonlocal begun, refused
            if message["type"] == "http.response.start":
                begun, refused = Headers(raw=message["headers"]).get(SESSION, ""), message["status"] >= ERRORS
                if begun:
                    self._sessions[begun] = _Session(key_id, under_way=1)
                    self._time(begun)
            await send(message)

        try:
            await self._manager.handle_request(scope, receive, noted)
        finally:
            if refused:
                self._end(begun)
            elif begun:
                self._leave(begun)
                self._make_room(key_id, begun)

    async def _go_on(self, session_id: str, key_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        session = self._sessions.get(session_id)
        if session is None or session.key_id != key_id:  # the SDK says that there is none
            await self._manager.handle_request(scope, receive, send)
            return
        ended = False

        async def noted(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                ended = scope["method"] == "DELETE" and message["status"] < ERRORS
                self._time(session_id)
            await send(message)

        session.under_way += 1
        try:
            await self._manager.handle_request(scope, receive, noted)
        finally:
            self._leave(session_id)
            if ended:
                self._end(session_id)

    def _leave(self, session_id: str) -> None:
        """Note that a request is over."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.under_way -= 1
            self._sessions[session_id] = session
            self._time(session_id)

    def _time(self, session_id: str) -> None:
        """Set when a session ends: never as long as it is in use."""
        session, transport = self._sessions.get(session_id), self._manager._server_instances.get(session_id)
        if session is not None and transport is not None and transport.idle_scope is not None:
            transport.idle_scope.deadline = math.inf if session.under_way else anyio.current_time() + self._idle_s

    def _make_room(self, key_id: str, latest: str) -> None:
        """End the sessions of a key that are idle longest, where it has more than it may."""
        own = self._of(key_id)
        idle = [name for name, one in own.items() if not one.under_way and name != latest]
        for name in idle[: max(0, len(own) - self._most)]:
            self._end(name)

    def _end(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)
        self._manager._session_owners.pop(session_id, None)
        transport = self._manager._server_instances.pop(session_id, None)
        if transport is not None and transport.idle_scope is not None:
            transport.idle_scope.cancel()

    def _of(self, key_id: str) -> dict[str, _Session]:
        """Return the sessions of a key that have not ended by themselves. Cost: O(sessions)."""
        there = self._manager._server_instances
        self._sessions = {name: one for name, one in self._sessions.items() if name in there}
        return {name: one for name, one in self._sessions.items() if one.key_id == key_id}


def _is_stateless(headers: Headers) -> bool:
    """Tell whether a message is of a revision without sessions, or of none that there is."""
    from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS

    version = headers.get(VERSION)
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


def _check_first(method: str, headers: Headers) -> None:
    """Refuse what can begin no session, and for which the SDK would make one."""
    if method != "POST":
        raise HTTPException(400, "expected the header Mcp-Session-Id; a session begins with POST initialize")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise HTTPException(415, f"expected Content-Type: {JSON}, got {kind[:80] or 'none'}")
