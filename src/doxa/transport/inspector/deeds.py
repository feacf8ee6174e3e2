"""What is done to the tasks from their page: each deed is one change, which the page then offers to take back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from starlette.responses import Response

from doxa.core.errors import InputError
from doxa.core.tasks import Dependency, DependencyKind, NodeKind, TaskStatus, TaskValue
from doxa.transport.addressing import node_called
from doxa.transport.inspector.visit import Visit

if TYPE_CHECKING:
    from doxa.engine import Editor, Tasks

__all__ = ["DEEDS", "KINDS_OF_NEED", "LONGEST", "POSTS", "UNITS"]

Word = TypeVar("Word", bound=str)
LONGEST = 2_000
"""Characters of a name, a value or a condition."""
MOST_TOLD = 6
"""Fields that stay as they are which are told of."""
KINDS_OF_NEED: Mapping[DependencyKind, str] = {
    "before": "waits until this is there",
    "derived": "its value follows the one of",
    "condition": "only if",
    "fact": "rests on the fact",
}
UNITS = ("", "minute", "hour", "day", "week", "month", "year")
"""What a value that follows another one is moved by; without one, it is a number that is added."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a form says, read for an editor."""

    visit: Visit
    tasks: Tasks

    def text(self, name: str) -> str:
        """Return a field. Raises InputError where it is too long."""
        found = self.visit.sent(name).strip()
        if len(found) > LONGEST:
            raise InputError(f"{name}: expected at most {LONGEST} characters, got {len(found)}.")
        return found

    def value(self) -> TaskValue | None:
        """Return the field `value` as one; None for an empty one."""
        text = self.text("value")
        return self.tasks.value(text) if text else None

    def node(self, editor: Editor, name: str) -> str | None:
        """Return the id of the node that a field names; None for an empty one."""
        found = self.text(name)
        return node_called(editor, found) if found else None

    def number(self, name: str) -> float:
        """Return a field that is a number; 0 for an empty one."""
        try:
            found = float(self.text(name) or 0)
        except ValueError:
            found = float("nan")
        if not abs(found) < 1e12:  # and no NaN
            raise InputError(f"{name}: expected a number, got {self.text(name)[:40]!r}.")
        return found

    def one_of(self, name: str, known: Collection[Word]) -> Word:
        """Return a field that is one of some words."""
        found = self.text(name)
        for word in known:
            if word == found:
                return word
        raise InputError(f"{name}: expected one of {', '.join(filter(None, known))}, got {found[:40]!r}.")


def _add(editor: Editor, _: str, given: Given) -> None:
    kind = given.one_of("kind", tuple(NodeKind))
    editor.add(given.text("name"), given.node(editor, "under"), kind=kind, value=given.value())


def _move(editor: Editor, key: str, given: Given) -> None:
    under = given.node(editor, "under")
    if given.text("how") != "also":
        editor.move(key, under)
    elif under is None:
        raise InputError("under: expected the task that it is to be under as well, got nothing.")
    else:
        editor.link(key, under)


def _unlink(editor: Editor, key: str, given: Given) -> None:
    under = given.node(editor, "under")
    if under is not None:
        editor.unlink(key, under)


def _depend(editor: Editor, key: str, given: Given) -> None:
    kind, on, text = given.one_of("kind", tuple(KINDS_OF_NEED)), given.text("on"), given.text("text")
    if not on and (kind != "condition" or not text):
        raise InputError("on: expected what it depends on, or a condition in words; got nothing.")
    if on and kind != "fact":
        on = node_called(editor, on)
    shift, unit = (given.number("shift"), given.one_of("unit", UNITS)) if kind == "derived" else (0.0, "")
    editor.depend(key, Dependency(on=on, kind=kind, shift=shift, unit=unit, text=text))


def _undepend(editor: Editor, key: str, given: Given) -> None:
    needs, place = editor.node(key).depends, int(given.number("place"))
    if not 0 <= place < len(needs) or needs[place].on != given.text("on"):
        raise InputError("What it depends on was changed since this page was made. Load it again, then repeat.")
    editor.undepend(key, needs[place])
    if editor.node(key).status is TaskStatus.BLOCKED and len(needs) == 1:
        editor.status(key, TaskStatus.ACTIVE)


