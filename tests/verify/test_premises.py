"""What was said that bears on a sentence, as the NLI model reads it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from doxa.core.values import Turn
from doxa.memory import Beliefs
from doxa.verify import Known
from doxa.verify.premises import MOST_WORDS, bears, premise_of, premised
from doxa.verify.sentences import read_reply

TOLD = [
    ("Ana", "My knee operation is on 9 December."),
    ("Ben", "I had mine in May."),
    ("Ana", "They moved it to 16 December."),
    ("Ana", "I had soup for lunch."),
]
TURNS = [
    Turn(turn_id=f"t{n}", user="u", session="s", speaker=who, role="user", text=text, ordinal=n,
         at=datetime(2025, 1, n + 1, tzinfo=UTC))
    for n, (who, text) in enumerate(TOLD)
]  # fmt: skip


def known(said, after=2):
    return Known(
        beliefs=Beliefs(), user="Ana", agent="Assistant", at=datetime(2025, 2, 1, tzinfo=UTC),
        read=lambda clause, before: (), revised=lambda claims: (), turn=lambda key: None, said=lambda text: said,
        after=lambda turn: TURNS[turn.ordinal + 1 : turn.ordinal + 1 + after],
    )  # fmt: skip


def test_what_was_said_right_after_stands_in_a_premise_in_its_order():
    """A change that goes on with "it" shares no word with the reply; others are named before their words."""
    found = premise_of("Your operation is on 9 December.", known([TURNS[0]]))
    assert found.text == "My knee operation is on 9 December. Ben: I had mine in May. They moved it to 16 December."
    assert found.turns[0] is TURNS[0]


def test_nothing_that_was_said_is_no_premise():
    assert premise_of("Honey keeps for years.", known([])) is None


def test_a_long_turn_is_read_where_it_shares_most():
    long = " ".join(["The weather was fine and nobody had a plan at all."] * 30)
    turn = Turn(
        turn_id="t9", user="u", session="s", speaker="Ana", role="user", text=f"{long} My operation is in May. {long}",
        at=datetime(2025, 1, 9, tzinfo=UTC), ordinal=9,
    )  # fmt: skip
    found = premise_of("Your operation is in June.", known([turn]))
    assert "My operation is in May." in found.text and len(found.text.split()) <= MOST_WORDS


def test_a_turn_without_an_end_is_read_like_any_other():
    """A line of a hundred thousand words, and a text of as many lines."""
    for between in (" ", "\n"):
        text = between.join(["my operation is in May"] * 20_000)
        found = premise_of("Your operation is in June.", known([replace(TURNS[0], text=text)]))
        assert "operation" in found.text and len(found.text.split()) <= MOST_WORDS


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("You live in Rome.", True),
        ("How is your cat Tom?", True),
        ("Have you a cat?", False),
        ("Perhaps you live in Rome.", False),
        ("Enjoy the evening with your cat Tom!", True),
    ],
)
def test_guesses_and_plain_questions_take_nothing_for_granted(reply, expected):
    assert bears(read_reply(reply)[0]) is expected


def test_a_sentence_that_refers_to_the_one_before_is_read_after_it():
    first, second = read_reply("Your sister moved. She lives in Rome.")
    assert premised(second, first.text) == "Your sister moved. She lives in Rome."
    assert premised(first, "") == "Your sister moved."
