"""Short answers are read out of turns, as told to who speaks them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from doxa.backends.reader.scripted import ScriptedReader
from doxa.core.values import Citation, Draft, Evidence, Question, Turn
from doxa.reason.spans import PassageReader, answer_from_spans, covers_all, reads_well, told_to


def _turn(number: int, speaker: str, text: str) -> Turn:
    at = datetime(2024, 5, number, tzinfo=UTC)
    return Turn(
        turn_id=f"t{number}", user="u", session="s", speaker=speaker, role="user", text=text, at=at, ordinal=number
    )


ANA = _turn(1, "Ana", "I bought a red hat for my mum yesterday.")
BEN = _turn(2, "Ben", "I bought a boat last week.")
TURNS = {turn.turn_id: turn for turn in (ANA, BEN)}


def _ask(text: str, answers: dict[str, str], **more: str) -> tuple[Draft | None, ScriptedReader]:
    model = ScriptedReader(answers)
    before = {"t2": ANA}
    reader = PassageReader(model.read, lambda turn: before.get(turn.turn_id))
    evidence = [Evidence(text=turn.text, turn_ids=(turn.turn_id,), score=1.0) for turn in (ANA, BEN)]
    question = Question(text=text, **more)  # type: ignore[arg-type]
    return answer_from_spans(question, evidence, TURNS.get, reader, asker="Cara"), model


@pytest.mark.parametrize(
    ("question", "turn", "others", "told"),
    [
        ("What did Ana buy?", ANA, set(), "what did i buy?"),
        ("What is Ana's hat like?", ANA, set(), "what is my hat like?"),
        ("What did Ana buy?", BEN, {"Ana"}, "what did you buy?"),
        ("What did I tell Ana?", ANA, set(), "what did you tell i?"),
        ("Who is Anatol?", ANA, set(), "who is anatol?"),
    ],
)
def test_a_question_is_put_as_its_hearer_would_hear_it(question: str, turn: Turn, others: set[str], told: str) -> None:
    """The speaker of a turn is "i", whom they talk with is "you", and nobody else is touched."""
    if question == "Who is Anatol?":
        turn = _turn(1, "Bo", "Hello.")
    assert told_to(question, turn, others, asker="Cara") == told


def test_the_one_who_asks_about_herself_stays_i_in_her_own_turns() -> None:
    """Her "I" is the speaker of the turn."""
    assert told_to("What did I buy?", ANA, set(), asker="Ana") == "what did i buy?"
    assert told_to("What did you tell me?", BEN, {"Ana"}, asker="Ana") == "what did i tell you?"


def test_the_answer_is_the_span_with_its_turn_as_citation() -> None:
    """The value is bare, the text says who said it, the turn is cited."""
    draft, _ = _ask("What did Ana buy?", {"what did i buy?": "a red hat"})
    assert draft is not None
    assert draft.value == "a red hat"
    assert [one.turn_id for one in draft.citations] == ["t1"]
    assert "Ana" in draft.text


def test_what_another_says_of_himself_is_no_answer() -> None:
    """About Ben's turn the same question is asked of "you", so his boat is not hers."""
    draft, model = _ask("What did Ana buy?", {"what did i buy?": "a boat"})
    assert draft is None
    assert (
        "what did you buy?",
        "you: I bought a red hat for my mum yesterday. i: I bought a boat last week.",
    ) in model.asked


def test_nothing_is_answered_where_no_turn_answers() -> None:
    """An unsure reader gives no draft."""
    draft, _ = _ask("What did Ana sell?", {})
    assert draft is None


def test_answers_that_are_no_words_of_a_turn_are_left_to_others() -> None:
    """Yes or no, times and sources have readers of their own."""
    assert reads_well(Question(text="What did Ana buy?"))
    assert not reads_well(Question(text="Did Ana buy a hat?", kind="yesno", asks="truth"))
    assert not reads_well(Question(text="When did Ana buy it?", kind="when"))


def test_a_fact_from_a_turn_that_covers_the_question_stands() -> None:
    """A fact of something else does not keep the reader from looking."""
    cited = (Citation(turn_id="t1", text=ANA.text, speaker="Ana", at=ANA.at),)
    draft = Draft(text="Ana bought a red hat.", value="a red hat", citations=cited, confidence=0.95)
    assert covers_all(draft, Question(text="What did Ana buy for her mum?", head="buy"))
    assert not covers_all(draft, Question(text="What did Ana buy at the harbour?", head="buy"))
    assert not covers_all(None, Question(text="What did Ana buy?"))
