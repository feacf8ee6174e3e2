"""Answers from facts and from sentences."""

from datetime import UTC, date, datetime

import pytest

from doxa.core.values import Change, ChangeKind, Fact, Interval, Modality, Question, Relation, Status, Term, Turn
from doxa.memory import Beliefs
from doxa.reason import answer
from doxa.reason.facts import duration
from doxa.reason.readings import same_thing

ANA = Term("ana", "Ana")
LIVES, SPEAKS = Relation("lives_in", "lives in"), Relation("speaks", "speaks")
TODAY = date(2024, 12, 1)


def fact(object_, *, n, relation=LIVES, functional=True, **more):
    """Make the fact that turn `n` supports."""
    thing = Term(object_.casefold(), object_)
    return Fact(
        fact_id=f"f{n}",
        subject=ANA,
        relation=relation,
        object=thing,
        functional=functional,
        turn_ids=(f"t{n}",),
        **more,
    )


def held(*facts):
    """Return beliefs with these facts."""
    beliefs = Beliefs()
    beliefs.learn((), [Change(kind=ChangeKind.ASSERT, fact=one, reason="said") for one in facts])
    return beliefs


def said(turn_id, text="...", speaker="Ana"):
    """Make a turn."""
    at = datetime(2024, 5, 1, tzinfo=UTC)
    return Turn(turn_id=turn_id, user="ana", session="s", speaker=speaker, role="user", text=text, at=at)


def ask(question, beliefs, *, day=None):
    """Answer from facts alone."""
    return answer(question, beliefs, [], said, asker="Ana", day=day, today=TODAY)


def where(**more):
    """Ask where Ana lives."""
    question = {"text": "Where do I live?", "subject": ANA, "relation": LIVES, "asks": "object", "functional": True}
    return Question(**(question | more))


LISBON = fact("Lisbon", n=1, status=Status.SUPERSEDED, valid=Interval(end=date(2024, 6, 1)))
BERLIN = fact("Berlin", n=2, valid=Interval(start=date(2024, 6, 1)))


@pytest.mark.parametrize(
    ("question", "day", "value"),
    [
        (where(), None, "Berlin"),
        (where(), date(2024, 1, 1), "Lisbon"),
        (where(past=True), None, "Lisbon"),
        (where(asks="truth", object=Term("berlin", "Berlin")), None, "yes"),
        (where(asks="truth", object=Term("lisbon", "Lisbon")), None, "no"),
        (where(asks="truth", object=Term("lisbon", "Lisbon"), past=True), None, "yes"),
        (where(asks="truth", object=Term("oslo", "Oslo")), None, "no"),
        (where(asks="start", object=Term("berlin", "Berlin")), None, "1 June 2024"),
        (where(asks="end", object=Term("lisbon", "Lisbon")), None, "1 June 2024"),
        (where(asks="duration", object=Term("berlin", "Berlin")), None, "6 months"),
        (where(asks="subject", subject=None, object=Term("berlin", "Berlin")), None, "Ana"),
    ],
    ids=["now", "as of", "before", "yes", "no longer", "ever", "elsewhere", "since", "until", "how long", "who"],
)
def test_the_hole_of_the_question_is_filled(question, day, value):
    """Each kind of question gets its own part of the fact."""
    draft = ask(question, held(LISBON, BERLIN), day=day)
    assert draft.value == value and not draft.abstained and draft.citations


def test_on_a_day_a_dated_value_comes_before_an_undated_one():
    """A later value without a date may have begun after the day that is asked about."""
    undated = fact("Oslo", n=3)
    assert ask(where(), held(LISBON, undated), day=date(2024, 1, 1)).value == "Lisbon"


def test_a_list_names_all_that_holds_and_a_count_counts_it():
    """Several objects are listed in the order in which they were learned."""
    facts = [fact(name, n=n, relation=SPEAKS, functional=False) for n, name in enumerate(["German", "Spanish"])]
    question = Question(text="Which languages do I speak?", subject=ANA, relation=SPEAKS, asks="object")
    assert ask(question, held(*facts)).value == "German, Spanish"
    count = Question(text="How many languages do I speak?", subject=ANA, relation=SPEAKS, asks="count")
    assert ask(count, held(*facts)).value == "2"


def test_a_dispute_names_both_sides():
    """Neither value is given as certain."""
    draft = ask(where(), held(fact("Graz", n=1, disputed=True), fact("Linz", n=2, disputed=True)))
    assert draft.disputed and "Graz" in draft.value and "Linz" in draft.value and "disagree" in draft.text


@pytest.mark.parametrize(
    "one", [fact("Oslo", n=1, status=Status.RETRACTED), fact("Oslo", n=1, status=Status.QUARANTINED)], ids=str
)
def test_what_is_not_believed_is_no_answer(one):
    """A retracted or quarantined fact is as good as none."""
    draft = ask(where(), held(one))
    assert draft.abstained and draft.value is None


def test_a_plan_is_given_only_when_nothing_holds():
    """The plan is named as one and with less confidence."""
    plan = fact("Bonn", n=3, modality=Modality.PLANNED)
    assert ask(where(), held(BERLIN, plan)).value == "Berlin"
    draft = ask(where(), held(plan))
    assert draft.value == "Bonn" and draft.confidence < ask(where(), held(BERLIN)).confidence


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (date(2020, 1, 1), date(2023, 3, 1), "3 years and 2 months"),
        (date(2024, 1, 1), date(2024, 2, 1), "1 month"),
        (date(2024, 1, 1), date(2024, 1, 9), "8 days"),
        (date(2024, 1, 1), date(2024, 1, 1), "0 days"),
        (None, date(2024, 1, 1), None),
        (date(2024, 2, 1), date(2024, 1, 1), None),
    ],
    ids=["years", "month", "days", "none", "unknown", "backwards"],
)
def test_durations_are_said_as_people_say_them(start, end, text):
    """Years and months, or days when it is shorter."""
    assert duration(start, end) == text


def test_things_are_the_same_by_their_words():
    """A shorter name is the longer one's; different words are different things."""
    assert same_thing("the Fiat", "old Fiat Panda") and same_thing("Zürich", "zürich")
    assert not same_thing("cat", "dog") and not same_thing("", "dog")
