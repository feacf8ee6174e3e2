"""The command that shows the tasks, tells them what to do, and takes the last change back: tasks."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from doxa.core.errors import InputError
from doxa.core.tasks import Forest
from doxa.transport.cli.app import DONE, PARTLY, command
from doxa.transport.cli.render import clean, dump, put
from doxa.transport.cli.request import Request, moment_of
from doxa.transport.cli.task_views import (
    dot,
    mermaid,
    show_commits,
    show_differences,
    show_forest,
)
from doxa.transport.differences import differences

if TYPE_CHECKING:
    from datetime import date

    from doxa.engine import Tasks

__all__ = ["tasks"]


class Act(StrEnum):
    """What is done with the tasks."""

    SHOW = "show"
    TELL = "tell"
    UNDO = "undo"
    LOG = "log"


class Picture(StrEnum):
    """What tasks are shown as."""

    TREE = "tree"
    MERMAID = "mermaid"
    DOT = "dot"
    JSON = "json"


@command("tasks", example="doxa tasks tell 'Plan a dinner for Friday.'")
def tasks(
    request: Request,
    act: Annotated[Act, typer.Argument(metavar="[show|tell|undo|log]", help="By default the tasks are shown.")] = (
        Act.SHOW
    ),
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="What is told to them (tell).")] = None,
    history: Annotated[bool, typer.Option("--history", help="With what stood there before.")] = False,
    hidden: Annotated[bool, typer.Option("--hidden", help="With what was removed or replaced.")] = False,
    format: Annotated[Picture, typer.Option("--format", help="How they are shown.")] = Picture.TREE,
    author: Annotated[str | None, typer.Option("--author", metavar="NAME", help="Who tells, or takes back.")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="DATE", help="When it is told [default now].")] = None,
) -> int:
    """Show the tasks, tell them what to do, take the last change back, or list what each turn changed.

    What is told is remembered like any other turn. Marks: + came in, - went out, ~ is otherwise. A turn that could not
    be read in full ends with exit code 3.
    """
    if (act is Act.TELL) != (text is not None):
        raise InputError("Expected a text after `tell`, and after nothing else: doxa tasks tell 'The dinner is at 8.'")
    if act is not Act.SHOW and (history or hidden or format is not Picture.TREE):
        raise InputError("--history, --hidden and --format are for showing the tasks: doxa tasks --history")
    when = moment_of(at)
    with request.open(create=act is Act.TELL) as doxa:
        if act is not Act.TELL:
            request.require_user(doxa)
        held = doxa.tasks(user=request.config.user, author=author)
        if act is Act.TELL:
            return _tell(request, held, text or "", when)
        if act is Act.UNDO:
            return _undo(request, held)
        forest = held.forest()
    if act is Act.LOG:
        request.give(_log(forest), lambda out: show_commits(out, forest))
    else:
        _show(request, forest, format, hidden=hidden, history=history)
    return DONE


def _tell(request: Request, held: Tasks, text: str, when: date | None) -> int:
    reply = held.tell(text, at=when)
    changes = differences(reply.edits, held.forest())

    def show(out: Console) -> None:
        put(out, clean(reply), style="yellow" if reply.asks or reply.degraded else "bold")
        show_differences(out, changes)

    data = {name: getattr(reply, name) for name in ("text", "intents", "asks", "confidence", "by", "degraded")}
    request.give({**data, "changes": [one._asdict() for one in changes]}, show)
    if reply.degraded and not request.json:
        request.note(f"Note: {clean(reply.degraded)}")
    return PARTLY if reply.degraded else DONE


def _undo(request: Request, held: Tasks) -> int:
    undone = held.undo()
    forest = held.forest()
    last = forest.commits[-1]
    changes = differences(last.edits, forest) if undone else []

    def show(out: Console) -> None:
        out.print(f"Undone: turn {last.undoes}." if undone else "Nothing is left of that change.")
        show_differences(out, changes)
        for key, name in undone.kept:
            put(
                out, f"{clean(name)} of {clean(_name(forest, key))} stays: it was changed since.", style="dim", indent=2
            )

    kept = [{"id": key, "field": name} for key, name in undone.kept]
    request.give({"undone": last.undoes, "changes": [one._asdict() for one in changes], "kept": kept}, show)
    return DONE


def _name(forest: Forest, key: str) -> str:
    views = (*forest.nodes, *forest.hidden)
    return next((view.path for view in views if view.node.node_id == key), key)


def _log(forest: Forest) -> list[dict[str, Any]]:
    """Return what every turn changed as data."""
    names = ("number", "turn_id", "author", "at", "text", "intents", "reply", "undoes")
    return [
        {name: getattr(one, name) for name in names}
        | {"changes": [change._asdict() for change in differences(one.edits, forest)]}
        for one in forest.commits
    ]


def _show(request: Request, forest: Forest, format: Picture, *, hidden: bool, history: bool) -> None:
    if request.json or format is Picture.JSON:
        data = {"state": forest.state(), "tasks": forest.tree(hidden=hidden)}
        dump({**data, "history": forest.past} if history else data)
    elif format is Picture.TREE:
        show_forest(request.out, forest, hidden=hidden, history=history)
    else:
        picture = mermaid if format is Picture.MERMAID else dot
        request.out.print(picture(forest, hidden=hidden), soft_wrap=True)
