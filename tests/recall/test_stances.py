"""What a sentence tells of its speaker's likes, dislikes, limits and habits."""

from __future__ import annotations

import pytest

from doxa.backends import load
from doxa.backends.encoder import Encoder
from doxa.recall.concepts.stances import CUES, clauses_of, cues_of, stance_of


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return load("encoder", "builtin")


@pytest.mark.parametrize(
    ("text", "positive"),
    [
        ("I absolutely loved that play.", True),
        ("I'm a big fan of long walks.", True),
        ("I can never get enough of mango.", True),
        ("I usually go for the aisle seat.", True),
        ("I can't stand loud bars.", False),
        ("I'm not a fan of musicals.", False),
        ("I'm allergic to peanuts.", False),
        ("I avoid red meat.", False),
    ],
)
@pytest.mark.parametrize("with_vector", [True, False], ids=["vector", "words"])
def test_a_statement_of_taste_has_a_tie_of_its_sign(
    text: str, positive: bool, with_vector: bool, encoder: Encoder
) -> None:
    stance = stance_of(text, encoder.encode([text])[0] if with_vector else None, encoder=encoder.name)
    assert stance.tie is not None
    assert (stance.tie in ("prefers", "does")) is positive
    assert (stance.positive > 0.5) is positive and stance.confidence > 0.5


@pytest.mark.parametrize(
    "text",
    [
        "What should I watch tonight?",
        "My brother loves jazz.",
        "The train leaves at nine.",
        "I used to love rollercoasters.",
        "Nice to meet you!",
    ],
)
def test_questions_other_people_and_small_talk_tell_nothing(text: str, encoder: Encoder) -> None:
    assert stance_of(text, encoder.encode([text])[0], encoder=encoder.name).tie is None


def test_probabilities_add_up_and_a_foreign_vector_is_not_used(encoder: Encoder) -> None:
    text = "I love hiking"
    vector = encoder.encode([text])[0]
    assert sum(stance_of(text, vector).probabilities) == pytest.approx(1)
    assert stance_of(text, vector, encoder="somebody:else") == stance_of(text, None)


def test_parts_of_a_text_are_told_apart() -> None:
    assert clauses_of("I love jazz, but I can't stand rock. Do you?") == [
        "I love jazz",
        "I can't stand rock.",
        "Do you?",
    ]
    assert clauses_of("  ") == []


@pytest.mark.parametrize(
    ("text", "cue"),
    [("I love it", "prefers"), ("I don't love it", "denied"), ("I used to love it", "past"), ("She loves it", "other")],
)
def test_a_denial_or_the_past_before_a_cue_turns_it(text: str, cue: str) -> None:
    counts = dict(zip(CUES, cues_of(text).tolist(), strict=True))
    assert counts[cue] > 0
    assert counts["prefers"] == (cue == "prefers")
