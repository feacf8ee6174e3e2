"""What follows from a memory, kept beside it and brought up to date."""

import pytest

from doxa import Config, Doxa

CONFIG = Config.from_tree({"encoder": {"name": "hash"}})


@pytest.fixture
def ana():
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        yield doxa.dialogue(user="ana"), doxa.memory(user="ana"), doxa


def inferred(memory):
    return {f"{one.subject} {one.relation} {one.object}" for one in memory.inferred()}


def test_what_follows_comes_and_goes_with_what_is_said(ana):
    chat, memory, _ = ana
    chat.absorb("My sister is Mia.", turn_id="t1")
    chat.flush()
    assert "Mia sibling Ana" in inferred(memory)
    chat.absorb("I live in Rome.", turn_id="t2")
    chat.flush()
    assert {"Mia sibling Ana", "Rome is a place"} <= inferred(memory)
    memory.withdraw(turn_id="t1")
    assert "Mia sibling Ana" not in inferred(memory) and "Rome is a place" in inferred(memory)


def test_only_what_changed_is_worked_out(ana):
    """The rules do not run again for what was there before."""
    chat, memory, doxa = ana
    for number in range(30):
        chat.absorb(f"Tom{number} lives in Rome{number}. Tom{number} likes tea.")
    chat.flush()
    memory.inferred()
    with doxa.parts.log.user("ana") as state:
        before = state.owl.firings
    chat.absorb("My sister is Mia.")
    chat.flush()
    memory.inferred()
    memory.verify()
    with doxa.parts.log.user("ana") as state:
        assert 0 < state.owl.firings - before < before / 4


def test_an_erased_user_leaves_nothing_that_follows(ana):
    chat, memory, doxa = ana
    chat.absorb("My sister is Mia.", turn_id="t1")
    chat.flush()
    memory.inferred()
    memory.forget(turn_id="t1")
    assert memory.inferred() == []
    with doxa.parts.log.user("ana") as state:
        assert "mia" not in repr(state.owl._closure._terms).casefold()


def test_an_inferred_fact_says_from_what_it_follows(ana):
    chat, memory, _ = ana
    chat.absorb("My sister is Mia.", turn_id="t1")
    chat.flush()
    (sibling,) = [one for one in memory.inferred() if str(one.subject) == "Mia" and one.relation.name == "sibling"]
    (told,) = memory.facts()
    assert sibling.premises == (told.fact_id,) and sibling.turn_ids == ("t1",)
    why = memory.why(sibling.fact_id)
    assert [turn.turn_id for turn in why.turns] == ["t1"] and len(why.derivation) == 2
    assert "nobody said it" in str(why) and "goes both ways" in str(why)
