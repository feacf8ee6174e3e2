"""The nouns of the task memory: nodes of a forest, what a turn does to them, and what is shown of it.

A task is a root of the forest; under it are items (what a list holds), slots (what has a value) and tasks of their own.
A node with several parents is shared between them. What a turn does is one `TaskCommit`: for every node that it touches
how it was before and how it is after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

__all__ = [
    "Dependency",
    "DependencyKind",
    "Exported",
    "Forest",
    "NodeKind",
    "TaskCommit",
    "TaskEdit",
    "TaskNode",
    "TaskReply",
    "TaskStatus",
    "TaskValue",
    "TaskView",
    "ValueKind",
]

DependencyKind = Literal["before", "derived", "condition", "fact"]
Exported = str | list[str] | None
"""What stands under a path: a value, the labels of a list, or nothing (any more)."""


class TaskStatus(StrEnum):
    """Where a node stands; what is replaced or removed is kept, out of sight."""

    ACTIVE = "active"
    DONE = "done"
    REPLACED = "replaced"
    """Something else has its place."""
    REMOVED = "removed"
    BLOCKED = "blocked"
    """It waits for another node, or for a condition to settle."""

    @property
    def standing(self) -> bool:
        """True for what is neither replaced nor removed."""
        return self is not TaskStatus.REPLACED and self is not TaskStatus.REMOVED


class NodeKind(StrEnum):
    """What a node is."""

    TASK = "task"
    ITEM = "item"
    """One of a list: its parent's value is the list of its items."""
    SLOT = "slot"
    LOOP = "loop"
    """It may repeat what is under it, up to a bound."""


