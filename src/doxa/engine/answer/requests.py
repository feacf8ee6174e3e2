"""What is asked of the memory itself -> its reply: what is known, what is coming up, what can be done, what to erase.

Erasing is asked about once: what would go is shown, and only a "yes" in the very next turn of the same session has it
erased.
"""

from __future__ import annotations

from datetime import date

from doxa.backends.grader import GRADES
from doxa.core.errors import BackendError, NotFoundError
from doxa.core.trace import Tracer
from doxa.core.values import ChangeKind, Draft, Interval, Reply, Turn
from doxa.engine.answer.acknowledging import acknowledged
from doxa.engine.answer.agenda import agenda
from doxa.engine.answer.grading import graded_turns
from doxa.engine.asked import Asked
from doxa.engine.history.erasure import erase
from doxa.engine.wiring.offers import Offer
from doxa.engine.wiring.parts import Parts
from doxa.memory import UserState, addressing, using
from doxa.reason import citation_of, citations_of, quoted, sentence_of
from doxa.recall import encoded, read_query, recall
from doxa.understand import Request

__all__ = ["requested"]

FACTS = 12
"""Facts that an overview tells, the surest first."""
SHOWN = 3
"""Turns that an offer to erase shows."""
SEARCHED = 10
"""Turns that are graded for what is to be erased."""
ABOUT_IT = 0.5
"""Least probability that a turn is about what is to be erased."""
ABILITIES = (
    "I keep what you tell me, with the day and your own words, and believe it until you say otherwise. Ask me about "
    "it (“where did I live in May?”), correct me (“no, it was Tuesday”), ask what I know about you or what is coming "
    "up, have me keep a plan or a list and change it as you go, or have me forget something: I show what would be "
    "erased, and ask once. What I am not sure of I quote, and what I do not know I say."
)


def requested(asked: Asked, offer: Offer | None, parts: Parts, tracer: Tracer) -> Reply | None:
    """Return the reply to what is asked of the memory itself; None where nothing is, or another time is asked about.

    Args:
        asked: what was said.
        offer: what the last turn of the session offered to erase, if anything.
        parts: what the engine is made of.
        tracer: is told what was understood.

    Cost: one encoding of a short message; for something to erase a search and `SEARCHED` calls of the grader.
    """
    if asked.as_of is not None or asked.known_at is not None:
        return None
    with tracer.step("request") as note:
        try:
            kind = parts.request(asked.text)
        except BackendError as exc:
            note["degraded"] = f"what is asked of the memory itself is not recognised: {exc}"
            return None
        note["asks"] = kind
        with using(parts.log.ontology):
            draft = _settled(kind, offer, asked, parts) if offer else _reply(kind, asked, parts)
    if draft is None:
        return None
    with parts.log.user(asked.user) as state:
        revisions = tuple(one for one in state.beliefs.changes_by(asked.turn_id or "") if one.revises)
    return Reply(
        text=draft.text,
        citations=draft.citations,
        revisions=revisions,
        intents=(kind,),
        confidence=draft.confidence,
        abstained=draft.abstained,
        trace=tracer.trace(),
    )


def _settled(kind: Request, offer: Offer, asked: Asked, parts: Parts) -> Draft | None:
    """Return what is said once an offer to erase is taken or turned down; another matter leaves everything in place."""
    if kind == "no":
        return Draft(text="Then nothing is erased.", confidence=1.0)
    if kind != "yes":
        return _reply(kind, asked, parts)
    try:
        certificate = erase(parts, asked.user, None if offer.everything else offer.turn_ids)
    except NotFoundError:  # by another process, since it was offered
        return Draft(text="That is erased already.", confidence=1.0)
    told = " and ".join(_count(certificate.erased.get(what, 0), what) for what in ("turns", "facts"))
    return Draft(text=f"Erased for good: {told}. Certificate: {certificate.digest[:12]}.", confidence=1.0)


def _reply(kind: Request, asked: Asked, parts: Parts) -> Draft | None:
    if kind == "abilities":
        return Draft(text=ABILITIES, confidence=1.0)
    with parts.log.user(asked.user) as state, addressing(asked.speaker):
        if kind in ("overview", "recap"):
            return _overview(asked, state, spans=kind == "recap")
        if kind == "agenda":
            return agenda(asked, state)
        if kind == "remember" and asked.turn_id:
            told = acknowledged(state.beliefs.changes_by(asked.turn_id), state, speaker=asked.speaker)
            return told if told.text else Draft(text="I keep that as you wrote it.", confidence=1.0)
        if kind == "erase_all" and asked.turn_id:
            count = sum(not turn.generated for turn in state.turns.values())
            parts.offers.make(asked.user, asked.session, Offer(everything=True))
            told_all = f"everything: {_count(count, 'turns')}, my replies, and every fact and task made from them"
            return Draft(text=f"I would erase {told_all}, for good. Shall I? (yes or no)", confidence=1.0)
    return _erasing(asked, parts) if kind == "erase" and asked.turn_id else None


