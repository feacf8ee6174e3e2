"""What a query means after the turns before it: pronouns, "there", "that day", "the other one", what it leaves out."""

from datetime import UTC, datetime

import pytest

from doxa.core.values import Turn
from doxa.memory import UserState
from doxa.recall import read_query
from doxa.recall.queries.leaning import leaning_of

NOW = datetime(2024, 5, 20, 12, tzinfo=UTC)


def said(*texts: str) -> list[Turn]:
    """Return turns of Ana and her assistant in alternation, the last one by the assistant where they are even."""
    return [
        Turn(
            turn_id="",
            user="ana",
            session="today",
            speaker="Ana" if place % 2 == 0 else "assistant",
            role="user" if place % 2 == 0 else "assistant",
            text=text,
            at=NOW,
        )
        for place, text in enumerate(texts)
    ]


def read(text: str, *before: str):
    return read_query(text, UserState(user="ana", dims=4), recent=said(*before), asker="Ana", at=NOW)


def weights(text: str, *before: str) -> dict[str, float]:
    return dict(read(text, *before).expansions)


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("Where does she work?", ("person",)),
        ("What do they think of it?", ("person", "thing")),
        ("When was that?", ("thing",)),
        ("What did we eat that day?", ("time",)),
        ("How was the food there?", ("place",)),
        ("And the other one?", ("other",)),
        ("And Petra?", ("ellipsis",)),
        ("In which city?", ("ellipsis",)),
        ("What about the brewery?", ("ellipsis",)),
        ("Where do I live?", ()),
        ("How many jars were there?", ()),
        ("Is it true that I live in Rome?", ()),
        ("Did I say that I live in Rome?", ()),
        ("Which is the book that is missing?", ()),
        ("How much does that cost?", ("thing",)),
        ("What did Ana paint last week?", ()),
    ],
)
def test_how_a_query_leans_on_the_dialogue(text, ways):
    assert leaning_of(text).ways == ways


def test_a_pronoun_after_a_name_means_who_is_named():
    """Unless it is an object beside it, which means somebody else."""
    assert leaning_of("When did Petra meet her friends?", people=["Petra"]).ways == ()
    assert leaning_of("What did Petra give her?", people=["Petra"]).ways == ("person",)
    assert leaning_of("What did she tell Petra?", people=["Petra"]).ways == ("person",)


@pytest.mark.parametrize(
    "text",
    ["Where does my sister work?", "What did I say about the trip to Rome?", "And where is my red passport now?"],
)
def test_a_query_that_stands_alone_takes_nothing_over(text):
    """What else was spoken of does not matter then."""
    query = read(text, "Who is Maeve?", "She runs the shelter.")
    assert query.wording == text
    assert not {"maev", "shelter", "run"} & {stem for stem, weight in query.expansions if weight > 0.3}


def test_a_pronoun_means_who_was_named_last():
    query = read("What did she ask me?", "Who runs the shelter?", "A woman called Maeve.")
    assert query.wording == "What did Maeve ask me?"
    assert dict(query.expansions)["maev"] == max(weight for _, weight in query.expansions)


def test_a_pronoun_fits_the_sex_that_words_tell_of():
    """The sister is nearer, and yet "he" is the brother."""
    before = ("Who came to dinner?", "Your brother Fergal, and later your sister Nora.")
    assert read("What did he bring?", *before).wording == "What did Fergal bring?"
    assert read("What did she bring?", *before).wording == "What did Nora bring?"
    assert read("Where is her car?", *before).wording == "Where is Nora's car?"


def test_a_pronoun_never_means_the_asker():
    assert "ana" not in weights("What did she say?", "I am Ana, and my boss is Vera.", "Hello Ana.")


def test_a_guess_weighs_less_than_what_was_said():
    """The words of the query stay terms with all their weight; what is inherited never reaches that."""
    query = read("Was it expensive?", "Where did I stay in Prague?", "At the Blue Carp.")
    assert query.terms == ("expens",)
    assert {"blue", "carp"} <= set(dict(query.expansions))
    assert all(0 < weight < 1 for _, weight in query.expansions)


def test_who_is_put_in_the_place_of_another_keeps_the_question():
    """And neither the first one nor what was answered of her is searched for."""
    query = read("And Petra?", "Is Petra there?", "Yes.", "What does Nadia do for work?", "Nadia is a nurse.")
    assert query.wording == "What does Petra do for work?"
    assert "work" in dict(query.expansions)
    assert not {"nadia", "nurs"} & set(dict(query.expansions))


def test_follow_ups_of_follow_ups_go_back_to_the_question():
    before = ("What does Nadia do for work?", "She is a nurse.", "And Petra?", "Petra teaches chemistry.")
    assert read("And Inge?", *before).wording == "What does Inge do for work?"


def test_another_one_is_not_what_was_answered():
    found = weights("And the other one?", "How much was the flat on Linden Street?", "It costs 940 a month.")
    assert "flat" in found and not {"linden", "940"} & set(found)


def test_that_day_is_the_day_that_was_spoken_of():
    query = read("What else happened that day?", "When did we move?", "On 18 April 2024.")
    assert query.days is not None and query.days.first.isoformat() == "2024-04-18"


def test_what_is_sought_is_taken_over():
    assert read("And Petra?", "Where does Nadia live?", "In Graz.").seeks == {"place"}


def test_the_turn_is_found_by_what_the_dialogue_says(words):
    """Without the dialogue, another turn has more of the query's words."""
    words.say("The Blue Carp had bedbugs.", session="a")
    for number in range(8):
        words.say("It was wrong to stay so long.", session=f"other {number}")
    before = said("Where did I sleep in Prague?", "At the Blue Carp hostel.")
    assert words.ids("What was wrong with it?", recent=before)[0] == "t1"
    assert words.ids("What was wrong with it?")[0] != "t1"
