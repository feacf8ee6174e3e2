"""Milliseconds to change, read and fold a forest of 10,000 task nodes.

python benchmarks/tasks.py --nodes 10000 --dependents 1000
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from doxa.core.tasks import Dependency, NodeKind, TaskCommit, TaskValue, ValueKind
from doxa.memory import TaskForest, commit_from, commit_to
from doxa.tasks import Editor, context_of

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)
TARGET_MS = 5.0
TURNS = {
    "a turn that names a node": "what about slot 7 of task {n}?",
    "a turn that names a task": "show me task {n}",
    "a turn that names many": "what about slot {n}?",
    "a turn that names nothing": "make it an hour later",
    "a turn about the past": "why was slot 7 of task {n} changed?",
}


def main() -> None:
    """Print the median and the 95th percentile of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--dependents", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    forest, start = forest_of(options.nodes, options.dependents)
    measured = {
        "update with propagation, applied": timed(lambda n: update(forest, start, n), options.rounds),
        "one item taken out of a list, applied": timed(lambda n: toggled(forest), options.rounds),
        "that update as data": timed(lambda n: json.dumps(commit_to(forest.commits[1])), options.rounds),
        "found by its words": timed(lambda n: forest.find(f"slot {n}"), options.rounds),
        "state of all": timed(lambda n: forest.state(), 10),
        "snapshot of all": timed(lambda n: forest.snapshot(), 10),
    }
    for name, turn in TURNS.items():
        measured[f"context of {name}"] = timed(
            lambda n, turn=turn: context_of(forest, turn.format(n=n), focus=[start]), options.rounds
        )
    rows = [json.dumps(commit_to(commit)) for commit in forest.commits]
    measured[f"fold of {len(rows)} commits from data"] = timed(lambda n: folded(rows), 5)
    report = {name: {"p50_ms": middle, "p95_ms": late} for name, (middle, late) in measured.items()}
    if options.json:
        print(json.dumps({"nodes": len(forest.nodes), "dependents": options.dependents, **report}))
        return
    print(
        f"{len(forest.nodes)} nodes, {options.dependents} of which follow one; the target of an update is {TARGET_MS}"
    )
    for name, (middle, late) in measured.items():
        print(f"{name:40} p50 {middle:8.3f} ms   p95 {late:8.3f} ms")


def timed(act: Callable[[int], Any], rounds: int) -> tuple[float, float]:
    """Return the median and the 95th percentile of what an act takes, in milliseconds."""
    times: list[float] = []
    for number in range(rounds):
        begin = time.perf_counter()
        act(number)
        times.append((time.perf_counter() - begin) * 1e3)
    times.sort()
    return round(times[len(times) // 2], 3), round(times[int(len(times) * 0.95)], 3)


def forest_of(nodes: int, dependents: int) -> tuple[TaskForest, str]:
    """Return a forest of tasks with a hundred nodes each, half slots and half items, and the node that many follow."""
    forest = TaskForest()
    editor = Editor(forest)
    start = editor.add("start", value=number(0.0))
    left = dependents
    for name in range(nodes // 100):
        task = editor.add(f"task {name}", kind=NodeKind.TASK)
        for place in range(99):
            item = place % 2 == 1
            key = editor.add(f"slot {place}", task, kind=NodeKind.ITEM if item else NodeKind.SLOT, value=number(0.0))
            if left and not item:
                left -= 1
                editor.depend(key, Dependency(on=start, kind="derived", shift=float(place)))
    commit(forest, editor)
    return forest, start


def number(amount: float) -> TaskValue:
    """Return a number as a value."""
    return TaskValue(text=f"{amount:g}", kind=ValueKind.NUMBER, amount=amount)


def later(value: TaskValue, amount: float, unit: str) -> TaskValue:
    """Return a number that is so much higher."""
    return number((value.amount or 0.0) + amount)


def update(forest: TaskForest, start: str, n: int) -> None:
    """Change the node that others follow, and let them follow."""
    editor = Editor(forest)
    editor.set(start, number(float(n + 1)))
    editor.propagate(later)
    commit(forest, editor)


def toggled(forest: TaskForest) -> None:
    """Take the first item of the first task out, or put it in again."""
    editor = Editor(forest)
    task = editor.roots()[1]
    item = next(key for key in editor.all_children(task) if editor.node(key).kind is NodeKind.ITEM)
    (editor.remove if editor.visible(item) else editor.restore)(item)
    commit(forest, editor)


def commit(forest: TaskForest, editor: Editor) -> None:
    """Apply what was edited."""
    forest.apply(TaskCommit(number=forest.next_number, at=AT, edits=editor.edits()))


def folded(rows: list[str]) -> TaskForest:
    """Return the forest of stored commits."""
    forest = TaskForest()
    for row in rows:
        forest.apply(commit_from(json.loads(row), forest))
    return forest


if __name__ == "__main__":
    main()
