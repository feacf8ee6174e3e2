"""How an answer came to be: what was found and by which view, the search, what the model was sent, the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from starlette.responses import Response

from doxa.core.answers import Answered, AnswerReason
from doxa.core.values import Reply
from doxa.transport.inspector.entry import OURS
from doxa.transport.inspector.replaying import replay_of
from doxa.transport.inspector.visit import Visit

__all__ = ["PATHS"]

KEPT = 25


def recall(visit: Visit) -> Response:
    """Show the answers that are kept, and one of them, or the answer to a question that is asked now, replayed.

    Parameters: `answer` the id of one; `again` the id of one to ask again; or `q` a question, with `as_of` and
    `known_at`; `find` what the kept ones have in them, `after` where their page begins.
    """
    found = before = None
    if key := visit.text("answer"):
        found = visit.room.memory().why_answered(key)
    elif key := visit.text("again"):
        before = visit.room.memory().why_answered(key)
        found = _asked_again(visit, before) if _may_ask(visit) else before
    elif visit.text("q").strip() and _may_ask(visit):
        found = _asked(visit, visit.text("q"))
    replay = None if found is None else replay_of(found.answer)
    view = visit.room.view()  # not opened: what answers cite may be of other memories, and no two are held at once
    kept = view.answers(visit.text("find"), after=visit.text("after"), limit=KEPT)
    known = {} if found is None or replay is None else view.named({*replay.keys(), *_cited(found)})
    return visit.shown("recall.html", kept=kept, found=found, before=before, replay=replay, known=known)


def _may_ask(visit: Visit) -> bool:
    """Tell whether the address is typed, or that of a link of ours: another site's page may not cause a call."""
    return visit.request.headers.get("sec-fetch-site", "none") in OURS


def _asked(visit: Visit, question: str) -> AnswerReason:
    reply = visit.room.dialogue("read").ask(
        question, as_of=visit.text("as_of") or None, known_at=visit.text("known_at") or None, said=[]
    )
    return _kept(visit, visit.counted(reply), question)


def _asked_again(visit: Visit, before: AnswerReason) -> AnswerReason:
    reply = visit.counted(visit.room.dialogue("read").ask_again(before.answer.answer_id))
    return _kept(visit, reply, before.answer.question)


def _cited(found: AnswerReason) -> Iterator[str]:
    return (one.turn_id for one in found.answer.citations)


def _kept(visit: Visit, reply: Reply, question: str) -> AnswerReason:
    """Return an answer as it is kept, or as it would be where none are."""
    if reply.answer_id is not None:
        return visit.room.memory().why_answered(reply.answer_id)
    answer = Answered(
        answer_id="",
        question=question,
        text=reply.text,
        at=datetime.now(UTC),
        session="",
        speaker=visit.room.dialogue("read").speaker,
        agent="",
        value=reply.value,
        citations=reply.citations,
        confidence=reply.confidence,
        abstained=reply.abstained,
        disputed=reply.disputed,
        verdict=reply.verdict.label,
        trace=reply.trace.to_dict(),
    )
    return AnswerReason(answer=answer)


PATHS = {"recall": recall}