def _overview(asked: Asked, state: UserState, *, spans: bool) -> Draft:
    """Return the surest of what is believed, the asker's own first; and from when to when it was told, if wanted."""
    said = [one.at.date() for one in state.turns.values() if not one.generated and one.turn_id != asked.turn_id]
    if not said:
        return Draft(text="Nothing yet: you have not told me anything.", confidence=1.0)
    told = f"I have {_count(len(said), 'turns')} from {_written(min(said))} to {_written(max(said))}"
    facts = [one for one in state.beliefs.select(now=state.today()) if not (one.premises and len(one.turn_ids) < 2)]
    if not facts:
        return Draft(text=f"{told}, and nothing in them that I am sure of. Ask me about any of it.", confidence=1.0)
    own = asked.speaker.casefold()
    best = sorted(facts, key=lambda fact: (fact.subject.key != own, -len(fact.turn_ids), -fact.confidence))[:FACTS]
    more = f" I believe {_count(len(facts) - len(best), 'facts')} more." if len(facts) > len(best) else ""
    lead = f"{told}. " if spans else ""
    return Draft(
        text=f"{lead}What I am surest of: {' '.join(map(sentence_of, best))}{more}",
        citations=citations_of(best, state.turn),
        confidence=min(fact.confidence for fact in best),
    )


def _erasing(asked: Asked, parts: Parts) -> Draft:
    """Offer to erase the turns that rest what was taken back, else those that are about what is to be forgotten."""
    with parts.log.user(asked.user) as state, addressing(asked.speaker):
        changes = state.beliefs.changes_by(asked.turn_id or "")
        gone = [one.fact for one in changes if one.kind is ChangeKind.RETRACT]
        turns = [
            turn for key in dict.fromkeys(key for fact in gone for key in fact.turn_ids) if (turn := state.turn(key))
        ]
        back = f"Taken back: {sentence_of(gone[0])} Your words are still kept. " if gone else ""
    turns = turns or _about(asked, parts)
    if not turns:
        return Draft(text=f"{back}I find nothing about that to erase.", confidence=1.0)
    parts.offers.make(asked.user, asked.session, Offer(turn_ids=tuple(turn.turn_id for turn in turns)))
    shown = " ".join(quoted(turn, asked.speaker) for turn in turns[:SHOWN])
    more = f" And {len(turns) - SHOWN:,} more." if len(turns) > SHOWN else ""
    what = (
        "this turn, with what was made from it"
        if len(turns) == 1
        else f"these {len(turns):,} turns, with what was made"
    )
    return Draft(
        text=f"{back}I would erase {what}, for good: {shown}{more} Shall I? (yes or no)",
        citations=tuple(citation_of(turn) for turn in turns[:SHOWN]),
        confidence=1.0,
    )


def _about(asked: Asked, parts: Parts) -> list[Turn]:
    """Return the turns that are about what is to be forgotten, as a grader reads them; none without a grader."""
    grader = parts.grader()
    if grader is None:
        return []
    with parts.log.user(asked.user) as state:
        query = read_query(
            asked.text, state, recent=(), rewriting=None, asker=asked.speaker, asked_in=asked.session, at=asked.at,
            known_at=None,
        )  # fmt: skip
    vector = parts.queries.encode([query.wording])[0]
    query = encoded(query, vector, encoder=parts.encoder.name, lexicon=parts.lexicon())
    with parts.log.user(asked.user) as state:
        found = recall(query, state, spec=parts.recall, weights=parts.learned.of(asked.user))
        keys = dict.fromkeys(key for item in found for key in item.turn_ids if key != asked.turn_id)
        near = (turn for key in keys if (turn := state.turn(key)) is not None and not turn.generated)
        turns = [turn for _, turn in zip(range(SEARCHED), near, strict=False)]
        grades = graded_turns("question", asked.text, turns, state, grader)
    answered = GRADES["question"].index("answered")
    about = [turn for turn, row in zip(turns, grades, strict=True) if row[answered] >= ABOUT_IT]
    return sorted(about, key=lambda turn: turn.ordinal)


def _count(number: int, plural: str) -> str:
    return f"{number:,} {plural[:-1] if number == 1 else plural}"


def _written(day: date) -> str:
    return Interval.format(day, "day")
