"""Bodies that no schema describes, and pages of other origins."""

import pytest
from starlette.testclient import TestClient

from doxa.core.config import ServerConfig
from doxa.transport.http import application


@pytest.mark.parametrize("depth", [200, 480, 900, 100_000])
@pytest.mark.parametrize("path", ["/turns", "/ask"])
def test_a_body_that_is_nested_without_end_is_refused(client, depth, path):
    """It is a bad request, however deep it is."""
    content = b'{"turns": ' + b"[" * depth + b"]" * depth + b"}"
    answer = client.http.post(f"/v1/memory{path}", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("content", [b"{", b"", b"\xff", b"null", b"[]"], ids=repr)
def test_a_body_that_is_no_json_object_is_refused(client, content):
    """The problem says what was expected."""
    answer = client.http.post("/v1/memory/turns", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422) and answer.json()["detail"]


def test_json_that_is_sent_as_something_else_is_told_how(client):
    """As curl does where nobody says what it is."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.http.post("/v1/memory/ask", content=b'{"text": "Where?"}', headers=headers)
    assert answer.status_code == 422 and "Content-Type: application/json" in answer.json()["detail"]


def test_half_a_surrogate_pair_in_a_text_is_replaced(client):
    """A text that was cut in an emoji is taken with what is left of it."""
    content = b'{"turns": [{"text": "I live in Oslo \\ud83d"}]}'
    client("POST", "/turns", 201, content=content, headers={"Content-Type": "application/json"})
    assert client.get("/turns")["items"][0]["turn"]["text"] == "I live in Oslo ?"


def test_pages_of_another_origin_may_read_the_version(doxa, client):
    """A browser shows a page only the headers that the server names."""
    app = application(doxa, ServerConfig(cors=("https://app.example",)))
    http = TestClient(app, headers={**client.http.headers, "Origin": "https://app.example"})
    answer = http.get("/v1/memory/facts")
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert "ETag" in answer.headers["access-control-expose-headers"]


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/ask", b'{"question": "Where?"}', "question: there is no such field; known are agent, as_of, at"),
        ("/turns", b'{"turns": [{"txt": "x"}]}', "turns.0.txt: there is no such field; known are at, content, role"),
        ("/ask", b'{"text": }', "body: it is no JSON (Expecting value, at character 9)"),
        ("/ask", b"[]", "body: expected a JSON object"),
    ],
    ids=["field", "inner-field", "json", "list"],
)
def test_a_body_that_does_not_fit_is_told_what_would(client, path, body, told):
    """With the names of the fields that there are."""
    answer = client.http.post(f"/v1/memory{path}", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422 and told in answer.json()["detail"]
