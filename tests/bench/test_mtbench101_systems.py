"""What the set-ups of MT-Bench-101 are made of: other memories, the search of the paper, settings, differences."""

import json

import numpy as np
import pytest

from doxa.backends.llm import Message
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import AmrConfig, Config, LLMConfig, ReasonConfig, RolesConfig
from doxa.core.errors import BackendError
from doxa_bench.mtbench101.configured import with_tree, without_model
from doxa_bench.mtbench101.measures import DialogueResult, TurnResult, against
from doxa_bench.mtbench101.published import EXPANSIONS, MAX_TOKENS, SAMPLES, Graph, Search
from doxa_bench.mtbench101.styles import Banked, Compressed, Listed

WORDS = ("rex", "dog", "tea", "bonn", "cat")


def encode(texts):
    """Return vectors of five words, so that texts with a word in common are near."""
    rows = np.asarray([[word in text.casefold() for word in WORDS] for text in texts], dtype=np.float32)
    return rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))


def changes(*listed):
    """Return what a model says of its list: what to do, to which number, with which text."""
    return json.dumps({"changes": [dict(zip(("do", "number", "text"), one, strict=True)) for one in listed]})


def test_a_list_of_facts_is_added_to_corrected_and_shortened():
    """A number that is on no list changes nothing that is there."""
    book = Listed(
        ScriptedModel(
            [
                changes(("add", None, "The dog is Rex."), ("add", None, "There is a cat.")),
                changes(("replace", 1, "The dog is Max."), ("drop", 2, None), ("drop", 9, None)),
            ]
        ),
        encode,
    )
    book.remember("My dog is Rex, and there is a cat.", "Nice.")
    book.remember("Max, I mean. The cat is gone.", "I see.")
    assert book.kept == ["The dog is Max."] and book.facts() == 1
    assert book.notes("What is my dog called?", []).lines[1:] == ("- The dog is Max.",)
    shown = book.model.requests[1].messages[-1].content
    assert "1. The dog is Rex." in shown and "Max, I mean" in shown


def test_a_list_stays_as_it_is_when_the_model_fails():
    book = Listed(ScriptedModel([BackendError("away")]), encode, kept=["The dog is Rex."])
    assert "away" in book.remember("Hello", "Hello").degraded and book.kept == ["The dog is Rex."]


def test_what_nobody_comes_back_to_is_forgotten_and_what_was_told_again_lasts():
    """Retention falls along a curve that every telling makes flatter."""
    told, untold = Banked(encode), Banked(encode)
    for book in (told, untold):
        book.remember("My dog is Rex.", "Yes.")
    told.notes("dog", [])
    for book in (told, untold):
        book.turn += 3
    assert told.notes("dog", []).lines[1:] == ("- User: My dog is Rex. Assistant: Yes.",)
    assert untold.notes("dog", []).lines == () and untold.kept == []


def test_a_summary_is_written_anew_and_kept_when_that_fails():
    """It stands in for all but the latest exchange."""
    book = Compressed(ScriptedModel(['{"memory": "A dog, Rex."}', BackendError("away")]))
    assert book.notes("x", []).lines == () and book.window == 2
    book.remember("My dog is Rex.", "Yes.")
    assert "away" in book.remember("And a cat.", "Yes.").degraded
    assert book.notes("x", []).lines[1] == "A dog, Rex."
    assert "A dog, Rex." in book.model.requests[1].messages[-1].content


GRAPH = Graph([("Ana", "Bonn", "Ana lives in Bonn"), ("Rex", "Ana", "Rex belongs to Ana"), ("Tea", "cup", "Tea fills")])


def test_the_graph_is_walked_around_an_entity_and_between_two():
    assert GRAPH.around("ana") == ["Ana lives in Bonn", "Rex belongs to Ana"]
    assert GRAPH.path("Rex", "Bonn") == ["Rex belongs to Ana", "Ana lives in Bonn"]
    assert GRAPH.path("Rex", "cup") == [] and GRAPH.path("nobody", "Bonn") == []


def searching(**roles):
    """Return a search whose model plays its roles by name; what it is asked is in `model.requests`."""

    def reply(request):
        state = json.loads(request.messages[0].content.rpartition("\n")[2])
        return json.dumps(roles[request.schema["title"]](state))

    class Forever:
        def __iter__(self):
            return self

        def __next__(self):
            return reply

    model = ScriptedModel(Forever())
    return Search(model, [Message(role="user", content="Where does the owner of Rex live?")], GRAPH)


