"""What follows from facts, what goes with them, what cannot hold together, and how it is said."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa.core.ontology import Ontology, RelationType
from doxa.core.values import Fact, Interval, Modality, Relation, Status, Term
from doxa.logic import OwlState, builtin_ontology, merge, read_axioms, read_ontology

INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
DESK = RelationType(name="desk", label="desk", iri="urn:x#desk", kind="noun", datatype=INTEGER, functional=True)
BADGE = RelationType(name="badge", label="badge", iri="urn:x#badge", kind="noun", inverse_functional=True)
ONTOLOGY = merge(builtin_ontology(), Ontology(relations={"desk": DESK, "badge": BADGE}))


def name(text):
    """Return the id of a fact."""
    return text.replace(" ", ".")


def fact(text, **more):
    """Return a fact from "subject relation object", with "not" before the relation of a denial."""
    subject, *no, relation, value = text.split()
    label = ONTOLOGY.relations[relation].label if relation in ONTOLOGY.relations else relation
    return Fact(
        fact_id=name(text),
        subject=Term(subject, subject.capitalize()),
        relation=Relation(relation, label),
        object=Term(value, value.capitalize()),
        polarity=not no,
        **more,
    )


def told(*texts):
    state = OwlState("ana", ONTOLOGY)
    return state, state.add(*map(fact, texts))


def keys(facts):
    """Return facts as "subject relation object"."""
    return {f"{one.subject.key} {one.relation.name} {one.object.key}" for one in facts}


@pytest.mark.parametrize(
    ("said", "follows", "because"),
    [
        (["ana sister mia"], "mia sibling ana", "“sibling” goes both ways"),
        (["ana child bo"], "bo parent ana", "“child” is “parent” the other way round"),
        (["wheel part_of car", "car part_of fleet"], "wheel part_of fleet", "carries over from one to the next"),
        (["ana son leo"], "ana child leo", "“son” is a kind of “child”"),
        (["ana lives_in rome"], "rome is_a place", "what “lives in” leads to is a place"),
        (["ana married_to bo"], "ana is_a person", "who or what has “is married to” is a person"),
    ],
)
def test_what_follows_is_told_with_its_reason(said, follows, because):
    """Its premises are the facts that it needs, and it goes with any of them."""
    state, found = told(*said)
    (derived,) = [one for one in found.inferred if follows in keys([one])]
    assert derived.premises == tuple(map(name, said))
    assert because in " ".join(state.why(derived))
    assert follows in keys(state.inferred())
    assert follows in keys(state.remove(name(said[0])).withdrawn)
    assert follows not in keys(state.inferred()) and state.why(derived) == ()


@pytest.mark.parametrize(
    ("said", "rule", "because"),
    [
        (["ana born_in rome", "ana born_in bonn"], "prp-fp", "has one value at a time"),
        (["ana desk 12", "ana desk 13"], "prp-fp", "“desk” has one value at a time"),
        (["ana badge b1", "bo badge b1"], "prp-ifp", "“badge” leads to a thing from one place only"),
        (["ana sister ana"], "prp-irp", "“Ana's sister is Ana” cannot hold: nothing has “sister” with itself"),
        (["ana older_than bo", "bo older_than ana"], "prp-asyp", "never goes both ways"),
        (["ana sister mia", "ana brother mia"], "prp-pdw", "exclude each other"),
        (["ana lives_in rome", "bo married_to rome"], "cax-adc", "nothing is both a place and a"),
        (["ana not child leo", "ana son leo"], "prp-npa1", "then Ana's child is Leo; it is denied"),
        (["ana not desk 12", "ana desk 12"], "prp-npa2", "it is denied"),
        (["ana desk twelve"], "dt-not-type", "“Twelve” is no integer"),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" in value else "",
)
def test_what_cannot_hold_together_is_told_with_its_reason(said, rule, because):
    """The smallest set of facts, beside others that do no harm; without any of them it is settled."""
    state, found = told("mia likes tea", *said, "zoe lives_in oslo")
    (clash,) = found.inconsistencies
    assert (clash.rule, {one.fact_id for one in clash.facts}) == (rule, set(map(name, said)))
    assert because in clash.text and clash.minimal
    assert state.inconsistencies() == [clash]
    for one in said:
        state.remove(name(one))
        assert state.inconsistencies() == []
        assert len(state.add(fact(one)).inconsistencies) == 1


@pytest.mark.parametrize(
    "said",
    [
        ["ana lives_in rome", "bo lives_in rome"],
        ["ana desk 12", "bo desk 12", "ana desk 012"],
        ["ana not likes tea", "ana likes rum"],
        ["rex is_a dog", "ana dog rex"],
        ["ana frobs tea", "ana frobs rum"],
    ],
    ids=str,
)
def test_what_can_hold_together_is_no_clash(said):
    assert told(*said)[0].inconsistencies() == []


def test_a_clash_through_a_chain_of_conclusions_is_found():
    """What is denied follows from two others."""
    state, found = told("a part_of b", "a not part_of c", "b part_of c")
    (clash,) = found.inconsistencies
    assert clash.rule == "prp-npa1" and len(clash.facts) == 3
    assert state.remove(fact("b part_of c")).inconsistencies == () == tuple(state.inconsistencies())


def test_what_two_facts_say_stays_while_one_of_them_does():
    state, _ = told("ana sister mia")
    again = fact("ana sister mia", turn_ids=("t2",))
    state.add(Fact(**{name: getattr(again, name) for name in again.__slots__} | {"fact_id": "other"}))
    assert state.remove(fact("ana sister mia")).withdrawn == ()
    (sibling,) = [one for one in state.inferred() if keys([one]) == {"mia sibling ana"}]
    assert sibling.premises == ("other",)
    assert "mia sibling ana" in keys(state.remove("other").withdrawn)


def test_a_conclusion_holds_while_all_of_its_premises_do():
    """It is no surer than they are, cites their turns, and is known since the last of them."""
    state = OwlState("ana", ONTOLOGY)
    first, second = date(2020, 1, 1), date(2022, 5, 1)
    known = [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 2)]
    one = fact("a part_of b", valid=Interval(start=first, end=date(2024, 1, 1)), turn_ids=("t1",), known_at=known[0])
    two = fact("b part_of c", valid=Interval(start=second), turn_ids=("t2",), known_at=known[1], confidence=0.5)
    (found,) = [derived for derived in state.add(one, two).inferred if keys([derived]) == {"a part_of c"}]
    assert found.valid == Interval(start=second, end=date(2024, 1, 1))
    assert (found.turn_ids, found.known_at, found.confidence) == (("t1", "t2"), known[1], 0.5)


@pytest.mark.parametrize("change", [{"status": Status.RETRACTED}, {"modality": Modality.PLANNED}], ids=str)
def test_a_fact_that_is_over_takes_what_followed_with_it(change):
    """A changed fact is given again as it is now."""
    state, _ = told("ana sister mia")
    assert "mia sibling ana" in keys(state.add(fact("ana sister mia", **change)).withdrawn)
    assert len(state) == 0 and state.inferred() == []


def test_sync_changes_no_more_than_what_differs():
    """Facts come, go and change; what stays costs nothing."""
    state, _ = told("ana sister mia", "bo lives_in rome")
    held = [fact("bo lives_in rome"), fact("cy sister dee")]
    found = state.sync(held)
    assert "dee sibling cy" in keys(found.inferred) and "mia sibling ana" in keys(found.withdrawn)
    before = state.firings
    assert state.sync(held) == type(found)() and state.firings == before
    state.sync([held[0], fact("cy sister dee", status=Status.RETRACTED)])
    assert keys(state.inferred(specific=True)) == {"bo is_a living being", "rome is_a place"}


def test_the_axioms_of_a_file_count(tmp_path):
    """Chains and class expressions are more than the inventory takes from it; its own names for what is known count."""
    path = tmp_path / "more.ttl"
    path.write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix d: <urn:doxa:vocabulary#> . @prefix ex: <urn:ex#> ."
        "ex:aunt owl:propertyChainAxiom (d:parent ex:sister) . ex:sister a owl:ObjectProperty ."
        "ex:aunt a owl:ObjectProperty ."
    )
    ontology = read_ontology(path, known=ONTOLOGY)
    state = OwlState("ana", ontology, axioms=read_axioms(path, known=ontology))
    found = state.add(fact("ana parent bo"), fact("bo sister cy"))
    assert "ana aunt cy" in keys(found.inferred)


NAMES = "ana bo cy dee eve".split()
RELATIONS = "sister brother child parent married_to older_than part_of lives_in likes".split()
rows = st.tuples(st.sampled_from(NAMES), st.booleans(), st.sampled_from(RELATIONS), st.sampled_from(NAMES))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.booleans(), rows), max_size=25))
def test_a_state_that_was_changed_is_one_that_began_anew(changes):
    """The facts that follow, with the same ids, and the sets of facts that clash."""
    state, held = OwlState("ana", ONTOLOGY), {}
    for add, (one, positive, relation, other) in changes:
        text = f"{one} {'' if positive else 'not '}{relation} {other}"
        (state.add if add else state.remove)(fact(text))
        held.pop(text, None)
        held |= {text: fact(text)} if add else {}
    anew = OwlState("ana", ONTOLOGY)
    anew.add(*held.values())
    assert {one.fact_id for one in state.inferred()} == {one.fact_id for one in anew.inferred()}
    assert bool(state.inconsistencies()) == bool(anew.inconsistencies())
    for clash in state.inconsistencies():
        alone = OwlState("ana", ONTOLOGY)
        alone.add(*clash.facts)
        assert alone.inconsistencies()
        for one in clash.facts:
            alone.remove(one)
            assert not alone.inconsistencies()
            alone.add(one)


def test_the_work_of_a_turn_does_not_grow_with_the_memory():
    def firings(size):
        state = OwlState("ana", ONTOLOGY)
        state.add(*(fact(f"p{n} lives_in city{n % 50}") for n in range(size)))
        state.add(*(fact(f"p{n} likes thing{n % 30}") for n in range(size)))
        before = state.firings
        state.add(fact("p3 sister p5"), fact("p3 works_at acme"))
        return state.firings - before

    assert firings(3000) == firings(60) < 150
