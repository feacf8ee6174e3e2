"""The memory service of Google's ADK over a memory: the same calls as on its own, and what its own cannot do."""

import asyncio
import threading
import time
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.errors import InputError

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory import BaseMemoryService, InMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools import load_memory, preload_memory
from google.genai.types import Blob, Content, FunctionCall, Part

from doxa.integrations.adk import DoxaMemoryService

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
NOON = 1_714_564_800.0
ANA = {"app_name": "guide", "user_id": "ana"}
RICH = [
    Part(text="Paella photos, café \U0001f600", thought_signature=b"\xff\x00"),
    Part(inline_data=Blob(data=b"\x89PNG\xff", mime_type="image/png")),
    Part(function_call=FunctionCall(name="f", args={"x": None, "y": [1, {"z": "é"}]})),
]


@pytest.fixture
def doxa(doxa, shared, request, monkeypatch):
    """An engine in memory: apps are tenants, and those of one test have names that no other test has."""
    monkeypatch.setattr(doxa, "tenant", lambda name: shared.tenant(name and f"{request.node.name}/{name}"))
    return doxa


def event(text, id="e1", author="user", at=NOON, parts=None):
    """Return an event of somebody who says something."""
    role = "user" if author == "user" else "model"
    content = Content(role=role, parts=[Part(text=text)] if parts is None else parts)
    return Event(id=id, author=author, timestamp=at, content=content)


def session(*events, id="s", **who):
    return Session(id=id, **(ANA | who), events=list(events))


def run(*calls):
    """Return what calls give, one after the other."""

    async def all_of_them():
        return [await call for call in calls]

    return asyncio.run(all_of_them())


def found(service, query, **who):
    """Return what a search gives, as it is written in JSON."""
    (told,) = run(service.search_memory(query=query, **(ANA | who)))
    return [memory.model_dump(mode="json") for memory in told.memories]


def texts(service, query, **who):
    return [memory["content"]["parts"][0]["text"] for memory in found(service, query, **who)]


def test_it_is_a_memory_service_and_leads_to_the_engine(doxa):
    """An app is a tenant, or shares the engine's own users."""
    service, shared = DoxaMemoryService(doxa), DoxaMemoryService(doxa, apart=False)
    assert isinstance(service, BaseMemoryService) and service.doxa is doxa
    run(service.add_session_to_memory(session(event("I live in Rome."))))
    run(shared.add_session_to_memory(session(event("I have a dog."))))
    assert [turn.speaker for turn in doxa.tenant("guide").memory(user="ana").turns()] == ["Ana"]
    assert [turn.text for turn in doxa.memory(user="ana").turns()] == ["I have a dog."]
    assert texts(shared, "dog", app_name="other") == ["I have a dog."] and texts(service, "dog") != ["I have a dog."]


WORD = {"paella": 0, "tango": 1, "granite": 2}
"""Words that share nothing, so that keywords and recall find the same."""
EVENTS = [
    event("I made paella.", "e0"),
    event("Tango is on Monday.", "e1", "guide", NOON + 60),
    event("", "e2", parts=RICH[2:]),
    event("", "e3", parts=RICH),
    event("", "e4", parts=[]),
    event("  ", "e5"),
    Event(id="e6", author="user", timestamp=NOON),
    event("The kitchen top is granite.", "e7", at=NOON + 0.25),
]


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([], id="nothing"),
        pytest.param([("session", "s", EVENTS)], id="events of any kind"),
        pytest.param([("session", "s", EVENTS[:1]), ("session", "s", EVENTS[:4])], id="a session that grew"),
        pytest.param([("events", "s", EVENTS[:2]), ("events", "s", EVENTS[1:4])], id="events that overlap"),
        pytest.param([("events", None, EVENTS), ("events", "", EVENTS[:1])], id="without a session"),
        pytest.param([("session", "s", EVENTS), ("delete", "e0"), ("session", "s", EVENTS)], id="deleted for good"),
        pytest.param([("session", "s", EVENTS), ("delete", "e3"), ("events", "t", EVENTS)], id="deleted everywhere"),
        pytest.param([("delete", "e0"), ("session", "s", EVENTS)], id="deleted before it was known"),
        pytest.param([("session", "s", EVENTS), ("delete", None), ("delete", ""), ("delete", "no")], id="no id"),
        pytest.param([("events", "s", [EVENTS[0]]), ("events", "s", [event("Tango.", "e0")])], id="known is kept"),
        pytest.param([("events", "s", [EVENTS[0], event("Tango.", "e0")])], id="known in one call"),
        pytest.param([("session", "s", [EVENTS[0]]), ("session", "s", [event("Tango.", "e0")])], id="changed"),
    ],
)
def test_the_same_calls_give_the_same_as_the_service_of_the_framework(shared, calls):
    """Contents, authors, times and ids, byte for byte."""
    who = ANA | {"user_id": uuid4().hex}
    ours, theirs = DoxaMemoryService(shared), InMemoryMemoryService()
    for service in (ours, theirs):
        run(*(act(service, call, who) for call in calls))
    for word in WORD:
        assert [one for one in found(ours, word, **who) if word in str(one).lower()] == found(theirs, word, **who)
    assert found(ours, "", **who) == found(theirs, "", **who) == found(ours, " ", **who) == []


