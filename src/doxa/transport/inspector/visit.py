"""One request for a page of the inspector: who asks, whose memory, what for, and how the answer is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from doxa.core.access import Right
from doxa.core.errors import InputError
from doxa.transport import room
from doxa.transport.inspector import rendering
from doxa.transport.inspector.entry import form_token, safe_path, secret_of

if TYPE_CHECKING:
    from doxa.core.values import Reply
    from doxa.core.views import Point, Work
    from doxa.engine import Live, View
    from doxa.transport.checkup import Check
    from doxa.transport.measures import Measures
    from doxa.transport.querying import Querying

__all__ = ["Desk", "Room", "Visit"]

SEE_OTHER = 303
DIGITS = 12
"""Of the largest number that an address may name."""
LONGEST = 20_000
"""Characters of a parameter that are shown or looked for."""


class Room(room.Room, Protocol):
    """The memory that a page is about."""

    def view(self, *, settle: bool = True) -> View:
        """Return the memory, to be looked at page by page; without `settle` nothing that was told is waited for."""

    def describe(self) -> dict[str, Any]:
        """Return what is in use."""

    def work(self) -> Work:
        """Return how the processing of turns goes."""

    def lesser(self) -> Sequence[Check]:
        """Return what runs on a lesser path by the settings."""

    def checked(self) -> Sequence[Check]:
        """Return all that can be told of the settings, for which models are loaded; `admin` is needed."""

    def live(self) -> Live:
        """Return the memory as it is at this moment."""

    def version(self, right: Right = "read") -> int:
        """Return a number that grows with every change."""

    def wait(self) -> None:
        """Wait until all that was told is understood."""

    def require(self, right: Right) -> None:
        """Refuse what the key does not allow."""


class Desk(Protocol):
    """Who lets people in; see `doxa.transport.http.access.Gate`."""

    def room(self, connection: HTTPConnection, user: str | None = None, *, secret: str = "") -> Room:
        """Return the room of a request."""

    def whose(self, connection: HTTPConnection, *, secret: str = "") -> list[str]:
        """Return the users whose memories a request may open."""

    def counts(self, connection: HTTPConnection, *, secret: str = "") -> bool:
        """Tell whether a request that was let in would be let in still."""

    def sizes(self, connection: HTTPConnection, users: Collection[str], *, secret: str = "") -> dict[str, int]:
        """Return how many turns some users have, of those whose memories a request may open."""

    @property
    def measures(self) -> Measures | None:
        """What the server measured of itself; None where it does not."""


@dataclass(kw_only=True)
class Visit:
    """One request."""

    request: Request
    desk: Desk
    querying: Querying
    """What answers queries in SPARQL."""
    form: Mapping[str, list[str]] = field(default_factory=dict)
    """What was sent with a POST."""
    point: Point | None = None
    """Of a page that says when something has changed, what had happened before it was made."""

    @property
    def page(self) -> str:
        """The name of the page, the first step of the path: "now"."""
        return self.request.url.path.removeprefix(f"{rendering.ROOT}/").partition("/")[0]

    @property
    def user(self) -> str | None:
        """Whose memory the address names; None where the key tells."""
        return self.text("user") or None

    @cached_property
    def room(self) -> Room:
        """The memory that may be looked at. Raises where it may not."""
        found = self.desk.room(self.request, self.user, secret=secret_of(self.request))
        self.request.state.key_id, self.request.state.tenant = found.scope.key_id, found.scope.tenant
        return found

    def note_point(self) -> None:
        """Note what has happened so far."""
        self.point = self.room.live().point()

    def text(self, name: str, default: str = "") -> str:
        """Return a parameter of the address."""
        return self.request.query_params.get(name, default)[:LONGEST]

    def number(self, name: str, default: int, *, least: int = 0, most: int = 1_000_000_000) -> int:
        """Return a parameter of the address that is a whole number.

        Raises:
            InputError: it is none, or too small or too large.
        """
        given = self.text(name)
        if not given:
            return default
        if not (given.isdecimal() and len(given) <= DIGITS) or not least <= int(given) <= most:
            raise InputError(f"{name}: expected a whole number from {least} to {most}, got {given[:40]!r}.")
        return int(given)

    def sent(self, name: str) -> str:
        """Return a field of the form; empty where there is none."""
        return next(iter(self.form.get(name, ())), "")

    def link(self, path: str, /, **parameters: object) -> str:
        """Return the address of a page on the same memory; parameters that are None or empty are left out.

        Args:
            path: the page, and what comes behind it: "why", "act/retract".
            parameters: what the page is asked for; a list is several.
        """
        given = {"user": self.user, **parameters}
        named = {key: value for key, value in given.items() if value not in (None, "", False)}
        query = f"?{urlencode(named, doseq=True)}" if named else ""
        return f"{self.request.scope.get('root_path', '')}{rendering.ROOT}/{path}{query}"

    def here(self, **other: object) -> str:
        """Return the address of this page with some parameters otherwise; None takes one away."""
        path = self.request.url.path.removeprefix(f"{rendering.ROOT}/")
        given = {key: value for key, value in self.request.query_params.items() if key != "user"}
        return self.link(path, **{**given, **other})

    def suppose(self, act: str, back: str | None, given: Mapping[str, object]) -> str:
        """Return the address of what shows an act before it is done.

        Args:
            act: its name, one of `acts.ACTS` or "correct".
            back: the page to come back to; None for this one.
            given: what it is about; a list is several.
        """
        back = self.here(done=None, at=None) if back is None else back
        return self.link("suppose", act=act, back=back, **given)

    def asset(self, name: str) -> str:
        """Return the address of a script, a style or a picture."""
        return f"{self.request.scope.get('root_path', '')}{rendering.asset(name)}"

    def all_memories(self) -> str:
        """Return the address of the page that leads to every memory."""
        return f"{self.request.scope.get('root_path', '')}{rendering.ROOT}"

    def shown(self, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page.

        Args:
            template: its name: "now.html".
            status: the status of the answer.
            values: what the template is given beside the visit itself (`visit`).
        """
        body = rendering.render(template, visit=self, token=form_token(self.request), **values)
        return HTMLResponse(body, status)

    def counted(self, reply: Reply) -> Reply:
        """Return a reply, once its steps are among what the server measured of itself."""
        if self.desk.measures is not None:
            self.desk.measures.count(reply.trace)
        return reply

    def came_from(self, otherwise: str = "now") -> str:
        """Return the address of ours that the parameter `back` names; that of another page where it names none."""
        return safe_path(self.text("back"), self.link(otherwise))

    def back(self, **parameters: object) -> Response:
        """Return what leads back to the page that a form was on, with some parameters otherwise."""
        return RedirectResponse(safe_path(self.sent("back"), self.link("now"), **parameters), SEE_OTHER)
