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
from doxa.transport.http.openai.headers import for_upstream
from doxa.transport.http.state import Served, served

__all__ = ["Kept", "Link", "Proxy", "StoredResponse", "proxy_of"]

MOST = 10_000
STORED = 1000
"""Responses of the built-in writer; they hold what was said."""
STORED_BYTES = 67_108_864
"""Of the bodies of the requests that they were made of."""
LONGEST = 200
"""Longest id under which something is kept."""
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
    turn_id: str
    """What it was made of and goes with."""


class Kept(Generic[T]):
    """The latest of something by id, each for its own user. Safe between threads."""

    def __init__(self, most: int = MOST, most_bytes: int = STORED_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[str, str, str], tuple[T, int]] = OrderedDict()
        self._bytes = 0
        self._guard = Lock()

    def get(self, scope: Scope, key: str) -> T | None:
        """Return what is kept for a user under an id."""
        with self._guard:
            found = self._kept.get((scope.tenant, scope.user, key))
            return None if found is None else found[0]

    def is_known(self, key: str) -> bool:
        """Tell whether something is kept under an id for anybody. Cost: linear in what is kept."""
        with self._guard:
            return any(known == key for _, _, known in self._kept)

    def keep(self, scope: Scope, key: str, value: T, *, size: int = 0) -> None:
        """Keep something of a size in bytes, unless its id is none that anybody would give."""
        self.drop(scope, key)
        if len(key) > LONGEST:
            return
        with self._guard:
            self._kept[scope.tenant, scope.user, key] = value, size
            self._bytes += size
            while len(self._kept) > self._most or self._bytes > self._most_bytes:
                self._bytes -= self._kept.popitem(last=False)[1][1]

    def drop(self, scope: Scope, key: str) -> T | None:
        """Return what was kept, and keep it no longer."""
        with self._guard:
            value, size = self._kept.pop((scope.tenant, scope.user, key), (None, 0))
            self._bytes -= size
            return value


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

    def lends_key(self, request: Request) -> bool:
        """Tell whether the upstream is asked with the key of the operator, since a request has none for it."""
        return self.key is not None and not any(
            name == b"authorization" for name, _ in for_upstream(request.headers, key=None)
        )

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
