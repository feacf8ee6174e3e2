"""What cannot all be true while nothing says which is: listed with the question that settles it."""

from doxa import Doxa
from doxa.core.config import Config


def test_equal_sources_that_disagree_are_a_dispute_until_somebody_decides():
    """Two speakers name two rooms; the question names both, and the next word settles it."""
    with Doxa.open(":memory:") as doxa:
        chat = doxa.dialogue(user="club", speaker="Hana")
        chat.absorb("The workshop is in room 4.", at="2024-09-02")
        chat.absorb("The workshop is in room 6.", speaker="Jiro", at="2024-09-02")
        chat.flush()
        memory = doxa.memory(user="club")
        (dispute,) = memory.disputes()
        assert "room 4" in dispute.question and "Jiro" in dispute.question and len(dispute.facts) == 2
        chat.absorb("I checked: the workshop is in room 6.", at="2024-09-03")
        chat.flush()
        assert memory.disputes() == []


def test_the_policy_ask_returns_the_question_to_put():
    """Under `ask` even a change of one's own mind is a question, and the reply puts it."""
    config = Config.from_tree({"revise": {"policy": "ask"}})
    with Doxa.open(":memory:", config=config) as doxa:
        chat = doxa.dialogue(user="ana", speaker="Ana")
        chat.absorb("I live in Bonn.", at="2024-01-05")
        reply = chat.respond("I live in Graz.", at="2024-01-09")
        assert "Which is right" in reply.text and "Bonn" in reply.text and "Graz" in reply.text
        assert len(doxa.memory(user="ana").disputes()) == 1
