"""Questions and replies."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from doxa.core.values import Reply
from doxa.transport.http.state import InRoom, served
from doxa.transport.http.telling import spans
from doxa.transport.plain import plain

__all__ = ["router"]

router = APIRouter(tags=["answers"])


class QuestionIn(BaseModel):
    """A question."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="The question.")
    as_of: str | None = Field(None, description="The day of the world that is asked about; by default now.")
    known_at: str | None = Field(None, description="Answer from what had been said by then.")
    at: str | None = Field(None, description="When it is asked; by default when the latest turn was said.")
    session: str | None = None
    agent: str | None = None
    speaker: str | None = None
    trace: bool = Field(False, description="Whether the answer tells step by step how it was found.")


@router.post("/ask")
def ask(asked: QuestionIn, room: InRoom, request: Request) -> dict[str, Any]:
    """Answer a question without remembering it."""
    dialogue = room.dialogue("read", session=asked.session, agent=asked.agent, speaker=asked.speaker)
    reply = dialogue.ask(asked.text, as_of=asked.as_of, known_at=asked.known_at, at=asked.at, said=())
    return told(reply, request, trace=asked.trace)


def told(reply: Reply, request: Request, *, trace: bool) -> dict[str, Any]:
    """Return a reply as plain data, and have its steps counted."""
    served(request).numbers.count(reply.trace)
    spans("doxa.reply", reply.trace)
    data: dict[str, Any] = plain(reply)
    if not trace:
        data.pop("trace", None)
    return data
