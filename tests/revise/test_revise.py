"""Revision within one slot: what each kind of statement does to what was held."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doxa.core.values import Act, ChangeKind, Claim, Interval, Relation, Status, Term
from doxa.memory import Beliefs, slot_of
from doxa.revise import resolve, retract, revise, withdraw

DAY0 = datetime(2024, 1, 1, tzinfo=UTC)


def claim(value, *, n=1, relation="lives_in", functional=True, speaker="Ana", subject="Ana", start=None, **more):
    """Make the claim that turn `n` says, on day n of 2024."""
    return Claim(
        subject=Term(subject.casefold(), subject),
        relation=Relation(relation, relation.replace("_", " ")),
        object=Term(value.casefold(), value),
        functional=functional,
        speaker=speaker,
        turn_id=f"t{n}",
        known_at=DAY0 + timedelta(days=n),
        valid=Interval(start=start),
        span=f"{subject} {relation} {value}",
        **more,
    )


def tell(*claims):
    """Return the beliefs after these claims, one turn each, in order."""
    beliefs = Beliefs()
    for c in claims:
        changes = revise([c], beliefs, turn_id=c.turn_id, known_at=c.known_at)
        beliefs.learn([c], changes)
    return beliefs


def held(beliefs):
    """Return the labels of what is held, with polarity."""
    return [(str(f.object), f.polarity) for f in beliefs.facts.values() if f.status is Status.HELD]


def by_object(beliefs, label):
    """Return the facts with this object, oldest first."""
    return [f for f in beliefs.facts.values() if str(f.object) == label]


def test_an_update_closes_the_old_value_where_the_new_one_starts():
    """The old residence becomes history and ends on the day of the move."""
    beliefs = tell(claim("Paris", n=1, start=date(2019, 1, 1)), claim("Berlin", n=2, start=date(2024, 6, 1)))
    assert held(beliefs) == [("Berlin", True)]
    (paris,) = by_object(beliefs, "Paris")
    assert paris.status is Status.SUPERSEDED and paris.valid.end == date(2024, 6, 1)


def test_an_undated_update_is_ordered_by_when_it_was_said():
    """Neither statement has a date: the later one wins, and the older ends when the later was said."""
    beliefs = tell(claim("Mosaic", n=1), claim("Swiftly", n=5))
    assert held(beliefs) == [("Swiftly", True)]
    assert by_object(beliefs, "Mosaic")[0].valid.end == (DAY0 + timedelta(days=5)).date()


def test_two_contradictions_of_one_instant_do_not_both_stay():
    """Same speaker, same moment, no dates: one value is left of what has one; where that is only usual, both are."""
    beliefs = tell(claim("Eva", n=1, relation="partner"), claim("Ida", n=1, relation="partner"))
    assert held(beliefs) == [("Ida", True)]
    assert held(tell(claim("Mosaic", n=1), claim("Swiftly", n=1))) == [("Mosaic", True), ("Swiftly", True)]


def test_what_is_so_for_good_has_one_value_whenever_it_is_said():
    """A later birth date is no update: the earlier one never was true."""
    days = (date(1990, 5, 3), date(1990, 5, 4))
    said = [claim(str(day), n=n, relation="born_on", start=day) for n, day in enumerate(days)]
    beliefs = tell(*said)
    assert held(beliefs) == [("1990-05-04", True)]
    assert by_object(beliefs, "1990-05-03")[0].status is Status.RETRACTED


def test_a_correction_reaches_back():
    """The wrong value never was true, and the right one takes over its time."""
    beliefs = tell(
        claim("Berlin", n=1, start=date(2024, 5, 25)), claim("Bonn", n=2, act=Act.CORRECT, replaces="berlin")
    )
    assert held(beliefs) == [("Bonn", True)]
    assert by_object(beliefs, "Berlin")[0].status is Status.RETRACTED
    assert by_object(beliefs, "Bonn")[0].valid.start == date(2024, 5, 25)


def test_a_past_state_becomes_history_and_displaces_nothing():
    """ "I used to live in Rome" leaves the present residence alone."""
    beliefs = tell(claim("Berlin", n=1), claim("Rome", n=2, ended=True))
    assert ("Berlin", True) in held(beliefs)
    assert by_object(beliefs, "Rome")[0].valid.end is not None


def test_a_value_with_an_earlier_date_becomes_history():
    """News about 2015 that comes in late does not replace the present."""
    beliefs = tell(claim("Berlin", n=1, start=date(2020, 1, 1)), claim("Oslo", n=2, start=date(2015, 1, 1)))
    assert held(beliefs) == [("Berlin", True)]
    assert by_object(beliefs, "Oslo")[0].valid.end == date(2020, 1, 1)


def test_multi_valued_relations_only_accumulate():
    """A second language does not displace the first."""
    beliefs = tell(*(claim(v, n=i, relation="speaks", functional=False) for i, v in enumerate(["German", "Spanish"])))
    assert held(beliefs) == [("German", True), ("Spanish", True)]


def test_a_negation_ends_what_it_denies():
    """ "I no longer like tea" closes the liking and is held itself."""
    beliefs = tell(
        claim("tea", n=1, relation="likes", functional=False),
        claim("tea", n=2, relation="likes", functional=False, polarity=False),
    )
    assert held(beliefs) == [("tea", False)]


def test_liking_again_ends_the_dislike():
    """The opposite of a negative fact closes it."""
    tea = {"relation": "likes", "functional": False}
    beliefs = tell(claim("tea", n=1, **tea), claim("tea", n=2, polarity=False, **tea), claim("tea", n=3, **tea))
    assert held(beliefs) == [("tea", True)]


def test_saying_it_again_supports_one_fact():
    """Three wordings of one fact are one fact with three sources."""
    beliefs = tell(*(claim("Berlin", n=n) for n in (1, 2, 3)))
    (fact,) = beliefs.facts.values()
    assert fact.turn_ids == ("t1", "t2", "t3")
    assert [change.kind for change in beliefs.changes] == [ChangeKind.ASSERT, ChangeKind.SUPPORT, ChangeKind.SUPPORT]


def test_an_assistant_alone_is_quarantined_until_the_user_confirms():
    """A machine's word about its user is not believed on its own."""
    beliefs = tell(claim("Berlin", n=1, role="assistant", speaker="Helper"))
    assert held(beliefs) == []
    confirmed = tell(claim("Berlin", n=1, role="assistant", speaker="Helper"), claim("Berlin", n=2))
    assert held(confirmed) == [("Berlin", True)]