def act(service, call, who):
    name, *args = call
    if name == "session":
        return service.add_session_to_memory(session(*args[1], id=args[0], **who))
    if name == "events":
        return service.add_events_to_memory(**who, session_id=args[0], events=args[1])
    return service.delete_memory(**who, memory_id=args[0])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("session"), st.sampled_from("st"), st.integers(1, len(EVENTS)).map(lambda n: EVENTS[:n])),
        st.tuples(st.just("events"), st.sampled_from(["s", "t", None]), st.lists(st.sampled_from(EVENTS), max_size=3)),
        st.tuples(st.just("delete"), st.sampled_from(["e0", "e1", "e3", "e9"])),
    ),
    max_size=6,
)


@settings(max_examples=8, deadline=None)
@given(steps=STEPS)
def test_any_calls_leave_the_same_ids_behind(shared, steps):
    """What is kept, and how often, for sessions that only grow; a session that lost events is another test's."""
    who, grown, calls = ANA | {"user_id": uuid4().hex}, {}, []
    for step in steps:
        if step[0] == "delete":
            calls.append(step)
            continue
        known = grown.setdefault(step[1], {})
        known.update({one.id: one for one in step[2]})
        calls.append((step[0], step[1], list(known.values()) if step[0] == "session" else step[2]))
    ours, theirs = DoxaMemoryService(shared), InMemoryMemoryService()
    for service in (ours, theirs):
        run(*(act(service, call, who) for call in calls))
    for word in WORD:
        said = [one["id"] for one in found(ours, word, **who) if word in str(one).lower()]
        assert sorted(said) == sorted(one["id"] for one in found(theirs, word, **who))


def test_a_session_that_grew_adds_what_is_new_alone(doxa, monkeypatch):
    """Nothing is said a second time, and nothing known is looked at by the engine again."""
    service, told = DoxaMemoryService(doxa, apart=False), []
    run(service.add_session_to_memory(session(*EVENTS[:2])))
    receive = doxa.receive
    monkeypatch.setattr(doxa, "receive", lambda turn, **rest: told.append(turn.text) or receive(turn, **rest))
    for _ in range(2):
        run(service.add_session_to_memory(session(*EVENTS)))
    assert told == ["Paella photos, café \U0001f600", "The kitchen top is granite."]
    assert len(doxa.memory(user="ana").turns()) == 4


def test_events_that_a_session_has_no_more_stay(doxa):
    """Other than in the framework's: a session may have been read in part, with its latest events alone."""
    service, theirs = DoxaMemoryService(doxa), InMemoryMemoryService()
    for one in (service, theirs):
        run(one.add_session_to_memory(session(EVENTS[0])), one.add_session_to_memory(session(EVENTS[1])))
    assert "I made paella." in texts(service, "paella") and texts(theirs, "paella") == []


def test_what_was_revised_is_found_where_the_past_is_asked_about(doxa):
    """Other than by keywords; facts, revision and their reasons are reached by the engine."""
    service = DoxaMemoryService(doxa)
    moved = event("I moved to Paris.", "e2", at=NOON + 86400)
    run(service.add_session_to_memory(session(event("I live in Rome."), moved)))
    assert texts(service, "Where do I live?") == ["I moved to Paris."]
    assert "I live in Rome." in texts(service, "Where did I live?")
    engine = service.doxa.tenant("guide")
    assert engine.dialogue(user="ana").ask("Where did I live in April 2024?").value == "Rome"
    run(service.delete_memory(**ANA, memory_id="e2"))
    assert engine.dialogue(user="ana").ask("Where do I live?").value == "Rome"


