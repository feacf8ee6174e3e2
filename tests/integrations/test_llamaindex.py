"""LlamaIndex over a memory: the same calls as on its own classes, and what its own cannot do."""

import asyncio
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.errors import InputError

pytest.importorskip("llama_index.core")

from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    CitableBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, InsertMethod, Memory, StaticMemoryBlock
from llama_index.core.storage.chat_store import BaseChatStore, SimpleChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from llama_index.core.storage.chat_store.sql import SQLAlchemyChatStore

from doxa.integrations.llamaindex import AsyncDoxaChatStore, DoxaChatStore, DoxaMemory, DoxaMemoryBlock

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
ACTIVE, ARCHIVED = MessageStatus.ACTIVE, MessageStatus.ARCHIVED
MESSAGES = [
    ChatMessage("Be brief.", role="system"),
    ChatMessage("I live in Rome.", role="user"),
    ChatMessage(
        role="assistant",
        blocks=[
            ThinkingBlock(content="Hm", num_tokens=1),
            TextBlock(text="Let me see."),
            ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs={"place": "Rome"}),
        ],
        additional_kwargs={"tool_calls": [{"id": "c1", "type": "function"}], "n": 1.5, "deep": {"b": None, "a": [1]}},
    ),
    ChatMessage("sunny", role="tool", additional_kwargs={"tool_call_id": "c1"}),
    ChatMessage("Rome is lovely.", role="assistant"),
    ChatMessage(
        role="user",
        blocks=[
            TextBlock(text="See"),
            ImageBlock(image=b"\x89PNG\r\n\x1a\n00", image_mimetype="image/png"),
            DocumentBlock(data=b"%PDF-", title="t"),
            CachePoint(cache_control={"type": "ephemeral"}),
            CitableBlock(title="t", source="s", content=[TextBlock(text="cited")]),
            TextBlock(text="this."),
        ],
    ),
    ChatMessage("  ", role="user"),
    ChatMessage(role="user", blocks=[]),
    ChatMessage("café \U0001f600", role="developer"),
]


@pytest.fixture
def doxa(shared, request):
    """An engine with nothing in it, and models that are loaded already."""
    return shared.tenant(request.node.name)


