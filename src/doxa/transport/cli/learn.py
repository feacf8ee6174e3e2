"""`doxa learn`: search learns from what answers told, or from what a person says was missing."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from doxa.core.errors import InputError
from doxa.core.feedback import Feedback, Lesson
from doxa.transport.cli.app import DONE, command
from doxa.transport.cli.render import columns, count
from doxa.transport.cli.request import Request

__all__ = ["learn"]

FIGURES = {
    "recall": "Recall@10",
    "ndcg": "nDCG@10",
    "cost": "share of the candidates looked at",
    "disagreement": "disagreement of graph and meaning",
    "disagreement_steady": "the same at unit spread",
    "error_routes": "queries that another plan served better",
    "p95_ms": "p95 of one search, ms",
}


@command("learn", example="doxa learn --user ana --status")
def learn(
    request: Request,
    status: Annotated[bool, typer.Option("--status", help="Only tell how search does on the feedback.")] = False,
    missed: Annotated[
        str | None, typer.Option("--missed", metavar="QUERY", help="Note that this query did not find what it needed.")
    ] = None,
    needed: Annotated[
        list[str] | None, typer.Option("--needed", metavar="TURN_ID", help="A turn that it needed; may be repeated.")
    ] = None,
) -> int:
    """Learn how to search from the answers that were verified, and from what was missing.

    Answers are noted as they are given (setting recall.feedback). The latest are held out: weights that find less in
    them, or cost more, are refused, and it is said why. Exit code 0 in either case.
    """
    if (missed is None) != (not needed):
        raise InputError("learn: give --missed QUERY and --needed TURN_ID together.")
    with request.memory() as memory:
        if missed is not None and needed:
            told = memory.feedback(missed, needed=needed)
            request.give(told, lambda out: _show_missed(out, told))
            return DONE
        lesson = memory.learn(status=status)
    request.give(lesson, lambda out: _show(out, lesson))
    return DONE


def _show(out: Console, lesson: Lesson) -> None:
    out.print(lesson.reason, soft_wrap=True)
    if lesson.trained:
        out.print(f"Learned from {count(lesson.trained, 'answer')}, compared on the {lesson.shadow} after them.")
    if lesson.before:
        table = columns("figure", "in use", *(["learned"] if lesson.after else []))
        for name, label in FIGURES.items():
            if name in lesson.before:
                learned = [f"{lesson.after[name]:.3f}"] if name in lesson.after else []
                table.add_row(label, f"{lesson.before[name]:.3f}", *learned)
        out.print(table)


def _show_missed(out: Console, told: Feedback) -> None:
    out.print(f"Noted: {count(len(told.turn_ids), 'turn')} needed, {count(len(told.edges), 'fact')} that lead there.")
    if told.plan:
        out.print(f"The cheapest plan that would have shown them: {told.plan}.")
    else:
        out.print("No plan would have shown all of them among the first ten.")
