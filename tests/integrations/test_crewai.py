"""A crew's memory beside a memory: the same calls as on the framework's own, and what its own cannot do."""

import asyncio
import copy
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig

pytest.importorskip(
    "crewai",
    reason="crewai needs another release of mcp than the server does; run it in an environment of its own",
)

from crewai import Agent, Crew, Task
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.memory_events import MemoryQueryCompletedEvent, MemorySaveCompletedEvent
from crewai.llms.base_llm import BaseLLM
from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
from crewai.memory.storage.lancedb_storage import LanceDBStorage
from crewai.memory.types import MemoryRecord
from crewai.memory.unified_memory import Memory

from doxa.integrations.crewai import DoxaMemory, DoxaStorage

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
AT = datetime(2026, 3, 1, 12)
ROME, PARIS, TEA = "I live in Rome.", "I moved to Paris.", "Ana prefers green tea to coffee."


def record(name, scope="/", days=0, vector=None, **more):
    at = AT + timedelta(days=days)
    return MemoryRecord(
        id=name, content=f"Content of {name}.", scope=scope, created_at=at, last_accessed=at, embedding=vector, **more
    )


RECORDS = [
    record("root", days=1, vector=[0.0, 0.0, 1.0], categories=["x"]),
    record("a", "/crew/a", 2, [1.0, 0.0, 0.0], categories=["x", "y"], metadata={"k": 1, "deep": {"l": [None]}}),
    record("b", "/crew/a/b", 3, [0.6, 0.8, 0.0], importance=0.9, source="ben", private=True),
    record("c", "/crew/c_d%", 4, [0.0, 1.0, 0.0], metadata={"k": 2}),
    record("it's", "/other", 5, None, categories=["z"]),
]


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fields that it reads itself


@pytest.fixture(autouse=True)
def _unheard(monkeypatch):
    """Nobody listens: the framework's tracing waits seconds for what it has not sent."""
    monkeypatch.setenv("CREWAI_TESTING", "true")
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    with crewai_event_bus.scoped_handlers():
        yield


@pytest.fixture
def own(shared):
    """A storage of a user whom nobody else has."""
    return DoxaStorage(shared, user=uuid4().hex)


@pytest.fixture
def theirs(tmp_path):
    return LanceDBStorage(path=tmp_path / "lance", compact_every=0)


@pytest.fixture
def memory(doxa):
    return DoxaMemory(doxa, user="ana")


def plain(result):
    """Return what a call gives as two storages have to tell it alike."""
    if isinstance(result, list):
        return [plain(one) for one in result]
    if isinstance(result, tuple):
        return plain(result[0]), round(result[1], 5)
    return result.model_dump() if isinstance(result, MemoryRecord) else result


def run(storage, *calls):
    """Return what calls of a storage give, after its records are saved; an error is given as its type."""
    told = []
    for name, args, options in [("save", ([one.model_copy() for one in RECORDS],), {}), *calls]:
        try:
            told.append(plain(getattr(storage, name)(*args, **options)))
        except (EmbeddingDimensionMismatchError, TypeError) as exc:
            told.append(type(exc))
    return told


def call(name, *args, **options):
    return name, args, options


def texts(doxa, user="ana"):
    return [turn.text for turn in doxa.memory(user=user).turns(withdrawn=True)]


