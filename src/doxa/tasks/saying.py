"""saying: changes and state -> words. What is said of the tasks comes from their state, never from the conversation."""

from __future__ import annotations

from collections.abc import Sequence

from doxa.core.tasks import NodeKind, TaskEdit, TaskNode, TaskStatus
from doxa.tasks.propagation import Moved
from doxa.tasks.scene import Scene

__all__ = ["changes_told", "compact", "described", "joined", "named", "said_of", "sentence", "summary", "value_text"]

PLAIN = frozenset("day date time location price quantity colour size start destination for note".split())


def joined(parts: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    parts = [part for part in parts if part]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def sentence(text: str) -> str:
    """Return a text as a sentence."""
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}" if text else ""


def named(scene: Scene, key: str) -> str:
    """Return what a node is called where it stands alone: a slot with what it is a slot of."""
    node = scene.editor.node(key)
    if node.kind is NodeKind.SLOT and node.parents:
        above = scene.editor.node(next((p for p in node.parents if scene.seen(p)), node.parents[0]))
        if not set(above.name.lower().split()) & set(node.name.lower().split()):
            return f"{above.name} {node.name}"
    return scene.editor.label(key) if node.kind is NodeKind.ITEM else node.name


def value_text(scene: Scene, key: str) -> str:
    """Return what stands under a node in one phrase."""
    shown = scene.editor.exported(key)
    return joined(shown) if isinstance(shown, list) else shown or ""


def described(scene: Scene, key: str, *, deep: bool = True) -> str:
    """Return a task with its slots and items in one line."""
    editor = scene.editor
    parts: list[str] = []
    items = editor.items(key)
    if items:
        parts.append(joined([_item(scene, item) for item in items]))
    elif editor.value(key) is not None and value_text(scene, key):
        parts.append(value_text(scene, key))
    for child in editor.current(key):
        node = editor.node(child)
        if node.kind is NodeKind.ITEM:
            continue
        below = editor.current(child)
        if node.kind is NodeKind.SLOT and not [one for one in below if editor.node(one).kind is not NodeKind.ITEM]:
            text = value_text(scene, child)
            if text:
                parts.append(f"{node.name}: {text}")
        elif deep:
            inner = compact(scene, child)
            parts.append(f"{node.name}{f' ({inner})' if inner else ''}")
    name = editor.node(key).name
    done = " (done)" if editor.node(key).status is TaskStatus.DONE else ""
    return f"{name}{done}: {'; '.join(parts)}" if parts else f"{name}{done}"


def compact(scene: Scene, key: str) -> str:
    """Return what is under a node without the names of plain slots."""
    editor = scene.editor
    parts = [joined([_item(scene, item) for item in editor.items(key)])] if editor.items(key) else []
    parts += [value_text(scene, key)] if editor.value(key) is not None else []
    for child in editor.current(key):
        node = editor.node(child)
        if node.kind is NodeKind.ITEM:
            continue
        inner = compact(scene, child)
        if not inner:
            parts.append(node.name)
        elif node.kind is NodeKind.SLOT and not editor.items(child):
            plain = node.name in PLAIN
            parts.append(inner if plain else f"{node.name}: {inner}")
        else:
            parts.append(f"{node.name}: {inner}")
    return ", ".join(parts)


def _item(scene: Scene, key: str) -> str:
    label = scene.editor.label(key)
    told = [_item(scene, item) for item in scene.editor.items(key)]
    for child in scene.editor.current(key):
        if scene.editor.node(child).kind is NodeKind.ITEM:
            continue
        text, name = value_text(scene, child), scene.editor.node(child).name
        if text and text.lower() not in label.lower().split():
            told.append(f"{name} {text}" if name == "size" else text)
    return f"{label} ({', '.join(told)})" if told else label


def summary(scene: Scene, roots: Sequence[str]) -> str:
    """Return tasks with everything that stands, one a line."""
    return "\n".join(sentence(described(scene, root)) for root in roots) or "There are no tasks."


def said_of(scene: Scene, edits: Sequence[TaskEdit], moved: Sequence[Moved]) -> str:
    """Return what a turn changed, in words."""
    told: list[str] = []
    follows = {one.node_id: one.because for one in moved}
    order = {key: i for i, key in enumerate(dict.fromkeys(scene.touched))}
    for edit in sorted(edits, key=lambda one: order.get(one.node_id, len(order))):
        text = _edit(scene, edit.before, edit.after, follows.get(edit.node_id))
        if text and text not in told:
            told.append(text)
    shown = told[:8]
    return " ".join(sentence(part) for part in shown)


def changes_told(scene: Scene, edits: Sequence[TaskEdit]) -> dict[str, str]:
    """Return what is said of each change, by the id of its node; empty where nothing is."""
    return {edit.node_id: _edit(scene, edit.before, edit.after, None) for edit in edits}


def _edit(scene: Scene, before: TaskNode | None, after: TaskNode | None, because: str | None) -> str:
    node = after or before
    if node is None:
        return ""
    name = named(scene, node.node_id)
    if after is None or not after.status.standing:
        if before is not None and before.waits and after is not None and after.status is TaskStatus.REPLACED:
            return ""  # what it waited for came true, and what was to be done then is told by itself
        if (
            before is not None
            and before.status.standing
            and (node.kind is not NodeKind.SLOT or before.value is not None)
        ):
            return f"{name} is {'replaced' if after is not None and after.status is TaskStatus.REPLACED else 'out'}"
        return ""
    if before is None or not before.status.standing:
        return _new(scene, after, name)
    if before.value != after.value and after.value is not None and after.value.text:
        why = f", since {named(scene, because)} moved" if because and scene.editor.get(because) is not None else ""
        return f"{name} is now {after.value.text}{why}"
    if before.parents != after.parents:
        above = [scene.editor.node(parent).name for parent in after.parents if scene.seen(parent)]
        return f"{name} is under {joined(above)} now" if above else ""
    if before.status is not after.status:
        return f"{name} is {after.status}"
    return f"{before.name} is now called {after.name}" if before.name != after.name else ""


def _new(scene: Scene, node: TaskNode, name: str) -> str:
    if node.waits:
        condition = next(one.text for one in node.depends if one.kind == "condition")
        return f"noted for the case that {condition}: {node.name}"
    if node.kind is NodeKind.ITEM:
        above = next((scene.editor.node(parent).name for parent in node.parents if scene.seen(parent)), "")
        return f"{name} is in {above} now" if above else f"{name} is in"
    text = value_text(scene, node.node_id)
    if node.kind is NodeKind.SLOT:
        return f"{name}: {text}" if text and not scene.editor.items(node.node_id) else ""
    return f"new: {name}"
