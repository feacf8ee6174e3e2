"""Everyday ways to say what is so, and that something changed."""

from types import SimpleNamespace

import pytest

SAID = {
    "base form goes on": (
        ["I live in Oslo and work for Nexora."],
        ["Nora lives_in Oslo", "Nora works_at Nexora"],
    ),
    "comment after a comma": (["I am allergic to wasps, sadly enough."], ["Nora allergic_to wasps"]),
    "price of it": (["I bought a kayak. It cost 300 euros."], ["kayak costs 300 euros"]),
    "event": (["The picnic party is at Linn's house."], ["picnic party takes_place_at Linn's house"]),
    "introduced": (["My best friend is Abel. He comes from Fiji."], ["Nora best_friend Abel", "Abel comes_from Fiji"]),
    "nobody in particular": (["Exactly one of Liv and Mads has a bike."], []),
    "we are so many": (["We are seven now."], ["Nora headcount seven"]),
}


@pytest.mark.parametrize(("texts", "expected"), SAID.values(), ids=SAID.keys())
def test_everyday_wording_gives_these_claims(texts: list[str], expected: list[str], said: SimpleNamespace) -> None:
    """Each of them is among the claims of the last text; an empty list means that nothing is claimed."""
    found = said.claims_of(*texts)
    assert set(expected) <= set(found) if expected else found == []


def test_a_plan_moves_although_nobody_is_named_who_moved_it(said: SimpleNamespace) -> None:
    """The new day lies ahead, although the clause is in the past."""
    found = said.claims_of("I have an eye exam on 20 June at 9:30.", "They moved it to the 22nd.")
    assert any("22 June 2024 at 9:30" in claim for claim in found)


def test_withdrawing_one_thing_leaves_the_rest_of_the_sentence(said: SimpleNamespace) -> None:
    """ "Forget ... about Ada and Max" is about the two of them, not about who Ada is."""
    _, _, understanding = said.after("My sister Ada is engaged to Max.", "Forget what I said about Ada and Max.")
    assert [str(claim.relation) for claim in understanding.claims] == ["is engaged to"]


def test_a_corrected_number_may_have_a_comma(said: SimpleNamespace) -> None:
    """1,250 is one value."""
    _, _, understanding = said.after("My deposit was 1,150 euros.", "No wait, 1,250.")
    assert [str(claim.object) for claim in understanding.claims] == ["1,250 euros"]
