"""Turns of a memory, as they were received."""

import pytest

from doxa.core.errors import InputError, NotFoundError


@pytest.fixture
def memory(doxa):
    for number in range(4):
        dialogue = doxa.dialogue(user="ana", session="odd" if number % 2 else "even")
        dialogue.absorb(f"Line {number}.", turn_id=f"t{number}")
    dialogue.flush()
    return doxa.memory(user="ana")


def texts(turns):
    return [turn.text for turn in turns]


def test_turns_come_in_the_order_in_which_they_were_received(memory):
    """All of them, those of a session, or those after one of them."""
    everything = memory.turns()
    assert texts(everything) == [f"Line {number}." for number in range(4)]
    assert texts(memory.turns(session="odd")) == ["Line 1.", "Line 3."]
    assert texts(memory.turns(after=everything[0].ordinal, limit=2)) == ["Line 1.", "Line 2."]
    assert memory.turns(session="none") == memory.turns(after=everything[-1].ordinal) == []
    with pytest.raises(InputError):
        memory.turns(limit=0)


def test_a_turn_is_found_by_its_id(memory):
    """As it was received; one that is not there is not found."""
    assert memory.turn("t2").text == "Line 2."
    with pytest.raises(NotFoundError, match="t9"):
        memory.turn("t9")


def test_turns_that_were_withdrawn_are_named_with_when_that_was(memory):
    """They are still listed; taking it back takes them from the list."""
    memory.withdraw(turn_id="t1")
    assert list(memory.withdrawn()) == ["t1"] and len(memory.turns()) == 3 and len(memory.turns(withdrawn=True)) == 4
    memory.undo()
    assert memory.withdrawn() == {}