@pytest.fixture(autouse=True)
def loop():
    """A loop that LlamaIndex finds where it waits for something, and that is closed, unlike one of its own."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    asyncio.set_event_loop(None)
    made.close()


def texts(doxa, user="ana"):
    return [(turn.role, turn.speaker, turn.text) for turn in doxa.memory(user=user).turns()]


def said(*words):
    """Return messages of a user and an assistant in turn."""
    return [ChatMessage(text, role=("user", "assistant")[at % 2]) for at, text in enumerate(words)]


def files(folder):
    return b"".join(one.read_bytes() for one in folder.iterdir())


def tokens(text):
    """Split a text into words, so that limits in tests can be read."""
    return text.split()


async def played(store, calls):
    """Return what calls of a store give back, one after the other; an error is given as its type."""
    told = []
    for name, *args in calls:
        try:
            found = getattr(store, name)(*args)
            found = await found if asyncio.iscoroutine(found) else found
        except IndexError:
            found = IndexError
        told.append([*found] if isinstance(found, list) else found)
    return told


message = st.sampled_from(MESSAGES) | st.builds(
    lambda text, role: ChatMessage(text, role=role), st.text(max_size=8), st.sampled_from(["system", "tool"])
)
messages = st.lists(message, max_size=3)
key = st.sampled_from(["k", "k/", "", "x" * 500])
number = st.integers(-2, 4)


# Chat stores

sync_calls = st.one_of(
    st.tuples(st.sampled_from(["set_messages", "aset_messages"]), key, messages),
    st.tuples(st.sampled_from(["add_message", "async_add_message"]), key, message),
    st.tuples(st.sampled_from(["get_messages", "aget_messages", "delete_messages", "adelete_messages"]), key),
    st.tuples(st.sampled_from(["delete_last_message", "adelete_last_message"]), key),
    st.tuples(st.sampled_from(["delete_message", "adelete_message"]), key, st.integers(0, 4) | st.just(-1)),
    st.tuples(st.sampled_from(["get_keys", "aget_keys"])),
)


@settings(max_examples=40, deadline=None)
@given(calls=st.lists(sync_calls, min_size=3, max_size=8))
def test_any_calls_give_the_same_as_on_llamaindexs_simple_store(shared, calls):
    """Values, errors, unknown and empty keys, the order of keys; sync and async."""
    ours, theirs = DoxaChatStore(shared, user="sync"), SimpleChatStore()
    for one in ours.get_keys():
        ours.delete_messages(one)
    copied = [[[*part] if isinstance(part, list) else part for part in call] for call in calls]  # theirs keeps the list
    assert asyncio.run(played(ours, calls)) == asyncio.run(played(theirs, copied))
    for one in theirs.get_keys():
        assert ours.get_messages(one) == theirs.get_messages(one)
        assert [part.model_dump() for part in ours.get_messages(one)] == [
            part.model_dump() for part in theirs.get_messages(one)
        ]


status = st.sampled_from([ACTIVE, ARCHIVED])
async_calls = st.one_of(
    st.tuples(st.just("add_message"), key, message, status),
    st.tuples(st.just("add_messages"), key, st.lists(message, min_size=1, max_size=3), status),
    st.tuples(st.just("set_messages"), key, messages, status),
    st.tuples(st.just("get_messages"), key, status | st.none(), number | st.none(), number | st.none()),
    st.tuples(st.sampled_from(["count_messages", "delete_messages"]), key, status | st.none()),
    st.tuples(st.sampled_from(["delete_oldest_messages", "archive_oldest_messages"]), key, number),
)


@settings(max_examples=30, deadline=None)
@given(calls=st.lists(async_calls, min_size=3, max_size=8))
def test_any_calls_give_the_same_as_on_llamaindexs_own_store_in_memory(shared, calls):
    """Status, limits, offsets, what is archived and deleted; the keys that have a message."""
    ours = AsyncDoxaChatStore(shared, user="async")

    async def both():
        for one in DoxaChatStore(shared, user="async").get_keys():
            await ours.delete_messages(one)
        theirs = SQLAlchemyChatStore("t")
        try:
            assert await played(ours, calls) == await played(theirs, calls)
            assert sorted(await ours.get_keys()) == sorted(await theirs.get_keys())
            for one in await ours.get_keys():
                mine, other = [await store.get_messages(one, None) for store in (ours, theirs)]
                assert [part.model_dump() for part in mine] == [part.model_dump() for part in other]
        finally:
            await theirs._async_engine.dispose()

    asyncio.run(both())


def test_a_message_is_deleted_by_its_number_as_in_llamaindexs_own_store(doxa):
    """It counts those of a key from 1, and stays when others are removed."""

    async def both():
        ours, theirs = AsyncDoxaChatStore(doxa, user="ana"), SQLAlchemyChatStore("t")
        calls = [
            ("add_messages", "k", MESSAGES[:4]),
            *(("delete_message", "k", at) for at in (2, 2, 0, 9, -1, 3)),
            ("delete_message", "other", 1),
            ("add_message", "k", MESSAGES[4]),
            ("delete_message", "k", 5),
            ("get_messages", "k"),
        ]
        try:
            return await played(ours, calls), await played(theirs, calls)
        finally:
            await theirs._async_engine.dispose()

    mine, other = asyncio.run(both())
    assert mine == other and mine[-1] == [MESSAGES[0], MESSAGES[3]]


def test_the_stores_are_those_of_the_framework_and_both_see_the_same_messages(doxa):
    """And lead to the engine; what is written down of them has no message in it."""
    sync, later = DoxaChatStore(doxa, user="ana"), AsyncDoxaChatStore(doxa, user="ana")
    assert isinstance(sync, BaseChatStore) and isinstance(later, AsyncDBChatStore) and sync.doxa is later.doxa is doxa
    sync.set_messages("k", MESSAGES)
    assert asyncio.run(later.get_messages("k")) == MESSAGES == sync.get_messages("k")
    assert sync.dict() | later.model_dump() == {
        "user": "ana",
        "agent": "assistant",
        "speaker": None,
        "class_name": "DoxaChatStore",
    }


def test_what_users_and_assistants_say_is_turns_and_nothing_else_is(doxa):
    """By the names that were given."""
    DoxaChatStore(doxa, user="ana", agent="guide", speaker="Ana Ruiz").set_messages("k", MESSAGES)
    assert texts(doxa) == [
        ("user", "Ana Ruiz", "I live in Rome."),
        ("assistant", "guide", "Let me see."),
        ("assistant", "guide", "Rome is lovely."),
        ("user", "Ana Ruiz", "See\nthis."),
    ]


def test_messages_that_stay_keep_their_turns_and_those_that_go_are_withdrawn_or_erased(doxa):
    """What is put in the place of something revises; what is deleted was never there."""
    store, memory = DoxaChatStore(doxa, user="ana"), doxa.memory(user="ana")
    talk = said("I live in Rome.", "Nice.", "I have two cats.")
    store.set_messages("k", talk)
    before = [turn.turn_id for turn in memory.turns()]
    store.set_messages("k", [*talk[1:], *said("I like tea.")])  # the first one is cut off, one is added
    assert store.get_messages("k") == [*talk[1:], *said("I like tea.")]
    assert [turn.turn_id for turn in memory.turns()][:2] == before[1:]
    assert [*memory.withdrawn()] == before[:1] and memory.facts(relation="lives_in") == []
    assert any("Rome" in str(change) for change in memory.history())
    store.set_messages("k", [])
    store.set_messages("k", [])
    assert texts(doxa) == [] and store.get_keys() == ["k"] and store.delete_messages("k") == []
    assert memory.turns(withdrawn=True) == []


def test_keys_and_users_are_kept_apart(doxa):
    """And what of a session was said elsewhere is left alone."""
    ana, ben = DoxaChatStore(doxa, user="ana"), DoxaChatStore(doxa, user="ben")
    for at, (store, name) in enumerate([(ana, "k"), (ana, "k2"), (ben, "k")]):
        store.add_message(name, ChatMessage(f"I have {at + 2} cats."))
    doxa.dialogue(user="ana", session="k").absorb("I like tea.")
    ana.delete_messages("k")
    assert [ana.get_keys(), ben.get_keys()] == [["k2"], ["k"]]
    assert [text for _, _, text in texts(doxa)] == ["I have 3 cats.", "I like tea."]
    ana.doxa.memory(user="ana").forget(everything=True)
    assert ana.get_keys() == [] and ana.get_messages("k2") == []
    assert [text for _, _, text in texts(doxa, "ben")] == ["I have 4 cats."]


@pytest.mark.parametrize(
    "wrong", [ChatMessage("x", additional_kwargs={"a": object()}), "I like tea.", None], ids=["no JSON", "text", "none"]
)
def test_what_cannot_be_kept_is_refused_whole(doxa, wrong):
    """Nothing of the call is stored; a key is a text, a user has a name."""
    store, later = DoxaChatStore(doxa, user="ana"), AsyncDoxaChatStore(doxa, user="ana")
    store.add_message("k", MESSAGES[0])
    for call in (
        lambda: store.set_messages("k", [MESSAGES[1], wrong]),
        lambda: store.add_message("k", wrong),
        lambda: store.add_message(1, MESSAGES[1]),
        lambda: asyncio.run(later.add_messages("k", [MESSAGES[1], wrong])),
        lambda: asyncio.run(later.set_messages("k", [MESSAGES[1], wrong])),
        lambda: DoxaChatStore(doxa, user=""),
        lambda: DoxaMemoryBlock(doxa, user=" "),
        lambda: DoxaMemory(doxa, user=""),
    ):
        with pytest.raises(InputError):
            call()
    assert store.get_messages("k") == MESSAGES[:1] and texts(doxa) == []


def test_messages_outlive_the_process_and_deleted_ones_leave_no_byte(tmp_path):
    """Neither of the message nor of its turn."""
    canary = ChatMessage("My code word is canary4711.")
    for delete in (
        lambda store: asyncio.run(store.delete_messages("k")),
        lambda store: asyncio.run(store.delete_messages("k", ARCHIVED)),
        lambda store: asyncio.run(store.delete_message("k", 1)),
        lambda store: DoxaChatStore(store.doxa, user="ana").delete_message("k", 0),
    ):
        with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
            asyncio.run(AsyncDoxaChatStore(doxa, user="ana").set_messages("k", [canary], ARCHIVED))
        assert b"canary4711" in files(tmp_path)
        with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
            store = AsyncDoxaChatStore(doxa, user="ana")
            assert asyncio.run(store.get_messages("k", None)) == [canary]
            delete(store)
            assert b"canary4711" not in files(tmp_path)


def test_many_writers_lose_no_message_and_no_two_take_the_same(doxa):
    """Two objects for one key; what one call adds stays together."""
    stores = [AsyncDoxaChatStore(doxa, user="ana") for _ in range(2)]

    async def crowd():
        calls = [[ChatMessage(f"{at}.{part}", role="tool") for part in range(3)] for at in range(10)]
        await asyncio.gather(*(stores[at % 2].add_messages("k", call) for at, call in enumerate(calls)))
        held = await stores[0].get_messages("k")
        taken = await asyncio.gather(*(stores[at % 2].delete_oldest_messages("k", 4) for at in range(12)))
        return calls, held, [one for some in taken for one in some], await stores[0].count_messages("k", None)

    calls, held, taken, left = asyncio.run(crowd())
    assert sorted(str(held[at : at + 3]) for at in range(0, 30, 3)) == sorted(map(str, calls))
    assert len(taken) + left == 30 and len({one.content for one in taken}) == len(taken)


def test_who_is_cancelled_leaves_nothing_half_done_and_the_loop_goes_on(doxa, monkeypatch):
    """A write that is under way when its caller is cancelled is there when the caller hears of it."""
    store = DoxaChatStore(doxa, user="ana")
    begun, go_on, add = threading.Event(), threading.Event(), store.add_message

    def slow(key, message):
        begun.set()
        go_on.wait(10)
        add(key, message)

    monkeypatch.setattr(DoxaChatStore, "add_message", lambda self, *args: slow(*args))

    async def cancelled():
        adding = asyncio.create_task(store.async_add_message("k", MESSAGES[1]))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        adding.cancel()
        await asyncio.sleep(0.01)
        early = adding.done()
        monkeypatch.undo()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await adding
        return early, await store.aget_messages("k")

    assert asyncio.run(cancelled()) == (False, [MESSAGES[1]])


def test_a_buffer_of_llamaindex_reads_the_store_as_its_own(doxa):
    """Its token limit cuts the same messages."""
    talk = said(*(f"message number {at}" for at in range(6)))
    made = [
        ChatMemoryBuffer.from_defaults(chat_history=[*talk], chat_store=store, token_limit=8, tokenizer_fn=tokens)
        for store in (DoxaChatStore(doxa, user="ana"), SimpleChatStore())
    ]
    for one in made:
        one.put(ChatMessage("and another one"))
    ours, theirs = ((one.get(), one.get(initial_token_count=4), one.get_all()) for one in made)
    assert ours == theirs and len(ours[0]) < len(ours[2]) == 7
    made[0].reset()
    assert made[0].get_all() == [] and texts(doxa) == []


# Memory

memory_calls = st.one_of(
    st.tuples(st.sampled_from(["put", "aput"]), message),
    st.tuples(st.sampled_from(["put_messages", "aput_messages"]), st.lists(message, min_size=1, max_size=4)),
    st.tuples(st.sampled_from(["set", "aset"]), messages),
    st.tuples(st.sampled_from(["get", "aget", "get_all", "aget_all", "reset", "areset"])),
)


@settings(max_examples=20, deadline=None)
@given(calls=st.lists(memory_calls, min_size=2, max_size=6), limit=st.integers(4, 40))
def test_any_calls_give_the_same_as_on_llamaindexs_memory(shared, calls, limit):
    """With the limits of tokens and the queue; what a memory adds to it stands apart here."""
    given_too = {"token_limit": limit, "token_flush_size": 3, "tokenizer_fn": tokens}
    blocks = [StaticMemoryBlock(static_content="Ana is a nurse.", name="static", priority=0)]
    ours = DoxaMemory(shared, user="memory", session_id="s", top_k=0, memory_blocks=blocks, **given_too)
    theirs = Memory.from_defaults(session_id="s", memory_blocks=blocks, **given_too)
    ours.reset()

    async def both():
        try:
            for name, *args in calls:
                waited = name if name.startswith("a") else f"a{name}"
                mine, other = [await getattr(one, waited)(*args) for one in (ours, theirs)]
                assert mine == other
            for state in (None, ACTIVE, ARCHIVED):
                assert await ours.aget_all(state) == await theirs.aget_all(state)
        finally:
            await theirs.sql_store._initialize()
            await theirs.sql_store._async_engine.dispose()

    asyncio.run(both())


@pytest.mark.parametrize("inside", [False, True], ids=["no loop", "in a loop"])
def test_the_calls_of_a_memory_are_there_without_await(doxa, inside):
    """In a loop of somebody else's as well."""

    def calls():
        memory = DoxaMemory.from_defaults(doxa, user="ana", session_id="s", chat_history=MESSAGES[:2], top_k=0)
        assert isinstance(memory, BaseMemory) and memory.doxa is doxa and memory.class_name() == "DoxaMemory"
        memory.put(MESSAGES[2])
        memory.put_messages(MESSAGES[3:5])
        assert memory.get() == memory.get_all() == MESSAGES[:5]
        memory.set(MESSAGES[:1])
        assert DoxaMemory(doxa, user="ana", session_id="s", top_k=0).get() == MESSAGES[:1]
        memory.reset()
        assert memory.get_all() == [] and texts(doxa) == []
        assert DoxaMemory(doxa, user="ana").session_id != DoxaMemory(doxa, user="ana").session_id

    async def in_a_loop():
        calls()

    asyncio.run(in_a_loop()) if inside else calls()


