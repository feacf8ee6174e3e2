"""Why a fact stands where it stands: sources, derivation, and what it displaced or was displaced by."""

import pytest

from doxa.core.values import Conflict, Status

MOVES = (("Ana", "I live in Lisbon.", "2024-01-10"), ("Ana", "I moved to Berlin.", "2024-06-02"))
SLIP = (("Ana", "My shoe size is 39.", "2024-01-10"), ("Ana", "Sorry, I meant 38.", "2024-01-10"))
DISPUTE = (
    ("Hana", "The workshop is in room 4.", "2024-09-02"),
    ("Jiro", "The workshop is in room 6.", "2024-09-02"),
)
DOG = (
    ("Colm", "If Zoe passes her swimming test, we're getting a dog.", "2024-05-01"),
    ("Colm", "Zoe passed her swimming test.", "2024-05-20"),
)


@pytest.fixture
def why(doxa):
    """Tells these turns, and explains the one fact whose sentence has some words in it."""

    def explain(turns, words, *, status=None):
        chat = doxa.dialogue(user="ana", speaker=turns[0][0])
        for place, (speaker, text, day) in enumerate(turns, start=1):
            chat.absorb(text, speaker=speaker, at=day, turn_id=f"t{place}")
        chat.flush()
        memory = doxa.memory(user="ana")
        found = [fact for fact in memory.facts(current=False) if words in memory.describe(fact)]
        (fact,) = [fact for fact in found if status in (None, fact.status)]
        return memory.why(fact.fact_id)

    return explain


def test_the_source_is_told_with_its_day(why):
    found = why(MOVES[:1], "Lisbon")
    assert found.text.splitlines()[:3] == [
        "Ana lives in Lisbon.",
        "It is believed.",
        "Ana said it on 10 January 2024 (t1): “I live in Lisbon.”",
    ]


def test_whoever_is_quoted_is_named(why):
    """The speaker has it from somebody else."""
    found = why((("Ana", "Dad says the cabin was built in 1952.", "2024-03-01"),), "1952")
    assert found.sources == {"t1": "Ana's father"}
    assert "Ana said it on 1 March 2024, on the word of Ana's father (t1)" in found.text


def test_an_update_names_both_sides(why):
    """Each with the other, and with the kind of conflict."""
    old = why(MOVES, "Lisbon")
    assert old.conflicts == {old.displaced_by[0].fact_id: Conflict.UPDATE}
    assert "In its place: Ana lives in Berlin since 2 June 2024 (an update: the world changed)." in old.text
    new = why(MOVES, "Berlin")
    assert "It took the place of: Ana lived in Lisbon until 2 June 2024 (an update: the world changed)." in new.text


def test_a_correction_is_called_one(why):
    """What it replaced never was so."""
    found = why(SLIP, "39")
    assert found.fact.status is Status.RETRACTED
    assert "In its place: Ana's shoe size is 38 (a correction: it never was so)." in found.text


def test_a_dispute_tells_what_others_say(why):
    found = why(DISPUTE, "room 4")
    assert "It is believed. Its sources disagree." in found.text
    assert "Others say: workshop is in room 6 (a contradiction: both cannot be so)." in found.text


def test_what_follows_is_told_with_its_premises_and_rule(why):
    """Nobody said it."""
    found = why(DOG, "has dog")
    assert [premise.relation.name for premise in found.premises] == ["passes"]
    assert [rule.turn_id for rule in found.rules] == ["t1"]
    assert "It follows from: Zoe passes swimming test" in found.text
    assert "By the rule: “If Zoe passes her swimming test, we are getting a dog” (Colm, t1)." in found.text
    assert "Colm said it" not in found.text


def test_a_premise_tells_what_follows_from_it(why, doxa):
    """As long as it is believed, and that it did once it is not."""
    premise = why(DOG, "Zoe passes")
    (dog,) = premise.conclusions
    assert f"From it follows: {doxa.memory(user='ana').describe(dog)}." in premise.text
    memory = doxa.memory(user="ana")
    memory.withdraw(turn_id="t2")
    fallen = memory.why(premise.fact.fact_id)
    assert "From it followed: " in fallen.text and fallen.displaced == ()
    assert memory.why(dog.fact_id).displaced_by == ()
