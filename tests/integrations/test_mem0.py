"""The stand-in for mem0's open-source classes: their quickstart, every method, and their own errors beside ours."""

import asyncio
import atexit
import os
import subprocess
import sys
import tempfile
from datetime import date

import pytest

from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.integrations.mem0 import AsyncMemory, Memory

HOME = tempfile.TemporaryDirectory(prefix="mem0-")
atexit.register(HOME.cleanup)
os.environ["MEM0_TELEMETRY"] = "False"  # both are read when mem0 is imported
os.environ["MEM0_DIR"] = HOME.name

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
ANA = {"user_id": "ana"}
ITEM = ["id", "memory", "hash", "metadata", "created_at", "updated_at"]


@pytest.fixture
def memory(doxa):
    """A stand-in on an engine in memory."""
    with Memory(doxa=doxa) as one:
        yield one


@pytest.fixture
def theirs():
    """mem0's own classes, of which nothing is set up: their checks come before that is needed."""
    main = pytest.importorskip("mem0.memory.main")
    return {Memory: object.__new__(main.Memory), AsyncMemory: object.__new__(main.AsyncMemory)}


@pytest.fixture
def settings(monkeypatch, tmp_path):
    """A working folder, and settings of the environment that cost nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOXA_ENCODER", "hash")
    monkeypatch.setenv("DOXA_GRADER", "none")
    return tmp_path


def made(memory, text="I live in Rome.", **more):
    """Return the id of the first memory that a text makes."""
    return memory.add(text, **{**ANA, **more})["results"][0]["id"]


def texts(answer):
    """Return the texts of the memories of an answer."""
    return [one["memory"] for one in answer["results"]]


def raised(call):
    """Return the class and the words of what a call raises; of a coroutine, what awaiting it raises."""
    with pytest.raises(Exception) as caught:  # noqa: PT011, PT012  which one is what is asked
        found = call()
        if asyncio.iscoroutine(found):
            asyncio.run(found)
    return type(caught.value), str(caught.value)


def test_the_quickstart_runs_without_a_key_or_an_argument(settings, monkeypatch):
    """The loop of mem0's README, less the language model that it calls; the database is that of the command line."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    memory = Memory()

    def chat_with_memories(message, user_id="default_user"):
        relevant = memory.search(query=message, filters={"user_id": user_id}, top_k=3)
        known = "\n".join(f"- {entry['memory']}" for entry in relevant["results"])
        messages = [{"role": "user", "content": message}, {"role": "assistant", "content": "Noted, thank you."}]
        memory.add(messages, user_id=user_id)
        return known

    assert chat_with_memories("I live in Rome.") == ""
    assert chat_with_memories("Where do I live?").splitlines()[0] == "- default_user lives in Rome"
    memory.close()
    assert (settings / "memory.db").is_file()


def test_what_is_added_is_told_and_given_in_their_shapes(memory):
    """Ids, texts and events; of a read the fields of a `MemoryItem`, and whose it is."""
    whose = {"user_id": "ana", "agent_id": "chef", "run_id": "r1"}
    told = memory.add("I live in Rome.", **whose, metadata={"topic": "home"}, expiration_date=date(2999, 1, 31))
    (one,) = told["results"]
    assert list(told) == ["results"] and list(one) == ["id", "memory", "event"]
    assert (one["memory"], one["event"]) == ("Ana lives in Rome", "ADD")
    given = memory.get(one["id"])
    assert list(given)[:7] == [*ITEM[:4], "score", *ITEM[4:]] and given["score"] is None
    assert {name: given[name] for name in whose} == whose
    assert (given["metadata"], given["expiration_date"], given["attributed_to"]) == (
        {"topic": "home"}, "2999-01-31", "user",
    )  # fmt: skip
    (listed,) = memory.get_all(filters=ANA)["results"]
    assert listed == {name: value for name, value in given.items() if name != "score"}
    (found,) = memory.search("Where do I live?", filters=ANA)["results"]
    assert 0 < found["score"] <= 1 and found | {"score": None} == given


def test_the_shapes_are_those_of_mem0(memory):
    """The first fields are those of its `MemoryItem`, in order."""
    base = pytest.importorskip("mem0.configs.base")
    given = memory.get(made(memory))
    assert list(given)[:7] == list(base.MemoryItem(id="1", memory="x").model_dump())


