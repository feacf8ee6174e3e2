"""A reply -> the verdict of the memory on it, and what is done with one that contradicts it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.backends.grader import Grader
from doxa.core.errors import BackendError, DoxaError
from doxa.core.shared import qualified
from doxa.core.values import Change, Claim, Draft, SentenceVerdict, Status, Turn, Verdict
from doxa.engine.answer.grading import graded_turns
from doxa.engine.asked import Asked
from doxa.engine.reading.turns import reading_of
from doxa.engine.shared.hiding import hidden
from doxa.engine.shared.layers import shared_with
from doxa.engine.wiring.parts import Parts
from doxa.language import stems
from doxa.memory import UserState
from doxa.reason import claimed
from doxa.recall import encoded, read_query, recall
from doxa.revise import revise
from doxa.verify import CheckSpec, Clause, Known, Witness, check, together

__all__ = ["Settled", "by_logic", "check_layers", "check_reply", "settled"]

HEARD = 8
"""Turns that a grader reads for one sentence."""
NEAR = 8
"""Turns that a clause is held against, those that share most with it."""
LOOKED_AT = 10
"""Turns that are looked at for each turn of the agent that is wanted."""
SENTENCES_TOLD = 24
"""Sentences of a reply whose verdicts a trace repeats, the first ones."""
LONGEST_TOLD = 600
"""Characters of a sentence, and of the reason of its verdict, there."""
FOLLOWING = 2
"""Turns after one that bears on a reply, which may say what became of it."""
SAID = ("logic", "wording", "nli", "turns")
"""What a shared memory may decide by: what was said in it, and not what an agent once said or undertook there."""
HEDGE = "I am not sure about that. What I have noted: {held}"
HELD_BACK = "I hold back my answer, since it does not agree with what I have noted: {held}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A draft as it leaves, and the verdict on it."""

    draft: Draft
    verdict: Verdict


def check_reply(
    text: str,
    parts: Parts,
    state: UserState,
    *,
    user: str,
    agent: str,
    at: datetime | None = None,
    note: dict[str, object] | None = None,
) -> Verdict:
    """Return whether a reply agrees with the memory of a user; the caller holds the state's lock.

    When the NLI model fails the verdict is that of logic and wording, and `note` is told.
    """
    at = at or state.now() or datetime.now(UTC)
    settings = parts.config.verify
    known = Known(
        beliefs=state.beliefs,
        user=user,
        agent=agent,
        at=at,
        read=partial(_read, state=state, parts=parts, user=user, agent=agent, at=at),
        revised=partial(_revised, state=state, user=user, at=at),
        turn=state.turn,
        said=partial(_said, state=state),
        own=_own(state, settings.history),
        after=partial(_after, state=state),
    )
    if (grader := _grader(parts, note)) is not None:
        known = replace(known, witnesses=partial(_witnesses, state=state, parts=parts, grader=grader, at=at))
    spec = CheckSpec(clauses=settings.clauses, contradiction=settings.contradiction, entailment=settings.entailment)
    try:
        return check(text, replace(known, classify=partial(_classified, parts=parts)), spec)
    except DoxaError as exc:
        if note is not None:
            note["degraded"] = f"the NLI model failed, so replies are checked without it: {exc}"
        return check(text, known, spec)


def check_layers(
    text: str,
    parts: Parts,
    owner: str,
    *,
    user: str,
    agent: str,
    at: datetime | None = None,
    note: dict[str, object] | None = None,
) -> Verdict:
    """Return whether a reply agrees with the memory of a user, and where that knows nothing with those beneath it.

    What the user's own facts exclude, or the user set aside, speaks neither for nor against it; and what an agent said
    in a shared memory binds nobody else.

    Args:
        text: what is about to be said.
        parts: what the engine is made of.
        owner: whose memory it is.
        user, agent: their names as people write them.
        at: when it is said; by default now, by the own memory.
        note: is told what failed.

    Cost: one check; one more for each shared memory while a statement is left that none decides.
    """
    with parts.log.user(owner) as state:
        at = at or state.now()
        found = check_reply(text, parts, state, user=user, agent=agent, at=at, note=note)
    for memory in shared_with(parts, owner):
        if not any(_is_open(one) for one in found.sentences):
            break
        with parts.log.user(memory) as state:
            if not state.places:
                continue
            below = check_reply(text, parts, state, user=user, agent=agent, at=at, note=note)
            facts = [state.beliefs.facts[key] for key in below.because if key in state.beliefs.facts]
        with parts.log.user(owner) as state:
            gone = {qualified(memory, key) for key in hidden(facts, memory, state)} | state.aside.keys()
        pairs = zip(found.sentences, below.sentences, strict=True)  # of one text, taken apart the same way
        sentences = [_beneath(own, other, memory, gone) if _is_open(own) else own for own, other in pairs]
        found = replace(together(sentences), due=found.due)
    return found


