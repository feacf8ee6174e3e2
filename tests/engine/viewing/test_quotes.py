"""Where a turn says a fact."""

import random

import pytest

from doxa.language import sentence_places


def parts(told, turn_id, quote):
    text = told.memory.turn(turn_id).text
    return [text[slice(*place)] if place else None for place in (quote.sentence, quote.subject, quote.object)]


@pytest.fixture
def quoted(told):
    """Says a claim in a text, and returns the words of its quote: sentence, subject, object."""

    def say(text, *claim, **more):
        turn_id = told.say(told.claim(*claim, **more), text=text)
        (fact,) = told.view.facts_of_turn(turn_id)
        (quote,) = told.view.quotes(fact.fact_id)
        return parts(told, turn_id, quote)

    return say


@pytest.mark.parametrize(
    ("text", "span", "sentence"),
    [
        ("Hi. Mia lives in Bonn. Bye.", "Mia lives in Bonn", "Mia lives in Bonn"),
        ("Hi!  Mia   lives in Bonn, I'm told.", "Mia lives in Bonn, I am told", "Mia   lives in Bonn, I'm told."),
        ("“Oh,” he said. Mia’s living in Bonn.", "Mia is living in Bonn", "Mia’s living in Bonn."),
        ("Amia lives in Bonn. Mia lives in Bonn.", "mia lives in Bonn", "Mia lives in Bonn."),
        ("Straße. İstanbul. ﬁne. Mia lives  in Bonn.", "Mia lives in Bonn", "Mia lives  in Bonn."),
    ],
)
def test_a_sentence_is_found_as_it_was_said(quoted, text, span, sentence):
    """Though it was understood with short forms written out."""
    assert quoted(text, "Mia", "lives_in", "Bonn", span=span) == [sentence, "Mia", "Bonn"]


def test_words_that_do_not_stand_there_have_no_place(quoted):
    assert quoted("My sister lives in bonn.", "Mia", "lives_in", "Bonn", span="My sister lives in bonn") == [
        "My sister lives in bonn",
        None,
        "bonn",
    ]


@pytest.mark.parametrize("span", ["", "Nothing of this was ever said by her", "...", "Rex"])
def test_where_nothing_fits_nothing_is_said(quoted, span):
    """The turn is named alone."""
    assert quoted("We went rowing. Mia was there.", "Mia", "likes", "rowing", span=span) == [None, None, None]


def test_of_like_sentences_the_one_that_says_it_is_shown(quoted):
    text = "Leo's living in Bonn. Mia's living in Oslo, though. Mia's living in Bonn, though."
    span = "Mia is living in Bonn, though"
    assert quoted(text, "Mia", "lives_in", "Bonn", span=span) == ["Mia's living in Bonn, though.", "Mia", "Bonn"]


def test_each_turn_is_quoted_the_latest_first(told):
    first = told.say(told.claim("Mia", "likes", "tea"), text="Mia likes tea.")
    again = told.say(told.claim("Mia", "likes", "tea", span="She likes tea"), text="And she likes  tea!")
    quotes = told.view.quotes(told.view.facts_of_turn(first)[0])
    assert [quote.turn_id for quote in quotes] == [again, first]
    assert parts(told, again, quotes[0]) == ["And she likes  tea!", None, "tea"]
    assert [quote.turn_id for quote in told.view.quotes(told.view.facts_of_turn(first)[0], limit=1)] == [again]


def test_what_follows_has_turns_without_places(told):
    """Nobody said it."""
    turn_id = told.say(told.claim("Mia", "works_at", "Siemens", functional=True))
    (derived,) = [fact for fact in told.memory.facts() if fact.premises]
    (quote,) = told.view.quotes(derived)
    assert (quote.turn_id, quote.sentence) == (turn_id, None)


def test_places_are_always_in_the_text(quoted):
    """Whatever was said and understood."""
    chance = random.Random(3)
    bits = ["Mia", "lives", "in", "Bonn", ".", "!", "\n", "  ", "İ", "ß", "\U0001f600", "’s", "not", "\u0301", "x" * 40]
    for _ in range(200):
        text = "Mia " + " ".join(chance.choices(bits, k=chance.randint(1, 30)))
        span = " ".join(chance.choices(bits, k=chance.randint(1, 8)))
        sentence, subject, thing = quoted(text, f"Mia {chance.random()}", "lives_in", "Bonn", span=span)
        assert sentence is None or (sentence.strip() and sentence in text)
        assert subject is None and thing in (None, "Bonn")


def test_a_long_text_is_compared_only_near_the_words(quoted, monkeypatch):
    """However often they stand in it."""
    looked = []

    def noted(text):
        looked.append(len(text))
        return sentence_places(text)

    monkeypatch.setattr("doxa.engine.viewing.quotes.sentence_places", noted)
    text = "Leo lives in Bonn, they say, and nobody knows since when that is so. " * 15_000
    span = "Leo lives in Bonn, they do say, and nobody knows since when that is so"
    assert quoted(text, "Leo", "lives_in", "Bonn", span=span)[1:] == ["Leo", "Bonn"]
    assert 0 < sum(looked) < 150_000
