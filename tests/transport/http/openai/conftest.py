"""A server that answers as OpenAI's does and keeps what it was sent, and a proxy in front of it, both on loopback."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import choices
from string import ascii_lowercase
from typing import Any

import httpx2
import openai
import pytest
import uvicorn

from doxa.core.config import Config, EncoderConfig, GraderConfig, NliConfig, ReaderConfig, ServerConfig
from doxa.engine import Doxa, Keys
from doxa.transport.http import application

OWN_KEY = "sk-the-clients-own"
UPSTREAM_KEY = "sk-of-the-operator"


@dataclass
class Sent:
    """A request as it reached the upstream."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass
class Played:
    """An answer: bytes are sent with their length, pieces one by one in chunks; `None` breaks the connection."""

    body: bytes | Iterable[bytes | None] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


class StandIn:
    """An upstream; `play` says what it answers to whom."""

    def __init__(self) -> None:
        self.reset()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def reset(self) -> None:
        """Forget what was sent, and answer "Hello."."""
        self.sent: list[Sent] = []
        self.hung_up = threading.Event()
        self.play: Callable[[Sent], Played] = lambda sent: Played(chat("Hello."))

    def close(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()

    def _handler(stand_in: "StandIn") -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 10

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                sent = Sent(self.command, self.path, list(self.headers.items()), body)
                stand_in.sent.append(sent)
                played = stand_in.play(sent)
                self.send_response(played.status)
                for name, value in played.headers.items():
                    self.send_header(name, value)
                if isinstance(played.body, bytes):
                    self.send_header("content-length", str(len(played.body)))
                    self.end_headers()
                    self.wfile.write(played.body)
                    return
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                self._pieces(played.body)

            def _pieces(self, pieces: Iterable[bytes | None]) -> None:
                try:
                    for piece in pieces:
                        if piece is None:
                            self.connection.shutdown(socket.SHUT_RDWR)
                            self.close_connection = True
                            return
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                        self.wfile.flush()
                    self.wfile.write(b"0\r\n\r\n")
                except OSError:
                    self.close_connection = True
                    stand_in.hung_up.set()

            def handle(self) -> None:
                try:
                    super().handle()
                except OSError:
                    stand_in.hung_up.set()

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *args: object) -> None:
                pass

        return Handler


def chat(text: str | None, **more: Any) -> bytes:
    """Return a chat completion with fields that the SDK knows and one that it does not."""
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": [], **more.pop("message", {})}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    data = {
        "id": "chatcmpl-Bq1",
        "object": "chat.completion",
        "created": 1764130000,
        "model": "gpt-test-2026",
        "choices": [choice],
        "usage": {
            "prompt_tokens": 19,
            "completion_tokens": 10,
            "total_tokens": 29,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": "fp_0a",
        "field_of_next_year": {"x": [1.0, 2e3]},
        **more,
    }
    return json.dumps(data, indent=1).encode()


def sse(*events: dict[str, Any] | str, named: bool = False) -> list[bytes | None]:
    """Return events as they are streamed."""
    pieces: list[bytes | None] = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        head = f"event: {event['type']}\n" if named and not isinstance(event, str) else ""
        pieces.append(f"{head}data: {data}\n\n".encode())
    return pieces


def chunks(*texts: str, **more: Any) -> list[bytes | None]:
    """Return a chat completion as it is streamed."""
    shared = {"id": "chatcmpl-Bq2", "object": "chat.completion.chunk", "created": 1764130001, "model": "gpt-test-2026"}
    told = [{"role": "assistant", "content": ""}, *({"content": text} for text in texts)]
    deltas = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} for delta in told]
    last = {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}
    return sse(*({**shared, "choices": [one], "obfuscation": "xq", **more} for one in [*deltas, last]), "[DONE]")


STREAM = {"content-type": "text/event-stream; charset=utf-8", "x-request-id": "req_stream"}