def _is_open(sentence: SentenceVerdict) -> bool:
    """Tell whether a sentence claims something that the own memory does not decide."""
    return sentence.kind == "statement" and sentence.label in ("neutral", "uncertain")


def _beneath(own: SentenceVerdict, other: SentenceVerdict, memory: str, gone: Set[str]) -> SentenceVerdict:
    """Return what a shared memory says to a sentence, unless that does not count for the user.

    Where the own memory doubts it, only what the facts of the other hold or exclude is surer.
    """
    because = tuple(qualified(memory, key) for key in other.because)
    weighs = other.by in SAID if own.label == "neutral" else other.by == "logic"
    if not weighs or not gone.isdisjoint(because):
        return own
    return replace(other, because=because, reason=f"{memory}: {other.reason}" if other.reason else "")


def settled(
    draft: Draft,
    asked: Asked,
    parts: Parts,
    note: dict[str, object],
    *,
    builtin: Draft,
    again: Callable[[str], Draft],
) -> Settled:
    """Return the draft that leaves, after what `verify.mode` does with one that contradicts the memory.

    Args:
        draft: the answer as it was written.
        asked: what it answers.
        parts: what the engine is made of.
        note: the detail of the step, for the trace.
        builtin: the answer from memory, without a language model.
        again: has it written again, told in words what clashes; not called under a lock.

    What facts and rules exclude does not leave. What a comparison of words or the NLI model objects to is looked at
    again by whoever wrote it, and leaves as uncertain where it is said again: of 138 right answers of a capable model
    12 were objected to so.

    Cost: one check; in mode `repair` one more, and one writing, for each repair.
    """
    mode, most = parts.config.verify.mode, parts.config.verify.repairs
    verdict = _verdict(draft, asked, parts, note)
    first, repaired = verdict, 0
    while mode == "repair" and verdict.label == "contradicted" and draft is not builtin and repaired < most:
        repaired += 1
        draft = again(_conflict(draft, verdict))
        verdict = _verdict(draft, asked, parts, note)
        if verdict.label == "contradicted" and draft is not builtin and not by_logic(verdict):
            note["stands_by"] = draft.text[:200]
            verdict = replace(
                verdict, label="uncertain", reason=f"looked at again, and said again; but {verdict.reason}"
            )
    if verdict.label == "contradicted" and mode in ("repair", "block"):
        note["held_back"] = draft.text[:200]
        draft, verdict = _instead(builtin, first, asked, parts, note, mode=mode)
    if repaired:
        note["repaired"] = repaired
    note.update(_told(verdict))
    return Settled(draft=draft, verdict=replace(verdict, repaired=repaired))


