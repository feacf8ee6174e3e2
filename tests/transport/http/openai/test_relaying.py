"""What the official SDK sends and gets through the proxy, beside what it sends and gets directly."""

import gzip
import json
import threading
import time

import httpx2
import openai
import pytest
from pydantic import BaseModel

from doxa.engine import Keys

HI = [{"role": "user", "content": "Hi there."}]
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}}}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bonn"}'}}
RATES = {"x-ratelimit-remaining-requests": "59", "x-request-id": "req_of_upstream", "openai-processing-ms": "12"}


def bodies(stand):
    """What reached the upstream, directly and through the proxy."""
    return stand.sent[-2].body, stand.sent[-1].body


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": False},
        {"n": 2, "logprobs": True, "top_logprobs": 2, "seed": 7},
        {"extra_body": {"of_next_year": {"deep": [1, None, "é"]}}, "temperature": 0.0},
    ],
    ids=["plain", "tools", "choices", "unknown"],
)
def test_a_completion_is_the_same_as_direct(front, played, more):
    """Request and answer have the same bytes as without the proxy."""
    token = {"token": "Hi", "logprob": -0.25, "bytes": [72, 105], "top_logprobs": []}
    second = {"index": 1, "message": {"role": "assistant", "content": "Hi"}, "logprobs": {"content": [token]}}
    first = {"index": 0, "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}, "logprobs": None}
    answers = [{**first, "finish_reason": "tool_calls"}, {**second, "finish_reason": "stop"}]
    body = played.chat(None, choices=answers, prompt_filter_results=[{"severity": "safe"}])
    front.upstream.play = lambda sent: played.reply(body, headers=RATES)
    ask = {"model": "gpt-test", "messages": HI, **more}
    direct = front.direct().chat.completions.with_raw_response.create(**ask)
    proxied = front.client().chat.completions.with_raw_response.create(**ask)
    assert proxied.content == direct.content
    assert proxied.parse() == direct.parse()
    assert bodies(front.upstream)[0] == bodies(front.upstream)[1]
    assert {name: proxied.headers[name] for name in RATES} == RATES


def test_a_stream_is_the_same_as_direct(front, played):
    """Every chunk is the same as without the proxy, the one that counts tokens included."""
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    stream = played.chunks("Hel", "lo.", usage=usage)
    front.upstream.play = lambda sent: played.reply(stream, headers=played.STREAM)
    ask = {"model": "gpt-test", "messages": HI, "stream": True, "stream_options": {"include_usage": True}}
    direct = list(front.direct().chat.completions.create(**ask))
    proxied = list(front.client().chat.completions.create(**ask))
    assert proxied == direct and len(direct) == 4
    assert bodies(front.upstream)[0] == bodies(front.upstream)[1]
    assert front.remembered(2)[1] == ("assistant", "assistant", "Hello.")


def test_the_stream_helper_with_tools_sees_the_same_events(front, played):
    """`chat.completions.stream` puts tool calls together as it does directly."""
    shared = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
    deltas = [
        {"role": "assistant", "content": None, "tool_calls": [{"index": 0, **CALL}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ""}}]},
        {},
    ]
    told = [
        {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "tool_calls"}]}
        for delta in deltas
    ]
    front.upstream.play = lambda sent: played.reply(played.sse(*told, "[DONE]"), headers=played.STREAM)

    def events(client):
        with client.chat.completions.stream(model="gpt-test", messages=HI, tools=TOOLS) as stream:
            return [event.to_dict() for event in stream]

    assert events(front.client()) == events(front.direct())


