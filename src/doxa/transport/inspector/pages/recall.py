"""How an answer came to be: what was found and by which view, the search, what the model was sent, the verdict."""

from __future__ import annotations

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
    asked = _asks(visit)
    found, before = _shown(visit, asked=asked)
    with visit.room.view().opened() as view:
        kept = view.answers(visit.text("find"), after=visit.text("after"), limit=KEPT)
        replay = None if found is None else replay_of(found.answer)
        named = () if found is None or replay is None else (*replay.keys(), *found.answer.standing)
        cited = () if found is None else [one.turn_id for one in found.answer.citations]
        known = view.named(dict.fromkeys((*named, *cited)))
    return visit.shown(
        "recall.html", kept=kept, found=found, before=before, replay=replay, known=known, asked=asked
    )


def _asks(visit: Visit) -> bool:
    """Tell whether the address asks something now: a link on another site only fills the field in.

    A question may cost a call to a language model, which nobody else's page should cause.
    """
    wanted = bool(visit.text("q").strip() or visit.text("again"))
    return wanted and visit.request.headers.get("sec-fetch-site", "none") in OURS


def _shown(visit: Visit, *, asked: bool) -> tuple[AnswerReason | None, AnswerReason | None]:
    """Return the answer that is shown, and the earlier one to the same question where it is asked again."""
    memory, again = visit.room.memory(), visit.text("again")
    if key := visit.text("answer"):
        return memory.why_answered(key), None
    if again:
        before = memory.why_answered(again)
        return (_kept(visit, visit.room.dialogue("read").ask_again(again), before.answer.question), before) if asked \
            else (before, None)
    if not asked:
        return None, None
    reply = visit.room.dialogue("read").ask(
        visit.text("q"), as_of=visit.text("as_of") or None, known_at=visit.text("known_at") or None, said=[]
    )
    return _kept(visit, reply, visit.text("q")), None


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