def test_it_is_a_storage_of_the_framework(own):
    assert isinstance(own, StorageBackend)


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([call("list_records"), call("list_records", limit=2, offset=1)], id="list"),
        pytest.param([call("list_records", limit=0), call("list_records", offset=-1)], id="list nothing"),
        pytest.param([call("list_records", scope) for scope in ("/", "/crew", "crew/a/", "/none")], id="list a scope"),
        pytest.param([call("get_record", name) for name in ("a", "b", "it's", "none")], id="get"),
        pytest.param([call("count", scope) for scope in (None, "/", "/crew", "/crew/a", "/none")], id="count"),
        pytest.param([call("list_scopes", scope) for scope in ("/", "/crew", "/crew/a/", "/none")], id="scopes"),
        pytest.param([call("list_categories", scope) for scope in (None, "/crew", "/none")], id="categories"),
        pytest.param(
            [call("get_scope_info", scope) for scope in ("/", "/crew", "/crew/a/", "/crew/c_d%", "/none")], id="info"
        ),
        pytest.param([call("search", [1.0, 0.1, 0.0]), call("search", [0.0, 1.0, 0.2], limit=2)], id="search"),
        pytest.param([call("search", [1.0, 0.1, 0.0], scope_prefix=at) for at in ("/crew", "/none", "/")], id="within"),
        pytest.param([call("search", [1.0, 0.1, 0.0], categories=["y", "z"])], id="search categories"),
        pytest.param([call("search", [1.0, 0.1, 0.0], metadata_filter={"k": 2})], id="search metadata"),
        pytest.param([call("search", [1.0, 0.1, 0.0], min_score=0.5)], id="search by score"),
        pytest.param([call("search", [1.0, 0.0])], id="search with a vector of another length"),
        pytest.param([call("save", [record("n", vector=[1.0])]), call("count")], id="save one of another length"),
        pytest.param([call("save", []), call("count")], id="save nothing"),
        pytest.param([call("save", [record("n", metadata={"a": {1}})]), call("count")], id="no JSON, nothing stored"),
        pytest.param(
            [call("update", record("a", "/new", 2, [0.0, 0.0, 1.0])), call("get_record", "a"), call("count"),
             call("list_scopes", "/")],
            id="update",
        ),
        pytest.param([call("update", record("new", vector=[0.0, 0.0, 1.0])), call("count")], id="update what is not"),
        pytest.param([call("delete", record_ids=["a", "it's", "none"]), call("list_records")], id="delete ids"),
        pytest.param([call("delete", categories=["x"]), call("list_records")], id="delete categories"),
        pytest.param([call("delete", "/crew", metadata_filter={"k": 1}), call("list_records")], id="delete metadata"),
        pytest.param([call("delete", older_than=AT + timedelta(days=3)), call("list_records")], id="delete old"),
        pytest.param([call("delete"), call("list_records"), call("delete")], id="delete everything"),
        pytest.param([call("reset", "/crew/a"), call("list_records"), call("reset"), call("count")], id="reset"),
    ],
)  # fmt: skip
def test_the_same_calls_give_the_same_as_the_storage_of_the_framework(own, theirs, calls):
    assert run(own, *calls) == run(theirs, *calls)


def test_an_empty_storage_is_empty_as_that_of_the_framework(own, theirs):
    for name, *args in [
        ("list_records",), ("count",), ("list_scopes",), ("list_categories",), ("get_record", "a"),
        ("search", [1.0]), ("delete",), ("reset",), ("touch_records", ["a"]), ("save", []),
    ]:  # fmt: skip
        assert getattr(own, name)(*args) == getattr(theirs, name)(*args)
    assert own.get_scope_info("/a/") == theirs.get_scope_info("/a/")


def test_async_calls_do_what_the_others_do(own):
    async def calls():
        await own.asave([one.model_copy() for one in RECORDS])
        found = await own.asearch([1.0, 0.0, 0.0], scope_prefix="/crew", limit=1)
        return [one.id for one, _ in found], await own.adelete(record_ids=["a"]), own.count()

    assert asyncio.run(calls()) == (["a"], 1, 4)


def test_where_it_differs_from_the_storage_of_the_framework(own):
    """A scope is a path, criteria hold together, no ids are no records, and an id is one record."""
    own.save([record("a", "/a"), record("ab", "/ab"), record("root")])
    assert [one.id for one in own.list_records("/a")] == ["a"]
    assert own.delete("/ab", record_ids=["a"]) == 0 and own.delete(record_ids=[]) == 0
    assert own.delete("/a") == 1 and own.count() == 2
    own.save([record("ab", "/b")])
    assert own.count() == 2 and own.get_record("ab").scope == "/b"


def test_a_touch_is_a_new_time_of_access_and_nothing_else(own):
    own.save([record("a", vector=[1.0])])
    own.touch_records(["a", "none"])
    touched = own.get_record("a")
    assert touched.last_accessed > AT and touched.model_copy(update={"last_accessed": AT}) == record("a", vector=[1.0])


def words(texts):
    """Return vectors by words, as an embedding model would."""
    return [[float(word in text.lower()) for word in ("tea", "bus", "stolen", "cello")] for text in texts]


class Scripted(BaseLLM):
    """A model that says what it was given, and keeps what it is asked."""

    says: list
    asked: list

    def __init__(self, *says):
        super().__init__(model="scripted", says=list(says), asked=[])

    def call(self, messages, *args, **options):
        self.asked.append(messages)
        return self.says.pop(0)

    def supports_function_calling(self):
        return False


