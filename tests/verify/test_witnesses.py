"""Turns are heard beside logic, and what is not sure is called uncertain."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from doxa.core.values import SentenceVerdict, Turn
from doxa.verify import Witness, witnesses

AT = datetime(2025, 3, 1, tzinfo=UTC)


def witness(number: int, *, supported: float = 0.0, contradicted: float = 0.0, planned: float = 0.0) -> Witness:
    turn = Turn(
        turn_id=f"t{number}", user="ana", session="s", speaker="Ana", role="user", text=f"turn {number}",
        at=AT + timedelta(days=number), ordinal=number,
    )  # fmt: skip
    return Witness(turn=turn, supported=supported, contradicted=contradicted, planned=planned)


@pytest.fixture
def weights(monkeypatch):
    """A model that hears the turns alone."""
    odds = {"true": {"support": 1.0}, "false": {"conflict": 1.0}, "planned": {"plan": 1.0}, "unknown": {"bias": 0.0}}
    model = {"weights": odds, "least": {"contradicted": 0.9, "supported": 0.6, "uncertain": 0.4, "read": 0.55}}
    monkeypatch.setattr(witnesses, "_model", lambda: model)


SAID = SentenceVerdict(text="You live in Oslo.")


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize(
    ("heard", "label"),
    [
        ([witness(1, supported=0.95)], "supported"),
        ([witness(1, contradicted=0.98)], "contradicted"),
        ([witness(1, contradicted=0.6)], "uncertain"),
        ([witness(1, planned=0.95)], "neutral"),
        ([], "neutral"),
    ],
    ids=["support", "conflict", "perhaps", "plan", "nothing"],
)
def test_a_sentence_is_what_the_turns_make_of_it(heard: list[Witness], label: str) -> None:
    """With the turn that decides as the reason."""
    found = witnesses.heard(SAID, heard)
    assert found.label == label
    if label in ("supported", "contradicted", "uncertain"):
        assert found.because == ("t1",)
        assert "Ana said on 2 March 2025: “turn 1”" in found.reason


@pytest.mark.usefixtures("weights")
def test_what_logic_finds_against_a_sentence_is_uncertain_where_the_turns_do_not_bear_it_out() -> None:
    """Both sides are shown, and it is not called contradicted."""
    wrong = SentenceVerdict(text="x", label="contradicted", by="wording", because=("f1",), reason="the memory holds: y")
    found = witnesses.heard(wrong, [witness(2, supported=0.3)])
    assert found.label == "uncertain"
    assert found.reason == "the memory holds: y; but Ana said on 3 March 2025: “turn 2”"


@pytest.mark.usefixtures("weights")
def test_a_plan_supports_nothing() -> None:
    """ "We might move" does not say that you live there, even where logic thought so."""
    right = SentenceVerdict(text="x", label="supported", by="logic", because=("f1",), reason="the memory holds: x")
    assert witnesses.heard(right, [witness(1, planned=0.9)]).label == "neutral"


def test_the_latest_word_counts_for_itself() -> None:
    """A value that was given up is supported by an old turn and contradicted by a newer one."""
    found = witnesses.features(SAID, [witness(1, supported=0.9), witness(5, contradicted=0.9)])
    assert found["conflict_later"] == 1.0
    assert found["last_conflict"] > 0 > found["last_support"]


def test_the_shipped_weights_name_only_features_that_there_are() -> None:
    """A renamed feature would silently count for nothing."""
    known = set(witnesses.features(SAID, []))
    assert all(set(row) == known for row in witnesses._model()["weights"].values())
    assert set(witnesses._model()["weights"]) == set(witnesses.LABELS)


@pytest.mark.usefixtures("weights")
def test_where_turns_were_read_surely_logic_stands() -> None:
    """The grader is no logician."""
    wrong = SentenceVerdict(text="x", label="contradicted", by="wording", because=("f1",), reason="the memory holds: y")
    sure = replace(witness(1, supported=0.9), read=0.9)
    assert witnesses.heard(wrong, [sure]) is wrong
    assert witnesses.heard(wrong, [sure, replace(witness(2, supported=0.9), read=0.1)]).label == "supported"