def test_structured_outputs_are_parsed(front, played):
    """`parse()` gives an object of the class that was asked for, and a refusal as a refusal."""

    class Weather(BaseModel):
        city: str
        warm: bool

    front.upstream.play = lambda sent: played.reply(played.chat('{"city": "Bonn", "warm": true}'))
    ask = {"model": "gpt-test", "messages": HI, "response_format": Weather}
    assert front.client().chat.completions.parse(**ask).choices[0].message.parsed == Weather(city="Bonn", warm=True)
    front.upstream.play = lambda sent: played.reply(played.chat(None, message={"refusal": "I cannot."}))
    refused = front.client().chat.completions.parse(**ask).choices[0].message
    assert refused.parsed is None and refused.refusal == "I cannot."


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ],
)
def test_errors_of_the_upstream_come_as_they_are(front, played, status, error):
    """Status, body and headers of an error are those of the upstream."""
    body = json.dumps({"error": {"message": "No.", "type": "t", "param": "messages[0]", "code": "c", "more": 1}})
    headers = {"content-type": "application/json", "retry-after": "7", **RATES}
    front.upstream.play = lambda sent: played.reply(body.encode(), status=status, headers=headers)
    with pytest.raises(error) as direct:
        front.direct().chat.completions.create(model="m", messages=HI)
    with pytest.raises(error) as proxied:
        front.client().chat.completions.create(model="m", messages=HI)
    assert proxied.value.body == direct.value.body and proxied.value.code == "c"
    assert proxied.value.request_id == "req_of_upstream" and proxied.value.response.headers["retry-after"] == "7"
    assert front.remembered(1) == [("user", front.name, "Hi there.")]


def test_bytes_that_are_not_asked_to_change_do_not(front):
    """Blanks, repeated keys, escapes and digits of a request reach the upstream as they were written."""
    body = b'{ "x": 1.0e+2, "x": 12345678901234567890.10, "messages" :\n[{"role":"user","content":"\\u00e9"}] }'
    front.post("chat/completions", body, doxa_key=front.key, doxa_user=front.user)
    assert front.upstream.sent[-1].body == body


def test_a_body_that_is_no_json_is_the_upstreams_to_refuse(front, played):
    """The upstream says what is wrong with a body, and nothing is remembered."""
    front.upstream.play = lambda sent: played.reply(b'{"error": {"message": "bad JSON"}}', status=400)
    answer = front.post("chat/completions", b'{"messages": [', doxa_key=front.key, doxa_user=front.user)
    assert (answer.status_code, answer.json()) == (400, {"error": {"message": "bad JSON"}})
    assert front.upstream.sent[-1].body == b'{"messages": ['
    assert front.turns() == []


def test_a_slow_stream_comes_piece_by_piece(front, played):
    """The first chunk is there before the upstream sends the second."""
    gate = threading.Event()

    def pieces():
        first, *rest = played.chunks("a", "b")
        yield first
        gate.wait(5)
        yield from rest

    front.upstream.play = lambda sent: played.reply(pieces(), headers=played.STREAM)
    stream = iter(front.client().chat.completions.create(model="m", messages=HI, stream=True))
    assert next(stream).choices[0].delta.role == "assistant"
    gate.set()
    assert len(list(stream)) == 3


def test_a_stream_that_breaks_off_breaks_off_here_too(front, played, caplog):
    """The client sees the error that it would see without the proxy, and half a reply is not remembered."""
    front.upstream.play = lambda sent: played.reply([*played.chunks("Half a")[:2], None], headers=played.STREAM)
    for client in (front.direct(), front.client()):
        with pytest.raises((openai.APIError, httpx2.RemoteProtocolError)):
            list(client.chat.completions.create(model="m", messages=HI, stream=True))
    assert front.remembered(1) == [("user", front.name, "Hi there.")]
    assert "broke off" in caplog.text


@pytest.mark.parametrize(("encoding", "kept"), [("gzip", 2), ("br", 1)])
def test_an_encoded_answer_keeps_its_encoding(front, played, encoding, kept, caplog):
    """An upstream that encodes in spite of what it was asked is relayed as it is; what can be read is remembered."""
    body = gzip.compress(json.dumps(played.response("resp_z", "Fine.")).encode()) if encoding == "gzip" else b"\x0b\x02"
    front.upstream.play = lambda sent: played.reply(body, headers={"content-encoding": encoding})
    asked = front.http.build_request(
        "POST",
        f"{front.url}/responses",
        json={"input": "Hi there."},
        headers={"doxa-key": front.key, "doxa-user": front.user},
    )
    answer = front.http.send(asked, stream=True)
    assert b"".join(answer.iter_raw()) == body and answer.headers["content-encoding"] == encoding
    answer.close()
    assert len(front.remembered(kept)) == kept
    if encoding == "br":
        front.until(lambda: "cannot be read" in caplog.text)
    assert ("cannot be read" in caplog.text) == (encoding == "br")