def _verdict(draft: Draft, asked: Asked, parts: Parts, note: dict[str, object]) -> Verdict:
    """Return the verdict on a draft. Answers about another time are not compared with today."""
    if parts.config.verify.mode == "off":
        return Verdict(reason="replies are not checked (setting verify.mode)")
    if draft.abstained or draft.disputed or asked.as_of is not None or asked.known_at is not None:
        return Verdict(reason="it does not claim anything about now")
    with parts.log.user(asked.user) as state:
        cited = _cited(draft, state)
        text = claimed(draft, asked.speaker)
        sure = bool(cited) or not shared_with(parts, asked.user)
        if sure:
            found = check_reply(text, parts, state, user=asked.speaker, agent=asked.agent, at=asked.at, note=note)
    if not sure:
        found = check_layers(text, parts, asked.user, user=asked.speaker, agent=asked.agent, at=asked.at, note=note)
        cited = tuple(dict.fromkeys(one.fact_id for one in draft.citations if one.fact_id and one.memory))
    if cited and (found.label != "contradicted" or not (sure or by_logic(found))):
        entailed = replace(
            found, label="supported", because=cited, p_entailment=1.0, p_contradiction=0.0, consistency=1.0
        )
        return replace(entailed, reason="it follows from the facts that it cites")
    return found


def _cited(draft: Draft, state: UserState) -> tuple[str, ...]:
    """Return the ids of the facts that a draft cites and that are not taken back."""
    facts = state.beliefs.facts
    cited = dict.fromkeys(one.fact_id for one in draft.citations if one.fact_id)
    return tuple(key for key in cited if key in facts and facts[key].status is not Status.RETRACTED)


def _instead(
    builtin: Draft, wrong: Verdict, asked: Asked, parts: Parts, note: dict[str, object], *, mode: str
) -> tuple[Draft, Verdict]:
    """Return what is said in the place of a draft that contradicts the memory."""
    if mode == "repair" and not builtin.abstained:
        verdict = _verdict(builtin, asked, parts, note)
        if verdict.label != "contradicted":
            return builtin, verdict
    held = wrong.reason.removeprefix("the memory holds: ").rstrip(".") + "."
    text = (HEDGE if mode == "repair" else HELD_BACK).format(held=held)
    return Draft(text=text, abstained=True), replace(wrong, label="neutral", reason=f"held back: {wrong.reason}")


def by_logic(verdict: Verdict) -> bool:
    """Tell whether facts and rules exclude a reply; what only compares words may be wrong, and does not overrule."""
    return any(one.label == "contradicted" and one.by in ("logic", "promise") for one in verdict.sentences)


def _conflict(draft: Draft, verdict: Verdict) -> str:
    """Return in words for a language model what is wrong with a draft, or may be."""
    wrong = [one for one in verdict.sentences if one.label == "contradicted"]
    lines = [f"- You wrote “{one.text}”, but {one.reason}." for one in wrong]
    if by_logic(verdict):
        return "\n".join(["Your last answer contradicts what is known:", *lines, "Do not say that again."])
    look = "Look again: say what is right, or give the answer again if it agrees with the memory as it is now."
    return "\n".join(["Your last answer may contradict what was said:", *lines, look])


def _told(verdict: Verdict) -> Mapping[str, Any]:
    """Return what the trace is told of a verdict, with the ids that its reasons rest on."""
    note: dict[str, Any] = {"verdict": verdict.label, "consistency": round(verdict.consistency, 3)}
    wrong = [one for one in verdict.sentences if one.label == "contradicted"]
    if wrong:
        note["because"] = [key for one in wrong for key in one.because][:8]
        note["by"] = [one.by for one in wrong][:8]
    if verdict.reason and (verdict.because or not verdict.sentences):
        note["why"] = verdict.reason[:LONGEST_TOLD]
    if verdict.sentences:
        note["verdicts"] = [_sentence(one) for one in verdict.sentences[:SENTENCES_TOLD]]
    return note


def _sentence(one: SentenceVerdict) -> dict[str, Any]:
    """Return what a trace repeats of the verdict on a sentence; a reason is told with the ids that it rests on."""
    told = {
        "text": one.text[:LONGEST_TOLD],
        "label": one.label,
        "kind": one.kind,
        "by": one.by,
        "because": list(one.because[:8]),
        "reason": one.reason[:LONGEST_TOLD] if one.because else "",
        "p_entailment": round(one.p_entailment, 3),
        "p_contradiction": round(one.p_contradiction, 3),
    }
    return {name: value for name, value in told.items() if value not in ("", [])}


