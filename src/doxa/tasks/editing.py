"""Acts on the task forest: what a turn does, carried out over the forest as it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from doxa.core.errors import TaskCycleError, TaskError
from doxa.core.tasks import Dependency, NodeKind, TaskNode, TaskStatus, TaskValue
from doxa.language import stems
from doxa.tasks.inverse import Undone, rolled_back, undone, value_of_old
from doxa.tasks.overlay import Overlay
from doxa.tasks.propagation import Moved, ShiftBy, propagated, rest_on

__all__ = ["Editor"]

MOST_COPIED = 5_000
"""Nodes that one change may copy: copies of copies double what there is."""


class Editor(Overlay):
    """Carries out acts on a forest that stays as it is; `edits()` are the net changes.

    It reads like the forest (`node`, `children`, `value`, `visible`, `path`, `find`, ...), with the changes so far. An
    act that raises has changed nothing.
    """

    _copied = 0

    # -- one node

    def add(
        self,
        name: str,
        parent: str | None = None,
        *,
        kind: NodeKind = NodeKind.SLOT,
        value: TaskValue | None = None,
        aliases: Sequence[str] = (),
        bound: int | None = None,
    ) -> str:
        """Add a node after the other children of its parent, or a root, and return its id."""
        if not name.strip():
            raise TaskError("A task node needs a name; an empty one was given.")
        if kind is NodeKind.LOOP and (bound is None or bound < 1):
            raise TaskError(f"A loop needs a bound of at least 1; {bound} was given.")
        if parent is not None:
            self._known(parent)
        parents, places = ((parent,), (self.last_place(parent),)) if parent is not None else ((), ())
        node = TaskNode(
            node_id=self.new_id(),
            name=name,
            kind=kind,
            value=value,
            parents=parents,
            places=places,
            aliases=tuple(aliases),
            bound=bound,
        )
        self.write(node)
        return node.node_id

    def set(self, node_id: str, value: TaskValue | None) -> None:
        """Give a node a value, or none. A value that it follows by a rule is left at this one for this turn."""
        self._set[node_id] = self.mark()
        self.change(node_id, value=value)

    def rename(self, node_id: str, name: str) -> None:
        """Give a node another name; the one that it had finds it as well."""
        node = self._known(node_id)
        if not name.strip():
            raise TaskError("A task node needs a name; an empty one was given.")
        if name != node.name:
            aliases = dict.fromkeys((*(a for a in node.aliases if a != name), node.name))
            self.change(node_id, name=name, aliases=tuple(aliases))

    def alias(self, node_id: str, *names: str) -> None:
        """Note other names for a node."""
        node = self._known(node_id)
        self.change(node_id, aliases=tuple(dict.fromkeys((*node.aliases, *names))))

    def status(self, node_id: str, status: TaskStatus) -> None:
        """Say where a node stands."""
        self.change(node_id, status=status)

    def share(self, node_id: str, users: Iterable[str]) -> None:
        """Note with whom a node is shared."""
        self.change(node_id, shared_with=tuple(dict.fromkeys(users)))

    def done(self, node_id: str) -> None:
        """Say that a node is done."""
        self.change(node_id, status=TaskStatus.DONE)

    def remove(self, node_id: str) -> None:
        """Take a node out of sight everywhere, with what is under nothing else in sight."""
        self.change(node_id, status=TaskStatus.REMOVED)

    def restore(self, node_id: str) -> None:
        """Bring a node back where it was, with what is under it."""
        self.change(node_id, status=TaskStatus.ACTIVE)

    # -- where it is

    def link(self, child: str, parent: str) -> None:
        """Put a node under one more parent, after its other children; one that was removed is there alone.

        Raises:
            TaskCycleError: it would be under itself.
        """
        node = self._known(child)
        self._known(parent)
        standing = node.status.standing
        links = self.links(child) if standing else {}
        place = self.links(child).get(parent, self.last_place(parent))
        self.relink(child, {**links, parent: place}, None if standing else TaskStatus.ACTIVE)

    def unlink(self, child: str, parent: str) -> None:
        """Take a node from one parent; from its last one, it is removed."""
        links = self.links(child)
        if parent not in links:
            return
        if len(links) == 1:
            self.change(child, status=TaskStatus.REMOVED)
        else:
            self.relink(child, {key: place for key, place in links.items() if key != parent})

    def move(self, node_id: str, new_parent: str | None, old_parent: str | None = None) -> None:
        """Put a node under another parent instead of one, or of all; None makes it a root. It is in sight then.

        Raises:
            TaskCycleError: it would be under itself.
        """
        links = self.links(node_id)
        left = {key: place for key, place in links.items() if old_parent is not None and key != old_parent}
        if new_parent is not None:
            left[new_parent] = links.get(new_parent, self.last_place(new_parent))
        standing = self._known(node_id).status.standing
        self.relink(node_id, left if new_parent is not None else {}, None if standing else TaskStatus.ACTIVE)

    def swap(self, a: str, b: str) -> None:
        """Let two nodes change their values, or, where one has none, their values and children.

        Raises:
            TaskCycleError: something would be under itself.
        """
        first, second, mark = self._known(a), self._known(b), self.mark()
        self.change(a, value=second.value)
        self.change(b, value=first.value)
        if first.value is not None and second.value is not None:
            return
        sides = {a: b, b: a}
        children = dict.fromkeys((*self.all_children(a), *self.all_children(b)))
        for child in children:
            self.place(child, {sides.get(parent, parent): place for parent, place in self.links(child).items()})
        try:
            for child in children:
                self.check_links(child, self.links(child))
        except TaskCycleError:
            self.back(mark)
            raise

    def replace(self, old: str, new_name: str, within: Collection[str] | None = None) -> str:
        """Let another node take the place of one, everywhere or within some parents, and return its id.

        A node of that name that is, or was, under one of these parents is taken again; under none does it come twice.
        What depends on one that is replaced everywhere depends on the other then; a new one waits for what it did.
        """
        node, links = self._known(old), self.links(old)
        where = {p: place for p, place in links.items() if (self.opens(p) if within is None else p in within)}
        if within is not None and not where:
            raise TaskError(f"{node.name!r} is under none of the given nodes.")
        new = self._named_like(new_name, node, where)
        known: dict[str, float] = {}
        status = TaskStatus.ACTIVE
        if new is None:
            new = self.new_id()
            self.write(TaskNode(node_id=new, name=new_name, kind=node.kind, depends=node.depends))
            status = TaskStatus.BLOCKED if node.status is TaskStatus.BLOCKED else status
        elif self.node(new).status.standing:
            known = self.links(new)
        self.relink(new, {**known, **{p: place for p, place in where.items() if p not in known}}, status)
        left = {parent: place for parent, place in links.items() if parent not in where}
        if within is None or not any(self.opens(parent) for parent in left):
            self.change(old, status=TaskStatus.REPLACED)
            self._follow_instead(old, new)
        else:
            self.relink(old, left)
        return new

    def _follow_instead(self, old: str, new: str) -> None:
        """Let what depends on a node depend on another one, except where that would wait for itself then."""
        for key in self.dependents(old):
            needs = dict.fromkeys(replace(d, on=new) if d.on == old else d for d in self.node(key).depends)
            mark = self.mark()
            self.change(key, depends=tuple(needs))
            try:
                self.check_needs(key)
            except TaskCycleError:
                self.back(mark)

    def _named_like(self, name: str, old: TaskNode, parents: Iterable[str]) -> str | None:
        """Return a node of a name and kind that is, or was, under one of these parents; one in sight comes first."""
        siblings = {child for parent in parents for child in self.all_children(parent)} - {old.node_id}
        same = (
            key for key in siblings if self.node(key).kind is old.kind and stems(self.node(key).name) == stems(name)
        )
        return min(same, key=lambda key: (not self.visible(key), -int(key[1:])), default=None)

    # -- several

    def copy(self, node_id: str, name: str, without: Collection[str] = ()) -> str:
        """Add a node like another one, beside it, and return its id: slots are copied, items are shared.

        Args:
            node_id: what to copy.
            name: what the copy is called.
            without: ids or names of what is left out.

        Raises:
            TaskError: too much was copied in one change.
        """
        left_out = {one.casefold() for one in without}
        node = self._known(node_id)
        made = {node_id: self._twin(node, name, {p: self.last_place(p) for p in node.parents if self.opens(p)})}
        waiting = [node_id]
        while waiting:
            source = waiting.pop(0)
            for child in self.children(source):
                one = self.node(child)
                if child in left_out or one.name.casefold() in left_out or self.label(child).casefold() in left_out:
                    continue
                place = self.links(child)[source]
                if child in made or one.kind is NodeKind.ITEM:
                    shared = made.get(child, child)
                    self.relink(shared, {**self.links(shared), made[source]: place})
                else:
                    made[child] = self._twin(one, one.name, {made[source]: place})
                    waiting.append(child)
        for twin in made.values():
            needs = self.node(twin).depends
            self.change(twin, depends=tuple(replace(d, on=made.get(d.on, d.on)) for d in needs))
        return made[node_id]

    def _twin(self, node: TaskNode, name: str, links: dict[str, float]) -> str:
        self._copied += 1
        if self._copied > MOST_COPIED:
            raise TaskError(
                f"One change may copy {MOST_COPIED:,} nodes of the tasks. Nothing was done; do it in parts."
            )
        new = self.new_id()
        self.write(
            replace(node, node_id=new, name=name, parents=tuple(links), places=tuple(links.values()), aliases=())
            if name != node.name
            else replace(node, node_id=new, parents=tuple(links), places=tuple(links.values()))
        )
        return new

    def split(self, node_id: str, names: Sequence[str], slots: Iterable[str] = ()) -> list[str]:
        """Divide a node into parts, tasks under it, and return their ids.

        Args:
            node_id: what to divide.
            names: what the parts are called.
            slots: slots of the whole that each part has for itself; they are out of sight until `merge`.
        """
        parts = [self.add(name, node_id, kind=NodeKind.TASK) for name in names]
        for slot in slots:
            self.change(slot, status=TaskStatus.REPLACED)
        return parts

    def merge(self, ids: str | Sequence[str]) -> str:
        """Make one of the parts of a node, or of several nodes, and return its id.

        Of a node that was divided, the slots of the whole are in sight again; otherwise the first one takes in what the
        others have and it has not. Lists of the same name are joined.
        """
        if isinstance(ids, str):
            whole, parts = ids, [c for c in self.children(ids) if self.node(c).kind in (NodeKind.TASK, NodeKind.LOOP)]
        else:
            parts = list(dict.fromkeys(ids))
            above = [set(self._known(part).parents) for part in parts]
            common = set.intersection(*above) if above else set()
            if not parts:
                raise TaskError("There is nothing to merge: no nodes were given.")
            divided = (p for p in self.node(parts[0]).parents if p in common and self._was_divided(p, parts))
            whole = next(divided, parts[0])
        for slot in self.all_children(whole):
            if self.node(slot).status is TaskStatus.REPLACED and self.node(slot).kind is NodeKind.SLOT:
                self.change(slot, status=TaskStatus.ACTIVE)
        for part in parts:
            if part != whole:
                self._take_in(whole, part)
                self.change(part, status=TaskStatus.REPLACED)
        return whole

    def _was_divided(self, node_id: str, parts: Collection[str]) -> bool:
        """Tell whether these are the parts of a node: all tasks in sight under it."""
        return {child for child in self.children(node_id) if self.node(child).kind is NodeKind.TASK} == {*parts}

    def _take_in(self, whole: str, part: str) -> None:
        """Put what a part has under the whole; of what both have, only the items."""
        for child in self.children(part):
            node = self.node(child)
            same = self.child(whole, node.name)
            if same == child:
                continue
            if same is None:
                self.link(child, whole)
            elif node.kind is not NodeKind.ITEM:
                self._take_in(same, child)

    def reset(self, parent: str, keep: Collection[str]) -> None:
        """Leave under a node these children alone: the items, where it has any; what was removed comes back."""
        children = self.children(parent)
        items = [child for child in children if self.node(child).kind is NodeKind.ITEM]
        for child in items or children:
            if child not in keep:
                self.unlink(child, parent)
        for child in keep:
            if not self.visible(child) or parent not in self.links(child):
                self.link(child, parent)

    # -- dependencies

    def depend(self, node_id: str, dependency: Dependency) -> None:
        """Let a node depend on something; on a condition, it is blocked until that settles.

        Raises:
            TaskCycleError: it would wait for itself.
        """
        self.add_dependency(node_id, dependency)
        if dependency.kind == "derived":
            self._set.pop(node_id, None)
        if dependency.kind == "condition":
            self.change(node_id, status=TaskStatus.BLOCKED)

    def undepend(self, node_id: str, dependency: Dependency | None = None) -> None:
        """Let a node no longer depend on something, or on anything."""
        node = self._known(node_id)
        left = () if dependency is None else tuple(one for one in node.depends if one != dependency)
        self.change(node_id, depends=left)

    def settle(self, node_id: str, *, holds: bool) -> None:
        """Settle the stated condition of a node: it goes on, or it is removed."""
        left = tuple(one for one in self._known(node_id).depends if one.kind != "condition")
        self.change(node_id, status=TaskStatus.ACTIVE if holds else TaskStatus.REMOVED, depends=left)

    def propagate(self, shift: ShiftBy) -> list[Moved]:
        """Carry all changes so far to what depends on them, and return what moved because of what, in order.

        Derived values are computed by `shift(value, amount, unit)`. What waits for a node that is gone is blocked; what
        waited for one that is done, or there again, goes on.
        """
        return propagated(self, shift, self._set)

    def fact(self, fact_id: str, *, holds: bool) -> list[Moved]:
        """Block what rests on a fact that no longer holds, or let it go on, and return what moved."""
        return rest_on(self, fact_id, holds=holds)

    def repeat(self, loop: str) -> int:
        """Begin the next round of a loop, all under it to be done again, and return its number.

        Raises:
            TaskError: it is no loop, or it was gone through as often as its bound allows.
        """
        node = self._known(loop)
        if node.kind is not NodeKind.LOOP or node.bound is None:
            raise TaskError(f"{node.name!r} is no loop; only a loop node with a bound may be repeated.")
        if node.round >= node.bound:
            raise TaskError(f"{node.name!r} was gone through again {node.round} times, which is its bound.")
        for key in self.descendants(loop):
            if self.node(key).status is TaskStatus.DONE:
                self.change(key, status=TaskStatus.ACTIVE)
        self.change(loop, round=node.round + 1, status=TaskStatus.ACTIVE)
        return node.round + 1

    # -- taking back

    def undo(self, number: int) -> Undone:
        """Take back what a commit did to the fields that no later one changed; the others stay, and are reported.

        What it had added is removed. Taking back an undo does again what that had taken back.

        Raises:
            NotFoundError: there is no such commit.
        """
        return undone(self, number)

    def rollback(self, node_id: str | None, to: int | str) -> list[str]:
        """Go back to an earlier value of a node, or to how it and all under it were after a commit; None is everything.

        Args:
            node_id: the node.
            to: the number of a commit, or the text of a value that the node had.

        Returns:
            The ids of what changed.

        Raises:
            NotFoundError: the node never had that value.
            TaskCycleError: with what is outside of it as it is now, something would be under itself.
        """
        if isinstance(to, int):
            return rolled_back(self, node_id, to)
        if node_id is None:
            raise TaskError("A value is that of a node; none was given.")
        mark = self.mark()
        self.set(node_id, value_of_old(self, node_id, to))
        return [node_id] if self.mark() > mark else []
