"""The command that lists answers, and what shows one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from doxa.core.answers import AnswerReason
from doxa.transport.cli.app import command
from doxa.transport.cli.render import cited, clean, columns, count, put
from doxa.transport.cli.request import Request

__all__ = ["answers", "show_answer"]


@command("answers", example="doxa answers --stale")
def answers(
    request: Request,
    stale: Annotated[bool, typer.Option("--stale", help="Only those that rest on what was revised since.")] = False,
) -> None:
    """List the latest answers, and say of which something has changed since.

    `doxa why ANSWER_ID` tells what has; `doxa ask --again ANSWER_ID` answers the question from what is known now.
    """
    with request.memory(known=True) as memory:
        found = memory.answers(stale=stale)
    request.give(found, lambda out: _show(out, found, stale=stale))
    if not request.json and found:
        request.note(f"{count(len(found), 'answer')}, {sum(bool(one.stale) for one in found)} stale")


def _show(out: Console, found: Sequence[AnswerReason], *, stale: bool) -> None:
    if not found:
        out.print("No answer rests on anything that was revised since." if stale else "No answers are kept.")
        return
    table = columns("id", "question", "answer", "since")
    for one in found:
        since = Text("stale", style="yellow") if one.stale else Text("")
        table.add_row(one.answer.answer_id, clean(one.answer.question), clean(one.answer.text), since)
    put(out, table)


def show_answer(out: Console, found: AnswerReason) -> None:
    """Print an answer, what it rests on and what has changed since."""
    one = found.answer
    put(out, clean(one.question), style="dim")
    put(out, clean(one.text), style="bold")
    for citation in one.citations:
        put(out, cited(citation), style="dim", indent=2)
    put(out, f"{one.verdict}, confidence {one.confidence:.2f}", indent=2)
    for change in found.stale:
        put(out, f"Changed since: {clean(change)}", style="yellow")
    if found.stale:
        put(out, f"Ask again: doxa ask --again {one.answer_id}", style="dim")
