"""Who asks -> the one memory that the request may touch.

A `Room` is the only way from a route to an engine: it is of one user of one tenant, and knows what may be done there.
Nothing in it takes the name of another user.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from hmac import compare_digest
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from starlette.requests import HTTPConnection

from doxa.core.access import ANYONE, RIGHTS, Key, Right, Scope
from doxa.engine import Dialogue, Doxa, Keys
from doxa.transport.http.problems import ForbiddenError, SlowDownError, UnauthorizedError

if TYPE_CHECKING:
    from doxa.core.views import Work
    from doxa.engine import Live, Memory, Notebook, Tasks, View
    from doxa.transport.checkup import Check
    from doxa.transport.measures import Measures

__all__ = ["AGENT_HEADER", "KEY_HEADER", "SESSION_HEADER", "USER_HEADER", "Gate", "Room"]

USER_HEADER, SESSION_HEADER, AGENT_HEADER, KEY_HEADER = "Doxa-User", "Doxa-Session", "Doxa-Agent", "Doxa-Key"
OPEN = "open"
"""The key id of requests that need none."""
WHOSE = "Say whose memory: header Doxa-User: NAME."
SEEN = 10_000
"""Callers whose rate is remembered; the one who was longest away is forgotten first."""


@dataclass(frozen=True, slots=True)
class Room:
    """The memory of one user, as one request may use it. Its methods raise ForbiddenError where a right is missing."""

    scope: Scope
    _doxa: Doxa
    """The engine of the tenant of the scope."""

    def memory(self, right: Right = "read") -> Memory:
        """Return the memory, for something that takes this right."""
        return self._for(right).memory(user=self.scope.user)

    def dialogue(
        self, right: Right, *, session: str | None = None, agent: str | None = None, speaker: str | None = None
    ) -> Dialogue:
        """Return a dialogue in a session ("default") with an agent ("assistant")."""
        return self._for(right).dialogue(
            user=self.scope.user, session=session or "default", agent=agent or "assistant", speaker=speaker
        )

    def tasks(self, right: Right = "read", *, author: str | None = None) -> Tasks:
        """Return the tasks, for something that takes this right."""
        return self._for(right).tasks(user=self.scope.user, author=author)

    def notebook(self) -> Notebook:
        """Return what is told of the memory beside the words of its user."""
        from doxa.engine import Notebook

        return Notebook(self._for("read").parts, self.scope.user)

    def view(self, *, settle: bool = True) -> View:
        """Return the memory, to be looked at page by page; without `settle` nothing that was told is waited for."""
        from doxa.engine import View

        if settle:
            self.settle()
        return View(self._for("read").parts, self.scope.user)

    def live(self) -> Live:
        """Return the memory as it is at this moment; nothing waits for what is still being understood."""
        from doxa.engine import Live

        return Live(self._for("read").parts, self.scope.user)

    def shared(self) -> tuple[str, ...]:
        """Return the memories that are read beneath this one; itself, where everybody reads it."""
        return self._for("read").parts.config.memory.shared

    def describe(self) -> dict[str, Any]:
        """Return what is in use, and what one question may cost; where the database is for `admin` alone."""
        doxa = self._for("read")
        reason = doxa.parts.config.reason
        about = doxa.describe()
        if "admin" not in self.scope.rights:
            about["store"] = {"backend": about["store"]["backend"]}
        return {**about, "budget": {name: getattr(reason, name) for name in ("calls", "tokens", "seconds")}}

    def work(self) -> Work:
        """Return how the processing of turns goes."""
        return self._for("read").work(self.scope.user)

    def lesser(self) -> list[Check]:
        """Return what runs on a lesser path by the settings."""
        from doxa.transport.checkup import lesser

        return lesser(self._for("read").parts.config)

    def checked(self) -> list[Check]:
        """Return all that can be told of the settings; models are loaded for it, and no server is asked."""
        from doxa.transport.checkup import checked

        return checked(self._for("admin").parts.config, offline=True)

    def version(self, right: Right = "read") -> int:
        """Return a number that grows with every change of this memory. Cost: one query."""
        return self._for(right).parts.log.head(self.scope.user).ordinal

    def settle(self) -> None:
        """Wait a moment (setting `engine.settle_s`) for what was told to be understood."""
        self._for("read").settle(self.scope.user)

    def wait(self) -> None:
        """Wait until all that was told is understood. Raises what stopped that; what was told is kept."""
        self._for("write").wait(self.scope.user)

    def require(self, right: Right) -> None:
        """Refuse what the key does not allow."""
        self._for(right)

    def tag(self) -> str:
        """Return what changes with all that an answer may draw on. Cost: one query for each memory that is read."""
        log = self._for("read").parts.log
        names = [self.scope.user, *(name for name in self.shared() if name != self.scope.user)]
        return "-".join(str(log.head(name).ordinal) for name in names)

    def _for(self, right: Right) -> Doxa:
        if right not in self.scope.rights:
            raise ForbiddenError(
                f"This API key may {', '.join(one for one in RIGHTS if one in self.scope.rights)}, not {right}. "
                f"Make one that may: doxa keys add --right {right}."
            )
        return self._doxa


class Gate:
    """Lets requests in.

    Args:
        doxa: the engine of the tenant of the settings.
        open_: whether requests without a key are let in, with every right; one that names nobody is of the user of the
            settings, as the command line is.
        rate: requests a second of one key, and of those without one that counts from one address; 0 sets no limit.
            Twice as many may come at once.
        own: a key with every right that counts as long as this process runs, and is kept nowhere.
        measures: what the server measures of itself.
    """

    def __init__(
        self, doxa: Doxa, *, open_: bool = False, rate: float = 0.0, own: str = "", measures: Measures | None = None
    ) -> None:
        self._doxa = doxa
        self.measures = measures
        self._keys = Keys(doxa)
        self._open = open_
        self._own = own
        self._buckets = Buckets(rate) if rate else None
        self._strangers = Buckets(rate) if rate else None

    def room(
        self, connection: HTTPConnection, user: str | None = None, *, or_else: str | None = None, secret: str = ""
    ) -> Room:
        """Return the room of a request.

        Args:
            connection: the request; its headers hold the key and may name the user.
            user: whom the request names elsewhere, where its protocol has a place for that; the header goes before.
            or_else: whom it may mean where neither it nor the key names anybody.
            secret: its key, where that is not in the headers.

        Raises:
            UnauthorizedError: there is no key, or none that is known.
            ForbiddenError: the key does not open the memory of this user, or of several and nobody says which.
            SlowDownError: the key makes too many requests.
        """
        key = self.key(connection, secret)
        named = connection.headers.get(USER_HEADER) or user
        if named is None:
            named = (key.only_user if key is not None else None) or or_else
        if key is None:
            config = self._doxa.parts.config
            scope = Scope(tenant=config.tenant, user=named or config.user, rights=RIGHTS, key_id=OPEN)
            return Room(scope, self._doxa)
        if not named:
            raise ForbiddenError(f"This API key opens the memories of several users. {WHOSE}")
        if not key.opens(named):
            raise ForbiddenError(f"This API key does not open the memory of {named!r}.")
        scope = Scope(tenant=key.tenant, user=named, rights=key.rights, key_id=key.key_id)
        return Room(scope, self._doxa.tenant(key.tenant))

    def key(self, connection: HTTPConnection, secret: str = "") -> Key | None:
        """Return the key of a request; None where none is needed and none is given. Raises as `room`.

        A request is counted once, however many rooms it asks for.
        """
        if hasattr(connection.state, "key"):
            known: Key | None = connection.state.key
            return known
        key = self._recognised(connection, secret or presented(connection))
        client = connection.client.host if connection.client else ""
        _slow_down(self._buckets, key.key_id if key else client)
        connection.state.key = key
        return key

    def _recognised(self, connection: HTTPConnection, secret: str) -> Key | None:
        """Return the key of a request that is let in.

        Strangers are slowed down by their address, and nobody with a key that counts is on their account: behind a
        proxy all may have the same one.
        """
        if self._own and compare_digest(secret.encode(), self._own.encode()):
            return self._masters()
        key = self._keys.recognise(secret) if secret else None
        wrong = secret and key is None and not (self._open and not secret.startswith("doxa_"))
        if wrong or (key is None and not self._open):
            _slow_down(self._strangers, connection.client.host if connection.client else "")
        if wrong:
            raise UnauthorizedError("This API key is unknown or was revoked. `doxa keys list` shows those that count.")
        if key is None and not self._open:
            raise UnauthorizedError(
                "An API key is needed: header Authorization: Bearer KEY. `doxa keys add` makes one."
            )
        return key

    def counts(self, connection: HTTPConnection, *, secret: str = "") -> bool:
        """Tell whether a request that was let in would be let in still. It is not counted. Cost: one query."""
        secret = secret or presented(connection)
        if self._own and compare_digest(secret.encode(), self._own.encode()):
            return True
        if secret and self._keys.recognise(secret) is not None:
            return True
        return self._open and not secret.startswith("doxa_")

    def _masters(self) -> Key:
        return Key(
            key_id="own", tenant=self._doxa.parts.config.tenant, users=frozenset([ANYONE]), rights=frozenset(RIGHTS),
            created_at=datetime.now(UTC), hashed="",
        )  # fmt: skip

    def whose(self, connection: HTTPConnection, *, secret: str = "") -> list[str]:
        """Return the users whose memories a request may open, as far as it may know of them. Raises as `room`."""
        key = self.key(connection, secret)
        if key is not None and ANYONE not in key.users:
            return sorted(key.users)
        return [] if key is not None and "admin" not in key.rights else self.users(key)

    def sizes(self, connection: HTTPConnection, users: Collection[str], *, secret: str = "") -> dict[str, int]:
        """Return how many turns some users have of those whose memories a request may open. Raises as `room`."""
        key = self.key(connection, secret)
        doxa = self._doxa if key is None else self._doxa.tenant(key.tenant)
        return doxa.sizes([user for user in users if key is None or key.opens(user)])

    def users(self, key: Key | None) -> list[str]:
        """Return the users of the tenant of a key that have a memory and that it opens; `admin` is needed."""
        if key is not None and "admin" not in key.rights:
            raise ForbiddenError("This API key may not list users. Make one that may: doxa keys add --right admin.")
        doxa = self._doxa if key is None else self._doxa.tenant(key.tenant)
        return [user for user in doxa.users() if key is None or ANYONE in key.users or user in key.users]


def _slow_down(buckets: Buckets | None, name: str) -> None:
    if buckets is not None and (wait_s := buckets.take(name)) > 0:
        raise SlowDownError(f"Too many requests with this key. Try again in {wait_s:.1f} s.", wait_s=wait_s)


def presented(connection: HTTPConnection) -> str:
    """Return the secret that a request presents: `Doxa-Key`, `Authorization: Bearer` or `Token`, or `X-API-Key`."""
    headers = connection.headers
    if own := headers.get(KEY_HEADER):
        return own.strip()
    scheme, _, rest = headers.get("Authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "token") and rest.strip():
        return rest.strip()
    return headers.get("X-API-Key", "").strip()


class Buckets:
    """Token buckets by name. Safe between threads.

    Args:
        rate: tokens a second; a bucket holds those of two.
        clock: seconds that only grow.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = rate
        self._most = max(1.0, 2 * rate)
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        self._guard = Lock()

    def take(self, name: str) -> float:
        """Take one token; return 0, or else the seconds until there is one."""
        with self._guard:
            now = self._clock()
            left, since = self._left.pop(name, (self._most, now))
            left = min(self._most, left + (now - since) * self._rate)
            wait_s = max(0.0, (1 - left) / self._rate)
            self._left[name] = (left if wait_s else left - 1, now)
            while len(self._left) > SEEN:
                self._left.pop(next(iter(self._left)))
            return wait_s
