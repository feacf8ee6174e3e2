"""Answers that follow from facts: the hole of the question is filled from the graph."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from dateutil.relativedelta import relativedelta

from doxa.core.values import UNBELIEVED, Asks, Draft, Fact, Interval, Modality, Question, Status, Term
from doxa.language import stems
from doxa.memory import Beliefs, is_current, is_tie
from doxa.reason.disputes import last_words
from doxa.reason.drafts import FindTurn, abstention, disputed_draft, draft_of, together
from doxa.reason.kinds import (
    NUMBER_WORDS,
    PATTERNS,
    PLACED,
    PLACING,
    fitting,
    place_of,
    weekdays,
)
from doxa.reason.matching import Match, matches, wording
from doxa.reason.owners import owner
from doxa.reason.readings import by_entity, readings
from doxa.reason.sources import by_source, who_says
from doxa.reason.special import counted, life
from doxa.reason.times import at_time
from doxa.reason.truth import truth

__all__ = ["answer_from_facts", "duration", "relevant_facts"]

COUNTS = frozenset(NUMBER_WORDS) - {"one"}
MOST_GROUPS = 6
"""Groups of soft matches that are looked at, the best first."""
PLURAL = re.compile(r"(?:[a-z-]+ )*(?:[a-z]+(?<!s)s|children|people|men|women)")
UNITS = (("year", 365.25), ("month", 30.44), ("week", 7.0), ("day", 1.0))


def answer_from_facts(
    question: Question,
    beliefs: Beliefs,
    turn: FindTurn,
    *,
    day: date | None,
    today: date | None,
    near: Sequence[Fact] | None = None,
) -> Draft | None:
    """Return the answer that facts give, or None when they give none.

    Exact readings come before soft ones. Where facts are known, but none of the time that is asked about, the answer
    is that it is not known, so that nothing weaker is asked. Soft readings look at the facts in `near` only, all of
    them for None. Cost O(facts near), at the time of asking only.
    """
    asking = _Asking(question, beliefs, turn, day, today, near)
    if question.asks == "source":
        return who_says(question, beliefs, turn, beliefs.facts.values() if near is None else near)
    if question.relation is None or "relat" in question.terms:
        draft = _tie(question, beliefs, turn)
        if draft is not None:
            return draft
    return asking.special() or asking.counted() or asking.exact() or asking.soft() or asking.otherwise()


@dataclass(slots=True)
class _Asking:
    """One question on its way through the facts."""

    question: Question
    beliefs: Beliefs
    turn: FindTurn
    day: date | None
    today: date | None
    near: Sequence[Fact] | None = None
    gap: bool = False
    """Facts were found, but none of the time that is asked about."""
    withdrawn: bool = False
    """Facts were found that say it, and every one of them was taken back."""

    def special(self) -> Draft | None:
        """Return what follows from facts that do not name what is asked: being alive, or owning something."""
        for of in (life, owner):
            draft = of(self.question, self.beliefs, self.turn, day=self.day, today=self.today)
            if draft is not None:
                return draft
        return None

    def counted(self) -> Draft | None:
        """Return how many there are by the entities that are known, where facts of one relation tell of fewer."""
        if self.question.asks != "count":
            return None
        exact, known = self.exact(), counted(self.question, self.beliefs, self.turn, self.today)
        both = exact is not None and known is not None and (exact.value or "").isdigit()
        return known if both and known and exact and int(known.value or 0) > int(exact.value or 0) else exact

    def exact(self) -> Draft | None:
        """Return what the facts of the relation say that the question names, or of one that answers it as well."""
        for one in (self.question, *self.question.alternatives):
            if one.relation is None:
                continue
            for reading, facts in readings(one, self.beliefs):
                self.withdrawn = self.withdrawn or (bool(facts) and not _believed(facts))
                draft = self.answered(reading, facts)
                if draft is not None:
                    return draft
        return None

    def soft(self) -> Draft | None:
        """Return what facts say that match the question in other words."""
        question = self.question
        if question.kind == "why" or (self.gap and question.asks != "truth"):
            return None
        if question.asks == "count":
            draft = counted(question, self.beliefs, self.turn, self.today)
            if draft is not None:
                return draft
        by_entities = by_entity(question, self.beliefs)
        for number, group in enumerate(self._matches(by_entities)):
            if number == MOST_GROUPS:
                break
            draft = self._from_group(by_entities, group)
            if draft is not None:
                return draft
        return None

    def _matches(self, question: Question) -> Iterator[list[Match]]:
        facts = self.beliefs.facts.values() if self.near is None else self.near
        return matches(question, self.beliefs, self._speaker, facts)

    def otherwise(self) -> Draft | None:
        """Return "no" for what is not settled, or that it is not known (any more); None when all is open."""
        if self.question.settled:
            return Draft(text="No. Nothing that I remember settles it.", value="no", confidence=0.6)
        return abstention() if self.gap or self.withdrawn else None

    def _speaker(self, turn_id: str) -> str:
        said = self.turn(turn_id)
        return said.speaker if said else ""

    def _from_group(self, question: Question, group: Sequence[Match]) -> Draft | None:
        fit = max(match.score for match in group)
        return self.answered(_reading_of(question, group), [match.fact for match in group], fit=fit)

    def answered(self, question: Question, facts: Sequence[Fact], *, fit: float = 1.0) -> Draft | None:
        """Return what facts of one relation answer, or None."""
        if question.asks == "anything" and (question.object is not None or question.kind == "why"):
            return None  # the place or reason that is wanted is no part of the fact
        if question.source:
            return by_source(question, facts, self.beliefs, self.turn)
        if question.asks == "truth":
            return truth(question, _believed(facts), self.turn, day=self.day, today=self.today, fit=fit)
        told = self.chosen(question, facts)
        disputed = [fact for fact in told if fact.disputed]
        if disputed:
            return disputed_draft(disputed, self.turn)
        if not told:
            return None
        values = [_value_of(question, fact, self.today) for fact in told]
        value = _count(told) if question.asks == "count" else ", ".join(dict.fromkeys(v for v in values if v))
        return draft_of(together(told), value, told, self.turn, fit=fit) if value else None

    def chosen(self, question: Question, facts: Sequence[Fact]) -> list[Fact]:
        """Return the facts that give a value of the right kind at the time that is asked about."""
        believed = [fact for fact in _believed(facts) if self._on_weekday(question, fact)]
        denied = {f.object.key for f in believed if f.polarity != question.polarity and f.status is Status.HELD}
        polar = [fact for fact in believed if fact.polarity == question.polarity]
        polar = [f for f in polar if f.modality is Modality.ASSERTED or f.object.key not in denied]
        wanted = [fact for fact in polar if _value_of(question, fact, self.today)]
        found = at_time(question, wanted, day=self.day, today=self.today)
        self.gap = self.gap or found.gap
        told = _described(list(found.facts), question, self.beliefs)
        told = last_words(question, told, self.beliefs, lambda fact: _value_of(question, fact, self.today))
        if question.asks not in ("object", "start"):
            return told
        return [fact for fact in told if not _echoes(_value_of(question, fact, self.today) or "", question)]

    def _on_weekday(self, question: Question, fact: Fact) -> bool:
        """Tell whether a fact was said of the day of the week that a question names, or of any."""
        asked = weekdays(question.text)
        spans = " ".join(claim.span for claim in self.beliefs.supporting(fact)) if asked else ""
        return not asked or not weekdays(spans) or bool(asked & weekdays(spans))


def _believed(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.status not in (Status.RETRACTED, *UNBELIEVED)]


def _reading_of(question: Question, group: Sequence[Match]) -> Question:
    """Return a question as one about the facts of a soft match."""
    first = group[0].fact
    asks = _asked_of(question, group[0].slot)
    return replace(question, subject=first.subject, relation=None, object=None, functional=first.functional, asks=asks)


def _asked_of(question: Question, slot: str) -> Asks:
    """Return what to take from facts that match softly, by the slot that fits."""
    if question.asks in ("truth", "count", "duration", "end"):
        return question.asks
    return "start" if slot == "time" else "subject" if slot == "subject" else "object"


def _value_of(question: Question, fact: Fact, today: date | None) -> str | None:
    """Return what one fact gives as the answer; None when it is not what is asked for."""
    match question.asks:
        case "object" | "anything":
            return _typed(str(fact.object), fact, question)
        case "subject":
            expects = "" if question.expects in ("person", "") else question.expects
            return fitting(str(fact.subject), expects)
        case "start":
            start = Interval.format(fact.valid.start, fact.valid.start_precision) or str(fact.object)
            return fitting(start, question.expects or "time")
        case "end":
            return Interval.format(fact.valid.end, fact.valid.end_precision) or None
        case "count":
            return None if fitting(str(fact.object), "day") else str(fact.object) or str(fact.subject)
        case "duration":
            length = duration(fact.valid.start, fact.valid.end or today, unit=_unit(question))
            return None if length is None or length.startswith("0 ") else length  # a day tells of no length
        case _:
            return None


def _echoes(value: str, question: Question) -> bool:
    """Tell whether a value only repeats words of the question ("on Sundays")."""
    words = wording(value)
    return bool(words) and words <= wording(question.text) and question.kind != "list"


def _described(told: list[Fact], question: Question, beliefs: Beliefs) -> list[Fact]:
    """Follow a thing that is only named by the noun of the question ("learns an instrument": the bodhran)."""
    found: list[Fact] = []
    for fact in told:
        if not question.noun or question.asks != "object" or wording(fact.object.label) != wording(question.noun):
            found.append(fact)
            continue
        more = (f for f in beliefs.about(fact.object.key) if f.status is Status.HELD and f.polarity)
        found.extend(f for f in more if f.relation.name in ("is_a", "has_state", "is_called"))
    return found


def _typed(label: str, fact: Fact, question: Question) -> str | None:
    placed = PLACED.match(question.text)
    if placed and question.expects not in PATTERNS and not wording(question.noun) & wording(label):
        return fitting(label, question.expects) if PLACING.search(fact.relation.label) else None
    if question.kind == "where":
        return place_of(fact)
    value = fitting(label, question.expects)
    if value is None and question.expects in ("time", "date", "day", "month", "year") and fact.valid.start:
        value = fitting(Interval.format(fact.valid.start, fact.valid.start_precision), question.expects)
    return value


def _unit(question: Question) -> str:
    """Return the unit in which a question wants a time ("for how many years"); empty for any."""
    words = question.text.casefold().replace("?", "").split()
    unit = next((word for before, word in pairwise(words) if before == "many"), "")
    return unit.removesuffix("s") if unit.removesuffix("s") in dict(UNITS) else ""


def _tie(question: Question, beliefs: Beliefs, turn: FindTurn) -> Draft | None:
    """Return how a person is tied to somebody ("Who is Tom?": Bea's brother), or None."""
    asked, subject = question.subject, by_entity(question, beliefs).subject
    if (
        asked is None
        or subject is None
        or not ("relat" in question.terms or (question.kind == "who" and len(question.terms) == 1))
    ):
        return None
    ties = [fact for fact in beliefs.valued_at(subject.key) if fact.object == subject and fact.status is Status.HELD]
    ties = [fact for fact in ties if is_tie(fact.relation.name) and fact.polarity]
    others = {beliefs.key(term.key) for term in question.about} - {subject.key}
    ties = [fact for fact in ties if fact.subject.key in others] or ties
    if not ties:
        return _name(asked, subject, beliefs, turn)
    told = " ".join(f"{subject} is {fact.subject}'s {fact.relation.label}." for fact in ties)
    value = ", ".join(dict.fromkeys(f"{fact.subject}'s {fact.relation.label}" for fact in ties))
    return draft_of(told, value, ties, turn)


def _name(asked: Term, subject: Term, beliefs: Beliefs, turn: FindTurn) -> Draft | None:
    """Return who a name stands for ("Who is Bob?": Robert), or None when it is nobody's other name."""
    joining = [fact for fact in beliefs.identities(asked.key) if fact.status is Status.HELD and fact.polarity]
    said = [fact for fact in joining if asked.key in (fact.subject.key, fact.object.key)]
    if asked.key == subject.key or not said:
        return None
    return draft_of(f"{asked} is {subject}.", subject.label, said, turn)


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


def _count(facts: Sequence[Fact]) -> str | None:
    """Return the number that a fact states ("three kids", "4 cups"), else how many there are; None if none can tell."""
    stated = [str(fact.object).split()[0] for fact in facts if fact.object.label]
    numbers = [word for word in stated if word[:1].isdigit() or word.casefold() in COUNTS]
    if not numbers and len(facts) == 1:
        numbers = [w for w in str(facts[0].object).split() if w[:1].isdigit()]
    several = [fact for fact in facts if PLURAL.fullmatch(fact.object.label)]
    if several and not numbers:
        return None  # "has kids": how many is not said
    return numbers[-1] if numbers else str(len({fact.object.key for fact in facts}))


def duration(start: date | None, end: date | None, *, unit: str = "") -> str | None:
    """Return the time between two days in years and months, or days when it is shorter; None if one is unknown.

    Args:
        start: the first day.
        end: the first day after.
        unit: "year", "month", "week" or "day" to have it in whole units of that kind.
    """
    if start is None or end is None or end < start:
        return None
    if unit:
        count = round((end - start).days / dict(UNITS)[unit])
        return f"{count} {unit}{'s' if count != 1 else ''}"
    gap = relativedelta(end, start)
    parts = [(gap.years, "year"), (gap.months, "month")] if gap.years or gap.months else [((end - start).days, "day")]
    return " and ".join(f"{n} {unit}{'s' if n != 1 else ''}" for n, unit in parts if n) or "0 days"
