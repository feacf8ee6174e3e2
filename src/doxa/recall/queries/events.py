"""Events as times: "before the move", "during the trip", "since I got the dog" -> the days of what they speak of.

An event is looked up in the memory: the turn that has most of its words tells when it was, by the time that its claims
give or else by the day on which it was said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

import numpy as np

from doxa.core.values import Modality
from doxa.language import stems
from doxa.language.times import DAYS, MONTHS
from doxa.memory import UserState
from doxa.recall.queries.times import Days, told

__all__ = ["Event", "event_of"]

LEADS = (
    r"(?:(?:the |a |one )?(?:day|night|week|weekend|month|year|summer|winter|morning|evening)s? )?"
    r"(?P<side>before|after|during|since|until|till|following|at the time of|around the time of|while|when)"
)
WHO = r"(?:I|we|he|she|they|you|[A-Z][\w'’-]+)"
NOUN = re.compile(
    rf"\b{LEADS} (?P<what>(?:the|my|our|his|her|their|your|[A-Z][\w-]+['’]s) (?!same\b|last\b|next\b|other\b)[\w'’ -]+)"
)
CLAUSE = re.compile(rf"\b{LEADS} (?P<what>{WHO}(?:['’](?:d|ve))? (?!am\b|are\b|is\b)[\w'’ -]+)")
END = re.compile(r"[,;?.!]| (?:what|who|where|which|how|why|did|do|does|was|were|is|are) ")
NO_EVENT = frozenset(stems(" ".join([*MONTHS, *DAYS]))) | frozenset(
    "time past day end beginning start meal work school bed dinner lunch breakfast".split()
)
LEAST = 0.6
"""Share of the event's words, by idf, that a turn must have to be about it."""
TINY = 1e-6
AROUND = 10
"""Days on either side of an event that belong to "during" it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event that a query speaks of."""

    days: Days
    """The days that the query means by it."""
    terms: tuple[str, ...]
    """The stems of the event itself: they place the answer and need not be in it."""
    side: Literal["before", "after", "during"]


def event_of(text: str, state: UserState, today: date) -> Event | None:
    """Return the event by which a query says when; None when it names none, or none that the memory knows.

    Args:
        text: the query.
        state: where the event is looked up.
        today: the last day that "after" means.

    Cost O(postings of the event's words).
    """
    match = NOUN.search(text) or CLAUSE.search(text)
    if match is None:
        return None
    phrase = END.split(match["what"], maxsplit=1)[0]
    terms = tuple(dict.fromkeys(stem for stem in stems(phrase) if stem not in NO_EVENT))
    day = _day_of(terms, state) if terms else None
    if day is None or day > today:
        return None
    side = match["side"].casefold()
    if side in ("before", "until", "till"):
        return Event(days=Days(date.min, day), terms=terms, side="before")
    if side in ("after", "since", "following"):
        return Event(days=Days(day, date.max), terms=terms, side="after")
    span = timedelta(days=min(AROUND, (day - date.min).days))
    return Event(days=told(day - span, day), terms=terms, side="during")


def _day_of(terms: tuple[str, ...], state: UserState) -> date | None:
    """Return the day of the event by the turn that has most of its words, the earliest of equal ones.

    Rare words are read first, and no more of them once what is left is too small a share.
    """
    index = state.lexical
    shares = {term: index.idf(term) for term in terms}
    reachable = sum(shares.values())
    left, found = 1.0, [np.empty(0, dtype=np.intp)]
    for term in sorted(terms, key=lambda term: -shares[term]):
        if not reachable or left < LEAST - TINY:
            break
        found.append(index.places(term))
        left -= shares[term] / reachable
    places = np.unique(np.concatenate(found))
    if not len(places):
        return None
    weights = np.array([shares[term] / reachable for term in terms])
    covered = weights @ (index.held(terms, places) > 0)
    for row in np.argsort(-covered, kind="stable"):
        turn = state.turns[state.places[int(places[row])]]
        if covered[row] < LEAST:
            return None
        if turn.turn_id not in state.withdrawn:
            return _dated(turn.turn_id, state) or turn.at.date()
    return None


def _dated(turn_id: str, state: UserState) -> date | None:
    """Return the day that a turn's claims give for what happened; None when they give none, or one to come."""
    for claim in state.beliefs.said_in(turn_id):
        day = claim.valid.start
        if day is not None and claim.valid.start_precision == "day" and claim.modality is Modality.ASSERTED:
            return day
    return None
