"""What is shown of the tasks, page by page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from doxa.core.tasks import Dependency, Exported, TaskCommit, TaskNode

__all__ = ["TaskCard", "TaskCrowd", "TaskNames", "TaskNeed", "TaskOutline", "TaskRow", "TaskSpan", "TaskStep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskNeed:
    """What a node waits for or follows, or what waits for or follows it."""

    needed: Dependency
    node: TaskNode | None = None
    """The node at the other end; None for a fact, a condition that is no node, or a node that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """One line of the outline."""

    node: TaskNode
    depth: int = 0
    value: Exported = None
    visible: bool = True
    again: bool = False
    """It is shared, and stands further up with what is under it."""
    above: bool = False
    """It only says what the first lines of a page are under."""
    needs: tuple[TaskNeed, ...] = ()
    under: tuple[TaskNode, ...] = ()
    """Of a node that is shared: its parents in sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOutline:
    """One page of the forest, every task followed by what is under it."""

    rows: tuple[TaskRow, ...] = ()
    start: int = 0
    """How many lines are on the pages before."""
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpan:
    """What stood under a node from a commit on."""

    value: Exported
    commit: TaskCommit


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCard:
    """All that is told of one node."""

    row: TaskRow
    path: str
    parents: tuple[TaskNode, ...] = ()
    children: tuple[TaskNode, ...] = ()
    """The first of those in sight."""
    followers: tuple[TaskNeed, ...] = ()
    """The first of those that wait for it or follow it."""
    spans: tuple[TaskSpan, ...] = ()
    """The values it has had, the latest first, as far as they are shown."""
    values: int = 0
    """How many it has had."""
    steps: int = 0
    """How many commits touched it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskNames:
    """What nodes are called, by id."""

    paths: Mapping[str, str] = field(default_factory=dict)
    """Of what is changed."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Of that, of what it is or was under, and of what it depends or depended on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """A commit of the history."""

    commit: TaskCommit
    taken_back: int | None = None
    """The number of the commit that took it back; None where none did."""
    takes_back: bool = False
    """It takes something back; what takes that back again does not."""
    called: TaskNames = TaskNames()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCrowd:
    """Some nodes of the forest, for a picture."""

    rows: tuple[TaskRow, ...] = ()
    left: int = 0
    """How many are not among them."""
