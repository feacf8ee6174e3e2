"""Whether a turn is said to the tasks: what opens one, what names one, what goes on from them, and what that costs."""

from datetime import UTC, datetime

import pytest

from doxa.backends import load
from doxa.core.tasks import TaskCommit
from doxa.memory import TaskForest
from doxa.tasks import Route, names_known, route, stands, take
from doxa.tasks.opening import may_open

AT = datetime(2025, 3, 3, 9, tzinfo=UTC)


class Counting:
    """A parser that counts the sentences that it is asked for."""

    def __init__(self, inner):
        self.inner, self.name, self.sentences = inner, inner.name, 0

    def parse(self, sentences):
        self.sentences += len(sentences)
        return self.inner.parse(sentences)

    def close(self):
        self.inner.close()


@pytest.fixture(scope="module")
def loaded():
    parser = load("parser", "builtin")
    yield parser
    parser.close()


@pytest.fixture
def parser(loaded):
    return Counting(loaded)


@pytest.fixture
def forest(parser):
    """A dinner on Friday with Carol, and a shopping list."""
    found = TaskForest()
    for text in ("Plan a dinner for Friday with Carol.", "Add milk and eggs to my shopping list."):
        step = take(text, found, parser, AT)
        found.apply(TaskCommit(number=found.next_number, at=AT, text=text, edits=step.edits, focus=step.focus))
    return found


def goes(text, forest, parser, *, going_on=False):
    """Tell whether a turn ends up with the tasks."""
    found = route(text, forest, parser, AT, going_on=going_on)
    return found.to_tasks and stands(found, take(text, forest, parser, AT), forest)


@pytest.mark.parametrize(
    "text",
    [
        "Set up a call with Hannah for Tuesday at 9.",
        "Exam plan for chemistry: week 1 acids, week 2 metals.",
        "We're throwing a party for Marta, and we've got 300 euros to spend.",
        "A few errands. First, I have to pay the rent by the 20th.",
        "The wedding is on 12 July, budget 9000.",
        "I'd like a black hoodie, two pairs of jeans and a grey cap.",
        "Two orders please, one for Mum, one for the flat.",
        "To make soup, wash and chop celery.",
    ],
)
def test_a_turn_that_opens_a_task_is_parsed_for_one(parser, text):
    assert may_open(text) and goes(text, TaskForest(), parser)


def test_a_plain_statement_is_not_even_parsed(parser, forest):
    before = parser.sentences
    for known in (TaskForest(), forest):
        found = route("I moved to Bonn because my sister lives there.", known, parser, AT, going_on=False)
        assert not found.to_tasks and found.why
    assert parser.sentences == before


@pytest.mark.parametrize(
    ("text", "at_any_time", "going_on"),
    [
        ("Move the dinner to Saturday.", True, True),
        ("Is there milk on my shopping list?", True, True),
        ("Carol can't come to the dinner.", True, True),
        ("Make it Saturday.", False, True),
        ("Undo that.", False, True),
        ("They moved it to the 16th.", False, True),
        ("Did I say it was on Monday?", False, True),
        ("That's great!", False, False),
        ("I love eggs.", False, False),
        ("I grew up in Oslo, play music and read.", False, False),
        ("Nice to meet you.", False, False),
        ("Do you like eggs?", False, True),
        ("Forget what I told you about my job.", False, False),
    ],
)
def test_a_turn_goes_to_the_tasks_by_what_it_names_or_as_long_as_they_are_spoken_of(
    forest, parser, text, at_any_time, going_on
):
    assert goes(text, forest, parser) is at_any_time
    assert goes(text, forest, parser, going_on=True) is going_on


def test_a_turn_that_is_more_about_who_says_it_is_not_taken(forest, parser):
    said = "I joined a choir. I sing on Mondays. My sister sings too. It costs 20 euros."
    found = route(said, forest, parser, AT, going_on=True)
    assert not found.to_tasks and "who says it" in found.why
    assert route("It costs 20 euros.", forest, parser, AT, going_on=True).to_tasks


def test_what_makes_nothing_but_a_new_task_has_to_open_one(forest, parser):
    made = take("Plan a hike.", forest, parser, AT)
    moved = take("Move the dinner to Saturday.", forest, parser, AT)
    named = Route(to_tasks=True, why="it names one", names=True)
    assert not stands(named, made, forest) and stands(named, moved, forest)
    assert stands(Route(to_tasks=True, why="it opens one", opens=True), made, forest)


def test_what_a_question_names_is_known_or_not(forest, parser):
    assert names_known("Who comes to the dinner?", forest, parser, AT)
    assert names_known("What is left?", forest, parser, AT)
    assert not names_known("When does my sister come to the dinner?", forest, parser, AT)
