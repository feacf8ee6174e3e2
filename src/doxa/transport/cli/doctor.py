"""`doxa doctor`: what is installed, what is live, what is missing and the command that adds it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from doxa.core.access import without_password
from doxa.transport.checkup import Check, checked, guarded, unless_told
from doxa.transport.cli.app import DONE, ERROR, command, versions
from doxa.transport.cli.render import clean, columns, count, put
from doxa.transport.cli.request import Request, file_of

if TYPE_CHECKING:
    from doxa.engine import Doxa

__all__ = ["doctor", "effective"]

NAMED = 20
"""How many users are named at most whose turns failed."""
SIGNS = {"ok": ("✓", "green"), "off": ("–", "dim"), "failed": ("✗", "red")}


@command("doctor", example="doxa doctor --db memory.db --json")
def doctor(
    request: Request,
    offline: Annotated[bool, typer.Option("--offline", help="Do not call a server.")] = False,
) -> int:
    """Check what is installed, what works, and what is missing.

    Really loads the models, calls the language model and the AMR parser if they are configured, and opens the memory.
    Exit code 0 when everything that is needed works, else 1.
    """
    checks = checked(request.config, offline=offline)
    checks.append(unless_told(guarded("memory", lambda: _database(request)), checks))
    if checks[-1].state == "ok":
        checks.append(guarded("waiting turns", lambda: _waiting(request)))
    works = all(check.state != "failed" for check in checks)
    found: dict[str, Any] = {
        "works": works,
        "versions": versions(),
        "checks": checks,
        "config": effective(request.config),
    }
    request.give(found, lambda out: _show(out, checks, found["config"], works=works))
    return DONE if works else ERROR


ADDRESSES = ("db", "commonsense.base")
"""Settings that may be the address of a database, with a password."""


def effective(config: Any) -> dict[str, Any]:
    """Return every setting in effect by its dotted name; secrets as `****`."""
    from doxa.core.config import settings

    found: dict[str, Any] = {}
    for _, path, _, _ in settings():
        value = config
        for name in path:
            value = getattr(value, name)
        masked = "****" if hasattr(value, "get_secret_value") else value
        if isinstance(masked, tuple):
            masked = ", ".join(map(str, masked))
        found[".".join(path)] = masked if isinstance(masked, int | float | str | None) else str(masked)
    return {
        name: without_password(value) if name in ADDRESSES and isinstance(value, str) else value
        for name, value in found.items()
    }


def _database(request: Request) -> Check:
    """Open the memory, if there is one, and see whose it is."""
    path = file_of(request.config.db)
    if path is not None and not path.exists():
        fix = f"doxa ingest FILE --db {path}"
        return Check(name="memory", state="off", detail=f"{path.absolute()} is not there yet", fix=fix)
    with request.open() as doxa:
        users, about = doxa.users(), doxa.describe()["store"]
        mine = request.config.user
        taught = _taught(doxa, mine)
        degraded = doxa.memory(user=mine).stats()["degraded"] if mine in users else 0
    whose = ", ".join(users[:5]) + (", ..." if len(users) > 5 else "")
    kind, where, size = about["backend"], about["location"], about.get("bytes") or 0
    store = f"{kind}, {without_password(str(where))}, format {about['format']}, {size / 1024:,.0f} KiB"
    store += _server(about) or (", encrypted" if about.get("encrypted") else ", not encrypted")
    lesser = f"; of {mine}, {count(degraded, 'turn')} could not be processed in full" if degraded else ""
    return Check(name="memory", state="ok", detail=f"{store}; users: {whose or 'none yet'}{taught}{lesser}")


def _waiting(request: Request) -> Check:
    """Say whose turns wait because processing them failed."""
    from doxa.engine import stuck

    with request.open() as doxa:
        found = stuck(doxa)
    name = "waiting turns"
    if not found:
        return Check(name=name, state="ok", detail="none has failed")
    lines = [f"{count(len(found), 'user')} with turns that failed:"]
    for one in found[:NAMED]:
        whose = one.user if one.tenant == request.config.tenant else f"{one.user} of {one.tenant}"
        what = "given up" if one.given_up else "tried again"
        lines.append(f"{whose}: {count(one.times, 'time')}, {what}, last at {one.at:%Y-%m-%d %H:%M:%S}Z, {one.reason}")
    lines += [f"and {len(found) - NAMED} more"] if len(found) > NAMED else []
    left = next((one for one in found if one.given_up), None)
    fix = f"mend what failed, then: doxa worker --retry {shlex.quote(left.user)}" if left else ""
    return Check(name=name, state="failed" if left else "ok", detail="\n".join(lines), fix=fix)


def _server(about: dict[str, Any]) -> str:
    """Return what is to be known of a database server; empty for a file."""
    if "server" not in about:
        return ""
    parts, pool = about["partitions"], about["pool"]
    cut = f"{parts} partitions" if parts else "plain tables"
    return f"; Postgres {about['server']}, {cut}, pool of {pool['size']}+{pool['overflow']}"


def _taught(doxa: Doxa, user: str) -> str:
    """Return by what the reader of turns was taught for a user; empty where nothing was.

    Raises:
        FormatError: the file of the head cannot be read; turns are read without it.
    """
    head = doxa.memory(user=user).teaching().head()
    return f"; for {user} the reader is taught by {count(head.marks, 'mark')}: {head.path}" if head else ""


def _show(out: Console, checks: list[Check], config: dict[str, Any], *, works: bool) -> None:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for check in checks:
        sign, style = SIGNS[check.state]
        detail = Text(clean(check.detail), overflow="fold")
        if check.fix:
            detail.append(f"\n{'To add it' if check.state == 'off' else 'To mend it'}: {check.fix}", style="cyan")
        table.add_row(Text(sign, style=style), Text(check.name, style="bold"), detail)
    put(out, ", ".join(f"{name} {found}" for name, found in versions().items()), style="bold")
    put(out, table)
    put(out, "\nSettings in effect", style="bold")
    settings = columns("setting", "value")
    for name, value in config.items():
        settings.add_row(name, "unset" if value is None else clean(value))
    put(out, settings, indent=2)
    put(out, "\nEverything that is needed works." if works else "\nSomething needed does not work; see ✗ above.")
