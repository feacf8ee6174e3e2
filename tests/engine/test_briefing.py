"""What a language model is told of a message beside what search finds: what comes first, what last, what never."""

import json
from itertools import pairwise, repeat

import pytest

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import LLMConfig
from doxa.engine import Doxa

PLAIN = json.dumps({"answer": "I see.", "value": None, "citations": [], "abstained": False})


@pytest.fixture
def open_(config):
    """Return an engine whose writer always says the same, and the requests that it gets."""
    opened = []

    def start():
        doxa = Doxa.open(
            ":memory:", config=config.model_copy(update={"llm": LLMConfig(name="scripted")}).with_profile("writer")
        )
        model = ScriptedModel(repeat(PLAIN))
        doxa.parts.opened.model = model
        opened.append(doxa)
        return doxa, model.requests

    yield start
    for doxa in opened:
        doxa.close()


def sent(request):
    """Return a request as one text."""
    return "\n".join(message.content for message in request.messages)


def part(request, head):
    """Return what stands under a head."""
    return request.messages[1].content.partition(f"\n{head}\n")[2].partition("\n\n")[0]


def test_prompts_of_a_session_begin_alike(open_):
    """Over six turns each prompt begins with the whole dialogue of the one before; the system message never changes."""
    doxa, requests = open_()
    chat = doxa.dialogue(user="ana", session="s", speaker="Ana")
    for text in (
        "I live in Lisbon.",
        "I have a dog.",
        "My dog is Rex.",
        "I like tea.",
        "I moved to Porto.",
        "It rains.",
    ):
        chat.respond(text)
        chat.flush()
    assert len({request.messages[0].content for request in requests}) == 1 and len(requests) == 6
    dialogues = [sent(request).partition("\n\nToday is")[0] for request in requests]
    for before, after in pairwise(dialogues):
        assert len(before) < len(after) and after.startswith(before)


def test_the_dialogue_is_cut_now_and_then_and_not_with_every_turn(open_):
    """It starts anew where it has twice its length, and stays there for as many turns."""
    doxa, requests = open_()
    chat = doxa.dialogue(user="ana", session="s", speaker="Ana")
    for number in range(8):
        chat.respond(f"This is number {number}.")
        chat.flush()
    firsts = [request.messages[1].content.splitlines()[1:2] for request in requests[1:]]
    assert len({tuple(first) for first in firsts}) == 2


def test_what_the_asker_is_like_is_told(open_):
    """A taste that was lifted from several turns reaches a question that does not name it."""
    doxa, requests = open_()
    films = ("I love romantic films.", "I really enjoyed that romantic comedy.", "I adore a good romance movie.")
    for place, text in enumerate(films):
        doxa.dialogue(user="ana", session=f"s{place}", speaker="Ana").absorb(text, at=f"2024-0{place + 1}-10")
        doxa.flush()
    doxa.dialogue(user="ana", session="now", speaker="Ana").respond("What should I watch tonight?", at="2024-06-01")
    assert "- Ana prefers romantic films" in requests[-1].messages[0].content


def test_what_a_message_did_is_told_and_nothing_more(open_):
    """What was stored, what is over, and that nothing was."""
    doxa, requests = open_()
    chat = doxa.dialogue(user="ana", session="s", speaker="Ana")
    head = "What the last message did to the memory:"
    for text in ("I live in Lisbon.", "I moved to Porto.", "Hm."):
        chat.flush()
        chat.respond(text)
    assert "Stored: Ana lives in Lisbon" in part(requests[0], head)
    assert "Stored: Ana lives in Porto" in part(requests[1], head)
    assert "No longer so: Ana lived in Lisbon" in part(requests[1], head)
    assert part(requests[2], head) == "- Nothing of the last message was stored."


