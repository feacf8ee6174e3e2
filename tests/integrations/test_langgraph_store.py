"""LangGraph's store over a memory: as its own in-memory one, and what only a memory can do."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig

pytest.importorskip("langgraph.store.base")

from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from doxa.integrations.langgraph import DoxaStore

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))
ANA = ("memories", "ana")


@pytest.fixture
def store(doxa):
    """A store over an empty memory."""
    return DoxaStore(doxa)


LABELS = st.sampled_from(["a", "b", "c"])
SPACES = st.lists(LABELS, min_size=1, max_size=3).map(tuple)
KEYS = st.sampled_from(["k", "l", "a longer key/with signs %_\N{SNOWMAN}"])
PLAIN = st.one_of(st.integers(-3, 3), st.sampled_from(["x", "y"]), st.booleans(), st.none())
VALUES = st.fixed_dictionaries(
    {"n": st.integers(-3, 3)}, optional={"s": PLAIN, "d": st.fixed_dictionaries({"t": PLAIN})}
)
OPERATORS = st.dictionaries(
    st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), st.integers(-3, 3), min_size=1, max_size=2
)
FILTERS = st.one_of(
    st.none(),
    st.fixed_dictionaries({"n": st.one_of(st.integers(-3, 3), OPERATORS)}),
    st.fixed_dictionaries({"d": st.fixed_dictionaries({"t": PLAIN})}),
)
PATHS = st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=2).map(tuple)
CONDITIONS = st.builds(MatchCondition, match_type=st.sampled_from(["prefix", "suffix"]), path=PATHS)
PUTS = st.builds(
    PutOp, namespace=SPACES, key=KEYS, value=st.one_of(st.none(), VALUES), index=st.just(False), ttl=st.none()
)
OPS = st.one_of(
    PUTS,
    PUTS,
    st.builds(GetOp, namespace=SPACES, key=KEYS),
    st.builds(
        SearchOp, namespace_prefix=st.lists(LABELS, max_size=2).map(tuple), filter=FILTERS,
        limit=st.integers(1, 4), offset=st.integers(0, 2),
    ),
    st.builds(
        ListNamespacesOp,
        match_conditions=st.one_of(st.none(), st.tuples(CONDITIONS), st.tuples(CONDITIONS, CONDITIONS)),
        max_depth=st.one_of(st.none(), st.integers(1, 3)), limit=st.integers(1, 5), offset=st.integers(0, 2),
    ),
)  # fmt: skip


def told(op, found):
    """Return what an operation gave, without times, and in an order where the contract has none."""
    if isinstance(op, SearchOp):
        return sorted((one.namespace, one.key, repr(one.value)) for one in found)
    return (found.namespace, found.key, found.value) if isinstance(op, GetOp) and found is not None else found


@settings(max_examples=40, deadline=None)
@given(ops=st.lists(OPS, max_size=20))
def test_any_operations_give_what_the_in_memory_store_gives(shared, ops):
    """But for pages of a search, whose order nothing says, and namespaces that have become empty."""
    ours, theirs = DoxaStore(shared.tenant(uuid4().hex)), InMemoryStore()
    for op in ops:
        whole = op._replace(limit=100, offset=0) if isinstance(op, SearchOp) else op
        assert told(op, *ours.batch([whole])) == told(op, *theirs.batch([whole]))
        for space in [space for space, items in theirs._data.items() if not items]:
            del theirs._data[space]


def test_items_are_stored_under_the_keys_of_every_release(store):
    """So that a store of before is read."""
    store.put(("users", "ana"), "k1", {"n": 1}, index=False)
    keys = list(store._records(("users", "ana")).all())
    assert keys == ["36bbc6fb6214aaba5281a76b/6ab9f1eb8f7d3388f4f9d586/v"]


def test_a_batch_reads_before_it_puts_and_puts_the_last_value(store):
    """As LangGraph's own stores do, so that the results of a batch do not depend on its order."""
    ops = [PutOp(ANA, "1", {"n": 1}), GetOp(ANA, "1"), PutOp(ANA, "1", {"n": 2})]
    assert store.batch(ops) == InMemoryStore().batch(ops) == [None, None, None]
    assert store.get(ANA, "1").value == {"n": 2}


def test_pages_of_a_search_are_parts_of_the_whole_in_one_order(store):
    """The order in which items were first put, so that nothing is skipped when others change."""
    for n in range(7):
        store.put(ANA, f"k{n}", {"n": n})
    store.put(ANA, "k0", {"n": 0})
    pages = [[one.key for one in store.search(ANA, limit=3, offset=offset)] for offset in (0, 3, 6)]
    assert [key for page in pages for key in page] == [f"k{n}" for n in range(7)]


