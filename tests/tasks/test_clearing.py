"""How sure a step is, what is asked where it is not, and what the answer does."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from doxa.core.tasks import NodeKind, TaskCommit
from doxa.memory import TaskForest
from doxa.tasks import Editor, take
from doxa.tasks.intents import CLASSES, class_of, known_words, likely
from doxa.tasks.reading import read_clauses

AT = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def two(talk: Any) -> Any:
    """Two tasks with a time, and a third one, spoken of last, that has none."""
    talk("Schedule a dinner on Friday at 7 pm.")
    talk("Schedule a rehearsal on Monday at 4 pm.")
    talk("Plan a trip to Rome.")
    return talk


def test_what_could_be_of_either_is_asked_and_nothing_is_changed(two: Any):
    before = two.state
    step = two("Change the time to 8 pm.")
    assert (
        step.asked == step.reply and "dinner" in step.asked and "rehearsal" in step.asked and step.asked.endswith(".")
    )
    assert step.edits == () and step.intents == ("update",) and two.state == before


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        ("the dinner", "dinner/time"),
        ("The dinner, please.", "dinner/time"),
        ("I meant the rehearsal.", "rehearsal/time"),
        ("No, the dinner one", "dinner/time"),
        ("of the rehearsal", "rehearsal/time"),
    ],
)
def test_an_answer_that_names_one_settles_it(two: Any, said: str, changed: str):
    before = two.state
    two("Change the time to 8 pm.")
    step = two(said)
    assert two.state == {**before, changed: "8 pm"}
    assert step.asked == "" and step.intents == ("update",) and "8 pm" in step.reply


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        ("Yes please", "rehearsal/time"),
        ("the first", "rehearsal/time"),
        ("the other one", "dinner/time"),
        ("the second one", "dinner/time"),
    ],
)
def test_yes_takes_the_first_and_the_other_one_takes_the_second(two: Any, said: str, changed: str):
    two("Change the time to 8 pm.")
    two(said)
    assert [path for path, value in two.state.items() if value == "8 pm"] == [changed]


def test_no_drops_what_was_asked_for_good(two: Any):
    before = two.state
    two("Change the time to 8 pm.")
    assert two("No.").asked == "" and two.state == before
    two("Yes.")
    assert two.state == before


def test_anything_else_is_a_turn_of_its_own_and_drops_the_question(two: Any):
    two("Change the time to 8 pm.")
    two("Add sunscreen and a hat to the trip.")
    assert {"sunscreen", "hat"} <= {word for value in two.state.values() for word in str(value).split("'")}
    before = two.state
    two("the dinner")
    assert two.state.get("dinner/time") == before["dinner/time"] == "7 pm"


def test_what_one_task_that_is_spoken_of_has_is_not_asked(two: Any):
    two("What time is the rehearsal?")
    step = two("Change the time to 8 pm.")
    assert step.asked == "" and two.state["rehearsal/time"] == "8 pm" and two.state["dinner/time"] == "7 pm"


def test_a_change_below_the_threshold_is_asked_and_made_once_it_is_agreed_to(talk: Any):
    talk("Schedule a dinner on Friday at 7 pm.")
    step = talk("Move the dinner to 9 pm.", ask_below=1.0)
    assert "9 pm" in step.asked and step.edits == () and talk.state["dinner/time"] == "7 pm"
    assert 0.0 < step.confidence < 1.0
    agreed = talk("Yes, that's right.", ask_below=1.0)
    assert agreed.confidence == 1.0 and agreed.edits and talk.state["dinner/time"] == "9 pm"
    talk("Undo that.")
    assert talk.state["dinner/time"] == "7 pm"


def test_an_undo_that_was_asked_about_takes_back_what_it_would_have(talk: Any):
    talk("Schedule a dinner on Friday at 7 pm.")
    talk("Move the dinner to 9 pm.")
    assert talk("Undo the last change.", ask_below=1.0).undoes is None
    step = talk("yes", ask_below=1.0)
    assert step.undoes == 2 and talk.state["dinner/time"] == "7 pm"


@pytest.mark.parametrize(
    "said", ["Thanks, that's lovely.", "Great.", "My sister lives in Leeds.", "Ok, thank you so much!"]
)
def test_small_talk_is_not_taken_for_a_change_that_was_not_read(talk: Any, said: str):
    talk("Schedule a dinner on Friday at 7 pm.")
    assert talk(said).asked == ""


def test_a_change_that_was_asked_for_and_not_read_is_asked_again_in_other_words(talk: Any):
    talk("Shopping list: milk, eggs and bread.")
    before = talk.state
    step = talk("Put the list back into its old order.")
    assert step.edits == () and "other words" in step.asked and talk.state == before
    assert talk("Yes.").edits == ()


def test_what_was_said_and_left_out_makes_a_step_less_sure(talk: Any):
    talk("Schedule a dinner on Friday at 7 pm.")
    sure = take("Move the dinner to 9 pm.", talk.forest, talk.parser, AT)
    stranger = take("The plumber comes at 9 pm.", talk.forest, talk.parser, AT)
    guessed = take("With the plumber and his brother it is 9 pm.", talk.forest, talk.parser, AT)
    assert sure.confidence > 0.5
    assert sure.confidence > guessed.confidence and sure.confidence >= stranger.confidence
    assert sure.signals["stranger"] == 0.0 and guessed.signals["stranger"] == 1.0


SAID = {
    "new": [
        "Plan a picnic on Sunday at noon.",
        "Add a lamp and a desk mat to my cart.",
        "I'd like to book a table for two.",
    ],
    "update": ["Move it to Tuesday.", "Drop the dinner.", "Make that 8 pm instead."],
    "check": ["When is the dinner?", "What have I got on my list?", "Who is coming?"],
    "chat": ["Thanks a lot, bye!", "I love my two dogs.", "That is so nice to hear."],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SAID.items() for text in texts])
def test_turns_are_told_apart_by_what_they_ask_for(talk: Any, kind: str, text: str):
    talk("Schedule a dinner on Friday at 7 pm.")
    clauses = read_clauses(text, talk.parser, AT)
    odds = likely(clauses, said_before="", known=known_words(talk.forest), empty=False)
    assert max(odds, key=odds.__getitem__) == kind
    assert sum(odds.values()) == pytest.approx(1.0) and tuple(odds) == CLASSES


def test_a_known_name_makes_a_statement_a_change(parser: Any):
    clauses = read_clauses("The zorbing is on Friday now.", parser, AT)
    told = {known: likely(clauses, said_before="", known=known, empty=False) for known in ((), ("zorbing",))}
    assert told[("zorbing",)]["update"] > told[()]["update"]


def test_every_intent_has_a_class():
    intents = (
        "new",
        "update",
        "remove",
        "replace",
        "rollback",
        "undo",
        "reset",
        "split",
        "merge",
        "check",
        "finalize",
        "chat",
    )
    assert {class_of(intent) for intent in intents} == set(CLASSES)
    assert class_of("finalize") == "check" and class_of("rollback") == "update"


def test_what_is_known_costs_what_was_changed_last_not_how_much_there_is():
    """Counted in calls, which do not depend on the machine."""

    def calls(tasks: int) -> int:
        forest = TaskForest()
        for number in range(tasks):
            editor = Editor(forest)
            editor.add(f"task {number}", kind=NodeKind.TASK)
            forest.apply(TaskCommit(number=forest.next_number, at=AT, edits=editor.edits()))
        known_words(forest)
        count = 0

        def called(frame: Any, event: str, arg: Any) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(called)
        try:
            known_words(forest)
        finally:
            sys.setprofile(None)
        return count

    assert calls(2000) <= calls(400) + 5
