"""Turns: told one by one or many at once, listed, withdrawn and erased."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Response
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from doxa.core.errors import InputError, StoreError, TurnConflictError, TurnError
from doxa.core.values import Certificate, Claim, Role, Turn
from doxa.engine import Dialogue
from doxa.transport.http.rest.ground import (
    Body,
    Conversing,
    Erasing,
    Fresh,
    Kept,
    Problem,
    Wait,
    Why,
    Writing,
    kept_after,
    memory_router,
    version_after,
)
from doxa.transport.http.rest.paging import Cursor, Limit, cursor_to, number_of
from doxa.transport.http.rest.shown import NEXT, Changes, answer, shown
from doxa.transport.plain import plain

__all__ = ["router"]

router = memory_router("turns")
WAITING = "All is stored, and some of it is not understood yet, though `wait` asked for it."
SAME = {"developer": "system", "function": "tool"}
"""Roles that OpenAI has or had under another name."""


class Part(BaseModel):
    """A part of a content as OpenAI writes it; those with a `text` are read, others are named in the receipt."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["text"])
    text: str | None = None


class TurnIn(Body):
    """One thing that somebody said: its words as `text`, or as `content` as OpenAI writes it."""

    text: str | None = Field(None, description="What was said.", examples=["I moved to Bonn in May."])
    content: str | list[Part] | None = Field(None, description="The same as OpenAI writes it: a text, or parts.")
    role: Annotated[Role, BeforeValidator(lambda role: SAME.get(str(role), role))] = Field(
        "user", description="Who said it: the user, the assistant, a tool, or the system (also `developer`)."
    )
    speaker: str | None = Field(
        None,
        validation_alias=AliasChoices("speaker", "name"),
        description="Name of who said it (also `name`); by default that of the user or the agent.",
    )
    at: str | None = Field(None, description="When, in ISO form; by default now.", examples=["2024-05-18T10:00:00Z"])
    turn_id: str | None = Field(
        None,
        validation_alias=AliasChoices("turn_id", "id"),
        description="Its id (also `id`). The same id and text again is the same turn: sending it twice is safe.",
        examples=["chat-7/12"],
    )

    @model_validator(mode="after")
    def _said_once(self) -> TurnIn:
        if (self.text is None) == (self.content is None):
            raise ValueError("expected either text or content")
        return self

    def words(self) -> tuple[str, list[str]]:
        """Return what was said, and the types of the parts that hold no words."""
        if self.text is not None or isinstance(self.content, str):
            return self.text if self.text is not None else str(self.content), []
        parts = self.content or []
        said = "\n".join(part.text for part in parts if part.text)
        return said, [part.type for part in parts if part.text is None]


class TurnsIn(Body):
    """Turns of one session, oldest first."""

    turns: list[TurnIn] = Field(min_length=1, max_length=10_000)
    session: str | None = Field(None, description="Name of the session; by default `default`.")
    agent: str | None = Field(None, description="Name of the assistant; by default `assistant`.")
    speaker: str | None = Field(None, description='Name of the user, for "I" and "my".')


class ReceiptOut(BaseModel):
    """What became of one turn."""

    turn_id: str | None = Field(description="Its id; null where it has none since it was not stored.")
    outcome: Literal["stored", "duplicate", "conflict", "refused", "failed"] = Field(
        description="It is on disk now, or was before (`duplicate`). It is not: the id is that of another text "
        "(`conflict`), it cannot be a turn (`refused`), or the database could not take it (`failed`: send it again)."
    )
    detail: str = Field(description="Why it is not stored; empty where it is.")
    language: str = Field(
        description="Its language where it is not English: the built-in reading makes no facts of it."
    )
    left_out: list[str] = Field(description="The types of the parts of its content that hold no words.")


class ReceiptsOut(Kept):
    """What became of turns, in their order."""

    receipts: list[ReceiptOut]


