"""Task -> answer by a language model, asked outside any lock; whatever it does, there is an answer from memory."""

from __future__ import annotations

from collections.abc import Callable

from doxa.backends.llm import Budget
from doxa.core.errors import BackendError
from doxa.core.values import Draft, Turn
from doxa.engine.wiring import Parts
from doxa.reason.prompted import Asking, PromptedWriter, show
from doxa.reason.tree import State, Task

__all__ = ["asking_of", "written"]


def asking_of(task: Task, parts: Parts, turn: Callable[[str], Turn | None], *, believed: str = "") -> Asking:
    """Return what all prompted roles of one question share, with a budget of its own.

    Args:
        task: the question.
        parts: what the engine is made of; a language model is configured.
        turn: gives the turn of an id.
        believed: what is believed and bears on the question, with turn ids (`summarise`).

    Raises:
        BackendError: the model cannot be opened.
    """
    model, settings, limits = parts.model(), parts.config.llm, parts.config.reason
    assert model is not None  # the caller has looked at `llm.name`
    shown = show(
        task, turn, believed=believed, context_tokens=settings.context_tokens, count_tokens=model.count_tokens
    )  # fmt: skip
    return Asking(
        model=model,
        shown=shown,
        turn=turn,
        budget=Budget(calls=limits.calls, tokens=limits.tokens, seconds=limits.seconds),
        parallel=limits.parallel,
        context_tokens=settings.context_tokens,
        max_tokens=settings.max_tokens,
    )


def written(
    task: Task,
    builtin: Draft,
    parts: Parts,
    turn: Callable[[str], Turn | None],
    note: dict[str, object],
    *,
    state: State | None = None,
    believed: str = "",
) -> Draft:
    """Return the answer that the language model writes, or the built-in one where the model's is of no use.

    Memory answers when the model fails, refuses, or says what rests on nothing it was shown; and when no word of the
    model's value was shown while memory has an answer of its own. `note` is told of it.

    Args:
        task: the question.
        builtin: the answer without a model.
        parts: what the engine is made of; a language model is configured.
        turn: gives the turn of an id.
        note: the detail of the step, for the trace.
        state: what was found on the way to the answer; None for nothing beyond the task.
        believed: what is believed and bears on the question, with turn ids.

    Cost: one call; two when the first answer did not fit its schema.
    """
    note["model"] = parts.config.llm.name
    try:
        asking = asking_of(task, parts, turn, believed=believed)
    except BackendError as exc:
        note["degraded"] = f"the language model could not be opened, so the built-in writer answered: {exc}"
        return builtin
    (one,) = PromptedWriter(asking).written([state or State()], task)
    note.update(asking.note())
    kept = one.draft if one is not None else None
    if one is not None and one.strange and not builtin.abstained:
        asking.dropped.append("the language model's answer is in words that it was not shown")
        kept = None
    reason = asking.degraded()
    if kept is None:
        reason = f"the language model is of no use here, so the built-in writer answered: {reason}"
    if reason:
        note["degraded"] = reason
    return builtin if kept is None else kept
