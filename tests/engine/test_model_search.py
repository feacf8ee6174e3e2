"""A language model plays the roles of the search (`roles.reason = prompted`), behind a real server, well or badly."""

import json
import threading

import pytest

from doxa.core.config import LLMConfig, ReasonConfig, RolesConfig
from doxa.core.errors import ConfigError
from doxa.engine import Doxa

QUESTION = "Where does the person who works at Siemens live?"
ANSWER = {"move": "answer", "likelihood": 0.9, "text": "Eva lives in Graz.", "value": "Graz", "citations": ["t1", "t2"]}
LOOK = {"move": "expand_entity", "likelihood": 0.7, "entity": "Siemens"}
WONDER = {"move": "think", "likelihood": 0.2, "text": "It has to be known first who works there."}


def role_of(body):
    """Return which role a request is from."""
    return body["response_format"]["json_schema"]["name"]


def sensible(body):
    """Play the roles as a good model would: look around, then answer from what was found."""
    role = role_of(body)
    if role == "promise":
        return json.dumps({"bears": 0.9, "closer": 0.6, "reach": 0.9})
    if role == "worth":
        good = "Graz" in body["messages"][-1]["content"].partition('"answer"')[2]
        return json.dumps(dict.fromkeys(("true", "whole", "clear"), 1.0 if good else 0.1))
    if role == "answer":
        return json.dumps({"answer": "Eva lives in Graz.", "value": "Graz", "citations": ["t1"], "abstained": False})
    state = json.loads(body["messages"][-1]["content"].rpartition("\n")[2])
    return json.dumps({"moves": [ANSWER] if state["path"] else [LOOK, WONDER]})


@pytest.fixture
def server(chat_server):
    """A chat server that plays the roles well."""
    return chat_server(sensible, tokens=(100, 20))


@pytest.fixture
def opened(config, server):
    """A function that gives an engine on that server with some facts in memory, and its dialogue."""
    engines = []

    def opening(*, reason="prompted", write="prompted", **limits):
        url = f"http://127.0.0.1:{server.server_port}/v1"
        llm = LLMConfig(name="openai:tiny", base_url=url, timeout_s=5, max_retries=0)
        roles, limits = RolesConfig(reason=reason, write=write), ReasonConfig(**{"seconds": 60} | limits)
        settings = config.model_copy(update={"llm": llm, "reason": limits, "roles": roles})
        doxa = Doxa.open(":memory:", config=settings)
        engines.append(doxa)
        chat = doxa.dialogue(user="ana", session="s")
        for number, text in enumerate(["My sister Eva lives in Graz.", "Eva works at Siemens.", "I live in Lisbon."]):
            chat.absorb(text, at=f"2024-01-0{number + 1}", turn_id=f"t{number + 1}")
        chat.flush()
        return doxa, chat

    yield opening
    for doxa in engines:
        doxa.close()


def test_roles_for_a_model_need_one(config):
    """The message says which settings to change."""
    settings = config.model_copy(update={"roles": RolesConfig(reason="prompted")})
    with pytest.raises(ConfigError, match="roles.reason"):
        Doxa.open(":memory:", config=settings)


def search_of(reply):
    """Return what the trace tells of the search."""
    (step,) = [step for step in reply.trace.steps if step.name == "search"]
    return step.detail


def test_the_model_finds_the_answer_and_the_trace_has_the_tree(opened, server):
    """Its moves are carried out on the memory; every state has its probability and its value."""
    _, chat = opened()
    reply = chat.ask(QUESTION)
    assert (reply.text, reply.value) == ("Eva lives in Graz.", "Graz") and not reply.trace.degraded
    assert {citation.turn_id for citation in reply.citations} == {"t1", "t2"}
    detail = search_of(reply)
    tree = detail["tree"]
    assert detail["calls"] == len(server.requests) and detail["prompt"].startswith("reason/")
    moves = [state["do"] for state in tree["states"][1:]]
    assert "expand_entity" in moves and "think" in moves
    looked = next(state for state in tree["states"][1:] if state["do"] == "expand_entity")
    assert looked["facts"] and looked["value"] == pytest.approx(0.8) and looked["p"] == pytest.approx(0.7)


def test_an_answer_that_facts_give_is_only_written(opened, server):
    """A sure answer needs no search: one call, as without a tree."""
    _, chat = opened()
    server.says = lambda body: json.dumps(
        {"answer": "You live in Lisbon.", "value": "Lisbon", "citations": ["t3"], "abstained": False}
    )
    reply = chat.ask("Where do I live?")
    assert reply.value == "Lisbon" and [role_of(body) for body in server.requests] == ["answer"]


def test_by_default_the_model_is_asked_once(opened, server):
    """The search then plays its roles without it, and the model is shown what the search found."""
    _, chat = opened(reason="builtin")
    reply = chat.ask(QUESTION)
    assert reply.value == "Graz" and [role_of(body) for body in server.requests] == ["answer"]


def test_the_calls_of_a_level_go_out_together(opened, server):
    """Three states are scored at once: the first of them waits until the third has arrived."""
    together = threading.Barrier(3, timeout=20)

    def waiting(body):
        if role_of(body) in ("promise", "worth") and len(server.requests) <= 4:
            together.wait()
        return sensible(body)

    server.says = waiting
    _, chat = opened()
    assert chat.ask(QUESTION).value == "Graz" and not together.broken


