"""Questions, replies, and what is kept of them."""

from __future__ import annotations

from typing import Any, Literal

import anyio.to_thread
from fastapi import Request, Response
from pydantic import Field

from doxa.core.answers import AnswerReason
from doxa.core.values import Reply
from doxa.core.verdicts import Verdict
from doxa.transport.http.problems import as_problem
from doxa.transport.http.rest.ground import (
    Body,
    Conversing,
    Problem,
    Reading,
    Versioned,
    Wait,
    kept_after,
    memory_router,
)
from doxa.transport.http.rest.paging import Cursor, Limit, paged
from doxa.transport.http.rest.shown import page, shown
from doxa.transport.http.state import served
from doxa.transport.http.telling import spans
from doxa.transport.plain import plain
from doxa.transport.streaming import EVENTS, streamed

__all__ = ["router"]

router = memory_router("answers")
WAITING = "The reply; what was said is stored and not understood yet, though `wait` asked for it."


class Message(Body):
    """Something that was said before, as OpenAI writes it."""

    role: Literal["user", "assistant"]
    content: str


class Speaking(Body):
    """Who speaks, and where."""

    session: str | None = Field(None, description="Name of the session; by default `default`.")
    agent: str | None = Field(None, description="Name of the assistant; by default `assistant`.")
    speaker: str | None = Field(None, description='Name of the user, for "I" and "my".')
    trace: bool = Field(False, description="Whether the answer tells step by step how it was found.")


class QuestionIn(Speaking):
    """A question."""

    text: str = Field(description="The question.", examples=["Where do I live?"])
    as_of: str | None = Field(None, description="The day of the world that is asked about; by default now.")
    known_at: str | None = Field(None, description="Answer from what had been said by then.")
    at: str | None = Field(None, description='When it is asked, for "today"; by default when the latest turn was said.')
    said: list[Message] = Field([], description="What was said just before and is not remembered, oldest first.")


@router.post("/ask", operation_id="ask", response_model=shown(Reply))
def ask(asked: QuestionIn, room: Versioned, request: Request) -> Any:
    """Answer a question without remembering it.

    Without `at` it is asked at the time of the latest turn, not at that of the wall: the same question to the same
    memory has the same answer.
    """
    dialogue = room.dialogue("read", session=asked.session, agent=asked.agent, speaker=asked.speaker)
    said = [one.model_dump() for one in asked.said]
    reply = dialogue.ask(asked.text, as_of=asked.as_of, known_at=asked.known_at, at=asked.at, said=said)
    return _told(reply, request, trace=asked.trace)


class SayingIn(Speaking):
    """What the user says."""

    text: str = Field(description="What the user says.", examples=["I moved to Bonn. Where did I live before?"])
    at: str | None = Field(None, description="When, in ISO form; by default now.")
    turn_id: str | None = Field(None, description="Its id; the same id again is the same turn, answered again.")
    to: Literal["auto", "tasks", "facts"] = Field("auto", description="What it is said to, whatever it says.")
    background: bool | None = Field(None, description="Whether general knowledge is added; by default as set.")
    n: int = Field(1, ge=1, le=10, description="How many replies are wanted, each by other background.")


@router.post(
    "/respond",
    operation_id="respond",
    response_model=shown(Reply),
    responses={
        200: {"content": {EVENTS: {"schema": {"type": "string"}}}, "description": "The reply, whole or as events."},
        202: {"model": shown(Reply), "description": WAITING},
        409: {"model": Problem, "description": "The id of the turn is that of another text, which was kept."},
    },
)
async def respond(
    said: SayingIn,
    room: Conversing,
    request: Request,
    response: Response,
    wait: Wait = False,
) -> Any:
    """Answer what the user says, and remember it with the reply.

    As server-sent events, where `Accept` is `text/event-stream`: `step` for each step as it ends, `reply`, then `done`
    with the version of the memory; `error` where it fails later on.
    """

    def work() -> dict[str, Any]:
        dialogue = room.dialogue("write", session=said.session, agent=said.agent, speaker=said.speaker)
        reply = dialogue.respond(
            said.text, at=said.at, turn_id=said.turn_id, to=said.to, background=said.background, n=said.n
        )
        return _told(reply, request, trace=said.trace)

    def kept() -> dict[str, Any]:
        return kept_after(room, wait=wait).model_dump()

    if EVENTS in request.headers.get("Accept", ""):
        return await streamed(work, kept, problem=as_problem)
    reply = await anyio.to_thread.run_sync(work)
    if wait and (await anyio.to_thread.run_sync(kept))["waiting"]:
        response.status_code = 202
    return reply


def _told(reply: Reply, request: Request, *, trace: bool) -> dict[str, Any]:
    """Return a reply as plain data, and have its steps counted."""
    served(request).numbers.count(reply.trace)
    spans("doxa.reply", reply.trace)
    data: dict[str, Any] = plain(reply)
    return data if trace else data | {"trace": None}


class DraftIn(Body):
    """What an assistant is about to say."""

    text: str = Field(description="What is about to be said to the user.", examples=["You live in Lisbon."])
    agent: str = Field("assistant", description="Name of the assistant.")
    speaker: str | None = Field(None, description='Name of the user, for "you".')


@router.post("/check", operation_id="check", response_model=shown(Verdict))
def check(draft: DraftIn, room: Versioned) -> Any:
    """Tell whether a reply agrees with the memory, sentence by sentence; nothing is remembered."""
    return plain(room.memory().check(draft.text, agent=draft.agent, speaker=draft.speaker))


@router.get("/answers", operation_id="listAnswers", response_model=page(AnswerReason))
def list_answers(room: Reading, stale: bool = False, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """List the answers that are kept (setting `engine.answers`), the latest first, each with what has changed since.

    `stale` leaves those that rest on something that was revised, withdrawn or erased since. They are kept beside the
    log, so that this list has no ETag.
    """
    found = room.memory().answers(stale=stale)[::-1]
    return paged("answers", found, lambda one: one.answer.answer_id, cursor=cursor, limit=limit)


@router.get("/answers/{answer_id}/why", operation_id="whyAnswered", response_model=shown(AnswerReason))
def why_answered(answer_id: str, room: Reading) -> Any:
    """Tell what an answer rests on, how it was found, and whether it still stands."""
    return plain(room.memory().why_answered(answer_id))


@router.post("/answers/{answer_id}/again", operation_id="askAgain", response_model=shown(Reply))
def ask_again(answer_id: str, room: Reading, request: Request, trace: bool = False) -> Any:
    """Answer a question that was answered before from what is known now, as the one who asked it then."""
    return _told(room.dialogue("read").ask_again(answer_id), request, trace=trace)
