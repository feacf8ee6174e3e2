"""Sentences, and what is encoded of a turn."""

from datetime import UTC, datetime

import pytest

from doxa.core.values import Turn
from doxa.language import split_text
from doxa.memory import encoded_texts


def turn(text: str) -> Turn:
    return Turn(
        turn_id="t1",
        user="ana",
        session="s",
        speaker="Ana",
        role="user",
        text=text,
        at=datetime(2023, 1, 1, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I saw Dr. Stone. He was kind!", ["I saw Dr. Stone.", "He was kind!"]),
        ("One line\nand another", ["One line", "and another"]),
        ("At 5 p.m.", ["At 5 p.m."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_where_they_do(text, expected):
    assert split_text(text) == expected


def test_one_sentence_is_encoded_once():
    """What says one thing has no passages."""
    assert encoded_texts(turn("I like tea.")) == ["I like tea."]
    assert encoded_texts(turn("I like tea. Really!")) == ["I like tea. Really!"]


def test_several_sentences_are_encoded_by_themselves_too():
    """A greeting goes with what follows only when it is short and comes later."""
    text = "The trip to Rome was long. Me too! We stayed at a farm near the sea."
    assert encoded_texts(turn(text)) == [
        text,
        "The trip to Rome was long. Me too!",
        "We stayed at a farm near the sea.",
    ]


def test_a_long_turn_has_eight_passages():
    """Every sentence is in exactly one of them."""
    sentences = [f"This is sentence number {number}." for number in range(30)]
    whole, *passages = encoded_texts(turn(" ".join(sentences)))
    assert len(passages) == 8 and " ".join(passages) == whole
