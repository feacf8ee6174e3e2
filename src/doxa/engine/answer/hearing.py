"""A turn -> what the tasks make of it, and whether they reply to it or the facts do."""

from __future__ import annotations

from dataclasses import dataclass

from doxa.core.tasks import TaskCommit
from doxa.core.trace import Tracer
from doxa.core.values import Change, ChangeKind, Reply, ToTasks, Turn
from doxa.engine.answer.disputes import disputes_of
from doxa.engine.asked import Asked
from doxa.engine.reading.tasks import TaskReaders
from doxa.engine.reading.turns import read_by
from doxa.engine.tasking import NOTHING, tasks_of
from doxa.engine.wiring.parts import Parts
from doxa.memory import Note, UserState
from doxa.tasks import names_known

__all__ = ["Heard", "hear", "prefers_facts", "task_reply"]

OFF = "nothing but tasks.tell reaches the tasks (setting tasks.route, or the argument `to`)"
ASKING = frozenset(("check", "finalize"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What the tasks make of a turn."""

    commit: TaskCommit | None = None
    """None where the turn is none of theirs, or they make nothing of it."""
    sure: bool = False
    """The facts need not be asked: it changes the tasks, or names nothing that these do not know."""
    told: frozenset[str] = frozenset()
    """The ids of the turns that were told to the tasks."""
    changes: tuple[Change, ...] = ()
    """What the turn changed of what is believed."""
    questions: tuple[str, ...] = ()
    """What has to be settled since."""


def hear(asked: Asked, parts: Parts, tracer: Tracer) -> Heard:
    """Return what the tasks make of a turn, as it was processed; of one that is not processed yet, or is asked without
    being remembered, as it reads over the tasks that there are. The trace says where it goes, and why."""
    with tracer.step("route") as note, parts.log.user(asked.user) as state:
        own = state.turn(asked.turn_id) if asked.turn_id else None
        commit, why = _made(asked, own, state, parts)
        if own is not None and own.turn_id in state.degraded:
            note["degraded"] = state.degraded[own.turn_id]
        if commit is not None and not (commit.edits or commit.asked or set(commit.intents) - {"chat"}):
            commit, why = None, f"{why}{NOTHING}"
        note.update(to="facts" if commit is None else "tasks", why=why)
        if commit is None:
            return Heard()
        note.update(intents=commit.intents, commit=commit.number)
        if commit.by:
            note["by"] = commit.by
        asks = not commit.edits and not commit.asked and set(commit.intents) <= ASKING
        sure = not asks or names_known(asked.text, state.tasks, parts.parser, asked.at)
        if sure and own is not None and (understood := read_by(state.notes.get(own.turn_id, Note()))):
            note["understood"] = understood  # no later step tells of it
        told = frozenset() if sure else frozenset(one.turn_id for one in state.tasks.commits)
        changes = state.beliefs.changes_by(own.turn_id) if own is not None else []
        disputed = [change.fact for change in changes if change.kind is ChangeKind.DISPUTE]
        questions = tuple(dispute.question for dispute in disputes_of(state, disputed))
        return Heard(commit=commit, sure=sure, told=told, changes=tuple(changes), questions=questions)


def _made(asked: Asked, own: Turn | None, state: UserState, parts: Parts) -> tuple[TaskCommit | None, str]:
    """Return what a turn does to the tasks, and why it was said to them or was not."""
    if own is None:
        return _asked(asked, state, parts)
    if own.to_tasks is None:
        return None, OFF
    if own.ordinal > state.maintained:
        found = tasks_of(own, (), state, TaskReaders.of(parts))
        return found.commit, found.route or "it was told to the tasks"
    commit = next((state.tasks.commit(number) for number in state.tasks.of_turn(own.turn_id)), None)
    note = state.notes.get(own.turn_id)
    return commit, (note.route if note is not None else "") or "it was told to the tasks"


def _asked(asked: Asked, state: UserState, parts: Parts) -> tuple[TaskCommit | None, str]:
    """Return how a question that is not remembered is answered from the tasks as they are."""
    if parts.config.tasks.route == "off":
        return None, OFF
    if not state.tasks.commits:
        return None, "there are no tasks"
    if asked.as_of is not None or asked.known_at is not None:
        return None, "another time is asked about"
    turn = Turn(
        turn_id="", user=asked.user, session=asked.session, speaker=asked.speaker, role="user", text=asked.text,
        at=asked.at, ordinal=state.ordinal + 1, to_tasks=ToTasks(routed=True),
    )  # fmt: skip
    found = tasks_of(turn, (), state, TaskReaders.of(parts))
    if found.commit is not None and found.commit.edits:
        return None, "it is no question, and what is asked changes nothing"
    return found.commit, found.route


def prefers_facts(heard: Heard, reply: Reply, tracer: Tracer) -> bool:
    """Tell whether the facts reply to a question that the tasks answer too, but that names what these do not know.

    They do where they answer it, and not only from what was told to the tasks.

    Args:
        heard: what the tasks make of it.
        reply: the answer from the facts.
        tracer: is told who replies.
    """
    with tracer.step("choose") as note:
        answered = reply.value is not None and not reply.abstained
        others = [cited.turn_id for cited in reply.citations if cited.turn_id not in heard.told]
        facts = answered and bool(others)
        why = f"it names what no task knows, and the facts {'answer it' if facts else 'have no answer of their own'}"
        note.update(to="facts" if facts else "tasks", why=why)
        return facts


def task_reply(heard: Heard, tracer: Tracer) -> Reply:
    """Return what the tasks say to a turn, with what the turn changed of what is believed."""
    commit = heard.commit
    if commit is None:
        raise ValueError("the turn was not said to the tasks")
    return Reply(
        text=" ".join((commit.reply, *heard.questions)),
        revisions=tuple(change for change in heard.changes if change.revises),
        intents=commit.intents,
        trace=tracer.trace(),
        confidence=commit.confidence,
    )
