"""Wordings that are the same, and wordings that are not."""

import pytest

from doxa_bench.readings import read
from doxa_bench.wording import phrase, phrases

DAY = "2024-05-03"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the Old Bike", "old bike"),
        ("my mum", "mother"),
        ("Ana's mother", "mother of Ana"),
        ("keys to Ana's garage", "keys to the garage of Ana"),
        ("parents' house", "house of the parents"),
        ("€1,450", "1450 euros"),
        ("$62k", "62,000 dollars"),
        ("two hundred and five grams", "205 g"),
        ("twenty-first floor", "21st floor"),
        ("3.5 million", "3500000"),
        ("34.00", "34"),
        ("5:30 pm", "17:30"),
        ("8 p.m.", "20:00"),
        ("1st of June 2024", "2024-06-01"),
        ("Saturday, June 1, 2024", "01.06.2024"),
        ("drivers_licence", "drivers-licence"),
        ("JohnSmith", "john smith"),
        ("brother-in-law", "brother in law"),
        ("20 per cent", "20%"),
    ],
)
def test_two_ways_to_write_one_thing_are_one_phrase(one, other):
    assert phrase(one) == phrase(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("third", "3"), ("3.10", "3.1"), ("03/04/2024", "3 April 2024"), ("big car", "large car"), ("", "thing")],
)
def test_what_only_looks_alike_stays_apart(one, other):
    assert phrase(one) != phrase(other)


def test_a_missing_year_is_that_of_the_nearest_such_day():
    assert phrases(["30 April"], DAY) >= {("2024-04-30",)}
    assert phrases(["20 December"], "2024-01-03") >= {("2023-12-20",)}


def test_a_year_that_another_form_tells_is_not_guessed():
    assert ("2024-04-30",) not in phrases(["30 April", "30 April 2022"], DAY)


def test_the_29th_of_february_falls_in_a_leap_year():
    assert phrases(["29 February"], "2023-03-01") >= {("2024-02-29",)}


def words_of(relation, value=""):
    return {reading.words for reading in read(relation, phrase(value))}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("works at", "Siemens"), ("work", "at Siemens")),
        (("is working for", "us"), ("worked for", "us")),
        (("has broken", "leg"), ("break", "leg")),
        (("does not eat", "meat"), ("eat", "meat")),
        (("wants to learn", "Thai"), ("learn", "Thai")),
        (("is going to move to", "Bonn"), ("move to", "Bonn")),
        (("employed by", "Siemens"), ("be employed by", "Siemens")),
        (("has got", "a cat"), ("have", "a cat")),
        (("recently bought", "car"), ("buys", "car")),
        (("former employer", "Bosch"), ("employer", "Bosch")),
    ],
    ids=str,
)
def test_verbs_are_compared_by_their_base(one, other):
    assert words_of(*one) & words_of(*other)


def test_the_passive_is_not_the_active():
    assert not words_of("is given", "a book") & words_of("gives", "a book")


@pytest.mark.parametrize(
    ("relation", "value", "expected"),
    [
        ("does not eat", "meat", {"negated": True}),
        ("have", "no car", {"negated": True}),
        ("not never eat", "meat", {"negated": False}),
        ("no longer live in", "Rome", {"no_longer": True, "past": True}),
        ("not live in", "Rome any more", {"no_longer": True, "negated": False}),
        ("used to live in", "Rome", {"past": True}),
        ("formerly lived in", "Rome", {"past": True}),
        ("lived in", "Rome", {"past": False}),
        ("might swap", "bike", {"modality": "possible"}),
        ("will visit", "Rome", {"modality": "planned"}),
        ("would love to learn", "Thai", {"modality": "desired"}),
        ("would move to", "Rome", {"modality": "hypothetical"}),
        ("wants", "telescope", {"modality": None, "wish": True}),
        ("need to call", "Dr. Osei", {"able": True}),
    ],
    ids=str,
)
def test_small_words_are_taken_out_and_told_apart(relation, value, expected):
    reading = read(relation, phrase(value))[0]
    assert {name: getattr(reading, name) for name in expected} == expected