def test_what_is_said_anew_is_told_as_an_update(memory):
    """The old value is not given any more; what was known already is no event."""
    made(memory)
    told = memory.add("I moved to Bonn.", **ANA)["results"]
    assert [one["event"] for one in told if one["memory"].startswith("Ana lives in Bonn since")] == ["ADD"]
    assert [one["event"] for one in told if "Rome" in one["memory"]] == ["UPDATE"]
    (now,) = texts(memory.get_all(filters=ANA))
    assert now.startswith("Ana lives in Bonn since")
    assert memory.add("I live in Bonn.", **ANA) == {"results": []}


def test_messages_are_kept_as_they_are_without_inference(memory):
    """Each is a memory with its role and name; those of the system, and those without words, are none."""
    said = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "I live in Rome.", "name": "Ana"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": [{"type": "text", "text": "A fine town."}]},
    ]
    told = memory.add(said, **ANA, infer=False)["results"]
    assert [(one["memory"], one["event"], one["actor_id"], one["role"]) for one in told] == [
        ("I live in Rome.", "ADD", "Ana", "user"),
        ("A fine town.", "ADD", None, "assistant"),
    ]
    assert memory.doxa.memory(user="ana").facts() == []
    assert memory.get(told[0]["id"])["actor_id"] == "Ana"
    assert texts(memory.get_all(filters={**ANA, "role": "assistant"})) == ["A fine town."]


def test_nothing_said_is_nothing_added(memory):
    """No message, or none with words."""
    assert memory.add([], **ANA) == memory.add([{"role": "user", "content": " "}], **ANA) == {"results": []}


def test_a_procedure_is_one_memory_of_all_that_was_said(memory):
    """Word for word, since no language model sums it up."""
    said = [{"role": "user", "content": "Book a table."}, {"role": "assistant", "content": "Done: 8 pm."}]
    (one,) = memory.add(said, agent_id="chef", memory_type="procedural_memory")["results"]
    assert one["memory"] == "user: Book a table.\nassistant: Done: 8 pm."
    assert memory.get(one["id"])["metadata"] == {"memory_type": "procedural_memory"}


def test_metadata_tells_when_it_was_said_and_not_whose_it_is(memory, caplog):
    """`created_at` is heeded as there, and ids in it are dropped with a warning."""
    memory_id = made(memory, metadata={"created_at": "2023-05-01T10:00:00+00:00", "user_id": "ben"})
    given = memory.get(memory_id)
    assert given["created_at"].startswith("2023-05-01") and given["metadata"] is None
    assert "ignoring metadata" in caplog.text and memory.get_all(filters={"user_id": "ben"})["results"] == []


def test_two_users_never_mix(memory):
    """Neither in lists nor searches, nor when one of them is deleted."""
    made(memory)
    memory.add("I live in Oslo.", user_id="ben")
    assert texts(memory.search("Where do I live?", filters={"user_id": "ben"})) == ["Ben lives in Oslo"]
    memory.delete_all(user_id="ana")
    assert memory.get_all(filters=ANA)["results"] == []
    assert texts(memory.get_all(filters={"user_id": "ben"})) == ["Ben lives in Oslo"]


def test_agents_and_runs_have_memories_of_their_own(memory):
    """Those of no user are found by agent or run, and so are those of users with them."""
    memory.add("I live in Rome.", user_id="ana", agent_id="chef", run_id="r1")
    memory.add("Eva works at Siemens.", agent_id="chef", infer=False)
    memory.add("It rains.", run_id="r2", infer=False)
    of_chef = memory.get_all(filters={"agent_id": "chef"})
    assert texts(of_chef) == ["Eva works at Siemens.", "Ana lives in Rome"]
    assert "user_id" not in of_chef["results"][0] and of_chef["results"][1]["user_id"] == "ana"
    assert texts(memory.search("rain", filters={"run_id": "r2"})) == ["It rains."]
    assert memory.get_all(filters={"agent_id": "chef", "user_id": "ben"})["results"] == []
    memory.delete_all(agent_id="chef")
    assert len(memory.get_all(filters={"user_id": "*"})["results"]) == 0
    assert texts(memory.get_all(filters={"run_id": "r2"})) == ["It rains."]


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        ({"topic": "home"}, True),
        ({"topic": {"ne": "home"}}, False),
        ({"stars": {"gte": 3, "lt": 4}}, True),
        ({"stars": {"in": [1, 2]}}, False),
        ({"topic": {"icontains": "HOM"}}, True),
        ({"topic": "*"}, True),
        ({"colour": "*"}, False),
        ({"AND": [{"topic": "home"}, {"stars": 3}]}, True),
        ({"OR": [{"topic": "work"}, {"stars": 3}]}, True),
        ({"NOT": [{"topic": "home"}]}, False),
        ({"data": "Ana lives in Rome"}, True),
        ({"created_at": {"gte": "2999-01-01"}}, False),
        ({"keywords": "Rome"}, False),
    ],
    ids=str,
)
def test_filters_go_by_metadata(memory, condition, fits):
    """With the operators of mem0; every name that is no field of its own is one of the metadata."""
    made(memory, metadata={"topic": "home", "stars": 3})
    for answer in (memory.get_all(filters={**ANA, **condition}), memory.search("Rome", filters={**ANA, **condition})):
        assert texts(answer) == (["Ana lives in Rome"] if fits else [])


