"""Requests that follow their user: a middleware in the HTTP proxies of Ray Serve.

It finds whose a request is, and writes a digest of that into the header by which Serve's consistent hashing chooses a
replica (`ConsistentHashRouter`). Proxies agree without talking to each other, a user moves only when a replica comes or
goes, and nothing is kept of anybody. What the key of a request says of its user a replica is asked once a minute.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from time import monotonic

from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doxa.core.access import pseudonym
from doxa.transport.cluster.names import NAME, SHARD_HEADER, Holder
from doxa.transport.cluster.whose import in_body, in_place, may_be_in_body
from doxa.transport.http.access import presented
from doxa.transport.inspector.entry import secret_of

__all__ = ["Following", "middlewares"]

KNOWN, KNOWN_S = 10_000, 60.0
"""Keys whose users are remembered, and for how long: a key does not change, and one that was revoked opens nothing."""
ASK_S = 2.0
"""How long a replica may take to say whose a key is, before a request goes to any replica."""
MOST_BODY = 8_388_608
"""Bytes of a body in which a user is looked for."""
Ask = Callable[[str], Awaitable[Holder]]

logger = logging.getLogger("doxa.server")


class Following:
    """An ASGI application in front of Serve's proxy that says on which shard a request is.

    Args:
        app: the proxy.
        ask: says whose a secret is; by default one of the replicas does.
    """

    def __init__(self, app: ASGIApp, ask: Ask | None = None) -> None:
        self._app = app
        self._ask = ask or _ask_a_replica
        self._known: OrderedDict[bytes, tuple[float, Holder]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        shard, receive = await self._shard(HTTPConnection(scope), receive)
        name = SHARD_HEADER.encode()
        headers = [(key, value) for key, value in scope["headers"] if key.lower().replace(b"_", b"-") != name]
        if shard:
            headers.append((name, shard.encode()))
        await self._app({**scope, "headers": headers}, receive, send)

    async def _shard(self, connection: HTTPConnection, receive: Receive) -> tuple[str, Receive]:
        """Return the shard of a request, empty where any will do, and what its body is read from afterwards."""
        tenant, only, otherwise = await self._holder(presented(connection) or secret_of(connection))
        user = in_place(connection) or only
        if tenant and not user and may_be_in_body(connection):
            body, receive = await _read(receive)
            user = in_body(connection, body)
        user = user or otherwise
        return (pseudonym(f"{tenant}/{user}") if tenant and user else ""), receive

    async def _holder(self, secret: str) -> Holder:
        known = sha256(secret.encode()).digest()
        until, holder = self._known.get(known, (0.0, ("", "", "")))
        if until > monotonic():
            self._known.move_to_end(known)
            return holder
        try:
            holder = await asyncio.wait_for(self._ask(secret), ASK_S)
        except Exception as exc:  # noqa: BLE001  whatever ails Serve, the request goes to some replica, which says so
            logger.warning("a request goes to any replica, since none says whose its key is: %r", exc)
            return "", "", ""
        self._known[known] = (monotonic() + KNOWN_S, holder)
        while len(self._known) > KNOWN:
            self._known.popitem(last=False)
        return holder


def middlewares() -> Sequence[Middleware]:
    """Return what Serve puts in front of its proxies (`RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH`)."""
    return [Middleware(Following)]


async def _ask_a_replica(secret: str) -> Holder:
    from ray import serve

    handle = serve.get_deployment_handle(NAME, app_name=NAME)
    tenant, only, otherwise = await handle.whose.remote(secret)
    return tenant, only, otherwise


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """Return the beginning of a body, and what gives all of it again."""
    messages: list[Message] = []
    body = bytearray()
    while len(body) <= MOST_BODY:
        messages.append(await receive())
        body += messages[-1].get("body", b"")
        if not messages[-1].get("more_body"):
            break
    waiting = iter(messages)

    async def again() -> Message:
        message = next(waiting, None)
        return await receive() if message is None else message

    return bytes(body) if len(body) <= MOST_BODY else b"", again
