"""What later turns did to the tasks, told again once a turn is erased: nothing of it is left in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from doxa.backends.store import Row
from doxa.core.tasks import TaskCommit, TaskEdit, TaskNode, TaskValue
from doxa.core.values import ToTasks, Turn
from doxa.engine.tasking import taken_back
from doxa.memory import Accepted, Distrusted, Identified, Maintained, TaskEvent, Undone, UserState, Withdrawal
from doxa.tasks import pruned

__all__ = ["Retelling", "TaskReader"]

REREAD = "what stood before it was erased, so it was told to the tasks again without the language model"

TaskReader = Callable[[Turn, UserState, Maintained], TaskCommit | None]
"""Reads anew what a turn that was told to the tasks does to them in a state; the event is what was stored of it."""


@dataclass(slots=True)
class Retelling:
    """Folds the tasks again, row by row, without what was erased."""

    state: UserState
    gone: frozenset[str]
    """Texts that what is erased brought in: names and values."""
    reader: TaskReader | None = None
    """Reads later turns anew; without it, what they did is kept as far as it does not rest on what is gone."""
    unsure: set[str] = field(default_factory=set)
    """Nodes that had a value of what is erased: what follows them is worked out from it."""
    numbers: dict[int, int] = field(default_factory=dict)
    """What the commits that were told again were numbered, and are now."""

    @classmethod
    def without(cls, state: UserState, erased: Sequence[Row], reader: TaskReader | None) -> Retelling:
        """Return one that leaves out what these rows did."""
        edits = [edit for row in erased for edit in row.body.get("tasks", {}).get("edits", ())]
        gone = frozenset(text for edit in edits for text in _texts(edit))
        unsure = {edit["id"] for edit in edits if "value" in edit.get("set", {})}
        return cls(state=state, gone=gone, reader=reader, unsure=unsure)

    def keep(self, event: TaskEvent) -> TaskEvent:
        """Fold an event from before what was erased, and return it."""
        self._note(event)
        if (commit := event.commit(self.state.tasks)) is not None:
            self.state.tasks.apply(commit)
            self.numbers[commit.number] = commit.number
        return event

    def tell(self, event: TaskEvent) -> TaskEvent:
        """Fold an event from after it, and return it with what it now does to the tasks."""
        if isinstance(event, Maintained):
            event = replace(event, task_reading=pruned(event.task_reading))
        commit = self._told(event)
        self._note(event)
        if commit is not None:
            self.numbers[event.task_number] = commit.number
            self.state.tasks.apply(commit)
        event = replace(event, tasks=commit)
        return self._unread(event, commit) if isinstance(event, Maintained) else event

    def _unread(self, event: Maintained, commit: TaskCommit | None) -> Maintained:
        """Return an event without what a model had read of the turn, where that is not what is done.

        It rested on what is erased then, and may repeat it.
        """
        if not event.task_reading.get("acts") or (self.reader is not None and commit is not None and commit.by):
            return event
        return replace(event, task_reading={}, degraded=event.degraded or REREAD)

    def _note(self, event: TaskEvent) -> None:
        """Keep how a turn was understood: the next one may go on from the tasks through it."""
        if isinstance(event, Maintained) and event.about is not None:
            self.state.notes[event.about.turn_id] = event.note

    def _told(self, event: TaskEvent) -> TaskCommit | None:
        forest = self.state.tasks
        match event:
            case Maintained(about=Turn(to_tasks=ToTasks()) as turn) if self.reader is not None:
                return self.reader(turn, self.state, event)
            case Withdrawal() | Undone() | Identified() | Accepted() if event.tasks is not None:
                return taken_back(forest, self._numbers(event), event.changes, at=event.known_at)
        said = event.commit(forest)
        if said is None or said.undoes is None:
            return said and self._scrubbed(said)
        again = taken_back(forest, self._numbers(event), (), at=said.at)
        return again and replace(again, turn_id=said.turn_id, author=said.author, text=said.text, intents=said.intents)

    def _numbers(self, event: TaskEvent) -> list[int]:
        """Return the commits that an event takes back, of those that there still are."""
        if isinstance(event, Distrusted):
            name = event.target.casefold()
            turns = [turn.turn_id for turn in self.state.turns.values() if turn.speaker.casefold() == name]
            return [number for turn_id in turns for number in self.state.tasks.of_turn(turn_id)]
        undoes = event.tasks.get("undoes") if isinstance(event.tasks, Mapping) else None
        return [self.numbers[undoes]] if undoes in self.numbers else []

    def _scrubbed(self, commit: TaskCommit) -> TaskCommit | None:
        """Return a commit without what rests on nodes that are gone, or repeats what was erased."""
        known = {edit.node_id for edit in commit.edits} | self.state.tasks.nodes.keys()
        allowed = {text for node in self.state.tasks.nodes.values() for text in _texts_of(node)}
        edits: list[TaskEdit] = []
        left = set(known)
        for edit in commit.edits:
            after = self._without(edit, left, self.gone - allowed)
            if after is None:
                left.discard(edit.node_id)
            elif after != edit.before:
                edits.append(replace(edit, after=after))
        if not edits:
            return None
        left |= self.state.beliefs.facts.keys()  # the id of a fact can be guessed from what it says
        kept = [replace(edit, after=_held(edit.after, left)) for edit in edits if edit.after is not None]
        focus = tuple(key for key in commit.focus if key in left)
        number = self.state.tasks.next_number
        return replace(commit, number=number, edits=tuple(kept), reply="", asked="", focus=focus)

    def _without(self, edit: TaskEdit, known: set[str], gone: frozenset[str]) -> TaskNode | None:
        """Return a node as an edit leaves it, less what is gone; None for a new one whose name is."""
        before, after = edit.before, edit.after
        if after is None or after.name in gone:
            if before is None or after is None:
                return None
            after = replace(after, name=before.name)
        value, was = after.value, before.value if before is not None else None
        if value is not None and value != was:
            lost = any(d.kind == "derived" and (d.on not in known or d.on in self.unsure) for d in after.depends)
            if lost or value.text in gone:
                self.unsure.add(edit.node_id)
                value = was
            else:
                self.unsure.discard(edit.node_id)
        return replace(
            after,
            value=value,
            aliases=tuple(alias for alias in after.aliases if alias not in gone),
            depends=tuple(replace(d, text="") if d.text in gone else d for d in after.depends),
        )


def _held(node: TaskNode, known: set[str]) -> TaskNode:
    """Return a node under those of its parents that there are, with what it depends on that there is."""
    links = [(parent, place) for parent, place in zip(node.parents, node.places, strict=True) if parent in known]
    return replace(
        node,
        parents=tuple(parent for parent, _ in links),
        places=tuple(place for _, place in links),
        depends=tuple(needed for needed in node.depends if not needed.on or needed.on in known),
    )


def _texts(edit: Mapping[str, Any]) -> Iterator[str]:
    """Give the names, values and stated rules that a stored edit brings in."""
    fields = edit.get("set", {})
    yield from (text for text in (fields.get("name"), (fields.get("value") or {}).get("text")) if text)
    yield from fields.get("aliases", ())
    yield from (needed["text"] for needed in fields.get("depends", ()) if needed.get("text"))


def _texts_of(node: TaskNode) -> Iterator[str]:
    value: TaskValue | None = node.value
    yield from (node.name, *node.aliases, *((value.text,) if value is not None else ()))
    yield from (needed.text for needed in node.depends if needed.text)
