"""Which facts hold at the time that a question asks about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from doxa.core.values import Fact, Interval, Modality, Question, Status
from doxa.memory import held_on, inventory, is_current, relation_type
from doxa.reason.readings import same_thing

__all__ = ["Chosen", "at_time", "is_holding"]

EARLIER = re.compile(
    r"\b(?:before|used to|previously|formerly|originally|earlier|(?<!how )old|former|previous)\b", re.IGNORECASE
)
"""Words by which a question wants what no longer holds, not only speaks of it in the past tense."""
AHEAD = re.compile(
    r"\b(?:will|going to|planned|plans?|planning|upcoming|next|intends?|scheduled|shall)\b", re.IGNORECASE
)
FIRST = re.compile(r"\b(?:first|originally|initially)\b", re.IGNORECASE)
LAST_KNOWN = re.compile(r"\blast known\b|\blatest\b|\bmost recent\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The facts that hold at the time asked about; `gap` when facts are known, but none of that time."""

    facts: tuple[Fact, ...] = ()
    gap: bool = False


def at_time(question: Question, facts: Sequence[Fact], *, day: date | None, today: date | None) -> Chosen:
    """Return the facts that hold at the time that is asked about. O(facts)."""
    facts = [fact for fact in (_come(one, day or today) for one in facts) if not _overtaken(fact, facts)]
    asserted = [fact for fact in facts if fact.modality is Modality.ASSERTED]
    if question.asks in ("start", "end", "duration"):
        named = [f for f in asserted if question.object is None or same_thing(question.object.label, f.object.label)]
        if question.object is not None or question.asks == "end":
            return Chosen(tuple(_dated(question, named)[-1:]))
    if question.before or question.after:
        return _next_to(question, asserted)
    if day is not None:
        return _on_day(question, facts, day)
    if question.past:
        over = [fact for fact in asserted if not is_current(fact, today)]
        lasting = [fact for fact in asserted if is_current(fact, today)]
        explicit = EARLIER.search(question.text) is not None
        if over and (explicit or not (lasting and _for_good(lasting[-1]))):
            first = over[:1] if FIRST.search(question.text) else over[-1:]
            return Chosen(tuple(first if question.functional else over))
        if explicit:
            return Chosen()
    return _now(question, facts, asserted, today)


def _come(fact: Fact, moment: date | None) -> Fact:
    """Return a plan for a state as the state, once its time has come."""
    start, end = fact.valid.start, fact.valid.end
    begun = start is not None and moment is not None and start <= moment and start != end
    planned = fact.modality is Modality.PLANNED and fact.status is Status.HELD
    return replace(fact, modality=Modality.ASSERTED) if planned and begun else fact


def _overtaken(fact: Fact, facts: Sequence[Fact]) -> bool:
    """Tell whether a plan for a state was overtaken by another value that began at the same time or later."""
    plan = next((one for one in facts if one.fact_id == fact.fact_id), fact)
    start = fact.valid.start
    if plan.modality is not Modality.PLANNED or not fact.functional or start is None:
        return False
    asserted = (one for one in facts if one.modality is Modality.ASSERTED and one.valid.start is not None)
    return any(one.valid.start >= start for one in asserted if one.valid.start)


def _now(question: Question, facts: Sequence[Fact], asserted: Sequence[Fact], today: date | None) -> Chosen:
    ahead = AHEAD.search(question.text) is not None
    meant = [fact for fact in facts if fact.modality is not Modality.ASSERTED and is_current(fact, today)]
    plans = [fact for fact in meant if fact.modality is Modality.PLANNED]
    if ahead and plans:
        return Chosen(tuple(plans[-1:] if question.functional else plans))
    current = [fact for fact in asserted if is_current(fact, today)]
    begun = [fact for fact in current if is_holding(fact, today)]
    if begun or current:
        return Chosen(tuple(_latest(begun if begun and not ahead else current, question)))
    surest = [fact for fact in meant if fact.modality is not Modality.POSSIBLE] or meant
    over = [fact for fact in asserted if fact.status is Status.SUPERSEDED or fact.valid.end]
    return Chosen(tuple(surest[-1:] if question.functional else surest), gap=bool(over) and not surest)


def is_holding(fact: Fact, today: date | None) -> bool:
    """Tell whether a fact is believed and has begun, and has not ended, by today."""
    start = fact.valid.start
    return is_current(fact, today) and (start is None or today is None or start <= today)