def step(kind, **fields):
    return dict.fromkeys(("entity", "other", "text")) | {"step": kind} | fields


def titles(search):
    return [request.schema["title"] for request in search.model.requests]


def test_a_path_is_looked_for_and_the_answer_written_from_it():
    """Equal samples are one state; every state is scored by a call of its own."""
    search = searching(
        step=lambda state: step("answer") if state["known"] else step("find_path", entity="Rex", other="Bonn"),
        rating=lambda state: {"relevance": 1, "progress": 0.5, "potential": 0.9},
        final=lambda state: {"answer": "In Bonn." if "Ana lives in Bonn" in state["known"] else "?"},
        answer_rating=lambda state: {"accuracy": 1, "completeness": 1, "clarity": 1},
    )
    best = search.run()
    assert (best.answer, best.steps, best.value) == ("In Bonn.", ("FIND PATH [Rex] [Bonn]", "ANSWER"), 1.0)
    assert titles(search) == ["step"] * 3 + ["rating"] + ["step"] * 3 + ["final", "answer_rating"]
    heats = {request.schema["title"]: (request.temperature, request.max_tokens) for request in search.model.requests}
    assert heats == {
        "step": (0.8, 8192), "rating": (0.0, 8192), "final": (0.8, 8192), "answer_rating": (0.0, 8192),
    }  # fmt: skip
    assert MAX_TOKENS == 8192


def test_a_search_that_never_answers_ends_and_answers_from_the_best_state():
    """After twelve expansions at most, however many thoughts there are."""
    thoughts = iter(range(1000))
    search = searching(
        step=lambda state: step("think", text=f"thought {next(thoughts)}"),
        rating=lambda state: {"relevance": 0.5, "progress": 0.5, "potential": 0.5},
        final=lambda state: {"answer": "I do not know."},
        answer_rating=lambda state: {"accuracy": 0, "completeness": 0, "clarity": 0},
    )
    best = search.run()
    assert best.answer == "I do not know." and best.steps[0].startswith("THINK: thought")
    samples = titles(search).count("step")
    assert samples == SAMPLES * EXPANSIONS and titles(search).count("rating") == samples


def test_a_search_whose_calls_all_fail_says_so():
    search = Search(ScriptedModel([BackendError("away")] * 9), [Message(role="user", content="x")], GRAPH)
    assert search.run().answer is None and "away" in search.failures[0]


def test_an_engine_without_a_model_has_no_role_that_needs_one():
    config = Config(
        llm=LLMConfig(name="openai:x"),
        roles=RolesConfig(extract="prompted", distil="prompted", reason="prompted", tasks="hybrid"),
        reason=ReasonConfig(depth=2),
    )
    plain = without_model(config)
    assert plain.llm.name is None and plain.roles == RolesConfig() and plain.reason == ReasonConfig(depth=2)
    amr = Config(llm=LLMConfig(name="openai:x"), amr=AmrConfig(name="llm"), roles=RolesConfig(extract="amr"))
    assert without_model(amr).roles.extract == "builtin"


@pytest.mark.parametrize("memory", [True, False])
def test_a_tree_may_use_what_the_model_knows_and_keeps_the_memory_of_the_settings(memory):
    config = Config(roles=RolesConfig(extract="prompted"))
    found = with_tree(config, memory=memory, depth=1)
    assert (found.roles.reason, found.reason.knowledge, found.reason.depth) == ("prompted", "open", 1)
    assert found.roles.extract == "prompted"
    assert (found.engine.context_turns > config.engine.context_turns) == (not memory)


def result(number, cs, run=0):
    return DialogueResult(system="x", run=run, id=number, task="CM", turns=(TurnResult(turn=1, f1=0.0, cs=cs),))


def test_a_difference_is_over_dialogues_that_both_have():
    """Its interval is narrower than those of the two: what makes a dialogue hard cancels out."""
    ours = [result(str(at), 0.1 * at + 0.05) for at in range(8)]
    base = [result(str(at), 0.1 * at) for at in range(9)]
    found = against(ours, base, lambda one: one.measure("cs"))
    assert (found.value, found.low, found.high) == (pytest.approx(0.05),) * 3
    assert against(ours, [], lambda one: one.measure("cs")) is None