def test_a_client_that_hangs_up_ends_the_call(front, played):
    """The upstream notices that nobody listens any more."""

    def endless():
        while True:
            yield played.chunks("more")[1]
            time.sleep(0.01)

    front.upstream.play = lambda sent: played.reply(endless(), headers=played.STREAM)
    stream = front.client().chat.completions.create(model="m", messages=HI, stream=True)
    next(iter(stream))
    stream.close()
    assert front.upstream.hung_up.wait(5)


def test_an_upstream_that_is_away_is_an_error_as_openai_has_it(engine, front_of):
    """The error says which setting to look at."""
    away = front_of(engine, None, upstream="http://127.0.0.1:9/v1")
    with away as front, pytest.raises(openai.InternalServerError) as error:
        front.client().chat.completions.create(model="m", messages=HI)
    assert error.value.status_code == 504
    assert error.value.type == "server_error" and "server.upstream" in error.value.message


def test_embeddings_models_and_any_other_path_are_relayed(front, played):
    """What touches no memory goes through untouched, with its query, and needs no user."""
    client = front.client(user=None, session=None)
    vector = {"object": "embedding", "index": 0, "embedding": [0.5, -0.25]}
    body = {"object": "list", "data": [vector], "model": "e", "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    front.upstream.play = lambda sent: played.reply(json.dumps(body).encode())
    made = client.embeddings.create(model="e", input="Hi", encoding_format="float")
    assert made.data[0].embedding == [0.5, -0.25]
    model = {"id": "gpt-test", "object": "model", "created": 1, "owned_by": "x"}
    front.upstream.play = lambda sent: played.reply(json.dumps({"object": "list", "data": [model]}).encode())
    assert [one.id for one in client.models.list()] == ["gpt-test"]
    front.upstream.play = lambda sent: played.reply(b"%PDF", headers={"content-type": "application/pdf"})
    assert client.files.content("file-1").read() == b"%PDF"
    client.get("/some/new%2Fthing?x=1&y=%20", cast_to=httpx2.Response)
    assert [one.path for one in front.upstream.sent] == [
        "/v1/embeddings",
        "/v1/models",
        "/v1/files/file-1/content",
        "/v1/some/new%2Fthing?x=1&y=%20",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e/admin",
        "models/%2e%2e/%2e%2e/admin",
        "models/%252e%252e/admin",
        "models/..%5c..%5cadmin",
        "models/..;x/admin",
    ],
)
def test_no_path_leaves_that_of_the_upstream(front, path):
    """A path that climbs is refused before anything is sent."""
    url = httpx2.URL(front.url).copy_with(raw_path=f"/openai/v1/{path}".encode())
    answer = front.http.get(url, headers={"doxa-key": front.key})
    assert answer.status_code == 404 and front.upstream.sent == []


def test_no_path_goes_on_with_the_name_of_the_host(engine, front_of, upstream):
    """`http://user%2F@elsewhere/` is another server, which would get the key of the operator."""
    upstream.reset()
    port = upstream.url.rpartition(":")[2].partition("/")[0]
    with front_of(engine, None, upstream="http://127.0.0.1:9", upstream_key="sk-of-the-operator") as front:
        for path in (f"/openai/v1%2F@127.0.0.1:{port}/models", "/openai%2Fv1/models", "/%6fpenai/v1/models"):
            url = httpx2.URL(front.url).copy_with(raw_path=path.encode())
            assert front.http.get(url, headers={"doxa-key": front.key}).status_code == 404
    assert upstream.sent == []


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "files"), ("GET", "chat/completions"), ("DELETE", "models/ft-1"), ("POST", "files"), ("GET", "batches")],
)
def test_the_account_of_the_operator_is_shown_to_admins_alone(front, engine, method, path):
    """What is stored there is of all users; whoever has a key of their own sees their own account."""
    _, admin = Keys(engine).add(rights=["read", "admin"])

    def status(**headers):
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return front.http.request(method, f"{front.url}/{path}", headers=given).status_code

    assert status(doxa_key=front.key) == 403 and front.upstream.sent == []
    assert status(doxa_key=admin) == status(doxa_key=front.key, authorization="Bearer sk-own") == 200


