"""The tools `correct` and `forget`: what is believed wrongly -> set right; what must not be kept -> gone for good."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.types import InputRequiredResult
from pydantic import BaseModel, Field

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Certificate, Change, Dispute
from doxa.engine import Memory
from doxa.transport.mcp.acts import Given
from doxa.transport.mcp.asking import ask, can_ask
from doxa.transport.mcp.remembering import choose
from doxa.transport.mcp.rooms import here
from doxa.transport.mcp.shapes import ChangeOut, change_out, within

__all__ = ["CONFIRM", "Confirm", "ErasedOut", "correct", "erase_everything", "forget"]

CONFIRM = "erase everything"
CHANGES_TOKENS = 2000
NOTHING_UNDONE = "No fact changed: the last change had changed none, or nothing is left to take back."
Confirm = Annotated[str | None, Field(description=f'Where the client cannot ask its user: "{CONFIRM}".')]
Action = Literal[
    "retract", "accept", "keep_both", "withdraw_turn", "withdraw_source", "merge", "split", "decide", "undo"
]


class CorrectOut(Given):
    """What became of facts."""

    changes: list[ChangeOut]
    decided: str | None = Field(None, description="What the user chose, where they were asked.")
    preview: bool = Field(False, description="True where nothing was changed.")
    note: str | None = Field(None, description="Why there are no changes, after an `undo` that changed no fact.")
    left_out: int = Field(0, description="Further changes that are not shown.")


class ErasedOut(Given):
    """Proof of what was erased; it repeats none of it."""

    erased: bool
    turn_ids: list[str] = Field([], description="The turns that are gone.")
    counts: dict[str, int] = Field({}, description="Records removed, by kind.")
    at: datetime | None = None
    digest: str | None = Field(None, description="Of this certificate.")
    note: str | None = None


async def correct(
    context: Context[Any, Any],
    action: Annotated[
        Action,
        Field(
            description="`retract` a fact that never was true; `accept` one that is so, though it is not believed or "
            "is disputed; `keep_both` of facts that are disputed and all are so; `withdraw_turn` or `withdraw_source` "
            "that is not trusted; `merge` two names of one person or thing, `split` what was taken for one; `decide` "
            "which fact of a contradiction is right; `undo` the last change."
        ),
    ],
    id: Annotated[
        str | None,
        Field(description="The fact (retract, accept; decide: the right one), the turn, or the name of the source."),
    ] = None,
    ids: Annotated[list[str] | None, Field(description="All facts of the dispute (keep_both).", max_length=100)] = None,
    names: Annotated[list[str] | None, Field(description="The two names (merge, split).", max_length=2)] = None,
    reason: Annotated[str, Field(description="Why; it is kept in the history.")] = "",
    preview: Annotated[
        bool, Field(description="Only tell what it would change (retract, accept, keep_both, withdraw).")
    ] = False,
) -> CorrectOut | InputRequiredResult:
    """Set right what is believed. Nothing is erased: what was said is kept, and `undo` takes a correction back.

    Use it when the user says that something remembered is wrong, that a source cannot be trusted, or that two names
    mean the same person. What merely changed ("I moved") is no correction: `remember` it. With `decide` and no id the
    user is asked, where the client can ask them.
    """
    here().memory("read")  # what it gives back tells what is believed
    memory = here().memory("write")
    if action == "decide":
        return await _decide(context, memory, id)
    changes = await anyio.to_thread.run_sync(lambda: _acted(memory, action, id, ids or names, reason, preview=preview))
    shown = within([change_out(one, memory) for one in changes], CHANGES_TOKENS)
    note = NOTHING_UNDONE if action == "undo" and not changes else None
    return CorrectOut(changes=shown, preview=preview, note=note, left_out=len(changes) - len(shown))


def _acted(
    memory: Memory, action: Action, id: str | None, several: list[str] | None, reason: str, *, preview: bool
) -> list[Change]:
    if preview and action in ("undo", "merge", "split", "decide"):
        raise InputError(
            f"correct: `preview` tells what retract, accept, keep_both and withdraw would change, not {action}."
        )
    if action == "undo":
        return memory.undo()
    if action in ("merge", "split"):
        if several is None or len(several) != 2:
            raise InputError(f"correct: {action} takes two `names`, got {several!r}.")
        pair = memory.merge if action == "merge" else memory.split
        return pair(several[0], several[1], reason=reason)
    if action == "keep_both":
        ids = several or []
        return memory.what_if(keep_both=ids) if preview else memory.keep_both(ids, reason=reason)
    if not id:
        raise InputError(f"correct: {action} takes the `id` of what it is about; `recall` gives ids.")
    if action == "retract":
        return memory.what_if(retract=id) if preview else memory.retract(id, reason=reason)
    if action == "accept":
        return memory.what_if(accept=id) if preview else memory.accept(id, reason=reason)
    if action == "withdraw_turn":
        return memory.what_if(withdraw=id) if preview else memory.withdraw(turn_id=id, reason=reason)
    return memory.what_if(source=id) if preview else memory.withdraw(source=id, reason=reason)


async def _decide(context: Context[Any, Any], memory: Memory, right: str | None) -> CorrectOut | InputRequiredResult:
    disputes = await anyio.to_thread.run_sync(memory.disputes)
    if not disputes:
        raise NotFoundError("There is no contradiction that waits for a decision.")
    if right is not None:
        return await anyio.to_thread.run_sync(_decided, memory, disputes, right)
    if not can_ask(context):
        first = disputes[0]
        known = ", ".join(f"{fact.fact_id}: {memory.describe(fact)}" for fact in first.facts)
        raise InputError(f"correct: decide takes the `id` of the fact that is right ({known}). {first.question}")
    chosen = await choose(context, memory, disputes[0])
    return chosen if isinstance(chosen, InputRequiredResult) else CorrectOut(changes=[], decided=chosen)


def _decided(memory: Memory, disputes: list[Dispute], right: str) -> CorrectOut:
    of = next((one for one in disputes if right in {fact.fact_id for fact in one.facts}), None)
    if of is None:
        known = ", ".join(fact.fact_id for one in disputes for fact in one.facts)
        raise NotFoundError(
            f"The fact {right!r} is part of no contradiction that waits for a decision; these are: {known}."
        )
    text = memory.describe(next(fact for fact in of.facts if fact.fact_id == right))
    changes = memory.accept(right, reason="it was decided")
    return CorrectOut(changes=within([change_out(one, memory) for one in changes], CHANGES_TOKENS), decided=text)


class Sure(BaseModel):
    """What the user is asked before everything goes."""

    erase: bool = Field(description="Erase everything, for good")


async def forget(
    context: Context[Any, Any],
    turn_id: Annotated[str | None, Field(description="The turn to erase.")] = None,
    everything: Annotated[bool, Field(description="Erase all that is remembered of the user.")] = False,
    confirm: Annotated[
        str | None,
        Field(description=f'With `everything`, only when the user has asked for it in so many words: "{CONFIRM}".'),
    ] = None,
) -> ErasedOut | InputRequiredResult:
    """Erase a turn, or everything, for good: text, vectors and all facts that rest on it alone. It cannot be undone.

    Use it only when the user asks that something be deleted. What is merely wrong is for `correct`. The result is a
    certificate that counts what went. Before everything goes, the user is asked where the client can ask them.
    """
    if (turn_id is None) == (not everything):
        raise InputError("forget: give either `turn_id` or `everything`: true.")
    if everything:
        return await erase_everything(context, confirm=confirm)
    memory = here().memory("erase")
    return certified(await anyio.to_thread.run_sync(lambda: memory.forget(turn_id=turn_id)))


async def erase_everything(context: Context[Any, Any], *, confirm: str | None) -> ErasedOut | InputRequiredResult:
    """Erase all that is remembered, once the user agrees: asked by the client, or by the words of `CONFIRM`."""
    memory = here().memory("erase")
    if can_ask(context):
        turns = (await anyio.to_thread.run_sync(memory.stats))["turns"]
        message = (
            f"Erase everything that is remembered of {memory.user}, for good? That is {turns} turns and all facts."
        )
        answer = await ask(context, message, Sure)
        if isinstance(answer, InputRequiredResult):
            return answer
        if not (isinstance(answer, Sure) and answer.erase):
            return ErasedOut(erased=False, note="The user did not agree, so nothing was erased.")
    elif confirm != CONFIRM:
        raise InputError(
            "Nothing was erased: this client cannot ask its user. If they want it, call again with "
            f"confirm: {CONFIRM!r}."
        )
    return certified(await anyio.to_thread.run_sync(lambda: memory.forget(everything=True)))


def certified(certificate: Certificate) -> ErasedOut:
    """Return what is shown of a certificate."""
    return ErasedOut(
        erased=True,
        turn_ids=list(certificate.turn_ids),
        counts=dict(certificate.erased),
        at=certificate.at,
        digest=certificate.digest,
    )
