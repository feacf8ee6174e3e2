"""Sessions of the OpenAI Agents SDK beside a memory: the same calls as on its own, and what its own cannot do."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.engine import Records

pytest.importorskip("agents")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
from agents.memory import Session, SessionSettings
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from doxa.integrations.openai_agents import DoxaSession

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
ASKED = {"role": "user", "content": "I live in Rome."}
ANSWERED = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [
        {"type": "output_text", "text": "Rome is lovely.", "annotations": []},
        {"type": "refusal", "refusal": "No."},
    ],
}
ITEMS = [
    {"role": "system", "content": "Be brief."},
    ASKED,
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm, café \ud83d\ude00"}]},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"place": "Rome"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    ANSWERED,
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "See this."}, {"type": "input_image", "image_url": "x"}],
    },
    {"role": "user", "content": "  "},
    {"role": "user", "content": [{"type": "input_image", "image_url": "y", "detail": None}]},
]


@pytest.fixture
def own(shared, request):
    """A session of a user whom nobody else has, from its settings."""
    return lambda **settings: DoxaSession("s", shared, user=request.node.name, **settings)


def run(session, *calls):
    """Return what calls of a session give back, one after the other; an error is given as its type."""

    async def all_of_them():
        told = []
        for name, *args in calls:
            try:
                told.append(await getattr(session, name)(*args))
            except TypeError as exc:
                told.append(type(exc))
        return told

    return asyncio.run(all_of_them())


def texts(doxa, user="ana"):
    """Return role, speaker and text of what is remembered."""
    return [(turn.role, turn.speaker, turn.text) for turn in doxa.memory(user=user).turns(withdrawn=True)]


def test_it_is_a_session(doxa):
    """By the protocol of the framework; and it leads to the engine."""
    session = DoxaSession("s", doxa, user="ana", session_settings={"limit": 3})
    assert isinstance(session, Session) and session.session_id == "s"
    assert session.session_settings == SessionSettings(limit=3) and session.doxa is doxa
    assert DoxaSession("s", doxa, user="ana").session_settings == SQLiteSession("s").session_settings


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([("get_items",), ("pop_item",), ("clear_session",), ("get_items", 2)], id="empty"),
        pytest.param([("add_items", []), ("get_items",), ("add_items", ITEMS), ("get_items",)], id="any items"),
        pytest.param(
            [("add_items", ITEMS), *(("get_items", limit) for limit in (1, 4, 9, 10, 0, -1, -7))], id="limits"
        ),
        pytest.param([("add_items", ITEMS[:2]), ("add_items", ITEMS[1:4]), ("get_items", 4)], id="several calls"),
        pytest.param([("add_items", ITEMS[:3]), *[("pop_item",)] * 4, ("get_items",)], id="pop until empty"),
        pytest.param(
            [("add_items", ITEMS[:2]), ("pop_item",), ("add_items", ITEMS[3:5]), ("get_items",), ("pop_item",)],
            id="pop and add",
        ),
        pytest.param(
            [("add_items", ITEMS), ("clear_session",), ("get_items",), ("add_items", ITEMS[:1]), ("get_items",)],
            id="clear and add",
        ),
        pytest.param(
            [("add_items", [ASKED, {"role": "user", "content": {1, 2}}]), ("get_items",)], id="no JSON, nothing stored"
        ),
        pytest.param([("add_items", [{"role": "user", "content": 5}]), ("get_items",)], id="content that is none"),
        pytest.param([("add_items", [ASKED, "a text", None, 3]), ("get_items",), ("pop_item",)], id="no dicts"),
    ],
)
def test_the_same_calls_give_the_same_as_the_session_of_the_framework(own, calls):
    """Order, limits, items of any kind, the empty session, errors."""
    theirs = SQLiteSession("s")
    assert run(own(), *calls) == run(theirs, *calls)
    theirs.close()


@pytest.mark.parametrize("usual", [None, 2, 0], ids=str)
def test_the_limit_of_a_call_goes_before_that_of_the_settings(own, usual):
    """As in the session of the framework."""
    settings = SessionSettings(limit=usual)
    theirs = SQLiteSession("s", session_settings=settings)
    calls = [("add_items", ITEMS[2:5]), *(("get_items", limit) for limit in (None, 1, 2, 0, -1))]
    assert run(own(session_settings=settings), *calls) == run(theirs, *calls)
    theirs.close()


class Scripted(Model):
    """A model that says what it was given, and keeps what it is asked."""

    def __init__(self, *says):
        self.says, self.asked = list(says), []

    async def get_response(self, system_instructions, input, *args, **options):
        self.asked.append(input)
        part = ResponseOutputText(type="output_text", text=self.says.pop(0), annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args, **options):
        raise NotImplementedError


def test_an_agent_goes_on_from_what_was_said(doxa):
    """A run of the framework reads the session, and leaves what both said in it and in the memory."""
    model, session = Scripted("Nice.", "In Rome."), DoxaSession("s", doxa, user="ana")
    agent = Agent(name="guide", model=model)

    async def talk():
        for said in ("I live in Rome.", "Where do I live?"):
            await Runner.run(agent, said, session=session, run_config=RunConfig(tracing_disabled=True))

    asyncio.run(talk())
    assert [item["content"] for item in model.asked[1] if item["role"] == "user"] == [
        ASKED["content"],
        "Where do I live?",
    ]
    assert [text for _, _, text in texts(doxa)] == ["I live in Rome.", "Nice.", "Where do I live?", "In Rome."]


def test_words_of_user_and_assistant_are_turns_and_nothing_else_is(doxa):
    """By the names that were given; a message without words is an item alone."""
    run(DoxaSession("s", doxa, user="ana", agent="guide", speaker="Ana Ruiz"), ("add_items", ITEMS))
    assert texts(doxa) == [
        ("user", "Ana Ruiz", "I live in Rome."),
        ("assistant", "guide", "Rome is lovely."),
        ("user", "Ana Ruiz", "See this."),
    ]


def test_facts_come_of_messages_and_go_when_they_are_popped(doxa):
    """What an older message said is believed again."""
    session, memory = DoxaSession("s", doxa, user="ana"), doxa.memory(user="ana")
    run(session, ("add_items", [ASKED]), ("add_items", [{"role": "user", "content": "I moved to Paris."}]))
    doxa.flush()
    assert [memory.describe(fact).partition(" since")[0] for fact in memory.facts()] == ["Ana lives in Paris"]
    run(session, ("pop_item",))
    assert [memory.describe(fact) for fact in memory.facts()] == ["Ana lives in Rome"]
    run(session, ("clear_session",))
    assert memory.facts(current=False) == [] and texts(doxa) == []


def test_a_message_too_long_for_a_turn_is_an_item_alone():
    """The session of the framework keeps it too."""
    config = LIGHT.model_copy(update={"engine": LIGHT.engine.model_copy(update={"max_turn_chars": 20})})
    with Doxa.open(":memory:", config=config) as doxa:
        long = {"role": "user", "content": "I live in Rome. " * 2}
        assert run(DoxaSession("s", doxa, user="ana"), ("add_items", [long, ASKED]), ("get_items",))[1] == [long, ASKED]
        assert texts(doxa) == [("user", "Ana", "I live in Rome.")]


def test_sessions_and_users_are_kept_apart(doxa):
    """One name of two users, two names of one user, and what of another session is remembered."""
    one, other = DoxaSession("s", doxa, user="ana"), DoxaSession("t", doxa, user="ana")
    third = DoxaSession("s", doxa, user="ben")
    for at, session in enumerate((one, other, third)):
        run(session, ("add_items", [{"role": "user", "content": f"I have {at + 2} cats."}]))
    doxa.dialogue(user="ana", session="s").absorb("I like tea.")
    run(one, ("clear_session",))
    assert [len(run(session, ("get_items",))[0]) for session in (one, other, third)] == [0, 1, 1]
    assert [text for _, _, text in texts(doxa)] == ["I have 3 cats.", "I like tea."]
    assert [text for _, _, text in texts(doxa, "ben")] == ["I have 4 cats."]


def test_a_session_goes_on_after_the_file_is_opened_again(tmp_path):
    """Byte for byte, and with what was understood."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=LIGHT) as doxa:
        run(DoxaSession("s", doxa, user="ana"), ("add_items", ITEMS))
    with Doxa.open(path, config=LIGHT) as doxa:
        session, memory = DoxaSession("s", doxa, user="ana"), doxa.memory(user="ana")
        (found, *_) = run(session, ("get_items",), ("add_items", [ASKED]))
        assert json.dumps(found) == json.dumps(ITEMS)
        assert run(session, ("get_items", 2)) == [[ITEMS[-1], ASKED]]
        assert [memory.describe(fact) for fact in memory.facts()] == ["Ana lives in Rome"]


