"""A memory store of Strands that is a memory: the same calls as on its own, and what its own cannot do."""

import asyncio
import threading

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.core.errors import InputError

pytest.importorskip("strands")

from strands import Agent
from strands.memory import AddMessagesContext, InvocationTrigger, MemoryManager
from strands.models import Model
from strands.vended_memory_stores.test_memory_store import TestMemoryStore as TheirStore

from doxa.integrations.strands import AT, DoxaMemoryStore

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
ROME, PARIS, TEA = "I live in Rome.", "I moved to Paris.", "Ana prefers green tea to coffee."


@pytest.fixture
def own(shared, request):
    """A store of a user whom nobody else has, from its settings."""
    return lambda **settings: DoxaMemoryStore(shared, user=request.node.name, **settings)


def run(store, *calls):
    """Return what calls of a store give back, ids by number of their first mention; an error is given as its type."""

    async def all_of_them():
        told, ids = [], {}
        for name, *args in calls:
            try:
                got = await getattr(store, name)(*args)
            except ValueError as exc:
                told.append(type(exc))
                continue
            if name == "add":
                told.append(ids.setdefault(getattr(got, "id", got), len(ids)))
            else:
                told.append([(one.content, one.store_name, given(one)) for one in got])
        return told

    return asyncio.run(all_of_them())


def given(entry):
    """Return what the caller gave with an entry."""
    return {name: value for name, value in entry.metadata.items() if not name.startswith("_")}


def found(store, query, **options):
    return asyncio.run(store.search(query, options or None))


def add(store, *contents):
    for content in contents:
        asyncio.run(store.add(content))


def message(role, *texts):
    return {"role": role, "content": [{"text": text} for text in texts]}


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([("search", "tea"), ("search", ""), ("search", "  ")], id="empty"),
        pytest.param([("add", TEA), ("search", "green tea"), ("search", "")], id="one"),
        pytest.param([("add", TEA, {"from": "web", "n": [1, None]}), ("search", "tea")], id="metadata"),
        pytest.param([("add", TEA, {"a": 1}), ("add", TEA, {"a": 2}), ("search", "tea")], id="twice"),
        pytest.param([("add", TEA), ("add", f" {TEA}\n"), ("search", "tea")], id="twice but for blanks"),
        pytest.param([("add", ""), ("add", " \n"), ("search", "tea")], id="nothing to add"),
        pytest.param([("add", "café \U0001f600 \u200b tea\n\n- two"), ("search", "tea")], id="byte for byte"),
        pytest.param(
            [("add", TEA), ("add", "The bus is late."), ("search", "tea", {"max_search_results": 1})], id="limit"
        ),
        pytest.param([("search", "a", {"max_search_results": 0}), ("search", "", {"max_search_results": -1})], id="0"),
    ],
)  # fmt: skip
def test_the_same_calls_give_the_same_as_the_store_of_the_framework(own, calls):
    assert run(own(name="notes"), *calls) == run(TheirStore(name="notes", persist=False), *calls)


@pytest.mark.parametrize(
    "settings",
    [{"name": " "}, {"name": "n", "max_search_results": 0}, {"name": "n", "max_search_results": -2}],
    ids=str,
)
def test_what_the_store_of_the_framework_refuses_is_refused(own, settings):
    for make in (own, TheirStore):
        with pytest.raises(ValueError, match="must"):
            make(**settings)


@pytest.mark.parametrize("settings", [{}, {"description": "d", "max_search_results": 3, "extraction": True}], ids=str)
def test_its_settings_are_those_of_the_framework(own, settings):
    theirs, ours = TheirStore(name="n", persist=False, **settings), own(name="n", **settings)
    for field in ("name", "description", "max_search_results", "writable", "extraction"):
        assert getattr(ours, field) == getattr(theirs, field)


def test_a_store_that_is_not_writable_takes_nothing(own):
    calls = [("add", TEA), ("search", "tea")]
    theirs = TheirStore(name="n", persist=False, writable=False)
    assert run(own(writable=False), *calls) == run(theirs, *calls) == [ValueError, []]
    with pytest.raises(ValueError, match="not writable"):
        asyncio.run(own(writable=False).add_messages([message("user", TEA)]))


def test_a_manager_takes_it_beside_stores_of_the_framework(own):
    """Search, add and names go through the framework; each entry tells its store."""
    manager = MemoryManager(stores=[own(), TheirStore(name="theirs", persist=False)])

    async def both():
        await manager.add(TEA, {"metadata": {"a": 1}})
        return await manager.search("green tea"), await manager.search("green tea", {"stores": ["doxa"]})

    everywhere, here = asyncio.run(both())
    assert [(one.store_name, one.content, given(one)) for one in everywhere] == [
        ("doxa", TEA, {"a": 1}),
        ("theirs", TEA, {"a": 1}),
    ]
    assert [one.store_name for one in here] == ["doxa"]


