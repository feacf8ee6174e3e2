"""Checkpoints of LangGraph beside a memory: the published conformance suite, and what it does not ask."""

import asyncio
from typing import Annotated, TypedDict
from uuid import uuid4

import pytest

from doxa import Doxa
from doxa.core.config import Config, EncoderConfig, GraderConfig

pytest.importorskip("langgraph.checkpoint.conformance")

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

from doxa.integrations.langgraph import DoxaSaver

LIGHT = Config(encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"))


class Counted(TypedDict):
    """The state of a graph that counts."""

    seen: Annotated[list[str], lambda one, other: one + other]


def counting(saver):
    """Return a graph of two steps over a saver."""
    graph = StateGraph(Counted)
    graph.add_node("one", lambda _: {"seen": ["one"]})
    graph.add_node("two", lambda _: {"seen": ["two"]})
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")
    graph.add_edge("two", END)
    return graph.compile(checkpointer=saver)


def thread(name):
    """Return the config of a thread."""
    return {"configurable": {"thread_id": name}}


def test_checkpoints_are_stored_under_the_keys_of_every_release(doxa):
    """A thread is found by its name, be it a number."""
    saver = DoxaSaver(doxa)
    for name in ("t1", 7):
        saver.put(thread(name) | {"configurable": {"thread_id": name, "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})
    places = [key.partition("/c/")[0] for key in saver._records.all()]
    assert places == [
        "628b49d96dcde97a430dd4f5/e3b0c44298fc1c149afbf4c8",
        "7902699be42c8a8e46fbbb45/e3b0c44298fc1c149afbf4c8",
    ]
    saver.delete_thread(7)
    assert len(list(saver.list(None))) == 1 and list(saver.list(thread(7))) == []


def test_the_published_conformance_suite_passes():
    """Every capability, the optional ones too."""

    @checkpointer_test(name="doxa")
    async def saver():
        with Doxa.open(":memory:", config=LIGHT) as doxa:
            yield DoxaSaver(doxa)

    report = asyncio.run(validate(saver))
    told = {name: (found.detected, found.passed, found.failures) for name, found in report.results.items()}
    assert len(told) == 8 and all(detected and passed for detected, passed, _ in told.values()), told


def test_a_graph_goes_on_after_the_file_is_opened_again(tmp_path):
    """With its state, its history, and what was in it at an earlier step."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=LIGHT) as doxa:
        assert counting(DoxaSaver(doxa)).invoke({"seen": ["in"]}, thread("t"))["seen"] == ["in", "one", "two"]
    with Doxa.open(path, config=LIGHT) as doxa:
        graph = counting(DoxaSaver(doxa))
        assert graph.invoke({"seen": ["again"]}, thread("t"))["seen"] == ["in", "one", "two", "again", "one", "two"]
        steps = [state.values.get("seen") for state in graph.get_state_history(thread("t"))]
        assert steps[0][-1] == "two" and steps[-1] in (None, []) and len(steps) == 8


def test_the_same_calls_give_the_same_history_as_in_memory():
    """Values, next steps and metadata of all states of two threads."""
    with Doxa.open(":memory:", config=LIGHT) as doxa:
        told = []
        for saver in (DoxaSaver(doxa), InMemorySaver()):
            graph = counting(saver)
            for name in ("a", "b", "a"):
                graph.invoke({"seen": [name]}, thread(name))
            states = [state for name in "ab" for state in graph.get_state_history(thread(name))]
            told.append([(one.values, one.next, one.metadata) for one in states])
        assert told[0] == told[1] and len(told[0]) == 12


def test_what_a_thread_left_is_erased_byte_for_byte(tmp_path):
    """From the file too."""
    path = tmp_path / "memory.db"
    with Doxa.open(path, config=LIGHT) as doxa:
        saver = DoxaSaver(doxa)
        counting(saver).invoke({"seen": ["canary-4711"]}, thread("t"))
        counting(saver).invoke({"seen": ["other"]}, thread("u"))
        assert b"canary-4711" in b"".join(one.read_bytes() for one in tmp_path.iterdir())
        saver.delete_thread("t")
        assert saver.get_tuple(thread("t")) is None and saver.get_tuple(thread("u")) is not None
    assert b"canary-4711" not in b"".join(one.read_bytes() for one in tmp_path.iterdir())


def test_forgetting_everything_of_its_user_takes_the_checkpoints_along():
    """They are records of that user."""
    with Doxa.open(":memory:", config=LIGHT) as doxa:
        saver = DoxaSaver(doxa, user="ana")
        counting(saver).invoke({"seen": ["in"]}, thread("t"))
        doxa.memory(user="ana").forget(everything=True)
        assert saver.get_tuple(thread("t")) is None


def test_pruning_keeps_what_a_delta_channel_is_made_of():
    """The ancestors as far as the one that has its value, and no further."""
    with Doxa.open(":memory:", config=LIGHT) as doxa:
        saver, config = DoxaSaver(doxa), {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        ids = []
        for step, values in enumerate(({"log": 0}, {"log": 1}, {}, {})):
            checkpoint = empty_checkpoint() | {"channel_values": values, "channel_versions": {"log": f"{step}.0"}}
            metadata = {"step": step, "counters_since_delta_snapshot": {"log": (step, step)}}
            config = saver.put(config, checkpoint, metadata, {"log": f"{step}.0"})
            saver.put_writes(config, [("log", step)], str(uuid4()))
            ids.append(config["configurable"]["checkpoint_id"])
        before = saver.get_delta_channel_history(config=config, channels=["log"])
        saver.prune(["t"])
        assert [one.config["configurable"]["checkpoint_id"] for one in saver.list(thread("t"))] == ids[:0:-1]
        assert saver.get_delta_channel_history(config=config, channels=["log"]) == before


def test_what_is_pruned_leaves_no_value_that_nothing_needs():
    """The state of steps that are gone is gone as well."""
    with Doxa.open(":memory:", config=LIGHT) as doxa:
        saver = DoxaSaver(doxa)
        counting(saver).invoke({"seen": ["canary"]}, thread("t"))
        counting(saver).invoke({"seen": ["again"]}, thread("t"))
        held = len(saver._records.all())
        saver.prune(["t"])
        (kept,) = saver.list(thread("t"))
        assert kept.checkpoint["channel_values"]["seen"] == ["canary", "one", "two", "again", "one", "two"]
        values = [key for key in saver._records.all() if "/b/" in key]
        assert len(values) <= len(kept.checkpoint["channel_versions"]) and len(saver._records.all()) < held / 3


def test_an_unknown_way_to_prune_is_refused():
    """And removes nothing."""
    with Doxa.open(":memory:", config=LIGHT) as doxa, pytest.raises(ValueError, match="keep_latest"):
        DoxaSaver(doxa).prune(["t"], strategy="some")
