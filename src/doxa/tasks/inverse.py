"""Taking back: what one commit did, or all since an earlier moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from doxa.core.errors import NotFoundError, TaskCycleError
from doxa.core.tasks import TaskEdit, TaskNode, TaskStatus, TaskValue
from doxa.tasks.overlay import Overlay

__all__ = ["Undone", "rolled_back", "undone", "value_of_old"]

LINKS = ("parents", "places")
SETS = ("depends", "aliases", "shared_with")
SCALARS = tuple(f.name for f in fields(TaskNode) if f.name not in ("node_id", *LINKS, *SETS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What was taken back, and what was not because it was changed again since."""

    nodes: tuple[str, ...] = ()
    kept: tuple[tuple[str, str], ...] = ()
    """Node ids and names of fields, which stay as a later commit made them."""
    number: int | None = None
    """The number of the commit that took it back; None until there is one."""

    def __bool__(self) -> bool:
        return bool(self.nodes)


def undone(tree: Overlay, number: int) -> Undone:
    """Take back what a commit did to the fields that are still as it left them.

    Raises:
        NotFoundError: there is no such commit.
    """
    commit = tree.forest.commit(number)
    if commit is None:
        raise NotFoundError(f"There is no change number {number} of the tasks.")
    kept: list[tuple[str, str]] = []
    nodes: list[str] = []
    for edit in commit.edits:
        mark = tree.mark()
        kept += ((edit.node_id, name) for name in _take_back(tree, edit))
        if tree.mark() > mark:
            nodes.append(edit.node_id)
    for edit in commit.edits:
        kept += ((edit.node_id, name) for name in _uncircled(tree, edit.node_id))
    return Undone(nodes=tuple(nodes), kept=tuple(kept))


def _uncircled(tree: Overlay, node_id: str) -> list[str]:
    """Leave the links of a node as they were where they would close a circle; return the fields that stay."""
    was, now = tree.forest.get(node_id), tree.get(node_id)
    if was is None or now is None:
        return []
    left: list[str] = []
    try:
        if _links(was) != _links(now):
            tree.check_links(node_id, now.parents)
    except TaskCycleError:
        tree.place(node_id, _links(was), was.status)
        left.append("parents")
    try:
        if was.depends != now.depends:
            tree.check_needs(node_id)
    except TaskCycleError:
        tree.change(node_id, depends=was.depends)
        left.append("depends")
    return left


def _take_back(tree: Overlay, edit: TaskEdit) -> list[str]:
    """Take one edit back, and return the fields that stay."""
    now = tree.get(edit.node_id)
    if now is None or edit.after is None:
        return []
    if edit.before is None:
        if now.status.standing:
            tree.change(edit.node_id, status=TaskStatus.REMOVED)
        return []
    before, after, kept = edit.before, edit.after, []
    changes: dict[str, Any] = {}
    for name in SCALARS:
        was, made, current = getattr(before, name), getattr(after, name), getattr(now, name)
        if was != made and current == made:
            changes[name] = was
        elif was != made and current != was:
            kept.append(name)
    for name in SETS:
        was, made, current = getattr(before, name), getattr(after, name), getattr(now, name)
        if was != made:
            changes[name] = was if current == made else _without(current, was, made)
    tree.change(edit.node_id, **changes)
    if list(_links(before).items()) != list(_links(after).items()) and not _unlink(tree, before, after):
        kept.append("parents")
    return kept


