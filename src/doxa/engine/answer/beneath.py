"""What the own memory does not answer -> the answer and the evidence of the memories that everybody reads beneath it.

A fact of the user's own answers alone. A shared fact goes before what is only quoted of the own memory, unless that
says the opposite; of two quotes the likelier one is given, and the own one of two that are alike. What the user's own
facts exclude, or the user set aside, is neither told nor shown (`engine.shared.hiding`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from doxa.backends.nli import LABELS, Judge
from doxa.core.errors import BackendError
from doxa.core.shared import qualified
from doxa.core.trace import Tracer
from doxa.core.values import Citation, Draft, Evidence, Fact, Question, Status, Turn
from doxa.engine.answer.drafting import believed_at, drafted, gone, to_the_asker
from doxa.engine.answer.finding import encoded_query, held_by, of_memory
from doxa.engine.answer.grading import Ground
from doxa.engine.asked import Asked
from doxa.engine.shared.hiding import hidden, visible
from doxa.engine.shared.layers import memory_of, shared_with, told
from doxa.engine.wiring.parts import Parts
from doxa.memory import Beliefs, UserState, describe
from doxa.recall import Query, Rewriting, evidence_of, look_up, read_query
from doxa.understand import read_question

__all__ = ["NEARBY", "Beneath", "look_beneath", "shown", "stands_alone", "whose"]

NEARBY = 60
"""Turns whose facts are compared with a question in other words."""
CONTRADICTION = LABELS.index("contradiction")
OPPOSED = 0.5
"""P(contradiction) from which what a user said goes before a shared fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beneath:
    """What the shared memories have to say, under the ids for everybody."""

    draft: Draft
    """The answer that is given: the own one where no shared one is better."""
    evidence: Sequence[Evidence] = ()
    facts: Sequence[Fact] = ()
    """What is believed there and bears on the question, for a language model."""
    overruled: tuple[str, ...] = ()
    """The ids of facts there that cannot be true beside the own facts of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """What one shared memory has to say, under its own ids."""

    memory: str
    evidence: Sequence[Evidence]
    facts: Sequence[Fact]
    """Those that the evidence supports."""
    draft: Draft
    rests_on: Sequence[Fact]


def stands_alone(draft: Draft) -> bool:
    """Tell whether an answer of the own memory needs no other: it cites a fact, or its sources disagree."""
    if draft.abstained:
        return False
    return draft.disputed or any(citation.fact_id for citation in draft.citations)


def look_beneath(
    asked: Asked,
    question: Question | None,
    own: Draft,
    recent: Sequence[Turn],
    rewriting: Rewriting | None,
    parts: Parts,
    tracer: Tracer,
    *,
    shows: bool,
) -> Beneath:
    """Return the better of the own answer and those of the shared memories, and what these show beside it.

    Args:
        asked: what is asked, by whom.
        question: how it was understood; None where nothing is asked.
        own: the answer of the own memory.
        recent: the turns before it.
        rewriting: what a language model made of it, if anything.
        parts: what the engine is made of.
        tracer: gets a step for each memory that is looked at.
        shows: whether evidence is wanted whoever answers: a language model is told of it.

    Cost: for each shared memory one search, and one answer unless the own memory answers from a fact; where it does
    and no model is told of anything, a look-up of that fact.
    """
    asks = question is not None and not stands_alone(own)
    found = Beneath(draft=own, overruled=_overruled(own, asked, parts, tracer))
    for memory in shared_with(parts, asked.user) if asks or shows else ():
        with tracer.step("beneath") as note:
            note["memory"] = memory
            layer = _layer(memory, asked, question if asks else None, recent, rewriting, parts, note)
            if layer is None:
                continue
            seen = _seen(layer, asked, parts)
            draft = _better(found.draft, seen.draft, parts, note) if asks else found.draft
            note["answers"] = draft is not found.draft
            found = replace(
                found,
                draft=draft,
                evidence=[*found.evidence, *seen.evidence],
                facts=[*found.facts, *seen.facts],
            )
    return found


def _overruled(own: Draft, asked: Asked, parts: Parts, tracer: Tracer) -> tuple[str, ...]:
    """Return the ids of shared facts that cannot be true beside those of the user's own that an answer cites.

    What the user set aside is left out: there is nothing to tell. Cost: a look-up for each fact and shared memory.
    """
    with parts.log.user(asked.user) as state:
        known = state.beliefs.facts
        cited = [known[one.fact_id] for one in own.citations if one.fact_id and one.fact_id in known]
    found: list[str] = []
    for memory in shared_with(parts, asked.user) if cited and asked.known_at is None else ():
        with parts.log.user(memory) as state:
            beliefs = state.beliefs
            there = [one for fact in cited for one in beliefs.in_slot(beliefs.slot(fact)) if one.status is Status.HELD]
        if not there:
            continue
        with parts.log.user(asked.user) as state:
            keys = (qualified(memory, key) for key in sorted(hidden(there, memory, state)))
            found += [key for key in keys if key not in state.aside]
    if found:
        with tracer.step("overruled") as note:
            note["facts"] = found
    return tuple(found)


def whose(draft: Draft) -> Draft:
    """Return an answer whose citations say of which memory their turns are, as their ids do."""
    cited = tuple(replace(one, memory=memory_of(one.turn_id)) for one in draft.citations)
    return draft if cited == draft.citations else replace(draft, citations=cited)


def _layer(
    memory: str,
    asked: Asked,
    question: Question | None,
    recent: Sequence[Turn],
    rewriting: Rewriting | None,
    parts: Parts,
    note: dict[str, object],
) -> _Layer | None:
    """Return what one shared memory finds and answers, whatever the user's own says; None where it is empty."""
    below = replace(asked, user=memory, turn_id=None)
    with parts.log.user(memory) as state:
        if not state.places:
            return None
        query = read_query(
            asked.text, state, recent=recent, rewriting=rewriting, asker=asked.speaker, at=asked.at,
            known_at=asked.known_at,
        )  # fmt: skip
    query = encoded_query(query, parts, note)
    with parts.log.user(memory) as state:
        past = question is not None and question.past
        wide = replace(parts.recall, top_k=max(NEARBY, parts.recall.top_k), superseded=past)
        nearby = evidence_of(look_up(query, state, spec=wide, weights=parts.learned.of(memory)))
        evidence = [item for item in nearby[: parts.recall.top_k] if not gone(item, state)]
        draft, beliefs = Draft(text="", abstained=True), believed_at(below, state, parts)
        if question is not None:
            draft = _answered(below, question, query, nearby, recent, state, beliefs, parts, note)
        # By their ids alone: a trace is kept in the log of whoever asks, and what is shared is copied into none.
        cites = [qualified(memory, one.turn_id) for one in draft.citations]
        note.update(found=len(evidence), cites=cites, confidence=round(draft.confidence, 3))
        rests_on = _rests_on(draft, beliefs)
        return _Layer(
            memory=memory, evidence=evidence, facts=held_by(evidence, state), draft=draft, rests_on=rests_on
        )  # fmt: skip


