"""What went wrong -> a status and a body, in the terms of each protocol.

Doxa's own interface speaks RFC 9457 (`application/problem+json`): `type` (`urn:doxa:` and the name of the error), `title`,
`status`, `detail` (what was expected, what came, what to do next) and `request_id`. A protocol with a shape of its own for
errors registers it by the beginning of its paths.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

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
    TurnConflictError,
)

__all__ = [
    "ForbiddenError",
    "Problem",
    "Shape",
    "SlowDownError",
    "UnauthorizedError",
    "as_problem",
    "install",
    "shape_of",
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
    (TurnConflictError, 409),
    (InputError, 400),
    (NotFoundError, 404),
    (StoreLockedError, 503),
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


def shape_of(shapes: Mapping[str, Shape]) -> Shape:
    """Return the shape of every path: the one whose beginning fits, else Doxa's own."""

    def told(request: Request, problem: Problem) -> Response:
        shape = next((one for start, one in shapes.items() if request.url.path.startswith(start)), own_shape)
        return shape(request, problem)

    return told


def install(app: FastAPI, told: Shape) -> None:
    """Have an application answer errors in a shape."""

    def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, DoxaError)
        return told(request, as_problem(error))

    def unfit(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        found = tuple(
            {"where": ".".join(str(part) for part in one["loc"][1:]) or str(one["loc"][0]), "what": one["msg"]}
            for one in error.errors()
        )
        detail = "The request does not fit: " + "; ".join(f"{one['where']}: {one['what']}" for one in found) + "."
        return told(request, Problem(status=422, kind="request", detail=detail, fields=found))

    def plain(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        detail = f"{request.method} {request.url.path}: {error.detail}. GET /docs shows what there is."
        return told(request, Problem(status=error.status_code, kind="http", detail=detail, headers=error.headers or {}))

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