@pytest.mark.parametrize("call", ["pop_item", "clear_session"])
def test_what_is_removed_leaves_no_byte(tmp_path, call):
    """Neither of the item nor of its turn."""
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        session = DoxaSession("s", doxa, user="ana")
        run(session, ("add_items", [{"role": "user", "content": "My code word is canary4711."}]))
        doxa.flush()
        assert b"canary4711" in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        run(session, (call,))
        assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_a_session_of_before_is_read_and_goes_on(doxa):
    """It has no record of its name, and numbers its batches one after the other."""
    place, records = "eaeb9111b1c6744278e80397", Records(doxa, user="ana", shelf="openai_agents")
    old = [f"{place}/{batch:012}.{'0' * 32}/{at:08}" for batch in (1, 2) for at in range(2)]
    items = [*ITEMS[:2], *ITEMS[3:5]]
    records.put({key: json.dumps(item).encode() for key, item in zip(old, items, strict=True)})
    doxa.dialogue(user="ana", session="chat-1").absorb(ASKED["content"], turn_id=f"openai_agents/{old[1]}")
    session = DoxaSession("chat-1", doxa, user="ana")
    told = run(session, ("get_items",), ("add_items", [ANSWERED]), ("get_items", 2))
    assert told == [items, None, [items[-1], ANSWERED]]
    assert {key.removeprefix("names/")[:24] for key in records.all()} == {place}
    assert run(session, ("pop_item",), ("pop_item",), ("clear_session",)) == [ANSWERED, items[-1], None]
    assert records.all() == {} and texts(doxa) == []


