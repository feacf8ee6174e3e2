"""What follows from a change: derived values, and what is blocked or can go on."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import Any, NamedTuple

from doxa.core.tasks import Dependency, TaskNode, TaskStatus, TaskValue
from doxa.memory import TaskTree
from doxa.tasks.overlay import Overlay

__all__ = ["Moved", "ShiftBy", "propagated", "rest_on"]

ShiftBy = Callable[[TaskValue, float, str], TaskValue | None]
"""Moves a value by an amount of a unit; None where it cannot."""


class Moved(NamedTuple):
    """A node that changed because another one did."""

    node_id: str
    because: str
    """The id of the node, or of the fact."""
    before: TaskNode
    after: TaskNode


def propagated(tree: Overlay, shift: ShiftBy, given: Container[str] = ()) -> list[Moved]:
    """Carry the changes of a turn to what depends on them, and return what moved because of what, in order.

    Args:
        tree: what the turn changed so far.
        shift: moves a value by a stated amount.
        given: nodes that the turn gave a value; they keep it.

    Cost: O(what depends on what changed).
    """
    moved: list[Moved] = []
    own, base = tree.layer, tree.forest.nodes
    sources: dict[str, tuple[TaskValue | None, bool]] = {}
    for key in _in_order(tree, _sources(tree)):
        before = own.get(key) or base[key]
        for needed in before.depends:
            if needed.kind == "derived":
                source = sources.get(needed.on)
                if source is None:
                    source = sources[needed.on] = _source(tree, needed.on)
                followed, changed = source
                if followed is None or key in given or not (changed or _stated(base.get(key), needed)):
                    continue
                value = shift(followed, needed.shift, needed.unit)
                old = before.value
                if value is None or (old is not None and value.text == old.text and value == old):
                    continue
                after = tree.revalue(before, value)
            else:
                fields = _follow(tree, key, needed)
                if not fields:
                    continue
                tree.change(key, **fields)
                after = tree.node(key)
            moved.append(Moved(key, needed.on, before, after))
            before = after
    return moved


def _source(tree: Overlay, node_id: str) -> tuple[TaskValue | None, bool]:
    """Return the value of a node, and whether the turn changed it."""
    source, was = tree.get(node_id), tree.forest.get(node_id)
    value = source.value if source is not None else None
    return value, was is None or was.value != value


def _stated(was: TaskNode | None, needed: Dependency) -> bool:
    """Tell whether the turn stated what a node follows."""
    return was is None or needed not in was.depends


def rest_on(tree: Overlay, fact_id: str, *, holds: bool) -> list[Moved]:
    """Block what rests on a fact that no longer holds, or let it go on where it holds again."""
    moved: list[Moved] = []
    status, then = (TaskStatus.BLOCKED, TaskStatus.ACTIVE) if holds else (TaskStatus.ACTIVE, TaskStatus.BLOCKED)
    for key in tree.dependents(fact_id):
        before = tree.node(key)
        if before.status is status and not before.waits:
            tree.change(key, status=then)
            moved.append(Moved(key, fact_id, before, tree.node(key)))
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
    done: list[str] = []
    seen: set[str] = set()
    for source in sources:
        waiting = [(source, False)]
        while waiting:
            key, left = waiting.pop()
            if left:
                done.append(key)
            elif key not in seen:
                seen.add(key)
                waiting.append((key, True))
                for one in tree.dependents(key):
                    if one in seen:
                        continue
                    if tree.is_followed(one):
                        waiting.append((one, False))
                    else:
                        seen.add(one)
                        done.append(one)
    return done[::-1]


def _follow(tree: Overlay, key: str, needed: Dependency) -> dict[str, Any]:
    """Return the fields of a node that change because of one thing that it waits for."""
    if needed.kind == "before":
        return _blocked(tree, tree.node(key), needed)
    return _settled(tree, tree.node(key), needed) if needed.kind == "condition" and needed.on else {}


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
    source = tree.get(needed.on)
    if source is None or source.status is not TaskStatus.DONE or not node.waits:
        return {}
    left = tuple(one for one in node.depends if one != needed)
    waits = any(one.kind == "condition" for one in left)
    return {"depends": left} if waits else {"depends": left, "status": TaskStatus.ACTIVE}


def _usable(tree: TaskTree, node_id: str) -> bool:
    """Tell whether what waits for a node may go on: it is in sight, and not blocked itself."""
    node = tree.get(node_id)
    return node is not None and node.status in (TaskStatus.ACTIVE, TaskStatus.DONE) and tree.visible(node_id)
