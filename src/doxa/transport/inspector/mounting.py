"""The pages -> routes of an HTTP application."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from html import escape
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlencode

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from doxa.core.errors import DoxaError, InputError
from doxa.transport.inspector import assets, rendering
from doxa.transport.inspector.entry import FORM, check_form, note_browser
from doxa.transport.inspector.following import Following
from doxa.transport.inspector.pages import PATHS, POSTS
from doxa.transport.inspector.visit import SEE_OTHER, Desk, Visit
from doxa.transport.querying import Querying
from doxa.transport.trouble import Trouble

__all__ = ["PATH", "Inspector"]

PATH = rendering.ROOT
LIVE = f"{PATH}/live"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SAFE = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",  # with none at all a browser names no origin with a form either
    "X-Frame-Options": "DENY",
}
MOST_FIELDS = 1_000
FOLLOWED = ("now", "conflicts", "tasks")
"""Pages that say when something has changed since they were loaded."""
Shown = Callable[[Visit], Any]
"""A page: a function that answers a visit, or one that is awaited."""


class Inspector:
    """The inspector of an application.

    Args:
        desk: lets people in.
        querying: answers queries in SPARQL.
        problem: what an error of ours is to whoever called.
    """

    def __init__(self, desk: Desk, querying: Querying, problem: Callable[[DoxaError], Trouble]) -> None:
        self._desk = desk
        self._querying = querying
        self.problem = problem
        self.following = Following()

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes, for the application."""
        pages = [self._route("GET", path, shown) for path, shown in PATHS.items()]
        forms = [self._route("POST", path, shown) for path, shown in POSTS.items()]
        return [Route(f"{PATH}/static/{{name:path}}", assets.give), *pages, *forms]

    def stop(self) -> None:
        """End what waits for changes, since the server is to stop."""
        self.following.stop()

    def waits(self, scope: Scope) -> bool:
        """Tell whether a request only waits for changes, and takes no time of the server."""
        return str(scope["path"]).removeprefix(scope.get("root_path", "")) == LIVE

    def _route(self, method: str, path: str, shown: Shown) -> Route:
        async def answer(request: Request) -> Response:
            request.scope["route"] = route  # by its path the server tells which page it was
            request.state.inspector = self
            visit = Visit(request=request, desk=self._desk, querying=self._querying)
            if method == "POST":
                visit.form = await _form(request)
                check_form(request, visit.sent(FORM))
            elif visit.page in FOLLOWED:
                await anyio.to_thread.run_sync(visit.note_point)  # what happens while the page is made is news to it
            if inspect.iscoroutinefunction(shown):
                response: Response = await shown(visit)
            else:
                response = await anyio.to_thread.run_sync(shown, visit)
            return _safe(request, response)

        route = Route(f"{PATH}/{path}" if path else PATH, answer, methods=[method])
        return route

    def shape(self, request: Request, problem: Trouble) -> Response:
        """Return what went wrong as a page; who has to come in first is led to the door."""
        if problem.status == HTTPStatus.UNAUTHORIZED:
            return _safe(request, _to_the_door(request))
        if "hx-request" in request.headers:  # a part of a page: the script shows it where it would have stood
            response = Response(f'<p class="error" role="alert">{escape(problem.detail)}</p>', problem.status)
            response.headers["Content-Type"] = "text/html; charset=utf-8"
            response.headers.update(problem.headers)
            return _safe(request, response)
        visit = Visit(request=request, desk=self._desk, querying=self._querying)
        page = visit.shown("error.html", status=problem.status, detail=problem.detail)
        page.headers.update(problem.headers)
        return _safe(request, page)


async def _form(request: Request) -> Mapping[str, list[str]]:
    body = await request.body()
    try:
        return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise InputError(f"Expected a form of {MOST_FIELDS:,} fields at most.") from error


def _to_the_door(request: Request) -> Response:
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    root = request.scope.get("root_path", "")
    door = f"{root}{PATH}/enter?{urlencode({'next': asked if request.method == 'GET' else ''})}"
    if "hx-request" in request.headers:
        return Response(status_code=HTTPStatus.UNAUTHORIZED, headers={"HX-Redirect": door})
    return RedirectResponse(door, SEE_OTHER)


def _safe(request: Request, response: Response) -> Response:
    note_browser(request, response)
    for name, value in SAFE.items():
        response.headers.setdefault(name, value)
    return response
