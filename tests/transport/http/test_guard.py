"""Limits, errors and headers of every answer, and what the server tells of itself."""

import json
import logging
import threading
from base64 import urlsafe_b64encode

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.websockets import WebSocketDisconnect

from doxa.core.config import ServerConfig
from doxa.core.errors import ConfigError, StoreError
from doxa.transport.http import log_to, require_keys

SECRET_WORDS = "I live in Reykjavik."
REFUSED = 1008
"""Why a websocket is closed: the policy of the server (RFC 6455)."""


def test_a_body_that_is_too_large_is_refused(client):
    """Whether it says how large it is or not."""
    one = client(open=True, user="ana", max_body_bytes=1000)
    body = json.dumps({"turns": [{"text": "x" * 2000}]})
    known = one.post("/v1/memory/turns", content=body, headers={"Content-Type": "application/json"})
    unknown = one.post(
        "/v1/memory/turns",
        content=(part.encode() for part in (body[:900], body[900:])),
        headers={"Content-Type": "application/json"},
    )
    for answer in (known, unknown):
        assert answer.status_code == 413 and "server.max_body_bytes" in answer.json()["detail"]
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "streamed"])
def test_bodies_that_are_too_large_together_are_told_to_come_again(client, doxa, monkeypatch, is_told):
    """One alone may have as much as a body may; those of others do not wait for it to end."""
    one = client(open=True, user="ana", max_bytes_at_once=1000)
    large = json.dumps({"turns": [{"text": "x" * 2000}]}).encode()
    release, inside, told = threading.Event(), threading.Event(), []
    receive = doxa.receive

    def slow(turn, **more):
        inside.set()
        release.wait(20)
        return receive(turn, **more)

    monkeypatch.setattr(doxa, "receive", slow)

    def send(body):
        content = body if is_told else (part for part in (body[:900], body[900:]))
        return one.post("/v1/memory/turns", content=content, headers={"Content-Type": "application/json"})

    thread = threading.Thread(target=lambda: told.append(send(large)))
    thread.start()
    try:
        assert inside.wait(20)
        busy, other = send(large), one.get("/v1/memory/stats")
    finally:
        release.set()
        thread.join()
    assert busy.status_code == 503 and busy.headers["retry-after"] == "1"
    assert "server.max_bytes_at_once" in busy.json()["detail"]
    assert other.status_code == 200
    assert told[0].status_code == 201 and send(large).status_code == 201


@pytest.mark.parametrize(
    "body",
    [
        {"turns": [{"text": "I live in Oslo."}], **{f"k{n}": 1 for n in range(50_000)}},
        {"turns": [{"text": "I live in Oslo.", **{f"k{n}": 1 for n in range(50_000)}}]},
        {"turns": [{"text": "I live in Oslo.", f"k{n}": 1} for n in range(9_000)]},
        {"turns": [{"text": "I live in Oslo.", "k" * 500_000: 1}]},
    ],
    ids=["fields", "fields of a turn", "turns", "a name"],
)
def test_what_does_not_fit_is_told_in_few_words(client, body):
    """An answer of eleven times the body once took 6 s and 450 MiB of a body of 4 MB."""
    answer = client(open=True, user="ana").post("/v1/memory/turns", json=body)
    assert answer.status_code == 422
    assert len(answer.content) < 10_000 and 1 <= len(answer.json()["fields"]) <= 20


def test_more_requests_than_are_worked_on_are_told_to_come_again(client, doxa, monkeypatch):
    """Health is told all the same."""
    one, release, inside = client(open=True, user="ana", concurrency=1), threading.Event(), threading.Event()
    receive = doxa.receive

    def slow(turn, **more):
        inside.set()
        release.wait(20)
        return receive(turn, **more)

    monkeypatch.setattr(doxa, "receive", slow)
    told = []
    thread = threading.Thread(
        target=lambda: told.append(one.post("/v1/memory/turns", json={"turns": [{"text": "Hello."}]}))
    )
    thread.start()
    assert inside.wait(20)
    busy = one.post("/v1/memory/ask", json={"text": "Where?"})
    assert busy.status_code == 503 and busy.headers["retry-after"] == "1"
    assert one.get("/healthz").status_code == one.get("/readyz").status_code == one.get("/metrics").status_code == 200
    release.set()
    thread.join()
    assert told[0].status_code == 201


