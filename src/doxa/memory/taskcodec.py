"""Task commits as plain JSON data, and back: of a node that changed only the fields that did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from operator import attrgetter
from typing import Any

from doxa.core.tasks import (
    Dependency,
    NodeKind,
    TaskCommit,
    TaskEdit,
    TaskNode,
    TaskStatus,
    TaskValue,
    ValueKind,
)
from doxa.core.values import EARLIEST, Turn
from doxa.memory.codec import Codec, Named
from doxa.memory.tasktree import TaskTree

__all__ = ["commit_from", "commit_to"]

Data = Mapping[str, Any]
NEW = TaskNode(node_id="", name="")
FIELDS = tuple(field.name for field in fields(TaskNode) if field.name != "node_id")
VALUES = attrgetter(*FIELDS)


def commit_to(commit: TaskCommit, turn: Turn | None = None) -> dict[str, Any]:
    """Return a commit as data; what it shares with the turn that its row is about is left out."""
    said = _of_turn(turn)
    own = {"turn": commit.turn_id, "author": commit.author, "at": commit.at.isoformat(), "text": commit.text}
    return {"n": commit.number, **{key: one for key, one in own.items() if one != said[key]}, **_COMMIT.to(commit)}


def commit_from(data: Data, state: TaskTree, turn: Turn | None = None) -> TaskCommit:
    """Return the commit of `commit_to`; what its nodes were before is read from the state that it is folded into.

    A change of a node that there is not (any more) is left out.
    """
    own = {**_of_turn(turn), **data}
    known: dict[str, TaskNode | None] = {}
    edits: list[TaskEdit] = []
    for one in data.get("edits", ()):
        key = one["id"]
        before = known[key] if key in known else state.get(key)
        if before is None and not one.get("new"):
            continue
        known[key] = after = None if one.get("gone") else _node_from(key, before, one.get("set", {}))
        edits.append(TaskEdit(node_id=key, before=before, after=after))
    return _COMMIT.of(
        {key: one for key, one in data.items() if key != "edits"},
        number=data["n"],
        turn_id=own["turn"],
        author=own["author"],
        at=datetime.fromisoformat(own["at"]),
        text=own["text"],
        edits=tuple(edits),
    )


def _edits_to(edits: Sequence[TaskEdit]) -> list[dict[str, Any]]:
    return [_edit_to(edit) for edit in edits]


def _edit_to(edit: TaskEdit) -> dict[str, Any]:
    if edit.after is None:
        return {"id": edit.node_id, "gone": True}
    fields_of = zip(FIELDS, VALUES(edit.before or NEW), VALUES(edit.after), strict=True)
    changed = {name: _field_to(now) for name, was, now in fields_of if was is not now and was != now}
    data = {"id": edit.node_id, "set": changed}
    return data if edit.before is not None else {**data, "new": True}


def _of_turn(turn: Turn | None) -> dict[str, str]:
    """Return what a commit shares with its turn."""
    if turn is None:
        return {"turn": "", "author": "", "at": EARLIEST.isoformat(), "text": ""}
    return {"turn": turn.turn_id, "author": turn.speaker, "at": turn.at.isoformat(), "text": turn.text}


def _field_to(value: Any) -> Any:
    if isinstance(value, TaskValue):
        return _VALUE.to(value)
    if isinstance(value, tuple):
        return [_DEPENDENCY.to(one) if isinstance(one, Dependency) else one for one in value]
    return value


def _node_from(node_id: str, before: TaskNode | None, changed: Data) -> TaskNode:
    if before is not None and list(changed) == ["value"]:
        return before.valued(_value_from(changed["value"]))
    was = before or NEW
    now = {name: getattr(was, name) for name in FIELDS}
    now |= {name: READ[name](value) if name in READ else value for name, value in changed.items() if name in now}
    return TaskNode(node_id=node_id, **now)


def _value_from(data: Data | None) -> TaskValue | None:
    return None if data is None else _VALUE.of(data)


def _depends_from(data: Sequence[Data]) -> tuple[Dependency, ...]:
    return tuple(map(_DEPENDENCY.of, data))


_VALUE = Codec(TaskValue, "kind amount unit text", kind=Named("kind", str, ValueKind))
_DEPENDENCY = Codec(Dependency, "on kind shift unit text")
_COMMIT = Codec(
    TaskCommit,
    "intents edits reply undoes focus asked confidence by",
    intents=Named("intents", list, tuple),
    edits=Named("edits", _edits_to),
    focus=Named("focus", list, tuple),
)
READ: dict[str, Any] = {
    "kind": NodeKind,
    "status": TaskStatus,
    "value": _value_from,
    "parents": tuple,
    "places": tuple,
    "depends": _depends_from,
    "aliases": tuple,
    "shared_with": tuple,
}
"""How the fields that are not plain data are read."""
