"""One replica: the application that `doxa serve` serves, in a process that Ray keeps."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doxa.core.config import Config
from doxa.transport.cluster.names import Holder

if TYPE_CHECKING:
    from doxa.transport.http.state import Served

__all__ = ["REPLICA_HEADER", "Replica", "longest_wait_s"]

REPLICA_HEADER = "Doxa-Replica"
"""Header of every answer: which replica gave it."""
LEAST_WAIT_S = 5.0


def longest_wait_s(config: Config) -> float:
    """Return how long a stream on which a client waits for news may last.

    Ray tells no replica that it is to end before its requests are over, so that such streams end by themselves in
    time. Browsers and MCP clients open them again.
    """
    return max(LEAST_WAIT_S, config.server.drain_s)


class Replica:
    """The deployment. Ray makes it, asks it, and ends it by `__del__` once the requests under way are answered."""

    def __init__(self, config: Config, name: str = "") -> None:
        from doxa.engine import Doxa, Keys
        from doxa.transport.http import application, log_to
        from doxa.transport.http.serving import SWITCH_S

        sys.setswitchinterval(SWITCH_S)
        log_to(config.server.logs)
        self._config = config
        self._name = name or _own_name()
        self._doxa = Doxa.open(config.db, config=config)
        self._keys = Keys(self._doxa)
        self._app = application(self._doxa, config.server)

    @property
    def _served(self) -> Served:
        served: Served = self._app.state.served
        return served

    def __serve_build_asgi_app__(self) -> ASGIApp:
        """Return what answers requests; Ray calls this after the constructor."""
        return _Signed(self._app, self._served, self._name, longest_wait_s(self._config))

    def whose(self, secret: str) -> Holder:
        """Return whose the requests with a key are; see `Holder`. Cost: one query."""
        key = self._keys.recognise(secret) if secret else None
        if key is not None:
            return key.tenant, key.only_user or "", ""
        return (self._config.tenant, "", self._config.user) if self._config.server.open else ("", "", "")

    def rest(self) -> None:
        """End the streams on which clients wait for news, since all replicas are to end."""
        for stop in self._served.stopping:
            stop()

    def __del__(self) -> None:
        doxa = getattr(self, "_doxa", None)  # the constructor may have failed
        if doxa is not None:
            doxa.close(limit_s=self._config.server.drain_s)


class _Signed:
    """An ASGI application in front of another that says which replica answers, and lets nobody wait for too long."""

    def __init__(self, app: Any, served: Served, name: str, longest_s: float) -> None:
        self._app = app
        self._served = served
        self._header = (REPLICA_HEADER.lower().encode(), name.encode())
        self._longest_s = longest_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        open_ = False

        async def signed(message: Message) -> None:
            nonlocal open_
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), self._header]}
            open_ = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)

        longest_s = self._longest_s if self._served.waits(scope) else None
        with anyio.move_on_after(longest_s) as waiting:
            await self._app(scope, receive, signed)
        if waiting.cancelled_caught and open_:
            await send({"type": "http.response.body", "body": b""})


def _own_name() -> str:
    from ray import serve

    return str(serve.get_replica_context().replica_tag)