def test_what_nobody_said_is_popped_without_waiting(doxa, monkeypatch):
    """Turns may still be read when an item goes that is none."""
    session, waited, wait = DoxaSession("s", doxa, user="ana"), [], doxa.wait
    run(session, ("add_items", [ASKED, *ITEMS[3:5]]))
    monkeypatch.setattr(doxa, "wait", lambda *args, **rest: waited.append(args) or wait(*args, **rest))
    assert run(session, ("pop_item",), ("pop_item",)) == [ITEMS[4], ITEMS[3]] and waited == []
    assert run(session, ("pop_item",)) == [ASKED] and waited != []


def test_forgetting_everything_of_a_user_empties_the_sessions(doxa):
    """They are records of that user."""
    session = DoxaSession("s", doxa, user="ana")
    run(session, ("add_items", ITEMS))
    doxa.memory(user="ana").forget(everything=True)
    assert run(session, ("get_items",), ("pop_item",)) == [[], None]


def test_many_calls_at_once_lose_nothing_and_pop_nothing_twice(doxa):
    """Two objects for one session; what one call adds stays together."""
    sessions = [DoxaSession("s", doxa, user="ana") for _ in range(2)]

    def batch(at):
        return [{"type": "function_call_output", "call_id": f"{at}", "output": f"{part}"} for part in range(3)]

    async def crowd():
        await asyncio.gather(*(sessions[at % 2].add_items(batch(at)) for at in range(12)))
        held = await sessions[0].get_items()
        return held, await asyncio.gather(*(sessions[at % 2].pop_item() for at in range(40)))

    held, popped = asyncio.run(crowd())
    assert sorted(int(item["call_id"]) for item in held[::3]) == list(range(12))
    assert held == [item for first in held[::3] for item in batch(int(first["call_id"]))]
    gone = [(item["call_id"], item["output"]) for item in popped if item is not None]
    assert len(gone) == 36 and sorted(gone) == sorted((item["call_id"], item["output"]) for item in held)


