"""`doxa mcp`: the memory as tools of the Model Context Protocol, over standard input and output."""

from __future__ import annotations

from typing import Annotated

import typer

from doxa.core.access import RIGHTS, Right, Scope
from doxa.core.errors import InputError, MissingDependencyError
from doxa.transport.cli.app import command
from doxa.transport.cli.request import Request

__all__ = ["mcp"]

LOCAL = "local"
"""The key id of whoever may start a command here."""


@command("mcp", example="doxa mcp --user ana --db ana.db")
def mcp(
    request: Request,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="doxa, reference, mem0 or graphiti [server.mcp_profile]."),
    ] = None,
    right: Annotated[
        list[str] | None,
        typer.Option("--right", metavar="RIGHT", help="read, write, erase; several times for several [all]."),
    ] = None,
) -> None:
    """Offer the memory of a user as tools to an MCP client that starts this command.

    Standard output carries the protocol. A client is set up with the command `doxa`, and with `mcp`, `--user` and
    `--db` as its arguments. Other clients, and other machines, use `doxa serve`, which has the same tools at /mcp.
    """
    from doxa.core.config import MCP_PROFILES

    rights, config = _rights(right), request.config
    chosen = profile or config.server.mcp_profile
    if chosen not in MCP_PROFILES:
        raise InputError(f"mcp: --profile is one of {', '.join(MCP_PROFILES)}; got {chosen}.")
    try:
        from doxa.transport.http.access import Room
        from doxa.transport.mcp.stdio import serve_stdio
    except ModuleNotFoundError as exc:
        raise MissingDependencyError(exc.name or "mcp", extra="server", purpose="`doxa mcp`") from exc

    with request.open(create=True) as doxa:
        scope = Scope(tenant=config.tenant, user=config.user, rights=rights, key_id=LOCAL)
        serve_stdio(Room(scope, doxa), chosen)


def _rights(given: list[str] | None) -> tuple[Right, ...]:
    unknown = set(given or ()) - set(RIGHTS)
    if unknown:
        raise InputError(f"mcp: --right is one of {', '.join(RIGHTS)}; got {', '.join(sorted(unknown))}.")
    return tuple(one for one in RIGHTS if given is None or one in given)