def _on_day(question: Question, facts: Sequence[Fact], day: date) -> Chosen:
    """Return what held on a day: of several values that exclude each other the one that began last."""
    asserted = [fact for fact in facts if fact.modality is Modality.ASSERTED]
    holding = [fact for fact in asserted if held_on(fact, day)]
    plans = [fact for fact in facts if fact.modality is Modality.PLANNED and fact.valid.start and held_on(fact, day)]
    carried = _carried(question, asserted, day) or [fact for fact in asserted if _overlaps(fact, question.within)]
    if question.functional:
        found = _bounded([*holding, *plans] or carried)
        disputed = [fact for fact in found if fact.disputed]
        if disputed:
            return Chosen(tuple(disputed))
        latest = max((fact.valid.start or date.min for fact in found), default=None)
        found = [fact for fact in found if (fact.valid.start or date.min) == latest]
        return Chosen(tuple(found), gap=bool(asserted) and not found)
    found = holding or plans or [f for f in facts if f.modality is Modality.POSSIBLE and held_on(f, day)] or carried
    return Chosen(tuple(_bounded(found)), gap=bool(asserted) and not found)


def _overlaps(fact: Fact, period: Interval | None) -> bool:
    """Tell whether a fact with a beginning holds on some day of the period that a question names."""
    start, end = fact.valid.start, fact.valid.end
    if period is None or period.start is None or start is None or fact.status is Status.RETRACTED:
        return False
    return period.holds_on(start) or (end is not None and start <= period.start < end)


def _carried(question: Question, facts: Sequence[Fact], day: date) -> list[Fact]:
    """Return the latest measurement before a day, where a measured value or the last known one is asked for."""
    earlier = [f for f in facts if f.valid.start is not None and f.valid.start == f.valid.end and f.valid.start <= day]
    measured = LAST_KNOWN.search(question.text) or all(re.match(r"[€$£]?\d", f.object.label) for f in earlier)
    latest = max((fact.valid.start for fact in earlier if fact.valid.start), default=None)
    return [fact for fact in earlier if fact.valid.start == latest] if measured else []


def _next_to(question: Question, facts: Sequence[Fact]) -> Chosen:
    """Return the fact that came right before or after another value ("before Berlin", "before the increase")."""
    told = [fact for fact in facts if fact.status in (Status.HELD, Status.SUPERSEDED)]
    order = sorted(range(len(told)), key=lambda n: (_began(told[n]), n))
    line = [told[n] for n in order]
    landmark = question.before or question.after
    places = [n for n, fact in enumerate(line) if same_thing(landmark, fact.object.label)]
    if question.before:
        place = places[0] if places else len(line) - 1
        return Chosen((line[place - 1],) if place > 0 else (), gap=place == 0)
    place = places[-1] if places else 0
    return Chosen((line[place + 1],) if place + 1 < len(line) else (line[-1],) if line and not places else ())


def _began(fact: Fact) -> date:
    """Return a day by which facts of one slot can be put in order."""
    return fact.valid.start or (fact.valid.end if fact.status is Status.SUPERSEDED else None) or date.max


def _dated(question: Question, facts: Sequence[Fact]) -> list[Fact]:
    """Return facts that tell when they ended if that is asked, else all of them."""
    return [fact for fact in facts if fact.valid.end is not None] if question.asks == "end" else list(facts)


def _bounded(facts: list[Fact]) -> list[Fact]:
    """Return facts without those of a functional relation of which nobody said when they hold, if others are dated."""
    dated = [fact for fact in facts if not fact.functional or fact.valid.start or fact.valid.end]
    return dated or facts


def _latest(facts: list[Fact], question: Question) -> list[Fact]:
    """Return facts without states that held at one past time only, if others hold on; the latest of a handover."""
    present = re.search(r"\b(?:does|do|is|are|am)\b", question.text) is not None
    lasting = [fact for fact in facts if not (_once(fact) and (present or _state(fact)))]
    kept = lasting or facts
    if (
        question.asks == "subject"
        and kept[0].relation.label.split()[0] == "is"
        and len({f.object.key for f in kept}) == 1
    ):
        last = max((fact.valid.start or date.min for fact in kept), default=date.min)
        kept = [fact for fact in kept if (fact.valid.start or date.min) == last]
    return kept


def _once(fact: Fact) -> bool:
    return fact.valid.start is not None and fact.valid.start == fact.valid.end


def _state(fact: Fact) -> bool:
    """Tell whether a fact is of a relation that is known to hold for a while."""
    known = inventory().relations.get(fact.relation.name)
    return fact.functional or (known is not None and known.nature == "state")


def _for_good(fact: Fact) -> bool:
    """Tell whether a relation does not change, so that the past tense asks for nothing that is over."""
    return relation_type(fact.relation.name, fact.relation.label).nature != "state"
