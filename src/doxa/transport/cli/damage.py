"""The command that finds damage in the file of a memory, and mends it: check-file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from doxa.core.damage import FileCheck, LogCheck
from doxa.transport.cli.app import DONE, PARTLY, command
from doxa.transport.cli.render import clean, count, put
from doxa.transport.cli.request import Request

__all__ = ["check_file"]

SHOWN = 20
"""How many users, and turns of each, are named at most."""


@command("check-file", example="doxa check-file memory.db --mend")
def check_file(
    request: Request,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of a memory.")],
    mend: Annotated[bool, typer.Option("--mend", help="Make a whole file of what is whole.")] = False,
) -> int:
    """Find out whether the file of a memory is as it was written, and whose turns are touched where it is not.

    Every row is compared with its digest, wherever in the file it lies. With --mend what is whole is written to a new
    file in the place of the damaged one, which is kept beside it: facts, vectors and indexes are made anew of the
    turns, and what was made of a lost turn goes with it. Close what has the file open first. Exit code 0 when nothing
    is damaged or nothing of it was lost, else 3.
    """
    from doxa.engine import check_file as checked
    from doxa.engine import mend_file as mended

    found = mended(str(file), request.config) if mend else checked(str(file), request.config)
    told = {**asdict(found), "sound": found.sound}
    request.give(told, lambda out: _show(out, found))
    kept_all = all(not (log.lost or log.changes) for log in found.logs)
    return DONE if found.sound or (found.kept and kept_all) else PARTLY


def _show(out: Console, found: FileCheck) -> None:
    turns = sum(log.turns for log in found.logs)
    whole = f"{count(turns, 'turn')} of {count(len(found.logs), 'user')}"
    if found.sound:
        put(out, f"{clean(found.path)} is as it was written: {whole}.")
        return
    put(out, f"{clean(found.path)} is damaged. Whole in it: {whole}.")
    for complaint in found.complaints[:SHOWN]:
        put(out, clean(complaint), indent=2)
    for table, number in found.damaged.items():
        put(out, f"{count(number, 'row')} of {table} not as written", indent=2)
    touched = [log for log in found.logs if not log.whole]
    for log in touched[:SHOWN]:
        put(out, f"{clean(log.user)}: {_lost(log)}", indent=2)
    if len(touched) > SHOWN:
        put(out, f"and {len(touched) - SHOWN} more users", indent=2)
    if found.kept:
        put(out, f"It was mended. The damaged file is {clean(found.kept)}; remove it once it is not needed.")
    else:
        put(out, f"To make a whole file of what is whole: doxa check-file {clean(found.path)} --mend")


def _lost(log: LogCheck) -> str:
    named = ", ".join(clean(one) for one in log.lost[:SHOWN])
    more = f" and {len(log.lost) - SHOWN} more" if len(log.lost) > SHOWN else ""
    parts = [
        f"{count(len(log.lost), 'turn')} lost ({named}{more})" if log.lost else "",
        f"{count(len(log.unread), 'turn')} whose reading is lost" if log.unread else "",
        f"{count(log.changes, 'change')} by hand lost, at least" if log.changes else "",
        "in disorder, and nothing lost by it" if log.disordered else "",
    ]
    return "; ".join(filter(None, parts))