def test_an_event_that_says_something_else_now_is_no_longer_believed(doxa):
    """What it said before is withdrawn, and what it says again is believed again; deleting erases both."""
    service, memory = DoxaMemoryService(doxa, apart=False), doxa.memory(user="ana")
    for place in ("Rome", "Paris", "Rome"):
        run(service.add_session_to_memory(session(event(f"I live in {place}."))))
        assert texts(service, "Where do I live?") == [f"I live in {place}."]
        assert [fact.object.label for fact in memory.facts()] == [place]
    assert len(memory.turns(withdrawn=True)) == 3
    run(service.delete_memory(**ANA, memory_id="e1"))
    assert memory.turns(withdrawn=True) == [] and memory.facts(current=False) == []


def test_thoughts_come_back_and_are_not_believed(doxa):
    """A model that thinks aloud states nothing."""
    service, memory = DoxaMemoryService(doxa, apart=False), doxa.memory(user="ana")
    thought = Part(text="Ana lives in Oslo.", thought=True)
    only, both = event("", "e1", "guide", parts=[thought]), event("", "e2", parts=[thought, Part(text="I like tea.")])
    run(service.add_session_to_memory(session(only, both)))
    assert [turn.text for turn in memory.turns()] == ["Ana lives in Oslo.", "I like tea."]
    doxa.flush()
    assert not any("Oslo" in memory.describe(fact) for fact in memory.facts(current=False))
    assert {one["id"]: len(one["content"]["parts"]) for one in found(service, "Oslo tea")} == {"e1": 1, "e2": 2}


def test_memories_can_be_added_by_hand(doxa):
    """With their own id, time, author and metadata, or without any."""
    service = DoxaMemoryService(doxa, apart=False)
    hers = MemoryEntry(
        id="m1", content=Content(role="user", parts=[Part(text="I live in Rome.")]), author="Ana Ruiz",
        timestamp="2024-03-01T12:00:00+01:00", custom_metadata={"a": 1},
    )  # fmt: skip
    bare = MemoryEntry(content=Content(role="model", parts=[Part(text="Tango is on Monday.")]), timestamp="long ago")
    run(service.add_memory(**ANA, memories=[hers, bare], custom_metadata={"b": [2]}))
    (first, *_), (second, *_) = found(service, "Rome"), found(service, "tango")
    assert first == hers.model_dump(mode="json") | {"custom_metadata": {"a": 1, "b": [2]}}
    assert second["timestamp"] == "long ago" and second["author"] is None and second["id"]
    turns = doxa.memory(user="ana").turns()
    assert [(turn.role, turn.speaker) for turn in turns] == [("user", "Ana Ruiz"), ("assistant", "assistant")]
    assert turns[0].at.isoformat() == "2024-03-01T11:00:00+00:00"
    run(service.delete_memory(**ANA, memory_id="m1"), service.add_memory(**ANA, memories=[hers]))
    assert texts(service, "Rome")[0] == "I live in Rome."


@pytest.fixture
def move(monkeypatch):
    """Have the program run in another time zone."""

    def to(zone):
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield to
    monkeypatch.undo()
    time.tzset()


def test_times_are_written_where_they_are_read(doxa, move):
    """A session that is added again in another place says nothing new; an event at another time does."""
    service, theirs, memory = DoxaMemoryService(doxa, apart=False), InMemoryMemoryService(), doxa.memory(user="ana")
    for zone, at in (("Asia/Tokyo", NOON), ("America/Lima", NOON), ("America/Lima", NOON + 1)):
        move(zone)
        for one in (service, theirs):
            run(one.add_session_to_memory(session(event("I made paella.", at=at))))
        assert found(service, "paella") == found(theirs, "paella")
    assert len(memory.turns()) == 1 and len(memory.turns(withdrawn=True)) == 2


def test_metadata_of_events_comes_back_and_adding_the_session_leaves_it(doxa):
    """Other than in the framework's own, which drops it."""
    service, memory = DoxaMemoryService(doxa, apart=False), doxa.memory(user="ana")
    run(
        service.add_events_to_memory(**ANA, session_id="s", events=EVENTS[:1], custom_metadata={"ttl": "1d"}),
        service.add_session_to_memory(session(*EVENTS[:1])),
    )
    assert [one["custom_metadata"] for one in found(service, "paella")] == [{"ttl": "1d"}]
    assert len(memory.turns(withdrawn=True)) == 1