def test_what_is_put_is_found_by_meaning_and_believed(store):
    """The item comes first, with a score, and the fact behind it can be explained."""
    store.put(ANA, "1", {"text": "Ana lives in Lisbon."})
    store.put(ANA, "2", {"text": "Ana is allergic to walnuts."})
    store.put(ANA, "3", {"text": "unsaid"}, index=False)
    found = store.search(ANA, query="Where does Ana live?")
    assert found[0].key == "1" and found[0].score > found[1].score and found[-1].score is None
    memory = store.doxa.memory(user="memories/ana")
    (fact,) = memory.facts(relation="lives_in")
    assert str(fact.object) == "Lisbon" and "Lisbon" in memory.why(fact.fact_id).text


def test_what_is_put_again_takes_the_place_of_what_was_said(store):
    """The old text is not found nor believed, and history still tells of it."""
    store.put(ANA, "home", {"text": "Ana lives in Lisbon."})
    first = store.get(ANA, "home")
    store.put(ANA, "home", {"text": "Ana lives in Berlin."})
    second = store.get(ANA, "home")
    assert second.value == {"text": "Ana lives in Berlin."}
    assert second.created_at == first.created_at and second.updated_at > first.updated_at
    memory = store.doxa.memory(user="memories/ana")
    store.doxa.flush()
    assert [str(fact.object) for fact in memory.facts(relation="lives_in")] == ["Berlin"]
    assert any("Lisbon" in str(change) for change in memory.history())
    assert len(store.search(ANA, query="Lisbon")) == 1


def test_the_same_text_put_again_is_no_news(store):
    """Only what is beside it changes."""
    store.put(ANA, "home", {"text": "Ana lives in Lisbon."})
    store.put(ANA, "home", {"text": "Ana lives in Lisbon.", "seen": None})
    assert len(store.doxa.memory(user="memories/ana").turns(withdrawn=True)) == 1


def test_what_is_deleted_leaves_no_byte(tmp_path):
    """Neither as an item nor as a turn."""
    with Doxa.open(tmp_path / "m.db", config=LIGHT) as doxa:
        store = DoxaStore(doxa)
        store.put(ANA, "1", {"text": "The canary is called Haderach."})
        store.put(ANA, "1", {"text": "The canary is called Kwisatz."})
        store.put(ANA, "2", {"text": "Ana likes tea."})
        doxa.flush()
        store.delete(ANA, "1")
        assert store.get(ANA, "1") is None and [one.key for one in store.search(ANA)] == ["2"]
    left = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert b"Kwisatz" not in left and b"Haderach" not in left


def test_the_name_of_a_namespace_goes_with_its_last_item(tmp_path):
    """It may be that of a person."""
    with Doxa.open(tmp_path / "m.db", config=LIGHT) as doxa:
        store = DoxaStore(doxa)
        store.put(("memories", "zelda-4711"), "1", {"text": "Zelda likes tea."})
        store.delete(("memories", "zelda-4711"), "1")
        assert store.list_namespaces() == []
        doxa.memory(user="memories/zelda-4711").forget(everything=True)
        assert store._index.all() == {}


def test_of_many_writers_of_one_key_the_last_one_is_believed_alone(tmp_path):
    """Two engines on one file, four threads each; what the others wrote can be erased with the item."""
    with Doxa.open(tmp_path / "m.db", config=LIGHT) as one, Doxa.open(tmp_path / "m.db", config=LIGHT) as other:
        stores = [DoxaStore(one), DoxaStore(other)]
        with ThreadPoolExecutor(8) as pool:
            puts = [pool.submit(stores[n % 2].put, ANA, "home", {"text": f"Ana lives in Town{n}."}) for n in range(8)]
        assert all(put.result() is None for put in puts)
        memory, value = one.memory(user="memories/ana"), stores[0].get(ANA, "home").value
        one.flush()
        told = [turn.text for turn in memory.turns()]
        assert told == [value["text"]]
        stores[1].delete(ANA, "home")
        assert one.memory(user="memories/ana").turns(withdrawn=True) == []


def test_reading_never_undoes_a_put(store):
    """Its time is kept apart from the value."""
    short = DoxaStore(store.doxa, ttl={"default_ttl": 5, "refresh_on_read": True})
    short.put(ANA, "1", {"n": 1})
    stale = short._stored(ANA, "1")
    short.put(ANA, "1", {"n": 2})
    short._refresh([stale])
    assert short.get(ANA, "1").value == {"n": 2}
    short.delete(ANA, "1")
    short._refresh([stale])
    assert short.get(ANA, "1") is None and short.search(ANA) == []


def test_an_item_whose_turn_was_forgotten_can_be_put_and_deleted(store):
    """It is gone with the turn, and is found again once it is put."""
    store.put(ANA, "1", {"text": "Ana lives in Lisbon."})
    store.doxa.flush()
    memory = store.doxa.memory(user="memories/ana")
    memory.forget(turn_id=store._stored(ANA, "1").turn_id)
    assert store.get(ANA, "1") is None
    store.put(ANA, "1", {"text": "Ana lives in Lisbon."})
    assert store.search(ANA, query="Lisbon")[0].score is not None
    store.doxa.flush()
    memory.forget(turn_id=store._stored(ANA, "1").turn_id)
    store.put(ANA, "1", {"text": "Ana lives in Rome."})
    store.delete(ANA, "1")
    assert store.get(ANA, "1") is None


