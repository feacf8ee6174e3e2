"""What is changed from a page: each act is a form that is sent, and leads back to the page that it was on."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response

from doxa.transport.inspector.entry import forget_key, keep_key, safe_path
from doxa.transport.inspector.visit import SEE_OTHER, Visit

__all__ = ["PATHS"]


def enter(visit: Visit) -> Response:
    """Let in whoever has a key that counts."""
    secret = visit.sent("key").strip()
    visit.desk.whose(visit.request, secret=secret)
    response = RedirectResponse(safe_path(visit.sent("next"), visit.link("")), SEE_OTHER)
    keep_key(visit.request, response, secret)
    return response


def leave(visit: Visit) -> Response:
    """Forget the key."""
    response = RedirectResponse(visit.link("enter"), SEE_OTHER)
    forget_key(visit.request, response)
    return response


PATHS = {"enter": enter, "leave": leave}
