"""Facts about lives -> bounds on days, so that dates, ages and orders that no calendar allows are found as clashes.

Each person has two days, of birth and of death. "Born in 1990", "aged 30", "died last May", "older than Eva", "started
school in 1988" bound them or their differences; which of those cannot be true together the solver finds by difference
logic (`logic.differences`). An event after somebody's death is no paradox: people are buried, praised and printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta

from doxa.core.values import Claim, Interval, Modality
from doxa.logic import Lit, aged, at_least, at_most, between

__all__ = ["COMPARISONS", "LIFE", "bounds_of", "dated", "lifespan"]

LIFE = ("born_on", "has_age", "died_on")
"""Relations that bound the days of one person."""
COMPARISONS = ("older_than", "younger_than")
OLDEST = 150


def lifespan(subject: str) -> Lit:
    """Return the literal that nobody dies before being born."""
    return at_most(_birth(subject), 0, _death(subject))


def bounds_of(claim: Claim, valid: Interval) -> tuple[Lit, ...]:
    """Return what a claim says of days of birth and death, all of which hold; () where it says nothing of them."""
    if not claim.polarity or claim.modality is not Modality.ASSERTED:
        return ()
    birth, death = _birth(claim.subject.key), _death(claim.subject.key)
    match claim.relation.name:
        case "born_on" | "died_on" as name:
            first, last = _days(valid)
            return between(birth if name == "born_on" else death, first, last) if first and last else ()
        case "has_age":
            years, day = re.match(r"\d{1,3}\b", claim.object.label), claim.known_at
            if years is None or day is None or int(years[0]) > OLDEST:
                return ()
            return (*aged(birth, int(years[0]), day.date()), at_least(death, day.date()))
        case "older_than":
            return (at_most(birth, -1, _birth(claim.object.key)),)
        case "younger_than":
            return (at_most(_birth(claim.object.key), -1, birth),)
    _, last = _days(valid)
    return (at_most(birth, last),) if last is not None else ()


def dated(claims: Iterable[Claim]) -> bool:
    """Tell whether any of some claims says when it began."""
    return any(claim.valid.start is not None for claim in claims)


def _birth(person: str) -> tuple[str, str]:
    return "birth", person


def _death(person: str) -> tuple[str, str]:
    return "death", person


def _days(valid: Interval) -> tuple[date | None, date | None]:
    """Return the first and last day on which something may have begun that begins with an interval."""
    if valid.start is None:
        return None, None
    match valid.start_precision:
        case "year":
            return valid.start, date(valid.start.year, 12, 31)
        case "month":
            return valid.start, (valid.start.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return valid.start, valid.start
