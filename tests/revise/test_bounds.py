"""Ages, dates and orders that no calendar allows are clashes, whatever relation they are told in."""

from datetime import UTC, date, datetime

import pytest

from doxa.core.values import Claim, Conflict, Interval, Relation, Status, Term
from doxa.memory import Beliefs
from doxa.revise import revise, withdraw

BORN, AGED, DIED = Relation("born_on", "was born on"), Relation("has_age", "is aged"), Relation("died_on", "died on")
OLDER, SCHOOL = Relation("older_than", "is older than"), Relation("start_school", "starts school")


def said(n, subject, relation, thing, *, year=None, day=None, functional=True):
    """Make the claim of turn `n`, said in May of the year 2020 + n."""
    start = day or (date(year, 1, 1) if year else None)
    valid = Interval(start=start, end=start, start_precision="day" if day else "year",
                     end_precision="day" if day else "year")  # fmt: skip
    return Claim(
        subject=Term(subject.casefold(), subject), relation=relation, object=Term(str(thing).casefold(), str(thing)),
        valid=valid if start else Interval(), functional=functional, turn_id=f"t{n}", speaker="Ana",
        known_at=datetime(2020 + n, 5, 1, tzinfo=UTC), span=f"{subject} {relation} {thing}",
    )  # fmt: skip


def tell(*claims):
    """Return the beliefs after some claims, one turn each."""
    beliefs = Beliefs()
    for claim in claims:
        changes = revise([claim], beliefs, turn_id=claim.turn_id, known_at=claim.known_at)
        beliefs.learn([claim], changes)
    return beliefs


def status(beliefs):
    """Return the status of every fact that somebody said, by its relation and object."""
    return {(f.relation.name, f.object.label): f.status for f in beliefs.facts.values() if not f.premises}


def test_a_year_of_birth_and_an_age_that_do_not_fit_are_a_contradiction():
    """Born in 1990 and 30 in May 2024: the older word gives way, and says why."""
    beliefs = tell(said(1, "Eva", BORN, 1990, year=1990), said(4, "Eva", AGED, 30))
    assert status(beliefs) == {("born_on", "1990"): Status.RETRACTED, ("has_age", "30"): Status.HELD}
    (born,) = [f for f in beliefs.facts.values() if f.relation.name == "born_on"]
    last = beliefs.changes_of(born.fact_id)[-1]
    assert last.conflict is Conflict.CONTRADICTION and "no days allow it" in last.reason


@pytest.mark.parametrize("age", [33, 34])
def test_an_age_that_fits_the_year_of_birth_stays(age):
    """Born in 1990, in May 2024 one is 33 or 34."""
    beliefs = tell(said(1, "Eva", BORN, 1990, year=1990), said(4, "Eva", AGED, age))
    assert set(status(beliefs).values()) == {Status.HELD}


def test_nobody_starts_school_before_birth():
    """An event of somebody's life before the day of birth cannot be."""
    beliefs = tell(said(1, "Eva", BORN, 1990, year=1990), said(2, "Eva", SCHOOL, "", year=1985, functional=False))
    assert status(beliefs)[("born_on", "1990")] is Status.RETRACTED


def test_an_order_of_ages_is_checked_over_two_people():
    """Tom was born in 2001 and Eva in 1995, so he is not the older one."""
    beliefs = tell(
        said(1, "Tom", BORN, 2001, year=2001),
        said(2, "Tom", OLDER, "Eva", functional=False),
        said(3, "Eva", BORN, 1995, year=1995),
    )
    assert Status.RETRACTED in status(beliefs).values()
    assert status(beliefs)[("born_on", "1995")] is Status.HELD


def test_who_died_is_not_aged_later():
    """Died in 2021, 91 in May 2023: both cannot be."""
    beliefs = tell(said(2, "Opa", DIED, 2021, year=2021), said(3, "Opa", AGED, 91))
    assert status(beliefs)[("died_on", "2021")] is Status.RETRACTED


def test_withdrawing_the_paradox_brings_the_date_back():
    """The age was a slip of the tongue."""
    beliefs = tell(said(1, "Eva", BORN, 1990, year=1990), said(4, "Eva", AGED, 30))
    beliefs.drop_turn("t4", withdraw("t4", beliefs, known_at=datetime(2025, 1, 1, tzinfo=UTC)))
    assert status(beliefs)[("born_on", "1990")] is Status.HELD