def test_nothing_of_the_engine_is_in_what_a_memory_is_written_as(doxa):
    """Agents write their state down; a memory is given to them anew."""
    memory = DoxaMemory(doxa, user="ana", session_id="s")
    written = memory.to_dict()
    assert written["session_id"] == "s" and written["class_name"] == "DoxaMemory"
    assert [block["name"] for block in written["memory_blocks"]] == ["recalled"] and "sql_store" not in written


def test_what_left_the_queue_and_what_other_sessions_said_is_recalled_and_what_is_in_the_queue_is_not_repeated(doxa):
    """With what was revised since as it is now."""
    DoxaMemory(doxa, user="ana", session_id="old").put(ChatMessage("I have a dog called Bo."))
    memory = DoxaMemory(doxa, user="ana", session_id="s", token_limit=20, token_flush_size=4, tokenizer_fn=tokens)
    memory.put_messages(said("I live in Rome.", "Nice to hear that.", "I moved to Paris.", "Paris is nice as well."))
    memory.put(ChatMessage("Where do I live, and with which dog?"))
    assert memory.get_all(ARCHIVED)[0].content == "I live in Rome."
    head, *queue = memory.get()
    assert head.role == MessageRole.SYSTEM and queue == memory.get_all(ACTIVE)
    assert "Ana: I have a dog called Bo." in head.content and "Where do I live" not in head.content
    assert "I live in Rome." not in head.content  # it was revised
    facts = doxa.memory(user="ana").facts(relation="lives_in")
    assert [str(fact.object) for fact in facts] == ["Paris"]


