"""Benchmarks side by side: the same results in the same order, and every model call is waited for at once."""

import json
import threading
from itertools import repeat

import pytest

from doxa.backends import load
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, EncoderConfig, LLMConfig, RolesConfig
from doxa.engine.wiring import parsing as wiring
from doxa_bench import run_everyday, run_revision, run_tasks, run_understanding
from doxa_bench.parallel import side_by_side

TOGETHER = 6
NAMES = [f"d{n}" for n in range(TOGETHER)]
CITIES = ["Paris", "Berlin", "Oslo", "Rome", "Madrid", "Bonn"]


def settings(**llm):
    return Config(
        encoder=EncoderConfig(name="hash"),
        llm=LLMConfig(name="scripted", **llm),
        profile="writer",
        roles=RolesConfig(extract="prompted"),
    )


def read(request):
    """Answer as a model would that knows one pattern."""
    text = request.messages[-1].content
    if "entries" in (request.schema or {}).get("properties", {}):
        said = json.loads(request.messages[1].content)["message"]["text"]
        city = said.rstrip(".").rpartition(" ")[2]
        fact = {"kind": "fact", "subject": "Ana", "relation": "lives in", "object": city, "quote": f"live in {city}"}
        fact |= {"holds": True, "mood": "asserted", "from": None, "to": None, "over": False, "beside": False}
        return json.dumps({"entries": [{**fact, "source": None}] if "live in" in said else []})
    city = next((city for city in CITIES if city in text), "Nowhere")
    return json.dumps({"answer": f"In {city}.", "value": city, "citations": [], "abstained": False})


@pytest.fixture
def answering(monkeypatch):
    """Has a function answer wherever a language model is configured; gives back what it was asked."""

    def use(reply):
        model = ScriptedModel(repeat(reply))
        monkeypatch.setattr(
            wiring, "load", lambda kind, name, **more: model if name == "scripted" else load(kind, name, **more)
        )
        return model

    return use


@pytest.fixture
def files(tmp_path):
    """Six dialogues, items, chats and scenarios, alike but for a city."""
    dialogues, items, scenarios = [], [], []
    (tmp_path / "chats").mkdir()
    for name, city in zip(NAMES, CITIES, strict=True):
        text = f"I live in {city}."
        probe = {"after": 1, "question": "Where does Ana live now?", "answer": [city], "not": [], "as_of": None}
        turns = [{"speaker": "Ana", "text": text, "date": "2024-01-10"}]
        more = {"probes": [{**probe, "type": "value", "why": ""}], "tags": ["home"]}
        dialogues.append({"id": name, "kind": "update", "turns": turns, **more})
        expected = [{"after": 1, "intent": "new", "state": {"flight": city}}]
        scenarios.append({"id": name, "domain": "x", "turns": [f"Book a flight to {city}."], "expect": expected})
        items.append({"id": name, "date": "2024-01-10", "context": [], "turn": turns[0], "tags": ["x"]})
        items[-1] |= {"facts": [], "rules": [], "forbidden": []}
        said = {"id": "t1", "at": "2024-01-10T18:20", "speaker": "Ana", "role": "user", "text": text}
        asked = {"question": "where do i live?", "kind": "current", "answer": [city], "not": [], "evidence": ["t1"]}
        chat = {
            "id": name,
            "domain": "x",
            "user": "Ana",
            "assistant": "Assistant",
            "turns": [said],
            "questions": [asked],
        }
        chat |= {"facts": {"required": [], "allowed": [], "forbidden": []}, "statements": []}
        (tmp_path / "chats" / f"{name}.json").write_text(json.dumps(chat), encoding="utf-8")
    for kind, entries in (("dialogues", dialogues), ("items", items), ("scenarios", scenarios)):
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        (tmp_path / f"{kind}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_dialogues_wait_for_the_model_at_the_same_time(answering, files):
    """Reading turns and writing answers: no call holds what another user needs. One by one, the barrier would break."""
    barrier = threading.Barrier(TOGETHER, timeout=60)

    def reply(request):
        barrier.wait()
        return read(request)

    model = answering(reply)
    report = run_revision(files / "dialogues.jsonl", config=settings(), parallel=TOGETHER)
    assert [entry["value"] for entry in report.predictions] == CITIES
    assert len(model.requests) == 2 * TOGETHER


@pytest.mark.parametrize("what", ["revision", "understanding", "everyday", "tasks"])
def test_side_by_side_is_as_one_after_the_other(answering, files, what):
    """What came out and in which order, whatever was waited for."""
    delays = iter(range(10_000))

    def reply(request):
        threading.Event().wait(next(delays) % 3 / 100)
        return read(request)

    def run(parallel):
        model = answering(reply)
        if what == "revision":
            found = run_revision(files / "dialogues.jsonl", config=settings(), parallel=parallel).predictions
        elif what == "understanding":
            found = run_understanding(files / "items.jsonl", config=settings(), parallel=parallel).predictions
        elif what == "everyday":
            report = run_everyday(files / "chats", config=settings(), parallel=parallel)
            found = [half.predictions() for half in report.halves]
        else:
            systems = ["ours", "respond"]
            report = run_tasks(files / "scenarios.jsonl", systems=systems, config=settings(), parallel=parallel)
            found = {name: [one.scores, one.played] for name, one in report.systems.items()}
        return found, sorted(repr(request) for request in model.requests)

    assert run(1) == run(TOGETHER)


def test_a_recorded_run_is_the_same_again_and_says_so(answering, files):
    """What a model is asked depends on nothing but the data: neither on the clock nor on who was faster."""
    answering(read)
    first = run_revision(files / "dialogues.jsonl", config=settings(record=files / "kept"), parallel=TOGETHER)
    played = settings().model_copy(update={"llm": LLMConfig(name=f"recorded:{files / 'kept'}")})
    again = run_revision(files / "dialogues.jsonl", config=played)
    assert again.predictions == first.predictions and again.scores.total["right"] == TOGETHER
    assert again.models["llm"].startswith("recorded:scripted, ") and first.models["llm"] == "scripted"


def test_results_stand_in_the_order_of_the_items_and_the_progress_in_that_of_their_end():
    released, told = [threading.Event() for _ in range(3)], []

    def play(item):
        assert released[item].wait(30)
        if item:
            released[item - 1].set()  # the last one ends first
        return item * 10

    released[2].set()
    found = side_by_side(play, range(3), what="play", parallel=3, progress=lambda *news: told.append(news))
    assert found == [0, 10, 20] and told == [("play", done, 3) for done in range(3)]


@pytest.mark.parametrize("parallel", [1, 2])
def test_what_fails_ends_the_run(parallel):
    """What had not begun is not played."""
    played = []

    def play(item):
        played.append(item)
        if item == 0:
            raise ValueError("broken")
        threading.Event().wait(0.05)

    with pytest.raises(ValueError, match="broken"):
        side_by_side(play, range(50), what="play", parallel=parallel, progress=None)
    assert len(played) < 50
