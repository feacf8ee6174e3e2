"""Tasks changed by hand, and by what changes elsewhere: with a turn that is taken back, a fact that is given up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from doxa.core.errors import NotFoundError
from doxa.core.tasks import Forest, TaskCommit
from doxa.core.values import Change, ChangeKind, Status
from doxa.engine.retrying import retried
from doxa.engine.wiring import Parts
from doxa.memory import Event, MemoryLog, TaskForest, UserState
from doxa.tasks import Editor, Moved, Undone

__all__ = ["Tasks", "edit_tasks", "flagged", "taken_back"]

T = TypeVar("T")
GIVEN_UP = (ChangeKind.CLOSE, ChangeKind.RETRACT, ChangeKind.QUARANTINE)


class Host(Protocol):
    """What tasks need of the engine that they belong to; see `Doxa`."""

    @property
    def parts(self) -> Parts:
        """What the engine is made of."""

    def settle(self, user: str) -> str:
        """Wait a moment for received turns; say why some are not processed."""

    def wait(self, user: str) -> None:
        """Wait for all received turns."""


class Tasks:
    """The tasks of one user, or of several who share them under one name, to read and to change by hand."""

    def __init__(self, doxa: Host, *, user: str, author: str) -> None:
        self._doxa = doxa
        self.user = user
        self.author = author

    def forest(self) -> Forest:
        """Return the tasks as they are now."""
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return state.tasks.snapshot()

    def edit(self, act: Callable[[Editor], T]) -> T:
        """Carry out acts, as one change of this author, and return what they return.

        They are tried again while another process changes the same tasks, so they must be free of other effects. Where
        they raise, nothing is changed.

        Raises:
            TaskCycleError: a task would be under, or wait for, itself.
            TaskError: an act cannot be carried out.
        """
        self._doxa.wait(self.user)
        return retried(lambda: edit_tasks(self._doxa.parts.log, self.user, act, author=self.author))

    def undo(self, number: int | None = None) -> Undone:
        """Take back a change, by default the last one that was not taken back; what was changed since stays.

        Raises:
            NotFoundError: there is no such change, or none to take back.
        """
        return self._back(lambda forest: forest.undoable() if number is None else number)

    def redo(self) -> Undone:
        """Do again what was taken back last, where nothing else was done since.

        Raises:
            NotFoundError: there is nothing to do again.
        """
        return self._back(lambda forest: forest.redoable())

    def rollback(self, path: str | None, to: int | str) -> list[str]:
        """Go back to an earlier value of a path, or to how it (None: everything) was after a change.

        Args:
            path: as in `Forest.state`.
            to: the number of a change, or the text of an earlier value.

        Returns:
            The ids of what changed.

        Raises:
            NotFoundError: there is no such path, or it never had that value.
        """

        def act(editor: Editor) -> list[str]:
            return editor.rollback(None if path is None else node_at(editor.forest, path), to)

        return self.edit(act)

    def _back(self, which: Callable[[TaskForest], int | None]) -> Undone:
        self._doxa.wait(self.user)
        log = self._doxa.parts.log
        return retried(lambda: _undo(log, self.user, which, author=self.author))


def node_at(forest: TaskForest, path: str) -> str:
    """Return the id of the node in sight at a path.

    Raises:
        NotFoundError: there is none.
    """
    keys = {known: key for key, known in forest.paths(forest.order()).items()}
    if path not in keys:
        raise NotFoundError(f"There is no task at {path!r}. Paths: {', '.join(map(repr, list(keys)[:8])) or 'none'}.")
    return keys[path]


def edit_tasks(log: MemoryLog, user: str, act: Callable[[Editor], T], *, author: str = "", text: str = "") -> T:
    """Carry out acts on the tasks of a user as one event; acts that change nothing leave none.

    Raises:
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        editor = Editor(state.tasks)
        given = act(editor)
        _append(log, user, state, editor, author=author, text=text)
        return given


def _undo(log: MemoryLog, user: str, which: Callable[[TaskForest], int | None], *, author: str) -> Undone:
    with log.user(user) as state:
        number = which(state.tasks)
        if number is None:
            raise NotFoundError(f"There is no change of the tasks of user {user!r} to take back, or to do again.")
        editor = Editor(state.tasks)
        undone = editor.undo(number)
        _append(log, user, state, editor, author=author, undoes=number)
        return undone


def _append(
    log: MemoryLog,
    user: str,
    state: UserState,
    editor: Editor,
    *,
    author: str,
    text: str = "",
    undoes: int | None = None,
) -> None:
    edits, now = editor.edits(), datetime.now(UTC)
    if not edits:
        return
    intents = () if undoes is None else ("undo",)
    commit = TaskCommit(
        number=state.tasks.next_number, author=author, at=now, text=text, intents=intents, edits=edits, undoes=undoes
    )
    log.append(user, state, Event(kind="tasked", known_at=now, tasks=commit))


def flagged(editor: Editor, changes: Iterable[Change]) -> list[Moved]:
    """Block what rests on facts that were given up, let what rests on facts that are back go on; return what moved."""
    holds: Mapping[str, bool] = {
        change.fact.fact_id: change.fact.status is Status.HELD and change.kind not in GIVEN_UP for change in changes
    }
    return [moved for fact, held in holds.items() for moved in editor.fact(fact, holds=held)]


def taken_back(
    forest: TaskForest, numbers: Sequence[int], changes: Iterable[Change], *, at: datetime
) -> TaskCommit | None:
    """Return what takes back some changes of the tasks, the latest first, and follows from changes of facts.

    What was changed since stays as it is. None where nothing is to be done.
    """
    editor = Editor(forest)
    for number in sorted(numbers, reverse=True):
        editor.undo(number)
    flagged(editor, changes)
    edits = editor.edits()
    if not edits:
        return None
    undoes = numbers[0] if len(numbers) == 1 else None
    return TaskCommit(number=forest.next_number, at=at, intents=("undo",), edits=edits, undoes=undoes)