def test_an_empty_memory_adds_nothing_and_two_users_share_nothing(doxa):
    """Evidence is put where LlamaIndex puts it."""
    DoxaMemory(doxa, user="ben", session_id="s").put(ChatMessage("I live in Rome."))
    memory = DoxaMemory(doxa, user="ana", session_id="s", insert_method=InsertMethod.USER)
    memory.put(ChatMessage("Where do I live?"))
    assert memory.get() == [ChatMessage("Where do I live?")]
    doxa.dialogue(user="ana", session="t").absorb("I live in Graz.")
    (asked,) = memory.get()
    assert asked.role == MessageRole.USER and "Ana: I live in Graz." in asked.content and "Rome" not in asked.content
    assert memory.get_all() == [ChatMessage("Where do I live?")]


@pytest.mark.parametrize(
    ("wrong", "error"), [({"token_limit": 0}, ValueError), ({"user": " "}, InputError)], ids=["no tokens", "no user"]
)
def test_a_memory_that_cannot_be_is_refused(doxa, wrong, error):
    """As LlamaIndex refuses it."""
    with pytest.raises(error):
        DoxaMemory(doxa, **{"user": "ana", **wrong})


# Memory block


def block_of(doxa, **options):
    return DoxaMemoryBlock(doxa, **{"user": "ana", "tokenizer_fn": tokens, **options})


