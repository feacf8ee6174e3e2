"""Claims get the probability that they are right, and the unsure ones a mark."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from doxa.backends import load
from doxa.core.values import Act, Claim, Interval, Modality, Relation, Term, Turn
from doxa.understand import foreign_language, weighed, worded

TURN = Turn(
    turn_id="t1", user="ana", session="s", speaker="Ana", role="user", text="I live in Oslo.",
    at=datetime(2025, 5, 3, tzinfo=UTC),
)  # fmt: skip


def claim(value: str = "Oslo", **more: object) -> Claim:
    said = {"subject": Term("ana", "Ana"), "relation": Relation("lives_in", "lives in"), "object": Term(value, value)}
    return Claim(**(said | more))  # type: ignore[arg-type]


def test_a_claim_that_fits_its_turn_is_firm_and_one_that_does_not_is_tentative() -> None:
    """Nothing is dropped."""
    grader = load("grader", "scripted", grades={worded(claim("Rome")): "wrong"})
    right, wrong = weighed([claim(), claim("Rome")], TURN, None, grader, firm=0.6)
    assert (right.tentative, wrong.tentative) == (False, True)
    assert right.confidence > 0.9 > 0.1 > wrong.confidence


def test_what_takes_back_is_not_graded() -> None:
    """It says nothing that could be kept, and what is named is named."""
    grader = load("grader", "scripted")
    taken = claim(act=Act.WITHDRAW, confidence=0.3)
    assert weighed([taken], TURN, None, grader, firm=0.6) == (taken,)
    assert not grader.asked


def test_a_threshold_of_nothing_believes_everything() -> None:
    """`revise.firm = 0`."""
    grader = load("grader", "scripted", grades={worded(claim()): "wrong"})
    assert not weighed([claim()], TURN, None, grader, firm=0.0)[0].tentative


def test_the_wording_has_all_that_a_claim_says() -> None:
    """Polarity, modality, time and end."""
    told = claim(
        polarity=False,
        modality=Modality.PLANNED,
        ended=True,
        valid=Interval(start=datetime(2025, 6, 1).date()),
    )
    assert worded(told) == "Ana | lives in | Oslo (not, planned, no longer, since 1 June 2025)"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich wohne in Berlin und arbeite bei Siemens.", "de"),
        ("J'habite à Paris avec ma soeur et mon chat", "fr"),
        ("mieszkam w warszawie", "pl"),
        ("私は東京に住んでいます", "ja"),
        ("i live in berlin w my sister lol", ""),
        ("dentist thursday", ""),
        ("Zdzisława", ""),
        ("😂😂", ""),
        ("", ""),
    ],
)
def test_other_languages_are_recognised_where_it_is_sure(text: str, language: str) -> None:
    """Short English, names and no words at all are none."""
    assert foreign_language(text) == language
