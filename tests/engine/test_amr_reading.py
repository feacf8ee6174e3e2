"""Turns read through AMR graphs: stored, replayed without the parser, and read in the built-in way when it fails."""

import json

import pytest

from doxa.backends.amr.scripted import ScriptedParser
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import AmrConfig, LLMConfig, RolesConfig
from doxa.core.errors import ConfigError
from doxa.engine import Doxa

SAID = "I keep bees. My sister plants thyme!"
BEES = "(k / keep-02 :ARG0 (i / i) :ARG1 (b / bee))"
SISTER = "(p / person :ARG0-of (h / have-rel-role-91 :ARG1 (i / i) :ARG2 (s / sister)))"
THYME = f"(p2 / plant-01 :ARG0 {SISTER} :ARG1 (t / thyme))"
OSLO = '(l / live-01 :ARG0 (i / i) :location (c / city :name (n / name :op1 "Oslo")))'
BERGEN = OSLO.replace("Oslo", "Bergen")
GRAPHS = {"I keep bees.": BEES, "My sister plants thyme!": THYME, "I live in Oslo.": OSLO, "broken": "(k / keep-02"}


def opened(config, graphs=GRAPHS, location=":memory:"):
    """An engine that reads turns with a scripted AMR parser."""
    settings = {"amr": AmrConfig(name="scripted"), "roles": RolesConfig(extract="amr")}
    doxa = Doxa.open(location, config=config.model_copy(update=settings))
    doxa.parts.opened.amr = parser = ScriptedParser(graphs)
    return doxa, parser


def told(doxa):
    """Return the facts of Ana in short."""
    facts = doxa.memory(user="ana").facts(current=False)
    return [f"{fact.subject} {fact.relation.name} {fact.object}" for fact in facts]


def test_each_sentence_goes_through_the_parser_and_its_graph_is_claimed(config):
    """The sentences are asked about as they stand; the claims know theirs."""
    doxa, parser = opened(config)
    with doxa:
        doxa.dialogue(user="ana").absorb(SAID, turn_id="t1")
        doxa.flush()
        assert parser.asked == ["I keep bees.", "My sister plants thyme!"]
        assert told(doxa) == ["Ana keep bee", "Ana's sister plant thyme"]
        claims = doxa.memory(user="ana").claims(turn_id="t1")
        assert [claim.span for claim in claims] == parser.asked


def test_the_graphs_and_the_claims_are_kept_and_a_replay_asks_no_parser(config, tmp_path):
    """A restart without any AMR parser knows the same."""
    doxa, _ = opened(config, location=tmp_path / "memory.db")
    with doxa:
        doxa.dialogue(user="ana").absorb(SAID, at="2024-03-01")
        doxa.flush()
        before = told(doxa)
        (body,) = [row.body for row in doxa.parts.log.rows("ana") if row.kind == "maintained"]
        assert len(body["claims"]) == 2 and body["extraction"]["by"] == "amr scripted"
        assert body["extraction"]["graphs"][0] == f"# ::snt I keep bees.\n{BEES}"
    with Doxa.open(tmp_path / "memory.db", config=config) as again:
        assert told(again) == before
        assert len(again.memory(user="ana").facts(known_at="2024-04-01")) == 2


@pytest.mark.parametrize("text", ["I live in Ghent.", "I live in Ghent. I keep bees."], ids=["all", "one of two"])
def test_when_the_parser_fails_the_turn_is_read_without_it(config, text):
    """That turn only, and all of it; it is counted as degraded, and its trace says why."""
    doxa, _ = opened(config)
    with doxa:
        reply = doxa.dialogue(user="ana").respond(text)
        assert any("AMR parser failed" in reason for reason in reply.trace.degraded)
        doxa.dialogue(user="ana").absorb("I live in Oslo.")
        doxa.flush()
        assert {"Ana lives_in Ghent", "Ana lives_in Oslo"} <= set(told(doxa))
        assert doxa.memory(user="ana").stats()["degraded"] == 1


def test_a_graph_that_cannot_be_read_is_no_error(config):
    """The parser answered, but with no AMR."""
    doxa, _ = opened(config, {"I live in Ghent.": "(k / keep-02"})
    with doxa:
        doxa.dialogue(user="ana").absorb("I live in Ghent.")
        doxa.flush()
        assert told(doxa) == ["Ana lives_in Ghent"]
        assert doxa.memory(user="ana").stats()["degraded"] == 1


def test_a_repair_is_left_to_the_built_in_reading(config):
    """Graphs have no acts: what a correction says again is no second statement."""
    mended = "Sorry, I meant Bergen."
    doxa, _ = opened(config, {**GRAPHS, mended: BERGEN})
    with doxa:
        chat = doxa.dialogue(user="ana")
        for text in ("I live in Oslo.", mended):
            chat.absorb(text)
            chat.flush()
        statuses = {str(fact.object): str(fact.status) for fact in doxa.memory(user="ana").facts(current=False)}
        assert statuses == {"Oslo": "retracted", "Bergen": "held"}


def test_a_question_asserts_nothing_and_keeps_its_intent(config):
    """What is asked stays asked."""
    asked = "(l / live-01 :ARG0 (i / i) :location (a / amr-unknown))"
    doxa, _ = opened(config, {"Where do I live?": asked})
    with doxa:
        reply = doxa.dialogue(user="ana").respond("Where do I live?")
        assert reply.intents == ("ask",) and told(doxa) == []


def test_erasing_keeps_the_graphs_of_later_turns(config):
    """A parser saw no earlier turn, so what it read repeats none; only the names are settled anew."""
    mia = f'(p0 / person :name (n / name :op1 "Mia") :domain {SISTER})'
    doxa, parser = opened(config, {**GRAPHS, "My sister is Mia.": mia})
    with doxa:
        chat = doxa.dialogue(user="ana")
        for number, text in enumerate(("My sister is Mia.", "My sister plants thyme!"), start=1):
            chat.absorb(text, turn_id=f"t{number}")
            chat.flush()
        asked = len(parser.asked)
        doxa.memory(user="ana").forget(turn_id="t1")
        assert told(doxa) == ["Ana's sister plant thyme"]
        assert "Mia" not in json.dumps([row.body for row in doxa.parts.log.rows("ana")])
        assert len(parser.asked) == asked
        assert doxa.memory(user="ana").stats()["degraded"] == 0


def test_a_language_model_can_be_the_parser(config):
    """One call for each sentence."""
    roles, amr, llm = RolesConfig(extract="amr"), AmrConfig(name="llm"), LLMConfig(name="scripted")
    settings = {"amr": amr, "roles": roles, "llm": llm}
    with Doxa.open(":memory:", config=config.model_copy(update=settings)) as doxa:
        doxa.parts.opened.model = model = ScriptedModel([BEES, THYME])
        doxa.dialogue(user="ana").absorb(SAID)
        doxa.flush()
        assert told(doxa) == ["Ana keep bee", "Ana's sister plant thyme"]
        assert len(model.requests) == 2


@pytest.mark.parametrize(("amr", "missing"), [(None, "DOXA_AMR"), ("llm", "DOXA_LLM")])
def test_reading_by_graphs_needs_a_parser(config, amr, missing):
    """The message says which settings fit together."""
    settings = {"roles": RolesConfig(extract="amr"), "amr": AmrConfig(name=amr)}
    with pytest.raises(ConfigError, match=missing):
        Doxa.open(":memory:", config=config.model_copy(update=settings))
