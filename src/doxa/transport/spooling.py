"""A whole memory -> a file that is sent and then gone, for clients and for browsers."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import anyio.to_thread
from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from doxa.engine import Memory

__all__ = ["MEDIA", "Format", "spooled"]

Format = Literal["jsonl", "turtle", "nquads", "jsonld", "markdown"]
MEDIA: dict[Format, tuple[str, str]] = {
    "jsonl": ("application/jsonl", ".jsonl"),
    "turtle": ("text/turtle", ".ttl"),
    "nquads": ("application/n-quads", ".nq"),
    "jsonld": ("application/ld+json", ".jsonld"),
    "markdown": ("text/markdown", ".md"),
}
"""By format its media type, and how the name of its file ends."""
assert set(MEDIA) == set(get_args(Format))


class Spooled(FileResponse):
    """A file in a folder of its own, which is gone once it was sent, or could not be."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await anyio.to_thread.run_sync(lambda: shutil.rmtree(Path(self.path).parent, ignore_errors=True))


def spooled(memory: Memory, format: Format, *, headers: Mapping[str, str] | None = None) -> Spooled:
    """Return the answer that is a whole memory as a file.

    Args:
        memory: which one.
        format: how it is written.
        headers: what the answer says beside that.
    """
    folder = memory.spool_folder("export")
    media, ending = MEDIA[format]
    try:
        path = memory.export(folder / f"memory{ending}", format=format)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Spooled(path, media_type=media, filename=path.name, headers=dict(headers or {}))
