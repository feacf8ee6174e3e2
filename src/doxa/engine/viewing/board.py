"""The tasks of one memory, page by page: an outline, one node, what was done, a picture."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from doxa.core.errors import NotFoundError
from doxa.core.tasks import TaskCommit, TaskEdit, TaskNode
from doxa.core.taskviews import TaskCard, TaskCrowd, TaskNames, TaskNeed, TaskOutline, TaskRow, TaskSpan, TaskStep
from doxa.core.views import Listing
from doxa.engine.intake import require_positive
from doxa.engine.viewing.looking import Looking
from doxa.engine.viewing.order import cursor_of, read_cursor
from doxa.memory import TaskForest

__all__ = ["Board"]

MOST_NAMED = 60
"""Edits of a commit whose nodes are named, and neighbours of a node that are shown."""

MOST_ABOVE = 12
"""Lines that say what the first line of a page is under: those nearest to it."""


class _Line(NamedTuple):
    key: str
    depth: int
    parent: int
    """The place of the line that it is under; -1 for a root."""
    again: bool


class Board(Looking):
    """What is shown of the tasks of one memory. Inside `opened` nothing changes between calls."""

    def outline(self, start: int = 0, *, limit: int = 200, hidden: bool = False, of: str = "") -> TaskOutline:
        """Return a page of the forest; before its first line come those that say what that is under.

        Args:
            start: how many lines are on the pages before.
            limit: how many lines there are on a page.
            hidden: with what was removed or replaced, or is under such a node.
            of: the id of a node: the page, of those that begin at multiples of `limit`, that it is on. A node that is
                in none leaves `start` as it is.

        Raises:
            InputError: `limit` is not positive.

        Cost: O(nodes) steps of a walk, and what is shown.
        """
        require_positive(limit, "outline: limit")
        with self._parts.log.user(self.user) as state:
            forest = state.tasks
            lines = _walked(forest, hidden=hidden)
            if of and (place := next((at for at, line in enumerate(lines) if line.key == of), None)) is not None:
                start = place - place % limit
            shown = lines[start : start + limit]
            rows = [_row(forest, line) for line in shown]
            above: list[TaskRow] = []
            at = shown[0].parent if shown else -1
            while at >= 0 and len(above) < MOST_ABOVE:
                above.insert(0, _row(forest, lines[at], above=True))
                at = lines[at].parent
            return TaskOutline(rows=(*above, *rows), start=start, total=len(lines))

    def card(self, node_id: str, *, limit: int = 30) -> TaskCard:
        """Return what is told of a node, in sight or not.

        Args:
            node_id: its id.
            limit: how many of its values are shown.

        Raises:
            NotFoundError: there is no such node.

        Cost: O(changes of the node).
        """
        with self._parts.log.user(self.user) as state:
            forest = state.tasks
            node = _known(forest, node_id, self.user)
            line = forest.timeline(node_id)
            commits = ((forest.commit(number), value) for number, value in reversed(line[-limit:]))
            spans = tuple(TaskSpan(value=value, commit=commit) for commit, value in commits if commit is not None)
            return TaskCard(
                row=_row(forest, _Line(node_id, 0, -1, again=False)),
                path=forest.path(node_id),
                parents=tuple(forest.node(parent) for parent in node.parents),
                children=tuple(map(forest.node, islice(forest.children(node_id), MOST_NAMED))),
                followers=tuple(_followers(forest, node_id)),
                spans=spans,
                values=len(line),
                steps=len(forest.revisions(node_id)),
            )

    def steps(
        self, *, of: str = "", after: str = "", first: int | None = None, talk: bool = False, limit: int = 20
    ) -> Listing[TaskStep]:
        """Return what was done, the latest first; `total` counts what was said and changed nothing as well.

        Args:
            of: only what touched the node of this id.
            after: `next` of the page before.
            first: without that, the number of the commit to begin with.
            talk: with what was said and changed nothing.
            limit: how many at most.

        Raises:
            InputError: `after` is no such text, or `limit` is not positive.
            NotFoundError: there is no such node.

        Cost: O(commits) steps to find what was taken back, and what is shown.
        """
        require_positive(limit, "steps: limit")
        cursor = read_cursor(after, int)
        before = cursor[0] if cursor is not None else None if first is None else first + 1
        with self._parts.log.user(self.user) as state:
            forest = state.tasks
            commits: Sequence[TaskCommit] = forest.commits
            if of:
                _known(forest, of, self.user)
                numbers = dict.fromkeys(number for number, _, _ in forest.revisions(of))
                commits = [commit for number in numbers if (commit := forest.commit(number)) is not None]
            stop = len(commits) if before is None else bisect_left(commits, before, key=lambda one: one.number)
            wanted = (commit for commit in reversed(commits[:stop]) if talk or commit.edits)
            found = list(islice(wanted, limit + 1))
            gone = _taken_back(forest.commits)
            items = tuple(_step(forest, commit, gone.get(commit.number)) for commit in found[:limit])
            further = cursor_of(items[-1].commit.number) if len(found) > limit else ""
            return Listing(items=items, next=further, total=len(commits))

    def step(self, number: int) -> TaskStep:
        """Return one commit.

        Raises:
            NotFoundError: there is no such commit.
        """
        with self._parts.log.user(self.user) as state:
            commit = state.tasks.commit(number)
            if commit is None:
                raise NotFoundError(f"There is no change number {number} of the tasks of user {self.user!r}.")
            return _step(state.tasks, commit, _taken_back(state.tasks.commits).get(number))

    def called(self, edits: Iterable[TaskEdit]) -> TaskNames:
        """Return the names of what some edits, the first of them, are about."""
        with self._parts.log.user(self.user) as state:
            return _called(state.tasks, edits)

    def names(self, node_ids: Iterable[str]) -> dict[str, str]:
        """Return the paths of those of these nodes that there are."""
        with self._parts.log.user(self.user) as state:
            forest = state.tasks
            return forest.paths(key for key in node_ids if forest.get(key) is not None)

    def undoable(self) -> TaskCommit | None:
        """Return the last commit that changed something and was not taken back."""
        with self._parts.log.user(self.user) as state:
            number = state.tasks.undoable()
            return None if number is None else state.tasks.commit(number)

    def redoable(self) -> TaskCommit | None:
        """Return the last commit that took something back, where nothing else was done since."""
        with self._parts.log.user(self.user) as state:
            number = state.tasks.redoable()
            return None if number is None else state.tasks.commit(number)

    def crowd(self, *, of: str = "", limit: int = 300, hidden: bool = False) -> TaskCrowd:
        """Return the first nodes of the forest; one of them, and those of its task, before the others.

        Args:
            of: the id of a node that comes first, with its task.
            limit: how many at most.
            hidden: with what is out of sight.
        """
        require_positive(limit, "crowd: limit")
        with self._parts.log.user(self.user) as state:
            forest = state.tasks
            lines = [line for line in _walked(forest, hidden=hidden) if not line.again]
            if of and forest.get(of) is not None:
                own = {of, *forest.ancestors(of)}
                first = {
                    key for root in own if not forest.node(root).parents for key in (root, *forest.descendants(root))
                }
                lines.sort(key=lambda line: (line.key != of, line.key not in first))
            return TaskCrowd(rows=tuple(_row(forest, line) for line in lines[:limit]), left=max(0, len(lines) - limit))


def _walked(forest: TaskForest, *, hidden: bool) -> list[_Line]:
    """Return all nodes, every root and then what is under it; under a shared one only where it first comes."""
    found: list[_Line] = []
    seen: set[str] = set()
    roots = forest.all_roots() if hidden else forest.roots()
    waiting = [(key, 0, -1) for key in reversed(roots)]
    while waiting:
        key, depth, parent = waiting.pop()
        found.append(_Line(key, depth, parent, key in seen))
        if key in seen:
            continue
        seen.add(key)
        below = forest.all_children(key) if hidden else forest.children(key) if forest.opens(key) else []
        waiting += [(child, depth + 1, len(found) - 1) for child in reversed(below)]
    return found


def _row(forest: TaskForest, line: _Line, *, above: bool = False) -> TaskRow:
    node = forest.node(line.key)
    under = [key for key in node.parents if forest.opens(key)] if len(node.parents) > 1 else []
    return TaskRow(
        node=node,
        depth=line.depth,
        value=forest.exported(line.key),
        visible=forest.visible(line.key),
        again=line.again,
        above=above,
        needs=tuple(TaskNeed(needed=one, node=forest.get(one.on)) for one in node.depends),
        under=tuple(map(forest.node, under)) if len(under) > 1 else (),
    )


def _followers(forest: TaskForest, node_id: str) -> Iterator[TaskNeed]:
    """Yield what waits for a node or follows it."""
    for key in forest.dependents(node_id)[:MOST_NAMED]:
        node = forest.node(key)
        for needed in node.depends:
            if needed.on == node_id:
                yield TaskNeed(needed=needed, node=node)


def _step(forest: TaskForest, commit: TaskCommit, taken_back: int | None) -> TaskStep:
    return TaskStep(
        commit=commit,
        taken_back=taken_back,
        takes_back=_takes_back(forest, commit),
        called=_called(forest, commit.edits),
    )


def _takes_back(forest: TaskForest, commit: TaskCommit) -> bool:
    found, undone = False, commit.undoes
    while undone is not None and (earlier := forest.commit(undone)) is not None:
        found, undone = not found, earlier.undoes
    return found


def _called(forest: TaskForest, edits: Iterable[TaskEdit]) -> TaskNames:
    """Return the names of what some edits are about."""
    touched: dict[str, None] = {}
    others: dict[str, None] = {}
    for edit in islice(edits, MOST_NAMED):
        touched[edit.node_id] = None
        for node in (edit.before, edit.after):
            if node is not None:
                others |= dict.fromkeys((*node.parents, *(needed.on for needed in node.depends)))
    names = {key: node.name for key in (*touched, *others) if (node := forest.get(key)) is not None}
    return TaskNames(paths=forest.paths(key for key in touched if key in names), names=names)


def _taken_back(commits: Sequence[TaskCommit]) -> dict[int, int]:
    """Return which commits are taken back, by which; what is done again is not."""
    gone: dict[int, int] = {}
    for commit in reversed(commits):
        if commit.undoes is not None and commit.number not in gone:
            gone[commit.undoes] = commit.number
    return gone


def _known(forest: TaskForest, node_id: str, user: str) -> TaskNode:
    node = forest.get(node_id)
    if node is None:
        raise NotFoundError(f"User {user!r} has no task {node_id[:60]!r}. `doxa tasks` shows which there are.")
    return node
