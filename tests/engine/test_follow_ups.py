"""Questions that lean on those before them, searches within bounds, and queries that a language model rewrites."""

import json

import pytest

from doxa.backends.llm import Completion, Usage
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, LLMConfig, RolesConfig
from doxa.core.errors import BackendUnavailableError, ConfigError, InputError
from doxa.engine import Doxa
from doxa.engine.history.replay import erase_turns

TOLD = (
    ("Ana", "Nadia works as a nurse at the clinic.", "2024-02-03", "one"),
    ("Ana", "Petra teaches chemistry in Graz.", "2024-02-03", "one"),
    ("assistant", "Graz is lovely in spring.", "2024-02-03", "one"),
    ("Ana", "I had dinner at Osteria Pino.", "2024-07-15", "two"),
    ("Ben", "The ravioli at Pino were heavenly.", "2024-07-16", "two"),
)
REFUSAL = Completion(text="", parsed=None, refused=True, truncated=False, usage=Usage(calls=1), seconds=0.0)


def tell(doxa):
    """Say what is told, as t1, t2, ..."""
    for number, (speaker, text, at, session) in enumerate(TOLD, start=1):
        role = "assistant" if speaker == "assistant" else "user"
        chat = doxa.dialogue(user="ana", session=session, speaker="Ana")
        chat.absorb(text, speaker=speaker, role=role, at=at, turn_id=f"t{number}")
    doxa.flush()
    return doxa.memory(user="ana")


def ids(evidence):
    return {turn_id for item in evidence for turn_id in item.turn_ids}


def step(reply, name):
    return next((step for step in reply.trace.steps if step.name == name), None)


def test_a_question_leans_on_the_one_asked_before_it(doxa):
    """Though neither is remembered; another dialogue knows nothing of it."""
    memory = tell(doxa)
    chat = doxa.dialogue(user="ana", session="later", speaker="Ana")
    chat.ask("What does Nadia do for work?")
    found = step(chat.ask("And Petra?"), "encode").detail
    assert found["wording"] == "What does Petra do for work?"
    other = doxa.dialogue(user="ana", session="later", speaker="Ana")
    assert step(other.ask("And Petra?"), "encode").detail["wording"] == "And Petra?"
    assert memory.stats()["turns"] == len(TOLD)


def test_what_was_asked_is_gone_once_anything_is_erased(doxa):
    """An answer may repeat what was erased."""
    memory = tell(doxa)
    chat = doxa.dialogue(user="ana", session="later", speaker="Ana")
    chat.ask("What does Nadia do for work?")
    memory.forget(turn_id="t1")
    assert step(chat.ask("And Petra?"), "encode").detail["wording"] == "And Petra?"


def test_what_is_asked_while_something_is_erased_is_gone_as_well(doxa, monkeypatch):
    """The answer was given from what was about to go."""
    memory = tell(doxa)
    chat = doxa.dialogue(user="ana", session="later", speaker="Ana")

    def asked_meanwhile(*args, **options):
        chat.ask("What does Nadia do for work?")
        return erase_turns(*args, **options)

    monkeypatch.setattr("doxa.engine.history.withdrawal.erase_turns", asked_meanwhile)
    memory.forget(turn_id="t1")
    assert step(chat.ask("And Petra?"), "encode").detail["wording"] == "And Petra?"


def test_a_search_takes_what_was_just_said(doxa):
    memory = tell(doxa)
    recent = [("Ana", "Where did I have dinner?"), ("assistant", "At Osteria Pino.")]
    assert "t5" in ids(memory.search("How was the food there?", k=2, recent=recent))


def test_a_search_that_goes_on_from_something_goes_on_from_the_latest_turns(doxa):
    """Unless it is told what was said, or that nothing was."""
    memory = tell(doxa)
    doxa.dialogue(user="ana", session="three", speaker="Ana").absorb("What does Nadia do for work?", turn_id="t6")
    told = [("Ana", "What does Nadia do for work?")]
    assert ids(memory.search("And Petra?")) == ids(memory.search("And Petra?", recent=told))
    assert ids(memory.search("And Petra?")) != ids(memory.search("And Petra?", recent=[]))


