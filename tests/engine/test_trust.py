"""What is unsure changes nothing, what is foreign is not read, and replies speak to the user."""

from __future__ import annotations

import threading

import pytest

from doxa import Dialogue, Memory
from doxa.backends import load
from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig
from doxa.core.errors import InputError
from doxa.core.values import Status
from doxa.engine import Doxa

ROME = "Ana | lives in | Rome"


@pytest.fixture
def graded():
    """An engine whose grader takes one reading for wrong."""
    config = Config(
        encoder=EncoderConfig(name="hash"), engine=EngineConfig(settle_s=10), grader=GraderConfig(name="scripted")
    )
    with Doxa.open(":memory:", config=config) as engine:
        engine.parts.opened.grader = load("grader", "scripted", grades={ROME: "wrong"})
        yield engine


def test_what_may_be_misread_displaces_nothing_and_is_shown_on_request(graded) -> None:
    """The fact that was sure stands, and the other one is listed with --all."""
    chat, memory = graded.dialogue(user="ana"), graded.memory(user="ana")
    chat.absorb("I live in Bonn.", at="2025-03-01")
    chat.absorb("I live in Rome.", at="2025-03-08")
    chat.flush()
    assert [str(fact.object) for fact in memory.facts(relation="lives_in")] == ["Bonn"]
    (kept,) = [fact for fact in memory.facts(current=False) if fact.status is Status.TENTATIVE]
    assert str(kept.object) == "Rome"
    assert "It is tentative" in memory.why(kept.fact_id).text


def test_a_fact_that_a_later_turn_may_have_changed_is_told_with_that_turn(graded) -> None:
    """Both are quoted; of a day before that the fact is told."""
    chat = graded.dialogue(user="ana")
    chat.absorb("I live in Bonn.", at="2025-03-01")
    chat.absorb("I live in Rome.", at="2025-03-08")
    chat.flush()
    told = chat.ask("Where do I live?")
    assert told.value is None
    assert told.text == ("On 1 March 2025 you wrote: “I live in Bonn.” On 8 March 2025 you wrote: “I live in Rome.”")


def test_a_turn_that_says_what_was_replaced_answers_no_longer(doxa) -> None:
    """It shares all words with the question, and the newer one does not."""
    chat = doxa.dialogue(user="ana")
    chat.absorb("I live in Lisbon and I work at Mareluz.", at="2024-03-02", turn_id="t1")
    chat.absorb("I moved to Berlin on 1 June 2024.", at="2024-06-02", turn_id="t2")
    chat.flush()
    reply = chat.ask("Where do I live?")
    assert (reply.value, [one.turn_id for one in reply.citations]) == ("Berlin", ["t2"])
    assert chat.ask("Where do I work?").value == "Mareluz"
    assert chat.ask("Where did I live in April 2024?").value == "Lisbon"


def test_what_only_looks_like_taking_back_takes_nothing_back_and_is_read_as_it_stands(graded, monkeypatch) -> None:
    """What was not meant stays as a tentative claim, and the sentence says what it says."""
    monkeypatch.setattr("doxa.understand.gate.amends", lambda *_: 0.1)
    chat, memory = graded.dialogue(user="ana"), graded.memory(user="ana")
    chat.absorb("I live in Bonn.", at="2025-03-01")
    turn = chat.absorb("I made that up for the children.", at="2025-03-01")
    chat.flush()
    assert [str(fact.object) for fact in memory.facts(relation="lives_in")] == ["Bonn"]
    seeming, plain = memory.claims(turn_id=turn.turn_id)
    assert (str(seeming.act), seeming.tentative) == ("withdraw", True)
    assert str(plain.act) == "state"


def test_what_was_tentative_is_so_after_the_file_is_opened_again(tmp_path) -> None:
    """It is part of the log, not of a model."""
    path = tmp_path / "m.db"
    config = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="scripted"))
    with Doxa.open(path, config=config) as engine:
        engine.parts.opened.grader = load("grader", "scripted", grades={ROME: "wrong"})
        chat = engine.dialogue(user="ana")
        chat.absorb("I live in Rome.", at="2025-03-01")
        chat.flush()
    with Doxa.open(path, config=config) as engine:
        memory = engine.memory(user="ana")
        assert not memory.facts(relation="lives_in")
        assert [fact.status for fact in memory.facts(relation="lives_in", current=False)] == [Status.TENTATIVE]


