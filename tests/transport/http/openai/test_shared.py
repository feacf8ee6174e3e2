"""Through the proxy: a model is told of a shared memory, and what it then says is copied into no memory."""

import pytest

from doxa.core.config import MemoryConfig

HANDBOOK = "acme-handbook"
HOURS = {"role": "user", "content": "When does the Lisbon office open?"}


@pytest.fixture
def shared(front, monkeypatch):
    """A handbook that everybody reads."""
    config = front.doxa.parts.config.model_copy(update={"memory": MemoryConfig(shared=(HANDBOOK,))})
    monkeypatch.setattr(front.doxa.parts, "config", config)
    front.doxa.dialogue(user=HANDBOOK, speaker="Handbook").absorb("The Lisbon office opens at nine.", turn_id="hours")
    front.settle(HANDBOOK)
    yield front
    front.doxa.memory(user=HANDBOOK).forget(everything=True)


@pytest.mark.parametrize("told", [True, False])
def test_what_a_model_says_that_was_told_of_it_is_not_remembered(shared, engine, upstream, front_of, played, told):
    """The search of a message finds it, with time enough for the same message: then the reply stays out."""
    upstream.play = lambda sent: played.reply(played.chat("At nine."))
    asked = HOURS if told else {"role": "user", "content": "Zebras?"}
    with front_of(engine, upstream, recall_ms=5000) as front:
        front.client().chat.completions.create(model="m", messages=[asked])
        assert ("The Lisbon office opens at nine." in upstream.sent[-1].body.decode()) == told
    assert front.turns()[:1] == [("user", front.name, asked["content"])]  # the server has ended, with all it had to do
    assert [text for _, _, text in front.turns()][1:] == ([] if told else ["At nine."])