@pytest.mark.parametrize(
    ("bounds", "found"),
    [
        ({"session": "two"}, ["t4", "t5"]),
        ({"speaker": "ben"}, ["t5"]),
        ({"since": "2024-07-16"}, ["t5"]),
        ({"until": "2024-02"}, ["t1", "t2", "t3"]),
        ({"until": "2024-07-15", "since": "2024-03-01"}, ["t4"]),
        ({"session": "two", "speaker": "Ana"}, ["t4"]),
        ({"speaker": "nobody"}, []),
    ],
    ids=str,
)
def test_a_search_keeps_within_its_bounds(doxa, bounds, found):
    memory = tell(doxa)
    query = "Nadia nurse Petra Graz dinner Pino ravioli spring"
    assert ids(memory.search(query, **bounds)) == set(found)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recent": ["hello"]}, r"recent: expected \(speaker, text\)"),
        ({"recent": [("Ana", 3)]}, r"recent: expected \(speaker, text\)"),
        ({"since": "2024-03-01", "until": "2024-02-01"}, "expected since <= until"),
        ({"speaker": " "}, "search: speaker"),
        ({"since": "soon"}, "since"),
        ({"recent": 5}, "expected a list"),
        ({"recent": "hello"}, "expected a list"),
    ],
)
def test_bounds_that_cannot_be_are_refused(doxa, options, said):
    with pytest.raises(InputError, match=said):
        tell(doxa).search("Graz", **options)


def rewritten(question, *words, seeks="other"):
    return json.dumps({"question": question, "words": list(words), "seeks": seeks})


def opened(config, *replies):
    """An engine whose queries are rewritten by a scripted model; the first reply is for the first query."""
    update = {"llm": LLMConfig(name="scripted"), "roles": RolesConfig(rewrite="prompted", write="prompted")}
    doxa = Doxa.open(":memory:", config=config.model_copy(update=update))
    doxa.parts.opened.model = ScriptedModel(replies)
    return doxa, doxa.parts.opened.model


def test_a_model_rewrites_the_query(config):
    """It is shown the dialogue and nothing of the memory; its words are searched for beside those of the query."""
    reply = rewritten("Which meal did Ana like at Osteria Pino?", "ravioli", "heavenly")
    doxa, model = opened(config, reply, reply)
    with doxa:
        memory = tell(doxa)
        recent = [("Ana", "Where did I eat?"), ("assistant", "At Osteria Pino.")]
        assert "t5" in ids(memory.search("What was it like?", k=2, recent=recent))
        shown = json.loads(model.requests[0].messages[1].content)
        assert [turn["text"] for turn in shown["dialogue"]] == ["Where did I eat?", "At Osteria Pino."]
        assert shown["query"] == "What was it like?" and "Graz" not in model.requests[0].messages[1].content


def test_the_trace_tells_what_the_model_made_of_it(config):
    doxa, _ = opened(config, rewritten("Where does Petra teach?", "school", seeks="place"), "In Graz.")
    with doxa:
        tell(doxa)
        reply = doxa.dialogue(user="ana", speaker="Ana").ask("And her?")
        found = step(reply, "rewrite")
        assert (found.detail["question"], found.detail["words"]) == ("Where does Petra teach?", "school")
        assert found.detail["by"] == "rewrite/1 scripted" and found.degraded is None
        assert "place" in step(reply, "encode").detail["seeks"]


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ((BackendUnavailableError("the server is gone"),), "the server is gone"),
        ((REFUSAL,), "refused"),
        (("no JSON", "again no JSON"), "read the built-in way"),
        ((rewritten(""),), "no question"),
        ((rewritten("x" * 1000),), "no question"),
    ],
    ids=["unavailable", "refused", "no JSON", "empty", "endless"],
)
def test_without_the_model_the_query_is_read_the_built_in_way(config, replies, reason):
    """And the trace says why."""
    doxa, _ = opened(config, *replies, "An answer.")
    with doxa:
        tell(doxa)
        reply = doxa.dialogue(user="ana", speaker="Ana").ask("What does Petra teach in Graz?")
        assert reason in step(reply, "rewrite").degraded
        assert step(reply, "encode").detail["terms"] == "petra teach graz"


def test_a_model_that_is_not_configured_is_said_at_once(config):
    with pytest.raises(ConfigError, match=r"Role rewrite is 'prompted' by the setting roles\.rewrite"):
        Doxa.open(":memory:", config=config.model_copy(update={"roles": RolesConfig(rewrite="prompted")}))


@pytest.fixture
def server(chat_server):
    """A chat server that rewrites every query in the same words."""
    return chat_server(rewritten("What did Ben praise at Osteria Pino?", "ravioli", "heavenly"), tokens=(50, 20))


def test_a_server_named_in_the_environment_rewrites(server):
    environ = {
        "DOXA_LLM": "openai:tiny",
        "DOXA_LLM_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
        "DOXA_PROFILE": "writer",
        "DOXA_ROLES_REWRITE": "prompted",
        "DOXA_ENCODER": "hash",
    }
    with Doxa.open(":memory:", config=Config.load(environ=environ)) as doxa:
        assert "t5" in ids(tell(doxa).search("What did he praise?", k=2))
        (request,) = server.requests
        assert request["response_format"]["json_schema"]["strict"] is True
