"""What the OpenAPI page says of the whole: what there is, how to be let in, and how errors look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI

from doxa.core.access import Right

__all__ = ["ABOUT", "TAGS", "describe", "needs"]

ABOUT = """\
Everything under `/v1/memory` is of one user: that of the API key, or of the header `Doxa-User` where the key opens the
memories of several. A key is sent as `Authorization: Bearer doxa_...`; what it may do is shown with each operation.

Reads have an `ETag`, the version of the memory: sent back as `If-None-Match` with a GET, it is answered by 304 while
nothing was changed. Writes give the version after them, and with `wait=true` are answered when the next read knows of
them. Turns are told apart by their ids, so that sending them again is safe. Times are in ISO form; what is current, and
"today" in a question, is told by the time of the latest turn. A parameter or field that is not known is refused. Errors
are `application/problem+json` (RFC 9457).
"""
TAGS = [
    {"name": "turns", "description": "What was said."},
    {"name": "answers", "description": "Questions, replies, and checks of replies."},
    {"name": "facts", "description": "What is believed, why, and corrections by hand."},
    {"name": "search", "description": "What is found in a memory and told of it."},
    {"name": "concepts", "description": "What the user is like, lifted from several statements."},
    {"name": "tasks", "description": "What the user is at."},
    {"name": "memory", "description": "A memory as a whole."},
    {
        "name": "openai",
        "description": "The proxy for clients of OpenAI's: `OpenAI(base_url=.../openai/v1, api_key=...)`.",
    },
    {"name": "mem0", "description": "The protocol of mem0's client: `MemoryClient(api_key=..., host=...)`."},
    {"name": "operation", "description": "How the server is. Nothing of it needs a key."},
]


def needs(*rights: Right, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what the page says of an operation that looks at its key, or at its body, by itself (`openapi_extra`).

    Args:
        rights: those that the key has to have; without any a key that counts will do.
        body: the schema of the body.
    """
    told: dict[str, Any] = {"security": [{"key": list(rights)}]}
    if body is not None:
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return told


def describe(app: FastAPI) -> None:
    """Have the page of an application say in which media type its problems come, and each of them but once."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            page = made()
            told = page.setdefault("components", {}).setdefault("responses", {})
            for operations in page["paths"].values():
                for operation in operations.values():
                    operation["responses"] = {
                        status: _mended(status, response, told) for status, response in operation["responses"].items()
                    }
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]


def _mended(status: str, response: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return what a page says of a response; a problem that it tells of everywhere is told in one place."""
    content = response.get("content", {})
    if not content.get("application/json", {}).get("schema", {}).get("$ref", "").endswith("/Problem"):
        return response
    content["application/problem+json"] = content.pop("application/json")
    name = f"Problem{status}"
    return {"$ref": f"#/components/responses/{name}"} if told.setdefault(name, response) == response else response
