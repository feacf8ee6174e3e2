"""What every route under /v1/memory stands on: a room with the right that it needs, conditional reads, errors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response, Security
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from doxa.core.errors import DoxaError
from doxa.transport.http.access import USER_HEADER, Room
from doxa.transport.http.state import room_of
from doxa.transport.http.telling import declared

__all__ = [
    "Body",
    "Conversing",
    "Erasing",
    "Fresh",
    "Kept",
    "Problem",
    "Reading",
    "Versioned",
    "Wait",
    "Why",
    "Writing",
    "bearer",
    "kept_after",
    "memory_router",
    "version_after",
]

logger = logging.getLogger("doxa.server")
bearer = HTTPBearer(
    auto_error=False, scheme_name="key", description="An API key, as `doxa keys add` makes it: `Bearer doxa_...`."
)


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(description="`urn:doxa:` and the name of the error.", examples=["urn:doxa:not-found"])
    title: str
    status: int
    detail: str = Field(description="What was expected, what came, and what to do next.")
    request_id: str | None = Field(description="That of the header X-Request-Id, and of the log.")
    fields: list[dict[str, str]] = Field([], description="Of a request that does not fit: `where` and `what`.")


DEEPEST = 10
"""No body that fits is nested deeper."""
MOST_UNKNOWN = 100
"""An object with so many fields more than there are is refused as a whole: each would be an error of its own."""


class Body(BaseModel):
    """What a request holds; a field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, data: Any) -> Any:
        if isinstance(data, dict) and len(data) > len(cls.model_fields) + MOST_UNKNOWN:
            raise ValueError(f"expected some of {len(cls.model_fields)} fields, got {len(data):,}")
        return whole(data)


def whole(data: Any, depth: int = DEEPEST) -> Any:
    """Return JSON data without halves of surrogate pairs, which a text that was cut may have and no UTF-8 can."""
    match data:
        case str():
            return data if data.isascii() else data.encode("utf-8", "replace").decode()
        case list() if depth:
            return [whole(one, depth - 1) for one in data]
        case dict() if depth:
            return {name: whole(one, depth - 1) for name, one in data.items()}
    return data


class Why(Body):
    """Why something is done."""

    reason: str = Field("", description="Why; it is kept in the history.", examples=["it was a joke"])


ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "What is asked for cannot be used; the detail says why."},
    401: {"model": Problem, "description": "There is no API key, or it is not known."},
    403: {"model": Problem, "description": "The key does not open this memory, or lacks the right."},
    404: {"model": Problem, "description": "There is no such turn, fact, answer, name or concept."},
    413: {"model": Problem, "description": "The body is larger than the server takes."},
    422: {"model": Problem, "description": "A parameter or a field is unknown, missing, or of another type."},
    429: {"model": Problem, "description": "Too many requests with this key; see Retry-After."},
    503: {"model": Problem, "description": "The server or its database is busy; see Retry-After."},
}


def memory_router(tag: str) -> APIRouter:
    """Return a router for one noun under /v1/memory."""
    return APIRouter(prefix="/v1/memory", tags=[tag], dependencies=[Depends(no_others)], responses=ERRORS)


async def no_others(request: Request) -> None:
    """Refuse query parameters that the route does not know: one that is misspelt would change the answer silently."""
    known = sorted(_query_names(declared(request.scope).dependant))
    errors = [
        {"loc": ("query", name), "msg": f"there is no such parameter; known are {', '.join(known) or 'none'}"}
        for name in request.query_params
        if name not in known
    ]
    if errors:
        raise RequestValidationError(errors)


def _query_names(dependant: Dependant) -> Iterator[str]:
    yield from (param.alias for param in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_names(inner)


def room_for(
    connection: HTTPConnection,
    needed: SecurityScopes,
    _key: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    _user: Annotated[
        str | None, Header(alias=USER_HEADER, description="Whose memory; by default that of the one user of the key.")
    ] = None,
) -> Room:
    """Return the room of a request, if its key has the rights that the route needs."""
    room = room_of(connection)
    for right in needed.scopes:
        room.require(right)  # type: ignore[arg-type]
    return room


Reading = Annotated[Room, Security(room_for, scopes=["read"])]
Writing = Annotated[Room, Security(room_for, scopes=["write"])]
Conversing = Annotated[Room, Security(room_for, scopes=["read", "write"])]
Erasing = Annotated[Room, Security(room_for, scopes=["erase"])]
Wait = Annotated[bool, Query(description="Answer when all that was told is understood, so that the next read knows.")]


def versioned(room: Reading, response: Response) -> Room:
    """Return a room whose version is told as the ETag of the answer.

    The version is taken after the wait for received turns and before anything is read: what is written in between may
    be in an answer that has the older ETag, which costs one more read, and never the other way round. All that is read
    so is a function of the log: its clock is the time of the latest turn, not that of the wall.
    """
    room.settle()
    response.headers["ETag"] = f'W/"{room.tag()}"'
    response.headers["Vary"] = f"Authorization, {USER_HEADER}"  # the same version of two users is not the same answer
    return room


Versioned = Annotated[Room, Depends(versioned)]


async def fresh(
    room: Versioned,
    response: Response,
    if_none_match: Annotated[
        str | None,
        Header(
            alias="If-None-Match", description="The ETag of an answer that the client has; 304 where it still holds."
        ),
    ] = None,
) -> Room:
    """Return a room as `versioned` does, and answer 304 without any work where the client knows its version."""
    tag = response.headers["ETag"]
    known = {one.strip() for one in (if_none_match or "").split(",")}
    if known & {tag, tag.removeprefix("W/"), "*"}:
        raise HTTPException(304, headers=dict(response.headers))
    return room


Fresh = Annotated[Room, Depends(fresh)]


class Kept(BaseModel):
    """How a memory stands after something was told."""

    version: int = Field(description="The version of the memory afterwards; see the header ETag of reads.")
    waiting: str = Field(
        description="Why some of what was told is not understood yet, though `wait` asked for it; else empty."
    )


def kept_after(room: Room, *, wait: bool) -> Kept:
    """Return how a memory stands after something was told to it.

    What stops it from being understood, such as a model that does not answer, is no error of the request: it is kept,
    and tried again.
    """
    waiting = ""
    if wait:
        try:
            room.wait()
        except DoxaError as error:
            waiting = str(error)
            logger.warning("what was told is kept, and not understood yet: %s", error)
    return Kept(version=room.version("write"), waiting=waiting)


def version_after(room: Room, *, wait: bool) -> int:
    """Return the version of a memory after a write, on demand when everything that was told is understood."""
    if wait:
        room.wait()
    return room.version("write")