def test_an_error_says_what_to_do_and_which_request_it_was(client):
    """In the form of RFC 9457."""
    one = client(open=True, user="ana")
    one.post("/v1/memory/turns", json={"turns": [{"text": "I live in Rome.", "turn_id": "t1"}]})
    again = one.post(
        "/v1/memory/turns",
        json={"turns": [{"text": "I live in Oslo.", "turn_id": "t1"}]},
        headers={"X-Request-Id": "abc-1"},
    )
    assert again.status_code == 409
    problem = again.json()
    assert (problem["type"], problem["status"], problem["request_id"]) == ("urn:doxa:turn-conflict", 409, "abc-1")
    assert "Send the new text under a new turn id" in problem["detail"]
    unfit = one.post("/v1/memory/turns", json={"turns": [{"txt": "x"}]}).json()
    assert {field["where"] for field in unfit["fields"]} == {"turns.0.txt"}
    assert one.get("/v1/nothing").json()["type"] == "urn:doxa:http"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/memory/turns", "GET, POST"),
        ("PATCH", "/v1/memory/turns/t1", "GET, DELETE"),
        ("GET", "/v1/memory/ask", "POST"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
def test_a_method_that_a_path_does_not_take_is_told_which_it_takes(client, method, path, allowed):
    """All of them, whichever route takes them, in the header and in words."""
    refused = client(open=True).request(method, path)
    assert refused.status_code == 405 and refused.headers["allow"] == allowed
    assert f"It takes {allowed}." in refused.json()["detail"]


def test_a_fault_of_ours_tells_nothing_of_anybody(client, doxa, monkeypatch, caplog):
    """Its kind, and the request to look for in the log."""
    one = client(open=True, user="ana")
    monkeypatch.setattr(doxa, "receive", lambda *_, **__: 1 / 0)
    answer = one.post("/v1/memory/turns", json={"turns": [{"text": SECRET_WORDS}]})
    assert answer.status_code == 500 and "ZeroDivisionError" in answer.json()["detail"]
    assert "Reykjavik" not in answer.text


def test_what_the_server_tells_of_itself_holds_no_words_names_or_secrets(client, keys, capsys):
    """Neither in the log nor in the metrics; paths are those that are declared."""
    _, secret = keys.add(users=["anastasia"])
    log_to("json")
    try:
        one = client(secret)
        one.post("/v1/memory/turns?wait=true", json={"turns": [{"text": SECRET_WORDS, "turn_id": "turn-77"}]})
        one.post("/v1/memory/ask", json={"text": "Where do I live?"})
        one.delete("/v1/memory/turns/turn-77")
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    finally:
        logging.getLogger("doxa").handlers.clear()
        logging.getLogger("doxa").propagate = True
    metrics = one.get("/metrics").text
    assert [line["status"] for line in lines] == [201, 200, 403]
    assert all(line["request_id"] and line["key_id"] and line["ms"] > 0 for line in lines)
    for word in ("Reykjavik", "anastasia", secret, "turn-77"):
        assert word not in str(lines) and word not in metrics
    families = {family.name: family for family in text_string_to_metric_families(metrics)}
    counted = {
        tuple(s.labels.values()): s.value for s in families["doxa_requests"].samples if s.name.endswith("_total")
    }
    assert sum(counted.values()) == 3
    assert {"recall", "draft"} & {sample.labels["step"] for sample in families["doxa_step_seconds"].samples}
    assert "_created" not in metrics


def test_answers_are_nobodys_to_keep_on_the_way(client):
    """Every one has an id, and none can be taken for something else."""
    headers = client(open=True, user="ana").post("/v1/memory/ask", json={"text": "Where?"}).headers
    assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
    assert len(headers["x-request-id"]) == 32
    odd = client(open=True, user="ana").get("/healthz", headers={"X-Request-Id": "a b\tc"})
    assert len(odd.headers["x-request-id"]) == 32


def test_health_may_be_asked_for_without_a_body(client):
    """By HEAD, as some load balancers do."""
    assert [client().head(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_pages_of_other_origins_are_let_in_only_where_they_are_named(client):
    """By default none is."""
    asked = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    assert "access-control-allow-origin" not in client(open=True).options("/v1/memory/ask", headers=asked).headers
    named = client(open=True, cors=["https://app.example"]).options("/v1/memory/ask", headers=asked)
    assert named.headers["access-control-allow-origin"] == "https://app.example"


@pytest.mark.parametrize(
    ("host", "fits"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_without_keys_only_this_machine_is_listened_to(host, fits):
    """An open server on an address that others reach is refused."""
    settings = ServerConfig(host=host, open=True)
    if fits:
        require_keys(settings)
    else:
        with pytest.raises(ConfigError, match="doxa keys add"):
            require_keys(settings)
    require_keys(ServerConfig(host=host))


EVERYWHERE = ["/v1/memory/facts", "/openai/v1/models", "/v1/ping/", "/mcp", "/docs", "/openapi.json", "/metrics", "/no"]


@pytest.mark.parametrize("path", [*EVERYWHERE, "/healthz", "/readyz"])
def test_without_keys_no_other_name_leads_here(client, path):
    """A name that was made to lead to this machine opens nothing to a page, wherever it asks."""
    one = client(open=True, user="ana")
    for host in ("evil.example", "evil.example:8377", "localhost.evil.example", "localhost@evil.example", "10.0.0.1"):
        refused = one.get(path, headers={"Host": host})
        assert refused.status_code == 403 and "server.open" in refused.text
    for host in ("localhost:8377", "LOCALHOST", "127.0.0.1:1", "[::1]:8377"):
        assert one.get(path, headers={"Host": host}).status_code != 403


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "file://localhost"]
)
def test_without_keys_a_page_of_elsewhere_changes_nothing(client, doxa, origin):
    """Not by a request that a browser sends without asking first, either."""
    one = client(open=True)
    said = '{"model": "doxa", "user": "ana", "messages": [{"role": "user", "content": "I live in Rome."}]}'
    from_page = {"Content-Type": "text/plain", "Origin": origin}
    refused = one.post("/openai/v1/chat/completions", content=said, headers=from_page)
    assert refused.status_code == 403 and refused.json()["error"]["type"] == "permission_error"
    assert doxa.users() == []
    from_page["Origin"] = "http://localhost:3000"
    assert one.post("/openai/v1/chat/completions", content=said, headers=from_page).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}], ids=["another name", "another page"]
)
def test_without_keys_strangers_open_no_websocket(client, headers):
    """A browser asks nobody before it opens one."""
    one, here = client(open=True), {"Host": "localhost"}
    for path in ("/mcp", "/v1/memory/facts"):
        with pytest.raises(WebSocketDisconnect) as refused, one.websocket_connect(path, headers=here | headers):
            pass
        assert refused.value.code == REFUSED
        with pytest.raises(WebSocketDisconnect) as unknown, one.websocket_connect(path, headers=here):
            pass
        assert unknown.value.code != REFUSED  # there is none, and that may be said on this machine


