"""The command that builds a base of background knowledge, and shows what is in one: kb."""

from __future__ import annotations

import time
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from doxa.core.access import without_password
from doxa.core.errors import InputError
from doxa.transport.cli.app import DONE, INTERRUPTED, command
from doxa.transport.cli.render import clean, columns, put
from doxa.transport.cli.request import Request

if TYPE_CHECKING:
    from doxa.engine import Card

__all__ = ["kb"]


class Act(StrEnum):
    """What is done with a base of knowledge."""

    BUILD = "build"
    SHOW = "show"


@command("kb", example="doxa kb build GenericsKB.txt --to base --inferences atomic2020.tsv")
def kb(
    request: Request,
    act: Annotated[Act, typer.Argument(metavar="build|show", help="Build a base, or show what is in one.")],
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...|BASE", help="Files of sentences (build), or the base (show) [DOXA_COMMONSENSE_BASE]."
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FOLDER|URL", help="Where it is put; postgresql://... [DOXA_COMMONSENSE_BASE]."),
    ] = None,
    inferences: Annotated[
        list[Path] | None,
        typer.Option("--inferences", metavar="FILE", help="Events and what follows from them; may be repeated."),
    ] = None,
    groups: Annotated[
        int | None, typer.Option("--groups", min=1, help="Groups of concepts [default: one for 100 concepts].")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the groups [default 0].")] = None,
    force: Annotated[bool, typer.Option("--force", help="From the start, even where it is finished or begun.")] = False,
) -> int:
    """Build a base of background knowledge from files of sentences, or show what is in one.

    Sentences come as lines, as tables with tabs (GenericsKB) or as JSON Lines; inferences as in ATOMIC 2020 or
    ConceptNet. The same command goes on with a build that was interrupted, and leaves a finished base as it is. A
    finished one is put into a Postgres database with pgvector, which many machines read: kb build FOLDER --to URL.
    """
    if act is Act.SHOW:
        if to or inferences or groups or seed is not None or force or len(paths or ()) > 1:
            raise InputError("Expected one folder and nothing else: doxa kb show FOLDER")
        folder = _folder(request, paths[0] if paths else None, "doxa kb show FOLDER")
        return _show_one(request, folder)
    if not paths:
        raise InputError("Expected files of sentences: doxa kb build FILE --to FOLDER")
    folder = _folder(request, to, "doxa kb build FILE --to FOLDER")
    return _build(request, paths, folder, inferences=inferences or (), groups=groups, seed=seed or 0, force=force)


def _folder(request: Request, given: str | None, usage: str) -> str:
    """Return the folder or address that was given, or that is set."""
    folder = given or request.config.commonsense.base
    if folder is None:
        raise InputError(f"Expected the folder of a base: {usage}, or set one: export DOXA_COMMONSENSE_BASE=FOLDER")
    return str(folder)


def _show_one(request: Request, folder: str) -> int:
    from doxa.engine import show_base

    found = _described(folder, show_base(folder))
    request.give(found, lambda out: _show(out, found))
    return DONE


def _build(request: Request, files: list[str], folder: str, **options: Any) -> int:
    """Build a base, with a bar for each step."""
    from doxa.engine import build_base

    steps: set[str] = set()
    start = time.perf_counter()
    try:
        with request.bars() as bars:

            def tell(step: str, done: int, whole: int) -> None:
                steps.add(step)
                bars(step, done, whole)

            card = build_base(files, folder, config=request.config, tell=tell, **options)
    except KeyboardInterrupt:
        request.note("Interrupted; what was done is kept. To go on, run the same command again.")
        return INTERRUPTED
    found = {
        **_described(folder, card),
        "built": bool(steps),
        "seconds": round(time.perf_counter() - start, 3),
    }
    request.give(found, lambda out: _show(out, found))
    if not request.json and not steps:
        request.note("It was finished already, of the very same files; --force builds it again.")
    return DONE


def _described(folder: str, card: Card) -> dict[str, Any]:
    """Return what a base is made of, with its size on this disk in bytes."""
    there = Path(folder).iterdir() if "://" not in folder else ()
    size = sum(path.stat().st_size for path in there if path.is_file())
    return {"folder": without_password(folder), **asdict(card), "bytes": size}


def _show(out: Console, found: dict[str, Any]) -> None:
    table = columns("", "")
    table.show_header = False
    for name in ("sentences", "concepts", "groups", "words", "events", "inferences"):
        table.add_row(name, f"{found[name]:,}")
    table.add_row("encoder", clean(f"{found['encoder']}, {found['dims']} dimensions"))
    table.add_row("NLI model", clean(found["nli"] or "none"))
    table.add_row("made of", clean(", ".join(found["sources"])))
    size = f"{found['bytes'] / 2**20:,.1f} MiB in " if found["bytes"] else ""
    table.add_row("on disk" if size else "in", f"{size}{clean(found['folder'])}")
    if found.get("built"):
        table.add_row("built in", f"{found['seconds']:,.1f} s")
    put(out, table)
