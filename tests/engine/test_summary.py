"""The belief state in words: what is believed and bears on a query, within a budget."""

import json

import pytest

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import LLMConfig
from doxa.core.errors import InputError
from doxa.core.tokens import estimate_tokens
from doxa.engine import Doxa

TURNS = (
    ("Ana", "I live in Paris.", "2024-01-10"),
    ("Ana", "I like tea. I like coffee.", "2024-01-11"),
    ("Ana", "My sister is called Mia.", "2024-01-12"),
    ("Ana", "I moved to Berlin yesterday.", "2024-06-02"),
    ("Ana", "If it snows on a Sunday, I take the tram.", "2024-06-03"),
)
DISPUTE = (
    ("Hana", "The workshop is in room 4.", "2024-09-02"),
    ("Jiro", "The workshop is in room 6.", "2024-09-02"),
)


@pytest.fixture
def told(doxa):
    """Returns a memory to which these turns were said."""

    def tell(turns, user="ana"):
        chat = doxa.dialogue(user=user, speaker=turns[0][0])
        for place, (speaker, text, day) in enumerate(turns, start=1):
            chat.absorb(text, speaker=speaker, at=day, turn_id=f"t{place}")
        chat.flush()
        return doxa.memory(user=user)

    return tell


def test_everything_is_said_subject_by_subject(told):
    """Objects of one relation share a clause, and the subject is named once a sentence."""
    lines = told(TURNS).summary().splitlines()
    assert lines[0].startswith("Ana lives in Berlin since 1 June 2024; likes coffee and tea.")
    assert "Ana's sister is Mia." in lines[0]
    assert lines[-1] == "Rules: Ana: “If it snows on a Sunday, I take the tram”."


def test_what_was_displaced_or_retracted_is_not_mentioned(told):
    """Unless history is asked for."""
    memory = told(TURNS)
    memory.withdraw(turn_id="t2", reason="it was a joke")
    assert "Paris" not in memory.summary() and "tea" not in memory.summary()
    history = memory.summary(history=True)
    assert "Earlier: Ana lived in Paris until 1 June 2024." in history
    assert "No longer believed: " in history and "tea" in history and "(it was a joke)" in history


def test_sources_that_disagree_are_named(told):
    """Neither value is said as certain."""
    text = told(DISPUTE).summary()
    assert "Sources disagree: workshop is in room 6 (Jiro) or room 4 (Hana)." in text
    assert text.count("room") == 2


def test_a_query_leaves_out_what_does_not_bear_on_it(told):
    """The words of the query, or the turns that are found for it, lead to facts."""
    memory = told((*TURNS, ("Ana", "My bike is red.", "2024-06-04")))
    text = memory.summary("Which colour is the bike?", max_tokens=15)
    assert "red" in text and "Berlin" not in text
    assert "tram" not in memory.summary("the bike") and "tram" in memory.summary("when it snows")


@pytest.mark.parametrize("budget", [1, 8, 20, 40, 80, 400])
def test_the_budget_is_kept(told, budget):
    memory = told(TURNS)
    text = memory.summary(max_tokens=budget, history=True)
    assert estimate_tokens(text) <= budget
    assert len(text) <= len(memory.summary(history=True))


def test_an_empty_memory_has_an_empty_summary(doxa):
    assert doxa.memory(user="ana").summary() == ""


@pytest.mark.parametrize("wrong", [{"query": " "}, {"max_tokens": 0}], ids=str)
def test_what_cannot_be_meant_is_an_error(doxa, wrong):
    with pytest.raises(InputError, match="summary"):
        doxa.memory(user="ana").summary(**wrong)


def test_the_model_is_told_what_is_believed_now(config):
    """With turns to cite and rules that bear on the question; what was displaced stands apart, as what was earlier."""
    good = {"answer": "In Berlin.", "value": "Berlin", "citations": ["t4"], "abstained": False}
    with Doxa.open(
        ":memory:", config=config.model_copy(update={"llm": LLMConfig(name="scripted")}).with_profile("writer")
    ) as doxa:
        model = doxa.parts.opened.model = ScriptedModel([json.dumps(good)])
        chat = doxa.dialogue(user="ana", speaker="Ana")
        for place, (_, text, day) in enumerate(TURNS, start=1):
            chat.absorb(text, at=day, turn_id=f"t{place}")
        chat.flush()
        assert chat.ask("Where do I live when it snows?").value == "Berlin"
    facts = model.requests[0].messages[1].content.partition("Facts:")[2].partition("Turns:")[0]
    now, _, earlier = facts.partition("Earlier:")
    assert "Ana lives in Berlin since 1 June 2024 [t4]" in now and "Paris" not in now
    assert "If it snows on a Sunday, I take the tram” [t5]" in now
    assert earlier.strip() == "Ana lived in Paris until 1 June 2024 [t1]."