def test_a_search_is_limited_and_explained(memory):
    """`limit` is `top_k`; a threshold leaves out what is below; the details have mem0's names."""
    memory.add("I live in Rome. My sister is Eva. My dog is called Rex.", **ANA)
    assert len(memory.search("Where do I live?", filters=ANA)["results"]) == 3
    assert memory.search("Where do I live?", filters=ANA, top_k=0) == {"results": []}
    (best,) = memory.search("Where do I live?", filters=ANA, limit=1, explain=True)["results"]
    assert best["memory"] == "Ana lives in Rome" and best["score_details"]["final_score"] == best["score"]
    scoring = pytest.importorskip("mem0.utils.scoring")
    (one,) = scoring.score_and_rank([{"id": "1", "score": 1.0}], {}, {}, 0.1, 1, explain=True)
    assert list(best["score_details"]) == list(one["score_details"])
    assert texts(memory.search("Where do I live?", filters=ANA, threshold=best["score"])) == ["Ana lives in Rome"]
    assert len(memory.get_all(filters=ANA, top_k=2)["results"]) == 2


def test_what_has_expired_is_shown_on_request(memory):
    """`get` gives it in any case."""
    memory_id = made(memory, expiration_date="2020-01-31")
    assert memory.get_all(filters=ANA) == memory.search("Rome", filters=ANA) == {"results": []}
    assert texts(memory.get_all(filters=ANA, show_expired=True)) == ["Ana lives in Rome"]
    assert memory.get(memory_id)["expiration_date"] == "2020-01-31"
    memory.update(memory_id, expiration_date=None)
    assert texts(memory.search("Rome", filters=ANA)) == ["Ana lives in Rome"]


def test_an_update_keeps_the_id_and_the_history_tells_it(memory):
    """Of a fact and of words; metadata is put beside what was there."""
    memory_id = made(memory, metadata={"topic": "home"})
    done = {"message": "Memory updated successfully!"}
    assert memory.update(memory_id, text="I live in Bonn.", metadata={"sure": True, "user_id": "ben"}) == done
    assert texts(memory.get_all(filters=ANA)) == ["Ana lives in Bonn"]
    given = memory.get(memory_id)
    assert (given["memory"], given["metadata"]) == ("Ana lives in Bonn", {"topic": "home", "sure": True})
    memory.update(memory_id, data="What a gruesome day.")
    rows = memory.history(memory_id)
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in rows] == [
        ("ADD", None, "Ana lives in Rome"),
        ("UPDATE", "Ana lives in Rome", "I live in Bonn."),
        ("UPDATE", "I live in Bonn.", "What a gruesome day."),
    ]
    assert {one["memory_id"] for one in rows} == {memory_id} and not any(one["is_deleted"] for one in rows)


def test_rows_of_a_history_have_the_fields_of_mem0(memory):
    """As its own table gives them."""
    storage = pytest.importorskip("mem0.memory.storage")
    table = storage.SQLiteManager(":memory:")
    table.add_history("1", None, "x", "ADD")
    assert list(memory.history(made(memory))[0]) == list(table.get_history("1")[0])
    table.close()


def test_delete_leaves_nothing(memory):
    """No read gives it, no history tells it, and the log does not hold its words."""
    kept, gone = made(memory, "My sister is Eva."), made(memory)
    assert memory.delete(gone) == {"message": "Memory deleted successfully!"}
    assert memory.get(gone) is None and memory.history(gone) == []
    assert texts(memory.search("Where do I live? Rome?", filters=ANA)) == ["Ana's sister is Eva"]
    assert "Rome" not in str(memory.doxa.parts.log.rows("ana"))
    assert memory.delete_all(**ANA) == {"message": "Memories deleted successfully!"}
    assert memory.get(kept) is None and memory.doxa.users() == []


