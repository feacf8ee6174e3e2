"""Limits, errors and headers of every answer, and what the server tells of itself."""

import json
import logging
import threading

import pytest
from prometheus_client.parser import text_string_to_metric_families

from doxa.core.config import ServerConfig
from doxa.core.errors import ConfigError
from doxa.transport.http import log_to, require_keys

SECRET_WORDS = "I live in Reykjavik."


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
