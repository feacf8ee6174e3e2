"""Questions that ask through other questions, taken apart."""

import pytest

from doxa.core.plans import HOLE
from doxa.understand import plans_of

CHAINS = {
    "In which city is the company based where Leo works?": ("Where does Leo work?", "In which city is {} based?"),
    "Where does the person who owns Rex live?": ("Who owns Rex?", "Where does {} live?"),
    "What does the man my sister lives with play?": ("Who does my sister live with?", "What does {} play?"),
    "Where does the man that my sister is married to work?": ("Who is my sister married to?", "Where does {} work?"),
    "How old is the friend I went to Rome with?": ("Who did I go to Rome with?", "How old is {}?"),
    "When did the band my brother plays in release its album?": (
        "Which band does my brother play in?",
        "When did {} release its album?",
    ),
    "Does the colleague I have lunch with have a dog?": ("Who do I have lunch with?", "Does {} have a dog?"),
    "Who lives in the city where Siemens is based?": ("Where is Siemens based?", "Who lives in {}?"),
    "Who runs the café that Mia goes to every morning?": ("Which café does Mia go to every morning?", "Who runs {}?"),
    "Where does Leo's employer have its headquarters?": (
        "Which company does Leo work for?",
        "Where does {} have its headquarters?",
    ),
    "Where does the owner of Rex live?": ("Who owns Rex?", "Where does {} live?"),
    "Where was the wife of my brother born?": ("Who is my brother's wife?", "Where was {} born?"),
    "What does my sister-in-law run?": ("Who is my brother married to?", "What does {} run?"),
    "Who is the man that fixed my car?": ("Who fixed my car?", HOLE),
    "When was the head of the library born?": ("Who is the head of the library?", "When was {} born?"),
    "Where does the author of The Iron Gate live?": ("Who wrote The Iron Gate?", "Where does {} live?"),
    "In which town does the team that Rafi coaches train?": (
        "Which team does Rafi coach?",
        "In which town does {} train?",
    ),
}


@pytest.mark.parametrize("text", CHAINS, ids=str)
def test_a_description_is_asked_for_first(text, parser):
    """What a clause or a role describes is a sub-question, and its answer takes the place of the description."""
    first = plans_of(text, parser)[0]
    assert (first.kind, first.asks[0], first.rest) == ("chain", *CHAINS[text])


TIMES = {
    "Where did I live when I worked at Mareluz?": ("When did I work at Mareluz?", "Where did I live?", "during"),
    "Where did Leo work before he moved to Bonn?": ("When did Leo move to Bonn?", "Where did Leo work?", "before"),
    "Who was my boss after I left Lisbon?": ("When did I leave Lisbon?", "Who was my boss?", "after"),
}


@pytest.mark.parametrize("text", TIMES, ids=str)
def test_a_time_that_a_clause_tells_is_asked_for_first(text, parser):
    """The clause is asked for its time; its pronoun is whom the question speaks of."""
    (plan,) = [plan for plan in plans_of(text, parser) if plan.join != "thing"]
    assert (plan.asks[0], plan.rest, plan.join) == TIMES[text]


SEVERAL = {
    "Who is older, Leo or Carla?": ("compare", ("When was Leo born?", "When was Carla born?"), -1),
    "Is Leo taller than my wife?": ("compare", ("How tall is Leo?", "How tall is my wife?"), 1),
    "Who has more children, my boss or Leo?": (
        "compare",
        ("How many children does my boss have?", "How many children does Leo have?"),
        1,
    ),
    "Who moved to Bonn first, Ana or Leo?": (
        "compare",
        ("When did Ana move to Bonn?", "When did Leo move to Bonn?"),
        -1,
    ),
    "Did Leo join Siemens before Carla was born?": (
        "compare",
        ("When did Leo join Siemens?", "When was Carla born?"),
        -1,
    ),
    "Do Tom's wife and Leo's wife work at the same company?": (
        "same",
        ("Which company does Tom's wife work at?", "Which company does Leo's wife work at?"),
        1,
    ),
    "Did my brother and I grow up in the same town?": (
        "same",
        ("Which town did my brother grow up in?", "Which town did I grow up in?"),
        1,
    ),
    "What do both Mia and Tom play?": ("shared", ("What does Mia play?", "What does Tom play?"), 1),
    "Who lives in Ghent and plays the cello?": ("shared", ("Who lives in Ghent?", "Who plays the cello?"), 1),
}


@pytest.mark.parametrize("text", SEVERAL, ids=str)
def test_several_things_are_asked_for_one_by_one(text, parser):
    """A comparison, and what two agree on or share, asks the same of each."""
    first = plans_of(text, parser)[0]
    assert (first.kind, first.asks, first.sign) == SEVERAL[text]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("How is Mia related to me?", ("Mia", "I")),
        ("How are Rex and Leo connected?", ("Rex", "Leo")),
        ("What is the connection between Rex and Siemens?", ("Rex", "Siemens")),
        ("How do I know Amir?", ("I", "Amir")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_question_of_how_two_are_tied_names_both(text, names, parser):
    """It is answered by a path between the two."""
    (plan,) = plans_of(text, parser)
    assert (plan.kind, plan.names) == ("path", names)


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "What is my sister's name?",
        "When did Leo move to Bonn?",
        "Do I like tea?",
        "What does my boss do on weekends?",
        "Who is Mia?",
        "How old am I?",
    ],
)
def test_a_question_for_one_thing_has_no_plan(text, parser):
    """It costs nothing more than before."""
    assert plans_of(text, parser) == ()


def test_a_role_may_be_known_as_it_stands(parser):
    """What a clause describes has to be found out; whose wife somebody is may be known already."""
    assert plans_of("What does the man who owns Rex play?", parser)[0].needed
    assert not plans_of("What does Leo's wife play?", parser)[0].needed