def test_the_user_about_himself_beats_others():
    """Hearsay about a user does not displace the user's own word."""
    beliefs = tell(claim("Berlin", n=1), claim("Munich", n=2, speaker="Leo"))
    assert held(beliefs) == [("Berlin", True)]


def test_two_equal_sources_stay_open():
    """Two people who disagree about a third leave a dispute, and both values are visible."""
    beliefs = tell(claim("Graz", n=1, subject="Mia", speaker="Ana"), claim("Linz", n=2, subject="Mia", speaker="Ben"))
    assert {(f.disputed, f.status) for f in beliefs.facts.values()} == {(True, Status.HELD)}


def test_taking_a_statement_back_restores_what_it_displaced():
    """A withdrawn update brings the earlier value back."""
    beliefs = tell(claim("Berlin", n=1), claim("Bonn", n=2), claim("Bonn", n=3, act=Act.WITHDRAW))
    assert held(beliefs) == [("Berlin", True)]
    assert by_object(beliefs, "Berlin")[0].valid.end is None


def test_withdrawing_a_turn_restores_what_it_displaced():
    """The same through `withdraw`, with a change that says so."""
    beliefs = tell(claim("Berlin", n=1), claim("Bonn", n=2))
    changes = withdraw("t2", beliefs, known_at=DAY0)
    assert {change.kind for change in changes} == {ChangeKind.RETRACT, ChangeKind.RESTORE}
    beliefs.drop_turn("t2", changes)
    assert held(beliefs) == [("Berlin", True)]


