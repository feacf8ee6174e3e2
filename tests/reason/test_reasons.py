"""Questions for a reason are answered with the one that was stated, or not."""

from datetime import UTC, datetime

import pytest

from doxa.core.values import Question, Turn
from doxa.reason.reasons import answer_why


def said(text, speaker="Ana"):
    at = datetime(2026, 6, 1, 10, tzinfo=UTC)
    return Turn(turn_id="t1", user="ana", session="s", speaker=speaker, role="user", text=text, at=at)


@pytest.mark.parametrize(
    ("text", "question", "value"),
    [
        ("I sold the car because the repairs cost too much.", "Why did I sell the car?", "the repairs cost too much"),
        ("My back hurt, so I bought a new chair.", "Why did I buy a new chair?", "My back hurt"),
        ("The rent went up. That's why we moved to Graz.", "Why did we move to Graz?", "The rent went up"),
        ("Because it rained, we cancelled the picnic.", "Why did we cancel the picnic?", "it rained"),
        ("I left early in order to catch the train.", "Why did I leave early?", "in order to catch the train"),
    ],
)
def test_the_stated_reason_is_the_answer(text, question, value):
    draft = answer_why(Question(text=question, kind="why"), [said(text)], asker="Ana")
    assert draft is not None
    assert draft.value == value
    assert draft.citations[0].turn_id == "t1"


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("I sold the car last week.", "Ana"),
        ("I sold the boat because it leaked.", "Ana"),
        ("I sold the car because it was old.", "Ben"),
    ],
)
def test_no_reason_is_made_up(text, speaker):
    assert answer_why(Question(text="Why did I sell the car?", kind="why"), [said(text, speaker)], asker="Ana") is None
