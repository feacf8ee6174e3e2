"""What went wrong -> an error as OpenAI writes it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from doxa.transport.http.problems import Problem

__all__ = ["openai_shape", "refused"]

TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def openai_shape(request: Request, problem: Problem) -> Response:
    """Return a problem as OpenAI has it."""
    kind = TYPES.get(problem.status) or ("server_error" if problem.status >= 500 else "invalid_request_error")
    where = problem.fields[0].get("where") if problem.fields else None
    code = CODES.get(problem.status) or problem.kind.replace("-", "_")
    return refused(problem.status, problem.detail, kind=kind, code=code, param=where, headers=dict(problem.headers))


def refused(
    status: int,
    message: str,
    *,
    kind: str = "invalid_request_error",
    code: str | None = None,
    param: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Return an answer that says what was wrong with a request."""
    body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
    return JSONResponse(body, status, headers=headers)
