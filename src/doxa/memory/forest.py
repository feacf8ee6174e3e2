"""The task forest of one user: the fold of what turns did to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from doxa.core.tasks import Exported, Forest, NodeKind, TaskCommit, TaskEdit, TaskNode, TaskView
from doxa.memory.tasktree import LABELLING, TaskTree, number_of, place_of

__all__ = ["Revision", "TaskForest"]

Revision = tuple[int, TaskNode | None, TaskNode | None]
"""The number of a commit, and a node before and after it."""
ItemEntry = tuple[float, int, str]
"""Place, number and label of an item in a list."""


@dataclass(slots=True)
class _Shown:
    """What stands under a node's path, and what did: each entry is what a commit changed of it."""

    shown: bool = False
    own: str | None = None
    items: dict[str, ItemEntry] = field(default_factory=dict)
    log: list[tuple[int, bool, str | None, Mapping[str, ItemEntry | None] | None]] = field(default_factory=list)


class TaskForest(TaskTree):
    """Tasks, what is under them, and their history. `apply` is the one way to change it.

    Cost: a commit costs what it changes, which includes what comes in sight or goes out of it.
    """

    def __init__(self, commits: Iterable[TaskCommit] = ()) -> None:
        super().__init__()
        self.commits: list[TaskCommit] = []
        self._labels: set[str] = set()
        """The nodes whose value is part of what an item is called."""
        self._seen: set[str] = set()
        self._opens: set[str] = set()
        self._revisions: dict[str, list[int]] = {}
        """Where the edits of a node are: the place of a commit, the place of the edit in it, and so on."""
        self._shown: dict[str, _Shown] = {}
        self._by_number: dict[int, int] = {}
        self._of_turn: dict[str, list[int]] = {}
        self._last_id = 0
        for commit in commits:
            self.apply(commit)

    @property
    def nodes(self) -> Mapping[str, TaskNode]:
        """All nodes by id."""
        return self._nodes

    @property
    def next_number(self) -> int:
        """The number of the next commit."""
        return self.commits[-1].number + 1 if self.commits else 1

    @property
    def last_id(self) -> int:
        """The number in the highest id that was given out."""
        return self._last_id

    def commit(self, number: int) -> TaskCommit | None:
        """Return the commit of a number, or None."""
        at = self._by_number.get(number)
        return None if at is None else self.commits[at]

    def of_turn(self, turn_id: str) -> list[int]:
        """Return the numbers of the commits of a turn."""
        return list(self._of_turn.get(turn_id, ()))

    def apply(self, commit: TaskCommit) -> None:
        """Fold one commit. What a node was before is taken from here, not from the commit.

        Raises:
            ValueError: its number is not higher than those before, it puts a node under one that there is not, or under
                itself; the forest must not be used any more.
        """
        if self.commits and commit.number <= self.commits[-1].number:
            raise ValueError(f"commit {commit.number} of the tasks came after {self.commits[-1].number}")
        number, touched = commit.number, dict[str, TaskNode | None]()
        nodes, revisions, shown_of = self._nodes, self._revisions, self._shown
        place, others = len(self.commits), dict[int, TaskEdit]()
        for at, edit in enumerate(commit.edits):
            key, after = edit.node_id, edit.after
            before = nodes.get(key)
            if edit.before is not before:
                others[at] = replace(edit, before=before)
            if before is not None and after is not None and key not in self._labels and _differ_in_value(before, after):
                nodes[key] = after
                own, shown = after.value.text or None if after.value is not None else None, shown_of[key]
                if own != shown.own:
                    shown.own = own
                    shown.log.append((number, shown.shown, own, None))
            else:
                self._swap(key, before, after)
                labels = after is not None and after.name.casefold() in LABELLING
                (self._labels.add if labels else self._labels.discard)(key)
                touched.setdefault(key, before)
                if before is None and key not in revisions:
                    revisions[key] = []
                    self._last_id = max(self._last_id, number_of(key))
            revisions[key].extend((place, at))
        if touched:
            self._check(touched)
            self._export(number, touched, self._look(touched))
        self._by_number[number] = place
        if others:
            commit = replace(commit, edits=tuple(others.get(at, edit) for at, edit in enumerate(commit.edits)))
        self.commits.append(commit)
        if commit.turn_id:
            self._of_turn.setdefault(commit.turn_id, []).append(commit.number)

    def _check(self, touched: Mapping[str, TaskNode | None]) -> None:
        """Refuse what no editor does: a parent that there is not, a circle."""
        for key, before in touched.items():
            node = self._nodes.get(key)
            if node is None or not node.parents or (before is not None and before.parents == node.parents):
                continue
            if not all(parent in self._nodes for parent in node.parents):
                raise ValueError(f"task node {key} is under {', '.join(node.parents)}, not all of which there are")
            if key in self.ancestors(key):
                raise ValueError(f"task node {key} is under itself")

    def visible(self, node_id: str) -> bool:
        """Tell whether a node is in sight: it stands, and so does one of its parents, which waits for no condition."""
        return node_id in self._seen

    def opens(self, node_id: str) -> bool:
        """Tell whether what is under a node may be in sight."""
        return node_id in self._opens

    def _look(self, touched: Mapping[str, TaskNode | None]) -> set[str]:
        """Bring up to date what is in sight, and return the nodes for which that changed."""
        moved: set[str] = set()
        waiting = [key for key, before in touched.items() if _sight(before) != _sight(self._nodes.get(key))]
        while waiting:
            key = waiting.pop()
            node = self._nodes.get(key)
            seen = node is not None and node.status.standing
            if seen and node is not None and node.parents:
                seen = any(parent in self._opens for parent in node.parents)
            opens = seen and node is not None and not node.waits
            if seen == (key in self._seen) and opens == (key in self._opens):
                continue
            moved.add(key)
            (self._seen.add if seen else self._seen.discard)(key)
            if opens != (key in self._opens):
                (self._opens.add if opens else self._opens.discard)(key)
                waiting += self.all_children(key)
        return moved

    def _export(self, number: int, touched: Mapping[str, TaskNode | None], moved: set[str]) -> None:
        """Note what changed under the paths of these nodes and in the lists that they are in."""
        lists: dict[str, dict[str, None]] = {}
        for key in (*touched, *(moved - touched.keys())):
            before, node = touched.get(key, self._nodes.get(key)), self._nodes.get(key)
            same = before is not None and node is not None and key not in moved and _listed(before) == _listed(node)
            if same and node is not None and node.name.casefold() not in LABELLING:
                continue
            for one in (before, node):
                if one is None:
                    continue
                if one.kind is NodeKind.ITEM:
                    for parent in one.parents:
                        lists.setdefault(parent, {})[key] = None
                if one.name.casefold() in LABELLING:
                    for item in one.parents:
                        for parent in self._nodes[item].parents if item in self._nodes else ():
                            lists.setdefault(parent, {})[item] = None
        for key in (*touched, *(moved - touched.keys()), *(lists.keys() - touched.keys() - moved)):
            self._note(number, key, lists.get(key, ()))

    def _note(self, number: int, key: str, items: Iterable[str]) -> None:
        shown = self._shown.get(key)
        if shown is None:
            shown = self._shown[key] = _Shown()
        node = self._nodes.get(key)
        opens = key in self._opens
        own = node.value.text or None if node is not None and node.value is not None else None
        delta: dict[str, ItemEntry | None] = {}
        for item in items:
            entry = self._entry(item, key)
            if entry != shown.items.get(item):
                delta[item] = entry
                if entry is None:
                    del shown.items[item]
                else:
                    shown.items[item] = entry
        if delta or opens != shown.shown or own != shown.own:
            shown.shown, shown.own = opens, own
            shown.log.append((number, opens, own, delta or None))

    def _entry(self, item: str, parent: str) -> ItemEntry | None:
        node = self._nodes.get(item)
        if node is None or node.kind is not NodeKind.ITEM or item not in self._opens:
            return None
        place = place_of(node, parent)
        return None if place is None else (place, number_of(item), self.label(item))

    def revisions(self, node_id: str) -> list[Revision]:
        """Return what commits did to a node, oldest first."""
        places = self._revisions.get(node_id, ())
        commits = (self.commits[place] for place in places[::2])
        found = ((commit.number, commit.edits[at]) for commit, at in zip(commits, places[1::2], strict=True))
        return [(number, edit.before, edit.after) for number, edit in found]

    def timeline(self, node_id: str) -> list[tuple[int, Exported]]:
        """Return what stood under a node after each commit that changed it, oldest first.

        Cost: O(changes), for a list times its length.
        """
        shown = self._shown.get(node_id)
        found: list[tuple[int, Exported]] = []
        items: dict[str, ItemEntry] = {}
        for number, visible, own, delta in shown.log if shown else ():
            for item, entry in delta.items() if delta else ():
                if entry is None:
                    items.pop(item, None)
                else:
                    items[item] = entry
            value: Exported = None
            if visible:
                value = [entry[2] for entry in sorted(items.values())] if items else own
            if value != (found[-1][1] if found else None):
                found.append((number, value))
        return found

    def recent(self, n: int) -> list[str]:
        """Return the ids of the nodes that were touched last, the latest first."""
        edits = (edit for commit in reversed(self.commits) for edit in reversed(commit.edits))
        found: dict[str, None] = {}
        for edit in edits:
            if len(found) >= n:
                break
            found[edit.node_id] = None
        return list(found)

    def undoable(self) -> int | None:
        """Return the number of the last commit that changed something and was not taken back; None without one."""
        return self._last(undo=False)

    def redoable(self) -> int | None:
        """Return the number of the last undo that nothing but undoing came after; None without one."""
        return self._last(undo=True)

    def _last(self, *, undo: bool) -> int | None:
        gone: set[int] = set()
        for commit in reversed(self.commits):
            if commit.number in gone:
                continue
            if commit.undoes is not None:
                if undo and self._takes_back(commit):
                    return commit.number
                gone.add(commit.undoes)
            elif commit.edits:
                return None if undo else commit.number
        return None

    def _takes_back(self, commit: TaskCommit) -> bool:
        """Tell whether a commit is an undo, and not the undo of an undo."""
        undone = self.commit(commit.undoes) if commit.undoes is not None else None
        return undone is not None and (undone.undoes is None or not self._takes_back(undone))

    # -- what is shown of it

    def order(self) -> list[str]:
        """Return the ids of all nodes in sight: every root, then what is under it; a shared node once."""
        found: dict[str, None] = {}
        waiting = self.roots()[::-1]
        while waiting:
            key = waiting.pop()
            if key not in found:
                found[key] = None
                if key in self._opens:
                    waiting += self.children(key)[::-1]
        return list(found)

    def state(self) -> dict[str, str | list[str]]:
        """Return what stands under every path that has something; lists as the labels of their items."""
        values = {key: value for key in self.order() if (value := self.exported(key)) is not None}
        paths = self.paths(values)
        return {paths[key]: value for key, value in values.items()}

    def history(self, path: str) -> list[str | list[str]]:
        """Return the values that stood under a path, oldest first; what stood there under an earlier node as well."""
        return list(self.past().get(path, ()))

    def past(self) -> dict[str, tuple[str | list[str], ...]]:
        """Return the values that stood under every path. Cost: O(changes of all nodes)."""
        lines = {key: self.timeline(key) for key in self._shown}
        paths: dict[str, list[list[tuple[int, Exported]]]] = {}
        names = self.paths(key for key in lines if key in self._nodes)
        visible = {names[key]: line for key, line in lines.items() if key in self._seen}
        for key, path in names.items():
            line = lines[key]
            if key not in self._seen and line:
                now = visible.get(path)
                if not now or line[-1][0] <= now[0][0]:
                    paths.setdefault(path, []).append(line)
        for path, line in visible.items():
            paths.setdefault(path, []).append(line)
        return {path: values for path, known in paths.items() if (values := _values(known))}

    def at(self, number: int) -> TaskForest:
        """Return the forest as it was after a commit. Cost: folding all commits up to it."""
        return TaskForest(commit for commit in self.commits if commit.number <= number)

    def snapshot(self) -> Forest:
        """Return the forest as a value that never changes. Cost: O(nodes and changes)."""
        order = self.order()
        shown = set(order)
        paths = self.paths(self._nodes)
        views = (TaskView(path=paths[key], value=self.exported(key), node=self._nodes[key]) for key in order)
        hidden = (
            TaskView(path=paths[key], node=self._nodes[key], visible=False)
            for key in sorted(self._nodes, key=number_of)
            if key not in shown
        )
        return Forest(tuple(views), tuple(hidden), tuple(self.commits), self.past())


def _differ_in_value(before: TaskNode, after: TaskNode) -> bool:
    """Tell whether a node is sure to be found, seen and listed as before; it costs less than to find that out."""
    return (
        before.name is after.name
        and before.status is after.status
        and before.parents is after.parents
        and before.places is after.places
        and before.depends is after.depends
        and before.aliases is after.aliases
        and before.kind is after.kind
    )


def _sight(node: TaskNode | None) -> tuple[object, ...]:
    """Return what decides whether a node and what is under it are in sight."""
    return () if node is None else (node.status, node.parents, node.waits)


def _listed(node: TaskNode) -> tuple[object, ...]:
    """Return what decides how a node stands in lists."""
    return node.kind, node.name, node.parents, node.places


def _values(lines: Sequence[Sequence[tuple[int, Exported]]]) -> tuple[str | list[str], ...]:
    """Return the values of several lines of time in order; the same one twice in a row is one."""
    found: list[str | list[str]] = []
    for _, value in sorted((entry for line in lines for entry in line), key=lambda entry: entry[0]):
        if value is not None and (not found or found[-1] != value):
            found.append(value)
    return tuple(found)
