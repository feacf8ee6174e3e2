"""LangChain over a memory: the same calls as on its own classes, and what its own cannot do."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.errors import InputError

pytest.importorskip("langchain_core")

from langchain_core.chat_history import BaseChatMessageHistory, InMemoryChatMessageHistory
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.stores import InMemoryByteStore, InvalidKeyException
from langchain_core.utils.function_calling import convert_to_openai_tool

from doxa.integrations.langchain import DoxaByteStore, DoxaChatMessageHistory, DoxaRetriever, DoxaToolkit

pytestmark = pytest.mark.filterwarnings("ignore:The class `InMemoryChatMessageHistory` was deprecated")

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
CALLING = AIMessage(
    content=[{"type": "text", "text": "Let me see."}, {"type": "image_url", "image_url": {"url": "x"}}],
    id="run-1",
    name="guide",
    tool_calls=[
        {"name": "weather", "args": {"place": "Rome", "days": [1, 2.5, None]}, "id": "c1", "type": "tool_call"}
    ],
    invalid_tool_calls=[{"name": "w", "args": "{", "id": "c2", "error": "no JSON", "type": "invalid_tool_call"}],
    additional_kwargs={"refusal": None, "deep": {"b": 1, "a": [True]}},
    response_metadata={"model": "m", "finish_reason": "tool_calls"},
    usage_metadata=UsageMetadata(input_tokens=1, output_tokens=2, total_tokens=3),
)
MESSAGES = [
    SystemMessage("Be brief."),
    HumanMessage("I live in Rome.", id="h1"),
    CALLING,
    ToolMessage("sunny", tool_call_id="c1", artifact={"degrees": 31}, status="error", name="weather"),
    AIMessage("Rome is lovely."),
    ChatMessage("Hm, café \ud83d\ude00 \udc00", role="critic"),
    FunctionMessage(name="f", content="1"),
    RemoveMessage(id="h1"),
    HumanMessageChunk("I have two cats."),
    AIMessageChunk("Nice", tool_call_chunks=[{"name": "w", "args": "{", "id": "c3", "index": 0}]),
    HumanMessage("  "),
    HumanMessage([{"type": "text", "text": "See "}, "this."]),
]


@pytest.fixture
def doxa(shared, request):
    """An engine with nothing in it, and models that are loaded already."""
    return shared.tenant(request.node.name)


def history(doxa, **settings):
    return DoxaChatMessageHistory(settings.pop("session_id", "s"), doxa, user=settings.pop("user", "ana"), **settings)


def texts(doxa, user="ana"):
    return [(turn.role, turn.speaker, turn.text) for turn in doxa.memory(user=user).turns(withdrawn=True)]


def files(folder):
    return b"".join(one.read_bytes() for one in folder.iterdir())


# Chat history


def test_a_chat_history_gives_back_every_kind_of_message_as_that_of_langchain_does(doxa):
    """Sync and async, in one call and in several; type, content and all that hangs on it."""
    ours, theirs = history(doxa), InMemoryChatMessageHistory()
    assert isinstance(ours, BaseChatMessageHistory) and ours.messages == theirs.messages == []
    for some in (MESSAGES[:3], [], MESSAGES[3:]):
        ours.add_messages(some)
        theirs.add_messages(some)
    for one in (ours, theirs):
        one.add_user_message("Hello.")
        one.add_ai_message("Hi.")
        one.add_message(SystemMessage("x"))
        asyncio.run(one.aadd_messages(MESSAGES[1:3]))
    assert ours.messages == theirs.messages == asyncio.run(ours.aget_messages())
    assert [type(one) for one in ours.messages] == [type(one) for one in theirs.messages]
    assert [one.model_dump() for one in ours.messages] == [one.model_dump() for one in theirs.messages]
    ours.clear()
    theirs.clear()
    assert ours.messages == theirs.messages == []
    for one in (ours, theirs):
        one.add_messages(MESSAGES[:7])
    assert str(ours) == str(theirs)
    asyncio.run(ours.aclear())
    assert ours.messages == []


said = st.one_of(
    st.builds(HumanMessage, st.text(), name=st.none() | st.sampled_from(["Ben", "Cleo"])),
    st.builds(AIMessage, st.text()),
    st.builds(ToolMessage, st.text(), tool_call_id=st.text(max_size=3)),
    st.sampled_from(MESSAGES),
)


@settings(max_examples=15, deadline=None)
@given(calls=st.lists(st.one_of(st.none(), st.lists(said, max_size=3)), max_size=3))
def test_any_calls_leave_the_same_messages_as_those_on_langchains_own(shared, calls):
    """None stands for `clear`."""
    ours, theirs = history(shared, user="property"), InMemoryChatMessageHistory()
    ours.clear()
    for messages in calls:
        for one in (ours, theirs):
            one.clear() if messages is None else one.add_messages(messages)
    assert ours.messages == theirs.messages


def test_what_humans_and_ais_say_is_turns_by_their_names(doxa):
    """And nothing else is; a message without words is kept alone."""
    history(doxa, agent="helper", speaker="Ana Ruiz").add_messages([*MESSAGES, HumanMessage("Me too.", name="Ben")])
    assert texts(doxa) == [
        ("user", "Ana Ruiz", "I live in Rome."),
        ("assistant", "guide", "Let me see."),
        ("assistant", "helper", "Rome is lovely."),
        ("user", "Ana Ruiz", "I have two cats."),
        ("assistant", "helper", "Nice"),
        ("user", "Ana Ruiz", "See this."),
        ("user", "Ben", "Me too."),
    ]


def test_facts_come_of_messages_are_revised_and_go_with_them(doxa):
    """In every session of the user, and for that user alone."""
    ours, memory = history(doxa), doxa.memory(user="ana")
    ours.add_user_message("I live in Rome.")
    history(doxa, session_id="t").add_user_message("I moved to Paris.")
    doxa.flush()
    assert [memory.describe(fact).partition(" since")[0] for fact in memory.facts()] == ["Ana lives in Paris"]
    assert ours.doxa.memory(user="ben").facts() == [] == history(doxa, user="ben").messages
    history(doxa, session_id="t").clear()
    assert [memory.describe(fact) for fact in memory.facts()] == ["Ana lives in Rome"]
    assert ours.messages == [HumanMessage("I live in Rome.")]
    memory.forget(everything=True)
    assert ours.messages == []


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        pytest.param([HumanMessage("I like tea."), "text"], TypeError, id="no message"),
        pytest.param([HumanMessage("I like tea.", additional_kwargs={"x": {1}})], TypeError, id="no JSON"),
    ],
)
def test_what_cannot_be_kept_is_refused_whole(doxa, messages, error):
    """Nothing of the call is stored."""
    with pytest.raises(error):
        history(doxa).add_messages(messages)
    assert history(doxa).messages == [] and texts(doxa) == []


def test_a_chat_goes_on_after_the_file_is_opened_again_and_leaves_no_byte_when_cleared(tmp_path):
    """Neither of the message nor of its turn."""
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        history(doxa).add_messages([*MESSAGES, HumanMessage("My code word is canary4711.")])
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        assert history(doxa).messages == [*MESSAGES, HumanMessage("My code word is canary4711.")]
        assert b"canary4711" in files(tmp_path)
        history(doxa).clear()
        assert b"canary4711" not in files(tmp_path) and texts(doxa) == []


def test_many_writers_lose_no_message_and_what_one_call_adds_stays_together(doxa):
    """Two objects for one session."""

    async def crowd():
        calls = [[ToolMessage(str(part), tool_call_id=str(at)) for part in range(3)] for at in range(12)]
        await asyncio.gather(*(history(doxa).aadd_messages(call) for call in calls))
        return calls, await history(doxa).aget_messages()

    calls, held = asyncio.run(crowd())
    assert sorted((held[at : at + 3] for at in range(0, 36, 3)), key=lambda call: int(call[0].tool_call_id)) == calls


def write(path, name, start):
    """Add ten messages one after the other, by an engine of its own as another process has one."""
    with Doxa.open(path, config=LIGHT) as doxa:
        start.wait(60)
        for at in range(9):
            history(doxa).add_messages([ToolMessage(str(at), tool_call_id=name)])
        history(doxa).add_user_message(f"{name} has 11 cats.")


def test_two_engines_add_to_one_history_and_lose_nothing(tmp_path):
    """What each adds is in its order."""
    path, start = tmp_path / "memory.db", threading.Barrier(2)
    Doxa.open(path, config=LIGHT).close()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda name: write(path, name, start), ["Ben", "Cleo"]))
    with Doxa.open(path, config=LIGHT) as doxa:
        held = history(doxa).messages
        for name in ("Ben", "Cleo"):
            assert [int(one.content) for one in held if getattr(one, "tool_call_id", "") == name] == [*range(9)]
        assert sorted(text for _, _, text in texts(doxa)) == ["Ben has 11 cats.", "Cleo has 11 cats."]
        assert len(held) == 20


def test_a_message_too_long_for_a_turn_is_kept_alone():
    """The history of the framework keeps it too."""
    config = LIGHT.model_copy(update={"engine": LIGHT.engine.model_copy(update={"max_turn_chars": 20})})
    with Doxa.open(":memory:", config=config) as doxa:
        both = [HumanMessage("I live in Rome. " * 2), HumanMessage("I live in Rome.")]
        history(doxa).add_messages(both)
        assert history(doxa).messages == both and texts(doxa) == [("user", "Ana", "I live in Rome.")]


def test_who_is_cancelled_leaves_nothing_half_done_and_the_loop_goes_on(doxa, monkeypatch):
    """A write that is under way when its caller is cancelled is there when the caller hears of it."""
    ours = history(doxa)
    begun, go_on, put = threading.Event(), threading.Event(), ours._transcript._records.put

    def slow(bodies, **more):
        begun.set()
        go_on.wait(10)
        put(bodies, **more)

    monkeypatch.setattr(ours._transcript._records, "put", slow)

    async def cancelled():
        adding = asyncio.create_task(ours.aadd_messages([HumanMessage("I like tea.")]))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        adding.cancel()
        await asyncio.sleep(0.01)
        early = adding.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await adding
        return early, await ours.aget_messages()

    assert asyncio.run(cancelled()) == (False, [HumanMessage("I like tea.")])
    assert texts(doxa) == [("user", "Ana", "I like tea.")]


def test_a_turn_does_not_outlive_a_message_that_is_cleared_while_it_is_added(doxa, monkeypatch):
    """Another writer clears the session between the message and its turn."""
    ours = history(doxa)
    absorb = ours._transcript._dialogue.absorb

    def late(*args, **options):
        history(doxa).clear()
        return absorb(*args, **options)

    monkeypatch.setattr(ours._transcript._dialogue, "absorb", late)
    ours.add_user_message("I like tea.")
    assert ours.messages == [] and texts(doxa) == []


# Key-value store

keys = st.text(max_size=3) | st.sampled_from(["a", "ab", "a/b", "", "x" * 500, "\udc00", "\x00", "%", "_"])
calls = st.one_of(
    st.tuples(st.just("mset"), st.lists(st.tuples(keys, st.binary(max_size=4)), max_size=3)),
    st.tuples(st.just("mdelete"), st.lists(keys, max_size=3)),
    st.tuples(st.just("mget"), st.lists(keys, max_size=4)),
)


@settings(max_examples=40, deadline=None)
@given(made=st.lists(calls, max_size=8), prefix=st.none() | keys)
def test_any_calls_give_the_same_as_on_langchains_own_store(shared, made, prefix):
    """Keys of any text, values of any bytes; sync and async."""
    ours, theirs = DoxaByteStore(shared, user="stores"), InMemoryByteStore()
    ours.mdelete([*ours.yield_keys()])
    for name, argument in made:
        assert getattr(ours, name)(argument) == getattr(theirs, name)(argument)

    async def listed():
        return [key async for key in ours.ayield_keys(prefix=prefix)]

    assert [*ours.yield_keys(prefix=prefix)] == sorted(theirs.yield_keys(prefix=prefix)) == asyncio.run(listed())
    everything = [*theirs.yield_keys()]
    assert ours.mget(everything) == theirs.mget(everything) == asyncio.run(ours.amget(everything))


def test_stores_of_two_users_and_of_two_names_share_no_key_and_are_forgotten_with_their_user(doxa):
    """Nothing of them is a turn."""
    one, other, third = (
        DoxaByteStore(doxa, user=user, namespace=name) for user, name in (("ana", "a"), ("ana", "b"), ("ben", "a"))
    )
    for at, store in enumerate((one, other, third)):
        asyncio.run(store.amset([("k", bytes([at])), (f"{at}", b"")]))
    asyncio.run(one.amdelete(["k"]))
    assert [store.mget(["k"]) for store in (one, other, third)] == [[None], [b"\x01"], [b"\x02"]]
    assert [[*store.yield_keys()] for store in (one, other, third)] == [["0"], ["1", "k"], ["2", "k"]]
    doxa.memory(user="ana").forget(everything=True)
    assert [[*store.yield_keys()] for store in (one, other, third)] == [[], [], ["2", "k"]]
    assert texts(doxa) == [] and one.doxa is doxa


def test_what_is_no_key_or_no_bytes_is_refused_whole(doxa):
    """By the framework's own exception for keys."""
    store = DoxaByteStore(doxa, user="ana")
    with pytest.raises(TypeError, match="Expected bytes for the key 'b', got str"):
        store.mset([("a", b"1"), ("b", "text")])
    for call in (lambda: store.mget([1]), lambda: store.mset([("a", b"1"), (1, b"1")]), lambda: store.mdelete([None])):
        with pytest.raises(InvalidKeyException):
            call()
    assert [*store.yield_keys()] == []
    with pytest.raises(InputError):
        DoxaByteStore(doxa, user=" ")


