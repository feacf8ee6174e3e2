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
    data: dict[str, Any] = {
        "intents": list(commit.intents),
        "edits": [_edit_to(edit) for edit in commit.edits],
        "reply": commit.reply,
        "undoes": commit.undoes,
        "focus": list(commit.focus),
        "asked": commit.asked,
        "confidence": commit.confidence if commit.confidence != 1.0 else None,
        "by": commit.by,
    }
    return {
        "n": commit.number,
        **{key: value for key, value in own.items() if value != said[key]},
        **{key: value for key, value in data.items() if value not in ("", None, [])},
    }


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
    return TaskCommit(
        number=data["n"],
        turn_id=own["turn"],
        author=own["author"],
        at=datetime.fromisoformat(own["at"]),
        text=own["text"],
        intents=tuple(data.get("intents", ())),
        edits=tuple(edits),
        reply=data.get("reply", ""),
        undoes=data.get("undoes"),
        focus=tuple(data.get("focus", ())),
        asked=data.get("asked", ""),
        confidence=data.get("confidence", 1.0),
        by=data.get("by", ""),
    )


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
        data = {"text": value.text, "kind": str(value.kind), "amount": value.amount, "unit": value.unit}
        return {key: one for key, one in data.items() if one not in ("", None) and one != "text"} | {"text": value.text}
    if isinstance(value, tuple):
        return [_dependency_to(one) if isinstance(one, Dependency) else one for one in value]
    return value


def _dependency_to(needed: Dependency) -> dict[str, Any]:
    data = {"shift": needed.shift, "unit": needed.unit, "text": needed.text}
    return {"on": needed.on, "kind": needed.kind, **{key: value for key, value in data.items() if value}}


def _node_from(node_id: str, before: TaskNode | None, changed: Data) -> TaskNode:
    if before is not None and list(changed) == ["value"]:
        return before.valued(_value_from(changed["value"]))
    was = before or NEW
    now = {name: getattr(was, name) for name in FIELDS}
    now |= {name: READ[name](value) if name in READ else value for name, value in changed.items() if name in now}
    return TaskNode(node_id=node_id, **now)


def _value_from(data: Data | None) -> TaskValue | None:
    if data is None:
        return None
    kind = ValueKind(data.get("kind", "text"))
    return TaskValue(text=data["text"], kind=kind, amount=data.get("amount"), unit=data.get("unit", ""))


def _depends_from(data: Sequence[Data]) -> tuple[Dependency, ...]:
    return tuple(
        Dependency(
            on=one["on"],
            kind=one["kind"],
            shift=one.get("shift", 0.0),
            unit=one.get("unit", ""),
            text=one.get("text", ""),
        )
        for one in data
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
