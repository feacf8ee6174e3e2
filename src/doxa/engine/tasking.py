"""Tasks told what to do, changed by hand, and by what changes elsewhere: a turn taken back, a fact given up.

turn -> step (of the grammar, or of what a model read) -> (ablations) -> edits, and what facts block -> one commit
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, TypeVar, get_args

from doxa.core.errors import InputError, NotFoundError
from doxa.core.tasks import Forest, NodeKind, TaskCommit, TaskReply, TaskStatus, TaskValue
from doxa.core.values import Change, ChangeKind, Status, ToTasks, Turn
from doxa.engine.hosting import Host
from doxa.engine.intake import Moment, clean, display_name, read_moment, read_turn, require_positive, require_text
from doxa.engine.reading.tasks import CHAT, NOTHING, TaskReaders, meant, routed, step_of
from doxa.engine.retrying import retried
from doxa.memory import Maintained, MemoryLog, Tasked, TaskForest, UserState
from doxa.tasks import (
    Editor,
    Moved,
    Reading,
    Step,
    Undone,
    by_amount,
    context_of,
    opened,
    stands,
    summary,
    typed_value,
)

__all__ = [
    "NOTHING",
    "Carried",
    "Intent",
    "Tasks",
    "edit_tasks",
    "flagged",
    "taken_back",
    "task_reader",
    "tasks_of",
]

T = TypeVar("T")
Intent = Literal["new", "update", "check"]
Shown = str | list[str]
"""What stands under a path: a value, or the labels of a list."""
GIVEN_UP = (ChangeKind.CLOSE, ChangeKind.RETRACT, ChangeKind.QUARANTINE)
SESSION = "tasks"
"""The session of what is told to the tasks."""
BY_MODEL = "the language model reads it as one for the tasks"
NOT_TAKEN = Step(intents=())
"""What a turn does to the tasks that is not said to them."""


class Tasks:
    """The tasks of one user, or of several who share them under one name, to tell, to read and to change by hand."""

    def __init__(self, doxa: Host, *, user: str, author: str) -> None:
        self._doxa = doxa
        self.user = user
        self.author = author

    def tell(
        self, text: str, *, at: Moment | None = None, intent: Intent | None = None, said_before: str = ""
    ) -> TaskReply:
        """Have a turn do what it says to the tasks, and return what is said to it.

        The turn is remembered like any other, and what it says of the world is believed. It is durable first; then this
        waits until it is processed.

        Args:
            text: what the author says.
            at: when; by default now.
            intent: what the turn is taken for whatever it is, as an ablation for benchmarks (see `taken_for`).
            said_before: what the assistant said just before, where it is not the reply to the turn before.

        Raises:
            TurnError: the turn cannot be taken.
            InputError: there is no such intent, or the time cannot be read.
            StoreError: nothing was stored.
        """
        if intent is not None and intent not in get_args(Intent):
            raise InputError(f"tell: expected an intent out of {', '.join(get_args(Intent))}; got {intent!r}.")
        parts = self._doxa.parts
        turn = read_turn(
            text,
            user=self.user,
            session=SESSION,
            speaker=self._speaker(),
            role="user",
            at=at,
            turn_id=None,
            max_chars=parts.config.engine.max_turn_chars,
        )
        stored, _ = self._doxa.receive(
            replace(turn, to_tasks=ToTasks(said_before=clean(said_before), intent=intent or ""))
        )
        self._doxa.wait(self.user)
        with parts.log.user(self.user) as state:
            return _replied(state, stored)

    def _speaker(self) -> str:
        """Return who speaks, under the name that facts of the user have where nobody else is named."""
        if self.author != self.user:
            return self.author
        with self._doxa.parts.log.user(self.user) as state:
            return state.person() or display_name(self.user)

    def forest(self) -> Forest:
        """Return the tasks as they are now."""
        return self._read(lambda tasks: tasks.snapshot())

    def state(self) -> dict[str, str | list[str]]:
        """Return the current value of every path; sets as lists."""
        return self._read(lambda tasks: tasks.state())

    def history(self) -> dict[str, list[Shown]]:
        """Return the values that every path has had, oldest first."""
        return self._read(lambda tasks: {path: list(values) for path, values in tasks.past().items()})

    def summary(self) -> str:
        """Return every task with all that stands under it, one a line."""

        def told(tasks: TaskForest) -> str:
            return summary(opened("", tasks, datetime.now(UTC), ""), tasks.roots())

        return self._read(told)

    def context(self, text: str, budget: int = 400) -> str:
        """Return what a language model has to know of the tasks to reply to a turn.

        Args:
            text: the turn.
            budget: most tokens that are returned.
        """
        require_text(text, "context")
        require_positive(budget, "budget")
        return self._read(lambda tasks: context_of(tasks, text, budget=budget))

    def _read(self, read: Callable[[TaskForest], T]) -> T:
        self._doxa.settle(self.user)
        with self._doxa.parts.log.user(self.user) as state:
            return read(state.tasks)

    def edit(self, act: Callable[[Editor], T], *, follow: bool = False) -> T:
        """Carry out acts, as one change of this author, and return what they return.

        They are tried again while another process changes the same tasks, so they must be free of other effects. Where
        they raise, nothing is changed.

        Args:
            act: what is done.
            follow: whether what follows from it is done with it, as with a turn: derived values move, what waits is
                blocked or goes on.

        Raises:
            TaskCycleError: a task would be under, or wait for, itself.
            TaskError: an act cannot be carried out.
        """

        def followed(editor: Editor) -> T:
            given = act(editor)
            editor.propagate(by_amount)
            return given

        done = followed if follow else act
        self._doxa.wait(self.user)
        return retried(lambda: edit_tasks(self._doxa.parts.log, self.user, done, author=self.author))

    def foresee(self, act: Callable[[Editor], T]) -> T:
        """Carry out acts without changing anything, and return what they return: `editor.edits()`, for example.

        Raises:
            TaskCycleError: a task would be under, or wait for, itself.
            TaskError: an act cannot be carried out.
        """
        return self._read(lambda tasks: act(Editor(tasks)))

    def value(self, text: str, *, at: Moment | None = None) -> TaskValue:
        """Return what a text is as a value: "8 pm" is a time, "30 euros" a sum of money, anything else a text.

        Args:
            text: how it is written.
            at: the time that "tomorrow" is said at; by default now.

        Raises:
            InputError: it is empty, or the time cannot be read.
        """
        require_text(text, "value")
        return typed_value(clean(text).strip(), datetime.now(UTC) if at is None else read_moment(at))

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
        undone = replace(editor.undo(number), number=state.tasks.next_number if editor.edits() else None)
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
    log.append(user, state, Tasked(known_at=now, tasks=commit))


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What a turn does to the tasks."""

    commit: TaskCommit | None = None
    """None where it does nothing and was not told to them."""
    failed: str = ""
    """Why it was not understood; empty when it was."""
    route: str = ""
    """Why it was told to them, or was not; empty where that was not asked."""


