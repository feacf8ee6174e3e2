"""The loop that answers: turn -> tasks, or question -> evidence -> draft -> verdict -> reply + trace."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from doxa.core.background import Background
from doxa.core.drift import Shadow
from doxa.core.trace import Tracer
from doxa.core.values import Change, Draft, Evidence, Fact, Question, Reply, Status, Turn
from doxa.engine.answer.acknowledging import acknowledged
from doxa.engine.answer.background import background_of, is_wanted, paths, said_aloud
from doxa.engine.answer.beneath import NEARBY, look_beneath, shown, whose
from doxa.engine.answer.briefing import Briefing, brief, superseded
from doxa.engine.answer.drafting import believed_at, drafted, gone, question_of, tells, to_the_asker
from doxa.engine.answer.feedback import served, used
from doxa.engine.answer.finding import encoded_query, more_of
from doxa.engine.answer.grading import Ground
from doxa.engine.answer.hearing import Heard, hear, prefers_facts, task_reply
from doxa.engine.answer.prompting import Material, is_prompted, searched, written
from doxa.engine.answer.reasoning import Reasoning
from doxa.engine.answer.replying import Settled, by_logic, settled
from doxa.engine.answer.requests import requested
from doxa.engine.answer.rewriting import rewrite
from doxa.engine.answer.searching import drawn_on
from doxa.engine.asked import Asked
from doxa.engine.history.answers import keep
from doxa.engine.reading.turns import note_of, read_by, readable, reading_of
from doxa.engine.shared.layers import is_shared, shared_with, turns_of
from doxa.engine.wiring.parts import Parts
from doxa.memory import Beliefs, Note, UserState, using
from doxa.reason import (
    State,
    Task,
    relevant_facts,
    relevant_rules,
    summarise,
)
from doxa.recall import (
    Found,
    Query,
    Rewriting,
    apart,
    enriched,
    evidence_of,
    look_up,
    ranking_of,
    read_query,
)
from doxa.understand import known_near

__all__ = ["respond"]

logger = logging.getLogger("doxa")

FACTS_IN_PROMPT = 20
FACTS_TOLD = 4
"""Facts of one turn that a trace names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What the memory has to say, gathered in one look at the state."""

    question: Question | None
    evidence: Sequence[Evidence]
    draft: Draft
    facts: Sequence[Fact]
    """What is believed and bears on the question; empty without a language model."""
    believed: str
    """What is believed and bears on the question, in words, for a language model; empty without one."""
    recent: Sequence[Turn]
    turns: dict[str, Turn]
    changes: Sequence[Change]
    intents: tuple[str, ...]
    today: date
    reasoning: Reasoning | None = None
    """What a search for a better answer starts from; None where nothing is asked, or nothing is to be searched."""
    reached: State = State()  # noqa: RUF009  # frozen
    """Where the search without a model ended, with what it found on the way."""
    background: Sequence[Background] = ()
    """What the reply may draw on beside the memory."""
    briefing: Briefing = Briefing()  # noqa: RUF009  # frozen
    """What a language model is told beside that; empty without one."""
    version: int = 0
    """The row of the log up to which all of this is known."""
    own: Draft | None = None
    """The answer of the user's own memory, where that of a shared one is given."""
    shared: tuple[str, ...] = ()
    """The shared memories that a language model is shown."""
    overruled: tuple[str, ...] = ()
    """The ids of shared facts that the own answer excludes."""


def respond(asked: Asked, parts: Parts, tracer: Tracer) -> Reply:
    """Answer what is asked of the memory itself, what is said to the tasks, and all else from what is believed."""
    heard = hear(asked, parts, tracer)
    offer = parts.offers.take(asked.user, asked.session) if asked.turn_id else None
    if (offer or not heard.sure) and (told := requested(asked, offer, parts, tracer)) is not None:
        return told
    if not heard.sure:
        reply, consulted = _from_facts(asked, parts, tracer)
        if heard.commit is None or prefers_facts(heard, reply, tracer):
            return keep(replace(reply, trace=tracer.trace()), asked, consulted, parts)
    reply, consulted = _from_tasks(heard, asked, parts, tracer)
    return keep(reply, asked, consulted, parts)


