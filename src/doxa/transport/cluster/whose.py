"""A request -> the user whom it names, as far as it can be told without the database.

It mirrors what `Gate.room` and the protocols do, for placing requests and nothing else: who may touch which memory is
decided by the replica that answers, and any replica answers for any user. A request that is read wrongly here is
answered by another replica than the one that holds the state of its user, which costs time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import HTTPConnection

from doxa.core.errors import NotFoundError
from doxa.engine import Handle
from doxa.transport.http import mem0
from doxa.transport.http.access import USER_HEADER
from doxa.transport.inspector import PATH as INSPECTOR

__all__ = ["in_body", "in_place", "may_be_in_body"]

OPENAI = "/openai/v1"
MEM0 = tuple(mem0.SHAPES)
USER_ID = "user_id"
BY_NAME = "/entities/user/"
DEEPEST = 8
"""Levels of a filter in which its user is looked for."""


def in_place(connection: HTTPConnection) -> str:
    """Return the user whom a header, the path or a parameter of the address names; empty where none does."""
    path, query = _path(connection), connection.query_params
    if named := connection.headers.get(USER_HEADER):
        return named
    if _is_under(path, INSPECTOR):
        return query.get("user", "")
    if any(_is_under(path, start) for start in MEM0):
        return query.get(USER_ID, "") or _in_path(path)
    return ""


def may_be_in_body(connection: HTTPConnection) -> bool:
    """Tell whether the protocol of a request has a place for the user in its body."""
    path = _path(connection)
    asks = connection.scope["method"] in ("POST", "PUT", "PATCH", "DELETE")
    return asks and (_is_under(path, OPENAI) or any(_is_under(path, start) for start in MEM0))


def in_body(connection: HTTPConnection, body: bytes) -> str:
    """Return the user whom the body of a request names; empty where it names none, or is no JSON."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(told, Mapping):
        return ""
    return _openai(told) if _is_under(_path(connection), OPENAI) else _mem0(told)


def _openai(told: Mapping[str, Any]) -> str:
    metadata = told.get("metadata")
    inner = metadata if isinstance(metadata, Mapping) else {}
    fields = (told.get("user"), told.get("safety_identifier"), inner.get("user"))
    return next((one for one in fields if isinstance(one, str) and one.strip()), "")


def _mem0(told: object, depth: int = 0) -> str:
    """Return the first user that a body names, under `filters` included."""
    if depth > DEEPEST:
        return ""
    if isinstance(told, Mapping):
        if isinstance(named := told.get(USER_ID), str):
            return named
        inner = [told[key] for key in ("filters", "AND", "OR") if key in told]
    else:
        inner = told if isinstance(told, list) else []
    return next((found for one in inner if (found := _mem0(one, depth + 1))), "")


def _in_path(path: str) -> str:
    """Return the user of a path of mem0's protocol: by name (`entities/user/NAME`), or in an id."""
    if BY_NAME in path:
        return path.partition(BY_NAME)[2].removesuffix("/")
    parts = [part for part in path.split("/") if part]
    try:
        return Handle.read(parts[2]).user if len(parts) > 2 else ""
    except NotFoundError:
        return ""


def _path(connection: HTTPConnection) -> str:
    return str(connection.scope["path"]).removeprefix(connection.scope.get("root_path", ""))


def _is_under(path: str, start: str) -> bool:
    return path == start or path.startswith(f"{start}/")