def test_what_the_memory_has_from_elsewhere_is_found_and_deleted_too(doxa):
    """A turn of no session of ADK's."""
    service = DoxaMemoryService(doxa, apart=False)
    doxa.dialogue(user="ana").absorb("I made paella.", turn_id="t1", at="2024-05-01T12:00", metadata={"a": 1})
    (one,) = found(service, "paella")
    assert (one["id"], one["author"], one["content"]["role"], one["custom_metadata"]) == (
        "t1",
        "user",
        "user",
        {"a": 1},
    )
    assert one["content"]["parts"][0]["text"] == "I made paella."
    run(service.delete_memory(**ANA, memory_id="t1"))
    assert doxa.memory(user="ana").turns() == []


def test_users_and_apps_share_nothing(doxa):
    """Neither by names that look alike when they are put together."""
    service = DoxaMemoryService(doxa)
    owners = [("a", "b/c"), ("a/b", "c"), ("a", "b"), ("a", "c")]
    for at, (app, user) in enumerate(owners):
        run(service.add_session_to_memory(session(event(f"I have {at + 2} cats."), app_name=app, user_id=user)))
    for at, (app, user) in enumerate(owners):
        assert texts(service, "cats", app_name=app, user_id=user) == [f"I have {at + 2} cats."]
    run(service.delete_memory(app_name="a", user_id="b", memory_id="e1"))
    assert [len(found(service, "cats", app_name=app, user_id=user)) for app, user in owners] == [1, 1, 0, 1]


def test_a_search_gives_as_many_as_were_asked_for(doxa):
    """Ten at most if nothing is said, as in the framework's own."""
    many = [event(f"Paella number {at} was good.", f"e{at}") for at in range(14)]
    service = DoxaMemoryService(doxa)
    run(service.add_session_to_memory(session(*many)))
    assert len(found(service, "paella")) == 10 and len(found(DoxaMemoryService(doxa, top_k=3), "paella")) == 3


