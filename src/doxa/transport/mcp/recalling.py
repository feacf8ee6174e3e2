"""The tools `recall` and `why`: a query -> facts, dated quotes and an answer; an id -> what speaks for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from doxa.core.errors import NotFoundError
from doxa.core.shared import origin_of
from doxa.core.values import Evidence, Fact, Reply
from doxa.engine import Memory
from doxa.transport.mcp.acts import Given
from doxa.transport.mcp.rooms import here
from doxa.transport.mcp.shapes import (
    QUOTED,
    ChangeOut,
    Cursor,
    FactOut,
    MaxTokens,
    Quote,
    change_out,
    cut,
    fact_out,
    quote,
    shortened,
    spent,
    start_of,
    within,
)

__all__ = ["recall", "why"]

LARGEST_K = 100
SOURCES_SHARE, TEXT_SHARE, HISTORY_SHARE = 2, 4, 8
"""Of the budget of an explanation half is for the sources, a quarter for the text, an eighth for each list of facts."""


class AnswerOut(Given):
    """An answer to the query, checked against the memory."""

    id: str | None = Field(None, description="Ask `why` with it.")
    text: str
    value: str | None = None
    confidence: float
    disputed: bool | None = Field(None, description="True where sources disagree.")
    turn_ids: list[str] = Field(description="The turns that it rests on.")


class RecallOut(Given):
    """What the memory holds on a query, the most relevant first."""

    answer: AnswerOut | None = None
    facts: list[FactOut]
    quotes: list[Quote]
    cursor: str | None = Field(None, description="There is more: give it back for the next page.")
    note: str


class WhyOut(Given):
    """What speaks for something, and what became of it."""

    kind: Literal["fact", "answer", "turn"]
    text: str
    sources: list[Quote]
    displaced: list[FactOut] = Field([], description="What it took the place of.")
    displaced_by: list[FactOut] = Field([], description="What took its place; of a dispute, what others say.")
    changes: list[ChangeOut] = Field([], description="What happened to it, oldest first.")
    stale: list[str] = Field([], description="Of an answer: what has changed since of what it rests on.")
    note: str


def recall(
    query: Annotated[str, Field(description="A question, or any words.")],
    as_of: Annotated[str | None, Field(description="The day of the world that is asked about (2024-07-01).")] = None,
    known_at: Annotated[str | None, Field(description="Only what had been said by then, as it was believed.")] = None,
    since: Annotated[str | None, Field(description="Only turns said then or later.")] = None,
    until: Annotated[str | None, Field(description="Only turns said by then.")] = None,
    speaker: Annotated[str | None, Field(description="Only turns of this speaker.")] = None,
    session: Annotated[str | None, Field(description="Only turns of this conversation.")] = None,
    k: Annotated[int, Field(ge=1, le=LARGEST_K, description="How many turns are looked at on a page.")] = 10,
    answer: Annotated[bool, Field(description="Whether the query is answered as well, if it can be.")] = True,
    max_tokens: MaxTokens = 1500,
    cursor: Cursor = None,
) -> RecallOut:
    """Look up what is known of the user and what was said before.

    Use it before you answer anything that may depend on earlier conversations, on the user's life, preferences or
    plans, and before you ask the user something that they may have told already. The result has facts with the days on
    which they hold, quotes with their turn ids, and an answer where the memory has one. An empty result means that
    nothing is known.
    """
    room, start = here(), start_of(cursor)
    memory = room.memory()
    times: dict[str, Any] = {"as_of": as_of, "known_at": known_at}
    where: dict[str, Any] = {"since": since, "until": until, "speaker": speaker, "session": session}
    found = memory.search(query, k=start + k + 1, **times, **where)
    page = found[start : start + k]
    reply = None
    if answer and not start and not any(where.values()):  # an answer draws on all there is
        reply = room.dialogue("read").ask(query, **times, said=())
    told = _answer(reply) if reply is not None else None
    budget = max_tokens - (spent([told]) if told is not None else 0)
    cited = [one.fact_id for one in reply.citations if one.fact_id] if told is not None and reply is not None else []
    held = {fact.fact_id: fact for fact in memory.facts(**times)}
    known = [key for key in dict.fromkeys([*cited, *(key for one in page for key in one.fact_ids)]) if key in held]
    facts = within([fact_out(held[key], memory) for key in known], max(budget // 2, 1))
    quotes, seen = _quoted(memory, page, max(budget - spent(facts), 1))
    after = str(start + seen) if len(found) > start + seen else None
    note = _note(after, len(known) - len(facts))
    return RecallOut(answer=told, facts=facts, quotes=quotes, cursor=after, note=note)


def _quoted(memory: Memory, page: Sequence[Evidence], budget: int) -> tuple[list[Quote], int]:
    """Return the quotes that the budget holds, and how many pieces of evidence they are of: the next page follows."""
    turns = {one.turn_id: one for one in memory.turns(list({key for one in page for key in one.turn_ids}))}
    places: dict[str, int] = {}
    for place, one in enumerate(page):
        for key in one.turn_ids:
            if key in turns and not turns[key].generated:
                places.setdefault(key, place)
    quotes = within([cut(quote(turns[key]), budget) for key in places], budget)
    full = len(quotes) < len(places)
    return quotes, max([*places.values()][len(quotes)], 1) if full else len(page)


def _note(cursor: str | None, left_out: int) -> str:
    more = " There is more: call again with `cursor`, or with a larger `max_tokens`." if cursor else ""
    facts = f" {left_out} facts are left out; a larger `max_tokens` shows them." if left_out else ""
    return QUOTED + more + facts


def _answer(reply: Reply) -> AnswerOut | None:
    if reply.abstained:
        return None
    return AnswerOut(
        id=reply.answer_id,
        text=reply.text,
        value=reply.value,
        confidence=round(reply.confidence, 3),
        disputed=reply.disputed or None,
        turn_ids=list(dict.fromkeys(one.turn_id for one in reply.citations)),
    )


def why(
    id: Annotated[str, Field(description="The id of a fact, of an answer or of a turn, as `recall` gives it.")],
    max_tokens: MaxTokens = 2000,
) -> WhyOut:
    """Show what a fact, an answer or a turn rests on: its sources word for word, and what displaced what.

    Use it when the user doubts something or asks how you know it, and before you correct it.
    """
    memory = here().memory()
    for explained in (_why_fact, _why_answer, _why_turn):
        try:
            return _capped(explained(memory, id), max_tokens)
        except NotFoundError:
            continue
    raise NotFoundError(f"There is no fact, answer or turn {id!r}. `recall` gives ids.")


def _why_fact(memory: Memory, fact_id: str) -> WhyOut:
    found = memory.why(fact_id)

    def shown(facts: Iterable[Fact]) -> list[FactOut]:
        return [fact_out(fact, memory) for fact in facts]

    return WhyOut(
        kind="fact",
        text=found.text,
        sources=[quote(turn) for turn in found.turns],
        displaced=shown(found.displaced),
        displaced_by=shown(found.displaced_by),
        changes=[change_out(one, memory) for one in found.changes],
        note=QUOTED,
    )


def _why_answer(memory: Memory, answer_id: str) -> WhyOut:
    found = memory.why_answered(answer_id)
    turns = memory.turns(list(dict.fromkeys(one.turn_id for one in found.answer.citations)))
    return WhyOut(
        kind="answer", text=found.text, sources=[quote(one) for one in turns], stale=list(found.stale), note=QUOTED
    )


def _why_turn(memory: Memory, turn_id: str) -> WhyOut:
    if origin := origin_of(turn_id):
        text = f"It is of {origin.memory}, which everybody reads."
        return WhyOut(kind="turn", text=text, sources=[quote(memory.turn(turn_id))], note=QUOTED)
    memory.claims(turn_id=turn_id)  # raises where there is no such turn
    turns = memory.turns([turn_id])
    changes = [change_out(one, memory) for one in memory.history() if one.turn_id == turn_id]
    text = "What the turn changed is below." if turns else "The turn was withdrawn: its text is kept, and not recalled."
    return WhyOut(kind="turn", text=text, sources=[quote(one) for one in turns], changes=changes, note=QUOTED)


def _capped(out: WhyOut, budget: int) -> WhyOut:
    """Return an explanation within the budget: its sources first, then what it displaced, then what happened to it."""
    part, half = budget // HISTORY_SHARE, budget // SOURCES_SHARE
    kept: dict[str, list[Any]] = {
        "sources": within([cut(one, half) for one in out.sources], half),
        "displaced": within(out.displaced, part),
        "displaced_by": within(out.displaced_by, part),
        "changes": within(out.changes, part),
    }
    left_out = sum(len(getattr(out, name)) - len(items) for name, items in kept.items())
    more = f" {left_out} more entries are left out; a larger `max_tokens` shows them." if left_out else ""
    return out.model_copy(update={**kept, "text": shortened(out.text, budget // TEXT_SHARE), "note": QUOTED + more})
