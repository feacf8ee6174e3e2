"""MT-Bench-101 with a language model and a judge: a real server on this machine that stands in for both."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from doxa.backends.llm import Message
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.config import Config, EncoderConfig, LLMConfig
from doxa.core.errors import BackendError, BackendUnavailableError, InputError
from doxa_bench.mtbench101 import JudgeSpec, run
from doxa_bench.mtbench101.dialogues import BenchDialogue, Exchange
from doxa_bench.mtbench101.journal import Journal
from doxa_bench.mtbench101.judge import Judge, prompt

DIALOGUES = [
    ("CM", 1, [("My dog is called Rex.", "A fine name."), ("What is my dog called?", "Your dog is called Rex.")]),
    ("MR", 2, [("I have 2 apples and buy 3. How many?", "You have 5."), ("I eat one. And now?", "You have 4.")]),
]


class StandIn(BaseHTTPRequestHandler):
    """Replies with the number of the message; judges with 8, or 4 where the reply says 2; thinks, then answers."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.guard:
            self.server.requests.append(body)
            self.server.keys.add(self.headers["Authorization"])
        if self.server.together is not None:
            self.server.together.wait()
        if self.server.failing:
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        role = body.get("response_format", {}).get("json_schema", {}).get("name")
        said = json.dumps(getattr(self, f"_{role}")(body)) if role else self._said(body)
        reply = {
            "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        }  # fmt: skip
        content = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _said(self, body):
        return f"Reply {sum(one['role'] == 'user' for one in body['messages'])}."

    def _moves(self, body):
        thought = {"move": "think", "likelihood": 0.6, "text": "Rex is the name of a dog."}
        answer = {"move": "answer", "likelihood": 0.4, "text": "It is called Rex.", "value": "Rex", "citations": []}
        return {"moves": [thought, answer]}

    def _promise(self, body):
        return {"bears": 0.5, "closer": 0.5, "reach": 0.5}

    def _worth(self, body):
        return dict.fromkeys(("true", "whole", "clear"), 0.9 if "name of a dog" in str(body["messages"][-1]) else 0.1)

    def _answer(self, body):
        said = {"answer": "It is called Rex.", "value": "Rex", "citations": [], "abstained": False}
        return said | ({"general": True} if "general" in str(body["response_format"]) else {})

    def _changes(self, body):
        return {"changes": [{"do": "add", "number": None, "text": "The dog is called Rex."}]}

    def _memory(self, body):
        return {"memory": "It is about a dog, Rex."}

    def _step(self, body):
        return {"step": "answer", "entity": None, "other": None, "text": None}

    def _answer_rating(self, body):
        return {"accuracy": 1, "completeness": 1, "clarity": 1}

    def _final(self, body):
        return {"answer": "Rex, as was said."}

    def _grade(self, body):
        return {"reason": "so", "score": 4 if "Reply 2" in body["messages"][-1]["content"].split("grade")[-1] else 8}

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def server(loopback):
    """The stand-in; `requests` are what it was sent."""
    running = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    running.requests, running.failing, running.guard, running.together = [], False, threading.Lock(), None
    running.keys = set()
    thread = threading.Thread(target=running.serve_forever, args=(0.01,))
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def config(server):
    """Settings that lead to the stand-in."""
    address = f"http://127.0.0.1:{server.server_port}/v1"
    llm = LLMConfig(name="openai:stand-in", base_url=address, api_key="x", max_retries=0)
    return Config(encoder=EncoderConfig(name="hash"), llm=llm, profile="writer")


@pytest.fixture
def data(tmp_path):
    """A file of two dialogues."""
    path = tmp_path / "mtbench101.jsonl"
    rows = [
        {"task": task, "id": number, "history": [{"user": user, "bot": bot} for user, bot in turns]}
        for task, number, turns in DIALOGUES
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class Neutral:
    """An NLI model that takes no side."""

    name = "neutral"

    def classify(self, pairs):
        return np.asarray([[0.2, 0.7, 0.1]] * len(pairs), dtype=np.float32)

    def close(self):
        """Nothing is held."""


def chats(server):
    return [body["messages"] for body in server.requests if "response_format" not in body]


def test_a_model_goes_on_from_its_own_replies(server, config, data, tmp_path):
    """Autoregressive: never from the reference's."""
    run(data, out=tmp_path / "out", systems=["base"], runs=1, config=config, nli=Neutral())
    second = [one for one in chats(server) if len(one) == 3]
    assert sorted(one[0]["content"] for one in second) == [DIALOGUES[1][2][0][0], DIALOGUES[0][2][0][0]]
    assert all(one[1] == {"role": "assistant", "content": "Reply 1."} for one in second)


def test_runs_are_averaged_and_a_second_start_asks_nobody(server, config, data, tmp_path):
    options = {"systems": ["base"], "runs": 3, "config": config, "nli": Neutral()}
    found = run(data, out=tmp_path / "out", judge="openai:stand-in-judge", **options).to_dict()
    assert found["systems"]["base"]["runs"] == 3
    assert len(chats(server)) == 3 * 4
    sent = len(server.requests)
    again = run(data, out=tmp_path / "out", judge="openai:stand-in-judge", **options).to_dict()
    assert len(server.requests) == sent
    assert again["systems"] == found["systems"]


def test_a_judge_scores_replies_and_the_worst_turn_counts(server, config, data, tmp_path):
    """CM: the first turn only sets the scene; MR: the reference is shown."""
    report = run(
        data, out=tmp_path / "out", systems=["base"], runs=1, judge="openai:stand-in-judge",
        config=config, nli=Neutral(),
    )  # fmt: skip
    found = report.to_dict()
    assert {one.id: [turn.score for turn in one.turns] for one in report.results["base"]} == {
        "1": [None, 4.0], "2": [8.0, 4.0],
    }  # fmt: skip
    assert (found["systems"]["base"]["score"], found["counts"]["judge_calls"]) == (4.0, 3)
    judged = [body["messages"] for body in server.requests if "response_format" in body]
    assert sum("You have 5." in one[-1]["content"] for one in judged) == 1
    assert not any("fine name" in one[-1]["content"] for one in judged)


def test_a_stand_in_is_named_in_all_that_is_written(server, config, data, tmp_path):
    report = run(data, out=tmp_path / "out", systems=["base"], runs=1, config=config, nli=Neutral())
    assert report.stand_in and report.models["llm"] == "openai:stand-in"
    assert "STAND-IN" in (tmp_path / "out" / "tables.md").read_text().splitlines()[0]


def test_a_model_with_memory_is_told_what_was_said(server, config, data, tmp_path):
    run(data, out=tmp_path / "out", systems=["without tree"], runs=1, config=config, nli=Neutral())
    told = [one[0]["content"] for one in chats(server) if one[0]["role"] == "system" and "dog" in str(one[1:])]
    assert any("Rex" in one for one in told)


def test_the_notes_of_full_hold_what_memory_and_tree_found(server, config, data, tmp_path):
    """The facts, the moves that led to the best state, and the answer; their calls count for the reply."""
    report = run(data, out=tmp_path / "out", systems=["full"], runs=1, config=config, nli=Neutral())
    told = [one[0]["content"] for one in chats(server) if "What is my dog called?" in one[-1]["content"]]
    (notes,) = [one for one in told if "Notes on" in one]
    assert notes.index("as facts") < notes.index("looked at") < notes.index("What follows: ")
    assert "Rex" in notes.split("looked at")[0] and "name of a dog" in notes.split("looked at")[1]
    assert max(turn.calls for one in report.results["full"] for turn in one.turns) > 3


def test_a_tree_without_memory_has_no_facts_in_its_notes(server, config, data, tmp_path):
    """They come from the message alone."""
    run(data, out=tmp_path / "out", systems=["without memory"], runs=1, config=config, nli=Neutral())
    told = [one[0]["content"] for one in chats(server) if one[0]["role"] == "system" and "Notes on" in str(one[0])]
    assert told and not any("as facts" in one or "Earlier words" in one for one in told)


def test_seven_sizes_of_the_tree_are_compared_on_the_same_dialogues(server, config, data, tmp_path):
    report = run(
        data, out=tmp_path / "out", systems=["base"], runs=1, sensitivity=True, config=config,
        nli=Neutral(),
    )  # fmt: skip
    table = report.to_dict()["tables"]["sensitivity"]
    assert [row[:4] for row in table["rows"]][4] == ["Conf-5", 5, 3, 3]
    assert len(table["rows"]) == 7 and all(row[5][0] == pytest.approx(0.55) for row in table["rows"])


def test_a_server_that_is_away_stops_the_run(server, config, data, tmp_path):
    """After 20 replies of which none came, with what to do next."""
    server.failing = True
    with pytest.raises(BackendUnavailableError, match="run the same command again"):
        run(data, out=tmp_path / "out", systems=["base"], runs=6, config=config, nli=Neutral())


def test_replies_that_failed_are_counted_and_tried_again(server, config, data, tmp_path):
    options = {"systems": ["base"], "runs": 1, "config": config, "nli": Neutral()}
    server.failing = True
    found = run(data, out=tmp_path / "out", **options).to_dict()
    assert found["counts"]["failed_replies"] == 4
    server.failing = False
    assert run(data, out=tmp_path / "out", **options).to_dict()["counts"]["failed_replies"] == 0


def dialogue(task="CM", turns=(("a?", "ref a"), ("b?", "ref b"))):
    return BenchDialogue(id="1", task=task, turns=tuple(Exchange(*turn) for turn in turns))


def test_the_judge_is_shown_the_dialogue_up_to_the_reply_that_it_judges():
    system, user = prompt(dialogue("MR"), ["said a", "said b"])
    assert "Mathematical Reasoning" in system.content and "calculation" in system.content
    assert user.content.index("Assistant: said a") < user.content.index("User: b?") < user.content.index("grade")
    assert user.content.index("said b") < user.content.index("ref b")
    assert "ref" not in prompt(dialogue("CM"), ["said a"])[1].content
    assert isinstance(system, Message)


def test_the_only_turn_of_a_dialogue_is_judged():
    judge = Judge(ScriptedModel(['{"reason": "r", "score": 6}']))
    assert judge.scores(dialogue("CM", (("a?", "b"),)), ["x"]) == [6.0]


def test_a_judge_that_does_not_keep_to_the_form_is_counted_and_gives_no_score():
    """Twice outside 1 to 10 is a failure; the other turns keep their scores."""
    script = ['{"reason": "r", "score": 11}', "eleven", '{"reason": "r", "score": 7}']
    judge = Judge(ScriptedModel(script))
    assert judge.scores(dialogue("GR"), ["x", "y"]) == [None, 7.0]
    assert (judge.calls, judge.failed) == (2, 1)


def test_a_judge_that_never_answers_stops_the_run():
    judge, turns = Judge(ScriptedModel([BackendError("away")] * 20)), (("a?", "b"),) * 20
    with pytest.raises(BackendError, match="away"):
        judge.scores(dialogue("TS", turns), ["x"] * 20)


def test_the_same_reply_is_judged_once(tmp_path):
    path = tmp_path / "judged.jsonl"
    first = Judge(ScriptedModel(['{"reason": "r", "score": 6}']), Journal(path))
    one = dialogue("TS", (("a?", "b"),))
    assert first.scores(one, ["x"]) == [6.0]
    again = Judge(ScriptedModel([]), Journal(path))
    assert again.scores(one, ["x"]) == [6.0] and again.calls == 0


def test_the_report_counts_the_dialogues_that_ended_without_a_fact(server, config, data, tmp_path):
    """Run by run; what has no memory of facts has no such count."""
    options = {"systems": ["base", "without tree"], "runs": 2, "config": config, "nli": Neutral()}
    found = run(data, out=tmp_path / "out", **options).to_dict()
    held = found["systems"]["without tree"]["without_fact"]
    assert set(held) == {"1", "2"} and all(count < 2 for count in held.values())  # somebody has a dog
    assert found["systems"]["base"]["without_fact"] == {}
    table = found["tables"]["memory"]
    assert [row[:3] for row in table["rows"]] == [["without tree", 1, 2], ["without tree", 2, 2]]


def test_a_tree_without_a_memory_is_shown_the_dialogue_and_may_use_what_the_model_knows(server, config, data, tmp_path):
    """Its notes are there for messages that no memory could answer."""
    report = run(data, out=tmp_path / "out", systems=["without-memory"], runs=1, config=config, nli=Neutral())
    assert any(turn.noted for one in report.results["without memory"] for turn in one.turns)
    asked = [one["messages"] for one in server.requests if "What is my dog called?" in one["messages"][1]["content"]]
    shown = [one[1]["content"].partition("\n\n")[0].splitlines()[1:] for one in asked if len(one) == 2]
    said = ["My dog is called Rex.", "Reply 1."]
    assert shown and all([line.partition(": ")[2] for line in one] == said for one in shown)
    assert any("the memory is not all" in one[1]["content"] for one in asked if len(one) == 2)


def test_roles_of_the_memory_are_those_of_the_settings(server, config, data, tmp_path):
    """A model that reads the turns is asked to, and where it fails the report says so."""
    settings = config.model_copy(update={"roles": config.roles.model_copy(update={"extract": "prompted"})})
    report = run(
        data, out=tmp_path / "out", systems=["builtin", "without tree"], runs=1, config=settings, nli=Neutral()
    )
    roles = {body["response_format"]["json_schema"]["name"] for body in server.requests if "response_format" in body}
    assert roles  # the stand-in knows none of them, so every turn falls back
    found = report.to_dict()["systems"]
    assert found["without tree"]["degraded_replies"] == 4 and found["builtin"]["degraded_replies"] == 0


def test_other_ways_to_remember_are_rows_of_their_own(server, config, data, tmp_path):
    """Each tells the model what it has kept; a summary stands in for the dialogue."""
    names = ["mem0-style", "memorybank-style", "comedy-style"]
    report = run(data, out=tmp_path / "out", systems=names, runs=1, config=config, nli=Neutral())
    assert list(report.results) == names
    told = [one for one in chats(server) if one[-1]["content"] == "What is my dog called?"]
    notes = sorted(one[0]["content"].rpartition("Never mention the notes.")[2].strip() for one in told)
    assert [one.partition("\n")[2] for one in notes] == [
        "- User: My dog is called Rex. Assistant: Reply 1.", "It is about a dog, Rex.", "- The dog is called Rex.",
    ]  # fmt: skip


def test_the_search_of_the_paper_runs_beside_ours_with_its_windows(server, config, data, tmp_path):
    """Three samples a node at 0.8, scores at 0, room for 8,192 tokens; CS and DER are measured in both ways."""
    report = run(data, out=tmp_path / "out", systems=["base"], runs=1, as_published=True, config=config, nli=Neutral())
    assert [turn.calls for one in report.results["as published"] for turn in one.turns] == [5] * 4
    sent = [(body["temperature"], body["response_format"]["json_schema"]["name"]) for body in server.requests
            if "response_format" in body]  # fmt: skip
    assert {role: heat for heat, role in sent} == {"step": 0.8, "final": 0.8, "answer_rating": 0.0}
    head = report.to_dict()["tables"]["consistency"]["heads"]
    assert head[2:6] == ["CS", "DER", "CS, the paper's windows", "DER, the paper's windows"]


def test_a_judge_may_be_on_a_server_of_its_own(server, config, data, tmp_path):
    """It is never sent the key of the other server."""
    away = config.model_copy(update={"llm": config.llm.model_copy(update={"base_url": "http://127.0.0.1:9/v1"})})
    judge = JudgeSpec("openai:stand-in-judge", config.llm.base_url)
    report = run(data, out=tmp_path / "out", systems=["reference"], judge=judge, config=away, nli=Neutral())
    assert report.to_dict()["systems"]["reference"]["score"] == 8.0
    assert {body["model"] for body in server.requests} == {"stand-in-judge"}
    assert "Bearer x" not in server.keys


def test_dialogues_run_side_by_side(server, config, data, tmp_path):
    """As many as are wanted: with one at a time nothing overlaps, with two both wait for each other."""
    server.together = threading.Barrier(2, timeout=20)
    run(data, out=tmp_path / "out", systems=["base"], runs=1, parallel=2, config=config, nli=Neutral())
    assert not server.together.broken
    with pytest.raises(InputError, match="at once"):
        run(data, out=tmp_path / "out", parallel=0, config=config)
