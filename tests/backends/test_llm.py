"""Language models: a real HTTP server on this machine for `openai:`, and the scripted model."""

import itertools
import json
import logging
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from doxa.backends.llm import Completion, LanguageModel, Message, Usage
from doxa.backends.llm.dialect import Dialect
from doxa.backends.llm.openai import OpenAIModel
from doxa.backends.llm.openai import open_model as open_openai
from doxa.backends.llm.scripted import Reply, ScriptedModel
from doxa.backends.llm.scripted import open_model as open_scripted
from doxa.backends.llm.structured import read_object
from doxa.backends.llm.tokens import estimate_tokens
from doxa.core.errors import (
    BackendError,
    BackendReplyError,
    BackendUnavailableError,
    ClosedError,
    ConfigError,
    InputError,
)

KEY = "sk-secret-0123456789"
ASK = [Message(role="system", content="Be brief."), Message(role="user", content="Where does Ana live?")]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "sure": {"type": "boolean"}},
    "required": ["city", "sure"],
    "additionalProperties": False,
}
GOOD = {"city": "Porto", "sure": True}


@dataclass(kw_only=True)
class Answer:
    """One HTTP answer; `cut` sends that many bytes of the body and hangs up, `stall_s` waits first."""

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    stall_s: float = 0.0