def test_values_outlive_the_process_and_deleted_ones_leave_no_byte(tmp_path):
    """Nor do their keys, however many go at once."""
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        DoxaByteStore(doxa, user="ana").mset([("canary-key", b"canary-1"), ("b", b"canary-2"), ("c", b"3")])
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        store = DoxaByteStore(doxa, user="ana")
        assert store.mget(["b", "canary-key", "x"]) == [b"canary-2", b"canary-1", None]
        assert b"canary" in files(tmp_path)
        store.mdelete(["canary-key", "b"])
        assert b"canary" not in files(tmp_path) and [*store.yield_keys()] == ["c"]


# Retriever


@pytest.fixture
def told(doxa):
    """A memory of two sessions and two speakers."""
    first = doxa.dialogue(user="ana", session="s1")
    first.absorb("I live in Rome.", at="2024-01-05", turn_id="rome", metadata={"topic": "home"})
    first.absorb("Rome is lovely.", role="assistant", at="2024-01-05", turn_id="lovely")
    second = doxa.dialogue(user="ana", session="s2")
    second.absorb("I moved to Paris.", at="2024-06-02", turn_id="paris", metadata={"topic": "home"})
    second.absorb("I have two cats.", at="2024-06-03", turn_id="cats")
    return doxa


def test_a_document_says_what_was_said_when_by_whom_and_what_is_believed_of_it(told):
    """At once after it was said."""
    found = DoxaRetriever(doxa=told, user="ana", k=1).invoke("Where do I live?")
    (fact,) = told.memory(user="ana").facts(relation="lives_in")
    assert [(one.id, one.page_content) for one in found] == [("paris", "Ana: I moved to Paris.")]
    metadata = found[0].metadata
    assert metadata.pop("score") > 0
    assert metadata == {
        "kind": "turn",
        "turn_ids": ["paris"],
        "fact_ids": [fact.fact_id],
        "at": "2024-06-02T00:00:00+00:00",
        "speaker": "Ana",
        "role": "user",
        "session": "s2",
        "metadata": {"topic": "home"},
    }


