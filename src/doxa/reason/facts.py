"""Answers that follow from facts: the hole of the question is filled from the graph."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date

from dateutil.relativedelta import relativedelta

from doxa.core.values import Citation, Draft, Fact, Interval, Modality, Question, Status, Term, Turn
from doxa.memory import Beliefs, describe, held_on, is_current, is_tie, stems
from doxa.reason.readings import by_entity, readings, same_thing

__all__ = ["answer_from_facts", "relevant_facts"]

FindTurn = Callable[[str], Turn | None]
EARLIER = re.compile(
    r"\b(?:before|used to|previously|formerly|originally|earlier|(?<!how )old|former|previous)\b", re.IGNORECASE
)
"""Words by which a question wants what no longer holds, not only speaks of it in the past tense."""
COUNTS = frozenset("no two three four five six seven eight nine ten eleven twelve".split())
SURE, UNSURE = 0.95, 0.7
"""Confidence of an answer from an undisputed fact, and from one that was only planned, wished or guessed."""


def answer_from_facts(
    question: Question, beliefs: Beliefs, turn: FindTurn, *, day: date | None, today: date | None
) -> Draft | None:
    """Return the answer that facts give, or None when they give none. O(facts about the subject)."""
    if question.relation is None or "relat" in question.terms:
        return _tie(question, beliefs, turn)
    for reading, facts in readings(question, beliefs):
        draft = _answered(reading, facts, turn, day=day, today=today)
        if draft is not None:
            return draft
    return None


def _answered(
    question: Question, facts: Sequence[Fact], turn: FindTurn, *, day: date | None, today: date | None
) -> Draft | None:
    if question.asks == "anything" and (question.object is not None or question.kind == "why"):
        return None  # the place or reason that is wanted is no part of the fact
    believed = [fact for fact in facts if fact.status not in (Status.RETRACTED, Status.QUARANTINED)]
    if question.asks == "truth":
        return _truth(question, believed, turn, day=day, today=today)
    chosen = _at(question, [fact for fact in believed if fact.polarity == question.polarity], day=day, today=today)
    if not chosen:
        return None
    disputed = [fact for fact in chosen if fact.disputed]
    if disputed:
        return _disputed(disputed, turn)
    value = _value(question, chosen, today=today)
    if value is None:
        return None
    return _draft(_together(chosen), value, chosen, turn)


def _tie(question: Question, beliefs: Beliefs, turn: FindTurn) -> Draft | None:
    """Return how a person is tied to somebody ("Who is Tom?": Bea's brother), or None. O(facts)."""
    asked, subject = question.subject, by_entity(question, beliefs).subject
    if (
        asked is None
        or subject is None
        or not ("relat" in question.terms or (question.kind == "who" and len(question.terms) == 1))
    ):
        return None
    ties = [fact for fact in beliefs.facts.values() if fact.object == subject and fact.status is Status.HELD]
    ties = [fact for fact in ties if is_tie(fact.relation.name) and fact.polarity]
    if not ties:
        return _name(asked, subject, beliefs, turn)
    told = " ".join(f"{subject} is {fact.subject}'s {fact.relation.label}." for fact in ties)
    value = ", ".join(dict.fromkeys(f"{fact.subject}'s {fact.relation.label}" for fact in ties))
    return _draft(told, value, ties, turn)


def _name(asked: Term, subject: Term, beliefs: Beliefs, turn: FindTurn) -> Draft | None:
    """Return who a name stands for ("Who is Bob?": Robert), or None when it is nobody's other name."""
    joining = [fact for fact in beliefs.identities(asked.key) if fact.status is Status.HELD and fact.polarity]
    said = [fact for fact in joining if asked.key in (fact.subject.key, fact.object.key)]
    if asked.key == subject.key or not said:
        return None
    return _draft(f"{asked} is {subject}.", subject.label, said, turn)


def relevant_facts(question: Question, beliefs: Beliefs, *, limit: int, today: date | None) -> list[Fact]:
    """Return facts for a prompt: those that the question is about, then others that share words with it."""
    found = [fact for _, facts in readings(question, beliefs) for fact in facts]
    direct = [fact for fact in found if is_current(fact, today)]
    wanted = set(stems(question.text))
    shared = [
        (len(wanted & set(stems(f"{fact.subject} {fact.relation} {fact.object}"))), fact)
        for fact in beliefs.select(now=today)
    ]
    others = [fact for score, fact in sorted(shared, key=lambda pair: -pair[0]) if score]
    return list({fact.fact_id: fact for fact in [*direct, *others]}.values())[:limit]


def _at(question: Question, facts: Sequence[Fact], *, day: date | None, today: date | None) -> list[Fact]:
    """Return the facts that hold at the time that is asked about."""
    asserted = [fact for fact in facts if fact.modality is Modality.ASSERTED]
    if question.asks in ("start", "end", "duration"):
        named = [f for f in asserted if question.object is None or same_thing(question.object.label, f.object.label)]
        if question.object is not None or question.asks == "end":
            return _dated(question, named)[-1:]
    if day is not None:
        return _bounded([fact for fact in asserted if held_on(fact, day)])
    if question.past:
        over = [fact for fact in asserted if not is_current(fact, today)]
        if over or EARLIER.search(question.text):
            return over[-1:] if question.functional else over
    current = [fact for fact in asserted if is_current(fact, today)]
    if current:
        return _latest(current)
    meant = [fact for fact in facts if fact.modality is not Modality.ASSERTED and is_current(fact, today)]
    return meant[-1:] if question.functional else meant


def _dated(question: Question, facts: Sequence[Fact]) -> list[Fact]:
    """Return facts that tell when they ended if that is asked, else all of them."""
    return [fact for fact in facts if fact.valid.end is not None] if question.asks == "end" else list(facts)


def _bounded(facts: list[Fact]) -> list[Fact]:
    """Return facts without those of a functional relation of which nobody said when they hold, if others are dated."""
    dated = [fact for fact in facts if not fact.functional or fact.valid.start or fact.valid.end]
    return dated or facts


def _latest(facts: list[Fact]) -> list[Fact]:
    """Return facts without those of a functional relation that held at one past time only, if others hold on."""
    lasting = [fact for fact in facts if not (fact.functional and fact.valid.start == fact.valid.end is not None)]
    return lasting or facts


def _value(question: Question, facts: Sequence[Fact], *, today: date | None) -> str | None:
    last = facts[-1]
    match question.asks:
        case "object" | "anything":
            return ", ".join(dict.fromkeys(str(fact.object) for fact in facts))
        case "subject":
            return ", ".join(dict.fromkeys(str(fact.subject) for fact in facts))
        case "start":
            return Interval.format(last.valid.start, last.valid.start_precision) or None
        case "end":
            return Interval.format(last.valid.end, last.valid.end_precision) or None
        case "count":
            return _count(facts)
        case "duration":
            return duration(last.valid.start, last.valid.end or today)
        case _:
            return None


def _count(facts: Sequence[Fact]) -> str:
    """Return the number that a fact states ("three kids", "4 cups"), else how many there are."""
    stated = [str(fact.object).split()[0] for fact in facts]
    numbers = [word for word in stated if word[:1].isdigit() or word.casefold() in COUNTS]
    return numbers[-1] if numbers else str(len({fact.object.key for fact in facts}))


def duration(start: date | None, end: date | None) -> str | None:
    """Return the time between two days in years and months, or days when it is shorter; None if one is unknown."""
    if start is None or end is None or end < start:
        return None
    gap = relativedelta(end, start)
    parts = [(gap.years, "year"), (gap.months, "month")] if gap.years or gap.months else [((end - start).days, "day")]
    return " and ".join(f"{n} {unit}{'s' if n != 1 else ''}" for n, unit in parts if n) or "0 days"


def _truth(
    question: Question, facts: Sequence[Fact], turn: FindTurn, *, day: date | None, today: date | None
) -> Draft | None:
    named = [f for f in facts if question.object is None or same_thing(question.object.label, f.object.label)]
    asserted = [fact for fact in named if fact.modality is Modality.ASSERTED]
    if day is not None:
        now = [fact for fact in asserted if held_on(fact, day)]
    elif question.past:
        now = [fact for fact in asserted if fact.status in (Status.HELD, Status.SUPERSEDED)]
    else:
        now = [fact for fact in asserted if is_current(fact, today)]
    if any(fact.disputed for fact in now):
        return _disputed([fact for fact in facts if fact.disputed], turn)
    if now:
        yes = now[-1].polarity == question.polarity
        return _draft(f"{'Yes' if yes else 'No'}. {_sentence(now[-1])}", "yes" if yes else "no", now[-1:], turn)
    instead = [f for f in facts if f.functional and f.modality is Modality.ASSERTED and f.polarity]
    instead = [f for f in instead if (held_on(f, day) if day else is_current(f, today))]
    if instead and question.polarity:
        return _draft(f"No. {_sentence(instead[-1])}", "no", instead[-1:], turn)
    meant = [f for f in named if f.modality is Modality.PLANNED and f.polarity == question.polarity]
    denied = [f for f in named if f.modality is Modality.PLANNED and f.polarity != question.polarity]
    if not asserted and day is None and (denied or meant):
        plan = (denied or meant)[-1]
        return _draft(_sentence(plan), "no" if denied else "yes", [plan], turn)
    if asserted and question.polarity and not question.past:
        over = asserted[-1]
        return _draft(f"No, not any more. {_sentence(over)}", "no", [over], turn)
    return None


def _disputed(facts: Sequence[Fact], turn: FindTurn) -> Draft:
    said = [f"{_speaker(fact, turn)}: {_sentence(fact)}" for fact in facts]
    value = ", ".join(dict.fromkeys(str(fact.object) for fact in facts))
    text = "My sources disagree. " + " ".join(said)
    return Draft(text=text, value=value, citations=_cite(facts, turn), confidence=0.5, disputed=True)


def _draft(text: str, value: str, facts: Sequence[Fact], turn: FindTurn) -> Draft:
    sure = all(fact.modality is Modality.ASSERTED for fact in facts)
    return Draft(text=text, value=value, citations=_cite(facts, turn), confidence=SURE if sure else UNSURE)


def _sentence(fact: Fact) -> str:
    sentence = describe(fact)
    return sentence if sentence.endswith(".") else f"{sentence}."


def _together(facts: Sequence[Fact]) -> str:
    """Return facts as text; those that differ only in their object share one sentence."""
    first = facts[0]
    alike = {(f.subject.key, f.relation.name, f.polarity, f.modality, f.valid) for f in facts}
    if len(facts) == 1 or len(alike) > 1:
        return " ".join(_sentence(fact) for fact in facts)
    names = list(dict.fromkeys(str(fact.object) for fact in facts))
    label = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return _sentence(replace(first, object=Term(first.object.key, label)))


def _speaker(fact: Fact, turn: FindTurn) -> str:
    said = turn(fact.turn_ids[0]) if fact.turn_ids else None
    return said.speaker if said else "somebody"


def _cite(facts: Iterable[Fact], turn: FindTurn) -> tuple[Citation, ...]:
    citations: dict[str, Citation] = {}
    for fact in facts:
        for turn_id in fact.turn_ids:
            said = turn(turn_id)
            if said is not None and turn_id not in citations:
                citations[turn_id] = Citation(
                    turn_id=turn_id, text=said.text, speaker=said.speaker, at=said.at, fact_id=fact.fact_id
                )
    return tuple(citations.values())