def test_the_number_of_entries_is_that_of_the_call_or_of_the_store_or_ten(own):
    add(own(), *(f"Red apples of box {name} are sweet." for name in "ABCDEFGHIJKL"))
    assert [len(found(own(**settings), "red apples", **options)) for settings, options in [
        ({}, {}), ({"max_search_results": 4}, {}), ({"max_search_results": 4}, {"max_search_results": 2}),
    ]] == [10, 4, 2]  # fmt: skip


def test_the_best_entry_comes_first_and_says_how_well_who_and_when(own):
    store = own()
    add(store, "The bus is late.", TEA)
    (best, *_) = found(store, "Does Ana prefer tea or coffee?")
    assert best.content == TEA and best.metadata["_relevanceScore"] > 0
    turn = store.doxa.memory(user=store._memory.user).turn(best.metadata["_turnId"])
    assert (turn.text, turn.at.isoformat(), turn.speaker) == (TEA, best.metadata[AT], best.metadata["_speaker"])


class Scripted(Model):
    """A model that says what it was given, calls tools where that is a dict, and keeps what it is asked."""

    def __init__(self, *says):
        self.says, self.asked = list(says), []

    def update_config(self, **model_config):
        raise NotImplementedError

    def get_config(self):
        return {}

    def structured_output(self, *args, **options):
        raise NotImplementedError

    async def stream(self, messages, *args, **options):
        self.asked.append(messages)
        says = self.says.pop(0)
        tool = isinstance(says, dict)
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "t", "name": says["name"]}} if tool else {}}}
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": says["input"]}} if tool else {"text": says}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if tool else "end_turn"}}


def test_an_agent_remembers_in_another_session_what_was_said(doxa):
    """What is said comes in by extraction without a model, and is injected into the next agent's question."""
    store = DoxaMemoryStore(doxa, user="ana", extraction={"trigger": InvocationTrigger()})
    Agent(model=Scripted("Nice."), memory_manager=MemoryManager(stores=[store]), callback_handler=None)(ROME)
    doxa.flush()
    assert [(turn.role, turn.text) for turn in doxa.memory(user="ana").turns()] == [
        ("user", ROME),
        ("assistant", "Nice."),
    ]
    model = Scripted("In Rome.")
    reads = DoxaMemoryStore(doxa, user="ana")
    Agent(model=model, memory_manager=MemoryManager(stores=[reads]), callback_handler=None)("Where do I live?")
    assert f'<entry source="doxa">{ROME}</entry>' in str(model.asked[0])


def test_an_agent_adds_and_searches_by_the_tools_of_the_framework(doxa):
    model = Scripted(
        {"name": "add_memory", "input": '{"entries": ["Ana is allergic to walnuts."]}'},
        {"name": "search_memory", "input": '{"query": "walnuts"}'},
        "Done.",
    )
    store = DoxaMemoryStore(doxa, user="ana")
    manager = MemoryManager(stores=[store], add_tool_config=True, injection=False)
    Agent(model=model, memory_manager=manager, callback_handler=None)("Note it.")
    assert "Ana is allergic to walnuts." in str(model.asked[2][-1]) and "_turnId" in str(model.asked[2][-1])


def test_what_is_revised_is_no_longer_found_and_still_explained(doxa):
    store, memory = DoxaMemoryStore(doxa, user="ana"), doxa.memory(user="ana")
    add(store, ROME, PARIS)
    doxa.flush()
    assert [memory.describe(fact).partition(" since")[0] for fact in memory.facts()] == ["Ana lives in Paris"]
    assert [one.content for one in found(store, "Where does Ana live?")] == [PARIS]
    assert any("Rome" in str(change) for change in memory.history())


def test_what_is_added_again_after_something_else_is_news(doxa):
    """And what is added again at once is not: a write that is tried again changes nothing."""
    store, memory = DoxaMemoryStore(doxa, user="ana"), doxa.memory(user="ana")
    add(store, ROME, ROME, "I live in Paris.", "I live in Paris.", ROME)
    doxa.flush()
    assert [str(fact.object) for fact in memory.facts(relation="lives_in")] == ["Rome"]
    assert [turn.text for turn in memory.turns()] == [ROME, "I live in Paris.", ROME]
    assert [one.content for one in found(store, "Rome")].count(ROME) == 1


def test_what_was_withdrawn_or_forgotten_can_be_added_again(doxa):
    store, memory = DoxaMemoryStore(doxa, user="ana"), doxa.memory(user="ana")
    first = asyncio.run(store.add(TEA))
    memory.withdraw(turn_id=first)
    assert found(store, "tea") == []
    second = asyncio.run(store.add(TEA))
    assert first != second and [one.metadata["_turnId"] for one in found(store, "tea")] == [second]
    for turn_id in (first, second):
        memory.forget(turn_id=turn_id)
    assert found(store, "tea") == [] and memory.turns(withdrawn=True) == []
    assert asyncio.run(store.add(TEA)) == first and len(found(store, "tea")) == 1