def test_withdrawing_one_source_keeps_what_another_supports():
    """A corroborated fact survives the loss of its first source."""
    beliefs = tell(claim("Berlin", n=1), claim("Berlin", n=2))
    beliefs.drop_turn("t1", withdraw("t1", beliefs, known_at=DAY0))
    (fact,) = [f for f in beliefs.facts.values() if f.status is Status.HELD]
    assert fact.turn_ids == ("t2",)


def test_retracting_a_fact_restores_what_it_displaced():
    """A fact that is declared false leaves no trace on the values before it."""
    beliefs = tell(claim("Berlin", n=1), claim("Bonn", n=2))
    (bonn,) = by_object(beliefs, "Bonn")
    beliefs.drop_support(bonn, retract(bonn, beliefs, known_at=DAY0))
    assert held(beliefs) == [("Berlin", True)]


def test_every_change_gives_a_reason():
    """A revision without a reason would be silent."""
    beliefs = tell(claim("Berlin", n=1), claim("Bonn", n=2), claim("Köln", n=3, act=Act.CORRECT))
    assert all(change.reason for change in beliefs.changes if change.revises)


def test_what_is_over_holds_anew_when_it_is_said_again():
    """ "I used to live in Rome", then "I live in Rome": it is the present residence, and the past one stays past."""
    beliefs = tell(claim("Berlin", n=1), claim("Rome", n=2, ended=True), claim("Rome", n=5))
    past, present = by_object(beliefs, "Rome")
    assert past.valid.end is not None and (present.status, present.valid.end) == (Status.HELD, None)
    assert by_object(beliefs, "Berlin")[0].status is Status.SUPERSEDED


def test_a_told_end_is_not_overwritten_by_a_later_one():
    """A stay that ended in 2016 does not last until the next known residence began."""
    oslo = replace(claim("Oslo", n=2), valid=Interval(start=date(2015, 1, 1), end=date(2016, 1, 1)))
    beliefs = tell(claim("Berlin", n=1, start=date(2020, 1, 1)), oslo)
    assert by_object(beliefs, "Oslo")[0].valid.end == date(2016, 1, 1)
    assert held(beliefs)[0] == ("Berlin", True)


def test_a_dated_past_state_displaces_nothing():
    """From 2010 to 2012 says nothing about now, even when nobody knows since when the present value holds."""
    rome = replace(claim("Rome", n=2), valid=Interval(start=date(2010, 1, 1), end=date(2012, 1, 1)))
    (berlin,) = by_object(tell(claim("Berlin", n=1), rome), "Berlin")
    assert berlin.status is Status.HELD and berlin.valid.end is None


def test_taking_back_a_value_in_the_middle_does_not_reopen_the_first():
    """A, then B, then C, then "B was a joke": A lasted until C, and C holds."""
    beliefs = tell(claim("A", n=1), claim("B", n=2), claim("C", n=3), claim("B", n=4, act=Act.WITHDRAW))
    assert held(beliefs) == [("C", True)]
    assert by_object(beliefs, "A")[0].valid.end == by_object(beliefs, "C")[0].valid.start


def test_a_machine_does_not_keep_what_its_user_takes_back():
    """An assistant that repeats a statement is no source for it."""
    beliefs = tell(
        claim("Rome", n=1),
        claim("Rome", n=2, role="assistant", speaker="Helper"),
        claim("Rome", n=3, act=Act.WITHDRAW),
    )
    assert held(beliefs) == []


def test_denying_what_only_a_machine_said_leaves_no_past():
    """ "I don't live in Rome" after an assistant's guess: it never was true."""
    beliefs = tell(claim("Rome", n=1, role="assistant", speaker="Helper"), claim("Rome", n=2, polarity=False))
    assert by_object(beliefs, "Rome")[0].status is Status.RETRACTED


def test_a_guess_that_its_subject_confirmed_is_the_subjects_word():
    """The rank of a fact is that of its closest source, not of its first."""
    beliefs = tell(
        claim("Berlin", n=1, role="assistant", speaker="Helper"),
        claim("Berlin", n=2),
        claim("Munich", n=3, speaker="Leo"),
    )
    assert held(beliefs) == [("Berlin", True)]


