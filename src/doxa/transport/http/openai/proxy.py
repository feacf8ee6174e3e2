"""What the proxy of one application holds: the upstream, what was put beside whose words, and responses that go on."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, TypeVar

from starlette.requests import Request

from doxa.backends import load
from doxa.backends.upstream import Upstream
from doxa.core.access import Scope
from doxa.transport.http.openai.beside import Beside
from doxa.transport.http.state import Served, served

__all__ = ["Kept", "Link", "Proxy", "StoredResponse", "proxy_of"]

MOST = 10_000
STORED = 1000
"""Responses of the built-in writer; they hold what was said."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Where a conversation stands after a response, for one that goes on from it."""

    session: str
    digest: str
    places: tuple[str, ...] = ()
    """Digests of the messages of the user so far, the latest last."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response of the built-in writer with what it was given."""

    data: dict[str, Any]
    items: tuple[dict[str, Any], ...]


class Kept(Generic[T]):
    """The latest of something by id, each for its own user. Safe between threads."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str, str], T] = OrderedDict()
        self._guard = Lock()

    def get(self, scope: Scope, key: str) -> T | None:
        """Return what is kept for a user under an id."""
        with self._guard:
            return self._kept.get((scope.tenant, scope.user, key))

    def keep(self, scope: Scope, key: str, value: T) -> None:
        """Keep something."""
        with self._guard:
            self._kept[scope.tenant, scope.user, key] = value
            self._kept.move_to_end((scope.tenant, scope.user, key))
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def drop(self, scope: Scope, key: str) -> T | None:
        """Return what was kept, and keep it no longer."""
        with self._guard:
            return self._kept.pop((scope.tenant, scope.user, key), None)


class Proxy:
    """The state of one application. The upstream is opened at its first use and closed with the server."""

    def __init__(self, of: Served) -> None:
        self._served = of
        self._upstream: Upstream | None = None
        self.beside = Beside()
        self.links: Kept[Link] = Kept()
        self.stored: Kept[StoredResponse] = Kept(STORED)

    @property
    def relays(self) -> bool:
        """Whether there is an upstream; else the built-in writer answers."""
        return self._served.settings.upstream is not None

    @property
    def key(self) -> str | None:
        """The key for the upstream, where the client sends none."""
        key = self._served.settings.upstream_key
        return key.get_secret_value() if key else None

    def upstream(self) -> Upstream:
        """Return the upstream; call it from the event loop."""
        if self._upstream is None:
            settings = self._served.settings
            opened: Upstream = load("upstream", f"http:{settings.upstream}", timeout_s=settings.upstream_timeout_s)
            self._upstream = opened
            if self._served.stack is not None:
                self._served.stack.push_async_callback(opened.close)
        return self._upstream


def proxy_of(request: Request) -> Proxy:
    """Return the proxy of the application of a request."""
    state = request.app.state
    if not hasattr(state, "proxy"):
        state.proxy = Proxy(served(request))
    found: Proxy = state.proxy
    return found