def test_a_fact_of_a_message_that_tells_more_is_deleted_without_a_trace(memory):
    """The message is kept for its other fact, and the history of the one that is gone tells nothing."""
    told = {one["memory"]: one["id"] for one in memory.add("I live in Rome. My sister is Eva.", **ANA)["results"]}
    memory.delete(told["Ana lives in Rome"])
    assert memory.history(told["Ana lives in Rome"]) == [] and memory.get(told["Ana lives in Rome"]) is None
    assert texts(memory.get_all(filters=ANA)) == ["Ana's sister is Eva"]


def test_reset_erases_everybody(memory):
    """And what comes afterwards is remembered."""
    made(memory)
    memory.add("It rains.", agent_id="chef")
    assert memory.reset() is None and memory.doxa.users() == []
    assert memory.get(made(memory))["memory"] == "Ana lives in Rome"


def test_it_is_there_after_the_file_is_opened_again(settings):
    """Under the same id, by the path of the vector store, with the rest of the configuration named in a warning."""
    config = {
        "vector_store": {"provider": "qdrant", "config": {"path": str(settings / "store")}},
        "llm": {"provider": "openai", "config": {"model": "gpt-4.1-nano"}},
        "version": "v1.1",
    }
    with pytest.warns(UserWarning, match="llm: this does nothing"), Memory.from_config(config) as memory:
        memory_id = made(memory)
    assert (settings / "store" / "doxa.db").is_file()
    with Memory.from_config({"vector_store": config["vector_store"]}) as memory:
        assert memory.get(memory_id)["memory"] == "Ana lives in Rome"


def test_collections_never_mix(settings):
    """A collection is a tenant of the database."""
    store = {"path": str(settings / "one.db")}
    with Memory.from_config({"vector_store": {"config": {**store, "collection_name": "work"}}}) as work:
        made(work)
    with Memory.from_config({"vector_store": {"config": store}}) as memory:
        assert memory.get_all(filters=ANA)["results"] == []
        memory.reset()
    with Memory.from_config({"vector_store": {"config": {**store, "collection_name": "work"}}}) as work:
        assert texts(work.get_all(filters=ANA)) == ["Ana lives in Rome"]


def test_a_configuration_of_mem0_is_taken_as_an_object(settings):
    """Where it leaves the path to mem0, the database is that of the settings."""
    base = pytest.importorskip("mem0.configs.base")
    with pytest.warns(UserWarning, match="no path"), Memory(base.MemoryConfig(vector_store={"provider": "qdrant"})):
        assert (settings / "memory.db").is_file()
    with pytest.raises(ValueError, match="vector_store"):
        Memory.from_config({"vector_store": "qdrant"})


CALLS = {
    "add without an id": lambda m: m.add("x"),
    "add with an empty id": lambda m: m.add("x", user_id=" "),
    "add with space in an id": lambda m: m.add("x", user_id="a b"),
    "add no messages": lambda m: m.add(3, user_id="ana"),
    "add of an unknown type": lambda m: m.add("x", user_id="ana", memory_type="poem"),
    "add with a bad day": lambda m: m.add("x", user_id="ana", expiration_date="soon"),
    "add with no day": lambda m: m.add("x", user_id="ana", expiration_date=3),
    "search for a user": lambda m: m.search("x", user_id="ana"),
    "search for nobody": lambda m: m.search("x"),
    "search for nobody by filter": lambda m: m.search("x", filters={"AND": [{"user_id": "ana"}]}),
    "search for nothing": lambda m: m.search(" ", filters=ANA),
    "search for a number": lambda m: m.search(3, filters=ANA),
    "search with a high threshold": lambda m: m.search("x", filters=ANA, threshold=1.1),
    "search with a threshold in words": lambda m: m.search("x", filters=ANA, threshold="high"),
    "search for fewer than none": lambda m: m.search("x", filters=ANA, top_k=-1),
    "search for half a result": lambda m: m.search("x", filters=ANA, top_k=0.5),
    "search with space in an id": lambda m: m.search("x", filters={"user_id": "a b"}),
    "search by an unknown operator": lambda m: m.search("x", filters={**ANA, "a": {"gte": 1, "like": "x"}}),
    "search by no list": lambda m: m.search("x", filters={**ANA, "OR": {"a": 1}}),
    "list of a user": lambda m: m.get_all(user_id="ana"),
    "list of nobody": lambda m: m.get_all(filters={"topic": "home"}),
    "list of a text many": lambda m: m.get_all(filters=ANA, top_k="3"),
    "update of nothing": lambda m: m.update("1"),
    "update with a bad day": lambda m: m.update("1", expiration_date="soon"),
    "delete all of nobody": lambda m: m.delete_all(),
    "delete all with an empty id": lambda m: m.delete_all(run_id=""),
    "chat": lambda m: m.chat("x"),
}


