"""Short answers are read out of turns, as told to who speaks them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from doxa.backends.reader.scripted import ScriptedReader
from doxa.core.values import Citation, Draft, Evidence, Fact, Question, Relation, Term, Turn
from doxa.reason.spans import (
    WELL,
    Found,
    PassageReader,
    answer_from_spans,
    confirms,
    read_spans,
    reads_well,
    standing,
    told_to,
)  # fmt: skip
from doxa.reason.telling import tellings


def _turn(number: int, speaker: str, text: str) -> Turn:
    at = datetime(2024, 5, number, tzinfo=UTC)
    return Turn(
        turn_id=f"t{number}", user="u", session="s", speaker=speaker, role="user", text=text, at=at, ordinal=number
    )


ANA = _turn(1, "Ana", "I bought a red hat for my mum yesterday.")
BEN = _turn(2, "Ben", "I bought a boat last week.")
TURNS = {turn.turn_id: turn for turn in (ANA, BEN)}


def _read(text: str, answers: dict[str, str], **more: str) -> tuple[list[Found], ScriptedReader]:
    model = ScriptedReader(answers)
    before = {"t2": ANA}
    reader = PassageReader(model.read, lambda turn: before.get(turn.turn_id))
    evidence = [Evidence(text=turn.text, turn_ids=(turn.turn_id,), score=1.0) for turn in (ANA, BEN)]
    question = Question(text=text, **more)  # type: ignore[arg-type]
    told = tellings(question, evidence, TURNS.get, asker="Cara")
    return read_spans(question, evidence, told, reader, asker="Cara"), model


def _ask(text: str, answers: dict[str, str], **more: str) -> tuple[Draft | None, ScriptedReader]:
    found, model = _read(text, answers, **more)
    return answer_from_spans(Question(text=text, **more), found), model  # type: ignore[arg-type]


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


def test_each_part_of_a_list_is_quoted_from_its_turn() -> None:
    """Nobody is quoted with words of another turn."""
    found, _ = _read("Which things were bought?", {"which things were bought?": "a red hat"}, kind="list")
    other, _ = _read("Which things were bought?", {"which things were bought?": "a boat"}, kind="list")
    draft = answer_from_spans(Question(text="Which things were bought?", kind="list"), [*found[:1], *other[:1]])
    assert draft is not None
    assert draft.value == "a red hat, a boat"
    assert "Ana said on 1 May 2024: “a red hat”; Ben said on 2 May 2024: “a boat”" in draft.text
    assert {one.turn_id for one in draft.citations} == {"t1", "t2"}


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


@pytest.mark.parametrize(
    ("span", "bare"),
    [
        ("my red hat", "red hat"),
        ("a red hat. She loves it", "a red hat"),
        ("St. Luke's since May", "St. Luke's since May"),
        ("a red hat [image: a photo of a hat]", "a red hat"),
    ],
)
def test_a_span_is_cut_to_what_answers(span: str, bare: str) -> None:
    """No second sentence, no picture, no "my"; "St." ends no sentence."""
    turn = _turn(3, "Eva", f"I got {span} there.")
    question = Question(text="What did Eva get?")
    evidence = [Evidence(text=turn.text, turn_ids=("t3",), score=1.0)]
    told = tellings(question, evidence, lambda key: turn, asker="Cara")
    reader = PassageReader(ScriptedReader({"what did i get?": span}).read, lambda _: None)
    assert [one.text for one in read_spans(question, evidence, told, reader, asker="Cara")] == [bare]


def test_what_only_repeats_the_question_is_no_answer() -> None:
    """The hat is what was asked about."""
    found, _ = _read("Which hat did Ana buy?", {"which hat did i buy?": "hat"})
    assert not found


def test_what_is_not_of_the_kind_that_is_asked_for_is_no_answer() -> None:
    """A red hat is no number; "two" would be."""
    found, _ = _read("How many hats did Ana buy?", {"how many hats did i buy?": "a red hat"}, expects="number")
    assert not found


def _fact(relation: str) -> tuple[Draft, Fact]:
    fact = Fact(
        fact_id="f1", subject=Term("ana", "Ana"), relation=Relation(relation, relation), object=Term("hat", "red hat"),
        polarity=True, turn_ids=("t1",),
    )  # fmt: skip
    cited = (Citation(turn_id="t1", text=ANA.text, speaker="Ana", at=ANA.at, fact_id="f1"),)
    return Draft(text="Ana bought a red hat.", value="a red hat", citations=cited, confidence=0.95), fact


def test_an_answer_from_facts_stands_by_what_it_covers_of_the_question() -> None:
    """What the turn behind it says nothing of weakens it; nothing weakens a dispute."""
    draft, fact = _fact("buy")
    assert standing(draft, Question(text="What did Ana buy for her mum?", head="buy"), [fact]) > WELL
    assert standing(draft, Question(text="What did Ana buy at the harbour?", head="buy"), [fact]) < WELL
    assert standing(replace(draft, disputed=True), Question(text="What did Ana lose at the harbour?"), [fact]) == 1.0


def test_a_wide_relation_does_not_stand_for_any_verb() -> None:
    """What Ana does is not what she realised; where she moved to is where she lives."""
    asked = Question(text="What did Ana realise?", head="realise")
    wide, narrow = _fact("does"), _fact("lives_in")
    assert standing(wide[0], asked, [wide[1]]) < standing(narrow[0], asked, [narrow[1]])


def test_a_reader_confirms_an_answer_that_it_finds_too() -> None:
    """In other words of the same turn, but not another thing."""
    draft, _ = _fact("buy")
    found, _ = _read("What did Ana buy?", {"what did i buy?": "red hat"})
    assert confirms(found, draft)
    assert not confirms(found, replace(draft, value="a boat"))
    assert not confirms(found, None)


@pytest.mark.parametrize(
    ("text", "answers"),
    [("I live in Bonn.", False), ("Mia lives in Bonn.", True), ("She lives in Bonn.", True)],
)
def test_what_somebody_says_of_herself_is_not_about_who_is_not_there(text: str, answers: bool) -> None:
    """Mia has to be named, or somebody to be spoken of."""
    turn = _turn(4, "Ana", text)
    question = Question(text="Where does Mia live?", subject=Term("mia", "Mia"))
    evidence = [Evidence(text=text, turn_ids=("t4",), score=1.0)]
    told = tellings(question, evidence, lambda key: turn, asker="Cara")
    reader = PassageReader(ScriptedReader({"where does mia live?": "Bonn"}).read, lambda _: None)
    assert bool(read_spans(question, evidence, told, reader, asker="Cara")) is answers
