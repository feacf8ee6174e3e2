"""What went wrong -> a status and a body, in the terms of each protocol.

Doxa's own interface speaks RFC 9457 (`application/problem+json`): `type` (`urn:doxa:` and the name of the error),
`title`, `status`, `detail` (what was expected, what came, what to do next) and `request_id`. A protocol with a shape of
its own for errors registers it by the beginning of its paths.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, get_args

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from doxa.core.errors import (
    BackendError,
    BackendUnavailableError,
    ClosedError,
    DoxaError,
    InputError,
    MissingDependencyError,
    NotFoundError,
    StoreConflictError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreUnavailableError,
    TurnConflictError,
)
from doxa.transport.http.telling import METHODS, declared
from doxa.transport.querying import BusyError

__all__ = [
    "ForbiddenError",
    "Problem",
    "Shape",
    "SlowDownError",
    "UnauthorizedError",
    "as_problem",
    "install",
    "shaped",
]

logger = logging.getLogger("doxa.server")


class RefusedError(DoxaError):
    """A request is not let in."""


class UnauthorizedError(RefusedError):
    """There is no API key, or none that counts."""


class ForbiddenError(RefusedError):
    """The API key does not allow this."""


class SlowDownError(RefusedError):
    """Too many requests; `wait_s` is how many seconds to wait."""

    def __init__(self, message: str, *, wait_s: float) -> None:
        self.wait_s = wait_s
        super().__init__(message)


STATUS: tuple[tuple[type[DoxaError], int], ...] = (
    (UnauthorizedError, 401),
    (ForbiddenError, 403),
    (SlowDownError, 429),
    (BusyError, 503),
    (TurnConflictError, 409),
    (InputError, 400),
    (NotFoundError, 404),
    (StoreLockedError, 503),
    (StoreUnavailableError, 503),
    (StoreConflictError, 503),
    (StoreFullError, 507),
    (StoreError, 500),
    (MissingDependencyError, 501),
    (BackendUnavailableError, 504),
    (BackendError, 502),
    (ClosedError, 503),
    (DoxaError, 400),
)
"""The status of an error: that of the first class that it is one of."""
MISPLACED = re.compile(r"(/openai|/v1)?/(chat/completions|completions|responses|models|embeddings)(/|$)")
"""Paths that a client of OpenAI's calls where its address is not the one of the proxy."""
MOST_FIELDS = 20
"""What does not fit is told of so many fields, and of the others how many they are."""
MOST_CHARS = 200
"""Of where a field is and what does not fit there, so much is told: both may hold names that somebody sent."""
RETRY_S = 1
"""Seconds after which 503 may be tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What went wrong, whatever the protocol."""

    status: int
    kind: str
    """In words with hyphens: `turn-conflict`."""
    detail: str
    fields: tuple[Mapping[str, Any], ...] = ()
    """What does not fit in the body of a request, field by field: `where` and `what`."""
    headers: Mapping[str, str] = field(default_factory=dict)


Shape = Callable[[Request, Problem], Response]
"""A protocol's way to say what went wrong."""


def as_problem(error: DoxaError) -> Problem:
    """Return an error of ours as a problem."""
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    headers: dict[str, str] = {}
    if isinstance(error, SlowDownError):
        headers["Retry-After"] = str(max(1, round(error.wait_s)))
    elif status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(RETRY_S)
    elif status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", type(error).__name__.removesuffix("Error")).lower()
    return Problem(status=status, kind=name, detail=str(error), headers=headers)


def own_shape(request: Request, problem: Problem) -> Response:
    """Return a problem as RFC 9457 has it."""
    body: dict[str, Any] = {
        "type": f"urn:doxa:{problem.kind}",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "request_id": getattr(request.state, "request_id", None),
    }
    if problem.fields:
        body["fields"] = problem.fields
    return JSONResponse(body, problem.status, headers=dict(problem.headers), media_type="application/problem+json")


def shaped(shapes: Mapping[str, Shape]) -> Shape:
    """Return the shape that is, for each request, the one whose beginning of the path fits, else Doxa's own."""

    def told(request: Request, problem: Problem) -> Response:
        path = request.url.path
        path = f"/openai{path}" if MISPLACED.match(path) else path  # its client reads no other shape
        shape = next((one for start, one in shapes.items() if path.startswith(start)), own_shape)
        return shape(request, problem)

    return told