def _from_tasks(heard: Heard, asked: Asked, parts: Parts, tracer: Tracer) -> tuple[Reply, list[str]]:
    """Return the reply of the tasks, with background only where it was asked for; and the turns that were consulted."""
    if not asked.aloud:
        return task_reply(heard, tracer), []
    with parts.log.user(asked.user) as state:
        own = state.turn(asked.turn_id) if asked.turn_id else None
        recent = _recent(asked, own, state, parts.config.engine.context_turns)
    retrieved = background_of(asked, recent, parts, tracer)
    added = retrieved.background if retrieved else ()
    reply = task_reply(heard, tracer)
    draft = Draft(text=reply.text)
    texts = [said_aloud(draft, path).text for path in paths(added, asked.n)]
    replies = replace(reply, text=texts[0], alternatives=tuple(texts[1:]), background=added)
    return replies, [turn.turn_id for turn in recent]


def _from_facts(asked: Asked, parts: Parts, tracer: Tracer) -> tuple[Reply, list[str]]:
    """Answer from memory: evidence, a draft, a check of the draft; with the ids of the turns that were consulted.

    A language model, when there is one, writes the draft outside any lock; when it fails the built-in draft is
    the answer, and the trace says so.
    """
    with parts.log.user(asked.user) as state:
        own, place = state.turn(asked.turn_id) if asked.turn_id else None, state.ordinal
        recent = _recent(asked, own, state, parts.config.engine.context_turns)
    rewriting = _rewritten(asked, recent, parts, tracer)
    with tracer.step("encode") as note:
        with parts.log.user(asked.user) as state:
            query = read_query(
                asked.text, state, recent=recent, rewriting=rewriting, asker=asked.speaker, asked_in=asked.session,
                at=asked.at, known_at=asked.known_at,
            )  # fmt: skip
        query = encoded_query(query, parts, note)
        note.update(enriched(query))
    with parts.log.user(asked.user) as state:
        found = _look_up(asked, query, state, parts, tracer)
    found = _with_shared(asked, found, rewriting, parts, tracer)
    background: Sequence[Background] = ()
    if is_wanted(asked, found.question, found.intents, parts.config):
        retrieved = background_of(asked, found.recent, parts, tracer)
        background = retrieved.background if retrieved else ()
    leaving = [_leave(asked, replace(found, background=path), parts, tracer) for path in paths(background, asked.n)]
    draft, verdict = leaving[0].draft, leaving[0].verdict
    _note_use(leaving[0], asked, found, parts)
    is_own = not any(one.memory for one in draft.citations)
    if is_own and found.question is not None and parts.config.drift.watch and place:
        parts.shadows.add(asked.user, (place, _shadow(leaving[0], asked, found, parts, tracer)))
    reply = Reply(
        text=draft.text,
        value=draft.value,
        citations=draft.citations,
        memories=_drawn(draft, found, parts),
        overruled=found.overruled,
        revisions=tuple(change for change in found.changes if change.revises),
        intents=found.intents,
        verdict=verdict,
        confidence=draft.confidence,
        abstained=draft.abstained,
        disputed=draft.disputed,
        background=tuple(background),
        alternatives=tuple(dict.fromkeys(one.draft.text for one in leaving if one.draft.text != draft.text)),
    )
    return reply, [turn.turn_id for turn in (*found.recent, *found.turns.values())]


def _drawn(draft: Draft, found: _Found, parts: Parts) -> tuple[str, ...]:
    """Return the shared memories that a reply draws on: what it cites, and whatever a language model was told of."""
    cited = (one.memory for one in draft.citations if one.memory)
    told = (*found.shared, *drawn_on(found.recent)) if tells(parts) else ()
    return tuple(dict.fromkeys((*cited, *told)))


