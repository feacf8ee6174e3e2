"""What the agent said before is held against its reply by logic, and is no evidence for it."""

from datetime import UTC, datetime

import pytest

from doxa.core.config import Config, EncoderConfig, GraderConfig, NliConfig
from doxa.core.values import Status
from doxa.engine import Doxa

PLAIN = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), nli=NliConfig(name="none"))


@pytest.fixture
def doxa():
    with Doxa.open(":memory:", config=PLAIN) as engine:
        yield engine


def said_by_doxa(doxa, text, *, after="What about Eva?"):
    """Let a reply with this text be in the memory, as `respond` keeps it."""
    chat = doxa.dialogue(user="ana", session="s", speaker="Ana", agent="Bot")
    chat.absorb(after)
    parts = doxa.parts
    with parts.log.user("ana") as state:
        at = max(state.now(), datetime(2024, 1, 1, tzinfo=UTC))
    chat.absorb(text, role="assistant", speaker="Bot", at=at)
    chat.flush()


def test_a_reply_that_contradicts_an_earlier_one_is_found(doxa):
    """Nobody else has said anything of it."""
    said_by_doxa(doxa, "Eva lives in Graz.")
    memory = doxa.memory(user="ana")
    found = memory.check("Eva lives in Linz.", agent="Bot", speaker="Ana")
    assert found.label == "contradicted" and found.sentences[0].by == "history"
    assert memory.check("Eva lives in Graz.", agent="Bot", speaker="Ana").label != "supported"


def test_the_word_of_the_user_counts_alone(doxa):
    """Once the user has said it, what the agent said before is nothing."""
    said_by_doxa(doxa, "Eva lives in Graz.")
    doxa.dialogue(user="ana", session="s", speaker="Ana").absorb("Eva lives in Linz.")
    doxa.flush()
    memory = doxa.memory(user="ana")
    assert memory.check("Eva lives in Linz.", agent="Bot", speaker="Ana").label == "supported"
    assert memory.check("Eva lives in Graz.", agent="Bot", speaker="Ana").label == "contradicted"
    assert [str(fact.object) for fact in memory.facts()] == ["Linz"]


def test_a_reply_of_doxa_is_read_and_not_believed(doxa):
    """It repeats what is known without becoming a source of it."""
    chat = doxa.dialogue(user="ana", session="s", speaker="Ana", agent="Bot")
    chat.absorb("I live in Bonn.", turn_id="t1")
    chat.respond("Where do I live?", turn_id="t2")
    chat.flush()
    facts = doxa.memory(user="ana").facts(current=False)
    assert [(str(fact.object), fact.turn_ids) for fact in facts] == [("Bonn", ("t1",))]
    assert not any(fact.status is Status.QUARANTINED for fact in facts)
