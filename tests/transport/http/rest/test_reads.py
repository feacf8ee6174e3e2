"""Conditional reads: a version as the ETag, and 304 while it is the same."""

import re

import pytest

from doxa.engine import Memory


def test_a_read_that_is_known_is_not_done_again(ana, monkeypatch):
    """304 has the ETag and no body, and the memory is not asked."""
    first = ana.http.get("/v1/memory/facts")
    monkeypatch.setattr(Memory, "facts", None)
    tag = first.headers["etag"]
    for known in (tag, f'"x", {tag}', "*", tag.removeprefix("W/")):
        again = ana.http.get("/v1/memory/facts", headers={"If-None-Match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)


def test_every_change_makes_it_another_version(ana):
    """A write, an undo and an erasure: none comes back to an ETag that was there."""
    seen = {ana.http.get("/v1/memory/facts").headers["etag"]}
    for method, path in (("POST", "/turns/t3/withdraw"), ("POST", "/undo"), ("DELETE", "/turns/t3")):
        ana(method, path)
        answer = ana.http.get("/v1/memory/facts", headers={"If-None-Match": ", ".join(seen)})
        assert answer.status_code == 200
        seen.add(answer.headers["etag"])
    assert len(seen) == 4


def test_the_version_of_a_write_is_the_etag_of_the_next_read(client):
    """With `wait=true` nothing comes after it."""
    told = client.post("/turns", {"turns": [{"text": "I live in Oslo."}]}, 201, wait=True)
    assert client.http.get("/v1/memory/facts").headers["etag"] == f'W/"{told["version"]}"'


@pytest.mark.parametrize("path", ["/ask", "/search", "/check"])
def test_a_post_tells_its_version_and_is_always_done(ana, path):
    """If-None-Match means another thing with POST (RFC 9110), so that it is not looked at."""
    tag = ana.http.get("/v1/memory/facts").headers["etag"]
    body = {"query": "Bonn"} if path == "/search" else {"text": "You live in Bonn."}
    answer = ana.http.post(f"/v1/memory{path}", json=body, headers={"If-None-Match": tag})
    assert (answer.status_code, answer.headers["etag"]) == (200, tag)


def test_one_user_s_version_says_nothing_of_another(ana):
    """A version counts in one memory: whoever keeps answers is told what they depend on."""
    first = ana.http.get("/v1/memory/facts")
    again = ana.http.get("/v1/memory/facts", headers={"If-None-Match": first.headers["etag"]})
    export = ana.http.get("/v1/memory/export")
    assert {one.headers["vary"] for one in (first, again, export)} == {"Authorization, Doxa-User"}


def test_times_have_one_form(ana):
    """Those of UTC end with Z, in answers, on pages, and in events."""
    streamed = {"json": {"text": "Where do I live?"}, "headers": {"Accept": "text/event-stream"}}
    told = [
        ana.http.post("/v1/memory/respond", **streamed).text,
        *(ana.http.get(f"/v1/memory/{path}").text for path in ("turns", "facts", "history", "answers")),
    ]
    for text in told:
        assert re.search(r"T\d\d:\d\d:\d\d(\.\d+)?Z", text) and "+00:00" not in text