def tasks_of(
    turn: Turn,
    changes: Sequence[Change],
    state: UserState,
    readers: TaskReaders,
    reading: Reading | None = None,
) -> Carried:
    """Return what a turn does to the tasks: by what it tells them, and by the facts that it changes.

    Args:
        turn: what was said.
        changes: what that changed of what is believed.
        state: what is known before it, and its tasks.
        readers: what reads it, and whether tasks may share nodes.
        reading: what a language model said that the turn tells; None where it was not asked.
    """
    forest, told, why = state.tasks, turn.to_tasks, ""
    editor, step, failed = Editor(forest), Step(intents=()), ""
    if told is not None:
        step, failed, why = _read_step(turn, told, state, readers, reading)
        told = None if told.routed and step is NOT_TAKEN else told
        editor.carry_over(step.edits)
    if told is not None:
        if told.intent:
            step = taken_for(told.intent, step, turn.text, editor)
        if not readers.config.tasks.dag:
            taken_apart(editor)
    moved = flagged(editor, changes)
    edits = editor.edits()
    if told is None and not edits:
        return Carried(failed=failed, route=why)
    commit = TaskCommit(
        number=forest.next_number,
        turn_id=turn.turn_id,
        author=turn.speaker,
        at=turn.at,
        text=turn.text,
        intents=step.intents,
        edits=edits,
        reply=" ".join(filter(None, (step.reply, *map(_told, moved)))),
        undoes=step.undoes,
        focus=step.focus,
        asked=step.asked,
        confidence=step.confidence,
        by=step.by,
    )
    return Carried(commit=commit, failed=failed, route=why)


