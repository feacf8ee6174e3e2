"""Question -> answer by a language model, asked outside any lock; whatever it does, there is an answer from memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from doxa.backends.llm import Budget
from doxa.core.errors import BackendError
from doxa.core.values import Draft, Turn
from doxa.engine.answer.reasoning import Reasoning, chain_writer
from doxa.engine.wiring.parts import Parts
from doxa.reason import (
    Asking,
    PromptedPolicy,
    PromptedValuer,
    PromptedWriter,
    State,
    Task,
    search_tree,
    show,
    tree_data,
)

__all__ = ["Material", "is_prompted", "searched", "written"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a language model is given to answer from."""

    task: Task
    builtin: Draft
    """The answer without a model."""
    believed: str
    """What is believed and bears on the question, with turn ids (`summarise`); empty for nothing."""
    turn: Callable[[str], Turn | None]
    """Gives the turn of an id."""
    version: int = 0
    """The row of the log up to which it is known."""


def is_prompted(reasoning: Reasoning, parts: Parts) -> bool:
    """Tell whether a language model plays the roles of the search.

    It does by the setting `roles.reason`, and only where the answer at the root is not sure: that costs one call, to
    write it, whoever plays the roles.
    """
    return parts.config.roles.reason == "prompted" and not reasoning.sure


def searched(material: Material, reasoning: Reasoning, parts: Parts, note: dict[str, object]) -> Draft:
    """Return the best answer of a search whose moves and values come from the language model.

    So do its answers, unless the built-in writer is to write them (`roles.write`). The built-in answer takes part in
    it. A call that fails costs a branch; a budget that is spent ends the search with the best that there is; and where
    all fails the built-in answer is the answer. `note` is told of it.

    Cost: at most one call for each state that is expanded and each that is reached, those of a level at the same time,
    within the budget of `reason.calls`, `reason.tokens` and `reason.seconds`.
    """
    note["model"] = parts.config.llm.name
    try:
        asking = _asking(material, parts)
    except BackendError as exc:
        note["degraded"] = f"the language model could not be opened, so the built-in roles answered: {exc}"
        return material.builtin
    writes = parts.config.roles.write == "prompted"
    writer = PromptedWriter(asking) if writes else chain_writer(reasoning)
    note["written_by"] = parts.config.llm.name if writes else "builtin"
    tree = search_tree(
        material.task,
        PromptedPolicy(asking, reasoning.tools.entity, reasoning.spec.depth),
        PromptedValuer(asking),
        writer,
        reasoning.tools,
        reasoning.spec,
        first=material.builtin,
        halted=asking.spent,
    )
    note.update(asking.note(), sent={"version": material.version, **asking.sent()})
    note["tree"] = tree_data(tree)
    draft = tree.draft or material.builtin
    reason = asking.degraded()
    if reason and draft == material.builtin:
        reason = f"the answer is the built-in one: {reason}"
    if reason:
        note["degraded"] = reason
    note.update(_own(draft))
    return draft


def written(material: Material, state: State, parts: Parts, note: dict[str, object]) -> Draft:
    """Return the answer that the language model writes, or the built-in one where the model's is of no use.

    Memory answers when the model fails, refuses, or says what rests on nothing it was shown; and when no word of the
    model's value was shown while memory has an answer of its own. `note` is told of it.

    Args:
        material: what to answer from.
        state: what was found on the way to the answer; the root for nothing beyond the material.
        parts: what the engine is made of; a language model is configured.
        note: the detail of the step, for the trace.

    Cost: one call; two when the first answer did not fit its schema.
    """
    note["model"] = parts.config.llm.name
    try:
        asking = _asking(material, parts)
    except BackendError as exc:
        note["degraded"] = f"the language model could not be opened, so the built-in writer answered: {exc}"
        return material.builtin
    (one,) = PromptedWriter(asking).written([state], material.task)
    note.update(asking.note(), sent={"version": material.version, **asking.sent()})
    kept = one.draft if one is not None else None
    if one is not None and one.strange and not material.builtin.abstained:
        asking.dropped.append("the language model's answer is in words that it was not shown")
        kept = None
    reason = asking.degraded()
    if kept is None:
        reason = f"the language model is of no use here, so the built-in writer answered: {reason}"
    if reason:
        note["degraded"] = reason
    draft = material.builtin if kept is None else kept
    note.update(_own(draft))
    return draft


def _own(draft: Draft) -> dict[str, object]:
    """Return what the trace says of an answer that rests on more than the memory."""
    return {"knowledge": "part of it is the model's own"} if draft.general else {}


def _asking(material: Material, parts: Parts) -> Asking:
    """Return what all prompted roles of one question share, with a budget of its own.

    Raises:
        BackendError: the model cannot be opened.
    """
    model, settings, limits = parts.model(), parts.config.llm, parts.config.reason
    assert model is not None  # checked by `wire`
    shown = show(
        material.task, material.turn, believed=material.believed, context_tokens=settings.context_tokens,
        count_tokens=model.count_tokens,
    )  # fmt: skip
    return Asking(
        model=model,
        shown=shown,
        turn=material.turn,
        budget=Budget(calls=limits.calls, tokens=limits.tokens, seconds=limits.seconds),
        parallel=limits.parallel,
        context_tokens=settings.context_tokens,
        max_tokens=settings.max_tokens,
        general=limits.knowledge == "open",
    )