@pytest.mark.parametrize(
    "hearsay",
    [{"value": "Berlin", "polarity": False}, {"value": "Munich", "act": Act.CORRECT}],
    ids=["denial", "correction"],
)
def test_hearsay_does_not_retire_what_its_subject_says(hearsay):
    """Leo neither ends nor corrects what Ana says of herself."""
    beliefs = tell(claim("Berlin", n=1), claim(hearsay.pop("value"), n=2, speaker="Leo", **hearsay))
    assert by_object(beliefs, "Berlin")[0].status is Status.HELD


def test_correcting_to_a_value_that_somebody_said_retracts_the_wrong_one():
    """The right value is there already, so it is supported, and the wrong one never was true."""
    beliefs = tell(
        claim("Bonn", n=1, role="assistant", speaker="Helper"),
        claim("Berlin", n=2),
        claim("Bonn", n=3, act=Act.CORRECT, replaces="berlin"),
    )
    assert held(beliefs) == [("Bonn", True)]
    assert by_object(beliefs, "Berlin")[0].status is Status.RETRACTED


def test_a_dispute_ends_with_its_last_opponent():
    """When one of two who disagree takes it back, the other's value is no longer disputed."""
    mia = {"subject": "Mia"}
    beliefs = tell(
        claim("Graz", n=1, **mia),
        claim("Linz", n=2, speaker="Ben", **mia),
        claim("Linz", n=3, speaker="Ben", act=Act.WITHDRAW, **mia),
    )
    (graz,) = by_object(beliefs, "Graz")
    assert graz.status is Status.HELD and not graz.disputed


DAYS = st.none() | st.dates(date(2015, 1, 1), date(2025, 1, 1))
CLAIMS = st.lists(
    st.fixed_dictionaries(
        {
            "value": st.sampled_from(["A", "B", "C"]),
            "act": st.sampled_from(list(Act)),
            "polarity": st.booleans(),
            "start": DAYS,
            "end": DAYS,
            "ended": st.booleans(),
            "speaker": st.sampled_from(["Ana", "Ben", "Mia"]),
            "role": st.sampled_from(["user", "user", "user", "system", "assistant", "tool"]),
            "replaces": st.sampled_from([None, "a", "b"]),
        }
    ),
    max_size=8,
)


def build(rows, *, functional):
    """Make claims about Mia from drawn rows; an end before its start is drawn too."""
    claims = []
    for n, row in enumerate(rows):
        fields = {key: value for key, value in row.items() if key not in ("start", "end")}
        said = claim(n=n, subject="Mia", functional=functional, **fields)
        claims.append(replace(said, valid=Interval(start=row["start"], end=row["end"])))
    return claims


