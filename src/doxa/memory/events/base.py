"""What all events share: a row in the log, and what they do to a state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Self

from doxa.backends.store import Row
from doxa.core.tasks import TaskCommit
from doxa.core.values import Change, Turn
from doxa.memory.beliefs import Beliefs
from doxa.memory.codec import change_from, change_to, claim_from, claim_to, rule_from, rule_to
from doxa.memory.forest import TaskForest
from doxa.memory.state import UserState
from doxa.memory.taskcodec import commit_from, commit_to

__all__ = ["Body", "Event", "Revision", "TaskEvent", "filled"]

Body = dict[str, Any]
LISTS: Mapping[str, tuple[Callable[[Any], Body], Callable[[Body], Any]]] = {
    "claims": (claim_to, claim_from),
    "rules": (rule_to, rule_from),
    "changes": (change_to, change_from),
}
"""How the items of fields that are lists are written and read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(ABC):
    """A change of the state of a user; `kind` is its name in the log."""

    kind: ClassVar[str]
    kept: ClassVar[tuple[str, ...]] = ()
    """The fields that its row has under their own names."""
    known_at: datetime

    @property
    def about(self) -> Turn | None:
        """The turn that it is the reading of, if it is one."""
        return None

    @property
    def is_empty(self) -> bool:
        """Whether it has lost what it was about: a fact, two names, turns, or all promotions."""
        return False

    @abstractmethod
    def apply(self, state: UserState) -> None:
        """Bring a state one event further. Deterministic: the same events give the same state."""

    def body(self) -> Body:
        """Return it as data for its row, less what is empty."""
        held = {name: getattr(self, name) for name in self.kept}
        return filled(**{k: [LISTS[k][0](one) for one in v] if k in LISTS else v for k, v in held.items()})

    @classmethod
    def from_row(cls, row: Row, turn: Turn | None = None, **others: Any) -> Self:
        """Return the event of a stored row; `turn` is the one that the row is about."""
        held = {name: row.body[name] for name in cls.kept if name in row.body}
        read = {k: [LISTS[k][1](one) for one in v] if k in LISTS else v for k, v in held.items()}
        return cls(known_at=row.known_at, **others, **read)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent(Event):
    """An event that may do something to the tasks."""

    tasks: TaskCommit | Mapping[str, Any] | None = None
    """What it does to them; of a stored row as its data, which is read when it is folded."""

    @property
    def task_number(self) -> int:
        """The number of its commit of the tasks; 0 where it has none."""
        return self.tasks.number if isinstance(self.tasks, TaskCommit) else (self.tasks or {}).get("n", 0)

    def commit(self, forest: TaskForest) -> TaskCommit | None:
        """Return what it does to the tasks, over the forest as it is before it."""
        return commit_from(self.tasks, forest, self.about) if isinstance(self.tasks, Mapping) else self.tasks

    def _carry_out(self, forest: TaskForest) -> None:
        if (commit := self.commit(forest)) is not None:
            forest.apply(commit)

    def body(self) -> Body:
        tasks = commit_to(self.tasks, self.about) if isinstance(self.tasks, TaskCommit) else self.tasks
        return Event.body(self) | filled(tasks=tasks)

    @classmethod
    def from_row(cls, row: Row, turn: Turn | None = None, **others: Any) -> Self:
        return super(TaskEvent, cls).from_row(row, turn, tasks=row.body.get("tasks"), **others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision(TaskEvent):
    """An event that changes what is believed."""

    changes: Sequence[Change] = ()

    def apply(self, state: UserState) -> None:
        self._trust(state)
        self.believe(state.beliefs)
        self._carry_out(state.tasks)

    @abstractmethod
    def believe(self, beliefs: Beliefs) -> None:
        """Fold it into what is believed: that is all of it, less what it does to turns and tasks."""

    def _trust(self, state: UserState) -> None:
        """Note which turns are no longer trusted, or are again."""


def filled(**data: Any) -> Body:
    """Return data less what is empty."""
    return {key: value for key, value in data.items() if value}
