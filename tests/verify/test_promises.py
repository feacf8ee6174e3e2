"""What the agent undertook and said before, against what it says now."""

import pytest

from doxa import Doxa
from doxa.core.config import Config, GraderConfig

PLAIN = Config(grader=GraderConfig(name="none"))
"""Logic, wording and the NLI model alone."""

TOLD = [
    ("Assistant", "The museum opens at 9:00 on Sundays."),
    ("Ana", "Great. Please remind me of the museum."),
    ("Assistant", "I'll remind you about the museum tickets on Friday."),
    ("Ana", "And don't mention my divorce again, please."),
    ("Assistant", "Of course, I won't mention your divorce again."),
]


@pytest.fixture(scope="module")
def memory():
    """Tuesday, 4 March 2025."""
    with Doxa.open(":memory:", config=PLAIN) as doxa:
        dialogue = doxa.dialogue(user="ana", speaker="Ana", agent="Assistant")
        for speaker, text in TOLD:
            role = "assistant" if speaker == "Assistant" else "user"
            dialogue.absorb(text, speaker=speaker, role=role, at="2025-03-04")
        dialogue.flush()
        yield doxa.memory(user="ana")


@pytest.mark.parametrize(
    ("reply", "by"),
    [
        ("How are you coping since the divorce?", "promise"),
        ("I never said that I would remind you about the museum tickets.", "promise"),
        ("I'll remind you about the museum tickets on Monday.", "promise"),
        ("The museum opens at 11:00 on Sundays.", "history"),
    ],
)
def test_the_agent_is_held_to_its_word(memory, reply, by):
    found = memory.check(reply, agent="Assistant")
    assert found.label == "contradicted"
    assert [one.by for one in found.sentences] == [by] and "4 March 2025" in found.reason


@pytest.mark.parametrize(
    "reply",
    [
        "I'll remind you about the museum tickets on Friday.",
        "The museum opens at nine on Sundays.",
        "I won't mention your divorce.",
    ],
)
def test_what_agrees_with_its_word_is_no_contradiction(memory, reply):
    assert memory.check(reply, agent="Assistant").label != "contradicted"


def test_what_was_promised_for_today_and_is_not_done_is_due():
    """Until a reply speaks of it."""
    with Doxa.open(":memory:", config=PLAIN) as doxa:
        dialogue = doxa.dialogue(user="ana", speaker="Ana", agent="Assistant")
        dialogue.absorb("I'll remind you about the museum tickets on Friday.", role="assistant", at="2025-03-04")
        dialogue.absorb("Good morning!", at="2025-03-07")
        dialogue.flush()
        memory = doxa.memory(user="ana")
        assert len(memory.check("Good morning, Ana!", agent="Assistant").due) == 1
        assert memory.check("Good morning! Do not forget the museum tickets.", agent="Assistant").due == ()