class Server:
    """An HTTP server that gives scripted answers in order and keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.times: list[float] = []
        self.released = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def close(self) -> None:
        self.released.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.times.append(time.perf_counter())
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                answer = server.answers.pop(0)
                server.released.wait(answer.stall_s)
                body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                try:
                    self._send(answer, body)
                except OSError:  # the caller gave up; that is what some tests want
                    self.close_connection = True

            def _send(self, answer: Answer, body: bytes) -> None:
                self.send_response(answer.status)
                headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[: answer.cut])

            def log_message(self, *args: object) -> None:
                pass

        return Handler


def said(content: Any, *, finish: str = "stop", refusal: str | None = None, usage: bool = True) -> Answer:
    """A chat completion as a server sends it."""
    text = json.dumps(content) if isinstance(content, dict) else content
    body: dict[str, Any] = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
            }
        ],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    return Answer(body=body)


def failed(status: int, message: str = "no", *, headers: Mapping[str, str] | None = None, **fields: str) -> Answer:
    """An error as a server sends it."""
    return Answer(status=status, headers=headers or {}, body={"error": {"message": message, **fields}})


@pytest.fixture
def server(loopback: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server()
    yield server
    server.close()


Opener = Callable[..., OpenAIModel]


@pytest.fixture
def opened(server: Server) -> Iterator[Opener]:
    """Opens models on the server, without retries unless asked, and closes them."""
    models: list[OpenAIModel] = []

    def open_one(**options: Any) -> OpenAIModel:
        settings = {"base_url": server.url, "api_key": KEY, "timeout_s": 5.0, "max_retries": 0, **options}
        models.append(open_openai("m", **settings))
        return models[-1]

    yield open_one
    for model in models:
        model.close()


# The contract of every language model. `Script` makes a model that gives these texts in order.
Script = Callable[..., LanguageModel]


@pytest.fixture(params=["openai", "scripted"])
def scripted(request: pytest.FixtureRequest) -> Script:
    if request.param == "scripted":
        return lambda *replies: ScriptedModel(replies)
    server: Server = request.getfixturevalue("server")
    opened: Opener = request.getfixturevalue("opened")

    def script(*replies: str) -> LanguageModel:
        server.answers += [said(reply, usage=False) for reply in replies]
        return opened()

    return script


def test_plain_answer(scripted: Script) -> None:
    """A plain question gives the text, whole and not refused, and counts one call."""
    done = scripted("In Porto.").complete(ASK)
    assert (done.text, done.parsed, done.refused, done.truncated) == ("In Porto.", None, False, False)
    assert done.usage.calls == 1 and done.usage.prompt_tokens > 0 and done.usage.completion_tokens > 0


def test_answer_that_fits_the_schema(scripted: Script) -> None:
    """With a schema, `parsed` is the object."""
    assert scripted(json.dumps(GOOD)).complete(ASK, schema=SCHEMA).parsed == GOOD


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param('```json\n{"city": "Porto", "sure": true}\n```', id="fenced"),
        pytest.param('Sure! {"city": "Porto", "sure": true} Anything else?', id="prose"),
        pytest.param('{"city": "Porto", "sure": true,}', id="trailing-comma"),
        pytest.param("{'city': 'Porto', 'sure': True}", id="python"),
        pytest.param('{city: "Porto", sure: true}', id="bare-keys"),
        pytest.param('{"sure": true, "city": "Porto', id="cut-off"),
        pytest.param('As {you} asked: {"city": "Porto", "sure": true}', id="braces-in-prose"),
        pytest.param('<think>{"city": "Rome", "sure": false}</think>{"city": "Porto", "sure": true}', id="thought"),
        pytest.param('[{"city": "Porto", "sure": true}]', id="in-a-list"),
        pytest.param('{"no": 1} or rather {"city": "Porto", "sure": true}', id="second-object"),
    ],
)
def test_near_json_is_mended(scripted: Script, reply: str) -> None:
    """JSON that is only nearly right is mended without a second call."""
    done = scripted(reply).complete(ASK, schema=SCHEMA)
    assert (done.parsed, done.usage.calls) == (GOOD, 1)


def test_second_try_after_garbage(scripted: Script) -> None:
    """After an answer that does not fit, the model is asked once more, and both calls count."""
    done = scripted("I would rather not say.", json.dumps(GOOD)).complete(ASK, schema=SCHEMA)
    assert (done.parsed, done.usage.calls) == (GOOD, 2)


def test_garbage_twice_is_an_error(scripted: Script) -> None:
    """Two answers that do not fit raise an error that holds the last one and says what is wrong with it."""
    with pytest.raises(BackendReplyError, match="'sure' is a required property") as caught:
        scripted("garbage", '{"city": "Porto"}').complete(ASK, schema=SCHEMA)
    assert caught.value.reply == '{"city": "Porto"}'


def test_empty_answer_is_an_error(scripted: Script) -> None:
    """An empty text is not passed on as an answer."""
    with pytest.raises(BackendReplyError, match="empty"):
        scripted(" ").complete(ASK)


def test_thoughts_are_left_out(scripted: Script) -> None:
    """What a reasoning model thinks aloud is no part of the answer."""
    assert scripted("<think>Ana moved.</think>\nPorto").complete(ASK).text == "Porto"


def test_closed_model(scripted: Script) -> None:
    """A closed model says so, and closing twice is fine."""
    model = scripted("unused")
    model.close()
    model.close()
    with pytest.raises(ClosedError):
        model.complete(ASK)


def test_no_messages(scripted: Script) -> None:
    """A call without messages is turned down before it is made."""
    with pytest.raises(InputError, match="at least one message"):
        scripted().complete([])


def test_schema_that_is_none(scripted: Script) -> None:
    """A schema that is no JSON schema is turned down before the call."""
    with pytest.raises(InputError, match="JSON schema"):
        scripted().complete(ASK, schema={"type": "objekt"})


@pytest.mark.parametrize("reply", ['{"a":' * 5000, "[" * 5000, "{" * 5000], ids=["objects", "lists", "braces"])
def test_nesting_without_end(scripted: Script, reply: str) -> None:
    """An answer nested too deeply to read is an error of the backend, like any garbage."""
    with pytest.raises(BackendReplyError):
        scripted(reply, reply).complete(ASK, schema=SCHEMA)


# What the second try and the reading do.


def test_second_try_is_told_the_error() -> None:
    """The second call holds the first answer, what was wrong with it, and the schema."""
    model = ScriptedModel(['{"city": "Porto"}', json.dumps(GOOD)])
    model.complete(ASK, schema=SCHEMA)
    *before, reply, complaint = model.requests[1].messages
    assert before == ASK
    assert reply == Message(role="assistant", content='{"city": "Porto"}')
    assert "'sure' is a required property" in complaint.content and '"required"' in complaint.content


def test_second_try_after_an_empty_answer_keeps_the_roles_in_turn() -> None:
    """An empty first answer is not sent back; the complaint joins the last message."""
    model = ScriptedModel(["", json.dumps(GOOD)])
    assert model.complete(ASK, schema=SCHEMA).parsed == GOOD
    assert [message.role for message in model.requests[1].messages] == ["system", "user"]


def test_bare_list_goes_under_the_only_key() -> None:
    """A bare list is read as the value of the only key of the schema, if that is a list."""
    schema = {"type": "object", "properties": {"claims": {"type": "array"}}, "required": ["claims"]}
    assert read_object('[{"a": 1}]', schema).value == {"claims": [{"a": 1}]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [('{"a": NaN}', "not finite"), ('{"a": 1e999}', "not finite"), ("{}", "required"), ("words", "no JSON object")],
)
def test_what_is_wrong_is_said(text: str, problem: str) -> None:
    """A reading that fails says why."""
    reading = read_object(text, {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]})
    assert reading.value is None and problem in reading.problem


def test_half_surrogates_do_not_get_through() -> None:
    """Half a surrogate pair, which no database stores, is replaced."""
    assert read_object('{"a": "x\\ud800"}', {"type": "object"}).value == {"a": "x?"}


def test_estimate_of_tokens_leans_high() -> None:
    """The estimate is 0 for nothing, near 4 letters a token for prose, and no less than the words and marks."""
    prose = "Where did the tall musician who lived in Porto move after the concert last September?"
    assert estimate_tokens("") == 0
    assert 15 <= estimate_tokens(prose) <= 25
    assert estimate_tokens("a b c . ;") == 5


# The server.


def test_request_as_sent(server: Server, opened: Opener) -> None:
    """The server gets model, messages, limit, temperature and key, and its count of tokens comes back."""
    server.answers = [said("In Porto.")]
    done = opened().complete(ASK, temperature=0.8, max_tokens=99)
    sent = server.bodies[0]
    assert (sent["model"], sent["max_tokens"], sent["temperature"]) == ("m", 99, 0.8)
    assert sent["messages"] == [{"role": message.role, "content": message.content} for message in ASK]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert done.usage == Usage(calls=1, prompt_tokens=11, completion_tokens=5)


def test_schema_as_sent(server: Server, opened: Opener) -> None:
    """A closed schema is sent in strict mode, an open one is not."""
    server.answers = [said(GOOD), said(GOOD)]
    model = opened()
    model.complete(ASK, schema={**SCHEMA, "title": "Home of a person"})
    model.complete(ASK, schema={**SCHEMA, "required": ["city"]})
    first, second = (body["response_format"]["json_schema"] for body in server.bodies)
    assert (first["name"], first["strict"]) == ("Home_of_a_person", True)
    assert (second["name"], second["strict"]) == ("reply", False)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(said(None, refusal="I cannot help."), id="refusal-field"),
        pytest.param(said("I cannot help.", finish="content_filter"), id="content-filter"),
        pytest.param(failed(400, "I cannot help.", code="content_filter"), id="prompt-filtered"),
    ],
)
def test_refusal_is_a_value(server: Server, opened: Opener, answer: Answer) -> None:
    """A refusal comes back as a completion, without a second try."""
    server.answers = [answer]
    done = opened().complete(ASK, schema=SCHEMA)
    assert done.refused and done.parsed is None and "I cannot help." in done.text
    assert len(server.bodies) == 1


def test_cut_off_answer(server: Server, opened: Opener) -> None:
    """An answer that hit the limit of tokens is marked, and mended where that is possible."""
    server.answers = [said("In Por", finish="length"), said('{"sure": true, "city": "Por', finish="length")]
    model = opened()
    assert model.complete(ASK).truncated
    done = model.complete(ASK, schema=SCHEMA)
    assert done.truncated and done.parsed == {"city": "Por", "sure": True}


def test_cut_off_before_the_first_word(server: Server, opened: Opener) -> None:
    """A model that spends the whole limit on thinking gives an error that names the limit."""
    server.answers = [said("<think>Let me see", finish="length")]
    with pytest.raises(BackendReplyError, match="max_tokens"):
        opened().complete(ASK)


def test_waits_as_told_when_limited(server: Server, opened: Opener) -> None:
    """After 429 the next attempt waits for as long as `Retry-After` says."""
    server.answers = [failed(429, headers={"Retry-After": "0.3"}), said("ok")]
    assert opened(max_retries=1).complete(ASK).text == "ok"
    assert server.times[1] - server.times[0] >= 0.3


def test_limited_for_good(server: Server, opened: Opener) -> None:
    """A server that keeps limiting the rate is unavailable."""
    server.answers = [failed(429, "slow down", headers={"Retry-After": "0.01"})] * 3
    with pytest.raises(BackendUnavailableError, match=r"limiting the rate \(429\), tried 3 times: slow down"):
        opened(max_retries=2).complete(ASK)


def test_backs_off_without_retry_after(server: Server, opened: Opener) -> None:
    """Without `Retry-After` the attempts are spaced out, and a passing failure is not seen."""
    server.answers = [failed(500), said("ok")]
    assert opened(max_retries=1).complete(ASK).text == "ok"
    assert server.times[1] - server.times[0] >= 0.25


def test_failing_for_good(server: Server, opened: Opener) -> None:
    """A server that keeps failing is unavailable, after no more attempts than were asked for."""
    server.answers = [failed(503, "overloaded", headers={"Retry-After": "0.01"})] * 3
    with pytest.raises(BackendUnavailableError, match=r"kept failing \(503\), tried 3 times: overloaded"):
        opened(max_retries=2).complete(ASK)
    assert len(server.bodies) == 3


def test_stalled_server(server: Server, opened: Opener) -> None:
    """A server that does not answer is given up after `timeout_s`."""
    server.answers = [Answer(stall_s=30)]
    started = time.perf_counter()
    with pytest.raises(BackendUnavailableError, match=r"within 0\.2 s, tried once.*timeout_s"):
        opened(timeout_s=0.2).complete(ASK)
    assert time.perf_counter() - started < 5


def test_nobody_listens(server: Server, opened: Opener) -> None:
    """A port where nobody listens is unavailable, and the message names it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(BackendUnavailableError, match=rf"127\.0\.0\.1:{port}.*base_url"):
        opened(base_url=f"http://127.0.0.1:{port}/v1").complete(ASK)


