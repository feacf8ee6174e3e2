"""Yes or no: whether what a question tests is held, denied, over, or excluded by what is held."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib.resources import files

from doxa.core.values import Draft, Fact, Modality, Question, Status
from doxa.language import from_third_person, stems
from doxa.memory import held_on, is_current
from doxa.reason.drafts import FindTurn, disputed_draft, draft_of, sentence_of
from doxa.reason.readings import same_thing
from doxa.reason.times import is_holding

__all__ = ["truth"]


def truth(
    question: Question, facts: Sequence[Fact], turn: FindTurn, *, day: date | None, today: date | None, fit: float = 1.0
) -> Draft | None:
    """Return yes or no with the fact that tells it; None when the facts tell neither.

    A question with "not" in it ("don't I ski?") is answered as the one without: yes says that it is so.

    Args:
        question: with the object that it names, if any.
        facts: those of one subject and relation, in the order in which they came to be.
        turn: gives the turn of an id.
        day: the day of the world that is asked about; None is today.
        today: the memory's today.
        fit: how well the facts match the question, 0 to 1.
    """
    named = [f for f in facts if question.object is None or same_thing(question.object.label, f.object.label)]
    asserted = [fact for fact in named if fact.modality is Modality.ASSERTED]
    now = _then(question, asserted, day=day, today=today)
    now = [fact for fact in now if not fact.premises] or now  # what was said of a time counts before what follows
    if any(fact.disputed for fact in now):
        return disputed_draft([fact for fact in facts if fact.disputed], turn)
    if now:
        yes = now[-1].polarity != _ends(question, now[-1])
        text = f"{'Yes' if yes else 'No'}. {sentence_of(now[-1])}"
        return draft_of(text, "yes" if yes else "no", now[-1:], turn, fit=fit)
    alone = [f for f in facts if f.functional and question.functional]  # "two pensions" leave room for debts
    instead = [f for f in alone if f.modality is Modality.ASSERTED and f.polarity]
    instead += [f for f in facts if f.polarity and f.modality is Modality.ASSERTED and _excludes(question, f)]
    instead = [f for f in instead if (held_on(f, day) if day else is_current(f, today))]
    if instead:
        return draft_of(f"No. {sentence_of(instead[-1])}", "no", instead[-1:], turn, fit=fit)
    if day is not None and asserted and all(_elsewhen(fact, day) for fact in asserted):
        return draft_of(f"No. {sentence_of(asserted[-1])}", "no", asserted[-1:], turn, fit=fit)
    meant = [f for f in named if f.modality is Modality.PLANNED and f.polarity]
    denied = [f for f in named if f.modality is Modality.PLANNED and not f.polarity]
    if not asserted and (denied or meant):
        plan = max((denied or [])[-1:] + (meant or [])[-1:], key=facts.index)
        return draft_of(sentence_of(plan), "no" if plan in denied else "yes", [plan], turn, fit=fit)
    if asserted and not question.past and day is None:
        over = asserted[-1]
        return draft_of(f"No, not any more. {sentence_of(over)}", "no", [over], turn, fit=fit)
    return None


def _elsewhen(fact: Fact, day: date) -> bool:
    """Tell whether a fact began after a day, or ended before it, by what was said."""
    start, end = fact.valid.start, fact.valid.end
    return (start is not None and day < start) or (end is not None and end != start and day >= end)


def _excludes(question: Question, fact: Fact) -> bool:
    """Tell whether a fact has another number or name of what a question names ("room 6", "the third floor")."""
    if question.object is None or fact.relation.label.split()[0] not in ("is", "was"):
        return False
    asked, told = set(stems(question.object.label)), set(stems(fact.object.label))
    return bool(asked & told) and bool(asked - told) and bool(told - asked) and len(asked) == len(told)


def _then(question: Question, asserted: Sequence[Fact], *, day: date | None, today: date | None) -> list[Fact]:
    if day is not None:
        held = [fact for fact in asserted if held_on(fact, day)]
        bounded = [fact for fact in held if fact.valid.start or fact.valid.end]
        return bounded if bounded and len({fact.polarity for fact in held}) > 1 else held
    if question.past:
        return [fact for fact in asserted if fact.status in (Status.HELD, Status.SUPERSEDED)]
    current = [fact for fact in asserted if is_current(fact, today)]
    return [fact for fact in current if is_holding(fact, today)] or current


@cache
def _ending() -> frozenset[str]:
    table = tomllib.loads(files("doxa.reason").joinpath("paraphrases.toml").read_text(encoding="utf-8"))
    return frozenset(table["ending"].replace("+", "_").split())


def _ends(question: Question, fact: Fact) -> bool:
    """Tell whether a fact ends what is asked about, which the question does not ask for ("sold the car")."""
    if question.relation is not None and question.relation.name == fact.relation.name:
        return False
    verb = from_third_person(fact.relation.label).split()
    ending = verb[:1] and (verb[0] in _ending() or "_".join(verb[:2]) in _ending())
    return bool(ending) and not set(stems(verb[0])) & {stem for word in question.focus for stem in stems(word)}
