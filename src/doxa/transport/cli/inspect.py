"""`doxa inspect`: look into a memory with a browser."""

from __future__ import annotations

import secrets
import webbrowser
from typing import Annotated

import typer

from doxa.core.errors import MissingDependencyError
from doxa.transport.cli.app import DONE, command
from doxa.transport.cli.render import dump
from doxa.transport.cli.request import Request

__all__ = ["inspect"]

HERE = "127.0.0.1"


@command("inspect", example="doxa inspect --db memory.db")
def inspect(
    request: Request,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port, by default a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> int:
    """Open the inspector on a memory: what it believes, why, and what it was thinking.

    The pages are served to this machine alone, for as long as this runs, behind a key that is made for it and stands
    in the address. What is changed there can be undone there, apart from what is forgotten.
    """
    try:
        from doxa.transport.http import application, log_to
        from doxa.transport.http import serve as run
    except ImportError as exc:
        raise MissingDependencyError(str(exc.name), extra="server", purpose="doxa inspect") from exc

    settings = request.config.server.model_copy(update={"host": HERE, "port": port, "open": False})
    log_to(settings.logs, quiet=True)
    key = secrets.token_urlsafe(24)
    with request.open() as doxa:
        if request.options.user:
            request.require_user(doxa)
        if request.shows_progress:
            request.note("Reading the memory ...")
        users = doxa.users()
        user = request.config.user if request.config.user in users else users[0] if len(users) == 1 else None
        if user is not None:
            doxa.memory(user=user).stats()

        def started(address: str) -> None:
            whose = f"?next=/inspect/now%3Fuser%3D{_quoted(user)}" if user is not None else ""
            url = f"{address}/inspect/enter{whose}#{key}"
            if request.json:
                dump({"address": f"{address}/inspect", "url": url}, lines=True)
            else:
                request.out.print(f"Inspect {request.place} at {url}  (stop with Ctrl-C)", soft_wrap=True)
            if browser and not webbrowser.open(url):
                request.note("No browser could be opened here: open the address above in one.")

        run(application(doxa, settings, own_key=key), settings, started=started)
        doxa.close(limit_s=settings.drain_s)
    return DONE


def _quoted(user: str) -> str:
    """Return a name as part of an address that is part of another one."""
    from urllib.parse import quote

    return quote(quote(user, safe=""), safe="")
