"""An MCP server over standard input and output, for the one user of the start command."""

from __future__ import annotations

import anyio

from doxa.transport.mcp.server import server
from doxa.transport.room import Room

__all__ = ["serve_stdio"]


def serve_stdio(room: Room, profile: str) -> None:
    """Answer until standard input ends. Standard output carries the protocol and nothing else: what is printed goes to
    standard error meanwhile.

    Args:
        room: whose memory it is, and what may be done there.
        profile: which tools are offered.
    """
    anyio.run(server(profile, lambda _: room).run_stdio_async)
