"""What the memory told is not learned again when a model, a tool or another proxy says it back."""

import json
import time

import pytest

from doxa.core.access import Scope
from doxa.engine import Doxa, Notebook
from doxa.transport.http.access import Room
from doxa.transport.http.openai.beside import Shelf
from doxa.transport.http.openai.conversation import read_chat, read_responses
from doxa.transport.http.openai.editing import Body
from doxa.transport.http.openai.recalled import FIRST, TOLD, own_words
from doxa.transport.mcp.recalling import recall, why
from doxa.transport.mcp.rooms import entered

from .conftest import light

TOLD_BEFORE = [
    "I live in Rome.",
    "My sister Kim works for Acme.",
    "I prefer window seats.",
    "I might buy a boat next year.",
    "If it rains, then I stay home.",
    "I do not eat fish.",
    "I moved from Oslo to Rome in May 2020.",
]
MESSAGE = "Good morning. Who is Kim, and where do I live?"


@pytest.fixture
def doxa():
    """An engine of its own, in which Ana has told a few things."""
    with Doxa.open(":memory:", config=light()) as engine:
        talk = engine.dialogue(user="ana", speaker="Ana", session="one")
        for number, text in enumerate(TOLD_BEFORE):
            talk.absorb(text, turn_id=f"t{number}")
        talk.flush()
        yield engine


def beliefs(doxa):
    """Return all that could grow: facts with their status, sureness and sources; changes, rules and promotions."""
    memory = doxa.memory(user="ana")
    facts = {(memory.describe(f), str(f.status), f.turn_ids, f.confidence) for f in memory.facts(current=False)}
    promotions = {(one.promotion_id, one.score) for one in memory.promotions(active=False)}
    return facts, len(memory.history()), [rule.span for rule in memory.rules()], promotions


def beside(doxa, message=MESSAGE):
    """Return a message with what the proxy puts beside it."""
    body = Body(json.dumps({"messages": [{"role": "user", "content": message}]}).encode())
    talk, shelf = read_chat(body), Shelf()
    shelf.complete(Notebook(doxa.parts, "ana"), talk, session="two", earlier=())
    return message + "".join(text for _, text in shelf.texts(talk, begins=True))


def result(doxa, tool, *arguments):
    """Return what a tool of MCP gives, as a message has it."""
    with entered(Room(Scope(tenant="default", user="ana", rights=("read",), key_id="k"), doxa)):
        return tool(*arguments).model_dump_json()


ECHOES = {
    "an answer": lambda doxa: doxa.dialogue(user="ana").ask("What does Kim do?").text,
    "an answer with more": lambda doxa: f"Sure! {doxa.dialogue(user='ana').ask('Where do I live?').text} Nice place.",
    "a quote of it": lambda doxa: "As you told me: “I do not eat fish.” So no fish for Ana.",
    "a summary": lambda doxa: doxa.memory(user="ana").summary(),
    "a result of recall": lambda doxa: result(doxa, recall, "Where do I live?"),
    "a result of why": lambda doxa: result(doxa, why, "t0"),
    "a prompt of the proxy": beside,
}


@pytest.mark.parametrize("role", ["assistant", "tool"])
@pytest.mark.parametrize("echo", ECHOES)
def test_what_a_machine_says_back_is_no_new_fact_and_no_support(doxa, echo, role):
    """Nothing is surer for it, rests on it, or is believed because of it, however often it is said."""
    before = beliefs(doxa)
    said = ECHOES[echo](doxa)
    assert "Rome" in said or "Kim" in said or "fish" in said
    talk = doxa.dialogue(user="ana", speaker="Ana", session="two")
    for number in range(3):
        talk.absorb(said, role=role, speaker="recall" if role == "tool" else None, turn_id=f"echo{number}")
    talk.flush()
    after = beliefs(doxa)
    held = {one for one in after[0] if one[1] != "quarantined"}
    assert held == before[0] and after[2:] == before[2:]


@pytest.mark.parametrize("role", ["assistant", "tool"])
def test_an_echo_does_not_keep_alive_what_was_erased(doxa, role):
    """A fact whose one source is forgotten is not believed on the word of who repeated it."""
    doxa.dialogue(user="ana", session="two").absorb("Kim works for Acme.", role=role, turn_id="echo")
    doxa.dialogue(user="ana").flush()
    memory = doxa.memory(user="ana")
    memory.forget(turn_id="t1")
    assert not [fact for fact in memory.facts() if "Acme" in memory.describe(fact)]


def test_a_result_of_a_tool_of_mcp_says_nothing_of_the_user(doxa):
    """Even where a program passes it on as a message of the user."""
    before = beliefs(doxa)
    talk = doxa.dialogue(user="ana", speaker="Ana", session="two")
    talk.absorb(result(doxa, recall, "Where do I live?"), turn_id="echo1")
    talk.absorb(result(doxa, why, "t0"), turn_id="echo2")
    talk.flush()
    assert beliefs(doxa) == before


def test_what_a_proxy_put_beside_a_message_is_not_heard_by_the_next(doxa):
    """In either protocol, as a text or in parts; the words of the user are."""
    told = beside(doxa)
    assert told != MESSAGE and "Acme" in told
    parts = [{"type": "text", "text": MESSAGE}, {"type": "text", "text": told.removeprefix(MESSAGE)}]
    for content in (told, parts):
        talk = read_chat(Body(json.dumps({"messages": [{"role": "user", "content": content}]}).encode()))
        assert [one.text.strip() for one in talk.newest] == [MESSAGE]
    talk = read_responses(Body(json.dumps({"input": told}).encode()))
    assert [one.text for one in talk.newest] == [MESSAGE]


def test_a_message_is_the_same_with_and_without_what_was_put_beside_it(doxa):
    """So that it is stored once, whoever sends it again."""
    one, other = (
        read_chat(Body(json.dumps({"messages": [{"role": "user", "content": content}]}).encode()))
        for content in (MESSAGE, beside(doxa))
    )
    assert one.digest == other.digest


def test_a_second_proxy_behind_the_first_learns_nothing_from_it(doxa, client, secret_for):
    """An agent whose every message has the block of another proxy tells its own words alone."""
    before = beliefs(doxa)
    http = client(doxa, secret_for(doxa, "ana"))
    for _ in range(2):
        said = {"model": "doxa", "messages": [{"role": "user", "content": beside(doxa, "Good morning.")}]}
        assert http.post("/openai/v1/chat/completions", json=said).status_code == 200
    doxa.dialogue(user="ana").flush()
    assert beliefs(doxa) == before
    assert {turn.text for turn in doxa.memory(user="ana").turns() if turn.role == "user"} - {*TOLD_BEFORE} == {
        "Good morning."
    }


@pytest.mark.parametrize(
    "text",
    ["Nothing of the kind.", f"I wonder: {FIRST}?", TOLD.format(what="Something else", lines="{}"), TOLD, ""],
    ids=["plain", "its words alone", "another head", "no head", "empty"],
)
def test_what_only_looks_like_it_stays(text):
    """What the user wrote is theirs."""
    assert own_words(text) == text


def test_a_message_of_nothing_but_heads_is_read_at_once():
    """What it costs grows with the message."""
    head = TOLD.format(what=FIRST, lines="x").partition("x")[0]
    began = time.process_time()
    own_words(" " * 100_000 + head * 2_000 + " " * 100_000)
    assert time.process_time() - began < 5