@contextmanager
def serving(doxa: Doxa, settings: ServerConfig) -> Iterator[str]:
    """Give the address of a server on an engine."""
    config = uvicorn.Config(
        application(doxa, settings), host="127.0.0.1", port=0, log_config=None, access_log=False, server_header=False,
        timeout_graceful_shutdown=2, lifespan="on",
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started:
        assert thread.is_alive() and time.monotonic() < deadline, "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/openai/v1"
    server.should_exit = True
    thread.join(10)


class Front:
    """A proxy with what stands behind it, and clients of both."""

    def __init__(self, doxa: Doxa, url: str, upstream: StandIn | None, key: str, http: httpx2.Client) -> None:
        self.user = f"ana{''.join(choices(ascii_lowercase, k=12))}"
        self.name = self.user.capitalize()
        self.doxa = doxa
        self.url = url
        self.upstream = upstream
        self.key = key
        self.http = http

    def client(self, *, user: str | None = "", session: str | None = "s1", **options: Any) -> openai.OpenAI:
        """Return a client of the proxy with Doxa's key beside its own, by default for the user of the test."""
        headers = {"Doxa-Key": self.key, "Doxa-User": self.user if user == "" else user, "Doxa-Session": session}
        kept = {name: value for name, value in headers.items() if value is not None}
        return self._made(base_url=self.url, default_headers=kept | options.pop("headers", {}), **options)

    def direct(self, **options: Any) -> openai.OpenAI:
        """Return a client of the upstream."""
        assert self.upstream is not None
        return self._made(base_url=self.upstream.url, **options)

    def turns(self, user: str | None = None) -> list[tuple[str, str, str]]:
        """Return what is remembered: role, speaker and text."""
        self.settle(user)
        with self.doxa.parts.log.user(user or self.user) as state:
            return [(turn.role, turn.speaker, turn.text) for turn in state.turns.values()]

    def settle(self, user: str | None = None) -> None:
        """Wait until what was said is understood."""
        self.doxa.dialogue(user=user or self.user).flush()

    def remembered(self, count: int, user: str | None = None) -> list[tuple[str, str, str]]:
        """Return what is remembered as soon as there are so many turns: a reply is stored when the client has it."""
        self.until(lambda: len(self.turns(user)) >= count)
        found = self.turns(user)
        assert len(found) == count, found
        return found

    def until(self, done: Callable[[], bool]) -> None:
        """Wait for what happens when the client has its answer."""
        deadline = time.monotonic() + 20
        while not done():
            assert time.monotonic() < deadline, "what was waited for did not happen"
            time.sleep(0.01)

    def another(self) -> "Front":
        """Return the same for another user."""
        return Front(self.doxa, self.url, self.upstream, self.key, self.http)

    def post(self, path: str, body: Any, **headers: str) -> httpx2.Response:
        """Return the answer to a request that is no SDK's; underscores in the names of headers stand for hyphens."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(f"{self.url}/{path}", content=content, headers=given)

    def _made(self, **options: Any) -> openai.OpenAI:
        settings = {"api_key": OWN_KEY, "max_retries": 0, "timeout": 10.0, "http_client": self.http}
        return openai.OpenAI(**{**settings, **options})


@pytest.fixture(scope="session")
def upstream(loopback: None) -> Iterator[StandIn]:
    """An upstream on this machine."""
    stand_in = StandIn()
    yield stand_in
    stand_in.close()


@pytest.fixture(scope="session")
def engine() -> Iterator[Doxa]:
    """An engine in memory with small parts."""
    config = Config(
        encoder=EncoderConfig(name="hash"),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
        nli=NliConfig(name="none"),
    )
    with Doxa.open(":memory:", config=config) as doxa:
        yield doxa


@contextmanager
def fronted(engine: Doxa, stand_in: StandIn | None, **settings: Any) -> Iterator[Front]:
    """Give a proxy on an engine."""
    _, key = Keys(engine).add(rights=("read", "write", "erase"))
    address = {"upstream": stand_in.url, "upstream_key": UPSTREAM_KEY} if stand_in else {}
    with (
        serving(engine, ServerConfig.model_validate({**address, **settings})) as url,
        httpx2.Client(timeout=10) as http,
    ):
        yield Front(engine, url, stand_in, key, http)


@pytest.fixture(scope="session")
def relaying(engine: Doxa, upstream: StandIn) -> Iterator[Front]:
    """A proxy in front of an upstream, for all tests."""
    with fronted(engine, upstream) as found:
        yield found


@pytest.fixture
def front(relaying: Front) -> Front:
    """A proxy in front of an upstream, with a user of its own."""
    assert relaying.upstream is not None
    relaying.upstream.reset()
    return relaying.another()


@pytest.fixture(scope="session")
def answering(engine: Doxa, loopback: None) -> Iterator[Front]:
    """A server without an upstream, for all tests."""
    with fronted(engine, None) as found:
        yield found


@pytest.fixture
def alone(answering: Front) -> Front:
    """A server without an upstream, with a user of its own."""
    return answering.another()


@pytest.fixture(scope="session")
def front_of() -> Callable[..., Any]:
    """Gives a proxy with settings of its own: `with front_of(engine, upstream, verify="block") as front`."""
    return fronted


def response(key: str, text: str, **more: Any) -> dict[str, Any]:
    """Return a response."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    message = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    return {
        "id": key,
        "object": "response",
        "created_at": 1764130000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "gpt-test-2026",
        "output": [message],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "of_next_year": {"x": 1},
        **more,
    }


class Answers:
    """What an upstream may answer."""

    response = staticmethod(response)

    STREAM = STREAM
    chat = staticmethod(chat)
    chunks = staticmethod(chunks)
    sse = staticmethod(sse)

    @staticmethod
    def reply(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Played:
        """Return an answer; it is JSON where its headers do not say otherwise."""
        return Played(body, status, {"content-type": "application/json", **(headers or {})})


@pytest.fixture
def played() -> type[Answers]:
    """What the upstream may answer."""
    return Answers