@pytest.mark.parametrize(
    ("narrow", "ids"),
    [
        pytest.param({}, {"paris", "cats", "lovely"}, id="what is revised is not found"),
        pytest.param({"superseded": True}, {"rome", "paris", "cats", "lovely"}, id="superseded"),
        pytest.param({"session": "s1"}, {"lovely"}, id="session"),
        pytest.param({"speaker": "Ana"}, {"paris", "cats"}, id="speaker"),
        pytest.param({"since": "2024-06-03"}, {"cats"}, id="since"),
        pytest.param({"until": datetime(2024, 6, 2, 12, tzinfo=UTC)}, {"lovely", "paris"}, id="until"),
        pytest.param({"known_at": "2024-02"}, {"rome", "lovely"}, id="known_at"),
        pytest.param({"filter": lambda one: one.metadata["role"] == "assistant"}, {"lovely"}, id="filter"),
        pytest.param({"filter": lambda one: False}, set(), id="filter that lets nothing through"),
    ],
)
def test_filters_are_those_of_a_search_when_it_is_made_and_for_a_call(told, narrow, ids):
    """Sync and async give the same."""
    made = DoxaRetriever(doxa=told, user="ana", **narrow)
    assert {one.id for one in made.invoke("Where do I live?")} == ids
    assert {one.id for one in asyncio.run(made.ainvoke("Where do I live?"))} == ids
    usual = DoxaRetriever(doxa=told, user="ana")
    assert {one.id for one in usual.invoke("Where do I live?", **narrow)} == ids