@pytest.mark.parametrize("kind", [Memory, AsyncMemory], ids=["sync", "async"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_errors_are_those_of_mem0(memory, theirs, kind, call):
    """Of the same class, with the same words."""
    assert raised(lambda: call(kind(doxa=memory.doxa))) == raised(lambda: call(theirs[kind]))


@pytest.mark.parametrize("memory_id", ["nonsense", "fact", "é"], ids=["unknown", "shaped", "foreign"])
def test_what_is_not_there_is_not_found(memory, memory_id):
    """As there: None, an empty history, and a ValueError where something would be changed."""
    if memory_id == "fact":
        memory_id = made(memory)
        memory.delete_all(**ANA)
    assert memory.get(memory_id) is None and memory.history(memory_id) == []
    assert raised(lambda: memory.delete(memory_id)) == (ValueError, f"Memory with id {memory_id} not found")
    told = f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'"
    assert raised(lambda: memory.update(memory_id, "x")) == (ValueError, told)


def test_what_only_the_platform_does_is_refused(memory):
    """Times of their own, and projects."""
    for call in (
        lambda: memory.add("x", **ANA, timestamp=1),
        lambda: memory.search("x", filters=ANA, reference_date="2024-01-01"),
        lambda: memory.project.update(decay=True),
        lambda: memory.add("x", **ANA, metadata={"_mem0": 1}),
    ):
        assert raised(call)[0] is ValueError


def test_what_does_nothing_is_said(memory):
    """An argument without effect is a warning and no error."""
    with pytest.warns(UserWarning, match="prompt"):
        memory.add("x", **ANA, prompt="Be brief.")
    with pytest.warns(UserWarning, match="version"):
        memory.get_all(filters=ANA, version="v2")


def test_mem0_is_not_needed():
    """It is not imported, and its error has a stand-in that is a ValueError."""
    told = """
import sys
from doxa.core.config import Config, EncoderConfig, GraderConfig
from doxa.engine import Doxa
from doxa.integrations.mem0 import Memory, ValidationError
doxa = Doxa.open(":memory:", config=Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none")))
try:
    Memory(doxa=doxa).add("x")
except ValueError as exc:
    print(type(exc) is ValidationError, exc.error_code, "mem0" in sys.modules)
doxa.close()
"""
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "VALIDATION_001", "False"]


def test_the_asynchronous_twin_does_all_of_it(settings):
    """Every method is awaited as there, and the event loop goes on."""

    async def talk():
        async with AsyncMemory.from_config({"vector_store": {"config": {"path": ":memory:"}}}) as memory:
            told = await memory.add("I live in Rome.", user_id="ana")
            memory_id = told["results"][0]["id"]
            assert (await memory.get(memory_id))["memory"] == "Ana lives in Rome"
            await memory.update(memory_id, text="I live in Bonn.")
            found = await memory.search("Where do I live?", filters=ANA)
            assert texts(found) == texts(await memory.get_all(filters=ANA)) == ["Ana lives in Bonn"]
            assert [one["event"] for one in await memory.history(memory_id)] == ["ADD", "UPDATE"]
            await memory.delete(memory_id)
            assert await memory.get(memory_id) is None
            await asyncio.gather(*(memory.add("I live in Oslo.", user_id=name) for name in ("ben", "eva")))
            await memory.delete_all(user_id="ben")
            assert texts(await memory.get_all(filters={"user_id": "*"})) == ["Eva lives in Oslo"]
            await memory.reset()
            assert memory.doxa.users() == []
            with pytest.raises(ValueError, match="not supported"):
                await memory.project.update()

    asyncio.run(talk())
