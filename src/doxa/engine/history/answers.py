"""Answers that were given -> kept with their traces, flagged when what they rest on is revised."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from types import MappingProxyType
from typing import Any

from doxa.core.access import pseudonym
from doxa.core.answers import Answered, AnswerReason
from doxa.core.errors import NotFoundError, StoreError
from doxa.core.values import ChangeKind, Citation, Fact, Reply, Status, Turn
from doxa.engine.asked import Asked
from doxa.engine.history.explain import happened
from doxa.engine.shared.layers import facts_of, is_shared, memory_of, turns_of
from doxa.engine.wiring.parts import Parts
from doxa.memory import Beliefs, Codec, Named, UserState, describe

__all__ = [
    "PREFIX",
    "answered",
    "answers",
    "answers_before",
    "drop_answers",
    "drop_repeating",
    "explain_answer",
    "given_to",
    "looked_beneath",
    "keep",
    "quoted",
    "repeating",
    "store_answers",
]

logger = logging.getLogger("doxa")

PREFIX = "a_"
"""What the ids of answers begin with."""
NO_ANSWER = "User {user!r} has no answer {key!r}. `doxa answers` lists those that are kept."


def keep(reply: Reply, asked: Asked, consulted: Iterable[str], parts: Parts) -> Reply:
    """Return a reply with the id under which it is kept, and keep it behind the request; see `engine.answers`."""
    if not parts.config.engine.answers:
        return reply
    beneath = facts_of(parts, asked.user, (one.fact_id for one in reply.citations if one.fact_id)).values()
    with parts.log.user(asked.user) as state:
        key, place = _key(asked, reply, state), state.ordinal
        one = Answered(
            answer_id=key,
            question=asked.text,
            text=reply.text,
            at=asked.at,
            session=asked.session,
            speaker=asked.speaker,
            agent=asked.agent,
            value=reply.value,
            citations=reply.citations,
            standing={fact.fact_id: _standing(fact) for fact in (*_rests_on(reply, state.beliefs), *beneath)},
            consulted=tuple(dict.fromkeys(key for key in (*consulted, *_cited(reply)) if key)),
            asked=asked.turn_id,
            said=tuple((turn.speaker, turn.text) for turn in asked.said),
            as_of=asked.as_of,
            known_at=asked.known_at,
            confidence=reply.confidence,
            abstained=reply.abstained,
            disputed=reply.disputed,
            verdict=reply.verdict.label,
            trace=reply.trace.to_dict(),
        )
    parts.answers.add(asked.user, (place, one))
    return replace(reply, answer_id=key)


def store_answers(parts: Parts, user: str, *, least: int = 1) -> None:
    """Write the answers of a user that wait, if they are at least `least`.

    An answer is worth less than a turn: where the database refuses it is dropped with a warning. What was given before
    something was erased is dropped without one: it may repeat it.
    """
    waiting = parts.answers.take(user, least)
    if not waiting:
        return
    store, scope = parts.log.store, parts.log.scope(user)
    try:
        others = turns_of(parts, user, (key for _, one in waiting for key in one.consulted))
        with parts.log.user(user) as state:
            places = _untouched(parts, user, waiting)
            found = [
                (place, one)
                for place, one in waiting
                if place in places and all(state.turn(key) or key in others for key in one.consulted)
            ]
            if found:
                known = {one.answer_id: CODEC.to(one) for _, one in found}
                store.keep_answers(scope, known, latest=parts.config.engine.answers)
        gone = others.keys() - turns_of(parts, user, others) if others else set()
        places = _untouched(parts, user, found)
        late = [one.answer_id for place, one in found if place not in places or not gone.isdisjoint(one.consulted)]
        if late:  # of what was erased while this was written
            store.drop_answers(scope, late)
            store.wipe(scope)
    except StoreError as exc:
        whose = pseudonym(parts.log.scope(user))
        logger.warning("%d answers to user %s were not kept: %s", len(waiting), whose, exc)


def _untouched(parts: Parts, user: str, given: Iterable[tuple[int, Answered]]) -> set[int]:
    """Return the rows of a log after which answers were given, of those since which nothing was erased."""
    return {place for place in {place for place, _ in given} if parts.log.still_has(user, place)}


def answers(parts: Parts, user: str, *, stale: bool) -> list[AnswerReason]:
    """Return the answers that are kept, oldest first; see `Memory.answers`."""
    store_answers(parts, user)
    kept = [CODEC.of(data) for data in parts.log.store.answers(parts.log.scope(user))]
    beneath = _beneath(parts, user, kept)
    with parts.log.user(user) as state:
        found = [_explained(one, state, beneath) for one in kept]
    return [one for one in found if one.stale or not stale]


def answers_before(
    parts: Parts, user: str, place: int | None, *, query: str, limit: int
) -> tuple[list[AnswerReason], int | None]:
    """Return the answers that are kept before a place, the latest first, and the place that leads on.

    Args:
        parts: what the engine is made of.
        user: whose answers.
        place: where the last page ended; None begins with the latest.
        query: only those whose question or answer has this text in it, whatever its case.
        limit: how many at most.

    Cost: O(limit) answers; with a query, those that are passed over too.
    """
    store_answers(parts, user)
    wanted, found = query.casefold(), list[tuple[int, Answered]]()
    while len(found) <= limit:
        rows = parts.log.store.latest_answers(parts.log.scope(user), before=place, limit=limit + 1)
        kept = ((at, CODEC.of(data)) for at, data in rows)
        found += [(at, one) for at, one in kept if wanted in f"{one.question}\n{one.text}".casefold()]
        if len(rows) <= limit:
            break
        place = rows[-1][0]
    beneath = _beneath(parts, user, [one for _, one in found[:limit]])
    with parts.log.user(user) as state:
        shown = [_explained(one, state, beneath) for _, one in found[:limit]]
    return shown, found[limit - 1][0] if len(found) > limit else None


def answered(parts: Parts, user: str, answer_id: str) -> Answered:
    """Return an answer as it was given.

    Raises:
        NotFoundError: there is no such answer, or it is no longer kept.
    """
    store_answers(parts, user)
    found = parts.log.store.answers(parts.log.scope(user), answer_id)
    if not found:
        raise NotFoundError(NO_ANSWER.format(user=user, key=answer_id))
    return CODEC.of(found[0])


def given_to(parts: Parts, user: str, turn_ids: Collection[str]) -> dict[str, Answered]:
    """Return the answers that were given to turns and are kept, by the id of the turn; the first of several.

    Cost: one query, and reading the answers that are kept (setting `engine.answers`).
    """
    if not turn_ids:
        return {}
    store_answers(parts, user)
    found: dict[str, Answered] = {}
    for data in parts.log.store.answers(parts.log.scope(user)):
        if (asked := data.get("asked")) in turn_ids and asked not in found:
            found[str(asked)] = CODEC.of(data)
    return found


def explain_answer(parts: Parts, user: str, answer_id: str) -> AnswerReason:
    """Return why an answer was given, and what has changed since; see `Memory.why_answered`.

    Raises:
        NotFoundError: there is no such answer, or it is no longer kept.
    """
    one = answered(parts, user, answer_id)
    beneath = _beneath(parts, user, [one])
    with parts.log.user(user) as state:
        return _explained(one, state, beneath)


def drop_answers(parts: Parts, user: str, turn_ids: Collection[str]) -> set[str]:
    """Remove every answer that may repeat what turns say, before they are erased; return the ids that name that.

    That is what names one, a fact that it supports, or a reply of Doxa's own after it; and what went on from
    questions that were not remembered, since nobody knows what those repeated. The prompts of all others go too: they
    are told of tasks and of what somebody is like, without the turns that said it.
    """
    parts.answers.drop(user)
    with parts.log.user(user) as state:
        first = min((turn.ordinal for turn in map(state.turn, turn_ids) if turn is not None), default=None)
        if first is None:
            return set()
        later = (one for one in state.turns.values() if one.generated and one.ordinal >= first)
        gone = set(turn_ids)
        names = gone | {one.turn_id for one in later}
        names |= {fact.fact_id for fact in state.beliefs.facts.values() if not gone.isdisjoint(fact.turn_ids)}
        moves = (one for one in state.beliefs.changes if one.kind is ChangeKind.MOVE)
        names |= {key for one in moves if not gone.isdisjoint(one.fact.turn_ids) for key in one.because}
    drop_repeating(parts, user, names)
    return names


def drop_repeating(parts: Parts, user: str, names: Collection[str]) -> None:
    """Remove the stored answers that may repeat what turns say, see `repeating`, and the prompts of all others."""
    scope = parts.log.scope(user)
    if told := repeating(parts, user, names):
        parts.log.store.drop_answers(scope, told)
    prompted: dict[str, Mapping[str, Any]] = {}
    for data in parts.log.store.answers(scope):
        if (bare := _without_prompts(data)) != data:
            prompted[str(data["id"])] = bare
    if prompted:
        parts.log.store.amend_answers(scope, prompted)


def repeating(parts: Parts, user: str, names: Collection[str]) -> list[str]:
    """Return the ids of the stored answers that may repeat what turns say that are to be erased; see `drop_answers`.

    Args:
        parts: what the engine is made of.
        user: whose answers they are.
        names: the ids of the turns, of the facts that they support, and of the replies that go with them.
    """
    written = [json.dumps(name, ensure_ascii=False)[1:-1] for name in names]
    kept = ((data, json.dumps(data, ensure_ascii=False)) for data in parts.log.store.answers(parts.log.scope(user)))
    return [str(data["id"]) for data, text in kept if data.get("said") or any(name in text for name in written)]


def _without_prompts(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an answer as it is stored, without the prompts that were made of the memory."""
    trace = data.get("trace", {})
    steps = list(trace.get("steps", ()))
    for at, step in enumerate(steps):
        if "sent" in step["detail"]:
            steps[at] = {**step, "detail": {name: value for name, value in step["detail"].items() if name != "sent"}}
    return {**data, "trace": {**trace, "steps": steps}} if steps else data


