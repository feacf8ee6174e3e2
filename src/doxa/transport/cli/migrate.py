"""The command that copies a database into another one: migrate."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from doxa.core.migration import Migration, Moved
from doxa.transport.cli.app import DONE, PARTLY, command
from doxa.transport.cli.render import clean, count, put
from doxa.transport.cli.request import Request

__all__ = ["migrate"]

SHOWN = 20
"""How many logs are named at most that are not as they should be."""
SAID = {
    "differs": "holds something else, which was left as it is",
    "missing": "holds nothing of it",
    "refused": "cannot hold it, and has nothing of it",
}


@command("migrate", example="doxa migrate memory.db postgresql://doxa@localhost/doxa")
def migrate(
    request: Request,
    source: Annotated[str, typer.Argument(metavar="FROM", help="The memory to copy; it is only read.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where to; a new memory is made.")],
    verify: Annotated[bool, typer.Option("--verify", help="Copy nothing, and say whether TO has all of FROM.")] = False,
) -> int:
    """Copy a whole memory, of all users, from a file to Postgres or the other way.

    Each user's log is written whole, with its vectors, answers and records, and read back and compared by digest. The
    same command goes on where one was interrupted. Stop what writes to FROM first. Exit code 0 when TO has all of
    FROM, 3 when it holds something else of some user, or less: what it cannot hold is named.
    """
    from doxa.engine import migrate as migrated

    with request.bars() as tell:
        found = migrated(source, target, config=request.config, only_compare=verify, told=tell)
    request.give(_plain(found), lambda out: _show(out, found))
    return DONE if found.complete else PARTLY


def _plain(found: Migration) -> dict[str, Any]:
    return {
        "complete": found.complete,
        "rows": found.rows,
        "seconds": round(found.seconds, 3),
        "moved": [
            {"what": one.what, "scope": one.scope, "state": one.state, "rows": one.rows, "digest": one.digest}
            | ({"reason": one.reason} if one.reason else {})
            for one in found.moved
        ],
    }


def _show(out: Console, found: Migration) -> None:
    logs = [one for one in found.moved if one.what == "log"]
    copied = sum(one.state == "copied" for one in logs)
    same = sum(one.state == "same" for one in logs)
    speed = f"{found.rows / max(found.seconds, 0.001):,.0f} rows/s"
    put(
        out,
        f"{count(len(logs), 'log')}: {copied} copied, {same} the same already; {count(found.rows, 'row')}, {speed}.",
    )
    wrong = [one for one in found.moved if one.state in SAID]
    for one in wrong[:SHOWN]:
        why = f" ({clean(one.reason)})" if one.reason else ""
        put(out, f"{clean(_named(one))}: TO {SAID[one.state]}{why}.", indent=2)
    if len(wrong) > SHOWN:
        put(out, f"and {len(wrong) - SHOWN} more", indent=2)
    if wrong:
        put(out, "TO does not have all of FROM. Where it holds something else, copy to an empty database.")
        if any(one.state == "refused" for one in wrong):
            put(out, "What it cannot hold is in FROM alone: keep FROM, or copy to a file.")
    else:
        put(out, "TO has all of FROM, by digest.")


def _named(one: Moved) -> str:
    return {"log": one.scope, "keys": "the API keys", "erasures": "the mark of what was erased"}[one.what]
