"""The tasks: shown, told, changed by hand, taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from doxa.core.tasks import Forest, TaskEdit
from doxa.transport.differences import differences
from doxa.transport.http.access import Room
from doxa.transport.http.rest.acts import Act, carry_out
from doxa.transport.http.rest.ground import (
    Body,
    Conversing,
    Fresh,
    Versioned,
    Wait,
    memory_router,
    version_after,
)
from doxa.transport.http.rest.paging import Cursor, Limit, paged
from doxa.transport.http.rest.shown import NEXT, answer, written
from doxa.transport.plain import plain

if TYPE_CHECKING:
    from doxa.engine import Tasks

__all__ = ["router"]

router = memory_router("tasks")
Shown = str | list[str]
Author = Annotated[str | None, Query(description="Who makes the change; by default the user.")]


class Needed(BaseModel):
    """What a node waits for or follows."""

    on: str
    kind: str
    text: str


class TaskTree(BaseModel):
    """A node with what is under it."""

    id: str
    name: str
    path: str
    kind: str
    status: str
    value: Shown | None = Field(description="What stands there: a value, or the labels of a list.")
    shared: bool = Field(description="It is under several; only its first place has its children.")
    visible: bool
    depends: list[Needed]
    children: list[TaskTree]


class Difference(BaseModel):
    """What a change did to one node."""

    mark: Literal["+", "-", "~"] = Field(description="It came in sight, it went, or it is otherwise than it was.")
    path: str
    change: str = Field(description="In words.")


Changed = (list[Difference], "What is otherwise now, node by node.")


@router.get(
    "/tasks",
    operation_id="getTasks",
    response_model=answer("Tasks", state=(dict[str, Shown], "The value of every path."), tasks=list[TaskTree]),
)
def get_tasks(
    room: Fresh, hidden: Annotated[bool, Query(description="With what was removed or replaced.")] = False
) -> dict[str, Any]:
    """Return the tasks: the value of every path, and the forest as nested nodes."""
    forest = room.tasks().forest()
    return {"state": forest.state(), "tasks": forest.tree(hidden=hidden)}


@router.get(
    "/tasks/history", operation_id="getTaskHistory", response_model=answer("TaskPast", values=dict[str, list[Shown]])
)
def get_history(room: Fresh) -> dict[str, Any]:
    """Return the values that every path has had, the oldest first."""
    return {"values": room.tasks().history()}


class Commit(BaseModel):
    """What one turn, or one change by hand, did."""

    number: int
    turn_id: str = Field(description="The turn; empty for a change by hand.")
    author: str
    at: datetime
    text: str = Field(description="What was said.")
    intents: list[str]
    reply: str
    undoes: int | None = Field(description="The number of the change that it takes back.")
    changes: list[Difference]


@router.get(
    "/tasks/changes",
    operation_id="listTaskChanges",
    response_model=answer("CommitPage", items=list[Commit], next=(str | None, NEXT)),
)
def list_changes(room: Fresh, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """List what every turn and every change by hand did to the tasks, the oldest first."""
    forest = room.tasks().forest()
    told = paged("task changes", forest.commits, lambda one: str(one.number), cursor=cursor, limit=limit)
    by_number = {commit.number: commit for commit in forest.commits}
    names = [name for name in Commit.model_fields if name != "changes"]
    items = [
        {name: one[name] for name in names} | {"changes": _told(by_number[one["number"]].edits, forest)}
        for one in told["items"]
    ]
    return told | {"items": items}


@router.get("/tasks/summary", operation_id="summariseTasks", response_model=answer("TaskSummary", text=str))
def summarise(room: Fresh) -> dict[str, str]:
    """Return every task with all that stands under it, one a line."""
    return {"text": room.tasks().summary()}


class ContextIn(Body):
    """A turn that a language model is about to reply to."""

    text: str
    budget: int = Field(400, ge=1, le=100_000, description="Most tokens that are returned.")


@router.post("/tasks/context", operation_id="getTaskContext", response_model=answer("TaskContext", text=str))
def context(turn: ContextIn, room: Versioned) -> dict[str, str]:
    """Return what a language model has to know of the tasks to reply to a turn."""
    return {"text": room.tasks().context(turn.text, turn.budget)}


class TellIn(Body):
    """What is told to the tasks."""

    text: str = Field(examples=["Plan a team dinner for Friday at 7 pm."])
    at: str | None = Field(None, description="When, in ISO form; by default now.")
    said_before: str = Field("", description="What the assistant said just before, where that is not its latest reply.")


@router.post(
    "/tasks/tell",
    operation_id="tellTasks",
    response_model=written(
        "Told",
        text=(str, "What is said to it."),
        intents=list[str],
        asks=(bool, "Whether that asks back what was meant."),
        confidence=float,
        by=(str, "The model that read it; empty for the grammar."),
        degraded=(str, "Why it could not be read in full; empty where it was."),
        changes=Changed,
    ),
)
def tell(told: TellIn, room: Conversing, author: Author = None) -> dict[str, Any]:
    """Have a turn do what it says to the tasks; it is remembered like any other, and read when this returns."""
    tasks = room.tasks("write", author=author)
    reply = tasks.tell(told.text, at=told.at, said_before=told.said_before)
    names = ("text", "intents", "asks", "confidence", "by", "degraded")
    said = {name: plain(getattr(reply, name)) for name in names}
    return said | {"changes": _told(reply.edits, tasks.forest()), "version": room.version("write")}


class ActsIn(Body):
    """What is done, in order, as one change: all of it or nothing."""

    acts: list[Act] = Field(min_length=1, max_length=1000)


@router.post(
    "/tasks/edit",
    operation_id="editTasks",
    response_model=written(
        "Edited",
        nodes=(list[list[str]], "For each act the ids of what it made or is about."),
        changes=Changed,
    ),
)
def edit(given: ActsIn, room: Conversing, author: Author = None, wait: Wait = False) -> dict[str, Any]:
    """Change tasks by hand."""
    tasks = room.tasks("write", author=author)
    nodes, edits = tasks.edit(lambda editor: (carry_out(given.acts, editor), editor.edits()))
    version = version_after(room, wait=wait)
    return {"nodes": nodes, "changes": _told(edits, tasks.forest()), "version": version}


class BackIn(Body):
    """Which change is taken back."""

    number: int | None = Field(None, description="That of a change; by default the last one that was not taken back.")


Back = written("TakenBack", kept=(list[list[str]], "Node and field of what was changed since."), changes=Changed)


@router.post("/tasks/undo", operation_id="undoTasks", response_model=Back)
def undo(room: Conversing, which: BackIn | None = None, author: Author = None, wait: Wait = False) -> dict[str, Any]:
    """Take back a change of the tasks; what was changed since stays."""
    number = which.number if which else None
    return _back(room, author, lambda tasks: tasks.undo(number).kept, wait=wait)


@router.post("/tasks/redo", operation_id="redoTasks", response_model=Back)
def redo(room: Conversing, author: Author = None, wait: Wait = False) -> dict[str, Any]:
    """Do again what was taken back last, where nothing else was done since."""
    return _back(room, author, lambda tasks: tasks.redo().kept, wait=wait)


class EarlierIn(Body):
    """Where to go back to."""

    path: str | None = Field(None, description="The path of a node; by default everything.")
    to: int | str = Field(description="The number of a change, or the text of an earlier value.")


@router.post("/tasks/rollback", operation_id="rollbackTasks", response_model=Back)
def rollback(where: EarlierIn, room: Conversing, author: Author = None, wait: Wait = False) -> dict[str, Any]:
    """Go back to an earlier value of a path, or to how it, or everything, was after a change."""

    def act(tasks: Tasks) -> tuple[()]:
        tasks.rollback(where.path, where.to)
        return ()

    return _back(room, author, act, wait=wait)


def _back(
    room: Room, author: str | None, act: Callable[[Tasks], Iterable[tuple[str, str]]], *, wait: bool
) -> dict[str, Any]:
    """Carry out something that takes changes back and returns what stays; tell that, and what is otherwise now."""
    tasks = room.tasks("write", author=author)
    last = max((commit.number for commit in tasks.forest().commits), default=0)
    kept = act(tasks)
    version, forest = version_after(room, wait=wait), tasks.forest()
    own = (commit for commit in forest.commits if commit.number > last and commit.author == tasks.author)
    edits = [edit for commit in own for edit in commit.edits]
    return {"kept": plain(list(kept)), "changes": _told(edits, forest), "version": version}


def _told(edits: Iterable[TaskEdit], forest: Forest) -> list[dict[str, Any]]:
    return [one._asdict() for one in differences(edits, forest)]