def unfitting(error: Mapping[str, Any], body: Any) -> dict[str, str]:
    """Return where a request does not fit, and what does not, in words for whoever wrote it.

    Args:
        error: as pydantic tells it.
        body: the type of the body, for the names of the fields that there are.
    """
    where, what = ".".join(str(part) for part in error["loc"][1:]) or str(error["loc"][0]), str(error["msg"])
    match error.get("type"):
        case "extra_forbidden":
            known = names_at(body, error["loc"][1:-1])
            what = "there is no such field" + (f"; known are {', '.join(known)}" if known else "")
        case "json_invalid":
            where, what = "body", f"it is no JSON ({error['ctx']['error']}, at character {where})"
        case "model_attributes_type" | "model_type" | "dict_type":
            what = "expected a JSON object"
    return {"where": shortened(where), "what": shortened(what)}


def shortened(text: str) -> str:
    """Return a text that is as long as may be told."""
    return text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]}..."


def body_of(request: Request) -> Any:
    """Return the type of the body of a request; None where its route takes none."""
    route = declared(request.scope)
    fields: Sequence[Any] = getattr(getattr(route, "dependant", None), "body_params", ())
    return fields[0].field_info.annotation if len(fields) == 1 else None


def names_at(kind: Any, path: Sequence[str | int]) -> list[str]:
    """Return the names of the fields of the model that a path leads to; none where it leads to no single one."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if not path:
            return sorted(one.alias or name for name, one in kind.model_fields.items())
        inner = kind.model_fields.get(str(path[0]))
        return names_at(inner.annotation, path[1:]) if inner else []
    rest = path[1:] if path and isinstance(path[0], int) else path
    found = [names for one in get_args(kind) if (names := names_at(one, rest))]
    return found[0] if len(found) == 1 else []


def methods_at(request: Request) -> list[str]:
    """Return the methods that the path of a request takes, by whichever route."""
    routes = request.app.router.routes
    return [
        method
        for method in METHODS
        if any(one.matches({**request.scope, "method": method, "fastapi": {}})[0] is Match.FULL for one in routes)
    ]


def install(app: FastAPI, told: Shape) -> None:
    """Have an application answer errors in a shape."""

    def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, DoxaError)
        return told(request, as_problem(error))

    def unfit(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        errors = error.errors()
        found = tuple(unfitting(one, body_of(request)) for one in errors[:MOST_FIELDS])
        more = f"; and {len(errors) - len(found):,} more" if len(errors) > len(found) else ""
        told_of = "; ".join(f"{one['where']}: {one['what']}" for one in found)
        detail = f"The request does not fit: {told_of}{more}."
        sent = request.headers.get("content-type")
        if any(one["loc"] == ("body",) for one in errors[:MOST_FIELDS]) and sent and "json" not in sent:
            detail += f" It came as {sent}: send JSON with Content-Type: application/json."
        return told(request, Problem(status=422, kind="request", detail=detail, fields=found))

    def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == HTTPStatus.NOT_MODIFIED:
            return Response(status_code=error.status_code, headers=error.headers)
        where = "GET /docs shows what there is."
        if error.status_code == HTTPStatus.NOT_FOUND and MISPLACED.match(request.url.path):
            where = "What OpenAI's clients call is under /openai/v1: give base_url=http://HOST:PORT/openai/v1."
        headers = dict(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED and (allowed := ", ".join(methods_at(request))):
            headers["Allow"] = allowed  # the route that refused it knows its own alone
            where = f"It takes {allowed}. {where}"
        detail = f"{request.method} {request.url.path}: {error.detail}. {where}"
        return told(request, Problem(status=error.status_code, kind="http", detail=detail, headers=headers))

    def unexpected(request: Request, error: Exception) -> Response:
        logger.error("unexpected error", exc_info=error, extra={"request_id": request.state.request_id})
        detail = (
            f"Something went wrong here that is no fault of the request ({type(error).__name__}); the log tells more."
        )
        return told(request, Problem(status=500, kind="unexpected", detail=detail))

    app.add_exception_handler(DoxaError, ours)
    app.add_exception_handler(RequestValidationError, unfit)
    app.add_exception_handler(HTTPException, plain)
    app.add_exception_handler(Exception, unexpected)
