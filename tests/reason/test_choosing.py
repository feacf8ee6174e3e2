"""What is answered, quoted or left open, by how likely each is right."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from doxa.core.values import Citation, Draft, Question, Turn
from doxa.reason import Doubt, Graded, choose, choosing

START = datetime(2025, 3, 1, tzinfo=UTC)
ASKED = Question(text="where do i live?", kind="where")


def graded(number: int, text: str, p: float, *, value: str | None = None, role: str = "user") -> Graded:
    turn = Turn(
        turn_id=f"t{number}", user="ana", session="s", speaker="Ana" if role == "user" else "Helper", role=role,  # type: ignore[arg-type]
        text=text, at=START + timedelta(days=number), ordinal=number,
    )  # fmt: skip
    return Graded(turn=turn, p=p, value=value, score=1.0)


@pytest.fixture
def weights(monkeypatch):
    """A model in which a draft is as likely right as it says, and a quote as the reader says."""
    model = {
        "rank": {"odds": 1.0, "recency": 2.0},
        "least": {"draft": 0.5, "quote": 0.5, "lead": 0.0, "nearest": 0.2, "sure": 0.95, "pointed": 0.25, "also": 0.1},
        "draft": {"bias": -4.0, "confidence": 8.0},
        "fact": {"bias": -4.0, "confidence": 8.0},
        "quote": {"bias": 0.0, "odds": 1.0},
    }
    monkeypatch.setattr(choosing, "_model", lambda: model)


@pytest.mark.usefixtures("weights")
def test_a_sure_draft_is_given_with_what_its_confidence_means() -> None:
    """The fitted probability takes the place of the raw one."""
    draft = Draft(text="You live in Oslo.", value="Oslo", citations=(Citation(turn_id="t1"),), confidence=0.95)
    given = choose(draft, ASKED, [graded(1, "i live in oslo", 0.6)], asker="Ana", past=False)
    assert given.value == "Oslo"
    assert given.confidence == pytest.approx(1 / (1 + 2.718281828 ** -(8 * 0.95 - 4)))


@pytest.mark.usefixtures("weights")
def test_a_likelier_quote_takes_the_place_of_a_weak_draft() -> None:
    """Word for word, with the day, and "you" for who asks."""
    draft = Draft(text="You live in Rome.", value="Rome", citations=(Citation(turn_id="t9"),), confidence=0.3)
    given = choose(draft, ASKED, [graded(3, "were in oslo\nnow :)", 0.9)], asker="Ana", past=False)
    assert given.text == "On 4 March 2025 you wrote: “were in oslo now :)”"
    assert given.value is None
    assert [one.turn_id for one in given.citations] == ["t3"]
    assert given.confidence == pytest.approx(0.9, abs=0.01)


@pytest.mark.usefixtures("weights")
def test_the_value_stays_with_a_quote_that_holds_it() -> None:
    """What a program reads."""
    draft = Draft(text="Ana said: “oslo”", value="oslo", citations=(Citation(turn_id="t3"),), confidence=0.3)
    assert choose(draft, ASKED, [graded(3, "were in Oslo now", 0.9)], asker="Ana", past=False).value == "oslo"


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize(
    ("asked", "value"),
    [(ASKED, "oslo"), (Question(text="Which towns did I see?", kind="list"), "bergen, oslo")],
    ids=["the likeliest turn alone", "a list of all"],
)
def test_what_a_quote_says_as_it_was_read_is_its_value(asked: Question, value: str) -> None:
    """It comes before what was drafted, of which it was found to be likelier."""
    draft = Draft(text="Ana said: “now”", value="now", citations=(Citation(turn_id="t3"),), confidence=0.3)
    turns = [graded(3, "were in Oslo now", 0.9, value="oslo"), graded(2, "bergen was fine", 0.85, value="bergen")]
    assert choose(draft, asked, turns, asker="Ana", past=True).value == value


@pytest.mark.usefixtures("weights")
def test_a_quote_of_the_turn_of_a_fact_has_the_value_of_the_fact() -> None:
    """A reader may take the wrong part of a turn that was understood."""
    cited = (Citation(turn_id="t3", fact_id="f1"),)
    draft = Draft(text="You live in Oslo.", value="Oslo", citations=cited, confidence=0.3)
    turns = [graded(3, "were in Oslo now, not in Rome", 0.9, value="Rome")]
    assert choose(draft, ASKED, turns, asker="Ana", past=False).value == "Oslo"


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize(("pointed", "value"), [(True, "Rome"), (False, "oslo")])
def test_a_fact_of_the_relation_that_is_asked_for_needs_less(pointed: bool, value: str) -> None:
    """A reader that likes another turn does not displace it, unless it is hardly believed."""
    draft = Draft(
        text="You live in Rome.", value="Rome", citations=(Citation(turn_id="t9", fact_id="f1"),), confidence=0.4
    )
    turns = [graded(3, "i wish i lived in oslo", 0.8, value="oslo")]
    assert choose(draft, ASKED, turns, asker="Ana", past=False, pointed=pointed).value == value


@pytest.mark.usefixtures("weights")
def test_where_nothing_is_likely_it_is_not_known_and_the_nearest_is_told() -> None:
    """An abstention says what came closest, or nothing."""
    weak = Draft(text="You live in Rome.", value="Rome", citations=(Citation(turn_id="t9"),), confidence=0.1)
    near = choose(weak, ASKED, [graded(3, "we might move to oslo", 0.3)], asker="Ana", past=False)
    assert near.abstained
    assert near.text.startswith("I don't know. The nearest thing that I remember: On 4 March 2025 you wrote")
    far = choose(weak, ASKED, [graded(3, "hi", 0.01)], asker="Ana", past=False)
    assert far.abstained
    assert not far.citations


@pytest.mark.usefixtures("weights")
def test_the_newer_of_two_turns_that_answer_is_preferred_unless_history_is_asked_for() -> None:
    """Both are quoted, oldest first, so that the last word is the last."""
    turns = [graded(1, "i live in rome", 0.8), graded(20, "moved to oslo", 0.75)]
    assert choosing.ranked(turns, past=False)[0].turn.turn_id == "t20"
    assert choosing.ranked(turns, past=True)[0].turn.turn_id == "t1"
    told = choose(Draft(text="", abstained=True), ASKED, turns, asker="Ana", past=False)
    assert told.text.index("rome") < told.text.index("oslo")


@pytest.mark.usefixtures("weights")
def test_a_dispute_is_told_as_it_is() -> None:
    """No quote decides between two sources that disagree."""
    draft = Draft(text="My sources disagree.", disputed=True, confidence=0.5)
    assert choose(draft, ASKED, [graded(1, "oslo", 0.99)], asker="Ana", past=False) is draft


@pytest.mark.usefixtures("weights")
def test_a_later_value_that_is_not_believed_is_told_with_the_one_that_is() -> None:
    """Neither is told as a fact."""
    draft = Draft(text="You live in Rome.", value="Rome", citations=(Citation(turn_id="t1"),), confidence=0.95)
    turns = [graded(1, "i live in rome", 0.8), graded(20, "so thats the move done, oslo it is", 0.4)]
    doubt = Doubt(turns=tuple(one.turn for one in turns), disputed=False)
    told = choose(draft, ASKED, turns, asker="Ana", past=False, doubt=doubt)
    assert told.value is None
    assert told.text.index("rome") < told.text.index("oslo")
    assert told.confidence <= 0.5


@pytest.mark.usefixtures("weights")
def test_of_a_long_turn_the_sentences_that_answer_are_quoted() -> None:
    """Verbatim, and no longer than a quote may be."""
    text = "Lots of talk about the weather here. " * 12 + "We live in Oslo since May. " + "And so on it went. " * 12
    told = choose(Draft(text="", abstained=True), ASKED, [graded(1, text, 0.9)], asker="Ana", past=False).text
    assert "We live in Oslo since May." in told
    assert len(told) < choosing.LONGEST + 60


def test_the_shipped_weights_name_only_features_that_there_are() -> None:
    """A renamed feature would silently count for nothing."""
    order = [graded(1, "i live in oslo", 0.8)]
    candidate = choosing.candidate_of(ASKED, order, past=False)
    assert candidate is not None
    draft = Draft(text="x", value="x", citations=(Citation(turn_id="t1"),), confidence=0.5)
    shipped = choosing._model()
    assert set(shipped["quote"]) == set(candidate.features)
    assert (
        set(shipped["draft"])
        == set(shipped["fact"])
        == set(choosing.draft_features(draft, ASKED, candidate, believed=1.0, pointed=True))
    )
    assert set(shipped["rank"]) == set(choosing.rank_features(order, past=False)[0])