def _key(asked: Asked, reply: Reply, state: UserState) -> str:
    """Return the id of an answer: the same question to the same memory at the same moment has the same one."""
    told = (asked.user, asked.session, asked.text, asked.turn_id, asked.at, asked.as_of, asked.known_at, state.ordinal)
    digest = hashlib.sha256("\x1f".join(map(str, (*told, reply.text))).encode()).hexdigest()
    return f"{PREFIX}{digest[:12]}"


def _cited(reply: Reply) -> Iterator[str]:
    return (citation.turn_id for citation in reply.citations)


def _rests_on(reply: Reply, beliefs: Beliefs) -> Iterator[Fact]:
    """Return the facts that an answer cites; of a turn that is cited as a whole, those that the answer names."""
    value = (reply.value or "").casefold()
    for citation in reply.citations:
        if citation.fact_id:
            fact = beliefs.facts.get(citation.fact_id)
            yield from () if fact is None else (fact,)
        elif value:
            for slot in beliefs.slots_of_turn(citation.turn_id):
                for fact in beliefs.in_slot(slot):
                    label = str(fact.object).casefold()
                    if citation.turn_id in fact.turn_ids and label and (label in value or value in label):
                        yield fact


def _standing(fact: Fact) -> str:
    """Return how a fact stands, in a form that differs when an answer that cites it may no longer be right."""
    return f"{fact.status}{', disputed' if fact.disputed else ''}: {fact.valid}"


