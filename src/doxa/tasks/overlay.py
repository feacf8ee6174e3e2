"""Changes of a task forest that are not made yet: a layer over it, with checkpoints, that gives the net edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from doxa.core.errors import TaskCycleError, TaskError
from doxa.core.tasks import Dependency, TaskEdit, TaskNode, TaskStatus, TaskValue
from doxa.memory import TaskForest, TaskTree, place_of

__all__ = ["Overlay"]


class Overlay(TaskTree):
    """A forest with changes of one turn over it; the forest stays as it is. Cost: what is changed."""

    def __init__(self, forest: TaskForest) -> None:
        super().__init__(forest)
        self.forest = forest
        self._log: list[tuple[str, TaskNode | None]] = []
        self._given = forest.last_id
        self._once = True
        """No node was written twice, so that each differs from what is below."""
        self._set: dict[str, int] = {}
        """The nodes that were given a value, with where the log stood then."""

    def edits(self) -> tuple[TaskEdit, ...]:
        """Return the net changes, in the order in which the nodes were touched last."""
        was, of = self._base.get, TaskEdit.of
        if self._once:
            return tuple([of(key, was(key), node) for key, node in self._nodes.items()])
        return tuple([of(key, was(key), node) for key, node in self._nodes.items() if was(key) != node])

    def changed(self) -> list[str]:
        """Return the ids of the nodes that differ from the forest."""
        return [key for key, node in self._nodes.items() if self._base.get(key) != node]

    @property
    def layer(self) -> Mapping[str, TaskNode]:
        """The nodes that were written, those that were touched last at the end."""
        return self._nodes

    def mark(self) -> int:
        """Return a checkpoint."""
        return len(self._log)

    def back(self, mark: int) -> None:
        """Take back everything since a checkpoint."""
        self._once = False
        while len(self._log) > mark:
            key, before = self._log.pop()
            self.put(key, before)
        self._set = {key: at for key, at in self._set.items() if at < mark}

    def changes_since(self, mark: int) -> list[tuple[str, TaskNode | None]]:
        """Return what was written since a checkpoint: ids, and what was there before."""
        return self._log[mark:]

    def write(self, node: TaskNode) -> None:
        """Set a node as a whole."""
        self._write(self.get(node.node_id), node)

    def revalue(self, node: TaskNode, value: TaskValue | None) -> TaskNode:
        """Give a node, as it is now, another value, and return it."""
        after, key = node.valued(value), node.node_id
        self._log.append((key, node))
        if self._nodes.pop(key, None) is not None:
            self._once = False
        self._nodes[key] = after
        return after

    def carry_over(self, edits: Iterable[TaskEdit]) -> None:
        """Change what another editor of the same forest changed; call it before anything is added."""
        for edit in edits:
            if edit.after is not None:
                self.write(edit.after)
                self._given = max(self._given, int(edit.node_id[1:]))

    def _write(self, before: TaskNode | None, node: TaskNode) -> None:
        self._log.append((node.node_id, before))
        self._once = self._once and node.node_id not in self._nodes
        self._swap(node.node_id, before, node)

    def change(self, node_id: str, **fields: Any) -> None:
        """Set fields of a node; nothing is written where they are as they were."""
        node = self._known(node_id)
        after = replace(node, **fields)
        if after != node:
            self.write(after)

    def links(self, node_id: str) -> dict[str, float]:
        """Return the parents of a node, with its place among the children of each."""
        return {parent: place_of(node, parent) or 0.0 for node in (self._known(node_id),) for parent in node.parents}

    def relink(self, node_id: str, links: Mapping[str, float], status: TaskStatus | None = None) -> None:
        """Put a node under these parents, at these places, and nowhere else.

        Raises:
            TaskCycleError: it would be under itself.
        """
        self.check_links(node_id, links)
        self.place(node_id, links, status)

    def place(self, node_id: str, links: Mapping[str, float], status: TaskStatus | None = None) -> None:
        """Do what `relink` does, unchecked: of several moves, only the last one has to leave no circle."""
        fields: dict[str, Any] = {"parents": tuple(links), "places": tuple(links.values())}
        self.change(node_id, **fields, **({} if status is None else {"status": status}))

    def check_links(self, node_id: str, parents: Iterable[str]) -> None:
        """Raise TaskCycleError where a node would be under itself."""
        for parent in parents:
            self._known(parent)
            circle = self._way(parent, node_id, lambda key: self.node(key).parents)
            if circle:
                raise TaskCycleError([self.node(key).name for key in (node_id, *circle)], "under")

    def check_depth(self, most: int) -> None:
        """Raise TaskError where a node that was written is more than so many levels deep, or what is under it."""
        for key in self._nodes:
            above = self._levels((key,), lambda one: self.node(one).parents, most)
            below = self._levels((key,), self.all_children, most)
            if above + below - 1 > most:
                raise TaskError(f"Tasks may be {most} levels deep here, these would have more. Nothing was done.")

    def _levels(self, start: Iterable[str], steps: Callable[[str], Iterable[str]], most: int) -> int:
        """Return how many levels there are from some nodes on, as far as it matters."""
        level, count = {*start}, 0
        while level and count <= most:
            level, count = {step for key in level for step in steps(key)}, count + 1
        return count

    def check_needs(self, node_id: str) -> None:
        """Raise TaskCycleError where a node would wait for itself."""
        for needed in self.needs(node_id):
            circle = self._way(needed, node_id, self.needs)
            if circle:
                raise TaskCycleError([self.node(key).name for key in (node_id, *circle)], "waiting for")

    def last_place(self, parent: str) -> float:
        """Return the place after the last child of a node."""
        entries = self._under.of(parent)
        return entries[-1][0] + 1.0 if entries else 1.0

    def new_id(self) -> str:
        """Return an id that no node has had."""
        self._given += 1
        return f"n{self._given}"

    def add_dependency(self, node_id: str, needed: Dependency) -> None:
        """Let a node depend on another one, on a fact, or on what is stated.

        Raises:
            TaskCycleError: it would wait for itself.
        """
        node = self._known(node_id)
        if needed.kind != "fact" and needed.on:
            self._known(needed.on)
        if needed in node.depends:
            return
        mark = self.mark()
        self.change(node_id, depends=(*node.depends, needed))
        try:
            self.check_needs(node_id)
        except TaskCycleError:
            self.back(mark)
            raise

    def needs(self, node_id: str) -> list[str]:
        """Return the nodes that a node depends on."""
        return [d.on for d in self.node(node_id).depends if d.kind != "fact" and d.on and self.get(d.on)]

    def _way(self, start: str, goal: str, steps: Callable[[str], Any]) -> list[str]:
        """Return the shortest way between two nodes, both included; empty without one."""
        came: dict[str, str] = {start: ""}
        waiting = [start]
        for current in waiting:
            if current == goal:
                way = [current]
                while came[way[-1]]:
                    way.append(came[way[-1]])
                return way[::-1]
            for step in steps(current):
                if step not in came:
                    came[step] = current
                    waiting.append(step)
        return []

    def _known(self, node_id: str) -> TaskNode:
        node = self.get(node_id)
        if node is None:
            raise TaskError(f"There is no task node {node_id!r}; ids are those of `TaskNode.node_id`.")
        return node
