"""What turns that answer a question say is told in a few words."""

from datetime import UTC, datetime

import pytest

from doxa.backends.reader import Reading, Span
from doxa.core.values import Question, Turn
from doxa.reason import PassageReader, narrowed, readings_of

HAT = "I bought a red hat and some gloves for my mum."


def _turn(number: int, text: str) -> Turn:
    at = datetime(2024, 5, number, tzinfo=UTC)
    return Turn(
        turn_id=f"t{number}", user="u", session="s", speaker="Ana", role="user", text=text, at=at, ordinal=number
    )  # fmt: skip


def _values(question: Question, readings: dict[str, tuple[float, dict[str, float]]]) -> list[str | None]:
    """What is read where each text answers with a chance, by parts with theirs."""

    def read(pairs):
        found = []
        for _, passage in pairs:
            text = next(text for text in readings if passage.endswith(text))
            answers, parts = readings[text]
            places = [(passage.index(part), part, share) for part, share in parts.items()]
            spans = tuple(Span(start=at, end=at + len(part), text=part, score=share) for at, part, share in places)
            found.append(Reading(answerable=answers, spans=spans))
        return found

    turns = [_turn(at + 1, text) for at, text in enumerate(readings)]
    told = readings_of(question, turns, PassageReader(read, lambda _: None), asker="cara")
    assert [chance for chance, _ in told] == [chance for chance, _ in readings.values()]
    return [value for _, value in told]


def test_of_one_thing_the_likeliest_part_of_a_turn_is_told() -> None:
    """Of each turn its own."""
    told = {HAT: (0.9, {"a red hat": 0.6, "some gloves": 0.3}), "I bought a boat.": (0.4, {"a boat": 0.9})}
    assert _values(Question(text="What did Ana buy?"), told) == ["a red hat", "a boat"]


def test_of_a_list_all_likely_parts_of_a_turn_are_told() -> None:
    """A part that is much less likely than the likeliest one of its turn is no item."""
    told = {HAT: (0.9, {"a red hat": 0.5, "some gloves": 0.4, "my mum": 0.1}), "A boat!": (0.7, {"A boat": 0.9})}
    assert _values(Question(text="Which things did Ana buy?", kind="list"), told) == [
        "a red hat, some gloves",
        "A boat",
    ]


@pytest.mark.parametrize(
    "question",
    [
        Question(text="How many hats did Ana buy?", asks="count"),
        Question(text="Did Ana buy a hat?", asks="truth", kind="yesno"),
        Question(text="When did Ana buy a hat?", kind="when"),
        Question(text="What red hat did Ana buy?"),
    ],
    ids=["a number may count something else", "yes or no is no part", "a time is worked out", "only what was asked"],
)
def test_what_no_part_answers_has_no_value(question: Question) -> None:
    """Then the quote alone is the answer."""
    assert _values(question, {HAT: (0.9, {"a red hat": 0.8})}) == [None]


def test_of_a_long_turn_the_part_nearest_to_the_question_is_read() -> None:
    """What a model could not read at once is cut around the sentences that share most words with the question."""
    filler = "The weather was fine and the train was on time as always in those days. " * 30
    turn = _turn(1, f"{filler}My sister Vera bought a yellow canoe in Graz. {filler}")
    part = narrowed(turn, frozenset(["canoe", "vera"])).text
    assert "Vera bought a yellow canoe" in part and len(part) <= 900 and part in turn.text
    assert narrowed(turn, frozenset()).text in turn.text
    short = _turn(2, HAT)
    assert narrowed(short, frozenset(["hat"])) is short
