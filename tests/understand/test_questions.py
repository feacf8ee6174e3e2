"""Questions as propositions with a hole."""

from datetime import UTC, date, datetime
from types import SimpleNamespace

import pytest

from doxa.backends.parser import Parser
from doxa.core.values import Question
from doxa.memory import Beliefs
from doxa.understand import find_question, read_question

AT = datetime(2024, 6, 12, 12, tzinfo=UTC)
CASES = {
    "where": ("Where do I live now?", "where Nora lives_in - object"),
    "where from": ("Where is Emil from?", "where Emil comes_from - object"),
    "who for": ("Who do I work for now?", "who Nora works_at - object"),
    "job": ("What do I do for a living?", "value Nora works_as - object"),
    "who subject": ("Who works at Nexora?", "who - works_at Nexora subject"),
    "who has": ("Who has the spare key?", "who - has spare key subject"),
    "who allergic": ("Who is allergic to eggs?", "who - allergic_to eggs subject"),
    "attribute": ("What is Emil's phone number?", "value Emil phone_number - object"),
    "attribute of": ("What is the name of my cat?", "value Nora cat - object"),
    "favourite": ("What is my favourite film now?", "value Nora favourite_film - object"),
    "noun": ("Which languages do I speak?", "list Nora speaks - object"),
    "what breed": ("What breed is Miso?", "value Miso breed - object"),
    "price": ("How much does my gym membership cost?", "how_much Nora's gym membership costs - object"),
    "price is": ("How much is my rent now?", "how_much Nora's rent costs - object"),
    "age": ("How old is Ida?", "value Ida has_age - object"),
    "count": ("How many children do I have?", "count Nora child - count"),
    "yes or no": ("Do I still have the car?", "yesno Nora has car truth"),
    "yes or no be": ("Am I vegetarian?", "yesno Nora follows_diet vegetarian truth"),
    "when": ("When did I move to Turin?", "when Nora lives_in Turin start"),
    "when noun": ("When is my dentist appointment?", "when Nora dentist_appointment - object"),
    "when birthday": ("When is Ida's birthday?", "when Ida birthday - object"),
    "since when": ("Since when have I lived in Turin?", "when Nora lives_in Turin start"),
    "how long": ("How long have I lived in Turin?", "how_long Nora lives_in Turin duration"),
    "allergy": ("What am I allergic to?", "value Nora allergic_to - object"),
    "second person": ("Where does my sister live?", "where Nora's sister lives_in - object"),
}


def read(text: str, parser: Parser) -> Question:
    return read_question(text, asker="Nora", at=AT, context=[], beliefs=Beliefs(), parser=parser)


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_a_question_names_its_hole(text: str, expected: str, parser: Parser) -> None:
    asked = read(text, parser)
    parts = [asked.subject, asked.relation and asked.relation.name, asked.object]
    assert " ".join([asked.kind, *(str(part) if part else "-" for part in parts), asked.asks]) == expected


def test_a_known_relative_is_asked_about_by_name(said: SimpleNamespace, parser: Parser) -> None:
    _, beliefs, _ = said.after("My sister is called Ada.")
    asked = read_question(
        "Where does my sister live?", asker="Nora", at=said.AT, context=[], beliefs=beliefs, parser=parser
    )
    assert asked.subject is not None and asked.subject.label == "Ada"


@pytest.mark.parametrize(
    ("text", "as_of", "past"),
    [
        ("Where did I live on 1 July 2023?", date(2023, 7, 1), True),
        ("Where did I live in May 2015?", date(2015, 5, 15), True),
        ("Where did I live in 2010?", date(2010, 7, 1), True),
        ("Where do I live?", None, False),
        ("Where did I live before?", None, True),
        ("Have I ever lived in Turin?", None, True),
    ],
    ids=["day", "month", "year", "now", "before", "ever"],
)
def test_a_question_says_which_time_it_means(text: str, as_of: date | None, past: bool, parser: Parser) -> None:
    asked = read(text, parser)
    assert (asked.as_of, asked.past) == (as_of, past)


def test_a_false_memory_is_read_as_the_claim_that_it_tests(parser: Parser) -> None:
    asked = read("Didn't I say I was from Porto?", parser)
    assert (asked.kind, asked.asks, str(asked.object)) == ("yesno", "truth", "Porto")


def test_a_question_that_nothing_reads_keeps_its_words(parser: Parser) -> None:
    asked = read("Why on earth would the moon smell of parsnips?", parser)
    assert asked.asks == "anything"
    assert "parsnip" in asked.terms


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("I have no milk. Are the shops open?", "Are the shops open?"),
        ("where do i live", "where do i live"),
        ("Tell me where I live.", "Tell me where I live."),
        ("I live here.", None),
        ("", None),
    ],
    ids=["last sentence", "no mark", "indirect", "statement", "empty"],
)
def test_the_question_in_a_turn_is_found(text: str, question: str | None) -> None:
    assert find_question(text) == question
