"""A forest that acts are carried out on, one commit after another."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from doxa.core.tasks import NodeKind, TaskCommit, TaskValue
from doxa.memory import TaskForest, commit_from, commit_to
from doxa.tasks import Editor

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)


def text(value: str) -> TaskValue:
    return TaskValue(text=value)


class Desk:
    """A forest with the ids of its nodes by what the test calls them."""

    def __init__(self) -> None:
        self.forest = TaskForest()

    def do(self, act: Callable[[Editor], Any], *, undoes: int | None = None) -> Any:
        editor = Editor(self.forest)
        given = act(editor)
        self.commit(editor, undoes=undoes)
        return given

    def commit(self, editor: Editor, *, undoes: int | None = None) -> TaskCommit:
        commit = TaskCommit(number=self.forest.next_number, at=AT, edits=editor.edits(), undoes=undoes)
        self.forest.apply(commit_from(commit_to(commit), self.forest))  # as it is stored
        return commit

    def undo(self, number: int | None = None) -> None:
        last = number or self.forest.undoable()
        assert last is not None
        self.do(lambda editor: editor.undo(last), undoes=last)

    def task(self, name: str, items: str = "", **slots: str) -> dict[str, str]:
        """Add a task with items and slots, and return their ids by name."""
        editor = Editor(self.forest)
        ids = {name: editor.add(name, kind=NodeKind.TASK)}
        ids |= {item: editor.add(item, ids[name], kind=NodeKind.ITEM) for item in items.split()}
        ids |= {slot: editor.add(slot, ids[name], value=text(value)) for slot, value in slots.items()}
        self.commit(editor)
        return ids


@pytest.fixture
def desk() -> Desk:
    return Desk()
