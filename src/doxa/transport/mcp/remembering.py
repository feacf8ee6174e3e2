"""The tool `remember`: what somebody said -> receipts, what it changed, and what the user has to decide."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.types import InputRequiredResult
from pydantic import BaseModel, Field, create_model

from doxa.core.errors import InputError
from doxa.core.values import Dispute, Receipt, Role
from doxa.engine import Memory
from doxa.transport.mcp.acts import Given
from doxa.transport.mcp.asking import Declined, ask, can_ask, carried
from doxa.transport.mcp.rooms import here
from doxa.transport.mcp.shapes import ChangeOut, DisputeOut, change_out, dispute_out, within
from doxa.transport.room import Room

__all__ = ["Message", "choose", "remember"]

CHANGES_TOKENS = 2000
OPEN = "Leave it open"


class Message(BaseModel):
    """One message, as OpenAI writes it."""

    role: Role = "user"
    content: str
    name: str | None = Field(None, description="Who said it.")
    at: str | None = Field(None, description="When, in ISO form.")
    id: str | None = Field(None, description="Its id; the same id again is the same message.")


class ReceiptOut(Given):
    """That a turn is stored for good."""

    turn_id: str
    duplicate: bool = Field(description="True where it was stored before.")
    language: str | None = Field(None, description="Its language, where it is one that no facts are read from.")


class RememberOut(Given):
    """What was stored, and what it changed."""

    receipts: list[ReceiptOut]
    changes: list[ChangeOut] = Field(description="What became of facts: asserted, closed, disputed, ...")
    contradictions: list[DisputeOut] = Field(
        description="What cannot all be true now. Ask the user, then use `correct` with action `decide`."
    )
    decided: str | None = Field(None, description="What the user chose, where they were asked.")
    left_out: int = Field(0, description="Further changes that are not shown.")


async def remember(
    context: Context[Any, Any],
    text: Annotated[str | None, Field(description="What was said, word for word; or give `messages`.")] = None,
    messages: Annotated[list[Message] | None, Field(description="Several messages, oldest first.")] = None,
    role: Annotated[Role, Field(description="Who said `text`. What a user says of themselves counts most.")] = "user",
    speaker: Annotated[str | None, Field(description="Name of who said `text`, if it is not the user.")] = None,
    when: Annotated[str | None, Field(description="When it was said, in ISO form; by default now.")] = None,
    id: Annotated[str | None, Field(description="Id of `text`; the same id again is the same turn.")] = None,
    session: Annotated[str | None, Field(description="Name of the conversation; it groups turns.")] = None,
) -> RememberOut | InputRequiredResult:
    """Store what somebody said, durably, and tell what it changed.

    Use it whenever the user tells something that may matter later: facts, plans, preferences, corrections. Pass the
    words as they were said, not your summary; dates and contradictions are worked out from them. Nothing is
    overwritten: what no longer holds is closed and kept with its dates.
    """
    room = here()
    if (text is None) == (messages is None):
        raise InputError("remember: give either `text` or `messages`.")
    told = messages or [Message(role=role, content=text or "", name=speaker, at=when, id=id)]
    stored = carried(context)
    # A call that brings the user's answer must not store its turns once more.
    receipts = _again(stored) if stored else await anyio.to_thread.run_sync(_store, room, told, when, session)
    if "read" not in room.scope.rights:  # what became of it tells what was remembered before
        return RememberOut(receipts=_shown(receipts), changes=[], contradictions=[])
    out, disputes = await anyio.to_thread.run_sync(_changed, room.memory("write"), receipts)
    if disputes and can_ask(context):
        chosen = await choose(context, room.memory("write"), disputes[0], carry=json.dumps([_row(r) for r in receipts]))
        if isinstance(chosen, InputRequiredResult):
            return chosen
        left = await anyio.to_thread.run_sync(_disputed, room.memory("write"), receipts)
        still = [dispute_out(one, room.memory("write")) for one in left]
        return out.model_copy(update={"decided": chosen, "contradictions": still})
    return out


async def choose(
    context: Context[Any, Any], memory: Memory, dispute: Dispute, *, carry: str = ""
) -> str | InputRequiredResult:
    """Let the user decide a dispute, and carry out what they say; return that in words."""
    by_text = {memory.describe(fact): fact for fact in dispute.facts}
    choices: Any = Literal[(*by_text, OPEN)]
    form = create_model("Decision", choice=(choices, Field(description="What is right, as far as you know.")))
    answer = await ask(context, dispute.question, form, carry=carry)
    if isinstance(answer, InputRequiredResult):
        return answer
    right = OPEN if isinstance(answer, Declined) else str(answer.model_dump()["choice"])
    if right == OPEN:
        return "The user left it open."
    for wrong, fact in by_text.items():
        if wrong != right:
            because = f"the user decided: {right}"
            await anyio.to_thread.run_sync(partial(memory.retract, fact.fact_id, reason=because))
    return right


def _store(room: Room, told: Sequence[Message], when: str | None, session: str | None) -> list[Receipt]:
    dialogue = room.dialogue("write", session=session)
    receipts = dialogue.add([one.model_dump(exclude_none=True) for one in told], at=when)
    if not receipts:
        raise InputError("remember: there are no words in it, so nothing was stored.")
    dialogue.flush()
    return receipts


def _changed(memory: Memory, receipts: Sequence[Receipt]) -> tuple[RememberOut, list[Dispute]]:
    turns = {one.turn_id for one in receipts}
    changes = [change_out(one, memory) for one in memory.history() if one.turn_id in turns]
    disputes = _disputed(memory, receipts)
    shown = within(changes, CHANGES_TOKENS)
    out = RememberOut(
        receipts=_shown(receipts),
        changes=shown,
        contradictions=[dispute_out(one, memory) for one in disputes],
        left_out=len(changes) - len(shown),
    )
    return out, disputes


def _shown(receipts: Sequence[Receipt]) -> list[ReceiptOut]:
    return [ReceiptOut(turn_id=r.turn_id, duplicate=r.duplicate, language=r.language or None) for r in receipts]


def _disputed(memory: Memory, receipts: Sequence[Receipt]) -> list[Dispute]:
    """Return the disputes that what was stored is part of."""
    turns = {one.turn_id for one in receipts}
    return [one for one in memory.disputes() if any(turns.intersection(fact.turn_ids) for fact in one.facts)]


def _row(receipt: Receipt) -> tuple[str, bool, str]:
    return receipt.turn_id, receipt.duplicate, receipt.language


def _again(stored: str) -> list[Receipt]:
    return [
        Receipt(turn_id=one, duplicate=duplicate, language=language) for one, duplicate, language in json.loads(stored)
    ]