def _without(current: tuple[Any, ...], was: tuple[Any, ...], made: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what there is, without what was added, and with what was taken away."""
    left = [one for one in current if one in was or one not in made]
    return (*left, *(one for one in was if one not in made and one not in left))


def _links(node: TaskNode) -> dict[str, float]:
    return dict(zip(node.parents, node.places or (0.0,) * len(node.parents), strict=True))


def _unlink(tree: Overlay, before: TaskNode, after: TaskNode) -> bool:
    """Put a node back to where it was; False where it was moved again since."""
    was, made, now = _links(before), _links(after), tree.links(after.node_id)
    added, taken = made.keys() - was.keys(), was.keys() - made.keys()
    if now == made:
        links = was
    elif taken and not added <= now.keys():
        return False
    else:
        links = {parent: place for parent, place in now.items() if parent not in added}
        links |= {parent: was[parent] for parent in was if parent in taken}
        links |= {p: was[p] for p in was if p in links and now.get(p) == made.get(p)}
    if links or not was:
        tree.place(after.node_id, links)
    else:  # it would be left under nothing
        tree.change(after.node_id, status=TaskStatus.REMOVED)
    return True


def value_of_old(tree: Overlay, node_id: str, text: str) -> TaskValue:
    """Return the latest earlier value of a node that reads so (in any case).

    Raises:
        NotFoundError: it never had that value.
    """
    for _, before, after in reversed(tree.forest.revisions(node_id)):
        for node in (after, before):
            if node is not None and node.value is not None and node.value.text.casefold() == text.casefold():
                return node.value
    raise NotFoundError(f"{tree.node(node_id).name!r} never was {text!r}.")


def rolled_back(tree: Overlay, node_id: str | None, number: int) -> list[str]:
    """Bring a node and what is under it, or everything, back to how it was after a commit; return what changed.

    Raises:
        TaskCycleError: with what is outside of it as it is now, something would be under itself; nothing is changed.
    """
    later = (edit.node_id for commit in tree.forest.commits if commit.number > number for edit in commit.edits)
    mark = tree.mark()
    touched = dict.fromkeys(later)
    scope = _scope(tree, node_id, number, touched)
    versions = {key: _version(tree, key, number) for key in scope}
    for key, then in versions.items():
        now = tree.node(key)
        if then is None:
            if now.status.standing:
                tree.change(key, status=TaskStatus.REMOVED)
            continue
        tree.change(key, **{name: getattr(then, name) for name in (*SCALARS, *SETS)})
    for key, then in versions.items():
        if then is not None and key != node_id:
            inside = None if node_id is None else {*scope, node_id, *tree.descendants(node_id)}
            _restore_links(tree, key, _links(then), inside, number)
    try:
        for key in scope:
            tree.check_links(key, tree.node(key).parents)
            tree.check_needs(key)
    except TaskCycleError:
        tree.back(mark)
        raise
    return list(dict.fromkeys(key for key, _ in tree.changes_since(mark)))


def _restore_links(tree: Overlay, key: str, then: dict[str, float], inside: set[str] | None, number: int) -> None:
    """Put a node back under its parents of then; links to other tasks stay as they are."""
    now = tree.links(key)
    if inside is None:
        links = then
    else:
        moved = _moved_out(tree, key, number, inside)
        links = {parent: place for parent, place in now.items() if parent not in inside and parent not in moved}
        links |= {parent: place for parent, place in then.items() if parent in inside}
        order = then if links == then else dict.fromkeys((*now, *then))  # the first parent gives the path
        links = {parent: links[parent] for parent in order if parent in links}
    if (links or not now or not then) and list(links.items()) != list(now.items()):
        tree.place(key, links)


def _moved_out(tree: Overlay, key: str, number: int, inside: set[str]) -> set[str]:
    """Return the parents that a node came under, since a commit, in place of one of these."""
    found: set[str] = set()
    for at, before, after in tree.forest.revisions(key):
        if at > number and before is not None and after is not None:
            lost, gained = set(before.parents) - set(after.parents), set(after.parents) - set(before.parents)
            found |= gained - inside if lost & inside else set()
    return found


def _version(tree: Overlay, node_id: str, number: int) -> TaskNode | None:
    """Return a node as it was after a commit; None where there was none yet."""
    for at, _, after in reversed(tree.forest.revisions(node_id)):
        if at <= number:
            return after
    return None


def _scope(tree: Overlay, node_id: str | None, number: int, touched: Iterable[str]) -> list[str]:
    """Return those of the touched nodes that are under a node now, or were then."""
    if node_id is None:
        return list(touched)
    now = {node_id, *tree.descendants(node_id)}

    def was_under(key: str) -> bool:
        waiting, seen = [key], set[str]()
        while waiting:
            current = waiting.pop()
            if current == node_id:
                return True
            then = _version(tree, current, number)
            if then is not None and current not in seen:
                seen.add(current)
                waiting += then.parents
        return False

    return [key for key in touched if key in now or was_under(key)]
