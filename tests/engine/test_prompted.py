"""Turns read by a language model behind `respond`: stored, replayed without it, and read without it when it fails."""

import json
import threading
from itertools import repeat

import pytest

from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import LLMConfig, RolesConfig, UnderstandConfig
from doxa.core.errors import BackendUnavailableError, ConfigError
from doxa.engine import Doxa, View


def fact(subject, relation, thing, quote, **more):
    """An entry for a fact."""
    whole = {"kind": "fact", "subject": subject, "relation": relation, "object": thing, "holds": True}
    blank = {"mood": "asserted", "from": None, "to": None, "over": False, "beside": False, "source": None}
    return {**whole, **blank, "quote": quote, **more}


FACT = fact("Ana", "is the keeper of", "lighthouse", "I keep the lighthouse")
SAID = "I keep the lighthouse."


def reading(request):
    """Answer as a model would: what the turn in the request says, by a little table."""
    text = json.loads(request.messages[1].content)["message"]["text"]
    facts = {
        SAID: [FACT],
        "I live in Oslo.": [fact("Ana", "lives in", "Oslo", "I live in Oslo")],
        "My sister is Mia.": [fact("Ana", "sister", "Mia", "My sister is Mia")],
        "My sister likes tea.": [fact("Ana's sister", "likes", "tea", "My sister likes tea")],
    }
    return json.dumps({"entries": facts.get(text, [])})


def opened(config, *replies, location=":memory:", parallel=4, **roles):
    """An engine that reads turns with a scripted model."""
    update = {
        "llm": LLMConfig(name="scripted"),
        "roles": RolesConfig(extract="prompted", write="prompted", **roles),
        "understand": UnderstandConfig(parallel=parallel),
    }
    doxa = Doxa.open(location, config=config.model_copy(update=update))
    model = ScriptedModel(replies or repeat(reading))
    doxa.parts.opened.model = model
    return doxa, model


def objects(doxa):
    return [str(fact.object) for fact in doxa.memory(user="ana").facts(current=False)]


def test_the_model_reads_the_turn(config):
    """What the patterns do not know, it does."""
    doxa, model = opened(config)
    with doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb(SAID, turn_id="t1")
        chat.flush()
        (fact,) = doxa.memory(user="ana").facts()
        assert (str(fact.object), fact.turn_ids) == ("lighthouse", ("t1",))
        assert len(model.requests) == 1


def test_a_replay_asks_no_model(config, tmp_path):
    """The facts come from the log: after a restart, and for what was believed then."""
    doxa, _ = opened(config, location=tmp_path / "memory.db")
    with doxa:
        doxa.dialogue(user="ana").absorb(SAID, at="2024-03-01")
    with Doxa.open(tmp_path / "memory.db", config=config) as again:
        assert objects(again) == ["lighthouse"]
        assert len(again.memory(user="ana").facts(known_at="2024-04-01")) == 1


@pytest.mark.parametrize(
    "replies",
    [(BackendUnavailableError("away"),), ("no", "still no"), ("{}", "{}")],
    ids=["away", "prose", "wrong shape"],
)
def test_when_the_model_fails_the_turn_is_read_without_it(config, replies):
    """That turn only; it is counted as degraded, and the next one has the model again."""
    doxa, _ = opened(config, *replies, reading)
    with doxa:
        chat = doxa.dialogue(user="ana")
        for text in ("I live in Oslo.", SAID):
            chat.absorb(text)
            chat.flush()
        assert objects(doxa) == ["Oslo", "lighthouse"]
        assert doxa.memory(user="ana").stats()["degraded"] == 1


def test_the_trace_says_who_read_the_turn_and_what_it_cost(config):
    """Prompt, model, tokens; and why, when the model was of no use."""
    doxa, _ = opened(config, reading, '{"answer": "Noted.", "value": null, "citations": [], "abstained": false}')
    with doxa:
        reply = doxa.dialogue(user="ana").respond(SAID)
        step = next(step for step in reply.trace.steps if step.name == "understand")
        assert step.detail["by"].startswith("understand/2")
        assert step.detail["prompt_tokens"] > 0 and step.detail["completion_tokens"] > 0
        assert "inform" in reply.intents
        spent = View(doxa.parts, "ana").spent()
        assert spent == {"read": (1, step.detail["prompt_tokens"], step.detail["completion_tokens"])}
    doxa, _ = opened(config, BackendUnavailableError("away"), BackendUnavailableError("away"))
    with doxa:
        reply = doxa.dialogue(user="ana").respond("I live in Oslo.")
        assert any("read without it" in reason for reason in reply.trace.degraded)


def test_what_was_turned_down_is_in_the_trace(config):
    """A hallucinated quote: no fact, but a note."""
    made_up = json.dumps({"entries": [{**FACT, "quote": "I keep goats", "object": "goats"}]})
    doxa, _ = opened(config, made_up, BackendUnavailableError("away"))
    with doxa:
        reply = doxa.dialogue(user="ana").respond(SAID)
        step = next(step for step in reply.trace.steps if step.name == "understand")
        assert "quote" in step.detail["dropped"][0] and objects(doxa) == []


