"""What every upstream keeps to: the head at once, the body as it comes, nothing changed on the way."""

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from doxa.backends import load
from doxa.backends.upstream import Asked
from doxa.backends.upstream.scripted import ScriptedAnswer
from doxa.core.errors import BackendUnavailableError, ClosedError, ConfigError

ANSWERED = ScriptedAnswer(
    status=418, headers=((b"x-one", b"1"), (b"set-cookie", b"a=b"), (b"content-length", b"6")), pieces=(b"abc", b"def")
)


class Handler(BaseHTTPRequestHandler):
    """Answers as the script does, and keeps what came."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((self.path, dict(self.headers), body))
        if self.path.endswith("/away"):
            self.close_connection = True
            return
        self.send_response_only(ANSWERED.status)
        for name, value in ANSWERED.headers:
            self.send_header(name.decode(), value.decode())
        self.end_headers()
        for piece in ANSWERED.pieces:
            self.wfile.write(piece)
        self.close_connection = self.path.endswith("/last")  # without a header that says so

    def log_message(self, *args):
        pass


@pytest.fixture
def server(loopback):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.got = []
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=["http", "scripted"])
def upstream(request, server):
    if request.param == "http":
        return load("upstream", f"http:http://127.0.0.1:{server.server_address[1]}/v1/")
    away = BackendUnavailableError("away")
    return load("upstream", "scripted", answers=[lambda asked: _answer(asked, away)] * 3)


def _answer(asked, away):
    if asked.path == "/away":
        raise away
    return ANSWERED


async def read(upstream, asked):
    answer = await upstream.send(asked)
    try:
        return answer.status, list(answer.headers), b"".join([piece async for piece in answer.chunks()])
    finally:
        await answer.close()
        await answer.close()


def run(work, upstream):
    async def all_of_it():
        try:
            return await work
        finally:
            await upstream.close()
            await upstream.close()

    return asyncio.run(all_of_it())


def test_an_answer_comes_as_it_is(upstream):
    """Status, headers in order and body are those of the server, whatever the status says."""
    status, headers, body = run(read(upstream, Asked(method="POST", path="/x", body=b"hi")), upstream)
    assert (status, body) == (418, b"abcdef")
    assert [pair for pair in headers if pair[0] in (b"x-one", b"set-cookie")] == list(ANSWERED.headers[:2])


def test_one_that_is_away_is_an_error_of_ours(upstream):
    """No exception of the network leaves the backend."""
    with pytest.raises(BackendUnavailableError):
        run(read(upstream, Asked(method="POST", path="/away", body=b"hi")), upstream)


def test_a_closed_one_takes_nothing(upstream):
    """After `close()` a request is a ClosedError."""
    asyncio.run(upstream.close())
    with pytest.raises(ClosedError):
        asyncio.run(upstream.send(Asked(method="POST", path="/x")))


def test_the_request_has_the_headers_that_were_given_and_no_cookies(server):
    """Nothing is added but the host and the length, and what one client's answer set is not sent for another."""
    upstream = load("upstream", f"http:http://127.0.0.1:{server.server_address[1]}/v1")
    asked = Asked(method="POST", path="/a%2Fb?x=%20", headers=((b"x-mine", b"\xe9"),), body=b"hi")

    async def twice():
        await read(upstream, asked)
        return await read(upstream, asked)

    run(twice(), upstream)
    path, headers, body = server.got[1]
    assert (path, body) == ("/v1/a%2Fb?x=%20", b"hi")
    assert {name.lower() for name in headers} == {"host", "x-mine", "content-length"}


def test_a_connection_that_the_server_gave_up_is_not_used_again(server):
    """A server may close one that is idle; the next request goes over another one."""
    upstream = load("upstream", f"http:http://127.0.0.1:{server.server_address[1]}/v1")

    async def twice():
        await read(upstream, Asked(method="POST", path="/last", body=b"hi"))
        await asyncio.sleep(0.05)
        return await read(upstream, Asked(method="POST", path="/last", body=b"hi"))

    assert run(twice(), upstream)[0] == 418
    assert len(server.got) == 2


@pytest.mark.parametrize("url", ["", "api.openai.com/v1", "ftp://x/v1", "http://x/v1?y=1"])
def test_an_address_has_to_be_one_of_http(url):
    """Anything else is refused with an example before a request is sent."""
    with pytest.raises(ConfigError, match=r"server\.upstream"):
        load("upstream", f"http:{url}")
