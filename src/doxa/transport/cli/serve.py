"""`doxa serve`: one process that clients in any language can use."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from doxa.core.access import RIGHTS
from doxa.core.errors import InputError, MissingDependencyError
from doxa.transport.cli.app import DONE, command
from doxa.transport.cli.render import clean, dump
from doxa.transport.cli.request import Request

if TYPE_CHECKING:
    from doxa.core.config import ServerConfig
    from doxa.engine import Doxa

__all__ = ["serve"]


@command("serve", example="doxa serve --db memory.db --port 8377")
def serve(
    request: Request,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on [DOXA_SERVER_HOST].")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port, 0 for a free one [DOXA_SERVER_PORT].")
    ] = None,
    upstream: Annotated[
        str | None,
        typer.Option(
            "--upstream", metavar="URL", help="Server that the OpenAI proxy relays to [DOXA_SERVER_UPSTREAM]."
        ),
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Let requests in without an API key, from this machine only.")
    ] = False,
) -> int:
    """Serve the memory over REST, an OpenAI-compatible proxy, MCP and mem0's protocol.

    It works offline. Where the database has no API key yet, one is made and shown, to a terminal or as JSON. It ends at
    Ctrl-C or SIGTERM, once requests under way are answered and what was received is understood (`server.drain_s`).
    """
    try:
        from doxa.transport.http import application, log_to, require_keys
        from doxa.transport.http import serve as run
    except ImportError as exc:
        raise MissingDependencyError(str(exc.name), extra="server", purpose="doxa serve") from exc

    if request.options.user:
        raise InputError("doxa serve serves all users, and takes no --user. A key for one: doxa keys add --for NAME")
    config = request.config
    given = {"host": host, "port": port, "upstream": upstream, "open": open_ or None}
    settings = config.server.model_copy(update={name: value for name, value in given.items() if value is not None})
    require_keys(settings)
    if settings.upstream and not settings.upstream.startswith(("http://", "https://")):
        raise InputError(
            f"Expected an upstream such as https://api.openai.com/v1, got {settings.upstream!r} (server.upstream)."
        )
    log_to(settings.logs, quiet=request.options.quiet)
    request.__dict__["config"] = config.model_copy(update={"server": settings})
    if request.shows_progress:
        request.note("Loading the models ...")
    with request.open(create=True) as doxa:
        seen = request.json or request.out.is_terminal  # what goes to a file or a log is no place for a secret
        keyed = _has_key(doxa)
        secret = _first_key(doxa) if seen and not keyed and not settings.open else None
        app = application(doxa, settings)
        run(app, settings, started=lambda address: _tell(request, settings, address, secret, keyed=keyed))
        request.note("Stopping: what was received is being understood; what is left is understood at the next start.")
        doxa.close(limit_s=settings.drain_s)
    return DONE


def _has_key(doxa: Doxa) -> bool:
    from doxa.engine import Keys

    return any(key.revoked_at is None for key in Keys(doxa).list())


def _first_key(doxa: Doxa) -> str:
    """Return the secret of a key that is made because there is none."""
    from doxa.engine import Keys

    return Keys(doxa).add(rights=RIGHTS, label="made by the first doxa serve")[1]


def _tell(request: Request, settings: ServerConfig, address: str, secret: str | None, *, keyed: bool) -> None:
    told: dict[str, Any] = {
        "address": address,
        "rest": f"{address}/v1/memory",
        "pages": f"{address}/docs",
        "inspector": f"{address}/inspect",
        "openai": f"{address}/openai/v1",
        "upstream": settings.upstream,
        "mcp": f"{address}/mcp",
        "key": secret,
    }
    if request.json:
        dump(told, lines=True)
        return
    out = request.out
    out.print(f"Doxa serves {request.place} at {address}  (stop with Ctrl-C)", soft_wrap=True)
    if settings.open:
        whose = f"without Doxa-User the memory is that of {clean(request.config.user)}"
        out.print(f"  key      none needed from this machine (--open); {whose}", soft_wrap=True)
    elif secret:
        out.print(f"  key      {secret}  (shown this once)", soft_wrap=True)
    else:
        where = f" --db {shlex.quote(request.place)}" if request.options.db else ""
        known = f"`doxa keys list{where}` shows which there are" if keyed else "there is none yet"
        out.print(f"  key      {known}, `doxa keys add{where}` makes one", soft_wrap=True)
    out.print(f"  REST     {told['rest']}  described at {told['pages']}", soft_wrap=True)
    out.print(f"  pages    {told['inspector']}  what it believes, and why, with a browser")
    relays = f"relays to {settings.upstream}" if settings.upstream else "no upstream: the built-in writer answers"
    out.print(f"  OpenAI   base_url={told['openai']}  ({relays})", soft_wrap=True)
    out.print(f"  MCP      {told['mcp']}")
    out.print(f"  mem0     MemoryClient(host={address!r}, api_key=KEY)")
    header = "" if settings.open else f' -H "Authorization: Bearer {secret or "KEY"}"'
    out.print("Try:", style="bold")
    out.print(
        f"  curl '{address}/v1/memory/turns?wait=true'{header} -H 'Doxa-User: ana' \\\n"
        """    --json '{"turns": [{"text": "I live in Lisbon."}]}'\n"""
        f"  curl {address}/v1/memory/ask{header} -H 'Doxa-User: ana' --json "
        """'{"text": "Where do I live?"}'""",
        soft_wrap=True,
    )