def test_a_block_hears_what_leaves_the_queue_of_any_memory_and_tells_what_bears_on_a_question(doxa):
    """In LlamaIndex's own memory with its own store."""
    block = block_of(doxa)

    async def talk():
        memory = Memory.from_defaults(
            session_id="s", memory_blocks=[block], token_limit=20, token_flush_size=4, tokenizer_fn=tokens
        )
        try:
            await memory.aput_messages(
                said("I have a dog called Bo.", "What a name.", "I like tea with milk in it.", "I see, tea it is.")
            )
            await memory.aput(ChatMessage("What is the name of my dog?"))
            return await memory.aget()
        finally:
            await memory.sql_store._async_engine.dispose()

    head = asyncio.run(talk())[0]
    assert "<recalled>" in head.content and "Ana: I have a dog called Bo." in head.content
    assert [(turn.session, turn.role) for turn in doxa.memory(user="ana").turns()][:2] == [
        ("s", "user"),
        ("s", "assistant"),
    ]


def test_a_block_gives_dated_evidence_of_all_sessions_or_of_the_one_that_asks(doxa):
    """For the latest message of the user; nothing where nobody asks."""
    doxa.dialogue(user="ana", session="s1").absorb("I have a dog called Bo.", at="2024-01-05")
    doxa.dialogue(user="ana", session="s2").absorb("I live in Rome.", at="2024-02-06")
    asked = [*said("Where do I live?", "Well."), ChatMessage("x", role="tool")]

    def found(block, messages, **options):
        return asyncio.run(block.aget(messages, **options))

    every = found(block_of(doxa), asked, session_id="s1").splitlines()
    assert every[0] == "- 2024-02-06, Ana: I live in Rome." and len(every) == 2
    assert found(block_of(doxa, within_session=True), asked, session_id="s1") == (
        "- 2024-01-05, Ana: I have a dog called Bo."
    )
    assert found(block_of(doxa, top_k=1), asked).splitlines() == every[:1]
    assert found(block_of(doxa), None) == found(block_of(doxa), asked[1:]) == found(block_of(doxa), MESSAGES[6:]) == ""
    assert found(block_of(doxa, user="ben"), asked) == ""