def _explained(one: Answered, state: UserState, beneath: _Beneath) -> AnswerReason:
    facts = tuple(fact for key in one.standing if (fact := beneath.fact(key, state)) is not None)
    stale = () if one.known_at is not None else tuple(_changed(one, state, beneath))
    found = AnswerReason(answer=quoted(one, state, beneath.turns), facts=facts, stale=stale)
    return replace(found, text="\n".join(_told(found)))


@dataclass(frozen=True, slots=True)
class _Beneath:
    """What of shared memories some answers cite, as it is now."""

    turns: Mapping[str, Turn]
    facts: Mapping[str, Fact]

    def fact(self, key: str, state: UserState) -> Fact | None:
        """Return a fact that was cited, whosever it is."""
        return self.facts.get(key) if is_shared(key) else _now(key, state.beliefs)


def _beneath(parts: Parts, user: str, kept: Sequence[Answered]) -> _Beneath:
    """Return what of shared memories answers cite; no lock is held on the user's own."""
    turns = turns_of(parts, user, (cited.turn_id for one in kept for cited in one.citations))
    return _Beneath(turns, facts_of(parts, user, (key for one in kept for key in one.standing)))


def looked_beneath(one: Answered) -> bool:
    """Tell whether shared memories were looked at for an answer."""
    return any(step["name"] == "beneath" for step in one.trace.get("steps", ()))