DEEDS: Mapping[str, tuple[str, Callable[[Editor, str, Given], object]]] = {
    "add": ("Added.", _add),
    "set": ("The value is set.", lambda one, key, given: one.set(key, given.value())),
    "rename": ("Renamed; the old name finds it, too.", lambda one, key, given: one.rename(key, given.text("name"))),
    "done": ("Done.", lambda one, key, _: one.done(key)),
    "active": ("It is to be done.", lambda one, key, _: one.restore(key)),
    "removed": ("Removed.", lambda one, key, _: one.remove(key)),
    "move": ("Moved.", _move),
    "unlink": ("Taken from there.", _unlink),
    "depend": ("It depends on that now.", _depend),
    "undepend": ("It no longer depends on that.", _undepend),
    "holds": ("The condition holds: it goes on.", lambda one, key, _: one.settle(key, holds=True)),
    "fails": ("The condition does not hold: it is removed.", lambda one, key, _: one.settle(key, holds=False)),
    "repeat": ("The next round has begun.", lambda one, key, _: one.repeat(key)),
    "again": ("It is as it was then.", lambda one, key, given: one.rollback(key, given.text("to"))),
}
"""What can be done to a node, each with what is said afterwards."""


def edit(visit: Visit) -> Response:
    """Carry one deed out, with what follows from it."""
    name, _, about = visit.sent("act").partition(" ")
    if name not in DEEDS:
        raise InputError(f"act: expected one of {', '.join(DEEDS)}, got {name[:40]!r}.")
    tasks, about = visit.room.tasks("write"), about or visit.sent("node")
    given = Given(visit, tasks)
    if name == "depend" and given.text("kind") == "fact":
        visit.room.view().fact(given.text("on"))

    def carry_out(editor: Editor) -> int | None:
        DEEDS[name][1](editor, "" if name == "add" else node_called(editor, about), given)
        return _commit_of(editor)

    return _done(visit, name, tasks.edit(carry_out, follow=True))


def undo(visit: Visit) -> Response:
    """Take one change back, or do again what was taken back; what was changed since stays, and is told."""
    number = _number(visit)
    again = visit.room.view().board().step(number).takes_back
    undone = visit.room.tasks("write").undo(number)
    if undone.kept and not undone:
        board = visit.room.view().board()
        names = board.names(node for node, _ in undone.kept)
        told = ", ".join(f"{names.get(node, node)} ({name})" for node, name in undone.kept[:MOST_TOLD])
        raise InputError(f"All of it was changed again since, and stays: {told}. Take the later changes back first.")
    kept = ",".join(f"{node}.{name}" for node, name in undone.kept[:MOST_TOLD])
    done = "nothing" if undone.number is None else "redone" if again else "undone"
    return visit.back(done=done, change=None, kept=kept or None)


def rollback(visit: Visit) -> Response:
    """Bring everything back to how it was after a change."""
    number = _number(visit)
    visit.room.view().board().step(number)

    def carry_out(editor: Editor) -> int | None:
        editor.rollback(None, number)
        return _commit_of(editor)

    return _done(visit, "rolled", visit.room.tasks("write").edit(carry_out))


def _commit_of(editor: Editor) -> int | None:
    """Return the number that the commit of an editor will have; None where nothing is otherwise than before."""
    return editor.forest.next_number if editor.changed() else None


def _done(visit: Visit, name: str, number: int | None) -> Response:
    return visit.back(done="nothing" if number is None else name, change=number, kept=None)


def _number(visit: Visit) -> int:
    given = visit.sent("number")
    if not given.isdecimal() or len(given) > 12:
        raise InputError(f"number: expected the number of a change of the tasks, got {given[:40]!r}.")
    return int(given)


POSTS = {"tasks/edit": edit, "tasks/undo": undo, "tasks/redo": undo, "tasks/rollback": rollback}