def test_earlier_values_are_marked_and_turns_are_dated_in_order(open_):
    """What came after what can be seen."""
    doxa, requests = open_()
    old = doxa.dialogue(user="ana", session="old", speaker="Ana")
    old.absorb("I live in Lisbon.", at="2023-01-01", turn_id="t1")
    old.absorb("I live in Porto now.", at="2023-05-01", turn_id="t2")
    old.absorb("I love living in Porto.", at="2023-04-01", turn_id="t3")
    doxa.flush()
    doxa.dialogue(user="ana", session="new", speaker="Ana").ask("Where do I live?")
    facts, turns = part(requests[0], "Facts:"), part(requests[0], "Turns:").splitlines()
    assert "Ana lives in Porto" in facts.split("Earlier:")[0] and "Lisbon" in facts.split("Earlier:")[1]
    assert turns == ["[t3] 2023-04-01 Ana: I love living in Porto.", "[t2] 2023-05-01 Ana: I live in Porto now."]


def test_what_was_taken_back_or_erased_never_appears(open_):
    """Neither its turn, nor its fact, nor what the message that takes it back did to it."""
    doxa, requests = open_()
    old = doxa.dialogue(user="ana", session="old", speaker="Ana")
    old.absorb("I live in Lisbon.", turn_id="t1")
    old.absorb("I work at Siemens.", turn_id="t2")
    doxa.flush()
    memory = doxa.memory(user="ana")
    memory.withdraw(turn_id="t1")
    memory.forget(turn_id="t2")
    doxa.dialogue(user="ana", session="new", speaker="Ana").ask("Where do I live and work?")
    assert "Lisbon" not in sent(requests[0]) and "Siemens" not in sent(requests[0])


def test_open_tasks_that_bear_on_a_message_are_told(open_):
    """The part of the forest that the message needs."""
    doxa, requests = open_()
    doxa.tasks(user="ana").tell("Plan a team meeting on Thursday at 2 PM with Bob and Carol.")
    doxa.dialogue(user="ana", session="s", speaker="Ana").ask("Who else knows about the meeting at the office in Graz?")
    assert "team meeting" in part(requests[-1], "Tasks:") and "Carol" in part(requests[-1], "Tasks:")


def test_what_the_agent_said_itself_is_told_apart_from_facts(open_):
    """It is no fact; once somebody else has spoken of it, it is not told."""
    doxa, requests = open_()
    chat = doxa.dialogue(user="ana", session="s", speaker="Ana", agent="Bot")
    chat.absorb("Eva lives in Graz.", role="assistant", speaker="Bot")
    chat.flush()
    head = "What you said yourself before:"
    chat.ask("Where does Eva live?")
    assert part(requests[-1], head) == "- Eva lives in Graz." and "Graz" not in part(requests[-1], "Facts:")
    chat.absorb("Eva lives in Linz.")
    chat.flush()
    chat.ask("Where does Eva live?")
    assert "Linz" in part(requests[-1], "Facts:") and "Linz" not in part(requests[-1], head)


def test_the_end_of_a_long_turn_is_shown_where_it_bears_on_the_question(open_):
    """The dialogue shows how it begins; search finds the rest."""
    doxa, requests = open_()
    chat = doxa.dialogue(user="ana", session="s", speaker="Ana")
    chat.absorb("We talked about the garden and the weather for a while. " * 20 + "The door code is 4711.")
    chat.flush()
    chat.ask("What is the door code?")
    assert "4711" in part(requests[-1], "Turns:")


def test_of_an_earlier_time_nothing_is_told_that_is_only_known_now(open_):
    """Neither tasks nor tastes nor what was said since."""
    doxa, requests = open_()
    chat = doxa.dialogue(user="ana", session="s", speaker="Ana")
    chat.absorb("I live in Lisbon.", at="2024-01-01")
    chat.absorb("I moved to Porto.", at="2024-05-01")
    doxa.flush()
    doxa.tasks(user="ana").tell("Plan a team meeting in Lisbon on Thursday.")
    chat.ask("Where do I live?", known_at="2024-03-01")
    assert "Porto" not in sent(requests[-1]) and "Tasks:" not in sent(requests[-1])
