"""Turns of the task corpus, read by the grammar over what was on record before them -> its changes, right or not.

Each turn is read over a forest that is made from the record of the annotation, so that no mistake brings another. A
change is right where the annotation takes the same value, under a node of the same name, away or puts it there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from corpus import CorpusError
from records import Record
from task_turns import Scenario

from doxa.core.tasks import NodeKind, TaskCommit, TaskEdit, TaskNode, TaskStatus, TaskValue
from doxa.memory import TaskForest
from doxa.tasks import Editor
from doxa.tasks.amounts import read_values
from doxa.tasks.saying import changes_told
from doxa.tasks.scene import Scene
from doxa.tasks.trim import carried, closed

SMALL = frozenset(("of", "a", "an", "the", "and"))
MINUTES = {"minute": 1, "hour": 60, "day": 1440, "week": 10080}
ITEMS, COUNT, STATUS = "items", "count", "status"
NAMES = {"quantity": COUNT}
SPOKEN_OF = 8
Held = tuple[frozenset[str], str, str]
"""The name of a node, a slot (or `items`), and the value (or the name of the item)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What the grammar made of a turn."""

    scenario: str
    text: str
    nodes: int
    """On record before it."""
    edits: tuple[TaskEdit, ...]
    told: Mapping[str, str]
    signals: Mapping[str, float]
    right: Mapping[str, bool]
    """Whether a change is right, by the id of its node; of changes that show nowhere nothing is known."""


def played(scenario: Scenario, parser: Any) -> Iterator[Read]:
    """Give the turns of a scenario that the grammar changes something on."""
    record, touched = Record(), dict[str, int]()
    for number, turn in enumerate(scenario.turns):
        at = datetime.combine(turn.day, time(9), UTC) + timedelta(minutes=number)
        forest, before, shown = forest_of(record, touched, at), held_by(record), paths_of(record)
        try:
            record.turn([(act.kind, act.parts) for act in turn.acts])
        except (CorpusError, ValueError):
            continue
        after = held_by(record)
        touched |= {path: number for path, held in paths_of(record).items() if shown.get(path) != held}
        scene, replies = carried(turn.text, forest, parser, at)
        step = closed(scene, replies)
        if not step.edits:
            continue
        right = {}
        for edit in step.edits:
            was, now = shown_of(scene, edit.before), shown_of(scene, edit.after)
            if was != now:
                put = all(is_among(one, after - before, at) for one in now - was)
                right[edit.node_id] = put and all(is_among(one, before - after, at) for one in was - now)
        yield Read(
            scenario=scenario.id, text=turn.text, nodes=len(forest.nodes), edits=step.edits, right=right,
            told=changes_told(scene, step.edits), signals={**step.signals, "confidence": step.confidence},
        )  # fmt: skip


def paths_of(record: Record) -> dict[str, str]:
    """Return what stands at each path of a record, as text."""
    return {
        path: repr((node.slots, node.held, node.rules, [one.name for one in node.children]))
        for path, node in record.walk()
    }


def forest_of(record: Record, touched: Mapping[str, int], at: datetime) -> TaskForest:
    """Return a forest with what is on record; what was touched last is what is spoken of."""
    forest = TaskForest()
    editor, ids = Editor(forest), dict[str, str]()
    for path, node in record.walk():
        above = ids.get(path.rpartition("/")[0])
        plain = above is not None and not node.children and not {*node.slots, *node.rules} - {COUNT}
        ids[path] = editor.add(node.name, above, kind=NodeKind.ITEM if plain else NodeKind.TASK)
        for slot in dict.fromkeys((*node.slots, *node.rules)):
            if slot == STATUS and node.slots.get(slot) == "done":
                editor.done(ids[path])
            elif slot not in (STATUS, "on", "if"):
                name = "quantity" if slot == COUNT else slot
                editor.add(name, ids[path], value=typed(told(record.value(node, slot)), at))
    if ids:
        focus = sorted((path for path in touched if path in ids), key=lambda path: -touched[path])[:SPOKEN_OF]
        forest.apply(
            TaskCommit(
                number=1, at=at, intents=("new",), edits=editor.edits(), focus=tuple(ids[path] for path in focus)
            )
        )
    return forest


def held_by(record: Record) -> set[Held]:
    """Return everything on record."""
    found = {(frozenset[str](), ITEMS, node.name) for node in record.roots}
    for path, slot, value, _ in record.lines():
        name = words(path.rpartition("/")[2])
        if slot == ITEMS:
            found |= {(name, ITEMS, one) for one in value.split("; ")}
        elif slot != "on":
            found.add((name, slot, value if slot == STATUS else told(value)))
    return found


def shown_of(scene: Scene, node: TaskNode | None) -> set[Held]:
    """Return what a node shows."""
    done = node is not None and node.status is TaskStatus.DONE
    if node is None or not (node.status.standing or done):
        return set()
    above = words(scene.editor.node(node.parents[0]).name) if node.parents else frozenset()
    value = node.value.text if node.value is not None else ""
    if node.kind is NodeKind.SLOT:
        return {(above, NAMES.get(node.name.lower(), node.name.lower()), value)} if value else set()
    found = {(above, ITEMS, node.name)}
    found |= {(words(node.name), COUNT, value)} if value else set()
    return found | ({(words(node.name), STATUS, "done")} if done else set())


def is_among(one: Held, others: Collection[Held], at: datetime) -> bool:
    """Tell whether what is held is among what is held by others, in other words perhaps."""
    above, slot, value = one
    for name, own, other in others:
        if (slot in (ITEMS, STATUS) or own in (ITEMS, STATUS)) and slot != own:
            continue
        if slot == ITEMS:
            near = not above or not name or bool(above & name)
        else:
            near = above == name or bool(above & name) or (own == slot != STATUS)
        if near and is_same(value, other, at):
            return True
    return False


def is_same(value: str, other: str, at: datetime) -> bool:
    """Tell whether two values are one: the same time or number, or words of which one has all of the other."""
    mine, theirs = number(value, at), number(other, at)
    if mine is not None and theirs is not None:
        if mine[0] == theirs[0]:
            return mine == theirs
        clock, plain = (mine, theirs) if mine[0] == "clock" else (theirs, mine)
        return clock[0] == "clock" and plain[0] == "plain" and plain[1] * 60 % 720 == clock[1]
    said, held = words(value), words(other)
    if not said or not held:
        return said == held
    return said <= held or held <= said or all(any(len(a) > 2 and b.startswith(a) for b in held) for a in said)


def number(text: str, at: datetime) -> tuple[str, float] | None:
    """Return a value as a kind and a number; which half of the day it is in is left open."""
    found = [one.value for one in read_values(text, at) if one.value is not None and one.value.amount is not None]
    if len(found) != 1 or found[0].amount is None:
        return None
    if found[0].kind.value == "clock":
        return "clock", found[0].amount % 720
    if found[0].kind.value == "date":
        return "date", found[0].amount
    return "plain", found[0].amount * MINUTES.get(found[0].unit, 1)


def typed(text: str, at: datetime) -> TaskValue:
    """Return a value with its type."""
    whole = (one.value for one in read_values(text, at) if (one.start, one.end) == (0, len(text)))
    return next((value for value in whole if value is not None), TaskValue(text=text))


def told(value: str) -> str:
    """Return a value as people write it: days with their names."""
    try:
        return date.fromisoformat(value).strftime("%A %-d %B")
    except ValueError:
        return value


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(re.findall(r"[\w:.']+", text.lower().replace("’", "'"))) - SMALL
