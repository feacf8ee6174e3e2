"""Commands that change a memory by hand (retract, accept, keep-both, withdraw, undo, merge, split, forget)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from doxa.core.errors import InputError
from doxa.core.values import Certificate, Change
from doxa.transport.cli.app import DONE, ERROR, command
from doxa.transport.cli.render import clean, count
from doxa.transport.cli.request import Request
from doxa.transport.cli.show import Describe, show_changes

__all__ = ["accept", "forget", "keep_both", "merge", "retract", "split", "undo", "what_if", "withdraw"]


@command("retract", example="doxa retract f1_2c9a01b7e4d5 --reason 'it was a joke'")
def retract(
    request: Request,
    fact_id: Annotated[str, typer.Argument(metavar="FACT_ID", help="The id of a fact, as `doxa facts` shows it.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the history.")] = "",
) -> None:
    """Stop believing a fact; what it had displaced comes back."""
    with request.memory() as memory:
        changes = memory.retract(fact_id, reason=reason)
        _give_changes(request, changes, memory.describe, done=f"Retracted {fact_id}.")


@command("accept", example="doxa accept f1_2c9a01b7e4d5 --reason 'the passport has it'")
def accept(
    request: Request,
    fact_id: Annotated[
        str, typer.Argument(metavar="FACT_ID", help="The id of a fact, as `doxa facts --all` shows it.")
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the history.")] = "",
) -> None:
    """Believe a fact that is tentative, set aside, disputed or was retracted.

    What it conflicts with gives way; what is said later can still change it.
    """
    with request.memory() as memory:
        changes = memory.accept(fact_id, reason=reason)
        _give_changes(
            request, changes, memory.describe, done=f"Accepted {fact_id}.", nothing=f"{fact_id} is believed already."
        )


@command("keep-both", example="doxa keep-both f1_2c9a01b7e4d5 f1_77d0e41ab3c9")
def keep_both(
    request: Request,
    fact_ids: Annotated[
        list[str], typer.Argument(metavar="FACT_ID...", help="The ids of all facts of a dispute, two or more.")
    ],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the history.")] = "",
) -> None:
    """Let all facts of a dispute hold beside each other, until something said later changes that."""
    with request.memory() as memory:
        changes = memory.keep_both(fact_ids, reason=reason)
        _give_changes(request, changes, memory.describe, done=f"Kept {', '.join(fact_ids)}.")


@command("withdraw", example="doxa withdraw D3:5")
def withdraw(
    request: Request,
    turn_id: Annotated[str | None, typer.Argument(metavar="[TURN_ID]", help="The id of a turn.")] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="A speaker, or whom speakers quoted.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the history.")] = "",
) -> None:
    """Stop trusting a turn, or a source; the text is kept.

    What rested on it alone falls, and what it had displaced comes back. Of a speaker all turns so far are withdrawn; of
    a quoted source only what was said on its word.
    """
    with request.memory() as memory:
        changes = memory.withdraw(turn_id=turn_id, source=source, reason=reason)
        _give_changes(request, changes, memory.describe, done=f"Withdrew {clean(turn_id or source)}.")


@command("undo", example="doxa undo --user ana")
def undo(request: Request) -> None:
    """Take the last change back, whatever it was.

    A turn, or what was done by hand (retract, accept, withdraw, merge, split): what was believed before it is believed
    again. Called again, it takes back the change before that.
    """
    with request.memory() as memory:
        changes = memory.undo()
        _give_changes(
            request, changes, memory.describe, done="Undone.", nothing="Nothing was believed otherwise before."
        )


@command("what-if", example="doxa what-if --say 'I moved to Oslo.'")
def what_if(
    request: Request,
    retract: Annotated[str | None, typer.Option("--retract", metavar="FACT_ID", help="A fact is not true.")] = None,
    accept: Annotated[str | None, typer.Option("--accept", metavar="FACT_ID", help="A fact is so.")] = None,
    keep_both: Annotated[
        list[str] | None, typer.Option("--keep-both", metavar="FACT_ID", help="Disputed facts all are so; repeat it.")
    ] = None,
    withdraw: Annotated[
        str | None, typer.Option("--withdraw", metavar="TURN_ID", help="A turn is not trusted.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="A source is not trusted.")] = None,
    say: Annotated[str | None, typer.Option("--say", metavar="TEXT", help="Somebody says this now.")] = None,
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Who says it.")] = None,
) -> None:
    """Show what something would change, and change nothing."""
    with request.memory() as memory:
        changes = memory.what_if(
            retract=retract, accept=accept, keep_both=keep_both or None, withdraw=withdraw, source=source, say=say,
            speaker=speaker,
        )  # fmt: skip
        _give_changes(request, changes, memory.describe, done="This would follow:", nothing="No fact would change.")


@command("merge", example="doxa merge Kathi Katharina --reason 'she said so'")
def merge(
    request: Request,
    one: Annotated[str, typer.Argument(metavar="NAME", help="A name, as `doxa entities` shows it.")],
    other: Annotated[str, typer.Argument(metavar="NAME", help="Another name of the same person or thing.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the history.")] = "",
) -> None:
    """Take two names for one person or thing; `doxa split` undoes it.

    What is known under both names is looked at together from then on, so that facts may replace each other.
    """
    with request.memory() as memory:
        changes = memory.merge(one, other, reason=reason)
        _give_changes(request, changes, memory.describe, done=f"{clean(one)} and {clean(other)} are one.")


@command("split", example="doxa split Kathi Katharina")
def split(
    request: Request,
    one: Annotated[str, typer.Argument(metavar="NAME", help="A name, as `doxa entities` shows it.")],
    other: Annotated[str, typer.Argument(metavar="NAME", help="A name that was taken for the same one.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the history.")] = "",
) -> None:
    """Tell two names apart, whatever joined them.

    Every fact goes back to the name that it was told of, and the two are not joined again by themselves.
    """
    with request.memory() as memory:
        changes = memory.split(one, other, reason=reason)
        _give_changes(request, changes, memory.describe, done=f"{clean(one)} and {clean(other)} are two.")


@command("forget", example="doxa forget --turn D3:5 --yes")
def forget(
    request: Request,
    turn: Annotated[str | None, typer.Option("--turn", metavar="ID", help="The turn to erase.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Erase all that is stored of the user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> int:
    """Erase a turn, or everything of a user, for good.

    All that was derived from it goes as well. Prints a certificate of what was removed; it holds no erased text. Copies
    stay where somebody made them: exports, transcripts, backups, and the folder of llm.record.
    """
    if (turn is None) == (not everything):
        raise InputError("Expected either --turn ID or --everything. To stop trusting a turn: doxa withdraw ID.")
    with request.memory() as memory:
        what = f"turn {turn}" if turn else f"everything that is stored of user {request.config.user!r}"
        if not yes and not _agrees(f"Erase {what} for good?"):
            request.note("Nothing was erased.")
            return ERROR
        certificate = memory.forget(everything=True) if turn is None else memory.forget(turn_id=turn)
    request.give(certificate, lambda out: _show_certificate(out, certificate))
    recorded = f", the answers of a model in {request.config.llm.record}" if request.config.llm.record else ""
    request.note(f"Copies stay where somebody made them: exports, transcripts, backups{recorded}. Erase them there.")
    if not any(certificate.erased.values()):
        request.note(f"There was nothing of user {request.config.user!r} to erase. Is the name written as it was told?")
        return ERROR
    return DONE


def _give_changes(
    request: Request, changes: Sequence[Change], describe: Describe, *, done: str, nothing: str = ""
) -> None:
    def show(out: Console) -> None:
        out.print(done if changes else nothing or f"{done} No fact changed.")
        show_changes(out, changes, describe)

    request.give(changes, show)


def _agrees(question: str) -> bool:
    """Ask on standard error, so that what is printed stays clean; no answer means no."""
    if not sys.stdin.isatty():
        raise InputError(f"{question} Nobody is there to ask; add --yes.")
    return typer.confirm(question, default=False, err=True)


def _show_certificate(out: Console, certificate: Certificate) -> None:
    erased = ", ".join(count(number, kind.removesuffix("s")) for kind, number in certificate.erased.items())
    out.print(f"Erased for user {clean(certificate.user)}: {erased}.")
    out.print(f"Turns:  {clean(', '.join(certificate.turn_ids))}", soft_wrap=True)
    out.print(f"At:     {certificate.at.isoformat()}")
    out.print(f"Digest: {certificate.digest}", soft_wrap=True)
