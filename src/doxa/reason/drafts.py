"""Facts -> drafts: an answer in words with its bare value, its confidence and the turns that it rests on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from doxa.core.values import Citation, Draft, Fact, Interval, Modality, Term, Turn
from doxa.memory import describe

__all__ = [
    "FindTurn",
    "abstention",
    "citation_of",
    "citations_of",
    "claimed",
    "disputed_draft",
    "draft_of",
    "one_by_one",
    "quote",
    "sentence_of",
    "together",
    "wrote",
]

FindTurn = Callable[[str], Turn | None]
SURE, UNSURE = 0.95, 0.7
"""Confidence of an answer from an undisputed fact, and from one that was only planned, wished or guessed."""
MOST_TOLD = 24
"""Facts that an answer tells in words: nobody reads more, and each is checked before it is said."""


def abstention() -> Draft:
    """Return the answer of somebody who does not know."""
    return Draft(text="I don't know: nothing that I remember answers this.", abstained=True)


def draft_of(text: str, value: str, facts: Sequence[Fact], turn: FindTurn, *, fit: float = 1.0) -> Draft:
    """Return an answer that rests on facts; `fit` is how well they match the question, 0 to 1."""
    sure = all(fact.modality is Modality.ASSERTED for fact in facts)
    return Draft(
        text=text, value=value, citations=citations_of(facts, turn), confidence=fit * (SURE if sure else UNSURE)
    )


def disputed_draft(facts: Sequence[Fact], turn: FindTurn) -> Draft:
    """Return an answer that names every side of a dispute."""
    said = [f"{_speaker(fact, turn)}: {sentence_of(fact)}" for fact in facts]
    value = ", ".join(dict.fromkeys(str(fact.object) or str(fact.valid) for fact in facts))
    text = "My sources disagree. " + " ".join(said)
    return Draft(text=text, value=value, citations=citations_of(facts, turn), confidence=0.5, disputed=True)


def sentence_of(fact: Fact) -> str:
    """Return a fact as a sentence with its full stop."""
    sentence = describe(fact)
    return sentence if sentence.endswith(".") else f"{sentence}."


def one_by_one(facts: Sequence[Fact], more: int = 0) -> str:
    """Return facts as sentences: of more than `MOST_TOLD` the last ones, and how many more there are beside `more`."""
    told = " ".join(sentence_of(fact) for fact in facts[-MOST_TOLD:])
    more += max(0, len(facts) - MOST_TOLD)
    return f"{told} And {more} more." if more else told


def together(facts: Sequence[Fact]) -> str:
    """Return facts as text; those that differ only in their object share one sentence, and nothing is said twice.

    Of more than `MOST_TOLD` the last ones are told, and how many more there are.
    """
    more, facts = max(0, len(facts) - MOST_TOLD), facts[-MOST_TOLD:]
    sentences = [describe(fact) for fact in facts]
    facts = [
        fact
        for fact, told in zip(facts, sentences, strict=True)
        if not any(other != told and other.startswith(f"{told} ") and " and " not in other for other in sentences)
    ]
    first = facts[0]
    alike = {(f.subject.key, f.relation.name, f.polarity, f.modality, f.valid) for f in facts}
    if len(facts) == 1 or len(alike) > 1:
        return one_by_one(facts, more)
    names = [*dict.fromkeys(str(fact.object) for fact in facts), *([f"{more} more"] if more else [])]
    label = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return sentence_of(replace(first, object=Term(first.object.key, label)))


def citation_of(turn: Turn) -> Citation:
    """Return a turn as what an answer rests on."""
    return Citation(turn_id=turn.turn_id, text=turn.text, speaker=turn.speaker, at=turn.at)


def quote(turn: Turn, words: str) -> str:
    """Return words of a turn with who said them and when: "Ana said on 2 June 2024: “a red hat”"."""
    return f"{_said(turn)}“{words}”"


def wrote(turn: Turn, words: str, asker: str) -> str:
    """Return a turn as it was written, or a part of it: "On 2 June 2024 you wrote: “I bought a red hat.”"."""
    return f"{_wrote(turn, asker)}“{words}”"


def claimed(draft: Draft, asker: str) -> str:
    """Return what a draft says itself: whoever quotes a turn that is cited does not claim what it says.

    Left out are the quotes, who said them and when, and in front of them their words that are the answer.
    """
    leads = [lead for cited in draft.citations for lead in (_said(cited), _wrote(cited, asker))]
    quotes: list[str] = []

    def left(match: re.Match[str]) -> str:
        if not any(match["words"].rstrip(". ") in " ".join(cited.text.split()) for cited in draft.citations):
            return match[0]
        quotes.append(match["words"].casefold())
        return ""

    said = re.sub(rf"(?:{'|'.join(map(re.escape, leads))})?“(?P<words>[^”]+)”", left, draft.text).strip("; ")
    value = (draft.value or "").casefold()
    if value and said.rstrip(". ").casefold() == value and all(
        any(part in one for one in quotes) for part in value.split(", ")
    ):  # fmt: skip
        return ""
    return said


def _said(turn: Turn | Citation) -> str:
    return f"{turn.speaker} said on {_day(turn)}: "


def _wrote(turn: Turn | Citation, asker: str) -> str:
    return f"On {_day(turn)} {'you' if turn.speaker.casefold() == asker.casefold() else turn.speaker} wrote: "


def _day(turn: Turn | Citation) -> str:
    return Interval.format(turn.at.date(), "day") if turn.at else ""


def _speaker(fact: Fact, turn: FindTurn) -> str:
    said = turn(fact.turn_ids[0]) if fact.turn_ids else None
    return said.speaker if said else "somebody"


def citations_of(facts: Iterable[Fact], turn: FindTurn) -> tuple[Citation, ...]:
    """Return the turns that support facts, each once, with the first fact that it supports."""
    citations: dict[str, Citation] = {}
    for fact in facts:
        for turn_id in fact.turn_ids:
            said = turn(turn_id)
            if said is not None and turn_id not in citations:
                citations[turn_id] = Citation(
                    turn_id=turn_id, text=said.text, speaker=said.speaker, at=said.at, fact_id=fact.fact_id
                )
    return tuple(citations.values())