def _with_shared(asked: Asked, found: _Found, rewriting: Rewriting | None, parts: Parts, tracer: Tracer) -> _Found:
    """Return what is found with what the shared memories answer, and what a language model is told of them."""
    if not shared_with(parts, asked.user):
        return found
    shows = tells(parts)
    below = look_beneath(asked, found.question, found.draft, found.recent, rewriting, parts, tracer, shows=shows)
    own = found.draft if below.draft is not found.draft else None
    found = replace(found, draft=below.draft, own=own, overruled=below.overruled)
    if not shows:
        return found
    evidence = more_of(found.evidence, below.evidence, parts.recall.top_k)
    memories = tuple(dict.fromkeys(item.memory for item in (*below.evidence, *evidence) if item.memory))
    facts = below.facts[: FACTS_IN_PROMPT // 2]
    with using(parts.log.ontology):
        believed = "\n".join(filter(None, (found.believed, shown(facts, memories))))
    ids = [key for item in evidence for key in item.turn_ids] + [key for fact in facts for key in fact.turn_ids]
    turns = found.turns | turns_of(parts, asked.user, ids)
    return replace(found, evidence=evidence, believed=believed, turns=turns, shared=memories)


def _leave(asked: Asked, found: _Found, parts: Parts, tracer: Tracer) -> Settled:
    """Have a reply written and checked. A built-in one says its background where that was asked for and may be said."""
    with using(parts.log.ontology):
        draft = _write(asked, found, parts, tracer)
    plain = draft is found.draft
    if asked.aloud and plain:
        draft = said_aloud(draft, found.background)
    again = partial(_write_again, asked=asked, found=found, parts=parts, tracer=tracer)
    with tracer.step("verify") as note:
        leaving = settled(draft, asked, parts, note, builtin=found.draft, again=again)
        if plain and draft is not found.draft and "held_back" in note:  # what memory says leaves without it
            leaving = settled(found.draft, asked, parts, note, builtin=found.draft, again=again)
        if plain and found.own is not None and by_logic(leaving.verdict):
            note["own_instead"] = leaving.verdict.reason  # what the user knows better goes before what everybody knows
            leaving = settled(found.own, asked, parts, note, builtin=found.own, again=again)
        return leaving


def _write_again(why: str, *, asked: Asked, found: _Found, parts: Parts, tracer: Tracer) -> Draft:
    """Have a reply written again, told what is wrong with the last one."""
    return _write(asked, replace(found, believed=f"{found.believed}\n{why}"), parts, tracer)


def _note_use(leaving: Settled, asked: Asked, found: _Found, parts: Parts) -> None:
    """Note which evidence a reply used, for search to learn from."""
    if not parts.config.recall.feedback or any(one.memory for one in leaving.draft.citations):
        return  # what is learned is how to search the own memory
    with parts.log.user(asked.user) as state:
        told = used(
            leaving.draft, leaving.verdict, found.evidence, state, asked=asked.turn_id, session=asked.session,
            at=asked.at,
        )  # fmt: skip
    if told is not None:
        parts.told.add(asked.user, told)


def _shadow(leaving: Settled, asked: Asked, found: _Found, parts: Parts, tracer: Tracer) -> Shadow:
    """Return how a question was served, to see later whether search still does as well."""
    step = next(step for step in reversed(tracer.trace().steps) if step.name == "recall")
    kept = asked.turn_id is not None or parts.config.engine.answers > 0
    evidence = [item for item in found.evidence if not item.memory]
    return served(leaving.draft, leaving.verdict, evidence, asked, step, kept=kept)


def _rewritten(asked: Asked, recent: Sequence[Turn], parts: Parts, tracer: Tracer) -> Rewriting | None:
    """Let the language model rewrite the question where it is configured to; the trace tells of it, or why not."""
    if parts.config.roles.rewrite == "builtin":
        return None
    with tracer.step("rewrite") as note:
        rewriting = rewrite(asked.text, recent, parts, asker=asked.speaker)
        if rewriting is not None:
            note.update(by=rewriting.by, question=rewriting.question, words=" ".join(rewriting.words))
            note.update(prompt_tokens=rewriting.prompt_tokens, completion_tokens=rewriting.completion_tokens)
            if rewriting.sent:
                note["sent"] = rewriting.sent
            if rewriting.failed:
                note["degraded"] = rewriting.failed
        return rewriting


def _look_up(asked: Asked, query: Query, state: UserState, parts: Parts, tracer: Tracer) -> _Found:
    own = state.turn(asked.turn_id) if asked.turn_id else None
    changes = state.beliefs.changes_by(own.turn_id) if own else []
    recent = _recent(asked, own, state, parts.config.engine.context_turns)
    beliefs = believed_at(asked, state, parts)
    today = (asked.known_at or asked.at).date()
    question = question_of(asked, own, recent, beliefs, parts, tracer)
    intents = _intents(own, recent, state, parts, tracer)
    nearby = _nearby(asked, query, question, state, parts, tracer)
    evidence = [item for item in nearby[: parts.recall.top_k] if not gone(item, state)]
    with tracer.step("reason") as note:
        reasoning: Reasoning | None = None
        reached = State()
        if question is None:
            draft = acknowledged(changes, state, speaker=asked.speaker, greets="greet" in intents)
        else:
            ground = Ground(question=question, nearby=nearby, asked=asked, state=state, beliefs=beliefs)
            draft, reasoning, reached = drafted(ground, query, parts, today, recent, note)
            draft = to_the_asker(draft, beliefs, asked.speaker)
        writes = tells(parts)
        facts = _facts_for_prompt(asked, question, recent, beliefs, today) if writes else []
        believed = _believed(asked.text, facts, beliefs, parts) if writes else ""
        note.update(value=draft.value, confidence=round(draft.confidence, 3))
    turns = {key: turn for item in evidence for key in item.turn_ids if (turn := state.turn(key))}
    turns |= {key: turn for fact in facts for key in fact.turn_ids if (turn := state.turn(key))}
    return _Found(
        question=question,
        evidence=evidence,
        draft=draft,
        facts=facts,
        believed=believed,
        recent=recent,
        turns=turns,
        changes=changes,
        intents=intents,
        today=today,
        reasoning=reasoning,
        reached=reached,
        briefing=brief(asked, own, changes, state, parts.config.engine.context_turns) if writes else Briefing(),
        version=state.ordinal,
    )


def _nearby(
    asked: Asked, query: Query, question: Question | None, state: UserState, parts: Parts, tracer: Tracer
) -> list[Evidence]:
    """Return what bears on a question, best first, and more of it than is cited; not the turn that asks."""
    with tracer.step("recall") as note:
        past = question is not None and question.past
        wide = replace(parts.recall, top_k=max(NEARBY, parts.recall.top_k), superseded=past)
        found = look_up(query, state, spec=wide, weights=parts.learned.of(asked.user))
        nearby = [item for item in evidence_of(found) if asked.turn_id not in item.turn_ids]
        note.update(found=min(len(nearby), parts.recall.top_k), **found.note)
        if (gap := apart(found.proposed)) is not None:
            note["apart"] = round(gap, 3)
        note["ranked"] = _ranked(found, nearby[: parts.recall.top_k], asked)
    return nearby


def _ranked(found: Found, evidence: Sequence[Evidence], asked: Asked) -> list[dict[str, object]]:
    """Return what each view proposed, with what became evidence marked and the facts that it holds."""
    facts = {key: list(item.fact_ids[:FACTS_TOLD]) for item in evidence for key in item.turn_ids}
    rows = (row for row in ranking_of(found) if row["turn"] != asked.turn_id)
    return [{**row, "found": True, "facts": facts[row["turn"]]} if row["turn"] in facts else row for row in rows]


def _intents(
    own: Turn | None, recent: Sequence[Turn], state: UserState, parts: Parts, tracer: Tracer
) -> tuple[str, ...]:
    """Return what the turn that asks does, as it was understood when it was processed."""
    if own is None:
        return ("ask",)
    with tracer.step("understand") as note:
        known: Note | None = state.notes.get(own.turn_id)
        failed = state.degraded.get(own.turn_id, "")
        if known is None:  # not processed yet
            found, failed = reading_of(own, recent, state.beliefs, parts.parser_of(own.user))
            known = note_of(found)
        if failed:
            note["degraded"] = failed
        note["intents"] = known.intents
        note.update(read_by(known))
        return known.intents or ("chat",)


def _facts_for_prompt(
    asked: Asked, question: Question | None, recent: Sequence[Turn], beliefs: Beliefs, today: date
) -> list[Fact]:
    """Return what is believed and bears on a message: what answers it, then what is about those whom it names."""
    asks = relevant_facts(question, beliefs, limit=FACTS_IN_PROMPT, today=today) if question is not None else []
    near = (fact for fact in known_near(asked.as_turn(), recent, beliefs).facts if fact.status is Status.HELD)
    return list({fact.fact_id: fact for fact in (*asks, *near)}.values())[:FACTS_IN_PROMPT]


def _believed(text: str, facts: Sequence[Fact], beliefs: Beliefs, parts: Parts) -> str:
    """Return the belief state as a model is told of it, in half of the room for memory at most."""
    room = parts.config.llm.context_tokens // 2
    past = superseded(facts, beliefs)
    return summarise(facts, beliefs, rules=relevant_rules(text, beliefs), past=past, max_tokens=room, cite=True)


def _recent(asked: Asked, own: Turn | None, state: UserState, size: int) -> list[Turn]:
    """Return the turns before the one that asks, oldest first, with what was asked without being remembered.

    Of a very long one what is read of it.
    """
    if not size:
        return []
    known = [state.turns[ordinal] for ordinal in state.session(asked.session)[-size:]]
    known = state.context(own, size) if own is not None else known
    return [readable(turn) for turn in sorted((*known, *asked.said), key=lambda turn: turn.ordinal)[-size:]]


def _write(asked: Asked, found: _Found, parts: Parts, tracer: Tracer) -> Draft:
    """Let the language model search or write, where it is to; else, or when it fails, keep the built-in draft."""
    reasoning = found.reasoning if found.reasoning is not None and is_prompted(found.reasoning, parts) else None
    if reasoning is None and parts.config.roles.write == "builtin":
        return found.draft

    def turn(turn_id: str) -> Turn | None:
        if is_shared(turn_id):
            return found.turns.get(turn_id)
        with parts.log.user(asked.user) as state:
            return state.turn(turn_id)

    material = Material(
        task=_task(asked, found), builtin=found.draft, believed=found.believed, turn=turn, version=found.version
    )
    if reasoning is not None:
        with tracer.step("search") as note:
            return whose(searched(material, reasoning, parts, note))
    with tracer.step("write") as note:
        return whose(written(material, found.reached, parts, note))


def _task(asked: Asked, found: _Found) -> Task:
    """Return the question as a language model is told of it, with the facts that bear on it."""
    known = found.reasoning.task if found.reasoning is not None else Task(text=asked.text, today=found.today)
    return replace(
        known,
        text=asked.whole or asked.text,
        question=found.question,
        asker=asked.speaker,
        agent=asked.agent,
        facts=tuple(found.facts),
        recent=tuple(found.recent),
        evidence=tuple(found.evidence),
        background=tuple(one.text for one in found.background),
        profile=found.briefing.profile,
        history=found.briefing.history,
        tasks=found.briefing.tasks,
        noted=found.briefing.noted,
        own=found.briefing.own,
    )
