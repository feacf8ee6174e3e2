"""What kind of thing answers a query."""

from datetime import UTC, datetime

import pytest

from doxa.memory import UserState
from doxa.recall import read_query, recall
from doxa.recall.queries.expectation import seeks


@pytest.mark.parametrize(
    "text",
    [
        "What should I watch this weekend?",
        "Can you recommend a hotel in Vienna?",
        "I'm bored tonight.",
        "I need a gift for my sister.",
        "Planning a trip to the coast",
        "Any ideas for dinner?",
        "Help me choose a laptop.",
        "Which of these would suit me?",
        "Where can I take my parents on Sunday?",
        "How should I decorate the hall?",
        "I am looking for a new podcast.",
        "Suggest three books.",
        "So which film do you advise?",
        "What do I make for dinner?",
        "Sum up my taste in music.",
        "What are some good places to hike?",
        "What's a nice way to spend an evening?",
        "We are hosting a dinner on Friday and want something special.",
    ],
)
def test_advice_is_wanted(text):
    assert "preference" in seeks(text)


@pytest.mark.parametrize(
    "text",
    [
        "What did you recommend for dinner?",
        "Did Ben suggest the blue one?",
        "Which restaurant did we talk about?",
        "When did Ana move?",
        "What is my favourite food?",
        "How many dogs does Ben have?",
        "What was the last book I read?",
        "Where do I live?",
        "What does Ana need for her trip?",
        "Tell me about my job.",
    ],
)
def test_no_advice_is_wanted(text):
    assert "preference" not in seeks(text)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Who painted it?", {"person"}),
        ("From whom did I get the lamp?", {"person"}),
        ("Where is the lamp?", {"place"}),
        ("In which city does Ana live?", {"place"}),
        ("When did Ana move?", {"time"}),
        ("How long ago was that?", {"time"}),
        ("How long did it take?", {"duration"}),
        ("For how many years have I lived here?", {"duration"}),
        ("How often do we meet?", {"count"}),
        ("Why did she leave?", {"reason"}),
        ("Is Rosa my mother?", {"yesno"}),
        ("And did she come?", {"yesno"}),
        ("blue lamp", set()),
    ],
)
def test_what_is_sought_is_read(text, kinds):
    assert seeks(text) == kinds


def test_who_wants_advice_is_not_asking_what_the_assistant_said():
    """What the asker likes was said by the asker; how the advice is asked for is not searched for."""
    query = read_query("Can you recommend a film?", UserState(user="ana", dims=4))
    assert query.own and not query.addressed
    assert query.terms == ("film",)
    assert 0 < dict(query.expansions)["recommend"] < 1


def test_advice_is_for_a_time_to_come():
    """ "This weekend" is when to do it; of the past it is when it was said."""
    state = UserState(user="ana", dims=4)
    now = datetime(2024, 5, 22, 12, tzinfo=UTC)
    assert read_query("What should I watch this weekend?", state, at=now).days is None
    assert read_query("What should I have watched last week?", state, at=now).days is not None


def test_advice_for_the_asker_is_not_what_is_asked_of_somebody_else(words):
    words.say("I like quiet beaches.", speaker="Ben")
    assert "preference" not in read_query("What are some good places that Ben has seen?", words.state).seeks


def test_a_query_without_a_vector_is_searched_by_words(words):
    """As when the encoder failed."""
    found = words.say("I like tea.")
    assert [item.turn_ids for item in recall(read_query("tea", words.state), words.state)] == [(found,)]
