"""The files that pages load: scripts and styles, all of them ours to give, none from elsewhere."""

from __future__ import annotations

import gzip
import mimetypes
from functools import cache
from importlib.resources.abc import Traversable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from doxa.transport.inspector.rendering import STATIC

__all__ = ["give"]

YEAR_S = 31_536_000
KEPT = f"public, max-age={YEAR_S}, immutable"
"""An address changes with the file (`rendering.asset`), so that what is behind it may be kept."""


async def give(request: Request) -> Response:
    """Answer with a file, packed where the browser can unpack it."""
    name = request.path_params["name"]
    if name not in _files():
        raise HTTPException(404, "there is no such file")
    packed = "gzip" in request.headers.get("accept-encoding", "")
    headers = {"Cache-Control": KEPT, "Vary": "Accept-Encoding"}
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(_content(name, packed=packed), media_type=mimetypes.guess_type(name)[0], headers=headers)


@cache
def _files() -> dict[str, Traversable]:
    """Return every file by its name: a request finds one of these, and never asks the disk for a name of its own."""
    found: dict[str, Traversable] = {}
    waiting = [("", STATIC)]
    while waiting:
        prefix, folder = waiting.pop()
        for one in folder.iterdir():
            if one.is_dir():
                waiting.append((f"{prefix}{one.name}/", one))
            else:
                found[prefix + one.name] = one
    return found


@cache
def _content(name: str, *, packed: bool) -> bytes:
    content = _files()[name].read_bytes()
    return gzip.compress(content, mtime=0) if packed else content
