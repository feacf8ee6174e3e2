"""`doxa teach`: the reader learns what a person wants kept, from answers to what it is not sure of."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from doxa.core.errors import DoxaError, InputError, NotFoundError
from doxa.core.marks import Taught, Unsure
from doxa.transport.cli.app import DONE, command, tell
from doxa.transport.cli.render import clean, columns, count, put
from doxa.transport.cli.request import Request

if TYPE_CHECKING:
    from doxa.engine import Teaching

__all__ = ["teach"]

ASKED = 40
"""Claims that are asked about in one go."""
KEYS = "y keep it, n wrong, m true but not worth keeping, r other relation, a add a missed claim, s skip, q done"
FIGURES = {
    "f1": "F1 of what is kept",
    "precision": "of what is kept, right",
    "recall": "of what is right, kept",
    "log_loss": "log loss",
}


class Left(Exception):
    """The person has enough."""


@command("teach", example="doxa teach --user ana")
def teach(
    request: Request,
    show: Annotated[
        int | None, typer.Option("--show", metavar="N", help="Only list the N claims that it is least sure of.")
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Ask nothing; learn from the marks in FILE.")
    ] = None,
    latest: Annotated[int, typer.Option("--latest", metavar="N", help="Look through the N latest turns.")] = 500,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Learn, tell what it is worth, and use nothing.")] = False,
) -> int:
    """Teach the reader what to keep: say yes or no to the claims of which it is least sure.

    Answers go to a file of marks beside the memory, one a line; it is yours to read and change. From 20 on a head is
    fitted, in seconds. Every fifth turn is left out to compare on: a head that does worse there is refused, and it is
    said why. Exit code 0 in either case. From a pipe it takes one answer per line.
    """
    if show is not None and source is not None:
        raise InputError("teach: --show lists and --from learns; give one of them.")
    with request.memory() as memory:
        teaching = memory.teaching()
        if show is not None:
            found = teaching.unsure(limit=show, latest=latest)
            request.give(found, lambda out: _list(out, found))
            return DONE
        if source is None:
            _ask(request, teaching, latest=latest)
        try:
            taught = teaching.teach(source, dry_run=dry_run)
        except NotFoundError:
            if source is not None:
                raise
            taught = Taught(accepted=False, reason="Nothing was marked yet, so there is nothing to learn from.")
    request.give(taught, lambda out: _show(out, taught))
    return DONE


def _list(out: Console, found: list[Unsure]) -> None:
    if not found:
        out.print("There is no claim without a mark in the latest turns.")
    for one in found:
        _describe(out, one)


def _ask(request: Request, teaching: Teaching, *, latest: int) -> None:
    """Ask about the most unsure claims, until there are none or the person leaves."""
    request.note(f"Looking for what the reader is unsure of in the latest {count(latest, 'turn')} ...")
    found = teaching.unsure(limit=ASKED, latest=latest)
    out = request.err if request.json else request.out
    if not found:
        request.note("There is no claim without a mark in the latest turns.")
        return
    request.note(KEYS)
    answers = _answers()
    try:
        for number, claim in enumerate(found, 1):
            put(out, f"{number} of {len(found)}", style="dim")
            _describe(out, claim)
            _take(request, teaching, claim, answers)
    except (Left, KeyboardInterrupt):
        pass


def _take(request: Request, teaching: Teaching, claim: Unsure, answers: Iterator[str]) -> None:
    """Take answers until the claim has a mark or is skipped; what cannot be used is told, and asked again."""
    while True:
        try:
            if _answered(request, teaching, claim, _next(request, answers, "y n m r a s q"), answers):
                return
        except DoxaError as exc:
            tell(request, exc, lines=True)


def _answered(request: Request, teaching: Teaching, claim: Unsure, answer: str, answers: Iterator[str]) -> bool:
    """Do what an answer says; True when that was all about the claim."""
    match answer[:1].casefold():
        case "y":
            teaching.mark(claim, keep=True)
        case "n":
            teaching.mark(claim, keep=False)
        case "m":
            teaching.mark(claim, keep=False, right=True)
        case "r":
            teaching.mark(claim, keep=True, relation=_next(request, answers, "relation, such as works_at"))
        case "a":
            parts = [_next(request, answers, part) for part in ("subject", "relation", "object")]
            teaching.mark_missed(claim.turn_id, subject=parts[0], relation=parts[1], object=parts[2])
            request.note("Kept for later training of the reader: a head adds no claims. And the claim above?")
            return False
        case "s":
            pass
        case "q":
            raise Left
        case _:
            raise InputError(f"Expected one of y, n, m, r, a, s and q, got {clean(answer)!r}: {KEYS}.")
    return True


def _answers() -> Iterator[str]:
    """Yield answers line by line, until the end of the input."""
    if not sys.stdin.isatty():
        yield from (line.strip() for line in sys.stdin if line.strip())
        return
    while True:
        try:
            yield input().strip()
        except EOFError:
            return


def _next(request: Request, answers: Iterator[str], what: str) -> str:
    """Return the next answer; the end of the input leaves."""
    if sys.stdin.isatty():
        request.err.print(f"{what} > ", end="")
    for answer in answers:
        return answer
    raise Left


def _describe(out: Console, claim: Unsure) -> None:
    for line in claim.lines:
        last = line is claim.lines[-1]
        put(out, f"{clean(line.speaker)}: {clean(line.text)}", indent=2, style="" if last else "dim")
    named = f"{claim.words} ({claim.relation})" if claim.relation else claim.words
    kept = "kept" if claim.kept else "not kept"
    meant = f" ({', '.join(claim.flags)})" if claim.flags else ""
    put(out, clean(f"{claim.subject} | {named} | {claim.object}{meant}"), indent=4, style="bold")
    put(out, f"wanted with probability {claim.p:.2f}: {kept}", indent=4, style="dim")


def _show(out: Console, taught: Taught) -> None:
    out.print(clean(taught.reason), soft_wrap=True)
    for broken in taught.broken:
        out.print(f"Left out: {clean(broken)}", soft_wrap=True)
    if taught.unheard:
        out.print(f"{count(taught.unheard, 'mark')} on claims that the reader does not hear (any more): left out.")
    if taught.missed:
        out.print(f"{count(taught.missed, 'missed claim')}: kept for later training of the reader.")
    if taught.before:
        out.print(f"Learned from {count(taught.trained, 'mark')}, compared on {taught.dev} of other turns.")
        table = columns("figure", "reader alone", "with the head")
        for name, label in FIGURES.items():
            table.add_row(label, f"{taught.before[name]:.3f}", f"{taught.after[name]:.3f}")
        out.print(table)
    if taught.accepted:
        out.print("It is in use for what is said from now on." if taught.in_use else "It is not in use: a dry run.")