def test_namespaces_never_share_what_is_believed(store):
    """One user's memory each, unless the program says otherwise."""
    store.put(("memories", "bo"), "1", {"text": "Bo lives in Oslo."})
    store.put(ANA, "1", {"text": "Ana lives in Lisbon."})
    assert [one.namespace for one in store.search(ANA, query="Who lives in Oslo?")] == [ANA]
    assert len(store.search(("memories",), query="Who lives in Oslo?")) == 2
    assert store.search(("memories",), query="Who lives in Oslo?")[0].namespace == ("memories", "bo")
    shared = DoxaStore(store.doxa, user=lambda namespace: namespace[-1])
    shared.put(("notes", "cleo"), "1", {"text": "Cleo likes tea."})
    shared.put(("facts", "cleo"), "1", {"text": "Cleo lives in Graz."})
    store.doxa.flush()
    assert len(store.doxa.memory(user="cleo").turns()) == 2
    assert [one.key for one in shared.search(("notes", "cleo"))] == ["1"]


def test_items_expire(store, monkeypatch):
    """Reading begins their time anew, and a sweep erases what was not read."""
    now = [time.time()]
    clock = SimpleNamespace(time=lambda: now[0], monotonic=time.monotonic)
    monkeypatch.setattr("doxa.integrations.langgraph.store.time", clock)
    short = DoxaStore(store.doxa, ttl={"default_ttl": 0.02, "omit_expired": True, "refresh_on_read": True})
    short.put(ANA, "1", {"text": "gone soon"})
    short.put(ANA, "2", {"text": "stays here"}, ttl=None)
    short.put(ANA, "3", {"text": "read again"})
    now[0] += 0.8
    assert short.get(ANA, "3") is not None
    now[0] += 0.8
    assert short.get(ANA, "1", refresh_ttl=False) is None and short.get(ANA, "3", refresh_ttl=False) is not None
    assert short.sweep_ttl() == 1 and {one.key for one in short.search(ANA, refresh_ttl=False)} == {"2", "3"}


def test_items_are_there_after_the_file_is_opened_again(tmp_path):
    """Word for word, with their times; async too."""
    value = {"text": "Ana likes tea.", "deep": {"list": [1, None, "x"]}}

    async def put(store):
        await store.aput(ANA, "1", value)
        return await store.aget(ANA, "1")

    with Doxa.open(tmp_path / "m.db", config=LIGHT) as doxa:
        first = asyncio.run(put(DoxaStore(doxa)))
    with Doxa.open(tmp_path / "m.db", config=LIGHT) as doxa:
        store = DoxaStore(doxa)
        assert store.get(ANA, "1") == first and first.value == value
        assert store.list_namespaces() == [ANA]


def test_wrong_input_is_refused_and_changes_nothing(store):
    """With the errors of the contract."""
    store.put(ANA, "1", {"n": 1})
    with pytest.raises(InvalidNamespaceError):
        store.put((), "1", {"n": 1})
    with pytest.raises(TypeError):
        store.put(ANA, "1", {"n": object()})
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(ANA, filter={"n": {"$near": 1}})
    with pytest.raises(ValueError, match="operation"):
        store.batch(["get"])
    assert store.get(ANA, "1").value == {"n": 1}


def test_an_item_goes_with_the_turn_that_says_it(store):
    """What is forgotten in the memory is in no item either; a turn that was replaced takes none along."""
    store.put(ANA, "1", {"text": "Ana lives in Rome."})
    store.put(ANA, "1", {"text": "Ana lives in Oslo."})
    store.put(ANA, "2", {"text": "Ana likes tea."})
    memory = store.doxa.memory(user="/".join(ANA))
    old, new, tea = (turn.turn_id for turn in memory.turns(withdrawn=True))
    memory.forget(turn_id=old)
    assert store.get(ANA, "1").value == {"text": "Ana lives in Oslo."}
    memory.forget(turn_id=new)
    assert store.get(ANA, "1") is None and store.get(ANA, "2") is not None
    memory.forget(turn_id=tea)
    assert store.search(ANA) == [] and store.list_namespaces() == []


def test_user_in_an_item_is_the_user_of_its_namespace(store):
    """As LangMem writes its memories."""
    store.put(ANA, "1", {"content": "User lives in Rome."})
    store.put(ANA, "2", {"content": "User has moved to Oslo."})
    store.doxa.flush()
    memory = store.doxa.memory(user="/".join(ANA))
    assert [(fact.subject.label, fact.object.label) for fact in memory.facts(relation="lives in")] == [
        ("memories/ana", "Oslo")
    ]
