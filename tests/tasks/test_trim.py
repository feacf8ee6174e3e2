"""Turns are told to the tasks: what they do to the forest, and what is said to them."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_meeting_with_its_people_is_moved_by_an_amount(talk: Any):
    talk("Schedule a budget review on Monday at 9 am with Ines, Omar and Paul.")
    assert talk.state == {
        "budget review/day": "Monday",
        "budget review/time": "9 am",
        "budget review/participants": ["Ines", "Omar", "Paul"],
    }
    assert talk("Could you make it two hours later?").intents == ("update",)
    assert talk.state["budget review/time"] == "11 am"


def test_what_is_taken_out_comes_back_by_undo_and_by_what_is_kept(talk: Any):
    talk("Cart: phone cover, lamp and a desk mat.")
    talk("Remove the phone cover and the lamp.")
    assert talk.state["Cart"] == ["desk mat"]
    talk("Undo that.")
    assert set(talk.state["Cart"]) == {"phone cover", "lamp", "desk mat"}
    talk("Reset it to just the lamp and the desk mat.")
    assert talk.state["Cart"] == ["lamp", "desk mat"]


def test_one_thing_takes_the_place_of_another(talk: Any):
    talk("Quiche: eggs, onions, cream and cheese.")
    talk("Replace the onions with leeks.")
    assert talk.state["Quiche"] == ["eggs", "leeks", "cream", "cheese"]
    talk("Soy cream instead of cream.")
    assert talk.state["Quiche"] == ["eggs", "leeks", "Soy cream", "cheese"]


def test_what_a_slot_was_is_told_where_the_past_is_asked_for(talk: Any):
    talk("Schedule a dinner on Friday at 7 pm.")
    talk("Move the dinner to 9 pm.")
    reply = talk("Why is the dinner time not 7 pm?").reply
    assert "9 pm" in reply and "7 pm before" in reply and "Move the dinner to 9 pm" in reply


def test_values_that_follow_a_rule_move_with_what_they_follow(talk: Any):
    talk("Kitchen job: plastering on Monday, then painting.")
    talk("Painting can only start two days after the plastering.")
    assert "Wednesday" in str(talk.state)
    talk("Plastering slips to Tuesday.")
    assert "Thursday" in str(talk.state)
    reply = talk("Why did the painting move?").reply
    assert "plastering" in reply.lower()


def test_a_condition_is_no_part_of_the_tasks_until_it_is_settled(talk: Any):
    talk("Plan for the finals: week 1 algebra, week 2 geometry.")
    before = talk.state
    talk("If the algebra test goes badly, add an extra session in week 2.")
    assert talk.state == before
    talk("The test went fine.")
    assert talk.state == before


QUESTIONS = [
    "What's in the salad at the moment?",
    "Wasn't there feta in the salad?",
    "Did I ever say to leave out the olives?",
    "Why does the salad have olives?",
    "What happens if I drop the olives?",
    "Can you list everything in the salad?",
    "I thought it was on Sunday?",
    "I never said peppers, right?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_change_nothing(talk: Any, question: str):
    talk("I'm making salad on Saturday: tomatoes, olives and cucumber.")
    before = talk.state
    step = talk(question)
    assert not step.edits
    assert talk.state == before
    assert set(step.intents) <= {"check", "finalize", "chat"}


def test_what_no_frame_reads_changes_nothing_and_says_so(talk: Any):
    step = talk("Thanks, perfect.")
    assert not step.edits
    assert step.intents == ("chat",)
