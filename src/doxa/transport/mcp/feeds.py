"""What changed -> notices to the clients of the same user that asked for them, and to nobody else.

A bus of the SDK tells every listener of every change; this one knows in whose room somebody listens, and in whose
something changed. Clients of the revisions up to 2025-11-25 subscribe by a request, those of later ones by listening.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ResourceUpdated, ServerEvent
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from doxa.transport.mcp.rooms import inside

__all__ = ["Feeds"]

MOST = 10_000
"""Sessions that are told of changes; the one that subscribed first is forgotten first."""
LONGEST = 1000
"""Characters of the longest address of a resource that is listened for."""
SEND_S = 2.0
"""A client that does not read for so long misses a notice; it holds up nobody's change."""
Whose = tuple[str, str]


class Feeds:
    """A subscription bus of rooms. It is used from one event loop."""

    def __init__(self) -> None:
        self._listeners: dict[object, tuple[Whose, Callable[[ServerEvent], None]]] = {}
        self._sessions: dict[tuple[str, str], tuple[Whose, ServerSession]] = {}

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Have a listener told of what changes in this room; return what ends that."""
        token = object()
        self._listeners[token] = inside(), listener
        return lambda: (self._listeners.pop(token, None), None)[1]

    async def publish(self, event: ServerEvent) -> None:
        """Tell those who listen in this room."""
        whose = inside()
        for theirs, listener in list(self._listeners.values()):
            if theirs == whose:
                listener(event)
        if isinstance(event, ResourceUpdated):
            for (session_id, uri), (theirs, session) in list(self._sessions.items()):
                if theirs == whose and uri == event.uri:
                    await self._send(session_id, uri, session)

    async def on_subscribe(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """Answer `resources/subscribe`."""
        key = (_session_id(ctx), str(params.uri))
        self._sessions.pop(key, None)
        if len(key[1]) > LONGEST:  # nothing that changes has such a name
            return EmptyResult()
        self._sessions[key] = inside(), ctx.session
        while len(self._sessions) > MOST:
            self._sessions.pop(next(iter(self._sessions)))
        return EmptyResult()

    async def on_unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        """Answer `resources/unsubscribe`."""
        self._sessions.pop((_session_id(ctx), str(params.uri)), None)
        return EmptyResult()

    async def _send(self, session_id: str, uri: str, session: ServerSession) -> None:
        try:
            with anyio.move_on_after(SEND_S):
                await session.send_resource_updated(uri)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):  # the session has ended
            self._sessions.pop((session_id, uri), None)


def _session_id(ctx: ServerRequestContext[Any, Any]) -> str:
    """Return the id of the session of a request; over stdio there is but one, without an id."""
    return str(ctx.request.headers.get("mcp-session-id", "")) if ctx.request is not None else ""
