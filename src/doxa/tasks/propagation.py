"""What follows from a change: derived values, and what is blocked or can go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from doxa.core.tasks import Dependency, TaskNode, TaskStatus, TaskValue
from doxa.memory import TaskTree
from doxa.tasks.overlay import Overlay

__all__ = ["Moved", "ShiftBy", "propagated", "rest_on"]

ShiftBy = Callable[[TaskValue, float, str], TaskValue | None]
"""Moves a value by an amount of a unit; None where it cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A node that changed because another one did."""

    node_id: str
    because: str
    """The id of the node, or of the fact."""
    before: TaskNode
    after: TaskNode


def propagated(tree: Overlay, shift: ShiftBy, given: Iterable[str] = ()) -> list[Moved]:
    """Carry the changes of a turn to what depends on them, and return what moved because of what, in order.

    Args:
        tree: what the turn changed so far.
        shift: moves a value by a stated amount.
        given: nodes that the turn gave a value; they keep it.

    Cost: O(what depends on what changed).
    """
    moved: list[Moved] = []
    keep = frozenset(given)
    for key in _in_order(tree, _sources(tree)):
        for needed in tree.node(key).depends:
            if needed.kind == "fact" or (not needed.on and needed.kind != "condition"):
                continue
            fields = _follow(tree, key, needed, shift, keep)
            if fields:
                before = tree.node(key)
                tree.change(key, **fields)
                moved.append(Moved(node_id=key, because=needed.on, before=before, after=tree.node(key)))
    return moved


def rest_on(tree: Overlay, fact_id: str, *, holds: bool) -> list[Moved]:
    """Block what rests on a fact that no longer holds, or let it go on where it holds again."""
    moved: list[Moved] = []
    status, then = (TaskStatus.BLOCKED, TaskStatus.ACTIVE) if holds else (TaskStatus.ACTIVE, TaskStatus.BLOCKED)
    for key in tree.dependents(fact_id):
        before = tree.node(key)
        if before.status is status and not before.waits:
            tree.change(key, status=then)
            moved.append(Moved(node_id=key, because=fact_id, before=before, after=tree.node(key)))
    return moved


def _sources(tree: Overlay) -> list[str]:
    """Return what changed, with what came in sight or went out of it under that."""
    found: dict[str, None] = {}
    for key in tree.changed():
        found[key] = None
        known = tree.forest.get(key) is not None
        if known and tree.forest.opens(key) != tree.opens(key):
            found |= dict.fromkeys(tree.descendants(key))
    return list(found)


def _in_order(tree: Overlay, sources: Iterable[str]) -> list[str]:
    """Return these nodes and all that depend on them, each after what it depends on."""
    done: dict[str, None] = {}
    seen: set[str] = set()
    for source in sources:
        waiting = [(source, False)]
        while waiting:
            key, left = waiting.pop()
            if left:
                done[key] = None
            elif key not in seen:
                seen.add(key)
                waiting.append((key, True))
                waiting += [(one, False) for one in tree.dependents(key) if one not in seen]
    return list(done)[::-1]


def _follow(tree: Overlay, key: str, needed: Dependency, shift: ShiftBy, keep: frozenset[str]) -> dict[str, Any]:
    """Return the fields of a node that change because of one thing that it depends on."""
    node = tree.node(key)
    match needed.kind:
        case "derived":
            return {} if key in keep else _derived(tree, node, needed, shift)
        case "before":
            return _blocked(tree, node, needed)
        case _:
            return _settled(tree, node, needed)


def _derived(tree: Overlay, node: TaskNode, needed: Dependency, shift: ShiftBy) -> dict[str, Any]:
    source, was = tree.get(needed.on), tree.forest.get(needed.on)
    if source is None or source.value is None:
        return {}
    before = tree.forest.get(node.node_id)
    stated = before is None or needed not in before.depends
    if not stated and was is not None and was.value == source.value:
        return {}
    value = shift(source.value, needed.shift, needed.unit)
    return {} if value is None or value == node.value else {"value": value}


def _blocked(tree: Overlay, node: TaskNode, needed: Dependency) -> dict[str, Any]:
    usable = _usable(tree, needed.on)
    if not usable:
        return {"status": TaskStatus.BLOCKED} if node.status is TaskStatus.ACTIVE else {}
    if node.status is not TaskStatus.BLOCKED or node.waits:
        return {}
    others = [d.on for d in node.depends if d.kind == "before"]
    if all(_usable(tree.forest, on) for on in others):  # it was blocked by what was said, not by what is missing
        free = all(tree.node(on).status is TaskStatus.DONE for on in others)
    else:
        free = all(_usable(tree, on) for on in others)
    return {"status": TaskStatus.ACTIVE} if free else {}


def _settled(tree: Overlay, node: TaskNode, needed: Dependency) -> dict[str, Any]:
    """Open what waited for a node that is done by now."""
    source = tree.get(needed.on) if needed.on else None
    if source is None or source.status is not TaskStatus.DONE or not node.waits:
        return {}
    left = tuple(one for one in node.depends if one != needed)
    waits = any(one.kind == "condition" for one in left)
    return {"depends": left} if waits else {"depends": left, "status": TaskStatus.ACTIVE}


def _usable(tree: TaskTree, node_id: str) -> bool:
    """Tell whether what waits for a node may go on: it is in sight, and not blocked itself."""
    node = tree.get(node_id)
    return node is not None and node.status in (TaskStatus.ACTIVE, TaskStatus.DONE) and tree.visible(node_id)
