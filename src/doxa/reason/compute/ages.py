"""Who is older, and by how many years, from what tells when somebody was born or something was built."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from doxa.core.values import Interval
from doxa.language import stems
from doxa.reason.compute.amounts import Ledger
from doxa.reason.compute.asked import Asked
from doxa.reason.compute.ledger import Happening
from doxa.reason.compute.solve import NOTHING, Result

__all__ = ["on_ages"]

BORN = frozenset(stems("born birth bear build built found founded establish date construct erect open"))
"""Stems of what says when something began to be."""
YEAR = re.compile(r"\b(?:1[0-9]\d\d|20\d\d)\b")
YES_NO = re.compile(r"\s*(?:is|are|was|were)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Age:
    """Someone whose beginning lies between two days."""

    owner: frozenset[str]
    label: str
    first: date
    last: date
    told: str
    turn_id: str
    about: frozenset[str]


def on_ages(goal: Asked, told: Sequence[Happening], ledger: Ledger) -> Result | None:
    """Return who of several is older, or by how many years; None when no birth or building is told of any of them.

    Ages that were stated count as births in the year before they were; what is not certain then gives `NOTHING`.
    """
    if goal.dimensions != ("age",) or not goal.compared or goal.frame is None:
        return None
    known = _births(told)
    if not known:
        return None
    known |= {one.owner: one for one in _stated(ledger) if not any(one.owner & owner for owner in known)}
    chosen = _chosen(goal, list(known.values()))
    if chosen is None or len(chosen) < 2:
        return NOTHING
    if goal.kind != "compare":
        return _apart(goal, chosen)
    order = sorted(chosen, key=lambda one: one.first)
    best, next_ = (order[0], order[1]) if goal.compared > 0 else (order[-1], order[-2])
    older, younger = (best, next_) if goal.compared > 0 else (next_, best)
    if older.last >= younger.first:
        return NOTHING
    if YES_NO.match(goal.text) and goal.than:
        return _told("yes" if best.owner & goal.owners[0] else "no", chosen)
    return _told(best.label, chosen)


def _births(told: Sequence[Happening]) -> dict[frozenset[str], _Age]:
    found: dict[frozenset[str], _Age] = {}
    for one in told:
        named = one.owner - BORN - frozenset(stems("year date day"))
        if not (one.about | frozenset(stems(one.verb))) & BORN or not named:
            continue
        span = _span(one)
        if span is not None:
            found[named] = _Age(
                owner=named, label=_label(one), first=span[0], last=span[1], told=one.text,
                turn_id=one.turn.turn_id, about=one.about,
            )  # fmt: skip
    return found


def _span(one: Happening) -> tuple[date, date] | None:
    """Return the days between which something happened: those of its year, month or day."""
    if one.when is not None and one.when.start is not None:
        steps = {"day": relativedelta(days=1), "month": relativedelta(months=1), "year": relativedelta(years=1)}
        step = steps.get(one.when.start_precision)
        return None if step is None else (one.when.start, one.when.start + step - timedelta(days=1))
    years = YEAR.findall(one.text)
    return (date(int(years[0]), 1, 1), date(int(years[0]), 12, 31)) if len(years) == 1 else None


def _label(one: Happening) -> str:
    return re.sub(r"^(?:my|our|the) |(?:'s)? (?:birth year|year of birth|birthday|date of birth)$", "", one.label)


def _stated(ledger: Ledger) -> list[_Age]:
    """Return those whose age was stated, as born in the year before that."""
    found = []
    for entry in ledger.entries:
        if entry.head == "age" and entry.owner and entry.value.denominator == 1 and not entry.vague:
            day = entry.turn.at.date()
            last = day - relativedelta(years=int(entry.value))
            first = day - relativedelta(years=int(entry.value) + 1) + timedelta(days=1)
            one = _Age(
                owner=entry.owner,
                label=entry.owner_label,
                first=first,
                last=last,
                told=entry.text,
                turn_id=entry.turn.turn_id,
                about=entry.about,
            )
            found.append(one)
    return found


def _chosen(goal: Asked, known: Sequence[_Age]) -> list[_Age] | None:
    """Return those whom a question compares; all where it names nobody; None when one of them is not known."""
    assert goal.frame is not None
    speaker = frozenset(stems(goal.turn.speaker)) if goal.turn is not None else frozenset[str]()
    names = {stem for owner in goal.owners for stem in owner} | goal.than | goal.filters
    if re.search(r"\b(?:me|I|myself)\b", goal.text):
        names |= speaker
    names -= frozenset(stems("age difference gap building years"))
    chosen = [one for one in known if one.owner & names]
    rest = names - {stem for one in chosen for stem in one.owner | one.about}
    if rest and chosen:
        return None
    return chosen if chosen else [] if names else list(known)


def _apart(goal: Asked, chosen: Sequence[_Age]) -> Result:
    """Return how many years one is older: by the calendar years where no more is told, else in full years."""
    if len(chosen) != 2:
        return NOTHING
    older, younger = sorted(chosen, key=lambda one: one.first)
    if older.last >= younger.first:
        return NOTHING
    exact = older.first == older.last and younger.first == younger.last
    by_year = all(one.first.month == one.first.day == 1 and one.last.year == one.first.year for one in chosen)
    if not exact and not by_year:
        return NOTHING
    years = relativedelta(younger.first, older.first).years
    wanted = older if goal.compared > 0 else younger
    if goal.owners and goal.than and not wanted.owner & goal.owners[0]:
        return NOTHING
    value = f"{years} year{'' if years == 1 else 's'}"
    return _told(value, chosen, value)


def _told(value: str, known: Sequence[_Age], text: str = "") -> Result:
    lines = tuple(f"{_written(one)}: {one.told}" for one in sorted(known, key=lambda one: one.first))
    turn_ids = tuple(dict.fromkeys(one.turn_id for one in known))
    return Result(value=value, text=text or value[:1].upper() + value[1:], working=lines, turn_ids=turn_ids)


def _written(one: _Age) -> str:
    return Interval.format(one.first, "day" if one.first == one.last else "year")
