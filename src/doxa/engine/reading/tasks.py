"""What a turn tells the tasks, read by the grammar or by a language model, which is asked outside any lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from doxa.backends.llm import LanguageModel
from doxa.backends.parser import Parser
from doxa.core.config import Config
from doxa.core.errors import BackendError, DoxaError
from doxa.core.tasks import TaskCommit
from doxa.core.values import ToTasks, Turn
from doxa.engine.wiring.parts import Parts
from doxa.language import pared
from doxa.memory import TaskForest, UserState
from doxa.tasks import (
    Addressed,
    Encode,
    Material,
    Reading,
    Refused,
    Route,
    Step,
    carry_out,
    material_of,
    only_asks,
    read_with_model,
    refusals,
    route,
    take,
    unsure,
)

__all__ = ["NOTHING", "TaskReaders", "going_on", "kept", "meant", "propose", "routed", "step_of"]

CHAT = ("chat",)
NOTHING = ", but the tasks make nothing of it"
LOOKED_BACK = 12
"""How many turns of a session are looked at for tasks that are still spoken of."""
NOT_UNDERSTOOD = "This was not understood, so nothing was changed."


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReaders:
    """What reads turns about tasks without a language model, and by which settings."""

    parser: Parser
    addressed: Callable[[str], Addressed]
    """Tells how likely the words of a turn are said to tasks at all."""
    encode: Encode
    """Makes the vectors by which changes that were hardly meant are left out."""
    config: Config

    @classmethod
    def of(cls, parts: Parts) -> TaskReaders:
        """Return those of an engine."""
        return cls(parser=parts.parser, addressed=parts.addressed, encode=parts.own_vectors, config=parts.config)


def propose(turn: Turn, parts: Parts) -> Reading | None:
    """Return what a language model says that a turn tells the tasks; None where it is not asked.

    It is asked only by the setting `roles.tasks`: about every turn that may tell the tasks something (`prompted`), or
    about those that the grammar leaves open (`hybrid`). Of the turns of a conversation, a question that names no task
    tells them nothing; what any other one tells is for the model to say. A failure is a value: the grammar reads the
    turn then.

    Args:
        turn: a turn that was received and is not processed yet; those before it are.
        parts: what the engine is made of.

    Cost: one call, and one more where some of its acts do not hold (see `read_with_model`); with `hybrid`, the turn is
    read by the grammar, and there are calls where that is unsure.
    """
    reader = parts.config.roles.tasks
    if reader == "builtin" or turn.to_tasks is None or turn.to_tasks.intent or not turn.text.strip():
        return None
    try:
        model = parts.model()
    except DoxaError as exc:
        return Reading(failed=f"the language model that is to read could not be opened: {exc}")
    assert model is not None  # checked by `wire`
    with parts.log.user(turn.user) as state:
        if turn.ordinal <= state.maintained or state.turns.get(turn.ordinal) != turn:
            return None
        if turn.to_tasks.routed and not _may_tell(turn, state, parts):
            return None
        if reader == "hybrid" and not _left_open(turn, turn.to_tasks, state, parts):
            return None
        material = _material(turn, turn.to_tasks, state, parts, model)
    if material is None:
        tokens = parts.config.llm.context_tokens
        return Reading(failed=f"the turn is longer than {tokens} tokens (setting llm.context_tokens)")
    to_tasks = turn.to_tasks

    def check(acts: Sequence[Mapping[str, Any]]) -> list[Refused]:
        with parts.log.user(turn.user) as state:
            return refusals(acts, turn.text, state.tasks, parts.parser, turn.at, said_before=to_tasks.said_before)

    try:
        return read_with_model(model, material, check, max_tokens=parts.config.understand.max_tokens)
    except Exception as exc:  # noqa: BLE001  a model may write anything; the grammar reads the turn then
        return Reading(failed=f"what the language model read could not be carried out: {type(exc).__name__}")


def _may_tell(turn: Turn, state: UserState, parts: Parts) -> bool:
    """Tell whether a turn of a conversation is shown to the model: one that the grammar takes for the tasks.

    With `prompted`, any other that says something as well, or that answers what was asked back: what it tells is for
    the model to say.
    """
    if routed(turn, state, parts.parser)[0].to_tasks:
        return True
    if parts.config.roles.tasks != "prompted":
        return False
    last = state.tasks.commits[-1] if state.tasks.commits else None
    if last is not None and last.asked:
        return True
    try:
        return not only_asks(pared(turn.text), parts.parser, turn.at)
    except Exception:  # noqa: BLE001  one turn must not hold up all that come after it
        return True


def going_on(turn: Turn, state: UserState) -> bool:
    """Tell whether the tasks are what a user speaks of in the session of a turn.

    They are from a turn that they made something of on, through turns that they made nothing of though these seemed to
    be said to them, until one that did not.
    """
    for said in reversed([one for one in state.context(turn, LOOKED_BACK) if one.role == "user"]):
        commits = [state.tasks.commit(number) for number in state.tasks.of_turn(said.turn_id)]
        if any(one is not None and (one.edits or one.asked or one.intents != CHAT) for one in commits):
            return True
        note = state.notes.get(said.turn_id)
        if not commits and (note is None or not note.route.endswith(NOTHING)):
            return False
    return False


def routed(turn: Turn, state: UserState, parser: Parser) -> tuple[Route, str]:
    """Return whether a turn of a conversation is said to the tasks, and why that could not be told (empty when so)."""
    failed = ""
    try:
        return route(pared(turn.text), state.tasks, parser, turn.at, going_on=going_on(turn, state)), failed
    except BackendError as exc:
        failed = f"the parser failed, so the turn was not told to the tasks: {exc}"
    except Exception as exc:  # noqa: BLE001  kept as text: one turn must not hold up all that come after it
        failed = f"the turn could not be told to the tasks: {exc!r}"
    return Route(to_tasks=False, why=""), failed


def meant(turn: Turn, found: Route, state: UserState, readers: TaskReaders) -> tuple[bool, str]:
    """Return whether a change is likely meant for the tasks, and why that could not be told (empty when so)."""
    try:
        likely = readers.addressed(pared(turn.text))
    except BackendError as exc:
        return False, f"the encoder failed, so the turn was not told to the tasks: {exc}"
    return likely.meant(opens=found.opens, requests=found.requests, going_on=going_on(turn, state)), ""


def _left_open(turn: Turn, to_tasks: ToTasks, state: UserState, parts: Parts) -> bool:
    """Tell whether the grammar is unsure of a turn, or cannot read it."""
    step, failed = _by_grammar(turn, to_tasks, state.tasks, TaskReaders.of(parts))
    return bool(failed) or unsure(step, sure=parts.config.tasks.sure)


def _material(turn: Turn, to_tasks: ToTasks, state: UserState, parts: Parts, model: LanguageModel) -> Material | None:
    return material_of(
        turn.text,
        state.tasks,
        at=turn.at,
        speaker=turn.speaker,
        said_before=to_tasks.said_before,
        said_to="conversation" if to_tasks.routed else "tasks",
        budget=parts.config.llm.context_tokens,
        count_tokens=model.count_tokens,
    )


def step_of(
    turn: Turn, to_tasks: ToTasks, forest: TaskForest, readers: TaskReaders, reading: Reading | None
) -> tuple[Step, str]:
    """Return what a turn does to the tasks, and why that was not found as configured (empty when it was).

    What a model read is carried out where it holds against the turn and the tasks as they are now. Where the model
    failed, or the tasks have changed so that it does not hold any more, the grammar reads the turn.
    """
    if reading is None:
        return _by_grammar(turn, to_tasks, forest, readers)
    try:
        done = carry_out(
            reading, turn.text, forest, readers.parser, turn.at, said_before=to_tasks.said_before,
            doubted=readers.config.tasks.doubted,
        )  # fmt: skip
        step, refused = done.step, done.refused
    except Exception as exc:  # noqa: BLE001  a model may write anything; the grammar reads the turn then
        step, refused = None, type(exc).__name__
    if step is not None:
        return step, ""
    step, failed = _by_grammar(turn, to_tasks, forest, readers)
    told = f"what the language model read was not told to the tasks, so the built-in grammar read the turn: {refused}"
    return step, "; ".join(filter(None, (told, failed)))


def kept(reading: Reading | None, commit: TaskCommit | None) -> Mapping[str, Any]:
    """Return what is stored of a reading: its acts only where the commit carries them out, else what it cost."""
    if reading is None:
        return {}
    if commit is None or not commit.by:
        failed = reading.failed or ("it was refused" if commit is not None else "")
        reading = replace(reading, acts=(), asked=(), failed=failed)
    return reading.to_data()


def _by_grammar(turn: Turn, to_tasks: ToTasks, forest: TaskForest, readers: TaskReaders) -> tuple[Step, str]:
    said, below = to_tasks.said_before, readers.config.tasks.ask_below
    try:
        step = take(
            pared(turn.text),
            forest,
            readers.parser,
            turn.at,
            said_before=pared(said),
            ask_below=below,
            encode=readers.encode,
        )
        return step, ""
    except BackendError as exc:
        failed = f"the parser or the encoder failed, so the turn was not told to the tasks: {exc}"
    except Exception as exc:  # noqa: BLE001  kept as text: one turn must not hold up all that come after it
        failed = f"the turn could not be told to the tasks: {exc!r}"
    return Step(intents=("chat",), reply=NOT_UNDERSTOOD, confidence=0.0), failed
