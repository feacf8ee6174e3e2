"""What is done to the tasks from their page: each deed is one change, which the page then offers to take back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from doxa.core.errors import InputError
from doxa.core.tasks import Dependency, DependencyKind, NodeKind, TaskStatus
from doxa.transport.addressing import node_called
from doxa.transport.inspector.visit import Visit

if TYPE_CHECKING:
    from doxa.engine import Editor, Tasks

__all__ = ["DEEDS", "KINDS_OF_NEED", "POSTS"]

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


@dataclass(frozen=True, slots=True)
class Given:
    """What a form says, read for an editor."""

    visit: Visit
    tasks: Tasks
    about: str
    """The node; empty where the deed makes one."""

    def text(self, name: str) -> str:
        """Return a field. Raises InputError where it is too long."""
        found = self.visit.sent(name).strip()
        if len(found) > LONGEST:
            raise InputError(f"{name}: expected at most {LONGEST} characters, got {len(found)}.")
        return found

    def node(self, editor: Editor, name: str = "") -> str:
        """Return the id of the node that a field names, or of the one that the deed is about."""
        return node_called(editor, self.text(name) if name else self.about)

    def node_or_none(self, editor: Editor, name: str) -> str | None:
        """Return the id of the node that a field names; None for an empty one."""
        return self.node(editor, name) if self.text(name) else None

    def number(self, name: str) -> float:
        """Return a field that is a number; 0 for an empty one."""
        try:
            found = float(self.text(name) or 0)
        except ValueError:
            found = float("nan")
        if not abs(found) < 1e12:  # and no NaN
            raise InputError(f"{name}: expected a number, got {self.text(name)[:40]!r}.")
        return found

    def one_of(self, name: str, known: Mapping[str, object] | type[NodeKind]) -> str:
        """Return a field that is one of some words."""
        found, words = self.text(name), [str(one) for one in known]
        if found not in words:
            raise InputError(f"{name}: expected one of {', '.join(words)}, got {found[:40]!r}.")
        return found


def _set(editor: Editor, given: Given) -> None:
    text = given.text("value")
    editor.set(given.node(editor), given.tasks.value(text) if text else None)


def _add(editor: Editor, given: Given) -> None:
    kind, value = NodeKind(given.one_of("kind", NodeKind)), given.text("value")
    editor.add(
        given.text("name"),
        given.node_or_none(editor, "under"),
        kind=kind,
        value=given.tasks.value(value) if value else None,
        bound=int(given.number("bound")) if kind is NodeKind.LOOP else None,
    )


def _move(editor: Editor, given: Given) -> None:
    node, under = given.node(editor), given.node_or_none(editor, "under")
    if given.text("how") != "also":
        editor.move(node, under)
    elif under is None:
        raise InputError("under: expected the task that it is to be under as well, got nothing.")
    else:
        editor.link(node, under)


def _depend(editor: Editor, given: Given) -> None:
    kind: DependencyKind = given.one_of("kind", KINDS_OF_NEED)  # type: ignore[assignment]
    on, text = given.text("on"), given.text("text")
    if not on and (kind != "condition" or not text):
        raise InputError("on: expected what it depends on, or a condition in words; got nothing.")
    if on and kind != "fact":
        on = node_called(editor, on)
    shift, unit = (given.number("shift"), given.text("unit").rstrip("s")) if kind == "derived" else (0.0, "")
    editor.depend(given.node(editor), Dependency(on=on, kind=kind, shift=shift, unit=unit, text=text))


def _undepend(editor: Editor, given: Given) -> None:
    node = given.node(editor)
    needs = editor.node(node).depends
    place, on = int(given.number("place")), given.visit.sent("on")
    if not 0 <= place < len(needs) or needs[place].on != on:
        raise InputError("What it depends on was changed since this page was made. Load it again, then repeat.")
    editor.undepend(node, needs[place])
    if editor.node(node).status is TaskStatus.BLOCKED and not editor.node(node).depends:
        editor.status(node, TaskStatus.ACTIVE)


DEEDS: Mapping[str, tuple[str, Callable[[Editor, Given], object]]] = {
    "set": ("The value is set.", _set),
    "add": ("Added.", _add),
    "rename": ("Renamed; the old name finds it, too.", lambda one, given: one.rename(given.node(one), given.text("name"))),
    "done": ("Done.", lambda one, given: one.done(given.node(one))),
    "active": ("It is to be done.", lambda one, given: one.restore(given.node(one))),
    "removed": ("Removed.", lambda one, given: one.remove(given.node(one))),
    "move": ("Moved.", _move),
    "unlink": ("Taken from there.", lambda one, given: one.unlink(given.node(one), given.node(one, "under"))),
    "depend": ("It depends on that now.", _depend),
    "undepend": ("It no longer depends on that.", _undepend),
    "holds": ("The condition holds: it goes on.", lambda one, given: one.settle(given.node(one), holds=True)),
    "fails": ("The condition does not hold: it is removed.", lambda one, given: one.settle(given.node(one), holds=False)),
    "repeat": ("The next round has begun.", lambda one, given: one.repeat(given.node(one))),
    "again": ("It is as it was then.", lambda one, given: one.rollback(given.node(one), given.text("to"))),
}
"""What can be done to a node, each with what is said afterwards."""


def edit(visit: Visit) -> Response:
    """Carry one deed out, with what follows from it."""
    name, _, about = visit.sent("act").partition(" ")
    if name not in DEEDS:
        raise InputError(f"act: expected one of {', '.join(DEEDS)}, got {name[:40]!r}.")
    tasks = visit.room.tasks("write")
    given = Given(visit, tasks, about or visit.sent("node"))

    def carry_out(editor: Editor) -> int | None:
        DEEDS[name][1](editor, given)
        return _commit_of(editor)

    return _done(visit, name, tasks.edit(carry_out, follow=True))


def undo(visit: Visit) -> Response:
    """Take one change back, or do again what was taken back; what was changed since stays, and is told."""
    number = _number(visit)
    again = visit.room.view().board().step(number).commit.undoes is not None
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
