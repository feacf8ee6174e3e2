"""The way in: the key, and whose memory is looked at."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from doxa.transport.inspector.entry import secret_of
from doxa.transport.inspector.visit import SEE_OTHER, Visit

__all__ = ["PATHS"]


def start(visit: Visit) -> Response:
    """Lead to the one memory that there is, or show which there are."""
    users = visit.desk.whose(visit.request, secret=secret_of(visit.request))
    if len(users) == 1:
        return RedirectResponse(visit.link("now", user=users[0]), SEE_OTHER)
    return visit.shown("whose.html", users=users)


def enter(visit: Visit) -> Response:
    """Ask for the key."""
    return visit.shown("enter.html", wrong=bool(visit.text("wrong")), next=visit.text("next"), typed=_typed(visit))


def _typed(visit: Visit) -> bool:
    """Tell whether nobody else led here: a link elsewhere may not have somebody come in with a key of its own."""
    return visit.request.headers.get("sec-fetch-site", "none") == "none"


PATHS = {"": start, "enter": enter}
