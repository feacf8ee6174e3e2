"""Sentences that tie two names, found by either."""

import pytest

from doxa import Doxa
from doxa.memory import MentionIndex, key_of, mention_index


def index_of_turns(*texts):
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ana", speaker="Ana", agent="helper", session="facts")
        for text in texts:
            chat.absorb(text, at="2026-01-01")
        chat.flush()
        with doxa.parts.log.user("ana") as state:
            return mention_index(state)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("The author of The Weir of Halm is Bettina Okoro.", ("weir of halm", "bettina okoro")),
        ("Bettina Okoro died in the city of Port Selk.", ("bettina okoro", "port selk")),
        ("Halm College was founded by Ysolde, Duchess of Renn.", ("halm college", "ysolde, duchess of renn")),
        ("Tomas Wray plays the position of goalkeeper.", ("tomas wray", "goalkeeper")),
    ],
)
def test_the_names_of_a_sentence_are_its_capitals_and_what_is_read_of_it(text, keys):
    (tie,) = index_of_turns(text).ties
    assert tie.keys == keys


def test_a_later_sentence_takes_the_place_of_one_that_says_the_same_of_something_else():
    index = index_of_turns(
        "The capital of Renn is Selk.", "The capital of Tarn is Oum.", "The capital of Renn is Hove."
    )
    assert [index.holds(number) for number in range(3)] == [False, True, True]


def test_what_is_true_of_several_things_at_a_time_stays():
    index = index_of_turns("Lena Marsh likes Bach.", "Lena Marsh likes Chopin.")
    assert [index.holds(number) for number in range(len(index.ties))] == [True] * len(index.ties)


def test_questions_are_no_ties_and_lists_are_none():
    names = ", ".join(("Ada", "Bo", "Cleo", "Dov", "Eli", "Fay", "Gus"))
    assert not index_of_turns("Is Lena Marsh from Selk?", f"We met {names} and Hal.").ties


def test_the_longest_known_names_of_a_question_are_found():
    index = MentionIndex()
    index.by_name = {"halm": [0], "weir of halm": [0]}
    question = "Who wrote “The Weir of Halm”?"
    ((start, end, key),) = index.named_in(question)
    assert (question[start:end], key) == ("The Weir of Halm", "weir of halm")


def test_it_reads_only_what_is_new():
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="ana", speaker="Ana", agent="helper", session="facts")
        for number in range(4):
            chat.absorb(f"The capital of Renn{number} is Selk{number}.", at="2026-01-01")
            chat.flush()
            with doxa.parts.log.user("ana") as state:
                index = mention_index(state)
                assert len(index.ties) == number + 1
                assert index is mention_index(state)


@pytest.mark.parametrize(("name", "key"), [("The Weir’s", "weir"), (" Selk. ", "selk"), ("An Oath", "oath")])
def test_names_are_looked_up_without_articles_and_endings(name, key):
    assert key_of(name) == key