@pytest.mark.parametrize("kind", ["theirs", "their memory, our storage", "ours"])
def test_a_memory_does_what_that_of_the_framework_does(doxa, theirs, kind):
    """Where every field is given, so that it asks no model."""
    given = {"categories": ["c"], "importance": 0.7}
    settings = {"embedder": words, "llm": Scripted()}
    memory = {
        "theirs": lambda: Memory(storage=theirs, **settings),
        "their memory, our storage": lambda: Memory(storage=DoxaStorage(doxa, user="ana"), **settings),
        "ours": lambda: DoxaMemory(doxa, user="ana"),
    }[kind]()
    tea = memory.remember("Ana drinks tea.", scope="/home", metadata={"a": 1}, source="ana", **given)
    memory.remember_many(["The bus is late.", "Ana plays the cello."], scope="/out", **given)
    secret = memory.remember("The stolen cello is in Graz.", scope="/out", private=True, source="ben", **given)
    found = {
        question: [match.record.content for match in memory.recall(question, depth="shallow", **options)][:1]
        for question, options in [
            ("tea", {"limit": 1}), ("the bus", {"scope": "/out", "limit": 1}), ("a cello", {"limit": 1}),
        ]
    }  # fmt: skip
    assert found == {
        "tea": ["Ana drinks tea."], "the bus": ["The bus is late."], "a cello": ["Ana plays the cello."],
    }  # fmt: skip
    assert tea.model_dump(include={"scope", "categories", "importance", "metadata", "source"}) == {
        "scope": "/home", "categories": ["c"], "importance": 0.7, "metadata": {"a": 1}, "source": "ana",
    }  # fmt: skip
    told = [{m.record.id for m in memory.recall("cello", depth="shallow", **who)} & {secret.id}
            for who in ({}, {"source": "ana"}, {"source": "ben"}, {"include_private": True})]  # fmt: skip
    assert told == [set(), set(), {secret.id}, {secret.id}]
    assert (memory.list_scopes(), memory.list_categories(), memory.info("/out").record_count) == (
        ["/home", "/out"], {"c": 4}, 3,
    )  # fmt: skip
    assert memory.tree().splitlines() == ["/ (4 records)", "  /home (1 records)", "  /out (3 records)"]
    assert memory.update(tea.id, content="Ana drinks mint tea.").content == "Ana drinks mint tea."
    assert memory.scope("/home").recall("tea", depth="shallow")[0].record.content == "Ana drinks mint tea."
    with pytest.raises(ValueError, match="not found"):
        memory.update("none", content="x")
    assert memory.forget(scope="/home", categories=["c"]) == 1 and memory.forget(record_ids=[secret.id]) == 1
    memory.reset("/out")
    assert memory.list_records() == []
    memory.close()


@pytest.mark.parametrize(
    ("root", "scope", "stored"),
    [(None, None, "/"), (None, "/x", "/x"), ("/crew/r", None, "/crew/r"), ("/crew/r", "x", "/crew/r/x")],
)
def test_a_root_scope_confines_it(doxa, memory, root, scope, stored):
    """What is outside is neither recalled nor forgotten."""
    memory.remember(TEA, scope="/elsewhere")
    inner = DoxaMemory(doxa, user="ana", root_scope=root)
    assert inner.remember("Ana buys tea in Graz.", scope=scope).scope == stored
    found = {match.record.scope for match in inner.recall("tea")}
    assert found == ({stored} if root else {stored, "/elsewhere"})
    assert inner.forget() == (1 if root else 2)


def test_a_read_only_memory_keeps_nothing(doxa, memory):
    memory.remember(TEA)
    reader = DoxaMemory(doxa, user="ana", read_only=True)
    assert reader.remember(ROME) is None and reader.remember_many([ROME]) == []
    before = memory.list_records()
    assert [match.record.content for match in reader.recall("tea")] == [TEA] and memory.list_records() == before


def test_nothing_is_recalled_for_nothing(memory):
    assert memory.recall("tea") == [] and memory.remember_many([]) == []
    memory.remember(TEA)
    assert memory.recall(" ") == [] and memory.recall("tea", limit=0) == []


def test_what_is_remembered_is_recalled_at_once_and_said_once(memory, doxa):
    """Of the same content in one call there is one record; async calls do what the others do."""
    memory.remember_many([TEA, f" {TEA} ", "The bus is late."])
    assert [match.record.content for match in memory.recall("What does Ana prefer, tea or coffee?", limit=1)] == [TEA]
    assert len(texts(doxa)) == 2
    assert asyncio.run(memory.aremember(ROME)).content == ROME
    assert asyncio.run(memory.arecall("Rome", limit=1))[0].record.content == ROME
    assert len(asyncio.run(memory.aremember_many(["Ana has a cat."]))) == 1


def test_what_is_revised_is_no_longer_recalled_and_still_explained(doxa, memory):
    memory.remember_many([ROME, PARIS])
    doxa.flush()
    believed = memory.doxa.memory(user="ana")
    assert [str(fact.object) for fact in believed.facts(relation="lives_in")] == ["Paris"]
    assert [match.record.content for match in memory.recall("Where does Ana live?")] == [PARIS]
    assert len(memory.list_records()) == 2 and any("Rome" in str(change) for change in believed.history())


