"""Bodies that do not come, come slowly, or of which the client loses heart: what they take from others."""

import logging

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from doxa.transport.http.guard import MOST_OF_A_WAIT, Guard
from doxa.transport.http.problems import shaped

NO_HEADERS = ()
PIECE = {"type": "http.request", "body": b"x", "more_body": True}
LAST = {"type": "http.request", "body": b"y", "more_body": False}
GONE = {"type": "http.disconnect"}


class Called:
    """An application that notes what it was called with, and answers when it may."""

    def __init__(self):
        self.bodies = []
        self.may = anyio.Event()

    async def __call__(self, scope, receive, send):
        self.bodies.append(await Request(scope, receive).body())
        await self.may.wait()
        await PlainTextResponse("done")(scope, receive, send)


def guard(app, **more):
    limits = {"max_body_bytes": 100_000, "max_bytes_at_once": 100_000, "larger": {"/import": 1_000}, "concurrency": 2}
    return Guard(app, told=shaped({}), **{**limits, **more})


async def answered(app, *messages, path="/", headers=NO_HEADERS, then=None):
    """Return the status and the headers of the answer to a request whose body comes in these messages."""
    left, told = [*messages], []

    async def receive():
        if left:
            return left.pop(0)
        if then is None:
            await anyio.sleep_forever()
        return then

    async def send(message):
        told.append(message)

    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "scheme": "http", "server": ("localhost", 80), "client": ("127.0.0.1", 1),
        "headers": [(b"host", b"localhost"), *headers], "http_version": "1.1", "state": {},
    }  # fmt: skip
    await app(scope, receive, send)
    return told[0]["status"], dict(told[0]["headers"])


@pytest.mark.parametrize("headers", [NO_HEADERS, [(b"content-length", b"90000")]], ids=["in pieces", "told"])
def test_bodies_that_do_not_come_keep_nobody_out(headers):
    """More of them than requests may be worked on, and of any size that is merely told."""

    async def run():
        called = Called()
        called.may.set()
        one = guard(called)
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(lambda: answered(one, PIECE, headers=headers))
            await anyio.wait_all_tasks_blocked()
            assert (one.under_way, one.bytes_under_way) == (0, 8)
            with anyio.fail_after(1):
                assert (await answered(one, PIECE, LAST))[0] == 200
            tasks.cancel_scope.cancel()
        assert called.bodies == [b"xy"]
        assert (one.under_way, one.bytes_under_way) == (0, 0)

    anyio.run(run)


@pytest.mark.parametrize("path", ["/", "/import"])
def test_a_body_that_does_not_come_in_time_is_refused(path):
    """With the error of the house, and nothing is left of it."""

    async def run():
        one = guard(Called() if path == "/" else _reads, body_s=0.05)
        with anyio.fail_after(1):
            status, headers = await answered(one, PIECE, path=path)
        assert (status, headers[b"connection"]) == (408, b"close")
        assert (one.under_way, one.bytes_under_way) == (0, 0)

    anyio.run(run)


async def _reads(scope, receive, send):
    """Answer as FastAPI does: an error of HTTP that is raised in the middle of reading becomes a response."""
    from starlette.exceptions import HTTPException

    try:
        await Request(scope, receive).body()
    except HTTPException as error:
        await PlainTextResponse(error.detail, error.status_code, headers=error.headers)(scope, receive, send)


def test_work_that_takes_longer_than_a_body_may_goes_on():
    """Only the body is timed: an answer may stream for as long as it likes, and hears when its client goes."""

    async def slow(scope, receive, send):
        assert await Request(scope, receive).body() == b"y"
        await anyio.sleep(0.1)
        heard.append(await receive())
        await PlainTextResponse("done")(scope, receive, send)

    heard = []

    async def run():
        one = guard(slow, body_s=0.02)
        assert (await answered(one, LAST, then=GONE))[0] == 200

    anyio.run(run)
    assert heard == [GONE]


def test_a_request_counts_from_when_its_body_is_here():
    """Of those whose bodies end while as many are worked on as may be, none is let in."""

    async def run():
        called = Called()
        one = guard(called)
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(answered, one, LAST)
            await anyio.wait_all_tasks_blocked()
            status, headers = await answered(one, LAST)
            assert (one.under_way, status, headers[b"retry-after"]) == (2, 503, b"1")
            called.may.set()
        assert len(called.bodies) == 2

    anyio.run(run)


def test_what_only_waits_has_a_small_body_that_counts():
    """It takes no place among those that are worked on, but its bytes are held for as long as it waits."""

    async def run():
        called = Called()
        one = guard(called, waits=lambda _: True)
        large = {**LAST, "body": b"x" * (MOST_OF_A_WAIT + 1)}
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(answered, one, PIECE, LAST)
            await anyio.wait_all_tasks_blocked()
            assert (len(called.bodies), one.under_way, one.bytes_under_way) == (5, 0, 10)
            assert (await answered(one, large))[0] == 413
            told = [(b"content-length", str(MOST_OF_A_WAIT + 1).encode())]
            assert (await answered(one, headers=told))[0] == 413
            called.may.set()
        assert one.bytes_under_way == 0

    anyio.run(run)


@pytest.mark.parametrize("path", ["/v1/memory/turns", "/openai/v1/chat/completions", "/v1/memories/", "/mcp"])
def test_a_client_that_hangs_up_within_a_body_is_no_fault_of_ours(client, keys, caplog, path):
    """It is in the log as a request, and not as an unexpected error."""
    secret = keys.add(users=["ana"])[1]
    one = client(secret)
    headers = [(b"authorization", f"Bearer {secret}".encode()), (b"content-type", b"application/json")]

    async def hang_up():
        return await answered(one.app, PIECE, path=path, headers=headers, then=GONE)

    with caplog.at_level(logging.DEBUG):
        assert one.portal.call(hang_up)[0] == 400
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING or record.exc_info]
