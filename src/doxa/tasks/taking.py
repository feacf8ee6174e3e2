"""taking: removals, and the ways back: restore, undo, rollback, reset, split, merge, copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from doxa.core.errors import TaskError
from doxa.core.tasks import Dependency, NodeKind, TaskStatus, TaskValue
from doxa.tasks.adding import add_items, attach, people_of, put_slot, shape_of, slot_name
from doxa.tasks.changing import is_slot
from doxa.tasks.phrases import Element, words_of
from doxa.tasks.reading import Clause
from doxa.tasks.scene import Scene, is_crew

__all__ = [
    "copy_task",
    "divided",
    "give",
    "merge_parts",
    "people_slot",
    "remove",
    "reset_to",
    "restore",
    "roll_back",
    "split_task",
    "take_back",
    "values_of",
]


def remove(
    scene: Scene, targets: Sequence[Element], *, source: Element | None = None, everywhere: bool = False
) -> bool:
    """Take things out: items from a list or from all, tasks with what is under them, values of slots."""
    done = False
    rest = [one for one in targets if one.other and not one.words] or [one for one in targets if one.pronoun == "rest"]
    if rest and scene.intents[-1:] == ["reset"]:
        return True  # "only the tenses matter, drop the rest"
    place = next(iter(scene.find(source)), None) if source is not None else None
    if place is not None and not scene.editor.items(place):
        inner = [child for child in scene.slots(place) if scene.editor.items(child)]
        place = inner[0] if inner else place
    for target in targets:
        found = scene.find(target, among=scene.editor.current(place) if place is not None and target.words else None)
        if not found and place is not None:
            found = scene.find(target)
        for key in found:
            done = _out(scene, key, place, everywhere=everywhere) or done
    return done


def _out(scene: Scene, key: str, place: str | None, *, everywhere: bool) -> bool:
    parents = [parent for parent in scene.editor.node(key).parents if scene.seen(parent)]
    if place is not None and place in parents:
        scene.editor.unlink(key, place)
    elif len(parents) > 1 and not everywhere and scene.editor.node(key).kind is NodeKind.ITEM:
        spoken = next((one for one in scene.focus if one in parents), None)
        own = next((one for one in scene.containers() if one in parents), None)
        scene.editor.unlink(key, spoken or own or parents[0])
    else:
        scene.editor.remove(key)
    above = [parent for parent in parents if scene.seen(parent)]
    scene.touched.append(key)
    scene.attend(*above[:1])
    if key in scene.focus:
        scene.focus.remove(key)
    scene.focus.append(key)
    scene.focus.insert(len(above[:1]), key)
    scene.focus = list(dict.fromkeys(scene.focus))
    return True


def restore(
    scene: Scene, targets: Sequence[Element], *, places: Sequence[str] = (), value: TaskValue | None = None
) -> bool:
    """Bring back what was taken out, where it was or in other places, with another value where one is given."""
    done = False
    for target in targets:
        found = _gone(scene, target)
        if not found:
            continue
        for key in found[:1] if not (target.ones or target.pronoun in ("them", "those", "both")) else found:
            if places:
                for place in places:
                    scene.editor.link(key, place)
                    scene.attend(place)
            else:
                scene.editor.restore(key)
                lost = [parent for parent in scene.editor.node(key).parents if not scene.seen(parent)]
                if lost and not scene.seen(key):
                    scene.editor.restore(lost[0])
            if value is not None:
                slot = (
                    key
                    if scene.editor.value(key) is not None or is_slot(scene, key)
                    else scene.slot_of_kind(key, value)
                )
                scene.editor.set(slot or key, value)
            scene.touch(key)
            done = True
    return done


def _gone(scene: Scene, target: Element) -> list[str]:
    hidden = scene.hidden()
    if target.pronoun or not target.words:
        spoken = [key for key in scene.focus if key in hidden]
        if target.pronoun in ("them", "those", "both", "all"):
            last = [
                key
                for commit in reversed(scene.editor.forest.commits)
                for edit in commit.edits
                for key in (edit.node_id,)
                if key in hidden
            ]
            group = [key for key in scene.group if key in hidden]
            return group or spoken[:2] or last[:1]
        return (spoken or hidden)[:1]
    tops = [key for key in hidden if not scene.editor.node(key).status.standing] or hidden
    return scene.find(target, hidden=True, among=tops) or scene.find(target, among=hidden)


def values_of(scene: Scene, key: str) -> list[TaskValue]:
    """Return the values that a slot has had, oldest first, each once in a row."""
    found: list[TaskValue] = []
    for _, _, after in scene.editor.forest.revisions(key):
        value = after.value if after is not None and after.status.standing else None
        if value is not None and value.text and (not found or found[-1] != value):
            found.append(value)
    return found


def take_back(scene: Scene, target: Element | None = None) -> bool:
    """Undo the last change that was not undone, or the last one of what is named."""
    forest = scene.editor.forest
    if target is not None and target.words and not target.pronoun:
        for key in scene.find(target) or scene.find(target, hidden=True):
            revisions = forest.revisions(key)
            if revisions:
                scene.editor.undo(revisions[-1][0])
                scene.touch(key)
                return True
    number = scene.undoes = forest.undoable()
    if number is None:
        scene.notes.append("There is nothing to undo.")
        return False
    try:
        undone = scene.editor.undo(number)
    except TaskError as exc:
        scene.doubts.append(str(exc))
        return False
    for key in undone.nodes:
        if scene.seen(key):
            scene.touch(key)
        else:
            scene.touched.append(key)
    commit = forest.commit(number)
    if commit is not None and undone.nodes:
        first = next((key for key in reversed(undone.nodes) if scene.seen(key)), None)
        if first is not None:
            scene.attend(first)
    return True


def roll_back(scene: Scene, slot: str | None, which: str, value: TaskValue | None = None) -> bool:
    """Give a slot a value back that it had: the first one, the one before, or one that is named.

    A node whose value follows from others is rolled back through them, by propagation.
    """
    slots = [slot] if slot is not None else [key for key in _changed(scene) if len(values_of(scene, key)) > 1]
    for key in slots:
        had = values_of(scene, key)
        if value is not None:
            old = next((one for one in reversed(had) if same_text(one.text, value.text)), None)
        elif which == "original":
            old = had[0] if had else None
        else:
            earlier = [one for one in had if one != scene.editor.value(key)]
            old = earlier[-1] if earlier else None
        if old is None or (old == scene.editor.value(key) and value is None):
            continue
        scene.editor.set(key, old)
        scene.touch(key)
        return True
    return False


def same_text(one: str, other: str) -> bool:
    """Tell whether two values are written alike, but for case and small words."""
    return words_of(one) == words_of(other)


def _changed(scene: Scene) -> list[str]:
    """Return the slots in sight that were changed, the latest first."""
    found: dict[str, None] = {}
    for commit in reversed(scene.editor.forest.commits):
        for edit in commit.edits:
            gone = edit.before is None or edit.after is None or edit.before.value == edit.after.value
            if not gone and scene.seen(edit.node_id) and is_slot(scene, edit.node_id):
                found.setdefault(edit.node_id)
    return list(found)


def reset_to(scene: Scene, keep: Sequence[Element], container: str | None, *, but: bool = False) -> bool:
    """Leave only some items in a list; those of them that were taken out come back. With `but`, take just them out."""
    if container is None:
        for target in keep:
            for key in scene.find(target) or _gone(scene, target):
                parents = [parent for parent in scene.editor.node(key).parents if scene.seen(parent)]
                if parents and scene.editor.node(key).kind is NodeKind.ITEM:
                    container = parents[0]
                    break
            if container:
                break
        container = container or next(iter(scene.containers()), None)
    if container is None:
        return False
    kept: list[str] = []
    for target in keep:
        found = (
            scene.find(target, among=scene.editor.items(container))
            or [key for key in _gone(scene, target) if container in scene.editor.node(key).parents][:1]
        )
        kept += found or ([] if but else add_items(scene, container, [target]))
    if not kept:
        return False
    items = scene.editor.items(container)
    scene.editor.reset(container, [key for key in items if key not in kept] if but else kept)
    scene.touched.append(container)
    scene.attend(container)
    return True


def split_task(scene: Scene, whole: str, parts: Sequence[Element]) -> bool:
    """Divide a task: each part has its own time and people; "the others" are those that no part names."""
    people = people_slot(scene, whole)
    everyone = scene.editor.items(people) if people else []
    taken: set[str] = set()
    named: list[tuple[str, Element, list[str] | None]] = []
    for part in parts:
        with_whom = [inner for prep, inner in part.attached if prep in ("with", "for") and inner.value is None]
        own = _people_meant(scene, everyone, [replace(part, attached=())]) if everyone else []
        crew: list[str] | None = own or (_people_meant(scene, everyone, with_whom) if with_whom else None)
        rest = (
            part.other
            or part.pronoun in ("rest", "others")
            or any(inner.other or inner.pronoun in ("rest", "others") for inner in with_whom)
        )
        if rest:
            crew = None
        taken |= set(crew or ())
        named.append((part.text or "part", part, [] if crew is None and not rest else crew))
    slots = [
        key
        for key in scene.slots(whole)
        if key == people
        or any(
            is_same_kind(scene, key, inner) for part in parts for _, inner in part.attached if inner.value is not None
        )
    ]
    made = scene.editor.split(whole, [name for name, _, _ in named], slots)
    above = scene.editor.node(whole).parents
    for key in made:  # a part stands for itself, beside what it is a part of
        scene.editor.move(key, above[0] if above else None)
        scene.editor.depend(key, Dependency(on=whole, kind="before", text="part"))
    for key, (_, part, crew) in zip(made, named, strict=True):
        for prep, inner in part.attached:
            if inner.value is not None:
                attach(scene, key, prep, inner)
        members = [one for one in everyone if one not in taken] if crew is None else crew
        if members:
            room = people_of(scene, key)
            for one in members:
                scene.editor.link(one, room)
        scene.touch(key)
    scene.attend(*made)
    scene.group = list(made)
    return True


def is_same_kind(scene: Scene, key: str, element: Element) -> bool:
    """Tell whether a slot holds a value of the kind of an element."""
    old = scene.editor.value(key)
    return old is not None and element.value is not None and old.kind is element.value.kind


def _people_meant(scene: Scene, everyone: Sequence[str], said: Sequence[Element]) -> list[str]:
    found: list[str] = []
    for element in said:
        if element.pronoun or element.count:
            spoken = [key for key in scene.group if key in everyone] or [key for key in scene.focus if key in everyone]
            found += spoken[: int(element.count or 2)]
        else:
            found += [key for key in everyone if set(element.words) and set(element.words) <= scene.words(key)]
    return list(dict.fromkeys(found))


def people_slot(scene: Scene, key: str) -> str | None:
    """Return the list of people of a task, in or out of sight."""
    for child in scene.editor.all_children(key):
        node = scene.editor.node(child)
        removed = node.status is TaskStatus.REMOVED
        if node.kind is NodeKind.SLOT and node.value is None and is_crew(node.name) and not removed:
            return child
    return None


def merge_parts(scene: Scene, said: Sequence[Element], clause: Clause) -> bool:
    """Make one of the parts of a task again, with everyone, at the time that is said."""
    whole = divided(scene)
    parts = [key for key in scene.everything() if whole is not None and is_part(scene, key, whole)]
    if whole is None:
        parts = list(dict.fromkeys(key for element in said for key in scene.find(element)))
        if len(parts) < 2:
            return False
    whole = scene.editor.merge([whole, *parts] if whole is not None else parts)
    scene.touch(whole)
    for typed in clause.values:
        if typed.value is not None and typed.value.text.lower() not in ("one", "two", "single"):
            give(scene, whole, typed.value)
    scene.attend(whole)
    return True


def give(scene: Scene, key: str, value: TaskValue) -> None:
    """Give a task a value: in the slot of its kind, or in a new one."""
    slot = scene.slot_of_kind(key, value)
    if slot is None:
        put_slot(scene, key, slot_name(value), value)
    else:
        scene.editor.set(slot, value)
        scene.touch(slot)


def divided(scene: Scene) -> str | None:
    """Return the task that was divided last and still is."""
    for key in (*scene.visible_focus(), *scene.everything()):
        whole = next((one.on for one in scene.editor.node(key).depends if one.text == "part"), None)
        if whole is not None and scene.seen(whole):
            return whole
    return None


def is_part(scene: Scene, key: str, whole: str) -> bool:
    """Tell whether a node is a part of a task that was divided."""
    return any(one.on == whole and one.text == "part" for one in scene.editor.node(key).depends)


def copy_task(scene: Scene, source: str, name: str, *, without: Sequence[Element] = (), empty: bool = False) -> str:
    """Add a task like another one; an empty one has its slots without their values, told by their shape."""
    gone = [key for element in without for key in scene.find(element, among=scene.editor.descendants(source))]
    if not empty:
        made = scene.editor.copy(source, name, gone)
        scene.touch(made)
        return made
    made = scene.editor.add(name, kind=NodeKind.TASK)
    for slot in scene.slots(source):
        value = scene.editor.value(slot)
        if value is not None:
            scene.editor.add(
                scene.editor.node(slot).name, parent=made, kind=NodeKind.SLOT, aliases=(f"shape:{shape_of(value)}",)
            )
    scene.touch(made)
    return made