def test_an_update_withdraws_what_the_record_said(doxa, memory):
    kept = memory.remember(ROME)
    memory.update(kept.id, content="I live in Paris.")
    memory.update(kept.id, importance=0.9)
    doxa.flush()
    believed = doxa.memory(user="ana")
    assert [str(fact.object) for fact in believed.facts(relation="lives_in")] == ["Paris"]
    assert texts(doxa) == [ROME, "I live in Paris."] and len(believed.withdrawn()) == 1
    memory.forget(record_ids=[kept.id])
    assert texts(doxa) == [] and believed.facts(current=False) == []


def test_users_never_share_and_forgetting_a_user_takes_the_records(doxa, memory):
    other = DoxaMemory(doxa, user="ben")
    memory.remember(TEA)
    other.remember("Ben drinks tea.")
    assert [match.record.content for match in other.recall("tea")] == ["Ben drinks tea."]
    doxa.memory(user="ana").forget(everything=True)
    assert memory.list_records() == [] and len(other.list_records()) == 1


def test_a_memory_goes_on_after_the_file_is_opened_again_and_is_forgotten_without_a_byte(tmp_path):
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        kept = DoxaMemory(doxa, user="ana").remember("Ana's code word is canary4711.", metadata={"a": "canary4711"})
    with Doxa.open(tmp_path / "memory.db", config=LIGHT) as doxa:
        memory = DoxaMemory(doxa, user="ana")
        assert memory.list_records() == [kept]
        assert memory.recall("What is the code word?")[0].record.id == kept.id
        assert memory.forget(scope="/") == 1
        assert b"canary4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_a_record_that_is_deleted_while_it_is_saved_leaves_no_turn(doxa, monkeypatch):
    storage = DoxaStorage(doxa, user="ana")
    follow = storage._follow

    def late(record, *args):
        storage.delete(record_ids=[record.id])
        follow(record, *args)

    monkeypatch.setattr(storage, "_follow", late)
    storage.save([MemoryRecord(content=ROME)])
    assert storage.count() == 0 and texts(doxa) == []


def test_many_calls_at_once_lose_nothing(memory, doxa):
    kept = memory.remember("Ana has 0 cats.")
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda at: memory.remember(f"Box {at} is red."), range(8)))
        list(threads.map(lambda at: memory.update(kept.id, content=f"Ana has {at} cats."), range(1, 9)))
    (last,) = [one.content for one in memory.list_records() if one.id == kept.id]
    trusted = [turn.text for turn in doxa.memory(user="ana").turns() if "cats" in turn.text]
    assert trusted == [last] and len(memory.list_records()) == 9


def test_who_listens_to_the_framework_hears_of_it(memory):
    heard = []
    for kind in (MemorySaveCompletedEvent, MemoryQueryCompletedEvent):
        crewai_event_bus.on(kind)(lambda source, event: heard.append((event.type, source is memory)))
    memory.remember(TEA)
    memory.recall("tea")
    crewai_event_bus.flush()
    assert sorted(heard) == [("memory_query_completed", True), ("memory_save_completed", True)]


def crew(memory, *says):
    """Return a crew of one agent with a scripted model, and the model."""
    model = Scripted(*says)
    agent = Agent(role="guide", goal="Help Ana.", backstory="You know Ana.", llm=model)
    task = Task(description="Say where Ana lives.", expected_output="A place.", agent=agent)
    return Crew(agents=[agent], tasks=[task], memory=memory, verbose=False), model


def test_a_crew_recalls_what_is_known_and_remembers_what_it_did(doxa, memory):
    memory.remember("Ana lives in Rome.")
    one, model = crew(memory, "Thought: I know it.\nFinal Answer: Ana lives in Rome, near the river.")
    assert "near the river" in one.kickoff().raw
    assert "Ana lives in Rome." in str(model.asked[0])
    kept = {match.record.content for match in memory.recall("Where does Ana live? Near the river?")}
    assert any("near the river" in content for content in kept)
    assert copy.deepcopy(memory.storage).doxa is doxa  # as a crew is copied
    one.reset_memories("memory")
    assert memory.list_records() == [] and texts(doxa) == []


def test_a_model_that_was_given_splits_what_a_task_gave(doxa):
    llm = Scripted('{"memories": ["Ana lives in Rome.", "Ana plays the cello."]}')
    memory = DoxaMemory(doxa, user="ana", llm=llm)
    assert memory.extract_memories("A long text.") == ["Ana lives in Rome.", "Ana plays the cello."]
    assert DoxaMemory(doxa, user="ana").extract_memories("A long text.") == ["A long text."]
    assert DoxaMemory(doxa, user="ana").extract_memories(" ") == []
