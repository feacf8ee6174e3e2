"""What neither logic nor wording decides is judged by the NLI model, within its budget."""

from datetime import UTC, datetime

import numpy as np
import pytest

from doxa.core.values import Turn
from doxa.memory import Beliefs
from doxa.verify import CheckSpec, Known, check

SAID = Turn(
    turn_id="t1", user="u", session="s", speaker="Ana", role="user",
    text="My boss walked out of the meeting in a rage.", at=datetime(2025, 1, 2, tzinfo=UTC), ordinal=1,
)  # fmt: skip


def known(asked, row):
    """A memory of one turn that nothing was understood of, and a model that always answers the same."""

    def classify(pairs):
        asked.extend(pairs)
        return np.array([row] * len(pairs), dtype=np.float32)

    return Known(
        beliefs=Beliefs(), user="Ana", agent="Assistant", at=datetime(2025, 1, 3, tzinfo=UTC),
        read=lambda clause, before: (), revised=lambda claims: (), turn=lambda key: SAID, said=lambda text: [SAID],
        classify=classify,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "label"),
    [((0.02, 0.03, 0.95), "contradicted"), ((0.9, 0.08, 0.02), "supported"), ((0.3, 0.3, 0.4), "neutral")],
)
def test_the_model_decides_only_when_it_is_sure(row, label):
    """The probabilities are reported either way."""
    asked = []
    found = check("Your boss stayed calm in the meeting.", known(asked, row))
    assert found.label == label and asked == [(SAID.text, "Your boss stayed calm in the meeting.")]
    (one,) = found.sentences
    assert one.by == "nli" and (one.p_contradiction > 0.5) == (label == "contradicted")
    if label != "neutral":
        assert "t1" in one.because and "2 January 2025" in one.reason


def test_the_model_is_not_asked_beyond_its_budget_or_about_what_claims_nothing():
    asked = []
    check("Your boss stayed calm in the meeting.", known(asked, (0, 1, 0)), CheckSpec(clauses=0))
    check("Did your boss stay calm in the meeting? Perhaps your boss stayed calm.", known(asked, (0, 1, 0)))
    assert asked == []
