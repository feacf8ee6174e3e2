"""Claims in, answers out: the ledger, and the order of turns of one moment."""

from datetime import UTC, date, datetime

import pytest

from doxa.core.values import Claim, Interval, Question, Term, Turn
from doxa.engine import Ledger

DAY = datetime(2024, 3, 6, tzinfo=UTC)


def claim(subject, relation, value, **more):
    kind = Ledger.relation(relation)
    terms = (Term(text.casefold(), text) for text in (subject, value))
    return Claim(
        **dict(zip(("subject", "object"), terms, strict=True)),
        relation=kind.relation,
        functional=kind.functional,
        **more,
    )


def tell(ledger, place, *claims, speaker="Ana", at=DAY):
    turn = Turn(turn_id=f"t{place}", user="u", session="s", speaker=speaker, role="user", text="", at=at, ordinal=place)
    ledger.tell(turn, claims)


def asked(subject=None, relation="lives_in", value=None, asks="object", **more):
    terms = {name: Term(text.casefold(), text) for name, text in (("subject", subject), ("object", value)) if text}
    return Question(text="", asks=asks, relation=Ledger.relation(relation).relation, **terms, **more)


@pytest.mark.parametrize(
    ("name", "label", "functional"),
    [("lives_in", "lives in", True), ("pick_up", "picks up", False), ("gym membership", "gym membership", True)],
    ids=["inventory", "verb", "noun"],
)
def test_a_relation_is_named_as_in_claims(name, label, functional):
    found = Ledger.relation(name)
    assert (found.label, found.functional) == (label, functional)


def test_what_is_told_is_revised_and_answered():
    """As the world was on a day, too; what nobody said is not known."""
    ledger = Ledger()
    tell(ledger, 1, claim("Ana", "lives_in", "Paris"))
    moved = claim("Ana", "lives_in", "Berlin", valid=Interval(start=date(2024, 6, 1)))
    tell(ledger, 2, moved, at=datetime(2024, 6, 2, tzinfo=UTC))
    assert ledger.ask(asked("Ana")).value == "Berlin"
    assert ledger.ask(asked("Ana", past=True), as_of=date(2024, 4, 1)).value == "Paris"
    assert ledger.ask(asked("Ana", "shoe size")).abstained
    assert [fact.status.value for fact in ledger.facts()] == ["superseded", "held"]


@pytest.mark.parametrize("names", [("Sunniva", "Chidi"), ("Chidi", "Sunniva")], ids=" then ".join)
def test_of_turns_of_one_moment_the_later_one_counts_as_later(names):
    """A date without a time of day is the same for many turns; slots that an axiom joins keep the order of turns."""
    ledger = Ledger()
    for place, name in enumerate(names, start=1):
        tell(ledger, place, claim(name, "on_call_for", "payments"))
    assert ledger.ask(asked(relation="on_call_for", value="payments", asks="subject", kind="who")).value == names[1]


def test_what_is_announced_for_later_leaves_the_present_as_it_is():
    """Until that day the old value holds, then the new one."""
    ledger = Ledger()
    tell(ledger, 1, claim("rent", "costs", "740"))
    tell(ledger, 2, claim("rent", "costs", "790", valid=Interval(start=date(2024, 10, 1))))
    assert ledger.ask(asked("rent", "costs")).value == "740"
    assert ledger.ask(asked("rent", "costs"), as_of=date(2024, 10, 1)).value == "790"
    tell(ledger, 3, claim("rent", "needs", "discussion"), at=datetime(2024, 11, 1, tzinfo=UTC))
    assert ledger.ask(asked("rent", "costs")).value == "790"


@pytest.mark.parametrize("first", [False, True], ids=["denied first", "affirmed first"])
def test_a_state_that_turned_into_its_opposite_did_not_hold_before(first):
    """The later word says nothing of the time before it."""
    ledger = Ledger()
    tell(ledger, 1, claim("Ana", "has", "licence", polarity=first))
    tell(ledger, 2, claim("Ana", "has", "licence", polarity=not first), at=datetime(2024, 9, 1, tzinfo=UTC))
    question = asked("Ana", "has", "licence", asks="truth", kind="yesno")
    words = {True: "yes", False: "no"}
    assert ledger.ask(question).value == words[not first]
    assert ledger.ask(question, as_of=date(2024, 5, 1)).value == words[first]


@pytest.mark.parametrize(("subject", "open_"), [("Ana's ferry", True), ("Ana", False)], ids=["a thing", "oneself"])
def test_people_are_closest_to_themselves_not_to_all_that_is_theirs(subject, open_):
    """What two people say of a ferry stays open; what Ben says of Ana is set aside."""
    ledger = Ledger()
    tell(ledger, 1, claim(subject, "lives_in", "Ulm"))
    tell(ledger, 2, claim(subject, "lives_in", "Bonn"), speaker="Ben")
    found = ledger.ask(asked(subject))
    assert found.disputed is open_ and ("Bonn" in str(found.value)) is open_ and "Ulm" in str(found.value)


def test_what_was_said_of_a_time_counts_before_what_follows_now():
    """Whoever is retired does no work, but did it before."""
    ledger = Ledger()
    tell(ledger, 1, claim("Ana", "works_as", "midwife"))
    retired = claim("Ana", "employment_status", "retired")
    tell(ledger, 2, retired, claim("Ana", "works_as", "midwife", polarity=False), at=datetime(2024, 12, 31, tzinfo=UTC))
    question = asked("Ana", "works_as", "midwife", asks="truth", kind="yesno")
    assert ledger.ask(question).value == "no"
    assert ledger.ask(question, as_of=date(2024, 5, 1)).value == "yes"


def test_a_state_that_gave_way_on_its_first_day_did_not_hold_on_it():
    """Two turns of one day: the later one says what holds."""
    ledger = Ledger()
    for place, room in enumerate(("room 4", "room 6"), start=1):
        tell(ledger, place, claim("Ana", "lives_in", room, valid=Interval(start=DAY.date())))
    assert ledger.ask(asked("Ana"), as_of=DAY.date()).value == "room 6"
