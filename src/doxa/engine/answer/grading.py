"""Turns of a memory -> how likely each of them answers a question, or what it says to a statement."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from doxa.backends.grader import Grader, Grades, Task, passage
from doxa.backends.nli import Judge
from doxa.core.values import EARLIEST, Claim, Draft, Evidence, Question, Status, Turn
from doxa.engine.answer.contradicting import contradiction
from doxa.engine.asked import Asked
from doxa.memory import Beliefs, UserState, answered_by, kinds_of
from doxa.reason import (
    Doubt,
    Graded,
    PassageReader,
    choose,
    readings_of,
    taken_back,
)

__all__ = ["Ground", "chosen", "doubt_of", "graded_turns", "to_the_point"]

WORD = re.compile(r"\w+")
READ = 4
"""Turns that are weighed for one question, besides those that a draft cites: the best of the search.

Of ten, later ones take the place of better ones more often than they answer: on dev chats 85 of 287 answers were right
with ten, 94 with five, 95 with four, and as many wrong.
"""
WIDER = 12
"""Turns among which what somebody denies is looked for as said before."""
CITED = 4
"""Most turns of those that a draft cites that are graded, the latest: what is told a hundred times is graded once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What an answer is weighed against."""

    question: Question
    nearby: Sequence[Evidence]
    """Turns that bear on the question, best first."""
    asked: Asked
    state: UserState
    beliefs: Beliefs
    """What is believed, now or at the time that is asked about."""
    beneath: bool = False
    """It is a shared memory, and whoever asks is not the one who speaks there."""


def chosen(draft: Draft, ground: Ground, reader: PassageReader, judge: Judge | None = None) -> Draft:
    """Return the answer that is given, out of a draft and the turns that bear on the question; see `reason.choose`.

    Args:
        draft: what facts, arithmetic and the reader give.
        ground: the question with what bears on it.
        reader: tells how likely a turn answers, and what it says then.
        judge: tells what a turn says to a statement, if anything does: for what somebody said and denied.

    Raises:
        BackendError: one of the models failed.

    Cost: one call of the reader for each of at most `READ` turns and `CITED` that the draft cites.
    """
    question, asked, state, beliefs = ground.question, ground.asked, ground.state, ground.beliefs
    found = [key for item in ground.nearby for key in item.turn_ids]
    dated = asked.as_of is not None or question.as_of is not None or question.within is not None
    past = question.past or dated
    turns = _heard([*found[:READ], *_latest(draft)], ground)
    if not past:
        replaced = _replaced(draft, beliefs)
        turns = [turn for turn in turns if turn.turn_id not in replaced]
    graded = _graded(turns, ground, reader)
    doubt = None if dated or question.source else doubt_of(draft, beliefs, state)
    if doubt is None and judge is not None and not dated:

        def more() -> list[Graded]:
            return _graded(_heard(found[READ:WIDER], ground), ground, reader)

        doubt = contradiction(question, graded, more, judge, asker=asked.speaker)
    return choose(
        draft,
        question,
        graded,
        asker=asked.speaker,
        past=past,
        believed=_believed(draft, beliefs),
        pointed=to_the_point(draft, question, beliefs),
        doubt=doubt,
    )


def _heard(keys: Iterable[str], ground: Ground) -> list[Turn]:
    """Return those of some turns that may be quoted, each once."""
    turns = (turn for key in dict.fromkeys(keys) if (turn := ground.state.turn(key)) is not None)
    counted = (turn for turn in turns if _counts(turn, ground.asked, ground.beliefs))
    return [turn for turn in counted if not _of_another(turn, ground)]


def _graded(turns: Sequence[Turn], ground: Ground, reader: PassageReader) -> list[Graded]:
    """Return turns with how likely each answers, what it says then, and their scores relative to the best."""
    read = readings_of(ground.question, turns, reader, asker=ground.asked.speaker)
    scores = {key: item.score for item in reversed(ground.nearby) for key in item.turn_ids}
    top = max((scores.get(turn.turn_id, 0.0) for turn in turns), default=0.0) or 1.0
    return [
        Graded(turn=turn, p=p, value=value, score=scores.get(turn.turn_id, 0.0) / top)
        for turn, (p, value) in zip(turns, read, strict=True)
    ]


def _replaced(draft: Draft, beliefs: Beliefs) -> set[str]:
    """Return the turns that say what a fact that the draft cites took the place of: they answer no longer."""
    cited = [beliefs.facts[key] for one in draft.citations if (key := one.fact_id) and key in beliefs.facts]
    values = [value for fact in cited for value in beliefs.in_slot(beliefs.slot(fact))]
    old = {key for value in values if value.status in (Status.SUPERSEDED, Status.RETRACTED) for key in value.turn_ids}
    return old - {key for value in values if value.status is Status.HELD for key in value.turn_ids}


def graded_turns(task: Task, text: str, turns: Sequence[Turn], state: UserState, grader: Grader) -> Grades:
    """Return the grades `(n, grades)` of a text by some turns of a memory, each read after the one before it."""
    return grader.grade(task, [(text, passage(turn, next(iter(state.context(turn, 1)), None))) for turn in turns])


def _believed(draft: Draft, beliefs: Beliefs) -> float:
    """Return how sure what a draft rests on is: its least sure fact, else the reading of the turns that it cites."""
    facts = [beliefs.facts[key] for one in draft.citations if (key := one.fact_id) and key in beliefs.facts]
    if facts:
        return min(fact.confidence for fact in facts)
    read = [max((c.confidence for c in beliefs.said_in(key)), default=0.0) for key in _cited(draft)]
    return sum(read) / len(read) if read else 0.0


def to_the_point(draft: Draft, question: Question, beliefs: Beliefs) -> bool:
    """Tell whether an answer cites a fact of a relation that the question may be read as, and no way to it."""
    names = {one.relation.name for one in (question, *question.alternatives) if one.relation is not None}
    names |= {kind for name in names for kind in (*kinds_of(name), *answered_by(name))}
    cited = (beliefs.facts.get(citation.fact_id or "") for citation in draft.citations)
    return any(fact is not None and fact.relation.name in names for fact in cited)


def doubt_of(draft: Draft, beliefs: Beliefs, state: UserState) -> Doubt | None:
    """Return what speaks against the fact that a draft rests on: a later value that is tentative; None for nothing."""
    facts = [beliefs.facts[key] for one in draft.citations if (key := one.fact_id) and key in beliefs.facts]
    if len(facts) != 1 or not facts[0].functional or facts[0].status is not Status.HELD:
        return None
    (fact,) = facts
    said = [claim for claim in beliefs.supporting(fact) if claim.known_at]
    since = max((claim.known_at for claim in said if claim.known_at), default=None)
    rivals = [
        claim
        for one in beliefs.in_slot(beliefs.slot(fact))
        if one.status is Status.TENTATIVE and one.polarity and one.object.key != fact.object.key
        for claim in beliefs.supporting(one)
        if claim.known_at and since and claim.known_at >= since
    ]
    if not rivals:
        return None
    keys = dict.fromkeys([*fact.turn_ids[-1:], rivals[-1].turn_id])
    return Doubt(
        turns=tuple(turn for key in keys if (turn := state.turn(key)) is not None),
        disputed=_voice(said[-1]) != _voice(rivals[-1]),
    )


def _voice(claim: Claim) -> str:
    return (claim.source or claim.speaker).casefold()


def _cited(draft: Draft) -> Iterable[str]:
    return (citation.turn_id for citation in draft.citations)


def _latest(draft: Draft) -> list[str]:
    """Return the ids of the latest turns that a draft cites, in its order."""
    dated = sorted(draft.citations, key=lambda one: one.at or EARLIEST)[-CITED:]
    return [one.turn_id for one in draft.citations if one in dated]


def _counts(turn: Turn, asked: Asked, beliefs: Beliefs) -> bool:
    """Tell whether a turn may be quoted: not what Doxa wrote itself, what was taken back, or what came only later."""
    known = asked.known_at is None or turn.at <= asked.known_at
    return known and not turn.generated and not taken_back(turn, beliefs)


def _of_another(turn: Turn, ground: Ground) -> bool:
    """Tell whether a turn is of somebody else than who is asked about: Ana's "I live in Bonn" says nothing of Bo.

    Only of those who speak themselves; an assistant speaks of the one it speaks to. What is told to everybody may be
    about whoever asks, except what its speaker claims of himself.
    """
    question, asked, state = ground.question, ground.asked, ground.state
    who, speaker = question.subject.key if question.subject is not None else "", turn.speaker.casefold()
    if turn.role != "user" or speaker == who or who in WORD.findall(turn.text.casefold()):
        return False
    if ground.beneath and who == asked.speaker.casefold():
        return any(claim.subject.key == speaker for claim in state.beliefs.said_in(turn.turn_id))
    return who == asked.speaker.casefold() or who in {name.casefold() for name in state.columns.speakers}
