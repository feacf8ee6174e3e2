"""What follows about a person or thing and nobody said: quick to ask for, as of the latest change."""

import random

import pytest

from doxa.core.errors import InputError, NotFoundError
from doxa.engine.answer.following import current, following, prepare
from doxa.logic import OwlState, builtin_ontology


def said(facts):
    return {f"{fact.subject} {fact.relation} {fact.object}" for fact in facts}


def test_what_follows_about_somebody_is_what_follows_from_all_about_them(told):
    told.say(told.claim("Ana", "sister", "Mia"), told.claim("Ana", "lives_in", "Rome", functional=True))
    told.say(told.claim("Tom", "lives_in", "Bonn", functional=True))
    every = told.memory.inferred()
    found = told.view.inferred_about("mia")
    assert said(found) == said(one for one in every if "mia" in (one.subject.key, one.object.key))
    assert "Mia sibling Ana" in said(found) and not any("Bonn" in one for one in said(found))


def test_it_comes_and_goes_with_what_is_believed(told):
    turn = told.say(told.claim("Ana", "sister", "Mia"))
    assert "Mia sibling Ana" in said(told.view.inferred_about("Mia"))
    told.memory.withdraw(turn_id=turn)
    assert not said(told.view.inferred_about("Mia"))


def test_a_proof_leads_to_its_premises(told):
    turn = told.say(told.claim("Ana", "sister", "Mia"))
    fact = next(one for one in told.view.inferred_about("Mia") if one.relation.name == "sibling")
    why = told.view.why(fact.fact_id)
    assert [one.turn_id for one in why.turns] == [turn]
    assert said(why.premises) == {"Ana sister Mia"} and why.derivation


def test_what_does_not_follow_any_more_is_not_found(told):
    turn = told.say(told.claim("Ana", "sister", "Mia"))
    fact = next(iter(told.view.inferred_about("Mia")))
    told.memory.withdraw(turn_id=turn)
    with pytest.raises(NotFoundError):
        told.view.why(fact.fact_id)


@pytest.mark.parametrize("seed", range(4))
def test_what_was_brought_up_to_date_is_what_begins_anew(told, seed):
    """Over news, updates, names that become one, withdrawals, and days on which plans are over."""
    chance = random.Random(seed)
    turns = []
    for number in range(40):
        one, other = (f"Person {chance.randrange(8)}" for _ in range(2))
        kind = chance.randrange(6)
        if kind == 0 and one != other:
            told.say(told.same(one, other))
        elif kind == 1 and turns:
            told.memory.withdraw(turn_id=turns.pop(chance.randrange(len(turns))))
        elif kind == 2:
            turns.append(told.say(told.claim(one, "sister", other), days=chance.randrange(3)))
        else:
            place = told.claim(one, "lives_in", f"Town {chance.randrange(3)}", functional=True)
            turns.append(told.say(place, days=chance.randrange(3)))
        if number % 3 == 0:
            with told.log.user(told.user) as state:
                kept = following(told.doxa.parts, state)
                anew = OwlState(told.user, builtin_ontology(), current(state))
                assert {one.fact_id for one in kept.inferred()} == {one.fact_id for one in anew.inferred()}


def test_the_facts_are_not_read_again_for_one_more(told):
    """Guards the cost: a turn of the same day is read by its changes."""
    for number in range(60):
        told.say(told.claim(f"Person {number}", "lives_in", "Bonn", functional=True))
    told.view.inferred_about("Bonn")
    told.say(told.claim("Ana", "sister", "Mia"), days=0)
    with told.log.user(told.user) as state:
        read = []
        state.owl.sync = lambda facts: read.append(facts)  # type: ignore[union-attr]
        assert "Mia sibling Ana" in said(following(told.doxa.parts, state).inferred_about("mia"))
        assert read == []


def test_it_is_worked_out_while_others_use_the_memory(told):
    told.say(told.claim("Ana", "sister", "Mia"))
    prepare(told.doxa.parts, told.user)
    told.say(told.claim("Ana", "sister", "Zoe"))
    assert {"Mia sibling Ana", "Zoe sibling Ana"} <= said(told.view.inferred_about("Ana"))
    assert told.view.follows()


def test_facts_are_written_with_their_sources(told):
    turn = told.say(told.claim("Ana", "lives_in", "Rome", functional=True), text="I live in <Rome>.")
    told.say(told.claim("Tom", "lives_in", "Bonn", functional=True))
    facts = told.view.about("Ana").items
    turtle = told.view.written(facts)
    assert "doxa:livesIn thing:rome" in turtle and "I live in <Rome>." in turtle and turn.partition("/")[2] in turtle
    assert "bonn" not in turtle
    assert '"@graph"' in told.view.written(facts, "jsonld")
    with pytest.raises(InputError):
        told.view.written(facts, "xml")
