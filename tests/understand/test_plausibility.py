"""The second phase: which propositions of a sentence are kept."""

from dataclasses import replace

import pytest

from doxa.memory import relation_type
from doxa.understand.plausibility import features, plausible, probability
from doxa.understand.referents import term
from doxa.understand.scene import Proposition

ANA = term("Ana")
HOME = Proposition(subject=ANA, kind=relation_type("lives_in"), object=term("Bonn"))
CHATTER = Proposition(subject=term("pose"), kind=relation_type("has_state"), object=term("good"), confidence=0.3)


def test_a_home_is_likelier_to_be_worth_keeping_than_chatter():
    """The model tells a fact of the speaker from a remark about a thing."""
    said = "I live in Bonn"
    home = probability(features(HOME, said, ANA, "user", among=1))
    chatter = probability(features(CHATTER, "you know the pose is good", ANA, "assistant", among=1))
    assert 0 < chatter < 0.25 < home < 1


def test_what_is_dropped_is_told_in_words():
    """Nothing vanishes: what is left out is given back with its score."""
    kept, dropped = plausible([HOME, CHATTER], "you know the pose is good", ANA, "assistant")
    assert HOME in kept and CHATTER not in kept
    assert len(dropped) == 1 and dropped[0].startswith("pose | is | good: 0.")


@pytest.mark.parametrize("value", ["", "Bonn", "x " * 400, "\u0000", "😀"])
def test_any_object_has_a_probability(value):
    """No text of an object breaks the model or leaves its range."""
    score = probability(features(replace(HOME, object=term(value)), value, ANA, "user", among=1))
    assert 0 <= score <= 1