def quoted(one: Answered, state: UserState, others: Mapping[str, Turn] = MappingProxyType({})) -> Answered:
    """Return an answer with the words of the turns that it cites; `others` are those of shared memories."""
    cited = [(citation, others.get(citation.turn_id) or state.turn(citation.turn_id)) for citation in one.citations]
    words = (replace(c, text=t.text, speaker=t.speaker, at=t.at) if t else c for c, t in cited)
    return replace(one, citations=tuple(words))


def _now(fact_id: str, beliefs: Beliefs) -> Fact | None:
    """Return a fact that was cited, under the id that it has by now: names may have been told apart or joined."""
    fact = beliefs.facts.get(fact_id)
    if fact is not None and fact.status is not Status.RETRACTED:
        return fact
    moves = (change for change in beliefs.changes if change.kind is ChangeKind.MOVE and fact_id in change.because)
    heir = next((change.fact.fact_id for change in moves), None)
    return fact if heir is None or heir == fact_id else _now(heir, beliefs)


def _changed(one: Answered, state: UserState, beneath: _Beneath) -> Iterator[str]:
    """Say what has changed of what an answer rests on."""
    for key, stood in one.standing.items():
        fact = beneath.fact(key, state)
        if fact is None:
            yield "A fact that it cites is no longer in the memory."
        elif _standing(fact) != stood:
            last = state.beliefs.changes_of(fact.fact_id)[-1:]
            since = "; ".join(map(happened, last)) or f"now it is {fact.status}"
            yield f"{describe(fact)}: {since}."
    for turn_id in dict.fromkeys(cited.turn_id for cited in one.citations):
        if turn_id in state.withdrawn:
            yield f"The turn {turn_id} was withdrawn on {state.withdrawn[turn_id]:%Y-%m-%d}."
        elif state.turn(turn_id) is None and turn_id not in beneath.turns:
            yield f"The turn {turn_id} is no longer in the memory."


def _told(found: AnswerReason) -> Iterator[str]:
    one = found.answer
    yield f"“{one.question}” ({one.speaker}, {one.at:%Y-%m-%d}): {one.text}"
    for turn in one.citations:
        yield (
            f"{turn.speaker} said it on {turn.at:%Y-%m-%d} ({turn.turn_id}): “{turn.text}”" if turn.at else turn.turn_id
        )
    yield from (f"It cites: {describe(fact)} ({fact.fact_id})." for fact in found.facts)
    yield f"When it was checked: {one.verdict}; confidence {one.confidence:.2f}."
    yield from (f"Changed since: {change}" for change in found.stale)


def _citations_to(citations: Iterable[Citation]) -> list[list[str | None]]:
    """Return cited turns by their ids: their words are not repeated."""
    return [[cited.turn_id, cited.fact_id] for cited in citations]


def _citations_from(data: Iterable[list[Any]]) -> tuple[Citation, ...]:
    return tuple(Citation(turn_id=turn, fact_id=fact, memory=memory_of(turn)) for turn, fact in data)


CODEC = Codec(
    Answered,
    "id question text at session speaker agent value citations standing consulted asked said as_of known_at "
    "confidence abstained disputed verdict trace",
    id=Named("answer_id"),
    at=Named("at", datetime.isoformat, datetime.fromisoformat),
    citations=Named("citations", _citations_to, _citations_from),
    consulted=Named("consulted", list, tuple),
    said=Named("said", list, lambda pairs: tuple(map(tuple, pairs))),
    as_of=Named("as_of", date.isoformat, date.fromisoformat),
    known_at=Named("known_at", datetime.isoformat, datetime.fromisoformat),
)
"""How answers are kept in the database."""
