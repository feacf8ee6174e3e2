"""The command that encrypts a memory file, changes its key or takes it off: rekey."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from doxa.core.errors import InputError
from doxa.core.migration import Rekeyed
from doxa.core.sealing import read_key
from doxa.transport.cli.app import command
from doxa.transport.cli.render import clean, count, put
from doxa.transport.cli.request import Request

__all__ = ["rekey"]


@command("rekey", example="doxa rekey memory.db --to memory.key")
def rekey(
    request: Request,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file of a memory.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="KEYFILE", help="File with the key that the memory gets.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Take the key off: nothing is encrypted any more.")] = False,
) -> None:
    """Encrypt a memory file, give it another key, or take the key off.

    The key that it has is that of the settings (store.key_file, DOXA_STORE_KEY_FILE); one that is not encrypted needs
    none. Every row is written to a new file and compared by digest; what was learned and marked beside it goes along.
    Close what has the file open first. Until the new file is whole the old one is as it was; then it is overwritten.
    """
    if (to is None) != plain:
        raise InputError("Expected one of --to KEYFILE and --plain.")
    from doxa.engine import rekey as rekeyed

    new = None if to is None else read_key(to, "--to")
    with request.bars() as tell:
        found = rekeyed(str(file), new, config=request.config, told=tell)
    request.give(asdict(found), lambda out: _show(out, found, to))


def _show(out: Console, found: Rekeyed, to: Path | None) -> None:
    what = f"{count(found.rows, 'row')} and {count(found.files, 'file')} beside it"
    if to is None:
        put(out, f"{clean(found.path)} is not encrypted any more: {what}. Unset store.key and store.key_file.")
    else:
        put(out, f"{clean(found.path)} is encrypted by the key in {clean(str(to))}: {what}.")
        put(
            out,
            f"Now set DOXA_STORE_KEY_FILE={clean(str(to))}. Keep a copy of the key: without it all is lost.",
        )
    for one in found.untouched:
        put(out, f"Left as it was: {clean(one)}", indent=2)