@given(CLAIMS, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(rows, random):
    """Read in any order, what was said at different times leaves the same facts."""
    claims = build(rows, functional=True)
    shuffled = random.sample(claims, len(claims))
    assert [s.fact() for s in resolve(shuffled)] == [s.fact() for s in resolve(claims)]


def test_an_older_transcript_that_is_read_in_late_displaces_nothing():
    """What was said in June stands against what was said in March, whichever came in first."""
    beliefs = tell(claim("Berlin", n=150), claim("Lisbon", n=60))
    assert held(beliefs) == [("Berlin", True)]
    assert by_object(beliefs, "Lisbon")[0].status is Status.SUPERSEDED


@given(CLAIMS)
def test_a_functional_slot_never_holds_two_open_values(rows):
    """Two open values are held only as a dispute or as one that is told more exactly; nobody disputes alone."""
    standings = resolve(build(rows, functional=True))
    exact = {key for s in standings if s.refines for key in (s.fact_id, *s.because)}
    present = [s for s in standings if s.status is Status.HELD and s.valid.end is None and s.first.polarity]
    present = [s for s in present if s.fact_id not in exact]
    assert len(present) <= 1 or all(s.disputed for s in present)
    assert sum(s.disputed for s in standings) != 1
    assert all(s.status is Status.HELD for s in standings if s.disputed)


@given(CLAIMS, st.booleans())
def test_every_fact_is_well_formed(rows, functional):
    """No fact without a source, no interval that ends before it starts, no reason that names what is not there."""
    standings = resolve(build(rows, functional=functional))
    ids = [s.fact_id for s in standings]
    assert len(set(ids)) == len(ids)
    for standing in standings:
        fact = standing.fact()
        assert fact.turn_ids and set(standing.because) <= set(ids) - {fact.fact_id}
        assert not (fact.valid.start and fact.valid.end) or fact.valid.start <= fact.valid.end


def test_what_holds_again_is_what_a_new_word_is_against():
    """Ana's denial holds again once Mia takes hers back, beside one that was set aside; then Ana says the opposite."""
    said = [
        claim("A", subject="Mia", speaker="Ana", polarity=False, n=0),
        claim("A", subject="Mia", speaker="Mia", n=1),
        claim("A", subject="Mia", speaker="Ana", polarity=False, n=2),
        claim("A", subject="Mia", speaker="Mia", act=Act.WITHDRAW, n=3),
        claim("A", subject="Mia", speaker="Ana", n=4),
    ]
    assert [s.first.polarity for s in resolve(said) if s.status is Status.HELD] == [True]


@given(CLAIMS, st.booleans())
def test_a_value_and_its_denial_are_never_both_open(rows, functional):
    """Whoever says which, one of the two has ended."""
    standings = resolve(build(rows, functional=functional))
    present = [s.first for s in standings if s.status is Status.HELD and s.valid.end is None]
    assert not {c.object.key for c in present if c.polarity} & {c.object.key for c in present if not c.polarity}


@given(CLAIMS, st.integers(0, 7), st.booleans())
def test_withdrawing_equals_never_having_said(rows, index, functional):
    """Beliefs after a withdrawal are those of a memory that never heard the turn."""
    claims = build(rows, functional=functional)
    if index >= len(claims):
        return
    gone = claims[index].turn_id
    beliefs = tell(*claims)
    beliefs.drop_turn(gone, withdraw(gone, beliefs, known_at=DAY0))
    never = tell(*(c for c in claims if c.turn_id != gone))
    believed = [
        {k: f for k, f in b.facts.items() if f.status in (Status.HELD, Status.SUPERSEDED)} for b in (beliefs, never)
    ]
    assert believed[0] == believed[1]


@given(CLAIMS)
def test_folding_changes_equals_resolving_the_claims(rows):
    """Incremental revision and resolving everything at once hold the same facts."""
    claims = build(rows, functional=True)
    beliefs = tell(*claims)
    for slot, live in beliefs.claims.items():
        expected = {s.fact_id: s.fact() for s in resolve(live)}
        stored = {f.fact_id: f for f in beliefs.in_slot(slot)}
        assert {k: v for k, v in stored.items() if k in expected} == expected


@pytest.mark.parametrize("functional", [True, False], ids=["functional", "multi-valued"])
def test_slots_separate_plans_from_facts(functional):
    """A plan to move does not clash with where somebody lives."""
    from doxa.core.values import Modality

    plan = claim("Bonn", n=2, modality=Modality.PLANNED, functional=functional)
    assert slot_of(plan) != slot_of(claim("Bonn", n=1, functional=functional))


def test_two_people_who_name_different_places_for_one_day_disagree():
    """The day says when it happens, and nothing of a change."""
    day = Interval(start=date(2024, 2, 1), end=date(2024, 2, 1))
    hana = claim("room 4", relation="is_in", subject="workshop", speaker="Hana")
    jiro = claim("room 6", relation="is_in", subject="workshop", speaker="Jiro", n=2)
    beliefs = tell(replace(hana, valid=day), replace(jiro, valid=day))
    assert [fact.disputed for fact in beliefs.facts.values()] == [True, True]


def test_what_happens_once_is_told_more_exactly_and_stays_one_day():
    """In March, and then on 19 March: not from March until then."""
    month = Interval(start=date(2024, 3, 1), end=date(2024, 3, 1), start_precision="month", end_precision="month")
    day = Interval(start=date(2024, 3, 19), end=date(2024, 3, 19))
    said = claim("cardiologist", relation="sees", functional=False)
    beliefs = tell(replace(said, valid=month), replace(said, valid=day, turn_id="t2"))
    assert [str(fact.valid) for fact in beliefs.facts.values()] == ["19 March 2024"]
