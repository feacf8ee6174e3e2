"""Sessions at /mcp: which requests begin one, when it ends, and how many a key has; and streams that wait."""

import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import anyio
import pytest
from fastapi.testclient import TestClient

from doxa.engine import Keys
from doxa.transport.http import application
from doxa.transport.mcp import mounting
from doxa.transport.mcp.sessions import Sessions

from .test_over_http import ACCEPTS, INITIALIZE, LIST

JSON = {"Content-Type": "application/json"}
LISTEN = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}


class Calling:
    """A client of an application in this process, with a key."""

    def __init__(self, doxa, app, http):
        self._doxa, self.app, self.http = doxa, app, http
        self.secret = self.key()

    def key(self):
        return Keys(self._doxa).add(users=["ana"], rights=("read",))[1]

    def call(self, method="POST", session=None, secret=None, **more):
        headers = {**ACCEPTS, "Authorization": f"Bearer {secret or self.secret}", **more.pop("headers", {})}
        headers |= {"Mcp-Session-Id": session} if session else {}
        return self.http.request(method, "/mcp", headers=headers, **more)

    def begin(self, secret=None):
        done = self.call(json=INITIALIZE, secret=secret)
        assert done.status_code == 200
        return done.headers["mcp-session-id"]

    @property
    def sessions(self):
        """The ids that the SDK keeps anything for."""
        manager = self.app.state.mcp.servers["doxa"].session_manager
        assert set(manager._session_owners) == set(manager._server_instances)
        return [*manager._server_instances]


@pytest.fixture
def calling(doxa, monkeypatch):
    """Make an application whose sessions have these limits, and a client of it."""

    @contextmanager
    def made(**limits):
        monkeypatch.setattr(mounting, "Sessions", partial(Sessions, **limits))
        app = application(doxa)
        with TestClient(app, "http://localhost", raise_server_exceptions=False) as http:
            yield Calling(doxa, app, http)

    return made


def test_what_begins_no_session_leaves_none(calling):
    """Each of these once left one for as long as the server ran."""
    with calling() as one:
        allowed = {one.call(method).headers["allow"] for method in ("PUT", "PATCH", "OPTIONS", "HEAD", "ODD")}
        assert allowed == {"GET, POST, DELETE"}
        assert [one.call(method).status_code for method in ("PUT", "HEAD", "GET", "DELETE")] == [405, 405, 400, 400]
        for kind in ("text/plain", "application/jsonp", ""):
            assert one.call(content=b"{}", headers={"Content-Type": kind}).status_code == 415
        for content in (b"{", b"{}", b"[]"):
            assert one.call(content=content, headers=JSON).status_code == 400
        assert one.call(json=LIST).status_code == 400
        assert one.call(json=INITIALIZE, headers={"Accept": "text/html"}).status_code == 406
        assert one.sessions == []
        begun = one.begin()
        assert one.sessions == [begun]
        assert one.call(json=LIST, session=begun).status_code == 200


def test_a_session_that_its_client_ends_is_gone(calling):
    """And nobody else can end it."""
    with calling() as one:
        begun = one.begin()
        assert one.call("DELETE", begun, secret=one.key()).status_code == 404
        assert one.sessions == [begun]
        assert one.call("DELETE", begun).status_code == 200
        assert one.sessions == []
        assert one.call(json=LIST, session=begun).status_code == 404


def test_a_session_that_nobody_uses_ends(calling):
    """Its client is told that there is none, and begins another."""
    with calling(idle_s=0.2) as one:
        begun = one.begin()
        one.http.portal.call(anyio.sleep, 0.4)
        assert one.sessions == []
        assert one.call(json=LIST, session=begun).status_code == 404


def test_an_open_stream_keeps_its_session(calling):
    """However long nothing is said on it, and whatever else the session is used for."""
    with calling(idle_s=0.2) as one:
        begun = one.begin()

        async def watched():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_wait, one, "GET", [(b"mcp-session-id", begun.encode())])
                await anyio.sleep(0.2)
                called = await anyio.to_thread.run_sync(lambda: one.call(json=LIST, session=begun).status_code)
                await anyio.sleep(0.4)
                kept = one.sessions
                tasks.cancel_scope.cancel()
            await anyio.sleep(0.4)
            return called, kept, one.sessions

        assert one.http.portal.call(watched) == (200, [begun], [])


