"""A whole memory: carried elsewhere as a stream, taken in, forgotten; and whose memories there are."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio.to_thread
from fastapi import Depends, Query, Request, Response, Security
from fastapi.security import HTTPAuthorizationCredentials
from pydantic import Field
from starlette.requests import ClientDisconnect, HTTPConnection

from doxa.core.errors import FormatError, InputError
from doxa.core.private import private_file
from doxa.core.values import Certificate
from doxa.transport.http.rest.ground import Body, Erasing, Fresh, Problem, Writing, bearer, memory_router, version_after
from doxa.transport.http.rest.shown import answer, shown, written
from doxa.transport.http.state import served
from doxa.transport.plain import plain
from doxa.transport.spooling import MEDIA, Format, spooled

__all__ = ["router"]

router = memory_router("memory")
BINARY = {"schema": {"type": "string", "format": "binary"}}


@router.get(
    "/export",
    operation_id="exportMemory",
    response_class=Response,
    responses={200: {"content": {media: BINARY for media, _ in MEDIA.values()}, "description": "The memory."}},
)
def export_memory(
    room: Fresh, response: Response, format: Annotated[Format, Query(description="How it is written.")] = "jsonl"
) -> Response:
    """Return the whole memory as a file.

    `jsonl` is the log as it is; `turtle`, `nquads` and `jsonld` are OWL 2 with PROV-O provenance and hold the log as
    well; all four can be imported. `markdown` is for people.
    """
    return spooled(room.memory(), format, headers=response.headers)


@router.post(
    "/import",
    operation_id="importMemory",
    response_model=written("Imported", turns=(int, "How many turns were new.")),
    responses={
        409: {"model": Problem, "description": "A turn is known with another text; the turns before it were read."}
    },
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": BINARY}}},
)
async def import_memory(request: Request, room: Writing) -> dict[str, int]:
    """Read an export, the body of the request, into this memory.

    An empty memory becomes what was exported, revisions and withdrawals included; otherwise the turns are taken in as
    if they had just come. It is read when all of it is here: of an upload that breaks off nothing is.
    """
    folder = await anyio.to_thread.run_sync(lambda: room.memory("write").spool_folder("import"))
    try:
        await _spool(request, folder / "upload")
        turns = await anyio.to_thread.run_sync(lambda: room.memory("write").import_(folder / "upload"))
        version = await anyio.to_thread.run_sync(lambda: version_after(room, wait=True))
    except FormatError as error:
        raise FormatError(str(error).replace(f"{folder}/", "")) from error  # where it lay is nobody's business
    finally:
        await anyio.to_thread.run_sync(lambda: shutil.rmtree(folder, ignore_errors=True))
    return {"turns": turns, "version": version}


async def _spool(request: Request, path: Path) -> None:
    """Write the body of a request to a file, piece by piece."""
    try:
        async with await anyio.open_file(private_file(path), "wb") as file:
            async for piece in request.stream():
                await file.write(piece)
    except ClientDisconnect as error:
        raise InputError("import: the upload broke off; nothing was imported. Send it again.") from error


class ForgetIn(Body):
    """That everything is meant."""

    everything: Literal[True] = Field(description="There is no way back, so that it has to be said.")


@router.post("/forget", operation_id="forgetEverything", response_model=shown(Certificate))
def forget_everything(_meant: ForgetIn, room: Erasing) -> Any:
    """Erase all that is stored of the user for good, and return a certificate that counts what went.

    (One turn: DELETE /v1/memory/turns/ID. This is no DELETE of a path that another one with a slip in it leads to.)
    """
    return plain(room.memory("erase").forget(everything=True))


def users_for(
    connection: HTTPConnection, _key: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]
) -> list[str]:
    """Return the users whose memories a request may know of."""
    gate = served(connection).gate
    return gate.users(gate.key(connection))


@router.get("/users", operation_id="listUsers", response_model=answer("Users", users=list[str]))
def list_users(users: Annotated[list[str], Security(users_for, scopes=["admin"])]) -> dict[str, Any]:
    """List the users that have a memory and that the key opens."""
    return {"users": users}