def task_reader(readers: TaskReaders) -> Callable[[Turn, UserState, Maintained], TaskCommit | None]:
    """Return what reads a turn anew over the tasks as they are in a state, once something before it is erased.

    What a language model had read of the turn is used as far as it still holds; none is asked again.
    """

    def read(turn: Turn, state: UserState, event: Maintained) -> TaskCommit | None:
        reading = Reading.from_data(event.task_reading)
        return tasks_of(turn, event.changes, state, readers, reading).commit

    return read


def _read_step(
    turn: Turn, to_tasks: ToTasks, state: UserState, readers: TaskReaders, reading: Reading | None
) -> tuple[Step, str, str]:
    """Return what a turn does, why that could not be read, and why it is said to the tasks or (`NOT_TAKEN`) is not."""
    if not to_tasks.routed:
        return *step_of(turn, to_tasks, state.tasks, readers, reading), ""
    found, failed = routed(turn, state, readers.parser)
    if not found.to_tasks and (reading is None or reading.failed):
        return NOT_TAKEN, failed or (reading.failed if reading is not None else ""), found.why
    step, failed = step_of(turn, to_tasks, state.tasks, readers, reading)
    if step.by:  # the model has said what the turn is
        if step.edits or step.asked or (found.to_tasks and step.intents != CHAT):
            return step, failed, found.why if found.to_tasks else BY_MODEL
        return NOT_TAKEN, failed, f"{found.why}{NOTHING}" if found.to_tasks else found.why
    if not found.to_tasks:
        return NOT_TAKEN, failed, found.why
    if failed and not step.confidence:
        return NOT_TAKEN, failed, found.why
    if not stands(found, step, state.tasks):
        return NOT_TAKEN, failed, f"{found.why}{NOTHING}"
    read = step.edits or step.left_out
    likely, untold = meant(turn, found, state, readers) if read else (True, "")
    if not likely:
        return NOT_TAKEN, failed or untold, f"{found.why}, but it is hardly said to the tasks"
    return step, failed, found.why


def taken_for(intent: str, step: Step, text: str, editor: Editor) -> Step:
    """Take a turn for something that it may not be, as a wrong classification of its intent would: an ablation.

    A check changes nothing. A question that is taken for a change becomes a node of the task that is spoken of.

    Args:
        intent: "new", "update" or "check".
        step: what the turn does, which the editor has done.
        text: the turn.
        editor: where it is done, and taken back.
    """
    if intent == "check":
        editor.back(0)
        return replace(step, intents=("check",), reply="Noted." if step.edits else step.reply, undoes=None)
    if not step.edits:
        root = next((key for key in (*step.focus, *editor.forest.recent(1)) if editor.get(key) is not None), None)
        while root is not None and editor.node(root).parents:
            root = editor.node(root).parents[0]
        editor.add(text, root, kind=NodeKind.SLOT, value=TaskValue(text=text))
    return replace(step, intents=(intent,), asked="")


def taken_apart(editor: Editor) -> None:
    """Leave no node shared and none that depends on another, as in a forest of plain trees: an ablation.

    What a turn put under several nodes is copied, with all under it, under each but the first.
    """
    for key in editor.changed():
        node = editor.node(key)
        if node.depends:
            status = TaskStatus.ACTIVE if node.status is TaskStatus.BLOCKED else node.status
            editor.change(key, depends=(), status=status)
        links = editor.links(key)
        for parent in list(links)[1:]:
            _copied(editor, key, parent)
        editor.relink(key, dict(list(links.items())[:1]))


def _copied(editor: Editor, key: str, parent: str) -> None:
    node, children = editor.node(key), editor.children(key)
    new = editor.add(node.name, parent, kind=node.kind, value=node.value, aliases=node.aliases, bound=node.bound)
    editor.status(new, node.status)
    for child in children:
        _copied(editor, child, new)


def _told(moved: Moved) -> str:
    """Say that a fact let a node go on, or blocked it."""
    return f"{moved.after.name} is {moved.after.status} now, since what it rests on changed."


def _replied(state: UserState, turn: Turn) -> TaskReply:
    """Return what was said to a turn, as it is stored."""
    commit = next((state.tasks.commit(number) for number in state.tasks.of_turn(turn.turn_id)), None)
    if commit is None:
        raise NotFoundError(f"User {turn.user!r} has no turn {turn.turn_id!r} any more: it was erased meanwhile.")
    return TaskReply(
        text=commit.reply,
        intents=commit.intents,
        edits=commit.edits,
        asks=bool(commit.asked),
        confidence=commit.confidence,
        by=commit.by,
        degraded=state.degraded.get(turn.turn_id, ""),
    )


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
