"""Corrections and withdrawals: turns that live from what was said before."""

from types import SimpleNamespace

import pytest

from doxa.core.values import Act


def test_a_named_wrong_value_is_replaced(said: SimpleNamespace) -> None:
    _, _, understanding = said.after("I'm moving to Berlin on 3 August.", "Sorry, I meant Bonn, not Berlin.")
    assert said.short(understanding.claims) == ["correct planned Nora lives_in Bonn [since 3 August 2024]"]
    assert understanding.claims[0].replaces == "berlin"
    assert understanding.intents[0] == "correct"


CORRECTIONS = {
    "value of the same sort": (("I live in Berlin.", "Sorry, I meant Bonn."), ["correct Nora lives_in Bonn"]),
    "number": (
        ("My rent is 780 euros.", "No wait, 870."),
        ["correct Nora's rent costs 870 euros"],
    ),
    "date": (
        ("I have an eye test on 20 June.", "Sorry, I meant the 27th."),
        ["correct planned Nora eye_test 27 June 2024 [27 June 2024]"],
    ),
    "an update is no correction": (("I live in Berlin.", "I moved to Bonn."), ["Nora lives_in Bonn"]),
}


@pytest.mark.parametrize(("texts", "expected"), CORRECTIONS.values(), ids=CORRECTIONS.keys())
def test_a_correction_finds_its_slot(texts: tuple[str, ...], expected: list[str], said: SimpleNamespace) -> None:
    assert said.claims_of(*texts) == expected


def test_a_slip_within_the_sentence_is_mended(said: SimpleNamespace) -> None:
    assert said.claims_of("I have an eye test on Monday, no wait, Friday.") == [
        "planned Nora eye_test 14 June 2024 [14 June 2024]"
    ]


WITHDRAWALS = {
    "by topic": (
        ("I got promoted! I'm a director now.", "Forget what I said about the promotion, that was a joke."),
        ["withdraw Nora works_as director"],
    ),
    "the last thing": (("I like sugar.", "Scratch that, it isn't true."), ["withdraw Nora likes sugar"]),
    "take back": (("I like olives.", "I take that back."), ["withdraw Nora likes olives"]),
    "kidding": (("I live in Monaco.", "Just kidding!"), ["withdraw Nora lives_in Monaco"]),
    "another topic stays": (
        ("I like olives. I live in Graz.", "Forget what I said about olives."),
        ["withdraw Nora likes olives"],
    ),
}


@pytest.mark.parametrize(("texts", "expected"), WITHDRAWALS.values(), ids=WITHDRAWALS.keys())
def test_a_withdrawal_repeats_what_it_takes_back(
    texts: tuple[str, ...], expected: list[str], said: SimpleNamespace
) -> None:
    assert said.claims_of(*texts) == expected


def test_one_speaker_does_not_withdraw_what_another_said(said: SimpleNamespace) -> None:
    found = said.after(("Omar", "I like olives."), "I take that back.")[2].claims
    assert not [claim for claim in found if claim.act is Act.WITHDRAW]


def test_a_false_memory_asserts_nothing(said: SimpleNamespace) -> None:
    assert said.claims_of("I grew up in Braga.", "Didn't I say I was from Porto?") == []
    assert said.claims_of(("Helper", "Didn't you tell me you eat fish?"), "No, I never said that.") == []
