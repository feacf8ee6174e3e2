"""Answers are kept with what they rest on, flagged when that is revised, and go with what is erased."""

import pytest

from doxa.core.config import Config, EncoderConfig, EngineConfig
from doxa.core.errors import NotFoundError
from doxa.engine import Doxa


@pytest.fixture
def dialogue(doxa):
    """Ana, who lives in Berlin."""
    ana = doxa.dialogue(user="ana")
    ana.absorb("I live in Berlin.", at="2024-01-05", turn_id="t1")
    ana.absorb("My sister is called Mia.", at="2024-01-06", turn_id="t2")
    ana.flush()
    return ana


def test_an_answer_is_kept_with_its_trace(doxa, dialogue):
    reply = dialogue.ask("Where do I live?")
    found = doxa.memory(user="ana").why_answered(reply.answer_id)
    assert found.answer.value == "Berlin"
    assert [citation.turn_id for citation in found.answer.citations] == ["t1"]
    assert {step["name"] for step in found.answer.trace["steps"]} >= {"recall", "reason", "verify"}
    assert not found.stale
    assert "I live in Berlin." in found.text


def test_an_answer_is_stale_once_what_it_cites_is_revised(doxa, dialogue):
    memory = doxa.memory(user="ana")
    home, sister = dialogue.ask("Where do I live?"), dialogue.ask("What is my sister called?")
    dialogue.absorb("I moved to Oslo.", at="2024-03-01", turn_id="t3")
    dialogue.flush()
    assert [one.answer.answer_id for one in memory.answers(stale=True)] == [home.answer_id]
    assert "t3" in memory.why_answered(home.answer_id).stale[0]
    assert {one.answer.answer_id for one in memory.answers()} == {home.answer_id, sister.answer_id}
    again = dialogue.ask_again(home.answer_id)
    assert again.value == "Oslo"
    assert not memory.why_answered(again.answer_id).stale


def test_a_withdrawn_turn_makes_an_answer_stale(doxa, dialogue):
    memory = doxa.memory(user="ana")
    reply = dialogue.ask("What is my sister called?")
    memory.withdraw(turn_id="t2")
    assert memory.why_answered(reply.answer_id).stale


def test_an_answer_to_what_was_known_then_stays(doxa, dialogue):
    reply = dialogue.ask("Where do I live?", known_at="2024-01-31")
    dialogue.absorb("I moved to Oslo.", at="2024-03-01")
    dialogue.flush()
    assert not doxa.memory(user="ana").why_answered(reply.answer_id).stale


def test_a_remembered_question_is_asked_again_in_its_place(doxa, dialogue):
    reply = dialogue.respond("Where does Mia live?", at="2024-02-01")
    assert reply.abstained
    dialogue.absorb("Mia lives in Rome.", at="2024-02-02")
    dialogue.flush()
    assert dialogue.ask_again(reply.answer_id).value == "Rome"


def test_answers_outlive_the_process(tmp_path, config):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa:
        ana = doxa.dialogue(user="ana")
        ana.absorb("I live in Berlin.", at="2024-01-05")
        ana.flush()
        key = ana.ask("Where do I live?").answer_id
    with Doxa.open(path, config=config) as doxa:
        assert doxa.memory(user="ana").why_answered(key).answer.value == "Berlin"


def test_only_the_latest_answers_are_kept(config):
    few = config.model_copy(update={"engine": EngineConfig(settle_s=10, answers=3)})
    with Doxa.open(":memory:", config=few) as doxa:
        ana = doxa.dialogue(user="ana")
        ana.absorb("I live in Berlin.", at="2024-01-05")
        ana.flush()
        keys = [ana.ask(f"Where do I live{'?' * n}").answer_id for n in range(1, 6)]
        assert [one.answer.answer_id for one in doxa.memory(user="ana").answers()] == keys[-3:]


def test_none_are_kept_where_none_are_wanted():
    settings = Config(encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=10, answers=0))
    with Doxa.open(":memory:", config=settings) as doxa:
        assert doxa.dialogue(user="ana").ask("Where do I live?").answer_id is None
        assert doxa.memory(user="ana").answers() == []


def test_what_is_erased_is_in_no_answer(tmp_path, config):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=config) as doxa:
        ana, memory = doxa.dialogue(user="ana"), doxa.memory(user="ana")
        ana.absorb("I live in Zanzibar.", at="2024-01-05", turn_id="t1")
        ana.absorb("My sister is called Mia.", at="2024-01-06", turn_id="t2")
        ana.flush()
        keys = [doxa.dialogue(user="ana").ask(q).answer_id for q in ("Where do I live?", "What is my sister called?")]
        memory.answers()
        memory.forget(turn_id="t1")
        with pytest.raises(NotFoundError, match="doxa answers"):
            memory.why_answered(keys[0])
    assert b"Zanzibar" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_everything_erased_takes_the_answers_along(doxa, dialogue):
    dialogue.ask("Where do I live?")
    memory = doxa.memory(user="ana")
    memory.answers()
    memory.forget(everything=True)
    assert memory.answers() == []