def _answered(
    below: Asked,
    question: Question,
    query: Query,
    nearby: Sequence[Evidence],
    recent: Sequence[Turn],
    state: UserState,
    beliefs: Beliefs,
    parts: Parts,
    note: dict[str, object],
) -> Draft:
    """Return the answer of a shared memory, which is locked; names in the question are those that it knows."""
    read = read_question(
        question.text, asker=below.speaker, at=below.at, context=recent, beliefs=beliefs, parser=parts.parser
    )
    ground = Ground(question=read, nearby=nearby, asked=below, state=state, beliefs=beliefs, beneath=True)
    inside: dict[str, object] = {}
    draft, _, _ = drafted(ground, query, parts, (below.known_at or below.at).date(), recent, inside)
    if "degraded" in inside:
        note["degraded"] = inside["degraded"]
    return to_the_asker(draft, beliefs, below.speaker)


def _rests_on(draft: Draft, beliefs: Beliefs) -> list[Fact]:
    """Return the facts that an answer cites; of a turn that it quotes, those that the turn supports."""
    found: dict[str, Fact] = {}
    for citation in draft.citations:
        if citation.fact_id:
            facts = [beliefs.facts[citation.fact_id]] if citation.fact_id in beliefs.facts else []
        else:
            slots = beliefs.slots_of_turn(citation.turn_id)
            facts = [one for slot in slots for one in beliefs.in_slot(slot) if citation.turn_id in one.turn_ids]
        found |= {one.fact_id: one for one in facts if one.status is Status.HELD}
    return list(found.values())


def _seen(layer: _Layer, asked: Asked, parts: Parts) -> Beneath:
    """Return what counts for the user of what a shared memory says, under the ids for everybody."""
    memory = layer.memory
    with parts.log.user(asked.user) as state:
        out_of_sight = hidden({one.fact_id: one for one in (*layer.facts, *layer.rests_on)}.values(), memory, state)
        keys = {qualified(memory, key) for key in out_of_sight}
        evidence = visible([of_memory(item, memory) for item in layer.evidence], keys, state)
        aside = any(qualified(memory, one.turn_id) in state.aside for one in layer.draft.citations)
    draft = layer.draft
    if aside or any(fact.fact_id in out_of_sight for fact in layer.rests_on):
        draft = Draft(text="", abstained=True)
    facts = [told(fact, memory) for fact in layer.facts if fact.fact_id not in out_of_sight]
    return Beneath(draft=_labelled(draft, memory), evidence=evidence, facts=facts)


def _labelled(draft: Draft, memory: str) -> Draft:
    """Return an answer of a shared memory with its citations under the ids for everybody."""

    def label(one: Citation) -> Citation:
        fact_id = None if one.fact_id is None else qualified(memory, one.fact_id)
        return replace(one, turn_id=qualified(memory, one.turn_id), fact_id=fact_id, memory=memory)

    return replace(draft, citations=tuple(map(label, draft.citations)))


def _better(own: Draft, shared: Draft, parts: Parts, note: dict[str, object]) -> Draft:
    """Return which of two answers is given: that so far, or that of a shared memory."""
    if shared.abstained or not shared.citations or stands_alone(own):
        return own
    if own.abstained or not own.citations:  # "no", for what nobody said, is no answer where somebody did
        return shared
    likelier = own if own.confidence >= shared.confidence else shared
    if not stands_alone(shared):
        return likelier
    quoted = own.value is not None and likelier is own
    return own if quoted or _opposes(own, shared, parts.judge(), note) else shared


def _opposes(own: Draft, shared: Draft, judge: Judge | None, note: dict[str, object]) -> bool:
    """Tell whether what was said to the own memory denies a shared fact. Cost: a pair for each turn that is quoted."""
    if judge is None:
        return False
    try:
        rows = judge([(citation.text, shared.text) for citation in own.citations])
    except BackendError as exc:
        note["degraded"] = f"the NLI model failed, so the shared fact goes before what was said: {exc}"
        return False
    return bool(rows[:, CONTRADICTION].max() >= OPPOSED)


def shown(facts: Sequence[Fact], memories: Sequence[str]) -> str:
    """Return shared facts as a language model is told of them, with the ids of their turns; empty for none."""
    lines = [f"- {describe(fact)} [{', '.join(fact.turn_ids)}]" for fact in facts]
    return "\n".join([f"Known to everybody ({', '.join(memories)}):", *lines]) if lines else ""