def test_a_filter_is_given_as_many_documents_as_it_takes(doxa):
    """The ones that it wants may be the last."""
    talk = doxa.dialogue(user="ana")
    for at in range(12):
        talk.absorb(f"I saw film number {at}.", turn_id=f"f{at}")
    last = [one.id for one in DoxaRetriever(doxa=doxa, user="ana", k=12).invoke("Which films?")][-2:]
    found = DoxaRetriever(doxa=doxa, user="ana", k=2, filter=lambda one: one.id in last).invoke("Which films?")
    assert {one.id for one in found} == {*last}


def test_a_retriever_sees_one_user_alone_and_neither_what_is_withdrawn_nor_forgotten(told):
    """Its engine is not part of what is written down of it."""
    made = DoxaRetriever(doxa=told, user="ana")
    assert DoxaRetriever(doxa=told, user="ben").invoke("Where do I live?") == []
    made.doxa.memory(user="ana").withdraw(turn_id="paris")
    made.doxa.memory(user="ana").forget(turn_id="cats")
    assert {one.id for one in made.invoke("Where do I live?")} == {"rome", "lovely"}
    assert made.model_dump()["user"] == "ana" and "doxa" not in made.model_dump()
    assert made.batch(["Where do I live?"] * 2, {"run_name": "r"})[1][0].id == "rome"


