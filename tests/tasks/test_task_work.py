"""What an act costs is what it changes, not how much there is; counted in calls, which do not depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from doxa.core.tasks import Dependency, NodeKind, TaskCommit, TaskValue, ValueKind
from doxa.memory import TaskForest
from doxa.tasks import Editor, take
from doxa.tasks.scene import Scene

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)
FOLLOWERS = 100


def number(amount: float) -> TaskValue:
    return TaskValue(text=f"{amount:g}", kind=ValueKind.NUMBER, amount=amount)


def commit(forest: TaskForest, editor: Editor) -> None:
    forest.apply(TaskCommit(number=forest.next_number, at=AT, edits=editor.edits()))


def forest_of(tasks: int) -> tuple[TaskForest, list[str]]:
    """Return tasks of 20 items and 20 slots; a hundred slots follow the first node, one chain of 30 the second."""
    forest = TaskForest()
    editor = Editor(forest)
    start, chain = editor.add("start", value=number(0.0)), editor.add("chain", value=number(0.0))
    first = [start, chain]
    links, followers = 30, FOLLOWERS
    for name in range(tasks):
        task = editor.add(f"task {name}", kind=NodeKind.TASK)
        first += [task] if name == 0 else []
        for place in range(40):
            kind = NodeKind.ITEM if place % 2 else NodeKind.SLOT
            key = editor.add(f"part {place}", task, kind=kind, value=number(0.0))
            first += [key] if name == 0 and place < 2 else []
            if kind is NodeKind.SLOT and followers:
                followers -= 1
                editor.depend(key, Dependency(on=start, kind="derived", shift=1.0))
            elif kind is NodeKind.ITEM and links:
                links -= 1
                editor.depend(key, Dependency(on=chain, kind="derived", shift=1.0))
                chain = key
    commit(forest, editor)
    return forest, first


def calls(act: Callable[[], Any]) -> int:
    """Return how many functions are entered, those in C too."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def edited(forest: TaskForest, act: Callable[[Editor], Any]) -> int:
    def turn() -> None:
        editor = Editor(forest)
        act(editor)
        editor.propagate(lambda value, amount, unit: number((value.amount or 0.0) + amount))
        commit(forest, editor)

    return calls(turn)


ACTS: dict[str, Callable[[Editor, list[str]], Any]] = {
    "a value that a hundred follow": lambda e, first: e.set(first[0], number(5.0)),
    "a chain of thirty": lambda e, first: e.set(first[1], number(5.0)),
    "an item out": lambda e, first: e.remove(first[4]),
    "a task out": lambda e, first: e.remove(first[2]),
    "another name": lambda e, first: e.rename(first[3], "other"),
    "one more": lambda e, first: e.add("more", first[2], kind=NodeKind.ITEM),
    "another parent": lambda e, first: e.move(first[4], first[0]),
    "replaced": lambda e, first: e.replace(first[4], "other"),
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_an_act_does_not_cost_more_where_there_is_more(act):
    """Ten times the tasks; what remains is the search in sorted lists."""
    spent = []
    for tasks in (10, 100):
        forest, first = forest_of(tasks)
        spent.append(edited(forest, lambda e, first=first: act(e, first)))
    assert spent[1] <= spent[0] * 1.1 + 20


def test_following_costs_a_few_calls_each():
    forest, first = forest_of(10)
    spent = edited(forest, lambda e: e.set(first[0], number(5.0)))
    assert len(forest.commits[-1].edits) == FOLLOWERS + 1
    assert spent / FOLLOWERS < 60


def test_undo_costs_what_the_commit_did():
    spent = []
    for tasks in (10, 100):
        forest, first = forest_of(tasks)
        edited(forest, lambda e, first=first: e.set(first[0], number(5.0)))
        spent.append(edited(forest, lambda e: e.undo(2)))
    assert spent[1] <= spent[0] * 1.1 + 20


def test_a_list_that_changes_is_not_copied():
    """The past of a list keeps what came and went, not the list."""
    forest, first = forest_of(1)
    for n in range(50):
        edited(forest, lambda e, n=n: e.add(f"item {n}", first[2], kind=NodeKind.ITEM))
    kept = sum(len(delta or ()) for *_, delta in forest._shown[first[2]].log)
    assert kept == 20 + 50 and len(forest.timeline(first[2])) == 51


def test_a_turn_looks_at_no_more_nodes_of_a_larger_forest(parser: Any, monkeypatch: pytest.MonkeyPatch):
    looked_at: list[str] = []
    score = Scene._score
    monkeypatch.setattr(Scene, "_score", lambda self, element, key: looked_at.append(key) or score(self, element, key))

    def work(tasks: int) -> int:
        looked_at.clear()
        assert take("Move task 7 to Friday.", forest_of(tasks)[0], parser, AT).edits
        return len(looked_at)

    assert work(120) < 1.2 * work(60)


def test_paths_of_many_of_one_name_cost_no_more_than_those_of_others() -> None:
    """Each gets the next number that no child is called; a thousand once cost a million looks at a name."""

    def paths(count: int) -> tuple[TaskForest, int]:
        forest = TaskForest()
        editor = Editor(forest)
        top = editor.add("top", kind=NodeKind.TASK)
        for name in ["n", "n 3", *["N", "n"] * (count // 2)]:
            editor.add(name, top, kind=NodeKind.TASK)
        commit(forest, editor)
        return forest, calls(lambda: forest.paths(forest.order()))

    (forest, some), (_, more) = paths(100), paths(400)
    assert more < 5 * some
    found = list(forest.paths(forest.order()).values())
    assert found[:7] == ["top", "top/n", "top/n 3", "top/N 2", "top/n 4", "top/N 5", "top/n 6"]
    assert len(set(found)) == len(found)
