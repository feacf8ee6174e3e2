"""What is asked of the memory itself: overviews, agendas, and erasing that is offered, asked about once and done."""

from __future__ import annotations

import pytest

SAID = ("I live in Bonn.", "My phone number is 0171 3920047.", "I am flying to Rome on 14 March 2025.")


@pytest.fixture
def chat(doxa):
    """A dialogue in which a few things were said."""
    dialogue = doxa.dialogue(user="ana")
    for day, text in enumerate(SAID, start=1):
        dialogue.absorb(text, at=f"2025-03-0{day}", turn_id=f"t{day}")
    dialogue.flush()
    return dialogue


def test_an_overview_tells_what_is_believed_and_cites_it(chat) -> None:
    """To the one who asks, as "you"."""
    reply = chat.ask("What do you know about me?")
    assert "You live in Bonn." in reply.text
    assert reply.intents == ("overview",)
    assert {"t1", "t2"} <= {one.turn_id for one in reply.citations}
    assert "3 turns from 1 March 2025 to 3 March 2025" in chat.ask("What have I told you so far?").text


def test_an_overview_of_nothing_says_so(doxa) -> None:
    """An empty memory knows nobody."""
    assert doxa.dialogue(user="new").ask("What do you know about me?").text.startswith("Nothing yet")


def test_an_agenda_tells_what_is_on_in_the_days_that_are_named(chat) -> None:
    """Facts with their turn; a stretch without anything is told to be empty."""
    reply = chat.ask("What's on this month?", at="2025-03-05")
    assert "14 March 2025: You plan to travel to Rome" in reply.text
    assert [one.turn_id for one in reply.citations] == ["t3"]
    empty = chat.ask("What's on this week?", at="2025-03-05")
    assert empty.abstained
    assert empty.text == "I know of nothing from 5 March 2025 to 9 March 2025."


def test_an_agenda_quotes_what_was_said_of_a_day_and_not_understood(chat) -> None:
    """The words of the turn."""
    chat.absorb("ugh, 12 March, the usual poking", at="2025-03-04", turn_id="t4")
    chat.flush()
    text = chat.ask("what have I got on 12 March?", at="2025-03-05").text
    assert "12 March, the usual poking" in text


def test_what_is_to_be_remembered_is_read_as_a_statement(chat, doxa) -> None:
    """Though it is put as a question."""
    reply = chat.respond("Can you remember that I am allergic to walnuts?", at="2025-03-06")
    assert "allergic to walnuts" in reply.text
    assert any("walnut" in str(fact.object) for fact in doxa.memory(user="ana").facts())


def test_forgetting_is_offered_and_done_on_a_yes(chat, doxa) -> None:
    """What is only taken back is said to be so; what is erased is nowhere any more."""
    offered = chat.respond("Forget my phone number.", at="2025-03-06").text
    assert offered.startswith("Taken back: Your phone number is 0171 3920047. Your words are still kept.")
    assert "“My phone number is 0171 3920047.”" in offered
    done = chat.respond("yes please", at="2025-03-06").text
    assert done.startswith("Erased for good: 2 turns and 2 facts.")  # and the reply that repeated it, with what it said
    chat.flush()
    turns = [row.body for row in doxa.parts.log.rows("ana")]
    assert "3920047" not in str(turns)
    assert doxa.memory(user="ana").facts(relation="lives_in")


@pytest.mark.parametrize("answer", ["no, leave it", "I live in Köln now."])
def test_without_a_yes_nothing_is_erased(chat, doxa, answer: str) -> None:
    """Another matter ends the offer as well as a no does; a later yes erases nothing."""
    chat.respond("forget everything you know about me", at="2025-03-06")
    chat.respond(answer, at="2025-03-06")
    chat.respond("yes", at="2025-03-06")
    assert doxa.memory(user="ana").search("Bonn")


def test_everything_is_erased_on_a_yes(chat, doxa) -> None:
    """With a certificate that counts it."""
    offered = chat.respond("forget everything you know about me", at="2025-03-06").text
    assert offered.startswith("I would erase everything: 4 turns")
    assert chat.respond("yes", at="2025-03-06").text.startswith("Erased for good: ")
    assert not doxa.memory(user="ana").facts(current=False)


def test_an_offer_is_of_one_session_and_one_user(chat, doxa) -> None:
    """A yes elsewhere is a yes to something else."""
    chat.respond("forget everything you know about me", at="2025-03-06")
    doxa.dialogue(user="ana", session="other").respond("yes", at="2025-03-06")
    doxa.dialogue(user="ben").respond("yes", at="2025-03-06")
    assert doxa.memory(user="ana").search("Bonn")


def test_asking_alone_offers_nothing_to_erase(chat, doxa) -> None:
    """What is not remembered changes nothing."""
    chat.ask("forget everything you know about me")
    chat.respond("yes", at="2025-03-06")
    assert doxa.memory(user="ana").search("Bonn")