def test_a_key_has_so_many_sessions(calling):
    """The one that is idle longest gives way; those of other keys do not."""
    with calling(most=2) as one:
        other = one.begin(one.key())
        first, second = one.begin(), one.begin()
        assert one.call(json=LIST, session=first).status_code == 200
        third = one.begin()
        assert set(one.sessions) == {other, first, third}
        assert one.call(json=LIST, session=second).status_code == 404


def test_a_session_in_use_does_not_give_way(calling):
    """Where all are, there is no other."""
    with calling(most=1) as one:
        begun = one.begin()

        async def refused():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_wait, one, "GET", [(b"mcp-session-id", begun.encode())])
                await anyio.sleep(0.2)
                done = await anyio.to_thread.run_sync(lambda: one.call(json=INITIALIZE))
                tasks.cancel_scope.cancel()
            return done

        done = one.http.portal.call(refused)
        assert done.status_code == 429 and done.json()["error"]["message"]
        assert one.sessions == [begun]


def test_a_key_has_so_many_streams_that_wait(calling, monkeypatch):
    """Another key is not kept out by them."""
    monkeypatch.setattr(mounting, "MOST_OF_A_KEY", 2)
    with calling() as one:

        async def opened():
            ids = [await anyio.to_thread.run_sync(one.begin) for _ in range(3)]
            other = one.key()
            theirs = await anyio.to_thread.run_sync(one.begin, other)
            told = []
            async with anyio.create_task_group() as tasks:
                for secret, name in [*((one.secret, name) for name in ids), (other, theirs)]:
                    tasks.start_soon(_wait, one, "GET", [(b"mcp-session-id", name.encode())], told, secret)
                    await anyio.sleep(0.1)
                tasks.cancel_scope.cancel()
            return told

        assert one.http.portal.call(opened) == [200, 200, 429, 200]


@pytest.mark.parametrize(
    ("method", "headers", "only_waits"),
    [
        ("POST", [*LISTEN.items()], True),
        ("POST", [("Mcp-Protocol-Version", "2025-11-25"), *LISTEN.items()], False),
        ("POST", [*LISTEN.items(), ("Mcp-Method", "tools/call")], False),
        ("GET", [("Mcp-Session-Id", "x")], True),
        ("GET", [], False),
    ],
    ids=["listen", "two revisions", "two methods", "stream", "no session"],
)
def test_only_what_the_sdk_holds_to_its_headers_counts_as_waiting(method, headers, only_waits):
    """A header that is there twice is read once by each side, and maybe not the same one."""
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    assert mounting.waits({"type": "http", "method": method, "path": "/mcp", "headers": raw}) is only_waits


def test_what_is_refused_while_the_sdk_loads_is_told_without_it():
    """It is loaded in a thread; to import it beside that failed, and the first requests got 500."""
    script = """
import sys
from starlette.requests import Request
from doxa.transport.http.problems import Problem
from doxa.transport.mcp import shape, waits
scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": [(b"mcp-method", b"subscriptions/listen"),
         (b"mcp-protocol-version", b"2026-07-28")]}
assert waits(scope)
assert shape(Request(scope), Problem(status=401, kind="unauthorized", detail="no")).status_code == 401
assert "mcp" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


async def _wait(one, method, headers, told=None, secret=None):
    """Ask for a stream and stay on it."""
    asked = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        if not asked:
            await anyio.sleep_forever()
        return asked.pop()

    async def send(message):
        if message["type"] == "http.response.start" and told is not None:
            told.append(message["status"])

    key = f"Bearer {secret or one.secret}".encode()
    scope = {
        "type": "http", "method": method, "path": "/mcp", "raw_path": b"/mcp", "query_string": b"", "root_path": "",
        "scheme": "http", "server": ("localhost", 80), "client": ("127.0.0.1", 1), "http_version": "1.1",
        "headers": [(b"host", b"localhost"), (b"accept", b"text/event-stream"), (b"authorization", key), *headers],
    }  # fmt: skip
    await one.app(scope, receive, send)
