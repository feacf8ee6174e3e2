"""What a turn changed of the tasks, node by node, as people read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from doxa.core.tasks import Forest, TaskEdit, TaskNode

__all__ = ["Difference", "differences", "differences_at"]


class Difference(NamedTuple):
    """What a turn changed of one node."""

    mark: str
    """"+" it came in sight, "-" it went, "~" it is otherwise than it was."""
    path: str
    change: str = ""

    def __str__(self) -> str:
        return f"{self.mark} {self.path}" + (f": {self.change}" if self.change else "")


def differences(edits: Iterable[TaskEdit], forest: Forest) -> list[Difference]:
    """Return what some edits changed, node by node, in their order; paths are those of the forest."""
    views = (*forest.nodes, *forest.hidden)
    paths = {view.node.node_id: view.path for view in views}
    return differences_at(edits, paths, {view.node.node_id: view.node.name for view in views})


def differences_at(edits: Iterable[TaskEdit], paths: Mapping[str, str], names: Mapping[str, str]) -> list[Difference]:
    """Return what some edits changed, node by node, in their order; of nodes by id the paths and names as they are."""
    found: list[Difference] = []
    for edit in edits:
        node = edit.after or edit.before
        if node is None:
            continue
        path = paths.get(edit.node_id, node.name)
        was, now = _stands(edit.before), _stands(edit.after)
        if was != now:
            found.append(Difference("+" if now else "-", path, "" if node.value is None else node.value.text))
        elif edit.before is not None and edit.after is not None:
            found.append(Difference("~", path, "; ".join(_changes(edit.before, edit.after, names))))
    return found


def _stands(node: TaskNode | None) -> bool:
    return node is not None and node.status.standing


def _changes(before: TaskNode, after: TaskNode, names: Mapping[str, str]) -> list[str]:
    """Return what is otherwise in a node, as "was -> is"."""

    def listed(keys: Iterable[str]) -> str:
        return ", ".join(names.get(key, key) for key in keys) or "nothing"

    pairs = [
        ("", before.value and before.value.text, after.value and after.value.text),
        ("", before.status, after.status),
        ("name ", before.name, after.name),
        ("under ", listed(before.parents), listed(after.parents)),
        ("round ", before.round, after.round),
        ("shared with ", ", ".join(before.shared_with), ", ".join(after.shared_with)),
    ]
    told = [f"{what}{was or 'nothing'} -> {now or 'nothing'}" for what, was, now in pairs if was != now]
    if before.depends != after.depends:
        told.append(f"waits for or follows {listed(one.text or one.on for one in after.depends)}")
    return told or ["other names or places"]
