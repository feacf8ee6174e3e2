"""A model that is recorded answers the same when the recording is played, and says loudly what it lacks."""

import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count, repeat

import pytest

from doxa.backends import load
from doxa.backends.llm import Completion, Message, Recorder, Usage
from doxa.backends.llm.recorded import key_of
from doxa.backends.llm.scripted import ScriptedModel
from doxa.core.errors import BackendError, BackendReplyError, BackendUnavailableError, ClosedError, ConfigError

SCHEMA = {
    "title": "colour",
    "type": "object",
    "properties": {"colour": {"type": "string"}},
    "required": ["colour"],
    "additionalProperties": False,
}
SAID = Usage(calls=1, prompt_tokens=7, completion_tokens=3)


def asked(text="Which?"):
    return [Message(role="system", content="You name colours."), Message(role="user", content=text)]


def said(text, **more):
    fields = {"parsed": None, "refused": False, "truncated": False, "usage": SAID, "seconds": 0.0, **more}
    return Completion(text=text, **fields)


def outcome(model, text="Which?", *, schema=SCHEMA, **more):
    """What comes of asking, without the time it took; an error by its message without the model's name."""
    try:
        done = model.complete(asked(text), schema=schema, **more)
    except BackendReplyError as exc:
        return exc.reply
    return done.text, done.parsed, done.refused, done.truncated, done.usage


def lines(folder):
    return [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("replies", "calls"),
    [
        ([said('{"colour": "red"}')], 1),
        ([said("Sure: ```json\n{'colour': 'red',}\n```")], 1),
        ([said("red"), said('{"colour": "red"}')], 2),
        ([said("red"), said("still red")], 2),
        ([said("I would rather not.", refused=True)], 1),
        ([said('{"colour": "re', truncated=True)], 1),
        ([said("<think>hm</think>"), said('<think>hm</think>{"colour": "r\ud800d"}')], 2),
    ],
    ids=["fits", "near JSON", "second try", "never fits", "refusal", "cut off", "thoughts and half a surrogate"],
)
def test_what_was_recorded_is_what_is_given_again(tmp_path, replies, calls):
    """The outcome is equal: object, refusal, cut-off, usage, error; every call is an answer of its own."""
    recorder = Recorder(ScriptedModel(replies, name="painter"), tmp_path)
    first = outcome(recorder)
    assert outcome(load("llm", f"recorded:{tmp_path}")) == first
    assert [line["text"] for line in lines(tmp_path)] == [reply.text for reply in replies]
    assert len({line["key"] for line in lines(tmp_path)}) == calls


def test_text_without_a_schema_is_recorded_too(tmp_path):
    first = outcome(Recorder(ScriptedModel([said("Red.")]), tmp_path), schema=None)
    assert outcome(load("llm", f"recorded:{tmp_path}"), schema=None) == first


def test_the_key_is_that_of_messages_and_schema():
    """In canonical JSON: the order of keys is nothing, every word is."""
    key = key_of(asked(), SCHEMA)
    assert key == key_of(asked(), dict(reversed(SCHEMA.items()))) and len(key) == 64
    assert len({key, key_of(asked("Which one?"), SCHEMA), key_of(asked(), None), key_of(asked()[1:], SCHEMA)}) == 4


def test_what_is_asked_is_not_stored(tmp_path):
    outcome(Recorder(ScriptedModel([said('{"colour": "red"}')]), tmp_path), "Ana's front door?")
    assert all("Ana" not in path.read_text() and "colours" not in path.read_text() for path in tmp_path.iterdir())


def test_a_request_that_was_answered_is_not_asked_again(tmp_path):
    """Neither in one run nor in the next: a recording that was stopped goes on."""
    first = ScriptedModel([said('{"colour": "red"}')])
    recorder = Recorder(first, tmp_path)
    assert outcome(recorder) == outcome(recorder)
    second = ScriptedModel([said('{"colour": "blue"}')])
    again = Recorder(second, tmp_path)
    assert outcome(again)[1] == {"colour": "red"} and outcome(again, "And?")[1] == {"colour": "blue"}
    assert (len(first.requests), len(second.requests), len(lines(tmp_path))) == (1, 1, 2)


def test_several_answers_to_one_request_are_given_in_their_order(tmp_path):
    """Above temperature 0; the recording ends where the run ended."""
    colours = ["red", "blue", "red"]
    recorder = Recorder(ScriptedModel([said(json.dumps({"colour": one})) for one in colours]), tmp_path)
    model = load("llm", f"recorded:{tmp_path}")
    for _ in colours:
        outcome(recorder, temperature=0.7)
    model = load("llm", f"recorded:{tmp_path}")
    assert [outcome(model, temperature=0.7)[1]["colour"] for _ in colours] == colours
    assert [line["n"] for line in lines(tmp_path)] == [0, 1, 2]
    with pytest.raises(BackendError, match="Expected a recorded answer 4"):
        model.complete(asked(), schema=SCHEMA, temperature=0.7)


