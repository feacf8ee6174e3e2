"""What every request of mem0's protocol has in common: its fields, its users, and how it is told what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from fastapi import Request
from pydantic import BaseModel, ConfigDict, model_validator
from starlette.responses import JSONResponse, Response

from doxa.core.errors import InputError, NotFoundError
from doxa.engine import ENTITIES, NO_CATEGORIES, Filter, Handle, read_filter
from doxa.transport.http.access import Room
from doxa.transport.http.problems import ForbiddenError, Problem
from doxa.transport.http.state import served

__all__ = ["Body", "as_mem0", "everybody", "mem0_shape", "let_in", "not_here", "opened", "room_for", "rooms"]

BY_ONTOLOGY = (
    "Doxa reads what is said by its ontology (setting `ontology`), not by instructions. Leave it out, or describe your "
    "relations in a Turtle file."
)
ELSEWHERE: Mapping[str, str] = {
    "categories": NO_CATEGORIES,
    "custom_categories": NO_CATEGORIES,
    "custom_instructions": BY_ONTOLOGY,
    "agent_custom_instructions": BY_ONTOLOGY,
    "structured_data_schema": BY_ONTOLOGY,
    "includes": BY_ONTOLOGY,
    "excludes": BY_ONTOLOGY,
    "enable_graph": "The facts of Doxa are a graph already, which its own interface reads by SPARQL. Leave it out.",
    "immutable": "Doxa revises what it believes when somebody says otherwise. Leave it out.",
}
"""What mem0 takes and Doxa does not, and what to do instead."""


class Body(BaseModel):
    """What any request may say beside its own."""

    model_config = ConfigDict(extra="forbid")

    org_id: str | None = None
    project_id: str | None = None
    version: Literal["v1", "v2", "v3"] | None = None
    output_format: Literal["v1.1"] | None = None

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: object) -> object:
        for name in given if isinstance(given, Mapping) else ():
            if name in ELSEWHERE and name not in cls.model_fields and given[name] is not None:  # type: ignore[index]
                raise ValueError(f"{name}: {ELSEWHERE[name]}")
        if isinstance(given, Mapping):
            return {name: value for name, value in given.items() if name not in ELSEWHERE or name in cls.model_fields}
        return given


def mem0_shape(request: Request, problem: Problem) -> Response:
    """Return a problem as mem0's clients read it: `detail` becomes the message of the exception."""
    body: dict[str, Any] = {
        "detail": problem.detail,
        "error": problem.kind,
        "request_id": getattr(request.state, "request_id", None),
    }
    if problem.fields:
        body["fields"] = problem.fields
    return JSONResponse(body, problem.status, headers=dict(problem.headers))


def not_here(request: Request, detail: str) -> Response:
    """Return that Doxa does not do this, and what to do instead; strangers are turned away as everywhere."""
    let_in(request)
    return mem0_shape(request, Problem(status=501, kind="not-here", detail=detail))


def let_in(request: Request) -> None:
    """Let a request in by its key, before what it asks for is read. Raises as `Gate.key`."""
    served(request).gate.key(request)


def as_mem0(filters: object, given: Mapping[str, object]) -> Filter:
    """Return a filter of what a request says under `filters` and beside it (`user_id`, ...)."""
    beside = [{name: given[name]} for name in ENTITIES if given.get(name) is not None]
    whole = [*beside, *([filters] if filters not in (None, {}, []) else [])]
    return read_filter({"AND": whole} if whole else None)


def opened(request: Request, text: str) -> tuple[Room, Handle]:
    """Return the room of the user that an id names, and what it stands for there.

    An id is no secret and opens nothing: the key that comes with it must open its user.

    Raises:
        NotFoundError: it is no id, or one of another user than the request names.
        RefusedError: the key does not open the memory of this user.
    """
    gate = served(request).gate
    try:
        handle = Handle.read(text)
    except NotFoundError:
        gate.key(request)  # a stranger is told that the key is wrong, whatever the id
        raise
    room = gate.room(request, handle.user)
    if room.scope.user != handle.user:
        raise NotFoundError(f"User {room.scope.user!r} has no memory {text[:80]!r}.")
    return room, handle


def room_for(request: Request, filters: Filter) -> Room:
    """Return the room of the one user that a request is about."""
    found = rooms(request, filters)
    if len(found) != 1:
        raise InputError(f"Expected one user_id, got {len(found)}: ask for each user by itself.")
    return found[0]


def rooms(request: Request, filters: Filter) -> list[Room]:
    """Return the rooms of the users that a filter asks for; each must be opened by the key.

    Raises:
        RefusedError: the key does not open the memory of one of them, or may not list users for `*`, or nobody says
            which user is meant.
    """
    gate = served(request).gate
    if filters.everyone:
        users = everybody(request)
    else:
        users = list(filters.users)
    if users or filters.everyone:
        return [gate.room(request, user) for user in users]
    try:
        return [gate.room(request)]
    except ForbiddenError as exc:
        raise ForbiddenError(f"{exc} Or give user_id: beside messages for add(...), in filters for all else.") from exc


def everybody(request: Request) -> list[str]:
    """Return the users that a key opens: those that it names, else, for one that may, all that there are."""
    gate = served(request).gate
    key = gate.key(request)
    if key is None or "admin" in key.rights or "*" in key.users:
        return gate.users(key)
    return sorted(key.users)