def test_the_event_loop_goes_on_and_who_is_cancelled_leaves_nothing_half_done(doxa, monkeypatch):
    """A write that is under way when its caller is cancelled is there when the caller hears of it."""
    session = DoxaSession("s", doxa, user="ana")
    begun, go_on, put = threading.Event(), threading.Event(), session._transcript._records.put

    def slow(bodies, **more):
        begun.set()
        go_on.wait(10)
        put(bodies, **more)

    monkeypatch.setattr(session._transcript._records, "put", slow)

    async def cancelled():
        adding = asyncio.create_task(session.add_items([ASKED]))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        for _ in range(2):
            adding.cancel()
            await asyncio.sleep(0.01)
        early = adding.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await adding
        return early, await session.get_items()

    assert asyncio.run(cancelled()) == (False, [ASKED])


def test_a_turn_does_not_outlive_an_item_that_is_removed_while_it_is_added(doxa, monkeypatch):
    """Another writer clears the session between the item and its turn."""
    session, other = DoxaSession("s", doxa, user="ana"), DoxaSession("s", doxa, user="ana")
    absorb = session._transcript._dialogue.absorb

    def late(*args, **options):
        other._transcript.clear()
        return absorb(*args, **options)

    monkeypatch.setattr(session._transcript._dialogue, "absorb", late)
    run(session, ("add_items", [ASKED]))
    assert run(session, ("get_items",)) == [[]] and texts(doxa) == []


def write(path, name, start):
    """Add ten items to a session, one after the other, by an engine of its own as another process has one."""
    doxa = Doxa.open(path, config=LIGHT)
    session = DoxaSession("s", doxa, user="ana")
    start.wait(60)
    for at in range(9):
        asyncio.run(session.add_items([{"type": name, "at": at}]))
    asyncio.run(session.add_items([{"role": "user", "content": f"{name} has 11 cats."}]))
    doxa.close(limit_s=0)


def test_two_engines_add_to_one_session_and_lose_nothing(tmp_path):
    """What each adds is in its order."""
    path, start = tmp_path / "memory.db", threading.Barrier(2)
    Doxa.open(path, config=LIGHT).close()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda name: write(path, name, start), ["Ben", "Cleo"]))
    with Doxa.open(path, config=LIGHT) as doxa:
        (held,) = run(DoxaSession("s", doxa, user="ana"), ("get_items",))
        for name in ("Ben", "Cleo"):
            assert [item["at"] for item in held if item.get("type") == name] == list(range(9))
        assert sorted(text for _, _, text in texts(doxa)) == ["Ben has 11 cats.", "Cleo has 11 cats."]
        assert len(held) == 20


def test_an_item_goes_with_the_turn_that_it_is(doxa):
    """What is forgotten in the memory is in no session either; tool calls stay."""
    session = DoxaSession("chat", doxa, user="ana")
    call = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
    asyncio.run(
        session.add_items([{"role": "user", "content": "I live in Rome."}, call, {"role": "user", "content": "Hi."}])
    )
    memory = doxa.memory(user="ana")
    memory.forget(turn_id=memory.turns()[0].turn_id)
    assert asyncio.run(session.get_items()) == [call, {"role": "user", "content": "Hi."}]