def test_it_goes_on_after_the_file_is_opened_again(tmp_path):
    """What was deleted stays so."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=LIGHT) as doxa:
        service = DoxaMemoryService(doxa)
        run(service.add_session_to_memory(session(*EVENTS)), service.delete_memory(**ANA, memory_id="e0"))
        before = found(service, "tango photos")
    with Doxa.open(path, config=LIGHT) as doxa:
        service = DoxaMemoryService(doxa)
        run(service.add_session_to_memory(session(*EVENTS)))
        assert found(service, "tango photos") == before != []
        assert "I made paella." not in texts(service, "paella")


def test_deleting_leaves_no_byte(tmp_path):
    """Neither of the event nor of its turn, nor of what it said before."""
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        service = DoxaMemoryService(doxa)
        for code in ("canary4711", "canary4712"):
            run(service.add_session_to_memory(session(event(f"My code word is {code}."))))
        assert b"canary471" in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        run(service.delete_memory(**ANA, memory_id="e1"))
        assert b"canary471" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_what_is_deleted_while_it_is_added_leaves_nothing(doxa, monkeypatch):
    """Another writer deletes it between the turn and its record."""
    service, memory = DoxaMemoryService(doxa, apart=False), doxa.memory(user="ana")
    run(service.add_events_to_memory(**ANA, session_id="t", events=EVENTS[:1]))
    receive = doxa.receive

    def late(turn, **rest):
        told = receive(turn, **rest)
        DoxaMemoryService(doxa, apart=False)._delete("guide", "ana", "e0")
        return told

    monkeypatch.setattr(doxa, "receive", late)
    run(service.add_session_to_memory(session(EVENTS[0])))
    assert memory.turns(withdrawn=True) == [] and found(service, "paella") == []


def test_what_a_crash_interrupted_is_done_at_the_next_time(doxa, monkeypatch):
    """The process dies between the turn and its record."""
    service, memory = DoxaMemoryService(doxa, apart=False), doxa.memory(user="ana")
    with monkeypatch.context() as patched:
        patched.setattr("doxa.integrations.adk._stored", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(service.add_session_to_memory(session(EVENTS[0])))
    assert texts(service, "paella") == ["I made paella."]
    run(service.add_session_to_memory(session(EVENTS[0])))
    assert [one["id"] for one in found(service, "paella")] == ["e0"] and len(memory.turns()) == 1


def test_who_adds_at_once_loses_nothing_and_says_nothing_twice(doxa):
    """Several sessions, each by several callers."""
    service = DoxaMemoryService(doxa, apart=False)
    sessions = [
        session(*(event(f"Cat {at} of {name} sleeps.", f"{name}{at}") for at in range(3)), id=name) for name in "ab"
    ]

    async def crowd():
        await asyncio.gather(*(service.add_session_to_memory(sessions[at % 2]) for at in range(8)))

    asyncio.run(crowd())
    assert len(doxa.memory(user="ana").turns()) == 6 and len(found(service, "cat")) == 6


def test_who_is_cancelled_leaves_nothing_half_done(doxa, monkeypatch):
    """A write that is under way is there when its caller hears of the end."""
    service = DoxaMemoryService(doxa, apart=False)
    begun, go_on, receive = threading.Event(), threading.Event(), doxa.receive

    def slow(turn, **rest):
        begun.set()
        go_on.wait(10)
        return receive(turn, **rest)

    monkeypatch.setattr(doxa, "receive", slow)

    async def cancelled():
        adding = asyncio.create_task(service.add_session_to_memory(session(EVENTS[0])))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        adding.cancel()
        await asyncio.sleep(0.01)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await adding

    asyncio.run(cancelled())
    assert [one["id"] for one in found(service, "paella")] == ["e0"]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda one: one.add_session_to_memory(session(EVENTS[0], event("b", "e9", at=float("nan")))), "e9.*seconds"),
        (lambda one: one.add_session_to_memory(session(EVENTS[0], event("b", "e9", at=1e20))), "e9.*seconds"),
        (lambda one: one.add_session_to_memory(session(EVENTS[0], user_id=" ")), "user: expected a name"),
        (lambda one: one.search_memory(app_name="", user_id="ana", query="a"), "tenant: expected a name"),
        (lambda one: one.add_events_to_memory(**ANA, events=EVENTS, custom_metadata={"a": {1}}), "plain JSON data"),
    ],
    ids=["no time", "a time too late", "no user", "no app", "no JSON"],
)
def test_wrong_input_is_told_and_stores_nothing(doxa, call, says):
    """All or none of what one call adds."""
    service = DoxaMemoryService(doxa)
    with pytest.raises(InputError, match=says):
        run(call(service))
    assert doxa.tenant("guide").memory(user="ana").turns() == []


class Scripted(BaseLlm):
    """A model that says what it was given, and keeps what it is asked."""

    says: list
    asked: list

    async def generate_content_async(self, llm_request, stream=False):
        self.asked.append(llm_request)
        yield LlmResponse(content=Content(role="model", parts=[self.says.pop(0)]))


async def remembered(callback_context):
    """Have an agent remember its session after every run, as ADK's pages do."""
    await callback_context.add_session_to_memory()


@pytest.mark.parametrize("tool", [load_memory, preload_memory], ids=["load", "preload"])
def test_an_agent_is_told_what_another_session_said(doxa, tool):
    """By the tools of the framework."""
    calls = [Part(function_call=FunctionCall(name="load_memory", args={"query": "where I live"}))]
    calls = calls if tool is load_memory else []
    model = Scripted(model="scripted", says=[Part(text="Nice."), *calls, Part(text="In Rome.")], asked=[])
    agent = LlmAgent(name="guide", model=model, tools=[tool], after_agent_callback=remembered)
    sessions = InMemorySessionService()
    runner = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=DoxaMemoryService(doxa))

    async def talk():
        for said in ("I live in Rome.", "Where do I live?"):
            chat = await sessions.create_session(app_name="app", user_id="ana")
            message = Content(role="user", parts=[Part(text=said)])
            async for _ in runner.run_async(user_id="ana", session_id=chat.id, new_message=message):
                pass

    model.says[:0] = calls
    asyncio.run(talk())
    assert "I live in Rome." in model.asked[-1].model_dump_json(include={"contents"})
    said = [turn.text for turn in doxa.tenant("app").memory(user="ana").turns()]
    assert said == ["I live in Rome.", "Nice.", "Where do I live?", "In Rome."]
