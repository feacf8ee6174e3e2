"""What a query says: names, sides, and days."""

from datetime import date

import pytest

from doxa.recall import rephrase
from doxa.recall.queries.cues import read_cues
from doxa.recall.queries.times import Days, read_days

TODAY = date(2023, 6, 14)  # a Wednesday


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("When did Ana paint a sunset?", "When did I paint a sunset?"),
        ("What is Ana's job?", "What is my job?"),
        ("What is Ana\u2019s job?", "What is my job?"),
        ("what did ana say", "what did I say"),
        ("Where did Ben Stone go?", "Where did I go?"),
        ("Where did Ben go?", "Where did I go?"),
        ("Anabel and Banana", "Anabel and Banana"),
        ("What did Carol say?", "What did Carol say?"),
        ("Which user will come?", "Which user will come?"),
        ("What did Will say?", "What did I say?"),
    ],
)
def test_a_speakers_name_becomes_the_first_person(words, query, expected):
    for speaker in ("Ana", "Ben Stone", "user", "Will"):
        words.say("Hello.", speaker=speaker)
    assert rephrase(query, words.state) == expected


def test_odd_speaker_names_are_taken_literally(words):
    """Names with signs of regular expressions, empty ones and very short ones."""
    for speaker in ("a.c (x)", "", " ", "J", "*"):
        words.say("Hello.", speaker=speaker)
    assert rephrase("Is abc here, J?", words.state) == "Is abc here, J?"
    assert rephrase("Did a.c (x) call?", words.state) == "Did I call?"


def test_names_are_cues_and_not_words():
    """A speaker's name leaves the words; what is left keeps its order, each stem once."""
    cues = read_cues("Did Ana's sister visit her other sister, Ana?", ["Ana", "Ben"])
    assert cues.speakers == {"Ana"} and cues.terms == ("sister", "visit", "other")
    assert read_cues("Ana?", ["Ana"]).terms == ("ana",)


@pytest.mark.parametrize(
    ("query", "own", "addressed"),
    [("Where do I live?", True, False), ("What did you tell me?", False, True), ("Where is Rome?", False, False)],
)
def test_the_side_of_the_query_is_read(query, own, addressed):
    cues = read_cues(query, [])
    assert (cues.own, cues.addressed) == (own, addressed)


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("on 2023-05-07", date(2023, 5, 7), date(2023, 5, 14)),
        ("on 7 May 2023", date(2023, 5, 7), date(2023, 5, 14)),
        ("on the 7th of May, 2022", date(2022, 5, 7), date(2022, 5, 14)),
        ("on May 7", date(2023, 5, 7), date(2023, 5, 14)),
        ("on December 24th", date(2022, 12, 24), date(2022, 12, 31)),
        ("in may", date(2023, 5, 1), date(2023, 5, 31)),
        ("in August", date(2022, 8, 1), date(2022, 8, 31)),
        ("in February 2023", date(2023, 2, 1), date(2023, 2, 28)),
        ("in the spring of 2022", date(2022, 3, 1), date(2022, 5, 31)),
        ("over Christmas", date(2022, 12, 25), date(2023, 1, 1)),
        ("between March and May", date(2023, 3, 1), date(2023, 6, 7)),
        ("two summers ago", date(2021, 6, 1), date(2021, 8, 31)),
        ("in 2021", date(2021, 1, 1), date(2021, 12, 31)),
        ("yesterday", date(2023, 6, 13), date(2023, 6, 20)),
        ("last week", date(2023, 6, 5), date(2023, 6, 18)),
        ("last Monday", date(2023, 6, 12), date(2023, 6, 19)),
        ("two weeks ago", date(2023, 5, 28), date(2023, 6, 10)),
        ("10 days ago", date(2023, 6, 4), date(2023, 6, 11)),
        ("before May 2023", date.min, date(2023, 5, 31)),
        ("after 7 May 2023", date(2023, 5, 7), date.max),
        ("the week before 9 June 2023", date(2023, 5, 29), date(2023, 6, 11)),
        ("as of 7 May 2023", date(2023, 5, 7), date(2023, 5, 14)),
        ("last month, on 7 May 2023", date(2023, 5, 7), date(2023, 5, 14)),
    ],
)
def test_days_are_read(query, first, last):
    assert read_days(f"What did Ana do {query}?", TODAY) == Days(first, last)


@pytest.mark.parametrize(
    "query",
    [
        "May I ask?",
        "Did they march?",
        "What is 2023?",
        "9999 years ago",
        "",
        "the second of them",
        "What is planned for the summer?",
        "What did she do on 9999-12-31?",
        "What shall we do next week?",
        "What happened on 30 February?",
    ],
    ids=repr,
)
def test_other_words_name_no_days(query):
    assert read_days(query, TODAY) is None


def test_a_time_before_all_dates_is_no_error():
    assert read_days("999 years ago", date(2023, 1, 1)) is not None
    assert read_days("999 years ago", date(50, 1, 1)) is None
    assert read_days("in August", date.min) is None
