"""Export, import and forgetting everything over HTTP."""

import tempfile
from pathlib import Path

import pytest

from doxa.core.errors import StoreReadOnlyError
from doxa.engine import Memory


def left_over():
    """Return what was spooled and is still there."""
    return sorted(Path(tempfile.gettempdir()).glob("doxa-*port-*"))


@pytest.fixture(autouse=True)
def spool(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert left_over() == []


@pytest.mark.parametrize("format", ["jsonl", "turtle", "nquads", "jsonld"])
def test_a_memory_comes_back_as_it_was(ana, client, format):
    """What was exported is imported into an empty memory with all its revisions."""
    exported = ana.http.get("/v1/memory/export", params={"format": format})
    assert exported.headers["content-disposition"].startswith("attachment") and exported.headers["etag"]
    done = client("POST", "/import", content=exported.content)
    assert done["turns"] == 4
    assert client.get("/facts", current=False)["items"] == ana.get("/facts", current=False)["items"]
    assert client("POST", "/import", content=exported.content)["turns"] == 0


def test_an_upload_comes_in_pieces(ana, client):
    """A body without a length is taken as it comes."""
    content = ana.http.get("/v1/memory/export").content
    pieces = (content[place : place + 100] for place in range(0, len(content), 100))
    assert client("POST", "/import", content=pieces)["turns"] == 4


def test_markdown_is_for_people_and_cannot_be_imported(ana, client):
    """The problem says what can."""
    told = ana.http.get("/v1/memory/export", params={"format": "markdown"})
    assert "Bonn" in told.text
    assert "jsonl" in client("POST", "/import", 400, content=told.content)["detail"]


def test_a_line_that_is_broken_imports_nothing_and_is_named(ana, client):
    """The detail names the line and not where the server put the file."""
    content = ana.http.get("/v1/memory/export").content + b"{broken\n"
    detail = client("POST", "/import", 400, content=content)["detail"]
    assert detail.startswith("upload:") and "nothing was imported" in detail
    assert client.get("/turns")["items"] == []


def test_an_upload_that_breaks_off_imports_nothing(ana, client, app):
    """What came so far is thrown away."""
    content = ana.http.get("/v1/memory/export").content
    answer = call(app, client, [content[: len(content) // 2]], breaks_off=True)
    assert answer == 400
    assert client.get("/turns")["items"] == []


def test_an_upload_that_is_too_large_is_refused(ana, client, app):
    """It is told by its length, and while it comes where it has none."""
    from starlette.testclient import TestClient

    from doxa.core.config import ServerConfig
    from doxa.transport.http import application

    small = application(app.state.served.doxa, ServerConfig(max_import_bytes=500))
    http = TestClient(small, headers=dict(client.http.headers))
    assert http.post("/v1/memory/import", content=b"x" * 501).status_code == 413
    assert http.post("/v1/memory/import", content=(b"x" * 100 for _ in range(6))).status_code == 413
    assert client.get("/turns")["items"] == []


def test_an_export_that_fails_leaves_nothing_behind(ana, monkeypatch):
    """The folder is gone, whatever happens."""

    def failing(self, path, **how):
        raise StoreReadOnlyError("no")

    monkeypatch.setattr(Memory, "export", failing)
    ana.get("/export", 500)


def test_everything_is_forgotten_when_that_is_said(ana):
    """It needs a body that says it; no path with a slip in it comes near."""
    ana.post("/forget", {}, 422)
    ana("DELETE", "/turns/%2E%2E", 404)
    certificate = ana.post("/forget", {"everything": True})
    assert certificate["erased"]["turns"] == 4
    assert ana.get("/stats")["counts"]["turns"] == 0


def test_users_are_those_that_the_key_opens(ana, make):
    """An administrator's key tells of its own users alone."""
    assert ana.get("/users") == {"users": [ana.user]}
    make(ana.user, ["read"]).get("/users", 403)


def call(app, client, pieces, *, breaks_off):
    """Send the pieces of a body by hand, and return the status."""
    import asyncio

    headers = [(name.lower().encode(), value.encode()) for name, value in client.http.headers.items()]
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "POST",
        "path": "/v1/memory/import", "raw_path": b"/v1/memory/import", "query_string": b"", "root_path": "",
        "scheme": "http", "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
    coming = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    coming += [{"type": "http.disconnect"}] if breaks_off else []
    sent = []

    async def receive():
        return coming.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"]
