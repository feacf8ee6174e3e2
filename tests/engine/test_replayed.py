"""What is kept of how an answer came to be, for a replay of it, and what of that goes when something is erased."""

import json

import pytest

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import LLMConfig
from doxa.core.errors import BackendUnavailableError
from doxa.engine import Doxa

GOOD = {"answer": "You live in Lisbon.", "value": "Lisbon", "citations": ["t1"], "abstained": False}


def details(reply, name):
    """Return what a step of a reply says of itself."""
    return next(step.detail for step in reply.trace.steps if step.name == name)


@pytest.fixture
def written(config, tmp_path):
    """A function that opens a memory whose language model says some things; Ana lives in Lisbon and has a sister."""
    engines = []

    def opening(*replies):
        settings = config.model_copy(update={"llm": LLMConfig(name="scripted")}).with_profile("writer")
        doxa = Doxa.open(tmp_path / "memory.db", config=settings)
        engines.append(doxa)
        model = doxa.parts.opened.model = ScriptedModel(replies)
        chat = doxa.dialogue(user="ana", session="s")
        chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
        chat.absorb("My sister is called Zuleika.", at="2024-01-02", turn_id="t2")
        chat.flush()
        return doxa, chat, model

    yield opening
    for engine in engines:
        engine.close()


def test_the_search_tells_who_proposed_what_and_what_became_evidence(doxa):
    chat = doxa.dialogue(user="ana")
    chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
    chat.flush()
    (row,) = details(chat.ask("Where do I live?"), "recall")["ranked"]
    assert row["turn"] == "t1" and row["found"]
    assert row["views"]["lexical"][0] == 1
    assert row["facts"] == [fact.fact_id for fact in doxa.memory(user="ana").facts()]


def test_what_was_read_is_told_with_how_likely_it_answers(doxa):
    chat = doxa.dialogue(user="ana")
    chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
    chat.flush()
    read = details(chat.ask("Where do I live?"), "reason")["read"]
    assert read["by"] == doxa.parts.reader.name
    assert 0 < read["turns"]["t1"] <= 1


def test_the_turn_that_asks_is_no_candidate(doxa):
    chat = doxa.dialogue(user="ana")
    chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
    reply = chat.respond("Where do I live?", turn_id="t2", at="2024-01-02")
    assert [row["turn"] for row in details(reply, "recall")["ranked"]] == ["t1"]


def test_the_check_tells_of_each_sentence_what_decided_it(doxa):
    chat = doxa.dialogue(user="ana")
    chat.absorb("I live in Lisbon.", at="2024-01-01", turn_id="t1")
    chat.flush()
    reply = chat.ask("Where do I live?")
    (sentence,) = details(reply, "verify")["verdicts"]
    (fact,) = doxa.memory(user="ana").facts()
    assert (sentence["text"], sentence["label"], sentence["by"]) == (reply.text, "supported", "logic")
    assert sentence["because"] == [fact.fact_id]


def test_the_prompt_is_kept_word_for_word_with_its_tokens(written):
    doxa, chat, model = written(json.dumps(GOOD))
    reply = chat.ask("Where do I live?")
    kept = doxa.memory(user="ana").why_answered(reply.answer_id).answer.trace
    sent = next(step["detail"]["sent"] for step in kept["steps"] if step["name"] == "write")
    system, user = (message.content for message in model.requests[0].messages)
    (call,) = sent["calls"]
    assert sent["system"] == system
    assert f"{sent['message']}\n\nYour part:\n{call['part']}" == user
    assert sent["message_tokens"] == model.count_tokens(sent["message"])
    assert json.loads(call["reply"]) == GOOD
    assert call["prompt_tokens"] == details(reply, "write")["prompt_tokens"]


def test_a_call_that_failed_says_why_and_what_came(written):
    _, chat, _ = written("No object at all.", "Nor here.")
    (call,) = details(chat.ask("Where do I live?"), "write")["sent"]["calls"]
    assert call["reply"] == "Nor here."
    assert call["failed"]


def test_a_model_that_is_away_leaves_the_prompt_without_a_reply(written):
    _, chat, _ = written(BackendUnavailableError("it is down"))
    (call,) = details(chat.ask("Where do I live?"), "write")["sent"]["calls"]
    assert "reply" not in call and "it is down" in call["failed"]


def test_prompts_go_when_anything_is_erased_and_the_answers_stay(written, tmp_path):
    """A prompt is told what somebody is like and of tasks, and nobody knows which turns said it."""
    doxa, chat, _ = written(json.dumps(GOOD), json.dumps(GOOD))
    memory = doxa.memory(user="ana")
    first, second = chat.ask("Where do I live?", said=[]), chat.ask("Where is my home?", said=[])
    memory.answers()
    chat.absorb("I like Kandinsky.", at="2024-01-03", turn_id="t3")
    chat.flush()
    memory.forget(turn_id="t3")
    kept = memory.answers()
    assert [one.answer.answer_id for one in kept] == [first.answer_id, second.answer_id]
    assert not any("sent" in step["detail"] for one in kept for step in one.answer.trace["steps"])
    assert kept[0].answer.text == "You live in Lisbon."


def test_an_answer_that_ranked_what_is_erased_goes_with_it(written, tmp_path):
    doxa, chat, _ = written(json.dumps(GOOD))
    memory = doxa.memory(user="ana")
    chat.ask("Where do I live?", said=[])
    memory.answers()
    memory.forget(turn_id="t2")
    assert memory.answers() == []
    assert b"Zuleika" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_a_prompt_that_waits_while_another_process_erases_is_not_stored(written, tmp_path, config):
    doxa, chat, _ = written(json.dumps(GOOD))
    reply = chat.ask("Where do I live?", said=[])
    chat.absorb("I like Kandinsky.", at="2024-01-03", turn_id="t3")
    chat.flush()
    with Doxa.open(tmp_path / "memory.db", config=config) as other:
        other.memory(user="ana").forget(turn_id="t3")
    kept = doxa.memory(user="ana").why_answered(reply.answer_id)
    assert kept.answer.text == reply.text
    assert not any("sent" in step["detail"] for step in kept.answer.trace["steps"])
