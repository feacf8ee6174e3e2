"""taking: removals, and the ways back: restore, undo, rollback, reset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from doxa.core.errors import TaskError
from doxa.core.tasks import NodeKind, TaskStatus, TaskValue
from doxa.tasks.adding import add_items, put_slot, slot_name
from doxa.tasks.changing import is_slot
from doxa.tasks.phrases import Element
from doxa.tasks.scene import Scene, is_crew

__all__ = [
    "give",
    "people_slot",
    "remove",
    "reset_to",
    "restore",
    "roll_back",
    "take_back",
]


def remove(
    scene: Scene, targets: Sequence[Element], *, source: Element | None = None, everywhere: bool = False
) -> bool:
    """Take things out: items from a list or from all, tasks with what is under them, values of slots."""
    done = False
    place = next(iter(scene.find(source)), None) if source is not None else None
    for target in targets:
        within = scene.editor.current(place) if place is not None and target.words else None
        for key in scene.find(target, among=within) or scene.find(target):
            _out(scene, key, place, everywhere=everywhere)
            done = True
    return done


def _out(scene: Scene, key: str, place: str | None, *, everywhere: bool) -> None:
    """Take one node out, and put what it was in, and then it, in front of what is spoken of."""
    parents = [parent for parent in scene.editor.node(key).parents if scene.seen(parent)]
    if place is not None and place in parents:
        scene.editor.unlink(key, place)
    elif len(parents) > 1 and not everywhere and scene.editor.node(key).kind is NodeKind.ITEM:
        spoken = next((one for one in scene.focus if one in parents), None)
        own = next((one for one in scene.containers() if one in parents), None)
        scene.editor.unlink(key, spoken or own or parents[0])
    else:
        scene.editor.remove(key)
    scene.touched.append(key)
    scene.attend(key)
    scene.attend(*[parent for parent in parents if scene.seen(parent)][:1])


def restore(scene: Scene, targets: Sequence[Element], places: Sequence[str]) -> bool:
    """Bring back what was taken out, where it was or in other places."""
    found = [key for target in targets for key in _gone(scene, target)]
    for key in found:
        for place in places:
            scene.editor.link(key, place)
            scene.attend(place)
        if not places:
            scene.editor.restore(key)
            lost = [parent for parent in scene.editor.node(key).parents if not scene.seen(parent)]
            if lost and not scene.seen(key):
                scene.editor.restore(lost[0])
        scene.touch(key)
    return bool(found)


def _gone(scene: Scene, target: Element) -> list[str]:
    """Return what an element means among what is out of sight."""
    hidden = scene.hidden()
    if target.pronoun or not target.words:
        group = [key for key in scene.group if key in hidden]
        spoken = [key for key in scene.focus if key in hidden]
        several = target.pronoun in ("them", "those", "both", "all") and group
        return group if several else (spoken or hidden)[:1]
    tops = [key for key in hidden if not scene.editor.node(key).status.standing] or hidden
    found = scene.find(target, hidden=True, among=tops) or scene.find(target, among=hidden)
    return found if target.ones else found[:1]


def take_back(scene: Scene) -> bool:
    """Undo the last change that was not undone."""
    forest = scene.editor.forest
    number = scene.undoes = forest.undoable()
    if number is None:
        scene.notes.append("There is nothing to undo.")
        return False
    try:
        undone = scene.editor.undo(number)
    except TaskError as exc:
        scene.doubts.append(str(exc))
        return False
    scene.touched += undone.nodes
    for key in undone.nodes:
        if scene.seen(key):
            scene.touch(key)
    return True


def roll_back(scene: Scene, slot: str | None, which: Literal["original", "previous"]) -> bool:
    """Give a slot, or else the one changed last, the value back that it had at first, or before.

    A node whose value follows from others is rolled back through them, by propagation.
    """
    slots = [slot] if slot is not None else [key for key in _changed(scene) if len(scene.had(key)) > 1]
    for key in slots:
        had = [one for one in scene.had(key) if one != scene.editor.value(key)]
        if had:
            scene.editor.set(key, had[0] if which == "original" else had[-1])
            scene.touch(key)
            return True
    return False


def _changed(scene: Scene) -> list[str]:
    """Return the slots in sight that were changed, the latest first."""
    found: dict[str, None] = {}
    for commit in reversed(scene.editor.forest.commits):
        for edit in commit.edits:
            gone = edit.before is None or edit.after is None or edit.before.value == edit.after.value
            if not gone and scene.seen(edit.node_id) and is_slot(scene, edit.node_id):
                found.setdefault(edit.node_id)
    return list(found)


def reset_to(scene: Scene, keep: Sequence[Element], container: str | None) -> bool:
    """Leave only some items in a list; those of them that were taken out come back."""
    known = [key for target in keep for key in scene.find(target) or _gone(scene, target)]
    lists = (parent for key in known for parent in scene.editor.node(key).parents if scene.seen(parent))
    container = container or next(lists, None) or next(iter(scene.containers()), None)
    if container is None:
        return False
    kept: list[str] = []
    for target in keep:
        kept += (
            scene.find(target, among=scene.editor.items(container))
            or [key for key in _gone(scene, target) if container in scene.editor.node(key).parents]
            or add_items(scene, container, [target])
        )
    if not kept:
        return False
    scene.editor.reset(container, kept)
    scene.touched.append(container)
    scene.attend(container)
    return True


def people_slot(scene: Scene, key: str) -> str | None:
    """Return the list of people of a task, in or out of sight."""
    for child in scene.editor.all_children(key):
        node = scene.editor.node(child)
        removed = node.status is TaskStatus.REMOVED
        if node.kind is NodeKind.SLOT and node.value is None and is_crew(node.name) and not removed:
            return child
    return None


def give(scene: Scene, key: str, value: TaskValue) -> None:
    """Give a task a value: in the slot of its kind, or in a new one."""
    slot = scene.slot_of_kind(key, value)
    if slot is None:
        put_slot(scene, key, slot_name(value), value)
    else:
        scene.editor.set(slot, value)
        scene.touch(slot)