def _classified(pairs: Sequence[tuple[str, str]], *, parts: Parts) -> NDArray[np.float32]:
    """Ask the NLI model, opened at its first use; without one every pair is neutral."""
    nli = parts.nli()
    if nli is None:
        return np.tile(np.array([0.0, 1.0, 0.0], dtype=np.float32), (len(pairs), 1))
    return nli.classify(pairs)


def _read(
    clause: Clause, before: str, *, state: UserState, parts: Parts, user: str, agent: str, at: datetime
) -> Sequence[Claim]:
    """Return what a clause claims, read as if the one of whom it speaks had said it."""
    turn = Turn(
        turn_id="", user=state.user, session="", speaker=agent if clause.of_agent else user, role="user",
        text=f"{clause.told}.", at=at, ordinal=state.ordinal + 1,
    )  # fmt: skip
    context = [replace(turn, text=before, ordinal=state.ordinal)] if before else []
    return reading_of(turn, context, state.beliefs, parts.parser)[0].claims


def _revised(claims: Sequence[Claim], *, state: UserState, user: str, at: datetime) -> Sequence[Change]:
    """Return what claims would change if the user made them now, with nobody doubting how they were read."""
    said = [replace(c, role="user", speaker=user, known_at=at, confidence=1.0, tentative=False) for c in claims]
    return revise(said, state.beliefs, turn_id=None, known_at=at)


def _grader(parts: Parts, note: dict[str, object] | None) -> Grader | None:
    try:
        return parts.grader()
    except BackendError as exc:
        if note is not None:
            note["degraded"] = f"the grader failed, so replies are checked without it: {exc}"
        return None


def _witnesses(text: str, *, state: UserState, parts: Parts, grader: Grader, at: datetime) -> list[Witness]:
    """Return the turns that bear on a sentence, by search, each with what it says to it.

    Cost: one search, and one call of the grader for each of at most `HEARD` turns.
    """
    query = read_query(text, state, recent=(), asker=state.person() or "", at=at)
    query = encoded(
        query, parts.queries.encode([query.wording])[0], encoder=parts.encoder.name, lexicon=parts.lexicon()
    )
    spec = replace(parts.recall, top_k=HEARD, superseded=True)
    keys = dict.fromkeys(key for item in recall(query, state, spec=spec) for key in item.turn_ids)
    turns = [turn for key in keys if (turn := state.turn(key)) is not None and not turn.generated][:HEARD]
    rows = graded_turns("statement", text, turns, state, grader)
    return [
        Witness(
            turn=turn,
            supported=float(row[0]),
            contradicted=float(row[1]),
            planned=float(row[2]),
            read=max((claim.confidence for claim in state.beliefs.said_in(turn.turn_id)), default=0.0),
        )
        for turn, row in zip(turns, rows, strict=True)
    ]


def _said(text: str, *, state: UserState) -> list[Turn]:
    """Return the turns that share most words with a text; withdrawn ones are left out. Cost O(postings)."""
    wanted = [(stem, 1.0) for stem in dict.fromkeys(stems(text))]
    places = state.lexical.best(wanted, NEAR)
    if not len(places):
        return []
    held = state.lexical.held([stem for stem, _ in wanted], places).sum(axis=0)
    order = np.argsort(-held, kind="stable")[:NEAR]
    turns = (state.turns[state.places[int(places[place])]] for place in order)
    return [turn for turn in turns if state.trusts(turn.turn_id)]


def _own(state: UserState, size: int) -> list[Turn]:
    """Return the latest turns of the agent, oldest first. Cost O(size)."""
    latest = islice(reversed(state.turns.values()), LOOKED_AT * size)
    own = islice((turn for turn in latest if turn.role == "assistant" and state.trusts(turn.turn_id)), size)
    return list(own)[::-1]


def _after(turn: Turn, *, state: UserState) -> list[Turn]:
    """Return the turns that came right after a turn in its session; withdrawn ones are left out. Cost O(log turns)."""
    ordinals = state.session(turn.session)
    start = bisect_right(ordinals, turn.ordinal)
    turns = (state.turns[ordinal] for ordinal in ordinals[start : start + FOLLOWING])
    return [one for one in turns if state.trusts(one.turn_id)]