@router.post(
    "/turns",
    operation_id="addTurns",
    status_code=201,
    responses={
        202: {"model": ReceiptsOut, "description": WAITING},
        207: {"model": ReceiptsOut, "description": "Some turns were not stored; the receipts say which and why."},
        409: {"model": Problem, "description": "The id of the only turn is that of another text, which was kept."},
    },
)
def add_turns(told: TurnsIn, room: Writing, response: Response, wait: Wait = False) -> ReceiptsOut:
    """Remember turns without answering them.

    They are on disk when this returns. Every turn is taken by itself: one that cannot be stored stops no other (status
    207), and where there is but one, that is an error.
    """
    dialogue = room.dialogue("write", session=told.session, agent=told.agent, speaker=told.speaker)
    receipts: list[ReceiptOut] = []
    for place, one in enumerate(told.turns):
        try:
            receipts.append(_absorb(dialogue, one))
        except InputError as error:
            if len(told.turns) == 1:
                raise
            outcome: Literal["conflict", "refused"] = "conflict" if isinstance(error, TurnConflictError) else "refused"
            receipts.append(_lost(one, outcome, error))
        except StoreError as error:
            if not any(receipt.outcome == "stored" for receipt in receipts):
                raise
            receipts += [_lost(later, "failed", error) for later in told.turns[place:]]
            break
    kept = kept_after(room, wait=wait)
    if not all(receipt.outcome in ("stored", "duplicate") for receipt in receipts):
        response.status_code = 207
    elif kept.waiting:
        response.status_code = 202
    return ReceiptsOut(receipts=receipts, **kept.model_dump())


def _absorb(dialogue: Dialogue, one: TurnIn) -> ReceiptOut:
    said, left_out = one.words()
    if left_out and not said.strip():
        raise TurnError(f"A turn needs a text; this one has parts of other types alone ({', '.join(left_out)}).")
    receipt = dialogue.absorb(said, role=one.role, speaker=one.speaker, at=one.at, turn_id=one.turn_id)
    return ReceiptOut(
        turn_id=receipt.turn_id,
        outcome="duplicate" if receipt.duplicate else "stored",
        detail="",
        language=receipt.language,
        left_out=left_out,
    )


def _lost(one: TurnIn, outcome: Literal["conflict", "refused", "failed"], error: Exception) -> ReceiptOut:
    return ReceiptOut(turn_id=one.turn_id, outcome=outcome, detail=str(error), language="", left_out=[])


HEARD = {"withdrawn": (bool, "Whether it is no longer believed or recalled.")}
HeardTurn = answer("HeardTurn", turn=Turn, **HEARD)


@router.get(
    "/turns",
    operation_id="listTurns",
    response_model=answer("HeardTurnPage", items=list[HeardTurn], next=(str | None, NEXT)),  # type: ignore[valid-type]
)
def list_turns(room: Fresh, session: str | None = None, cursor: Cursor = None, limit: Limit = 100) -> dict[str, Any]:
    """List turns in the order in which they were received, the replies of Doxa itself too."""
    memory = room.memory()
    after = 0 if cursor is None else number_of("turns", cursor)
    found = memory.turns(session=session, after=after, limit=limit + 1, withdrawn=True)
    withdrawn = memory.withdrawn()
    items = [{"turn": plain(turn), "withdrawn": turn.turn_id in withdrawn} for turn in found[:limit]]
    more = cursor_to("turns", str(found[limit - 1].ordinal)) if len(found) > limit else None
    return {"items": items, "next": more}


@router.get(
    "/turns/{turn_id:path}",
    operation_id="getTurn",
    response_model=answer("UnderstoodTurn", turn=Turn, **HEARD, claims=(list[Claim], "What it says, as understood.")),
)
def get_turn(turn_id: str, room: Fresh) -> dict[str, Any]:
    """Return a turn with what it says, as it was understood."""
    memory = room.memory()
    turn, claims = memory.turn(turn_id), memory.claims(turn_id=turn_id)
    return {"turn": plain(turn), "withdrawn": turn_id in memory.withdrawn(), "claims": plain(claims)}


@router.post("/turns/{turn_id:path}/withdraw", operation_id="withdrawTurn", response_model=Changes)
def withdraw_turn(turn_id: str, room: Conversing, why: Why | None = None, wait: Wait = False) -> dict[str, Any]:
    """Stop trusting a turn: what only it supports goes, what it had displaced returns. Its text is kept."""
    changes = room.memory("write").withdraw(turn_id=turn_id, reason=why.reason if why else "")
    return {"changes": plain(changes), "version": version_after(room, wait=wait)}


@router.delete("/turns/{turn_id:path}", operation_id="eraseTurn", response_model=shown(Certificate))
def erase_turn(turn_id: str, room: Erasing) -> Any:
    """Erase a turn for good with all that was made from it, and return a certificate that counts what went."""
    return plain(room.memory("erase").forget(turn_id=turn_id))
