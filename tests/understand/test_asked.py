"""What the tree of a question tells: whose word, of which time, what kind of thing, and of what."""

from datetime import UTC, date, datetime

import pytest

from doxa.core.values import Question
from doxa.memory import Beliefs
from doxa.understand import read_question
from doxa.understand.asked import Asked, asked_by_tree, trimmed

AT = datetime(2024, 6, 12, 12, tzinfo=UTC)

SUBJECTS = {
    "name": ("Where does Mara live?", "Mara", "", ("mara", "live")),
    "possession": ("When was Mara's last check-up?", "Mara's last check-up", "", ("mara", "check")),
    "name behind a noun": ("Where does Mara's colleague Juri live?", "Mara's colleague Juri", "", ("live",)),
    "noun with a complement": ("When is the train to Riga?", "the train to Riga", "", ("train", "riga")),
    "verb taken for a noun": ("Does Mara smoke?", "Mara", "", ("mara", "smoke")),
    "predicate run into the name": ("Is Mara teetotal?", "Mara", "", ("mara", "teetotal")),
    "asked for itself": ("Who runs the bakery?", "", "", ("run", "bakery")),
    "kind of thing": ("In which city does Mara live?", "Mara", "city", ("mara", "live")),
    "kind of": ("What kind of boat does Mara own?", "Mara", "boat", ("mara", "own")),
    "counted": ("How many roof tiles did Mara order?", "Mara", "roof tiles", ("roof", "tile", "mara", "order")),
    "measured": ("How tall is Mara?", "Mara", "", ("tall", "mara")),
}


def asked(text: str, parser: object) -> Asked:
    return asked_by_tree(trimmed(text.rstrip("?"), AT, past=True), parser)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "subject", "noun", "focus"), SUBJECTS.values(), ids=SUBJECTS.keys())
def test_the_tree_gives_subject_noun_and_words(parser, text, subject, noun, focus):
    """What is asked for does not count among what is asked about."""
    found = asked(text, parser)
    assert (found.subject, found.noun) == (subject, noun)
    assert set(focus) <= set(found.focus) and (noun not in found.focus or noun == "")


TRIMMED = {
    "source": ("According to Dad, when was the barn built?", Asked(text="when was the barn built", source="Dad")),
    "source last": (
        "How long is the trail according to the map?",
        Asked(text="How long is the trail", source="the map"),
    ),
    "settled": ("Is it settled that Mara moves?", Asked(text="Mara moves", settled=True)),
    "still established": ("Is it still established that Mara moves?", Asked(text="Mara moves", settled=True)),
    "said": ("Has Mara said that Ida likes jazz?", Asked(text="Ida likes jazz", settled=True)),
    "given the rule": ("Given the rule, is Mara still coming?", Asked(text="is Mara still coming")),
    "time": ("Where did Mara live in May 2019?", Asked(text="Where did Mara live")),
    "as of": ("As of 3 May 2024, how much was the rent?", Asked(text="how much was the rent")),
    "before a value": ("Where did Mara live right before Riga?", Asked(text="Where did Mara live", before="Riga")),
    "before an event": ("What was the rent before the increase?", Asked(text="What was the rent", before="increase")),
    "a time that is part of a noun": ("Where is the 2025 reunion?", Asked(text="Where is the 2025 reunion")),
}


@pytest.mark.parametrize(("text", "expected"), TRIMMED.values(), ids=TRIMMED.keys())
def test_what_surrounds_a_question_is_taken_off_and_kept(text, expected):
    """Sources, settledness and landmarks are no part of what is asked."""
    assert trimmed(text.rstrip("?"), AT, past=True) == expected


EXPECTED = {
    "person": ("Who repaired the roof?", "person"),
    "place": ("Where does Mara swim?", "place"),
    "city": ("In which city does Mara live?", "city"),
    "date": ("On which date is the exam?", "date"),
    "clock": ("At what time is the exam?", "clock"),
    "month": ("In which month is the exam?", "month"),
    "when": ("When is the exam?", "time"),
    "number": ("How many shelves does the rack have?", "number"),
    "duration": ("How long was Mara at the mill?", "duration"),
    "name": ("What is the name of Mara's horse?", "name"),
    "own noun": ("Which instrument does Mara play?", "instrument"),
    "yes or no": ("Does Mara sing?", ""),
}


def read(text: str, parser: object) -> Question:
    return read_question(text, asker="Nora", at=AT, context=[], beliefs=Beliefs(), parser=parser)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "expects"), EXPECTED.values(), ids=EXPECTED.keys())
def test_a_question_says_what_kind_of_answer_it_wants(parser, text, expects):
    """The question word, or the noun with it, tells."""
    assert read(text, parser).expects == expects


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Where did Mara live before 2019?", date(2018, 12, 31)),
        ("As of 3 May 2024, where does Mara live?", date(2024, 5, 3)),
        ("Where did Mara live in mid-2019?", date(2019, 7, 1)),
    ],
    ids=["before", "as of", "mid"],
)
def test_a_question_names_its_day(parser, text, day):
    """A day before a year is the last one that lies before it."""
    assert read(text, parser).as_of == day


def test_years_that_are_counted_are_a_duration(parser):
    """ "For how many years" wants the length of an interval, not a number that somebody said."""
    found = read("For how many years did Mara work at the mill?", parser)
    assert (found.asks, found.kind) == ("duration", "how_long")


def test_a_verb_outside_the_inventory_is_read_by_its_tree(parser):
    """The hole stands behind the participle, so that the relation is that of the verb."""
    found = read("What has Mara painted?", parser)
    readings = [found, *found.alternatives]
    assert any(one.relation is not None and one.relation.name == "paint" for one in readings)


def test_who_vouches_asks_for_sources(parser):
    """What is vouched for is what the question is about."""
    found = read("Who still vouches for the price of the ferry?", parser)
    assert found.asks == "source" and set(found.focus) == {"price", "ferry"}
