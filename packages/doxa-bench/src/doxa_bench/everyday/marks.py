"""Marking: is an answer right, is a fact worth what it claims, does a verdict deserve its label?

An answer from facts or by arithmetic is judged by its value (`judging`). One that quotes is right if it quotes a turn
of the evidence and an accepted form stands in what is quoted of it (for a yes or no the turn is enough), and no later
turn that is quoted holds a form that must not be given. A fact is compared by wording with the three lists of its chat;
where none names it, a grade that was given by hand decides, and without one it is noise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from doxa.core.values import Fact, Modality, Reply
from doxa_bench.dialogues import Probe
from doxa_bench.everyday.chats import Chat, Grade, Known, Query
from doxa_bench.judging import Answer, judge
from doxa_bench.matching import Proposition
from doxa_bench.readings import Reading
from doxa_bench.understanding import entry_of

QUOTE = re.compile(r"“([^”]*)”")

__all__ = ["AnswerMark", "FactMark", "Mark", "mark_answer", "mark_fact", "found_in", "worded"]

Mark = Literal["right", "wrong", "silent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMark:
    """An answer and how it counts."""

    chat: str
    kind: str
    question: str
    wanted: str
    said: str
    mark: Mark
    confidence: float
    abstained: bool
    quoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FactMark:
    """A fact that is held, and how it counts; `listed` is False where no list names it."""

    chat: str
    fact: str
    grade: Grade
    listed: bool
    why: str = ""


def mark_answer(chat: Chat, query: Query, reply: Reply) -> AnswerMark:
    """Return whether a reply answers a question rightly, wrongly or not at all.

    To a question about what was never said, silence is right and everything else is wrong.
    """
    quotes = {} if reply.abstained or any(one.fact_id for one in reply.citations) else _quotes(chat, reply)
    quoted = bool(quotes)
    if query.probe.wanted == "unknown":
        mark: Mark = "right" if reply.abstained else "wrong"
    elif reply.abstained:
        mark = "silent"
    else:
        right = _quotes_right(chat, query, quotes) if quoted else _value_right(chat, query.probe, reply)
        mark = "right" if right else "wrong"
    return AnswerMark(
        chat=chat.id,
        kind=query.kind,
        question=query.probe.question,
        wanted=query.probe.label,
        said=reply.text if quoted or reply.value is None else reply.value,
        mark=mark,
        confidence=reply.confidence,
        abstained=reply.abstained,
        quoted=quoted,
    )


def _value_right(chat: Chat, probe: Probe, reply: Reply) -> bool:
    given = Answer.of({"value": reply.value, "text": reply.text, "conflict": reply.disputed})
    return judge(probe, given, chat.day).right


def _quotes(chat: Chat, reply: Reply) -> dict[str, str]:
    """Return what a reply quotes, by turn, in the order of the turns."""
    parts = QUOTE.findall(reply.text)
    plain = {turn.id: " ".join(turn.text.split()) for turn in chat.turns}
    cited = {one.turn_id for one in reply.citations}
    return {
        key: part for key, text in plain.items() if key in cited for part in parts if part.rstrip(". ") in text
    }  # fmt: skip


def _quotes_right(chat: Chat, query: Query, quotes: Mapping[str, str]) -> bool:
    good = [key for key in quotes if key in query.evidence]
    if not good:
        return False
    order = list(quotes)
    later = [quotes[key] for key in order[order.index(good[-1]) + 1 :]]
    if any(_holds(form, text, chat.day) for form in query.probe.wrong for text in later):
        return False
    together = "\n".join(quotes[key] for key in good)
    groups = query.probe.groups or (query.probe.answer,)
    return query.probe.type == "yesno" or all(
        any(_holds(form, together, chat.day) for form in group) for group in groups
    )


def _holds(form: str, text: str, day: str) -> bool:
    """Tell whether a form stands in a text."""
    probe = Probe(
        after=1, question="", type="value", wanted="answer", answer=(form,), wrong=(), groups=(), as_of=None
    )  # fmt: skip
    return judge(probe, Answer(said=text, abstained=False, conflict=False), day).right


def mark_fact(chat: Chat, fact: Fact, grades: Mapping[tuple[str, str], Grade]) -> FactMark:
    """Return whether a fact that is held as believed is right and worth keeping, noise, or wrong."""
    said, words = proposition(fact, chat.day), worded(fact)
    wrong = next((one for one in chat.forbidden if _agree(one, said, chat.day)), None)
    if wrong is not None and said.modality == wrong.modality:
        return FactMark(chat=chat.id, fact=words, grade="wrong", listed=True, why=f"forbidden: {wrong.label}")
    listed = [one for one in (*chat.required, *chat.allowed) if _agree(one, said, chat.day)]
    if any(_details(one, said, chat.day) for one in listed):
        return FactMark(chat=chat.id, fact=words, grade="right", listed=True)
    if (chat.id, words) in grades:
        return FactMark(chat=chat.id, fact=words, grade=grades[chat.id, words], listed=True, why="graded by hand")
    if listed:
        return FactMark(chat=chat.id, fact=words, grade="wrong", listed=True, why=f"not as meant: {listed[0].label}")
    return FactMark(chat=chat.id, fact=words, grade="noise", listed=False)


def found_in(known: Known, facts: Sequence[Fact], day: str) -> bool:
    """Tell whether a required fact is among those that are held."""
    return any(_agree(known, said, day) and _details(known, said, day) for said in (proposition(f, day) for f in facts))


def proposition(fact: Fact, day: str) -> Proposition:
    """Return a fact as the matcher takes it."""
    return Proposition.of(entry_of(fact), day)


def worded(fact: Fact) -> str:
    """Return a fact in words, with all that it claims."""
    return f"{'' if fact.polarity else 'NOT '}{fact}"


def _agree(known: Known, said: Proposition, day: str) -> bool:
    return any(next(encoding.agreements(said), None) is not None for encoding in known.encodings)


def _details(known: Known, said: Proposition, day: str) -> bool:
    """Tell whether a fact is as certain, and as much of the past, as it should be."""
    readings = [reading for one in known.encodings for reading, _ in one.agreements(said)]
    return any(_as_meant(known, said, reading, day) for reading in readings)


def _as_meant(known: Known, said: Proposition, reading: Reading, day: str) -> bool:
    modality = said.modality_in(reading)
    dated = modality == str(Modality.ASSERTED) and said.valid_from is not None and said.valid_from > day
    sure = {modality, "planned"} if dated else {modality}
    point = said.valid_from is not None and said.valid_from == said.valid_to
    return known.modality in sure and (said.is_past(reading, day) or point or not known.ended)