def test_half_a_body(server: Server, opened: Opener) -> None:
    """A connection lost in the middle of an answer is unavailable, and one retry mends it."""
    broken = Answer(body=said("In Porto.").body, cut=40)
    server.answers = [broken, broken, said("ok")]
    with pytest.raises(BackendUnavailableError, match="broke off"):
        opened().complete(ASK)
    assert opened(max_retries=1).complete(ASK).text == "ok"


@pytest.mark.parametrize("status", [401, 403])
def test_denied(server: Server, opened: Opener, status: int) -> None:
    """A denied key gives the setting that holds it, and shows the key nowhere, not even if the server does."""
    server.answers = [failed(status, f"Incorrect API key: {KEY}")]
    model = opened()
    with pytest.raises(BackendUnavailableError, match=r"DOXA_LLM_API_KEY.*OPENAI_API_KEY") as caught:
        model.complete(ASK)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert KEY not in repr(model)


def test_unknown_model(server: Server, opened: Opener) -> None:
    """A model or path that the server does not know is unavailable, and the message says where to look."""
    server.answers = [failed(404, "model m not found")]
    with pytest.raises(BackendUnavailableError, match=r"model m not found.*base_url"):
        opened().complete(ASK)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        pytest.param(b'{"choices": [', {}, id="broken-json"),
        pytest.param(b"\xff\xfe{", {}, id="not-utf8"),
        pytest.param(b"", {}, id="empty"),
        pytest.param(b"<html>hello</html>", {"Content-Type": "text/html"}, id="html"),
        pytest.param({"choices": []}, {}, id="no-choice"),
        pytest.param({"choices": [{"message": 7}]}, {}, id="message-of-another-type"),
        pytest.param({"choices": 7}, {}, id="choices-of-another-type"),
        pytest.param({"choices": [None]}, {}, id="choice-null"),
        pytest.param([], {}, id="list"),
        pytest.param(b"null", {}, id="null"),
        pytest.param(b"[" * 100_000, {}, id="nested-without-end"),
        pytest.param({"error": {"message": "no such model"}}, {}, id="error-in-200"),
    ],
)
def test_body_that_is_no_completion(server: Server, opened: Opener, body: Any, headers: dict[str, str]) -> None:
    """A body that is no chat completion is an error of the backend, whatever it is."""
    server.answers = [Answer(body=body, headers=headers)]
    with pytest.raises(BackendReplyError):
        opened().complete(ASK)