def test_with_keys_any_name_may_lead_here(client, keys):
    """The names of a server that others reach are not known to it."""
    one = client(keys.add(users=["ana"])[1])
    assert one.get("/v1/memory/facts", headers={"Host": "memory.example"}).status_code == 200


def test_only_an_import_may_be_as_large_as_one(client, keys):
    """A path that merely ends like it takes no larger body than others."""
    one = client(keys.add(users=["ana"])[1], max_body_bytes=1000)
    assert one.post("/openai/v1/v1/memory/import", content=b"x" * 2000).status_code == 413
    assert one.post("/v1/memory/import", content=b"x" * 2000).status_code != 413


def test_methods_that_there_are_not_make_no_new_numbers(client):
    """Else a stranger could have the server count ever more of them."""
    one = client()
    for place in range(3):
        one.request(f"ODD{place}", "/healthz")
    assert "ODD" not in one.get("/metrics").text


def test_metadata_that_is_nested_too_deeply_is_refused(ana):
    """It could be stored and never be given back, nor anything beside it."""
    deep = f"{'[' * 300}{']' * 300}"
    told = f'{{"messages": "I like tea.", "metadata": {{"a": {deep}}}}}'
    json_ = {"Content-Type": "application/json"}
    assert ana.post("/v3/memories/add/", content=told, headers=json_).status_code == 400
    assert ana.post("/v3/memories/", json={}).status_code == 200


def test_an_id_that_is_nested_too_deeply_is_none(ana):
    """No more than any other that was not given out."""
    odd = urlsafe_b64encode(b"[" * 3000 + b"]" * 3000).decode().rstrip("=")
    assert ana.get(f"/v1/memories/{odd}/").status_code == 404


def test_a_database_that_is_away_is_not_named_to_strangers(client, doxa, monkeypatch):
    """Its address is in the log."""

    def away(*_):
        raise StoreError("postgresql://ana@db.internal/doxa is away")

    monkeypatch.setattr(doxa.parts.log.store, "keys", away)
    answer = client().get("/readyz")
    assert answer.status_code == 503 and "db.internal" not in answer.text