def test_the_response_of_another_user_is_not_given_away(front, engine, played):
    """Neither by its id nor as what a conversation goes on from; one that nobody here is known to have is."""
    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_ana", "Fine.")).encode())
    ana, ben = ({"doxa_key": Keys(engine).add(users=[user])[1]} for user in (front.user, "ben"))
    front.post("responses", {"model": "m", "input": "Hi."}, **ana)

    def retrieved(key, **headers):
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return front.http.get(f"{front.url}/responses/{key}", headers=given).status_code

    assert retrieved("resp_ana", **ana) == retrieved("resp_unknown", **ben) == 200
    assert retrieved("resp_ana", **ben) == 404
    on = {"model": "m", "input": "Say that again.", "previous_response_id": "resp_ana"}
    sent = len(front.upstream.sent)
    assert front.post("responses", on, **ben).status_code == 404 and len(front.upstream.sent) == sent
    assert front.post("responses", on, **ana).status_code == 200


GOES_ON = b'{"model": "m", "input": "Say that again.", "previous_response_id": "resp_bea"}'


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "responses", b"\xef\xbb\xbf" + GOES_ON, 400),
        ("POST", "responses", GOES_ON.decode().encode("utf-16"), 400),
        ("POST", "responses", GOES_ON[:-1] + b', "previous_response_id": null}', 400),
        ("POST", "responses", GOES_ON[:-1] + b', "Previous_Response_ID": null}', 400),
        ("POST", "responses", GOES_ON.replace(b"resp_bea", b"resp_bea "), 400),
        ("POST", "responses", GOES_ON.replace(b'"resp_bea"', b'["resp_bea"]'), 400),
        ("POST", "responses", b'{"conversation": {"id": "resp_bea", "id": "x"}, "input": "Hi."}', 400),
        ("POST", "responses", b'{"previous_response_id": "", "conversation": "resp_bea", "input": "Hi."}', 404),
        ("POST", "responses", b'{"previous_response_id": "x", "conversation": {"id": "resp_bea"}}', 404),
        ("POST", "responses/compact", GOES_ON, 404),
        ("POST", "responses/compact", b"\xef\xbb\xbf" + GOES_ON, 400),
        ("POST", "responses/compact/", GOES_ON, 404),
        ("POST", "responses/input_tokens", GOES_ON, 404),
        *(("GET", f"responses/resp_bea{more}", b"", 404) for more in (";x", "%3Fx", "%20", "%23", "%00", "%2Fx;")),
    ],
)
def test_nobody_goes_on_from_what_may_be_of_another(front, engine, played, method, path, body, status):
    """Whoever reads the id: one that the upstream could read otherwise than Doxa is refused, in OpenAI's shape."""
    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_bea", "Fine.")).encode())
    bea, ben = (Keys(engine).add(users=[user])[1] for user in (front.user, "ben"))
    front.post("responses", {"model": "m", "input": "Hi."}, doxa_key=bea)
    sent = len(front.upstream.sent)
    answer = front.http.request(method, f"{front.url}/{path}", content=body, headers={"doxa-key": ben})
    assert answer.status_code == status and "message" in answer.json()["error"]
    assert len(front.upstream.sent) == sent


def test_what_goes_on_from_ones_own_is_relayed(front, engine, played):
    """Also compacted, and in a conversation; a key of one's own for the upstream sees whatever its account has."""
    front.upstream.play = lambda sent: played.reply(json.dumps(played.response("resp_cleo", "Fine.")).encode())
    cleo, ben = (Keys(engine).add(users=[user])[1] for user in (front.user, "ben"))
    on = {"model": "m", "input": "Hi.", "conversation": {"id": "conv_cleo"}}
    assert front.post("responses", on, doxa_key=cleo).status_code == 200
    assert front.post("responses", on, doxa_key=ben).status_code == 404
    own = {"doxa_key": ben, "authorization": "Bearer sk-own"}
    on = {"model": "m", "previous_response_id": "resp_cleo"}
    for path in ("responses/compact", "responses/input_tokens", "responses"):
        assert front.post(path, on, doxa_key=cleo).status_code == 200
        assert front.post(path, b"\xef\xbb\xbf" + json.dumps(on).encode(), **own).status_code == 200