def test_content_in_parts(server: Server, opened: Opener) -> None:
    """Content sent as a list of parts is put together."""
    server.answers = [said([{"type": "text", "text": "In "}, {"type": "text", "text": "Porto."}])]
    assert opened().complete(ASK).text == "In Porto."


@pytest.mark.parametrize("status", [400, 422])
def test_server_without_json_schema(
    server: Server, opened: Opener, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A server without JSON schemas gets JSON mode and the schema in words, from then on at once."""
    server.answers = [failed(status, "response_format"), said(GOOD), said(GOOD)]
    model = opened()
    with caplog.at_level(logging.INFO):
        assert model.complete(ASK, schema=SCHEMA).parsed == GOOD
    assert "json_object" in caplog.text
    assert model.complete(ASK, schema=SCHEMA).parsed == GOOD
    formats = [body["response_format"]["type"] for body in server.bodies]
    assert formats == ["json_schema", "json_object", "json_object"]
    assert "JSON schema" in server.bodies[1]["messages"][-1]["content"]


def test_server_without_any_format(server: Server, opened: Opener) -> None:
    """A server without response formats is asked in words alone."""
    server.answers = [failed(400), failed(400), said(GOOD)]
    assert opened().complete(ASK, schema=SCHEMA).parsed == GOOD
    assert "response_format" not in server.bodies[2]


def test_bad_request_teaches_nothing(server: Server, opened: Opener) -> None:
    """A request that is turned down in every form leaves the next one in the richest form."""
    server.answers = [*[failed(400, "bad image")] * 3, said(GOOD)]
    model = opened()
    with pytest.raises(BackendReplyError, match="bad image"):
        model.complete(ASK, schema=SCHEMA)
    model.complete(ASK, schema=SCHEMA)
    assert server.bodies[3]["response_format"]["type"] == "json_schema"


def test_too_long_a_request_is_not_sent_again(server: Server, opened: Opener) -> None:
    """A conversation that is too long is turned down after one request."""
    server.answers = [failed(400, "This model's maximum context length is 10 tokens", code="context_length_exceeded")]
    with pytest.raises(BackendReplyError, match="Shorten"):
        opened().complete(ASK, schema=SCHEMA)


def test_reasoning_model(server: Server, opened: Opener) -> None:
    """A model that takes neither `max_tokens` nor a temperature gets what it takes."""
    server.answers = [
        failed(400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead.", param="max_tokens"),
        failed(400, "'temperature' does not support 0.0 with this model.", param="temperature"),
        said("ok"),
    ]
    assert opened().complete(ASK, max_tokens=7).text == "ok"
    assert server.bodies[2]["max_completion_tokens"] == 7
    assert not {"max_tokens", "temperature"} & set(server.bodies[2])


def test_environment_of_the_sdk_is_not_read(server: Server, opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that the SDK would read change nothing, and a server without a key gets a placeholder."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Stray: from-the-environment")
    server.answers = [said("ok")]
    opened(api_key=None).complete(ASK)
    assert "from-the-environment" not in str(server.headers[0])
    assert server.headers[0]["authorization"] == "Bearer none"


def test_half_surrogates_are_not_sent(server: Server, opened: Opener) -> None:
    """A message with half a surrogate pair is sent with a `?` in its place."""
    server.answers = [said("ok")]
    opened().complete([Message(role="user", content="x\ud800")])
    assert server.bodies[0]["messages"][0]["content"] == "x?"


def test_many_threads(server: Server, opened: Opener) -> None:
    """One model serves several threads at once."""
    server.answers = [said("ok")] * 8
    model = opened()
    got: list[str] = []
    threads = [threading.Thread(target=lambda: got.append(model.complete(ASK).text)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == ["ok"] * 8


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({"base_url": None, "api_key": None}, "DOXA_LLM_API_KEY", id="no-key-for-openai"),
        pytest.param({"base_url": "localhost:8000/v1"}, "http://", id="no-scheme"),
        pytest.param({"base_url": "http://[x"}, "base_url", id="no-address"),
        pytest.param({"base_url": "http://h:99999/v1"}, "base_url", id="no-port"),
        pytest.param({"api_key": f"{KEY}\nX-More: 1"}, "line break", id="key-with-line-break"),
        pytest.param({"api_key": f"{KEY}é"}, "header", id="key-not-ascii"),
        pytest.param({"timeout_s": 0}, "timeout_s", id="no-time"),
        pytest.param({"max_retries": -1}, "max_retries", id="negative-retries"),
    ],
)
def test_settings_that_cannot_be_used(opened: Opener, options: dict[str, Any], expected: str) -> None:
    """A bad setting is found when the model is opened, and the message does not show the key."""
    with pytest.raises(ConfigError, match=expected) as caught:
        opened(**options)
    assert KEY not in str(caught.value)


def test_password_in_the_address_is_not_shown(opened: Opener) -> None:
    """A password in `base_url` is in no representation."""
    model = opened(base_url="http://ana:pa55@127.0.0.1:9/v1")
    assert "pa55" not in repr(model) and "127.0.0.1:9" in repr(model)
    with pytest.raises(BackendUnavailableError) as caught:
        model.complete(ASK)
    assert "pa55" not in "".join(traceback.format_exception(caught.value))


def test_names() -> None:
    """A model goes by the name it has in the config."""
    with_server = open_openai("m", base_url="http://127.0.0.1:9/v1")
    assert with_server.name == "openai:m"
    with_server.close()
    assert open_scripted("mine", base_url="unused").name == "mine"
    assert with_server.count_tokens("one two") == 2


# The script.


def test_script_keeps_the_requests() -> None:
    """Every call is kept with what it asked for."""
    model = open_scripted(replies=["one"])
    model.complete(ASK, temperature=0.8, max_tokens=7)
    (request,) = model.requests
    assert (list(request.messages), request.schema, request.temperature, request.max_tokens) == (ASK, None, 0.8, 7)


def test_script_runs_out() -> None:
    """A call past the end of the script says which call it was and what it asked."""
    model = ScriptedModel(["one"])
    model.complete(ASK)
    with pytest.raises(BackendError, match=r"call 2 has no reply.*Where does Ana live"):
        model.complete(ASK)


def test_script_kinds_of_reply() -> None:
    """A reply may be an error, a function of the request, or a whole completion."""
    refusal = Completion(text="No.", parsed=None, refused=True, truncated=False, usage=Usage(calls=1), seconds=0.0)
    replies: list[Reply] = [BackendUnavailableError("away"), lambda request: request.messages[-1].content, refusal]
    model = ScriptedModel(replies)
    with pytest.raises(BackendUnavailableError, match="away"):
        model.complete(ASK)
    assert model.complete(ASK).text == "Where does Ana live?"
    assert model.complete(ASK, schema=SCHEMA) == refusal


def test_script_without_end() -> None:
    """A script may be any iterable, also one that never ends."""
    model = ScriptedModel(itertools.repeat("again"))
    assert {model.complete(ASK).text for _ in range(5)} == {"again"}


def test_dialect_steps_end() -> None:
    """Whatever a server says, the simpler forms come to an end."""
    dialect: Dialect | None = Dialect()
    steps = 0
    while dialect is not None:
        dialect = dialect.after_refusal("temperature max_completion_tokens", with_schema=True)
        steps += 1
    assert steps == 5