def test_one_failed_call_costs_its_branch_only(opened, server):
    """The model cannot judge one of the states; the answer is found on the other way."""

    def fault(handler, body):
        if "has to be known first" in body["messages"][-1]["content"]:
            handler.give({"error": {"message": "no"}}, status=500)
            return True
        return False

    server.fault = fault
    _, chat = opened()
    reply = chat.ask(QUESTION)
    assert reply.value == "Graz" and "failed" in {state["standing"] for state in search_of(reply)["tree"]["states"]}
    assert any("1 call to the language model failed" in told for told in reply.trace.degraded)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"calls": 2}, "2 calls"), ({"tokens": 2500}, "2500 tokens"), ({"seconds": 0.0001}, "seconds")],
    ids=["calls", "tokens", "seconds"],
)
def test_a_spent_budget_ends_the_search_with_the_best_there_is(opened, server, limits, reason):
    """There is an answer, never more is spent, and the trace names the setting."""
    _, chat = opened(**limits)
    reply = chat.ask(QUESTION)
    assert reply.text and len(server.requests) <= limits.get("calls", 9)
    told = " ".join((*reply.trace.degraded, search_of(reply)["tree"]["stopped_because"]))
    assert reason in told and "reason." in told


def stalls(handler, body):
    """Say nothing for longer than a question may wait."""
    threading.Event().wait(3)
    return True


def prose(handler, body):
    """Answer a person."""
    handler.say(body, "Let me think about that for a while.")
    return True


def refuses(handler, body):
    """Decline."""
    handler.say(body, None, refusal="I will not.")
    return True


def breaks_off(handler, body):
    """Send half an answer and hang up."""
    handler.send_response(200)
    handler.send_header("Content-Length", "9000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"message": {"content": "{')
    return True


@pytest.mark.parametrize("fault", [stalls, prose, refuses, breaks_off], ids=lambda fault: fault.__name__)
def test_memory_answers_when_every_role_fails(opened, server, fault):
    """The answer without a search stands, nothing is learned, and the trace says what happened."""
    doxa, chat = opened(seconds=2)
    server.fault = fault
    reply = chat.respond(QUESTION, turn_id="q")
    chat.flush()
    assert reply.text and server.requests and any("built-in" in told for told in reply.trace.degraded)
    known = {str(fact.object) for fact in doxa.memory(user="ana").facts(current=False)}
    assert {"Graz", "Siemens", "Lisbon"} <= known and not any("think" in name or "not" in name for name in known)


def test_an_invented_answer_is_no_move(opened, server):
    """What rests on nothing is left out; what the model finds besides counts."""

    def inventing(body):
        if role_of(body) != "moves":
            return sensible(body)
        invented = ANSWER | {"text": "She lives in Oslo.", "value": "Oslo", "citations": ["t77"]}
        return json.dumps({"moves": [invented, *json.loads(sensible(body))["moves"]]})

    server.says = inventing
    _, chat = opened()
    reply = chat.ask(QUESTION)
    assert reply.value == "Graz" and any("Oslo" in told and "rests on nothing" in told for told in reply.trace.degraded)


def worldly(body):
    """Play the roles as a model that knows something of the world, where it has leave to."""
    if role_of(body) == "promise":
        return json.dumps({"bears": 0.5, "closer": 0.5, "reach": 0.5})
    if role_of(body) == "worth":
        good = "Aconcagua" in body["messages"][-1]["content"].partition('"answer"')[2]
        return json.dumps(dict.fromkeys(("true", "whole", "clear"), 1.0 if good else 0.1))
    told = {"text": "It is Aconcagua.", "value": "Aconcagua", "citations": [], "general": True}
    return json.dumps({"moves": [{"move": "answer", "likelihood": 0.9, **told}]})


def test_where_memory_is_silent_an_answer_may_come_from_the_model(opened, server):
    """By the setting `reason.knowledge`; the trace says so, and nothing is cited."""
    server.says = worldly
    _, chat = opened(knowledge="open")
    reply = chat.ask("Which is the highest mountain of South America?")
    assert (reply.value, reply.citations, reply.abstained) == ("Aconcagua", (), False)
    assert "the model's own" in search_of(reply)["knowledge"]


def test_what_was_said_elsewhere_is_shown_and_not_remembered(opened, server):
    """Messages that are given with a question stand before it, for that question alone."""
    server.says = worldly
    _, chat = opened(knowledge="open")
    said = [
        {"role": "user", "content": "Let us talk of mountains."},
        {"role": "assistant", "content": "With pleasure."},
    ]
    for given in (said, None):
        server.requests.clear()
        chat.ask("Which is the highest?", said=given)
        shown = server.requests[0]["messages"][1]["content"].partition("\n\n")[0].splitlines()
        heard = [line.partition(": ")[2] for line in shown[1:]]
        assert shown[0] == "Dialogue:" and (heard[-2:] == [one["content"] for one in said]) == (given is not None)
        assert given is not None or not set(heard) & {one["content"] for one in said}