def test_a_block_takes_what_is_put_and_leaves_out_what_nobody_says(doxa):
    """A message from the queue is left out where the block does not take those."""
    block = block_of(doxa, agent="guide")
    asyncio.run(block.aput(MESSAGES[:2], session_id="s"))
    asyncio.run(block.aput(MESSAGES[3:5]))
    closed = block_of(doxa, accept_short_term_memory=False)
    asyncio.run(closed.aput(said("I like tea."), from_short_term_memory=True))
    assert texts(doxa) == [("user", "Ana", "I live in Rome."), ("assistant", "guide", "Rome is lovely.")]
    assert block.doxa is doxa and "doxa" not in block.model_dump()


def test_a_block_beside_the_store_of_its_memory_says_nothing_twice(doxa):
    """What leaves the queue was said when it came."""
    store = AsyncDoxaChatStore(doxa, user="ana")
    memory = Memory.from_defaults(
        session_id="s", chat_store=store, memory_blocks=[block_of(doxa, store=store)], token_limit=8,
        token_flush_size=2, tokenizer_fn=tokens,
    )  # fmt: skip
    asyncio.run(memory.aput_messages(said("I have a dog.", "What a name.", "I like tea.", "I see.")))
    assert [text for _, _, text in texts(doxa)] == ["I have a dog.", "What a name.", "I like tea.", "I see."]
    assert asyncio.run(store.count_messages("s", ARCHIVED)) > 0


@pytest.mark.parametrize(
    ("much", "left"), [(1, "a b c\nd e"), (3, "a b c"), (4, None), (6, None), (99, None), (0, "a b c\nd e\nf")], ids=str
)
def test_a_block_is_shortened_by_whole_lines_from_its_end(doxa, much, left):
    """Until as many tokens are gone as are asked for."""
    assert asyncio.run(block_of(doxa).atruncate("a b c\nd e\nf", much)) == left


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # LlamaIndex looks at every attribute of an agent
@pytest.mark.parametrize(
    ("kind", "insert"),
    [
        pytest.param("FunctionAgent", InsertMethod.SYSTEM, id="function agent"),
        pytest.param("FunctionAgent", InsertMethod.USER, id="function agent, into the user's message"),
        pytest.param("ReActAgent", InsertMethod.USER, id="ReAct agent, which drops what a memory tells as the system"),
    ],
)
def test_an_agent_remembers_in_its_next_session(doxa, kind, insert):
    """An agent of LlamaIndex with a scripted model is shown what was said before."""
    from llama_index.core.agent import workflow
    from llama_index.core.llms.mock import MockFunctionCallingLLM

    asked = []

    def answer(messages, **options):
        asked.append([*messages])
        return ChatMessage("Thought: done.\nAnswer: Fine.", role="assistant")

    async def talk():
        agent = getattr(workflow, kind)(llm=MockFunctionCallingLLM(response_generator=answer), streaming=False)
        for session, words in (("one", "I live in Rome."), ("two", "Where do I live?")):
            await agent.run(words, memory=DoxaMemory(doxa, user="ana", session_id=session, insert_method=insert))

    asyncio.run(talk())
    assert any("Ana: I live in Rome." in (one.content or "") for one in asked[-1])
    told = [(turn.session, turn.text) for turn in doxa.memory(user="ana").turns() if turn.role == "user"]
    assert told == [("one", "I live in Rome."), ("two", "Where do I live?")]
