"""Identities are revised like other beliefs, and what they join meets in the same slots."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from doxa.core.values import Act, ChangeKind, Claim, Interval, Relation, Term
from doxa.memory import SAME_AS, Beliefs, pair_of
from doxa.revise import revise, withdraw

START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = ("Ana's sister", "Mia", "Mia Novak", "Ana's sister's dog", "Rex")
LIVES, LIKES = Relation("lives_in", "lives in"), Relation("likes", "likes")


def term(label):
    return Term(label.casefold(), label)


def said(subject, relation, thing, *, day=0, turn=None, polarity=True, **more):
    at = START + timedelta(days=day)
    return Claim(
        subject=term(subject), relation=relation, object=term(thing), polarity=polarity, functional=relation is LIVES,
        turn_id=turn or f"t{day}", speaker="Ana", known_at=at, span=f"{subject} {relation} {thing}", **more,
    )  # fmt: skip


def same(one, other, *, day=0, polarity=True, **more):
    first, second = pair_of(term(one), term(other))
    claim = said(first.label, SAME_AS, second.label, day=day, polarity=polarity, **more)
    return (
        claim if polarity else Claim(**{name: getattr(claim, name) for name in claim.__slots__} | {"act": Act.CORRECT})
    )


def learn(beliefs, *claims):
    for claim in claims:
        changes = revise([claim], beliefs, turn_id=claim.turn_id, known_at=claim.known_at)
        beliefs.learn([claim], changes)
    return beliefs


def drop(beliefs, turn_id):
    changes = withdraw(turn_id, beliefs, known_at=START + timedelta(days=99))
    beliefs.drop_turn(turn_id, changes)
    return changes


def picture(beliefs):
    """Return what is believed but the identities, with its slots and indexes; what was taken back is history."""
    stands = {key: fact for key, fact in beliefs.facts.items() if fact.status != "retracted"}
    facts = {key: fact for key, fact in stands.items() if fact.relation != SAME_AS}
    about = {name: [f.fact_id for f in beliefs.about(term(name).key) if f.fact_id in facts] for name in NAMES}
    held = {fact.subject.key for fact in facts.values()}
    owned = {name: sorted(held & set(beliefs.possessions(term(name).key))) for name in NAMES}
    claims = {slot: claims for slot, claims in beliefs.claims.items() if claims and "same_as" not in slot}
    return facts, {name: sorted(keys) for name, keys in about.items()}, owned, claims


def test_facts_of_two_names_meet_in_one_slot():
    beliefs = learn(
        Beliefs(), said("Ana's sister", LIVES, "Graz"), said("Mia", LIVES, "Linz", day=5),
        same("Ana's sister", "Mia", day=9),
    )  # fmt: skip
    facts = {str(fact) for fact in beliefs.about("ana's sister")}
    assert facts == {
        "Mia | lives in | Graz (until 6 January 2024, superseded)",
        "Mia | lives in | Linz (since 6 January 2024)",
    }
    assert [c.kind for c in beliefs.changes[2:]] == ["merge", "move", "close", "refine"]


def test_what_belongs_to_a_name_belongs_to_its_entity():
    beliefs = learn(Beliefs(), said("Ana's sister's dog", LIKES, "cheese"), same("Ana's sister", "Mia", day=1))
    assert [str(fact) for fact in beliefs.about("mia's dog")] == ["Mia's dog | likes | cheese"]
    assert beliefs.possessions("mia") == beliefs.possessions("ana's sister") == ["mia's dog"]


def test_a_withdrawn_source_of_an_identity_parts_the_names_again():
    beliefs = learn(Beliefs(), said("Ana's sister", LIVES, "Graz"), said("Mia", LIVES, "Linz", day=5))
    before = picture(beliefs)
    learn(beliefs, same("Ana's sister", "Mia", day=9))
    assert picture(beliefs) != before
    assert drop(beliefs, "t9")[0].kind is ChangeKind.SPLIT
    assert picture(beliefs) == before


def test_a_denial_keeps_names_apart_that_others_would_join():
    beliefs = learn(
        Beliefs(), same("Mia", "Rex", polarity=False), same("Mia", "Mia Novak", day=1, confidence=0.9),
        same("Mia Novak", "Rex", day=2, confidence=0.5),
    )  # fmt: skip
    assert beliefs.identity.one("mia", "mia novak")
    assert not beliefs.identity.one("mia", "rex")


@pytest.mark.parametrize("first", [0, 1], ids=["short-first", "full-first"])
def test_the_fullest_name_stands_for_an_entity(first):
    names = ["Mia", "Mia Novak"]
    claims = [said(names[first], LIKES, "tea"), said(names[1 - first], LIKES, "jazz", day=1)]
    beliefs = learn(Beliefs(), *claims, same("Mia", "Mia Novak", day=2))
    assert {fact.subject.label for fact in beliefs.about("mia")} == {"Mia Novak"}


CLAIMS = st.builds(
    lambda name, relation, thing, day, polarity: (name, relation, thing, day, polarity),
    st.sampled_from(NAMES), st.sampled_from([LIVES, LIKES]), st.sampled_from(["Graz", "Linz", "Mia", "Rex"]),
    st.integers(0, 20), st.booleans(),
)  # fmt: skip
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda p: p[0] != p[1]), max_size=4)


def told(scripts):
    """Return claims of one turn each; what was said long ago may come in late."""
    return [
        said(name, relation, thing, day=day, turn=f"s{place}", polarity=polarity)
        for place, (name, relation, thing, day, polarity) in enumerate(scripts)
        if name != thing
    ]


@tries(max_examples=150)
@given(st.lists(CLAIMS, max_size=10), PAIRS, st.data())
def test_joining_and_parting_changes_nothing(scripts, pairs, data):
    """Facts, slots and indexes are what they were, in whatever order the identities are taken back."""
    beliefs = learn(Beliefs(), *told(scripts))
    before = picture(beliefs)
    for number, (one, other) in enumerate(pairs):
        learn(beliefs, same(one, other, day=40 + number, confidence=0.5 + number / 10))
    for number in data.draw(st.permutations(range(len(pairs)))):
        drop(beliefs, f"t{40 + number}")
    assert picture(beliefs) == before
    assert not beliefs.identity.names("mia")[1:]


@tries(max_examples=100)
@given(st.lists(CLAIMS, max_size=10), PAIRS)
def test_the_facts_do_not_depend_on_when_the_names_were_joined(scripts, pairs):
    """Joining before anything is said and joining afterwards give the same facts, but for what their ids say."""
    identities = [same(one, other, day=30 + n) for n, (one, other) in enumerate(pairs)]
    early, late = learn(Beliefs(), *identities, *told(scripts)), learn(Beliefs(), *told(scripts), *identities)
    chosen = [{key: beliefs.key(term(key).key) for key in NAMES} for beliefs in (early, late)]
    if chosen[0] == chosen[1]:  # the name that came first stands for an entity of equal names
        assert picture(early)[:3] == picture(late)[:3]


@tries(max_examples=100)
@given(st.lists(CLAIMS, max_size=8), PAIRS)
def test_folding_the_changes_gives_the_same_state(scripts, pairs):
    """A second memory that only folds claims and changes, without revising, ends in the same state."""
    claims = [*told(scripts), *(same(one, other, day=40 + n) for n, (one, other) in enumerate(pairs))]
    live, folded = Beliefs(), Beliefs()
    for claim in claims:
        changes = revise([claim], live, turn_id=claim.turn_id, known_at=claim.known_at)
        live.learn([claim], changes)
        folded.learn([claim], changes)
    assert live == folded


def test_an_identity_has_no_time():
    beliefs = learn(Beliefs(), same("Ana's sister", "Mia"))
    assert [fact.valid for fact in beliefs.facts.values()] == [Interval()]
