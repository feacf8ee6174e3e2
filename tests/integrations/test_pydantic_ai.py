"""Conversations of Pydantic AI beside a memory, and the memory as a capability: as its own, and what its own cannot."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict, InMemoryConversationStore
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelRequest,
    ModelResponse,
    StructuredContent,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel as ScriptedModel
from pydantic_ai.usage import RunUsage

from doxa.integrations.pydantic_ai import DoxaConversationStore, DoxaMemory

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROME, PARIS = "I live in Rome.", "I moved to Paris."


def asked(text, **more):
    return ModelRequest(parts=[UserPromptPart(text, timestamp=AT)], **more)


def answered(text):
    return ModelResponse(parts=[TextPart(text)], timestamp=AT)


ANY = [
    ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart(ROME, timestamp=AT)], instructions="Go."),
    ModelResponse(
        parts=[ThinkingPart("Hm, café \U0001f600"), ToolCallPart("weather", {"place": "Rome"}, tool_call_id="c1")],
        timestamp=AT,
        model_name="m",
        provider_details={"a": [1, None]},
    ),
    ModelRequest(parts=[ToolReturnPart("weather", {"sky": "sunny"}, tool_call_id="c1")]),
    answered("It is sunny."),
    ModelRequest(
        parts=[
            UserPromptPart(
                [
                    "See this.",
                    ImageUrl("https://example.com/a.png"),
                    BinaryContent(b"\x00\xff", media_type="application/pdf"),
                    TextContent("And that.", metadata={"a": 1}),
                    StructuredContent({"page": 3}),
                ],
                timestamp=AT,
            )
        ],
        metadata={"from": "web"},
    ),
    answered("  "),
]


@pytest.fixture
def own(doxa):
    """A store of an engine of its own."""
    return DoxaConversationStore(doxa, user="ana")


def texts(doxa, user="ana"):
    """Return role, speaker and text of what is remembered."""
    return [(turn.role, turn.speaker, turn.text) for turn in doxa.memory(user=user).turns(withdrawn=True)]


def both(doxa, script, user="a"):
    """Return what a script gives on the store of the framework and on ours."""
    theirs = asyncio.run(script(InMemoryConversationStore()))
    return theirs, asyncio.run(script(DoxaConversationStore(doxa, user=user)))


def shape(record):
    """Return what two stores have to tell alike of a record: all but ids that are made up."""
    return record and (
        record.conversation_id, record.usage, record.deferred_tool_requests, record.scope, record.forked_from,
        record.forked_at is None, record.head_id is None, len(record.branches), record.format_version,
    )  # fmt: skip


async def told(awaitable):
    """Return what a call gives, or the type of its error."""
    try:
        return await awaitable
    except (UserError, KeyError) as exc:
        return type(exc)


def test_any_message_usage_and_deferred_call_comes_back_as_it_was(doxa):
    async def script(store):
        waiting = DeferredToolRequests(
            approvals=[ToolCallPart("delete", {"id": 1}, tool_call_id="c9")], metadata={"c9": {"why": "asked"}}
        )
        conversation = Conversation(
            messages=list(ANY), conversation_id="c/1 ä", usage=RunUsage(requests=2, tool_calls=1, input_tokens=7),
            deferred_tool_requests=waiting,
        )  # fmt: skip
        entries = await store.save(conversation, scope="web")
        loaded, record = await store.load("c/1 ä"), await store.read_record("c/1 ä")
        one = await store.read_entry(entries[2].id)
        assert loaded.revision == conversation.revision == record.revision and one == entries[2]
        assert await store.load_entries("c/1 ä") == entries
        return loaded.messages, loaded.usage, loaded.deferred_tool_requests, shape(record)

    theirs, ours = both(doxa, script)
    assert ours == theirs and ours[0] == ANY


def test_what_is_missing_out_of_range_or_of_another_scope(doxa):
    async def script(store):
        await store.save(Conversation(messages=ANY[:3], conversation_id="one"), scope="a")
        calls = [
            store.load("none"), store.load_entries("none"), store.read_record("none"), store.read_entry("none"),
            store.read_history("none"), store.read_history(None), store.load("one", limit=-1),
            store.load("one", scope="b"), store.branch("one", at=9, expected_revision=None),
            store.fork("none"), store.fork("one", from_entry="none"), store.list_conversations(limit=-1),
            store.save(Conversation(conversation_id="one")), store.delete("none"), store.delete("one", scope="b"),
            store.delete_record("one", expected_revision="no"), store.delete_record("none", expected_revision="no"),
        ]  # fmt: skip
        results = [await told(call) for call in calls]
        left = await store.load("one", limit=2)
        return results, left.messages, (await store.load("one", limit=0)).messages

    theirs, ours = both(doxa, script)
    assert ours == theirs


def test_a_conversation_grows_is_rewritten_branches_back_and_forks(doxa):
    async def script(store):
        first = Conversation(messages=[asked(ROME), answered("Nice.")], conversation_id="c")
        await store.save(first, scope="s")
        first.messages += [asked("And you?"), answered("I am a program.")]
        new = await store.save(first)
        rewritten = Conversation(messages=[asked(PARIS), answered("Oh.")], conversation_id="c", revision=first.revision)
        await store.save(rewritten)
        tip = (await store.read_record("c")).branches[0]
        back = await store.branch("c", from_entry=tip, expected_revision=rewritten.revision)
        assert tip == new[-1].id
        fork = await store.fork("c", at=1, new_conversation_id="d", scope="t")
        again = await told(store.fork("c", new_conversation_id="d"))
        stale = await told(store.branch("c", at=1, expected_revision=first.revision))
        listed = [shape(one) for one in await store.list_conversations()]
        some = [one.conversation_id for one in await store.list_conversations(scope="s", limit=1)]
        return back.messages, fork.messages, again, stale, listed, some, shape(await store.read_record("c"))

    theirs, ours = both(doxa, script)
    assert ours == theirs


def test_a_head_that_is_in_no_message_is_a_conflict(doxa):
    async def script(store):
        await store.save(Conversation(messages=ANY[:1], conversation_id="c"))
        record = await store.read_record("c")
        lost = replace(record, head_id="nowhere", conversation_id="d")
        return await told(store.write_record(lost, expected_revision=None)), await store.read_record("d")

    assert both(doxa, script) == ((ConversationConflict, None), (ConversationConflict, None))


STEPS = st.lists(
    st.tuples(st.sampled_from(["say", "say", "rewrite", "branch", "fork", "delete", "stale"]), st.integers(0, 5)),
    min_size=1,
    max_size=9,
)


@settings(max_examples=10, deadline=None)
@given(STEPS)
def test_any_steps_leave_what_they_leave_in_the_store_of_the_framework(shared, steps):
    """Histories, errors, and which messages are kept at all."""

    async def script(store):
        results, names, ids = [], ["c0"], {}
        for at, (step, number) in enumerate(steps):
            name = names[number % len(names)]
            conversation = await store.load(name) or Conversation(conversation_id=name)
            if step == "say":
                conversation.messages.append(asked(f"{at}"))
                entries = await store.save(conversation)
            elif step == "rewrite":
                kept = conversation.messages[: number % 3]
                entries = await store.save(
                    Conversation(
                        messages=[*kept, asked(f"r{at}")], conversation_id=name, revision=conversation.revision
                    )
                )
            elif step == "branch":
                tips = getattr(await store.read_record(name), "branches", [])
                where = {"from_entry": tips[number % len(tips)]} if tips and number % 2 else {"at": number}
                results.append(
                    await told(_messages(store.branch(name, **where, expected_revision=conversation.revision)))
                )
                continue
            elif step == "fork":
                names.append(f"c{at + 1}")
                results.append(await told(_messages(store.fork(name, at=number, new_conversation_id=names[-1]))))
                continue
            elif step == "delete":
                results.append(await told(store.delete(name)))
                continue
            else:
                stale = Conversation(messages=[asked("x")], conversation_id=name, revision="old")
                results.append(await told(store.save(stale)))
                continue
            ids |= {entry.id: entry.message.parts[0].content for entry in entries}
        there = sorted({ids[key] for key in ids if await told(store.read_entry(key)) is not KeyError})
        histories = [[m.parts[0].content for m in one.messages] if (one := await store.load(name)) else None
                     for name in names]  # fmt: skip
        return results, there, histories

    user = uuid4().hex
    theirs, ours = both(shared, script, user)
    assert ours == theirs
    assert sorted({text for *_, text in texts(shared, user)}) == ours[1]


async def _messages(awaitable):
    return [message.parts[0].content for message in (await awaitable).messages]


def test_words_of_user_and_model_are_turns_and_nothing_else_is(doxa):
    store = DoxaConversationStore(doxa, user="ana", agent="guide", speaker="Ana Ruiz")
    asyncio.run(store.save(Conversation(messages=list(ANY), conversation_id="c")))
    assert texts(doxa) == [
        ("user", "Ana Ruiz", ROME),
        ("assistant", "guide", "It is sunny."),
        ("user", "Ana Ruiz", "See this.\nAnd that."),
    ]
    (turn, *_) = doxa.memory(user="ana").turns()
    assert (turn.session, turn.at) == ("c", AT)


def test_facts_come_of_messages_are_revised_and_go_with_their_conversation(doxa, own):
    memory = doxa.memory(user="ana")
    asyncio.run(own.save(Conversation(messages=[asked(ROME)], conversation_id="c")))
    asyncio.run(own.save(Conversation(messages=[asked(PARIS)], conversation_id="d")))
    doxa.flush()
    assert [str(fact.object) for fact in memory.facts(relation="lives_in")] == ["Paris"]
    asyncio.run(own.delete("d"))
    assert [str(fact.object) for fact in memory.facts(relation="lives_in")] == ["Rome"]
    asyncio.run(own.delete("c"))
    assert memory.facts(current=False) == [] and texts(doxa) == []


def test_messages_that_a_fork_shares_stay_with_their_turns(doxa, own):
    async def script():
        await own.save(Conversation(messages=[asked(ROME), answered("Nice.")], conversation_id="c"))
        await own.fork("c", at=1, new_conversation_id="d")
        await own.delete("c")
        return (await own.load("d")).messages

    assert asyncio.run(script()) == [asked(ROME)] and texts(doxa) == [("user", "Ana", ROME)]


def test_users_never_share_and_forgetting_a_user_takes_the_conversations(doxa, own):
    other = DoxaConversationStore(doxa, user="ben")
    for store, text in ((own, ROME), (other, PARIS)):
        asyncio.run(store.save(Conversation(messages=[asked(text)], conversation_id="c"), scope="s"))
    assert asyncio.run(other.load("c")).messages == [asked(PARIS)]
    doxa.memory(user="ana").forget(everything=True)
    assert asyncio.run(own.load("c")) is None and asyncio.run(own.list_conversations()) == []
    assert [text for *_, text in texts(doxa, "ben")] == [PARIS]


def test_a_conversation_goes_on_after_the_file_is_opened_again_and_leaves_no_byte(tmp_path):
    path = tmp_path / "memory.db"
    secret = asked("My code word is canary4711.")
    with Doxa.open(path, config=LIGHT) as doxa:
        asyncio.run(DoxaConversationStore(doxa, user="ana").save(Conversation(messages=[secret], conversation_id="c")))
    with Doxa.open(path, config=LIGHT) as doxa:
        store = DoxaConversationStore(doxa, user="ana")
        conversation = asyncio.run(store.load("c"))
        conversation.messages.append(answered("Noted."))
        assert len(asyncio.run(store.save(conversation))) == 1
        doxa.flush()
        assert b"canary4711" in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        asyncio.run(store.delete("c"))
        assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_of_engines_that_save_one_conversation_at_once_one_gets_through_each_time(tmp_path):
    """The others are told, load it again, and lose nothing."""
    path = tmp_path / "memory.db"
    Doxa.open(path, config=LIGHT).close()

    def write(name):
        doxa = Doxa.open(path, config=LIGHT)
        store = DoxaConversationStore(doxa, user="ana")

        async def say(at):
            while True:
                conversation = await store.load("c") or Conversation(conversation_id="c")
                conversation.messages.append(asked(f"{name}{at}"))
                if await told(store.save(conversation)) is not ConversationConflict:
                    return

        for at in range(4):
            asyncio.run(say(at))
        doxa.close(limit_s=0)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, "ab"))
    with Doxa.open(path, config=LIGHT) as doxa:
        conversation = asyncio.run(DoxaConversationStore(doxa, user="ana").load("c"))
        assert sorted(m.parts[0].content for m in conversation.messages) == [
            f"{n}{at}" for n in "ab" for at in range(4)
        ]


def test_a_conversation_that_is_deleted_while_it_is_saved_leaves_no_turn(doxa, own, monkeypatch):
    absorb = own._absorb

    def late(conversation_id, entries):
        asyncio.run(own.delete(conversation_id))
        absorb(conversation_id, entries)

    monkeypatch.setattr(own, "_absorb", late)
    asyncio.run(own.save(Conversation(messages=[asked(ROME)], conversation_id="c")))
    assert asyncio.run(own.load("c")) is None and texts(doxa) == []


def test_who_is_cancelled_leaves_nothing_half_done(own, monkeypatch):
    begun, go_on, put = threading.Event(), threading.Event(), own._records.put

    def slow(*args, **options):
        begun.set()
        go_on.wait(10)
        return put(*args, **options)

    monkeypatch.setattr(own._records, "put", slow)

    async def cancelled():
        saving = asyncio.create_task(own.save(Conversation(messages=[asked(ROME)], conversation_id="c")))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        saving.cancel()
        await asyncio.sleep(0.01)
        early = saving.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await saving
        return early, (await own.load("c")).messages

    assert asyncio.run(cancelled()) == (False, [asked(ROME)])


class Seen:
    """A model that says what it was given, and keeps what it is asked."""

    def __init__(self, *says):
        self.says, self.asked, self.tools = list(says), [], []

    def __call__(self, messages, info):
        self.asked.append(messages)
        self.tools.append(sorted(tool.name for tool in info.function_tools))
        says = self.says.pop(0)
        return ModelResponse(parts=[says if isinstance(says, ToolCallPart) else TextPart(says)])

    @property
    def returned(self):
        """What the last tool gave."""
        return self.asked[-1][-1].parts[-1].content


def test_an_agent_goes_on_from_a_conversation_and_knows_what_was_said_in_another(doxa, own):
    """What bears on a request comes with it, and is in no history."""
    seen = Seen("Nice.", "In Rome.")
    agent = Agent(FunctionModel(seen), capabilities=[DoxaMemory(doxa, user="ana")])

    async def talk():
        for name, said in (("one", ROME), ("two", "Where do I live?")):
            result = await agent.run(said, conversation=Conversation(conversation_id=name))
            await own.save(result)
            doxa.flush()
        return (await own.load("two")).messages

    history = asyncio.run(talk())
    assert [[part.content for part in message.parts] for message in history] == [["Where do I live?"], ["In Rome."]]
    (request,) = seen.asked[1]
    memory, question = (part.content for part in request.parts)
    assert (
        "Ana lives in Rome" in memory and question == "Where do I live?" and "lives" not in (request.instructions or "")
    )
    assert len(seen.asked[0][0].parts) == 1


def test_what_was_said_and_became_no_fact_comes_with_a_request_too(doxa):
    said = "Wow, what a zebra that was!"
    doxa.dialogue(user="ana").absorb(said)
    seen = Seen("That one.")
    agent = Agent(FunctionModel(seen), capabilities=[DoxaMemory(doxa, user="ana", tools=False)])
    asyncio.run(agent.run("Which zebra?"))
    assert said in seen.asked[0][0].parts[0].content and seen.tools == [[]]


def test_an_agent_remembers_recalls_and_forgets_by_tools(doxa):
    """Of the user of the run alone."""
    call = ToolCallPart
    seen = Seen(call("remember", {"statement": "Ana is allergic to walnuts."}), "Noted.")
    memory = DoxaMemory(doxa, user=lambda ctx: ctx.deps, max_tokens=0)
    agent = Agent(FunctionModel(seen), deps_type=str, capabilities=[memory])
    asyncio.run(agent.run("Note it.", deps="ana"))
    assert seen.tools[0] == ["forget", "recall", "remember"] and texts(doxa, "ben") == []

    seen.says = [call("recall", {"query": "walnuts"}), "Done."]
    asyncio.run(agent.run("Do you know?", deps="ben"))
    assert seen.returned == []
    seen.says = [call("recall", {"query": "walnuts", "limit": 1}), "Done."]
    asyncio.run(agent.run("Do you know?", deps="ana"))
    ((found),) = seen.returned
    assert (found["text"], found["by"]) == ("Ana is allergic to walnuts.", "Ana")

    seen.says = [call("forget", {"id": found["id"]}), "Done."]
    asyncio.run(agent.run("Forget it.", deps="ben"))
    assert len(texts(doxa)) == 1 and "no statement" in str(seen.returned)
    seen.says = [call("forget", {"id": found["id"]}), "Done."]
    asyncio.run(agent.run("Forget it.", deps="ana"))
    assert texts(doxa) == []


@pytest.mark.parametrize(
    ("tool", "args"),
    [("recall", {"query": " "}), ("recall", {"query": "a", "limit": 0}), ("remember", {"statement": ""}),
     ("forget", {"id": "none"})],
)  # fmt: skip
def test_a_model_is_told_what_to_do_with_wrong_input(doxa, tool, args):
    seen = Seen(ToolCallPart(tool, args), "Sorry.")
    agent = Agent(FunctionModel(seen), capabilities=[DoxaMemory(doxa, user="ana")])
    assert asyncio.run(agent.run("Go.")).output == "Sorry."
    assert seen.asked[-1][-1].parts[-1].outcome == "retried" and texts(doxa) == []


def test_the_schemas_of_the_tools_are_those_that_a_model_can_fill(doxa):
    """The scripted model of the framework calls every tool with what their schemas ask for."""
    agent = Agent(ScriptedModel(call_tools=["recall", "remember"]), capabilities=[DoxaMemory(doxa, user="ana")])
    result = asyncio.run(agent.run("Go."))
    assert "recall" in result.output and "remember" in result.output