def test_a_slow_model_holds_up_no_read(config):
    """While it is waited for, the memory answers from what is there."""
    waiting, go = threading.Event(), threading.Event()

    def slow(request):
        waiting.set()
        go.wait(20)
        return reading(request)

    doxa, _ = opened(
        config.model_copy(update={"engine": config.engine.model_copy(update={"settle_s": 0})}), *[slow] * 1
    )
    with doxa:
        chat = doxa.dialogue(user="ana")
        chat.absorb(SAID)
        assert waiting.wait(10)
        assert doxa.memory(user="ana").facts() == []
        go.set()
        chat.flush()
        assert objects(doxa) == ["lighthouse"]


def test_several_turns_are_read_at_the_same_time_and_kept_in_order(config):
    """As many as the setting says."""
    together = threading.Barrier(3, timeout=20)

    def meeting(request):
        together.wait()
        return reading(request)

    doxa, _ = opened(config, *[meeting] * 3, parallel=3)
    with doxa:
        with doxa.parts.log.user("ana"):  # the turns gather while the state is locked
            chat = doxa.dialogue(user="ana")
            for text in (SAID, "I live in Oslo.", "My sister is Mia."):
                chat.absorb(text)
        chat.flush()
        assert sorted(objects(doxa)) == sorted(["lighthouse", "Oslo", "Mia"])


def test_erasing_asks_no_model_and_repeats_nothing(config):
    """A later turn is grounded anew; one that had seen the erased turn is read again without the model."""
    doxa, model = opened(config)
    with doxa:
        doxa.dialogue(user="ana", session="one").absorb("My sister is Mia.", turn_id="t1")
        doxa.flush()
        doxa.dialogue(user="ana", session="one").absorb("My sister likes tea.", turn_id="t2")
        doxa.dialogue(user="ana", session="two").absorb("My sister likes tea.", turn_id="t3")
        doxa.flush()
        memory = doxa.memory(user="ana")
        assert "Mia" in {str(fact.subject) for fact in memory.facts()}
        asked = len(model.requests)
        memory.forget(turn_id="t1")
        assert {str(fact.subject) for fact in memory.facts(current=False)} == {"Ana's sister"}
        assert "Mia" not in json.dumps([row.body for row in doxa.parts.log.rows("ana")])
        assert len(model.requests) == asked
        assert memory.stats()["degraded"] == 1


def test_what_rests_on_a_turn_that_is_read_again_is_read_again_as_well(config):
    """The second turn had the erased one in its context; the third was read in the terms of the second's fact."""
    named = {"subject": None, "relation": None, "old": None, "new": "Lee", "source": None, "when": None}
    change = {"kind": "change", "target": "f1", **named, "quote": "I have a new dentist, Lee"}
    said = {
        "She is my dentist.": fact("Ana", "dentist", "Dr. Weber", "She is my dentist"),
        "I have a new dentist, Lee.": change,
    }

    def read(request):
        told = said.get(json.loads(request.messages[1].content)["message"]["text"])
        return json.dumps({"entries": [told] if told else []})

    doxa, _ = opened(config, *[read] * 3)
    with doxa:
        first = doxa.dialogue(user="ana", session="one")
        first.absorb("Do you know Dr. Weber?", turn_id="t1")
        first.absorb("She is my dentist.", turn_id="t2")
        doxa.flush()
        doxa.dialogue(user="ana", session="two").absorb("I have a new dentist, Lee.", turn_id="t3")
        doxa.flush()
        assert "Weber" in json.dumps([row.body for row in doxa.parts.log.rows("ana")])
        doxa.memory(user="ana").forget(turn_id="t1")
        assert "Weber" not in json.dumps([row.body for row in doxa.parts.log.rows("ana")])


def test_an_export_keeps_what_the_model_read(config, tmp_path):
    """Import needs no model."""
    doxa, _ = opened(config)
    with doxa:
        doxa.dialogue(user="ana").absorb(SAID)
        path = doxa.memory(user="ana").export(tmp_path / "a.jsonl")
    with Doxa.open(":memory:", config=config) as other:
        other.memory(user="ana").import_(path)
        assert objects(other) == ["lighthouse"]


def test_prompted_understanding_needs_a_model(config):
    """The message says which two settings fit together."""
    with pytest.raises(ConfigError, match="DOXA_LLM"):
        Doxa.open(":memory:", config=config.model_copy(update={"roles": RolesConfig(extract="prompted")}))


def test_a_correction_and_a_withdrawal_by_the_model_revise(config):
    """The acts that the model names do what the same acts do without it."""

    named = {
        "subject": "Ana",
        "relation": "lives in",
        "old": None,
        "new": "Bergen",
        "source": None,
        "from": None,
        "to": None,
    }
    said = {
        "I live in Oslo.": fact("Ana", "lives in", "Oslo", "I live in Oslo"),
        "Sorry, I meant Bergen.": {"kind": "correction", "target": "f1", **named, "quote": "I meant Bergen"},
        "Forget that I live in Bergen.": {"kind": "withdrawal", "target": "f1", "quote": "Forget that"},
    }

    def read(request):
        return json.dumps({"entries": [said[json.loads(request.messages[1].content)["message"]["text"]]]})

    doxa, _ = opened(config, *[read] * 3)
    with doxa:
        chat, memory = doxa.dialogue(user="ana"), doxa.memory(user="ana")
        seen = []
        for text in said:
            chat.absorb(text)
            chat.flush()
            seen.append([str(fact.object) for fact in memory.facts()])
        assert seen == [["Oslo"], ["Bergen"], ["Oslo"]]  # what the correction had displaced holds again
        statuses = {str(fact.object): str(fact.status) for fact in memory.facts(current=False)}
        assert statuses == {"Oslo": "held", "Bergen": "retracted"}
