"""Turns: told one by one or many at once, and erased."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from doxa.core.values import Role
from doxa.transport.http.state import InRoom
from doxa.transport.plain import plain

__all__ = ["router"]

router = APIRouter(tags=["turns"])


class TurnIn(BaseModel):
    """One thing that somebody said."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="What was said.")
    role: Role = Field("user", description="Who said it: the user, the assistant, a tool, or the system.")
    speaker: str | None = Field(None, description="Name of who said it; by default that of the user or the agent.")
    at: str | None = Field(None, description="When, in ISO form; by default now.")
    turn_id: str | None = Field(None, description="Its id; the same id again is the same turn.")


class TurnsIn(BaseModel):
    """Turns of one session, oldest first."""

    model_config = ConfigDict(extra="forbid")

    turns: list[TurnIn] = Field(min_length=1, max_length=10_000)
    session: str | None = Field(None, description="Name of the session; by default `default`.")
    agent: str | None = Field(None, description="Name of the assistant; by default `assistant`.")
    speaker: str | None = Field(None, description='Name of the user, for "I" and "my".')


class ReceiptOut(BaseModel):
    """That a turn is stored for good."""

    turn_id: str
    duplicate: bool = Field(description="Whether it was stored before.")
    language: str | None = Field(None, description="Its language, where it is one that is not read.")


class ReceiptsOut(BaseModel):
    """That turns are stored for good."""

    receipts: list[ReceiptOut]
    version: int = Field(description="The version of the memory afterwards; see the header ETag of reads.")


Wait = Annotated[bool, Query(description="Answer when the turns are understood, so that the next read knows them.")]


@router.post("/turns", status_code=201)
def add_turns(told: TurnsIn, room: InRoom, wait: Wait = False) -> ReceiptsOut:
    """Remember turns without answering them. They are on disk when this returns; sending them again is safe."""
    dialogue = room.dialogue("write", session=told.session, agent=told.agent, speaker=told.speaker)
    receipts = [
        dialogue.absorb(one.text, role=one.role, speaker=one.speaker, at=one.at, turn_id=one.turn_id)
        for one in told.turns
    ]
    if wait:
        dialogue.flush()
    return ReceiptsOut(receipts=[ReceiptOut(**plain(one)) for one in receipts], version=room.version())


@router.delete("/turns/{turn_id:path}")
def erase_turn(turn_id: str, room: InRoom) -> dict[str, Any]:
    """Erase a turn for good with all that was made from it, and return a certificate that counts what went."""
    certificate: dict[str, Any] = plain(room.memory("erase").forget(turn_id=turn_id))
    return certificate