def test_an_incomplete_grader_is_told_in_the_trace(tmp_path) -> None:
    """Reading goes on without it."""
    config = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(model=tmp_path))
    with Doxa.open(":memory:", config=config) as engine:
        chat = engine.dialogue(user="ana")
        chat.absorb("I live in Bonn.", at="2025-03-01")
        chat.flush()
        reply = chat.ask("Where do I live?")
        assert reply.value == "Bonn"
        assert any("the grader failed" in one for one in reply.trace.degraded)


def test_a_turn_in_another_language_is_kept_and_not_read(doxa) -> None:
    """The receipt says so, search finds it, and no fact comes of it."""
    chat, memory = doxa.dialogue(user="ana"), doxa.memory(user="ana")
    receipt = chat.absorb("Ich wohne in Berlin und arbeite bei Siemens.", at="2025-03-01")
    chat.flush()
    assert receipt.language == "de"
    assert not memory.facts(current=False)
    assert memory.search("Berlin Siemens")[0].turn_ids == (receipt.turn_id,)
    reply = chat.respond("Je travaille maintenant dans une boulangerie à Paris.", at="2025-03-02")
    assert "not in English (fr)" in str(reply.trace.to_dict())


def test_a_reply_speaks_to_the_user_and_acknowledges_once(doxa) -> None:
    """One sentence, whatever was learnt; nothing where nothing was."""
    chat = doxa.dialogue(user="ana")
    told = chat.respond("I live in Bonn and my sister Mia works at Siemens.", at="2025-03-01").text
    assert told.startswith("Noted: You")
    assert told.count("Noted") == 1
    assert chat.respond("hmm, well well.", at="2025-03-02").text == ""
    assert chat.ask("Where do I live?").text == "You live in Bonn."


def test_messages_as_openai_writes_them_are_remembered(doxa) -> None:
    """Roles, parts, names and ids; the same id again is the same turn."""
    chat = doxa.dialogue(user="ana")
    messages = [
        {"role": "user", "content": "I live in Bonn.", "id": "m1"},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}]},
    ]
    first = chat.add(messages, at="2025-03-01")
    assert [one.duplicate for one in first] == [False, False]
    assert chat.add(messages[:1])[0].duplicate
    chat.flush()
    assert chat.ask("Where do I live?").value == "Bonn"


@pytest.mark.parametrize("messages", [[{"text": 3}], "hello", [{"role": "king", "content": "x"}]])
def test_what_is_no_message_is_refused_before_anything_is_stored(doxa, messages) -> None:
    """With the place of the message."""
    chat = doxa.dialogue(user="ana")
    with pytest.raises(InputError, match="add: "):
        chat.add(
            [{"role": "user", "content": "I live in Bonn."}, *messages] if isinstance(messages, list) else messages
        )
    assert doxa.memory(user="ana").stats()["turns"] == 0


def test_a_question_may_be_asked_on_a_day(doxa) -> None:
    """A plan whose day is over is none any more."""
    chat = doxa.dialogue(user="ana")
    chat.absorb("I have a dentist appointment on 6 March 2025.", at="2025-03-01")
    chat.flush()
    assert chat.ask("When is my dentist appointment?", at="2025-03-02").value is not None


def test_databases_are_opened_side_by_side(tmp_path) -> None:
    """Sixteen new files in sixteen threads."""
    failed: list[str] = []

    def remember(number: int) -> None:
        try:
            with Doxa.open(tmp_path / f"{number}.db", config=Config(encoder=EncoderConfig(name="hash"))):
                pass
        except Exception as exc:  # noqa: BLE001
            failed.append(repr(exc))

    threads = [threading.Thread(target=remember, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_what_users_hold_can_be_imported() -> None:
    """For annotations."""
    with Doxa.open(":memory:", config=Config(encoder=EncoderConfig(name="hash"))) as engine:
        assert isinstance(engine.dialogue(user="ana"), Dialogue)
        assert isinstance(engine.memory(user="ana"), Memory)
