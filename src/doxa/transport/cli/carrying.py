"""Commands that carry a memory: out of Doxa, back in, and over from other systems."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from doxa.core.errors import InputError, NotFoundError
from doxa.transport.cli.app import DONE, ERROR, INTERRUPTED, PARTLY, command
from doxa.transport.cli.render import clean, count, put
from doxa.transport.cli.request import Request, moment_of

if TYPE_CHECKING:
    from doxa.engine import Doxa, Imported

__all__ = ["export", "import_"]

SHOWN_PROBLEMS = 20
SHOWN_USERS = 8
RATED = 1000
"""Turns from which on it says how many were stored a second."""
LOOK_S = 0.3
"""How often to look how far the understanding is."""


class Format(StrEnum):
    """What a memory is written as."""

    JSONL = "jsonl"
    TURTLE = "turtle"
    NQUADS = "nquads"
    JSONLD = "jsonld"
    MARKDOWN = "markdown"
    MEM0 = "mem0"
    OPENMEMORY = "openmemory"
    LANGGRAPH = "langgraph"
    MCP = "mcp"
    LETTA = "letta"
    GRAPHITI = "graphiti"
    NOTES = "notes"
    MESSAGES = "messages"


@command("export", example="doxa export backup.jsonl --user ana")
def export(
    request: Request,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")],
    format: Annotated[Format | None, typer.Option("--format", help="By default as the name of the file ends.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    sign: Annotated[
        Path | None, typer.Option("--sign", metavar="KEYFILE", help="Sign it with a private key of Ed25519 in PEM.")
    ] = None,
) -> None:
    """Write the memory of a user to a file.

    jsonl is the log as it is; turtle, nquads and jsonld are an OWL ontology with the provenance of every fact, and hold
    the log as well: from these the memory is made again, revisions included. markdown is for people. mem0, openmemory,
    langgraph, mcp, letta, graphiti, notes (a folder) and messages are what other systems read. With --sign the
    signature of the file is written beside it, as FILE.sig.
    """
    from doxa.engine import EXPORT_ENDINGS, signature_of

    name = EXPORT_ENDINGS.get(file.suffix.lower()) if format is None else format.value
    if name is None:
        known = ", ".join(EXPORT_ENDINGS)
        raise InputError(f"What to write is not clear from the name {file.name!r}. End it in {known}, or add --format.")
    is_free = name == "notes" and file.is_dir() and not any(file.iterdir())
    if file.exists() and not is_free and not force:
        raise InputError(f"{file} is there already and was left as it is. Give another name, or add --force.")
    if sign is not None and signature_of(file).exists() and not force:
        raise InputError(
            f"{signature_of(file)} is there already; nothing was written. Give another name, or add --force."
        )
    with request.open() as doxa:
        users = doxa.users()
        if request.config.user not in users:
            # An empty file under the name of a backup, or over one, is worse than none.
            there = f"Choose another with --user: {', '.join(users)}" if users else "This memory is empty."
            raise NotFoundError(f"Nothing is stored for user {request.config.user!r}; no file was written. {there}")
        doxa.memory(user=request.config.user).export(file, format=name, sign=sign)
    size = sum(one.stat().st_size for one in (file.iterdir() if file.is_dir() else [file]))
    done = {"path": str(file), "format": name, "user": request.config.user, "bytes": size}
    signed = {} if sign is None else {"signature": str(signature_of(file))}
    said = f"Wrote {file} ({name}, {size:,} bytes)" + (f", signed in {signature_of(file)}." if signed else ".")
    request.give(done | signed, lambda out: out.print(said, soft_wrap=True))


@command("import", example="doxa import mem0.json --db memory.db --user ana")
def import_(
    request: Request,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A file, a zip or a folder.")],
    format: Annotated[str, typer.Option("--format", help="auto, doxa, or whose archive it is.")] = "auto",
    one_user: Annotated[
        bool, typer.Option("--one-user", help="All of it is of --user, whoever is named there.")
    ] = False,
    date: Annotated[
        str | None, typer.Option("--date", help="When undated turns were said, such as 2024-05-01 [default: now].")
    ] = None,
    later: Annotated[bool, typer.Option("--later", help="Store it, and have it understood at the next start.")] = False,
    verify: Annotated[
        Path | None,
        typer.Option("--verify", metavar="PUBKEY", help="Refuse what is not signed with this public key, in PEM."),
    ] = None,
) -> int:
    """Move in: read what `doxa export` wrote, or the archive of another system.

    Of Doxa: an empty memory becomes what was exported; otherwise its turns are added, and none twice.
    Of others: mem0, OpenMemory, LangGraph stores (LangMem), Letta, Graphiti and Zep, the memory file of MCP's
    reference server, ChatGPT, Claude, Slack, WhatsApp, Markdown notes (Obsidian), and every transcript that
    `doxa ingest` reads. Users that are named there keep their names; ids, dates and sources are kept; what cannot be
    carried is told. The same command again adds nothing twice, so it goes on with what was interrupted.
    With --verify the signature is taken from FILE.sig, and looked at before anything is written.
    """
    if not path.exists():
        raise InputError(f"There is no file {path}. Expected what `doxa export` or another system wrote.")
    if verify is not None:
        from doxa.engine import require_signed

        require_signed(path, verify)
    with request.open(create=True) as doxa:
        from doxa.engine import is_export

        if format == "doxa" or (format == "auto" and is_export(path)):
            if one_user or date or later:
                request.note(
                    "What `doxa export` wrote is taken as it is: --one-user, --date and --later change nothing."
                )
            return _restore(request, doxa, path, verify)
        return _move_in(request, doxa, path, format=format, one_user=one_user, date=date, later=later)


def _restore(request: Request, doxa: Doxa, path: Path, verify: Path | None) -> int:
    turns = doxa.memory(user=request.config.user).import_(path, verify=verify)
    done = {"path": str(path), "format": "doxa", "user": request.config.user, "turns": turns}
    said = f"Read {path} for user {request.config.user}: {count(turns, 'new turn')}."
    request.give(done, lambda out: out.print(said, soft_wrap=True))
    return DONE


def _move_in(
    request: Request, doxa: Doxa, path: Path, *, format: str, one_user: bool, date: str | None, later: bool
) -> int:
    start = clock.perf_counter()
    at = moment_of(date)
    with request.bars() as bar:
        try:
            taken = doxa.import_(
                path,
                user=request.config.user,
                format=format,
                one_user=one_user,
                date=at,
                told=lambda done, whole: bar("storing", done, whole),
            )
        except KeyboardInterrupt:
            request.note("What was stored is kept. To go on, run the same command again.")
            raise
        stored_s = clock.perf_counter() - start
        if later:
            doxa.close(limit_s=0)
        whole = later or _understand(doxa, taken.users, bar)
    request.give(_plain(taken, path, stored_s, whole=whole and not later), lambda out: _show(out, taken, stored_s))
    if not request.json:
        _tell(request, taken, whole=whole and not later)
    if not whole:
        return INTERRUPTED
    if not taken.problems and not taken.clashes:
        return DONE
    return PARTLY if taken.users else ERROR


def _understand(doxa: Doxa, users: list[str], bar: Callable[[str, int, int], None]) -> bool:
    """Wait until all of it is understood; False when somebody does not want to wait."""
    whole = _behind(doxa, users)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(doxa.flush)
        try:
            while not wait([waiting], LOOK_S).done:
                bar("understanding", whole - _behind(doxa, users), whole)
        except KeyboardInterrupt:
            doxa.close(limit_s=0)
            return False
        waiting.result()
    return True


def _behind(doxa: Doxa, users: list[str]) -> int:
    """Return how many turns of some users are not understood yet. Cost: a query, and one for each of them who waits."""
    heads = map(doxa.parts.log.head, set(users).intersection(doxa.parts.log.pending()))
    return sum(head.received - head.maintained for head in heads)


def _plain(taken: Imported, path: Path, seconds: float, *, whole: bool) -> dict[str, Any]:
    done = taken.new + taken.known
    return {
        "path": str(path),
        "format": taken.format,
        "users": taken.users,
        "turns": {"new": taken.new, "known": taken.known, "clashes": len(taken.clashes), "undated": taken.undated},
        "clashes": taken.clashes,
        "not_carried": taken.left,
        "problems": taken.problems,
        "seconds_to_store": round(seconds, 3),
        "turns_per_s": round(done / seconds, 1) if seconds else None,
        "understood": whole,
    }


def _show(out: Console, taken: Imported, seconds: float) -> None:
    done = taken.new + taken.known
    users = ", ".join(taken.users[:SHOWN_USERS]) + (", ..." if len(taken.users) > SHOWN_USERS else "")
    rate = f", {done / seconds:,.0f} a second" if done >= RATED else ""
    turns = f"{taken.format}: {count(taken.new, 'new turn')}, {taken.known:,} known"
    put(out, f"{turns}{f' (user {users})' if users else ''}; stored in {seconds:.1f} s{rate}")


def _tell(request: Request, taken: Imported, *, whole: bool) -> None:
    for what, number in taken.left.items():
        request.note(f"Not carried: {number:,} {what}.")
    if taken.undated:
        request.note(
            f"{count(taken.undated, 'turn')} without a date: taken as said now. If that is wrong, give --date."
        )
    if taken.clashes:
        request.err.print(
            f"Known with another text, and left as stored here: {clean(', '.join(taken.clashes[:SHOWN_PROBLEMS]))}"
            f"{', ...' if len(taken.clashes) > SHOWN_PROBLEMS else ''}. To take the new text of one, "
            "`doxa forget --turn ID` and import again.",
            soft_wrap=True,
        )
    for problem in taken.problems[:SHOWN_PROBLEMS]:
        request.err.print(clean(problem), soft_wrap=True)
    if len(taken.problems) > SHOWN_PROBLEMS:
        request.err.print(f"... and {len(taken.problems) - SHOWN_PROBLEMS:,} more; --json lists all of them.")
    if not whole:
        request.note("All of it is stored; what is not understood yet is understood at the next start.")
