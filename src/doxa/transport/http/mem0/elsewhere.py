"""What mem0 does and Doxa does not, or does elsewhere: every such request is told so, none is answered as if done."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from doxa.transport.http.mem0.asking import not_here

__all__ = ["router"]

router = APIRouter(tags=["mem0"])
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
SAID = {
    "/v1/feedback/": (
        "Doxa keeps no marks on memories. Where one is wrong, correct it with update(memory_id, text=...) or delete "
        "it; where a search missed something, say which turns were needed (`Memory.feedback`)."
    ),
    "/v1/exports/": (
        "Doxa exports a memory as it is, not by a schema: `doxa export FILE --user NAME` (JSON lines, Turtle, N-Quads, "
        "JSON-LD or Markdown)."
    ),
    "/v1/exports/get/": "There are no stored exports; `doxa export FILE --user NAME` writes one.",
    "/v2/entities/user/{name}/profile/": (
        "Doxa makes no profiles by a schema. get_summary(filters={'user_id': ...}) tells what is believed of a user."
    ),
    "/v2/profiles/jobs/": "Doxa makes no profiles by a schema; get_summary(filters={'user_id': ...}) needs no job.",
    "/v2/profiles/jobs/{job}/": "Doxa makes no profiles by a schema, so there are no such jobs.",
    "/v2/profiles/settings/": "Doxa makes no profiles by a schema, so there is nothing to set.",
    "/api/v1/webhooks/{rest:path}": (
        "Doxa calls nobody. add(...) answers when a message is understood and lists what changed; with async_mode=True "
        "GET /v1/event/EVENT_ID/ tells the same later."
    ),
    "/api/v1/orgs/{rest:path}": (
        "Projects are Doxa's tenants, and members are API keys: `doxa keys add --tenant NAME` makes one, `doxa keys "
        "list` shows them and `doxa keys revoke ID` takes one away. How messages are read is set by the ontology."
    ),
}
"""Path -> what to do instead."""


def _told(detail: str) -> object:
    def route(request: Request) -> Response:
        return not_here(request, detail)

    return route


for path, detail in SAID.items():
    router.add_api_route(path, _told(detail), methods=METHODS, include_in_schema=False)  # type: ignore[arg-type]