@pytest.mark.parametrize("path", ["chat/completions", "responses"])
@pytest.mark.parametrize("name", ["Annabelle" * 23, "*", "ana\0"], ids=["long", "everybody", "nul"])
@pytest.mark.parametrize("recall_ms", [0, 200])
def test_a_name_that_nobody_can_have_is_refused_before_anybody_is_asked(
    relaying, engine, upstream, front_of, caplog, path, name, recall_ms
):
    """400, with nothing asked of the upstream, and no name in the log."""
    upstream.reset()
    with front_of(engine, upstream, recall_ms=recall_ms) as front:
        body = {"user": name, "messages": [{"role": "user", "content": "Hi."}], "input": "Hi."}
        answer = front.post(path, body, doxa_key=front.key)
    assert answer.status_code == 400 and answer.json()["error"]["message"].startswith("user: ")
    assert upstream.sent == [] and "Annabelle" not in caplog.text and "unexpected" not in caplog.text


def test_a_few_bytes_that_stand_for_very_many_are_not_read(front, played, caplog, monkeypatch):
    """The client gets them as they are, and nothing is remembered of them."""
    monkeypatch.setattr("doxa.transport.http.openai.replies.MOST_BYTES", 1_000_000)
    packed = gzip.compress(played.chat("x" * 2_000_000))
    front.upstream.play = lambda sent: played.reply(packed, headers={"content-encoding": "gzip"})
    assert front.client().chat.completions.create(model="m", messages=HI).choices[0].message.content[0] == "x"
    deadline = time.monotonic() + 5
    while "more than 1,000,000 bytes" not in caplog.text:  # it is told when the client has the answer
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(front.turns()) == 1


@pytest.mark.parametrize("message", ['{"role": "user", "content": "Hi", "tool_calls": 5}', '{"content": "\\ud800"}'])
def test_odd_messages_are_the_upstreams_to_refuse(front, message):
    """They reach it, and nothing breaks on the way."""
    body = f'{{"model": "m", "messages": [{message}]}}'.encode()
    assert front.post("chat/completions", body, doxa_key=front.key, doxa_user=front.user).status_code == 200


@pytest.mark.parametrize(
    ("headers", "gets"),
    [
        ({"doxa-key": "KEY", "authorization": "Bearer sk-own"}, "Bearer sk-own"),
        ({"authorization": "Bearer KEY"}, "Bearer sk-of-the-operator"),
        ({"x-api-key": "KEY"}, "Bearer sk-of-the-operator"),
        ({"doxa-key": "KEY", "authorization": "Bearer KEY"}, "Bearer sk-of-the-operator"),
    ],
    ids=["beside", "instead", "other", "both"],
)
@pytest.mark.parametrize("path", ["chat/completions", "responses", "embeddings", "moderations"])
def test_no_key_of_doxa_reaches_the_upstream(front, headers, gets, path):
    """The upstream gets its own key or that of the client, and no header of Doxa's."""
    given = {name: value.replace("KEY", front.key) for name, value in headers.items()}
    more = {
        "doxa-user": front.user,
        "doxa-session": "s",
        "connection": "keep-alive, x-hop",
        "x-hop": "1",
        "x-kept": "2",
    }
    body = {"messages": HI, "input": "Hi there."}
    front.post(path, body, **given, **more)
    sent = front.upstream.sent[-1]
    assert sent.header("authorization") == gets
    assert front.key not in str(sent)
    names = {name.lower() for name, _ in sent.headers}
    assert not {name for name in names if name.startswith("doxa") or name in ("x-hop", "x-api-key")}
    assert "x-kept" in names and sent.header("accept-encoding") == "identity"


def test_without_a_key_nothing_reaches_the_upstream(front):
    """Whoever has no key is refused in the shape of OpenAI, wherever they ask."""
    for path in ("chat/completions", "responses", "embeddings", "files"):
        answer = front.post(path, {"messages": HI}, authorization="Bearer sk-x")
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "invalid_api_key"
    assert front.upstream.sent == []
