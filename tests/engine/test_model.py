"""With a language model: it writes, memory decides, and nothing is lost when it fails."""

import json

import pytest

from doxa.backends.llm import Completion, Usage
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, LLMConfig
from doxa.core.errors import BackendReplyError, BackendUnavailableError
from doxa.engine import Doxa

GOOD = {"answer": "You live in Lisbon.", "value": "Lisbon", "citations": ["t1"], "abstained": False}
REFUSAL = Completion(text="", parsed=None, refused=True, truncated=False, usage=Usage(calls=1), seconds=0.0)


def told(config, *replies):
    """Return an engine whose model says these things, with one fact in memory, and the model."""
    settings = config.model_copy(update={"llm": LLMConfig(name="scripted")}).with_profile("writer")
    doxa = Doxa.open(":memory:", config=settings)
    model = ScriptedModel(replies)
    doxa.parts.opened.model = model
    chat = doxa.dialogue(user="ana", session="s")
    chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
    chat.flush()
    return doxa, chat, model


def test_the_model_writes_over_facts_and_evidence(config):
    """It sees the fact and the turn, and says which turn it used."""
    doxa, chat, model = told(config, json.dumps(GOOD))
    with doxa:
        reply = chat.ask("Where do I live?")
    assert (reply.text, reply.value) == ("You live in Lisbon.", "Lisbon")
    assert [citation.turn_id for citation in reply.citations] == ["t1"]
    prompt = model.requests[0].messages[1].content
    assert "Ana lives in Lisbon" in prompt and "[t1]" in prompt
    write = next(step for step in reply.trace.steps if step.name == "write")
    assert write.detail["calls"] == 1 and not reply.trace.degraded


@pytest.mark.parametrize(
    "failure",
    [BackendUnavailableError("it is down"), BackendReplyError("prose", reply="Well..."), REFUSAL],
    ids=["down", "unusable", "refused"],
)
def test_when_the_model_fails_the_built_in_writer_answers(config, failure):
    """The user still gets the answer from memory, and the trace says why it is the plain one."""
    doxa, chat, _ = told(config, failure)
    with doxa:
        reply = chat.respond("Where do I live?", turn_id="t2")
        chat.flush()
        assert reply.value == "Lisbon"
        assert any("language model" in reason for reason in reply.trace.degraded)
        assert doxa.memory(user="ana").stats()["turns"] == 3


def test_a_contradiction_of_memory_is_noticed(config):
    """What the model says is compared with what is held, when it mixes up what it was shown."""
    wrong = GOOD | {"answer": "Ana lives in Porto.", "value": "Porto", "citations": []}
    doxa, chat, _ = told(config, json.dumps(wrong))
    with doxa:
        chat.absorb("My sister Eva lives in Porto.", at="2024-01-02", turn_id="t0")
        chat.flush()
        verdict = chat.ask("Where do I live?").verdict
    assert verdict.label == "contradicted" and "Lisbon" in verdict.reason


def test_citations_are_checked_to_exist(config):
    """An id that nobody gave it is left out, and the trace says so."""
    doxa, chat, _ = told(config, json.dumps(GOOD | {"citations": ["t1", "t99"]}))
    with doxa:
        reply = chat.ask("Where do I live?")
    assert reply.text == "You live in Lisbon." and [citation.turn_id for citation in reply.citations] == ["t1"]
    assert any("t99" in reason for reason in reply.trace.degraded)


def test_what_the_model_says_is_not_learned(config):
    """A reply is kept as context; it is no source of facts and no evidence."""
    wrong = GOOD | {"answer": "Ana lives in Porto.", "value": "Porto", "citations": []}
    doxa, chat, _ = told(config, json.dumps(wrong))
    with doxa:
        chat.respond("Where do I live?", turn_id="t2")
        chat.flush()
        memory = doxa.memory(user="ana")
        assert [str(fact.object) for fact in memory.facts(current=False)] == ["Lisbon"]
        assert not any("Porto" in item.text for item in memory.search("Porto"))


def test_the_prompt_keeps_to_its_budget(config):
    """A long history does not make a long prompt."""
    doxa, chat, model = told(config, json.dumps(GOOD))
    with doxa:
        for n in range(60):
            chat.absorb(f"I went to the lake in Lisbon with friend number {n} and it was lovely. " * 5, turn_id=f"x{n}")
        chat.flush()
        chat.ask("Where do I live, near the lake?")
        budget = doxa.parts.config.llm.context_tokens
        memory = model.requests[0].messages[1].content.partition("Facts:")[2]
        assert model.count_tokens(memory) <= budget * 1.05


@pytest.fixture
def server(chat_server):
    """A chat server that writes the same answer, until it is told to fail."""
    return chat_server(json.dumps(GOOD), tokens=(10, 5))


def test_a_server_named_in_the_environment_writes_the_answer(server):
    """DOXA_LLM and DOXA_LLM_BASE_URL are all it takes beside the profile; when the server fails, memory answers."""
    environ = {
        "DOXA_PROFILE": "writer",
        "DOXA_LLM": "openai:tiny",
        "DOXA_LLM_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
        "DOXA_LLM_MAX_RETRIES": "0",
        "DOXA_ENCODER": "hash",
    }
    with Doxa.open(":memory:", config=Config.load(environ=environ)) as doxa:
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
        chat.flush()
        assert chat.ask("Where do I live?").text == "You live in Lisbon."
        assert server.requests[0]["model"] == "tiny"
        server.failing = True
        reply = chat.ask("Where do I live?")
        assert reply.value == "Lisbon" and reply.trace.degraded
