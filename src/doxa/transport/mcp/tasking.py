"""The tool `tasks`: what the user plans -> told, read, taken back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from doxa.core.errors import InputError
from doxa.core.tasks import TaskEdit
from doxa.core.tokens import estimate_tokens
from doxa.engine import Tasks
from doxa.transport.mcp.acts import Given
from doxa.transport.mcp.rooms import here
from doxa.transport.mcp.shapes import QUOTED, MaxTokens

__all__ = ["tasks"]


class TasksOut(Given):
    """The tasks, and what was done to them."""

    text: str | None = Field(None, description="The reply to what was told, or the context that was asked for.")
    asks: bool | None = Field(None, description="True where the reply asks back; what it asks about was not changed.")
    changed: list[str] = Field([], description="What was changed, by name.")
    state: dict[str, str | list[str]] = Field({}, description="What stands at each path (`team meeting/time`).")
    left_out: int = Field(0, description="Further paths that are not shown.")
    note: str = QUOTED


def tasks(
    action: Annotated[
        Literal["tell", "read", "context", "undo", "redo"],
        Field(
            description="`tell` what the user says of a task; `read` them all; `context`: what bears on a `text`; "
            "`undo` the last change, or `redo` it."
        ),
    ] = "read",
    text: Annotated[
        str | None, Field(description="What the user says, word for word (tell), or any words (context).")
    ] = None,
    when: Annotated[str | None, Field(description="When it is said (tell), in ISO form; by default now.")] = None,
    max_tokens: MaxTokens = 1500,
) -> TasksOut:
    """Keep the user's tasks: plans, to-dos, appointments and the details of each, with their changes.

    Use it when the user opens, changes, finishes or asks about something to be done. Tell it the user's own words, also
    for changes ("make that 8 people"); every change can be undone.
    """
    if (text is not None) != (action in ("tell", "context")):
        raise InputError("tasks: `tell` and `context` take a `text`, and nothing else does.")
    if when is not None and action != "tell":
        raise InputError("tasks: `when` says when something is told.")
    held = here().tasks("read")  # whatever is done, what stands is given back
    held = held if action in ("read", "context") else here().tasks("write")
    if action == "context":
        return TasksOut(text=held.context(str(text), budget=max_tokens))
    if action == "tell":
        reply = held.tell(str(text), at=when)
        changed = list(dict.fromkeys(_name(edit) for edit in reply.edits))
        return _stood(held, max_tokens, text=reply.text, asks=reply.asks, changed=changed)
    if action == "read":
        return _stood(held, max_tokens)
    back = held.undo() if action == "undo" else held.redo()
    forest = held.forest()
    names = {view.node.node_id: view.path for view in (*forest.nodes, *forest.hidden)}
    return _stood(held, max_tokens, changed=[names.get(key, key) for key in back.nodes])


def _stood(
    held: Tasks, budget: int, *, text: str | None = None, asks: bool = False, changed: list[str] | None = None
) -> TasksOut:
    state, shown = held.state(), {}
    for path, value in state.items():
        budget -= estimate_tokens(f"{path}: {value}")
        if budget < 0:
            break
        shown[path] = value
    return TasksOut(text=text, asks=asks or None, changed=changed or [], state=shown, left_out=len(state) - len(shown))


def _name(edit: TaskEdit) -> str:
    node = edit.after or edit.before
    return node.name if node is not None else edit.node_id