@pytest.mark.parametrize("given", [{"k": 0}, {"top_k": 3}, {"since": "soon"}], ids=str)
def test_a_retriever_says_what_it_cannot_do(told, given):
    """A setting that it has not is refused rather than passed over."""
    with pytest.raises(InputError):
        DoxaRetriever(doxa=told, user="ana").invoke("Where do I live?", **given)


# Tools


def call(tool, **args):
    """Return what a model is told after it called a tool."""
    return tool.invoke({"name": tool.name, "args": args, "id": "1", "type": "tool_call"})


def test_a_model_remembers_recalls_explains_and_forgets(doxa):
    """The ids that a tool shows are those that the next one takes."""
    remember, recall, forget, why = DoxaToolkit(doxa=doxa, user="ana", session="s", agent="helper").get_tools()
    call(remember, text="I live in Rome.")
    call(remember, text="I moved to Paris.")
    found = call(recall, query="Where do I live?")
    (turn,) = found.artifact
    assert found.content.splitlines()[0].startswith(f"[{turn.id}, ") and "I moved to Paris." in found.content
    (fact,) = doxa.memory(user="ana").facts()
    assert f"  [{fact.fact_id}] Ana lives in Paris" in found.content
    assert "Rome" in call(why, fact_id=fact.fact_id).content
    assert call(forget, turn_ids=[turn.id, turn.id]).status == "success"
    assert [str(one.object) for one in doxa.memory(user="ana").facts()] == ["Rome"]
    assert [turn.session for turn in doxa.memory(user="ana").turns()] == ["s"]


def test_what_a_model_gets_wrong_it_is_told(doxa):
    """And nothing happens; without a memory of its own it finds nothing of anybody else's."""
    doxa.dialogue(user="ben").absorb("I live in Rome.", turn_id="bens")
    remember, recall, forget, why = DoxaToolkit(doxa=doxa, user="ana").get_tools()
    ours = doxa.dialogue(user="ana").absorb("I like tea.", turn_id="tea").turn_id
    wrong = [
        call(forget, turn_ids=[ours, "bens"]),
        call(forget, turn_ids=[]),
        call(why, fact_id="f"),
        call(remember, text=" "),
        call(recall, query=" "),
        call(recall, query="tea", k=0),
        asyncio.run(why.ainvoke({"name": "why", "args": {"fact_id": "f"}, "id": "1", "type": "tool_call"})),
    ]
    assert [one.status for one in wrong] == ["error"] * len(wrong)
    assert "There is no statement bens; nothing was forgotten." in wrong[0].content
    assert [text for _, _, text in texts(doxa)] == ["I like tea."]
    assert call(DoxaToolkit(doxa=doxa, user="cleo").get_tools()[1], query="Rome").content == "Nothing is known of that."


def test_a_model_is_shown_names_descriptions_and_arguments_and_no_user(doxa):
    """Whose memory it is no call can say."""
    shown = [convert_to_openai_tool(tool)["function"] for tool in DoxaToolkit(doxa=doxa, user="ana").get_tools()]
    assert [(one["name"], [*one["parameters"]["properties"]]) for one in shown] == [
        ("remember", ["text"]),
        ("recall", ["query", "k"]),
        ("forget", ["turn_ids"]),
        ("why", ["fact_id"]),
    ]
    assert all(len(one["description"]) > 40 for one in shown)


def test_an_agent_uses_the_tools(doxa):
    """An agent of LangChain runs them with a scripted model."""
    agents = pytest.importorskip("langchain.agents")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools, **options):
            return self

    steps = [
        AIMessage("", tool_calls=[{"name": "remember", "args": {"text": "I moved to Rome."}, "id": "1"}]),
        AIMessage("", tool_calls=[{"name": "recall", "args": {"query": "Where do I live?"}, "id": "2"}]),
        AIMessage("In Rome."),
    ]
    tools = DoxaToolkit(doxa=doxa, user="ana").get_tools()
    agent = agents.create_agent(Scripted(messages=iter(steps)), tools)
    done = asyncio.run(agent.ainvoke({"messages": [("user", "I moved to Rome. Where do I live?")]}))["messages"]
    assert "Ana lives in Rome" in done[-2].content and done[-1].content == "In Rome."
