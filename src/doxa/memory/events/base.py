"""What all events share: a row in the log, and what they do to a state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Self

from doxa.backends.store import Row
from doxa.core.tasks import TaskCommit
from doxa.core.values import Change, Claim, Turn
from doxa.memory.beliefs import Beliefs
from doxa.memory.codec import change_from, claim_from
from doxa.memory.forest import TaskForest
from doxa.memory.state import UserState
from doxa.memory.taskcodec import commit_from, commit_to

__all__ = ["Body", "Event", "Revision", "TaskEvent", "changes_of", "claims_of", "filled"]

Body = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(ABC):
    """A change of the state of a user; `kind` is its name in the log."""

    kind: ClassVar[str]
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

    @abstractmethod
    def body(self) -> Body:
        """Return it as data for its row."""

    @classmethod
    @abstractmethod
    def from_row(cls, row: Row, turn: Turn | None = None) -> Self:
        """Return the event of a stored row; `turn` is the one that the row is about."""


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

    def _tasks_to(self) -> Mapping[str, Any] | None:
        return commit_to(self.tasks, self.about) if isinstance(self.tasks, TaskCommit) else self.tasks


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


def claims_of(row: Row) -> list[Claim]:
    """Return the claims of a row."""
    return [claim_from(data) for data in row.body.get("claims", ())]


def changes_of(row: Row) -> list[Change]:
    """Return the changes of a row."""
    return [change_from(data) for data in row.body.get("changes", ())]
