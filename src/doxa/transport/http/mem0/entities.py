"""Who is asked for: the key's project, its users, agents, apps and runs; and what is deleted with one of them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from doxa.core.errors import InputError
from doxa.core.values import Turn
from doxa.engine import ENTITIES, Filter, erase_fitting, values_of
from doxa.transport.http.access import Room
from doxa.transport.http.mem0.asking import as_mem0, everybody, let_in, not_here, rooms
from doxa.transport.http.page import needs
from doxa.transport.http.state import served

__all__ = ["router"]

router = APIRouter(tags=["mem0"])
ORGANISATION = "doxa"
Kind = Literal["user", "agent", "app", "run"]
SORTED = ("run", "agent", "app", "user")
"""Whoever deletes one after the other deletes users last, when there is nothing left of the others to look for."""


@router.get("/v1/ping/", openapi_extra=needs())
def ping(request: Request) -> dict[str, Any]:
    """Tell that the key counts, and what it opens."""
    gate = served(request).gate
    key = gate.key(request)
    tenant = served(request).doxa.parts.config.tenant if key is None else key.tenant
    return {"status": "ok", "org_id": ORGANISATION, "project_id": tenant, "user_email": None}


@router.get("/v1/entities/", openapi_extra=needs("read"))
def users(request: Request) -> dict[str, Any]:
    """Return the users that the key opens and that have said something, with their agents, apps and runs."""
    found = [one for user in everybody(request) for one in _of(served(request).gate.room(request, user))]
    found.sort(key=lambda one: SORTED.index(one["type"]))
    return {"count": len(found), "next": None, "previous": None, "results": found}


def _of(room: Room) -> Iterator[dict[str, Any]]:
    turns: dict[tuple[str, str], list[Turn]] = {}
    for turn in room.memory().turns():
        for field in ENTITIES:
            for name in values_of(turn, field):
                turns.setdefault((field.removesuffix("_id"), name), []).append(turn)
    for (kind, name), said in turns.items():
        yield {
            "id": name,
            "name": name,
            "type": kind,
            "total_messages": len(said),
            "created_at": said[0].at.isoformat(),
            "updated_at": said[-1].at.isoformat(),
        }


@router.delete("/v2/entities/{kind}/{name:path}/", openapi_extra=needs("erase"))
@router.delete("/v1/entities/{kind}/{name:path}/", openapi_extra=needs("erase"))
def delete_entity(kind: Kind, name: str, request: Request) -> dict[str, Any]:
    """Erase all messages of a user, an agent, an app or a run, and all that was made of them; none is none."""
    field = f"{kind}_id"
    whose = [name] if kind == "user" else everybody(request)
    gate = served(request).gate
    erased = sum(_erase(gate.room(request, user), as_mem0({field: name}, {})) for user in whose)
    return {"message": "Entity deleted successfully!", "erased_messages": erased}


Entity = Annotated[str | None, Query()]
WHOSE = "delete_all: say whose memories: user_id, agent_id, app_id or run_id; '*' is all of them."
KNOWN = {*ENTITIES, "metadata", "filters", "org_id", "project_id"}


@router.delete("/v1/memories/", openapi_extra=needs("erase"))
def delete_all(
    request: Request,
    user_id: Entity = None,
    agent_id: Entity = None,
    app_id: Entity = None,
    run_id: Entity = None,
    metadata: Entity = None,
    filters: Entity = None,
) -> dict[str, Any]:
    """Erase all messages that fit, and all that was made of them; `user_id="*"` means every user of the key."""
    let_in(request)
    if unknown := set(request.query_params) - KNOWN:  # deletes too much, where it is one more thing to fit
        raise InputError(f"delete_all: expected some of {', '.join(sorted(KNOWN))}; got {', '.join(sorted(unknown))}.")
    given = {"user_id": user_id, "agent_id": agent_id, "app_id": app_id, "run_id": run_id}
    about = [one for one in (_read(filters), {"metadata": _read(metadata)} if metadata else None) if one]
    if not about and not any(given.values()):
        raise InputError(WHOSE)
    asked = as_mem0({"AND": about} if about else None, given)
    if asked.unconditional:
        raise InputError(WHOSE)
    if others := asked.fields & {"keywords", "memory", "memory_ids"}:
        raise InputError(f"delete_all: {', '.join(others)} are of single memories; delete those with batch_delete.")
    erased = sum(_erase(room, asked) for room in rooms(request, asked))
    return {"message": "Memories deleted successfully!", "erased_messages": erased}


def _read(given: str | None) -> Any:
    """Return what a query parameter holds: JSON, or a dict as Python prints it, which is what mem0's client sends."""
    if given is None:
        return None
    try:
        return json.loads(given)
    except ValueError:
        pass
    try:
        return ast.literal_eval(given)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as exc:
        raise InputError(f"delete_all: expected filters as JSON, got {given[:80]!r}.") from exc


def _erase(room: Room, asked: Filter) -> int:
    return erase_fitting(room.memory("erase"), asked)


@router.get("/api/v1/orgs/organizations/{org_id}/projects/{project_id}/", response_model=None, openapi_extra=needs())
def project(org_id: str, project_id: str, request: Request) -> dict[str, Any] | Response:
    """Tell what the key's project is: its tenant."""
    known = ping(request)
    if (org_id, project_id) != (known["org_id"], known["project_id"]):
        return not_here(request, f"This key is of project {known['project_id']!r}; it opens no other.")
    return {
        "id": project_id,
        "name": project_id,
        "org_id": org_id,
        "custom_instructions": None,
        "custom_categories": None,
    }
