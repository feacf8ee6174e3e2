"""Answers that follow from facts: the hole of the question is filled from the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date

from dateutil.relativedelta import relativedelta

from doxa.core.values import Citation, Draft, Fact, Interval, Modality, Question, Status, Term, Turn
from doxa.memory import Beliefs, describe, held_on, is_current, stems

__all__ = ["answer_from_facts", "relevant_facts"]

FindTurn = Callable[[str], Turn | None]
SURE, UNSURE = 0.95, 0.7
"""Confidence of an answer from an undisputed fact, and from one that was only planned, wished or guessed."""


def answer_from_facts(
    question: Question, beliefs: Beliefs, turn: FindTurn, *, day: date | None, today: date | None
) -> Draft | None:
    """Return the answer that facts give, or None when they give none. O(facts about the subject)."""
    if question.relation is None:
        return None
    facts = [fact for fact in _candidates(question, beliefs) if fact.status is not Status.RETRACTED]
    facts = [fact for fact in facts if fact.status is not Status.QUARANTINED]
    if question.asks == "truth":
        return _truth(question, facts, turn, day=day, today=today)
    facts = [fact for fact in facts if fact.polarity == question.polarity]
    chosen = _at(question, facts, day=day, today=today)
    if not chosen:
        return None
    disputed = [fact for fact in chosen if fact.disputed]
    if disputed:
        return _disputed(disputed, turn)
    value = _value(question, chosen, today=today)
    if value is None:
        return None
    return _draft(_together(chosen), value, chosen, turn)


def relevant_facts(question: Question, beliefs: Beliefs, *, limit: int, today: date | None) -> list[Fact]:
    """Return facts for a prompt: those that the question is about, then others that share words with it."""
    direct = [fact for fact in _candidates(question, beliefs) if is_current(fact, today)]
    wanted = set(stems(question.text))
    shared = [
        (len(wanted & set(stems(f"{fact.subject} {fact.relation} {fact.object}"))), fact)
        for fact in beliefs.select(now=today)
    ]
    others = [fact for score, fact in sorted(shared, key=lambda pair: -pair[0]) if score]
    return list({fact.fact_id: fact for fact in [*direct, *others]}.values())[:limit]


def _candidates(question: Question, beliefs: Beliefs) -> list[Fact]:
    if question.relation is None:
        return []
    name = question.relation.name
    if question.subject is not None and question.asks != "subject":
        return [fact for fact in beliefs.about(question.subject.key) if fact.relation.name == name]
    facts = [fact for fact in beliefs.facts.values() if fact.relation.name == name]
    return [fact for fact in facts if question.object is None or same_thing(question.object.label, fact.object.label)]


def same_thing(one: str, other: str) -> bool:
    """Tell whether two labels name one thing: the stems of one are all among those of the other."""
    first, second = set(stems(one)), set(stems(other))
    return one.casefold() == other.casefold() or bool(first and second and (first <= second or second <= first))


def _at(question: Question, facts: Sequence[Fact], *, day: date | None, today: date | None) -> list[Fact]:
    """Return the facts that hold at the time that is asked about."""
    asserted = [fact for fact in facts if fact.modality is Modality.ASSERTED]
    if question.object is not None and question.asks in ("start", "end", "duration"):
        asserted = [fact for fact in asserted if same_thing(question.object.label, fact.object.label)]
        return asserted[-1:]
    if day is not None:
        return [fact for fact in asserted if held_on(fact, day)]
    if question.past:
        over = [fact for fact in asserted if not is_current(fact, today)]
        return over[-1:] if question.functional else over
    current = [fact for fact in asserted if is_current(fact, today)]
    if current:
        return current
    meant = [fact for fact in facts if fact.modality is not Modality.ASSERTED and is_current(fact, today)]
    return meant[-1:] if question.functional else meant


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
            only = str(last.object)
            return only if len(facts) == 1 and only[:1].isdigit() else str(len({f.object.key for f in facts}))
        case "duration":
            return duration(last.valid.start, last.valid.end or today)
        case _:
            return None


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