def test_messages_are_turns_of_who_said_them_and_what_has_no_words_is_none(doxa):
    store = DoxaMemoryStore(doxa, user="ana", agent="guide", speaker="Ana Ruiz", session="s")
    tool = {"role": "user", "content": [{"toolResult": {"toolUseId": "t", "status": "success", "content": []}}]}
    asyncio.run(store.add_messages([message("user", ROME, "And I am glad."), tool, message("assistant", "Nice.")]))
    asyncio.run(store.add_messages([message("user", " "), message("user")]))
    assert [(t.role, t.speaker, t.session, t.text) for t in doxa.memory(user="ana").turns()] == [
        ("user", "Ana Ruiz", "s", f"{ROME}\nAnd I am glad."),
        ("assistant", "guide", "s", "Nice."),
    ]


def test_a_batch_that_is_tried_again_is_stored_once_and_the_same_words_later_are_said_again(doxa, monkeypatch):
    """Sequence numbers begin anew with each run of an agent."""
    store = DoxaMemoryStore(doxa, user="ana")
    batch, numbers = [message("user", "ok"), message("assistant", "ok"), message("user", "ok")], [0, 1, 4]
    absorb, calls = store._dialogue.absorb, []

    def failing(*args, **options):
        calls.append(args)
        if len(calls) == 2:
            raise OSError("the disk is away")
        return absorb(*args, **options)

    monkeypatch.setattr(store._dialogue, "absorb", failing)
    with pytest.raises(OSError, match="disk"):
        asyncio.run(store.add_messages(batch, AddMessagesContext(sequence_numbers=numbers)))
    for _ in range(2):
        asyncio.run(store.add_messages(batch, AddMessagesContext(sequence_numbers=numbers)))
        roles = [turn.role for turn in doxa.memory(user="ana").turns()]
        assert roles == ["user", "assistant", "user"] * (len(roles) // 3)
    assert len(roles) == 6


def test_users_never_share_and_stores_of_one_user_do(doxa):
    ana, again, ben = (DoxaMemoryStore(doxa, user=user, name=name) for user, name in ["ax", "ay", "bx"])
    add(ana, TEA)
    doxa.dialogue(user="a").absorb("I drink mint tea at night.")
    assert {one.content for one in found(again, "tea")} == {TEA, "I drink mint tea at night."}
    assert found(ben, "tea") == []


def test_a_memory_goes_on_after_the_file_is_opened_again_and_is_forgotten_without_a_byte(tmp_path):
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=LIGHT) as doxa:
        asyncio.run(DoxaMemoryStore(doxa, user="ana").add("Ana's code word is canary4711.", {"a": "b"}))
    with Doxa.open(path, config=LIGHT) as doxa:
        store = DoxaMemoryStore(doxa, user="ana")
        (entry,) = found(store, "What is Ana's code word?")
        assert entry.content == "Ana's code word is canary4711." and given(entry) == {"a": "b"}
        doxa.memory(user="ana").forget(turn_id=entry.metadata["_turnId"])
        assert found(store, "code word") == []
        assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_wrong_input_is_refused_in_words_and_nothing_is_stored():
    config = LIGHT.model_copy(update={"engine": LIGHT.engine.model_copy(update={"max_turn_chars": 40})})
    with Doxa.open(":memory:", config=config) as doxa:
        store = DoxaMemoryStore(doxa, user="ana")
        with pytest.raises(InputError, match="40 characters"):
            asyncio.run(store.add("tea " * 20))
        with pytest.raises(InputError, match="plain JSON"):
            asyncio.run(store.add("tea", {"a": {1, 2}}))
        asyncio.run(store.add_messages([message("user", "tea " * 20), message("user", ROME)]))
        assert [turn.text for turn in doxa.memory(user="ana").turns()] == [ROME]


def test_many_calls_at_once_store_each_content_once(doxa):
    store = DoxaMemoryStore(doxa, user="ana")

    async def crowd():
        return await asyncio.gather(*(store.add(f"Ana has {at % 4} cats.") for at in (0, 0, 1, 1, 1, 2, 3, 3)))

    assert len(set(asyncio.run(crowd()))) >= 4
    contents = [one.content for one in found(store, "cats")]
    assert len(contents) == len(set(contents))


def test_the_event_loop_goes_on_and_who_is_cancelled_leaves_nothing_half_done(doxa, monkeypatch):
    store = DoxaMemoryStore(doxa, user="ana")
    begun, go_on, absorb = threading.Event(), threading.Event(), store._dialogue.absorb

    def slow(*args, **options):
        begun.set()
        go_on.wait(10)
        return absorb(*args, **options)

    monkeypatch.setattr(store._dialogue, "absorb", slow)

    async def cancelled():
        adding = asyncio.create_task(store.add(TEA))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        adding.cancel()
        await asyncio.sleep(0.01)
        early = adding.done()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await adding
        return early, [one.content for one in await store.search("tea")]

    assert asyncio.run(cancelled()) == (False, [TEA])