@pytest.mark.parametrize(
    ("schema", "role"), [(SCHEMA, "'colour'"), (None, "'You name colours.'")], ids=["title", "head"]
)
def test_what_is_missing_is_named_with_what_to_do(tmp_path, caplog, schema, role):
    """Role, end of the last message, and how to record it; it is logged, since a step may go on without."""
    Recorder(ScriptedModel(name="painter"), tmp_path)
    with pytest.raises(BackendError) as raised:
        load("llm", f"recorded:{tmp_path}").complete(asked("x" * 500 + "the end"), schema=schema)
    told = str(raised.value)
    assert f"role: {role}" in told and "the end'" in told and "x" * 200 not in told
    assert f"llm.name=painter and llm.record={tmp_path}" in told and told in caplog.text


def test_the_name_says_which_model_was_recorded_and_when(tmp_path):
    Recorder(ScriptedModel(name="painter:7b"), tmp_path)
    model = load("llm", f"recorded:{tmp_path}", base_url=None, api_key=None, timeout_s=3.0, max_retries=0)
    assert model.name.startswith("recorded:painter:7b, 20") and len(model.name.rpartition(", ")[2]) == 10
    model.close()
    with pytest.raises(ClosedError):
        model.complete(asked())


def test_half_a_line_costs_that_answer_only(tmp_path, caplog):
    """A process that was killed while it wrote; what is recorded next stands in a line of its own."""
    outcome(Recorder(ScriptedModel([said('{"colour": "red"}')]), tmp_path))
    with (tmp_path / "answers.jsonl").open("ab") as file:
        file.write(b'{"key": "00')
    assert outcome(load("llm", f"recorded:{tmp_path}"))[1] == {"colour": "red"}
    outcome(Recorder(ScriptedModel([said('{"colour": "blue"}')]), tmp_path), "And?")
    model = load("llm", f"recorded:{tmp_path}")
    assert [outcome(model, text)[1]["colour"] for text in ("Which?", "And?")] == ["red", "blue"]
    assert "no answer" in caplog.text


def test_a_call_that_raises_is_not_recorded(tmp_path):
    recorder = Recorder(ScriptedModel([BackendUnavailableError("away"), said('{"colour": "red"}')]), tmp_path)
    with pytest.raises(BackendUnavailableError):
        recorder.complete(asked(), schema=SCHEMA)
    assert outcome(recorder)[1] == {"colour": "red"} and len(lines(tmp_path)) == 1


def test_threads_that_ask_the_same_get_one_answer(tmp_path):
    """One of them asks, the others wait; other requests do not wait for it."""
    number, together = count(), threading.Barrier(2, timeout=10)

    def reply(request):
        if request.messages[-1].content != "Which?":
            together.wait()  # both are under way at once, or this breaks
        time.sleep(0.02)
        return json.dumps({"colour": f"colour {next(number)}"})

    model = ScriptedModel(repeat(reply))
    recorder = Recorder(model, tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: outcome(recorder)[1]["colour"], range(8)))
        assert len(set(found)) == 1 and len(model.requests) == 1
        assert len({*pool.map(lambda text: outcome(recorder, text)[1]["colour"], ("This?", "That?"))}) == 2
    assert len(lines(tmp_path)) == 3


RECORDING = """
import sys
from doxa.backends.llm import Message, Recorder
from doxa.backends.llm.scripted import ScriptedModel
who, folder = sys.argv[1:]
recorder = Recorder(ScriptedModel([f"{who} {n} " + "x" * 20000 for n in range(40)], name="m"), folder)
for n in range(40):
    recorder.complete([Message(role="user", content=f"{n}")])
"""


def test_processes_record_into_one_folder(tmp_path):
    """No line is torn, and no request has two answers."""
    started = [subprocess.Popen([sys.executable, "-c", RECORDING, str(who), str(tmp_path)]) for who in range(3)]
    assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
    keys = [line["key"] for line in lines(tmp_path)]
    assert len(keys) == len(set(keys)) == 40


def test_a_folder_holds_one_model(tmp_path):
    Recorder(ScriptedModel(name="one"), tmp_path)
    with pytest.raises(ConfigError, match=r"a recording of other.*holds one of one"):
        Recorder(ScriptedModel(name="other"), tmp_path)


@pytest.mark.parametrize("text", ["format = 2", "no toml", 'format = 1\nmodel = 3\nbegun = "x"'])
def test_a_card_that_cannot_be_used_is_refused(tmp_path, text):
    (tmp_path / "model.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"model\.toml.*Record into another folder"):
        load("llm", f"recorded:{tmp_path}")


@pytest.mark.parametrize("name", ["recorded", "recorded:", "recorded:nowhere"])
def test_where_nothing_is_recorded_it_says_how_to(name):
    with pytest.raises(ConfigError, match=r"Expected recorded:FOLDER.*llm\.record"):
        load("llm", name)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is a file"):
        Recorder(ScriptedModel(), tmp_path / "file")


def test_a_disk_that_fails_is_an_error_of_ours(tmp_path):
    """The answer is lost, what was recorded is not."""
    recorder = Recorder(ScriptedModel(["Red.", "Blue."]), tmp_path)
    outcome(recorder, schema=None)
    (tmp_path / "answers.jsonl").unlink()
    (tmp_path / "answers.jsonl").mkdir()
    with pytest.raises(BackendError, match="cannot be read or written"):
        recorder.complete(asked("And?"))


def test_a_model_without_single_calls_is_refused(tmp_path):
    class Foreign:
        name = "foreign:x"

    with pytest.raises(ConfigError, match=r"foreign:x has no method `once`"):
        Recorder(Foreign(), tmp_path)