class ValueKind(StrEnum):
    """What a value is, and so the unit of its amount."""

    TEXT = "text"
    NUMBER = "number"
    QUANTITY = "quantity"
    MONEY = "money"
    CLOCK = "clock"
    DATE = "date"
    DURATION = "duration"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskValue:
    """A value as it is shown, and as a number where it is one."""

    text: str
    kind: ValueKind = ValueKind.TEXT
    amount: float | None = None
    """In the kind's base unit: minutes after midnight, days (or the index of a weekday), units of currency, minutes."""
    unit: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """What a node waits for, or follows."""

    on: str
    """The id of a node, or (`fact`) of a fact; empty for a condition that is not a node."""
    kind: DependencyKind
    """`before`: `on` stands before this node does; `derived`: its value is that of `on`, moved by the shift;
    `condition`: it is blocked until what is stated settles; `fact`: it rests on a fact of the memory."""
    shift: float = 0.0
    unit: str = ""
    text: str = ""
    """The rule or the condition as it was stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskNode:
    """One node of the task forest. Its id never changes and is never given to another."""

    node_id: str
    name: str
    kind: NodeKind = NodeKind.SLOT
    value: TaskValue | None = None
    status: TaskStatus = TaskStatus.ACTIVE
    parents: tuple[str, ...] = ()
    """The nodes that it is under, none for a root; several where it is shared."""
    places: tuple[float, ...] = ()
    """Its place among the children of each of `parents`."""
    depends: tuple[Dependency, ...] = ()
    aliases: tuple[str, ...] = ()
    bound: int | None = None
    """Of a loop: how often at most it is gone through."""
    round: int = 0
    """Of a loop: how often it has been gone through again."""
    shared_with: tuple[str, ...] = ()
    """The users that it is shared with."""

    def valued(self, value: TaskValue | None) -> TaskNode:
        """Return the node with another value: `dataclasses.replace`, at a fourth of its cost."""
        node = object.__new__(TaskNode)
        _PUT_NODE_ID(node, self.node_id)
        _PUT_NAME(node, self.name)
        _PUT_KIND(node, self.kind)
        _PUT_VALUE(node, value)
        _PUT_STATUS(node, self.status)
        _PUT_PARENTS(node, self.parents)
        _PUT_PLACES(node, self.places)
        _PUT_DEPENDS(node, self.depends)
        _PUT_ALIASES(node, self.aliases)
        _PUT_BOUND(node, self.bound)
        _PUT_ROUND(node, self.round)
        _PUT_SHARED_WITH(node, self.shared_with)
        return node

    @property
    def waits(self) -> bool:
        """True for a node that is blocked until a stated condition settles: it is planned, and not there yet."""
        return self.status is TaskStatus.BLOCKED and any(needed.kind == "condition" for needed in self.depends)


_PUTS: list[Callable[[TaskNode, Any], None]] = [getattr(TaskNode, one.name).__set__ for one in fields(TaskNode)]
(
    _PUT_NODE_ID,
    _PUT_NAME,
    _PUT_KIND,
    _PUT_VALUE,
    _PUT_STATUS,
    _PUT_PARENTS,
    _PUT_PLACES,
    _PUT_DEPENDS,
    _PUT_ALIASES,
    _PUT_BOUND,
    _PUT_ROUND,
    _PUT_SHARED_WITH,
) = _PUTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEdit:
    """How one node was before a commit and is after it; None where there was, or is, none."""

    node_id: str
    before: TaskNode | None
    after: TaskNode | None

    @staticmethod
    def of(node_id: str, before: TaskNode | None, after: TaskNode | None) -> TaskEdit:
        """Return an edit, at half of the cost of the constructor."""
        edit = object.__new__(TaskEdit)
        _PUT_EDITED(edit, node_id)
        _PUT_BEFORE(edit, before)
        _PUT_AFTER(edit, after)
        return edit


_EDIT_PUTS: list[Callable[[TaskEdit, Any], None]] = [getattr(TaskEdit, one.name).__set__ for one in fields(TaskEdit)]
_PUT_EDITED, _PUT_BEFORE, _PUT_AFTER = _EDIT_PUTS


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCommit:
    """What one turn, or one call by hand, does to the forest."""

    number: int
    """Higher than those of all earlier commits."""
    turn_id: str = ""
    author: str = ""
    at: datetime
    text: str = ""
    """What was said."""
    intents: tuple[str, ...] = ()
    edits: tuple[TaskEdit, ...] = ()
    reply: str = ""
    undoes: int | None = None
    """The number of the commit that it takes back."""
    focus: tuple[str, ...] = ()
    """The ids of the nodes that were spoken of, which the next turn may mean by "it"."""
    asked: str = ""
    """What was asked back, to be answered by the next turn."""
    confidence: float = 1.0
    """How sure it is that the turn meant this, from 0 to 1."""
    by: str = ""
    """The prompt and the model that read the turn; empty for the grammar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReply:
    """What is said to a turn that was told to the tasks, and what the turn did to them."""

    text: str
    intents: tuple[str, ...] = ()
    edits: tuple[TaskEdit, ...] = ()
    asks: bool = False
    """True where the text asks back what was meant; what it asks about was not changed."""
    confidence: float = 1.0
    by: str = ""
    """The prompt and the model that read the turn; empty for the grammar."""
    degraded: str = ""
    """Why the turn could not be read in full; empty where it was."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """One node as it is seen: with its path and what is exported under it."""

    path: str
    value: Exported = None
    node: TaskNode
    visible: bool = True


@dataclass(frozen=True, slots=True)
class Forest:
    """The user's tasks as they were when they were asked for; values by path ("team meeting/time")."""

    nodes: tuple[TaskView, ...] = ()
    """What is in sight, in order: every task, then what is under it."""
    hidden: tuple[TaskView, ...] = ()
    """What was removed or replaced, or is under such a node, or waits with its parent for a condition."""
    commits: tuple[TaskCommit, ...] = ()
    past: Mapping[str, tuple[str | list[str], ...]] = field(default_factory=dict)

    def state(self) -> dict[str, str | list[str]]:
        """Return the current value of every path; sets as lists."""
        return {view.path: view.value for view in self.nodes if view.value is not None}

    def history(self, path: str) -> list[str | list[str]]:
        """Return the values that `path` has had, oldest first; empty for an unknown path."""
        return list(self.past.get(path, ()))

    def tree(self, *, hidden: bool = False) -> list[dict[str, Any]]:
        """Return the tasks as nested data, for pictures: `id`, `name`, `path`, `kind`, `status`, `value`, `children`.

        A shared node is under each of its parents; `shared` is True for it, and only its first place has its children.

        Args:
            hidden: with what is out of sight; its `visible` is False.
        """
        views = (*self.nodes, *self.hidden) if hidden else self.nodes
        by_id = {view.node.node_id: view for view in views}
        under: dict[str, list[tuple[float, int, str]]] = {}
        for order, (key, view) in enumerate(by_id.items()):
            places = view.node.places or (0.0,) * len(view.node.parents)
            for parent, place in zip(view.node.parents, places, strict=True):
                under.setdefault(parent, []).append((place, order, key))
        seen: set[str] = set()

        def data(key: str) -> dict[str, Any]:
            view, first = by_id[key], key not in seen
            seen.add(key)
            below = sorted(under.get(key, ())) if first else []
            return {**_facts(view), "children": [data(child) for _, _, child in below]}

        return [data(key) for key, view in by_id.items() if not any(parent in by_id for parent in view.node.parents)]

    def __iter__(self) -> Iterator[TaskView]:
        return iter(self.nodes)


def _facts(view: TaskView) -> dict[str, Any]:
    """Return one node as data."""
    node = view.node
    return {
        "id": node.node_id,
        "name": node.name,
        "path": view.path,
        "kind": str(node.kind),
        "status": str(node.status),
        "value": node.value.text if node.value else view.value,
        "shared": len(node.parents) > 1,
        "visible": view.visible,
        "depends": [{"on": d.on, "kind": d.kind, "text": d.text} for d in node.depends],
    }
