"""A forest that acts are carried out on, one commit after another, and one that is talked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from doxa.backends import load
from doxa.backends.parser import CachedParser
from doxa.core.tasks import NodeKind, TaskCommit, TaskValue
from doxa.memory import TaskForest, commit_from, commit_to
from doxa.tasks import Editor, Step, take

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


NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def parser() -> Iterator[Any]:
    parser = CachedParser(load("parser", "builtin"))
    yield parser
    parser.close()


class Talk:
    """A conversation with the tasks; every commit goes through its stored form."""

    def __init__(self, parser: Any) -> None:
        self.parser, self.forest = parser, TaskForest()

    def __call__(self, text: str, *, ask_below: float = 0.0) -> Step:
        step = take(text, self.forest, self.parser, NOON, ask_below=ask_below)
        commit = TaskCommit(
            number=self.forest.next_number, at=NOON, text=text, intents=step.intents, edits=step.edits,
            reply=step.reply, focus=step.focus, asked=step.asked, undoes=step.undoes, confidence=step.confidence,
        )  # fmt: skip
        self.forest.apply(commit_from(commit_to(commit), self.forest))
        return step

    @property
    def state(self) -> dict[str, Any]:
        return self.forest.state()


@pytest.fixture
def talk(parser: Any) -> Talk:
    return Talk(parser)
