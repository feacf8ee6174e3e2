"""A server that answers as OpenAI's does and keeps what it was sent, and a proxy in front of it, both on loopback."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
    """An answer: pieces are sent one by one in chunks, `None` breaks the connection; a text is sent with its length."""

    body: bytes | list[bytes | None | float] = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


class StandIn:
    """An upstream; `play` says what it answers to whom."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self.hung_up = threading.Event()
        self.play: Callable[[Sent], Played] = lambda sent: Played(chat("Hello."))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

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

            def _pieces(self, pieces: list[bytes | None | float]) -> None:
                try:
                    for piece in pieces:
                        if piece is None:
                            self.connection.shutdown(socket.SHUT_RDWR)
                            self.close_connection = True
                            return
                        if isinstance(piece, float):
                            time.sleep(piece)
                            continue
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                        self.wfile.flush()
                    self.wfile.write(b"0\r\n\r\n")
                except OSError:
                    self.close_connection = True
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


def sse(*events: dict[str, Any] | str, named: bool = False) -> list[bytes | None | float]:
    """Return events as they are streamed."""
    pieces: list[bytes | None | float] = []
    for event in events:
        data = event if isinstance(event, str) else json.dumps(event)
        head = f"event: {event['type']}\n" if named and not isinstance(event, str) else ""
        pieces.append(f"{head}data: {data}\n\n".encode())
    return pieces


def chunks(*texts: str, **more: Any) -> list[bytes | None | float]:
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

    def __init__(self, doxa: Doxa, url: str, upstream: StandIn | None, key: str) -> None:
        self.doxa = doxa
        self.url = url
        self.upstream = upstream
        self.key = key
        self._clients: list[openai.OpenAI] = []

    def client(self, *, user: str | None = "ana", session: str | None = "s1", **options: Any) -> openai.OpenAI:
        """Return a client of the proxy with Doxa's key beside its own."""
        headers = {"Doxa-Key": self.key, "Doxa-User": user, "Doxa-Session": session}
        kept = {name: value for name, value in headers.items() if value is not None}
        return self._made(base_url=self.url, default_headers=kept | options.pop("headers", {}), **options)

    def direct(self, **options: Any) -> openai.OpenAI:
        """Return a client of the upstream."""
        assert self.upstream is not None
        return self._made(base_url=self.upstream.url, **options)

    def turns(self, user: str = "ana") -> list[tuple[str, str, str]]:
        """Return what is remembered: role, speaker and text."""
        self.settle(user)
        with self.doxa.parts.log.user(user) as state:
            return [(turn.role, turn.speaker, turn.text) for turn in state.turns.values()]

    def settle(self, user: str = "ana") -> None:
        """Wait until what was said is understood."""
        self.doxa.dialogue(user=user).flush()

    def remembered(self, count: int, user: str = "ana") -> list[tuple[str, str, str]]:
        """Return what is remembered as soon as there are so many turns: a reply is stored when the client has it."""
        deadline = time.monotonic() + 5
        while len(found := self.turns(user)) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(found) == count, found
        return found

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def _made(self, **options: Any) -> openai.OpenAI:
        client = openai.OpenAI(**{"api_key": OWN_KEY, "max_retries": 0, "timeout": 10.0, **options})
        self._clients.append(client)
        return client


@pytest.fixture
def upstream(loopback: None) -> Iterator[StandIn]:
    """An upstream on this machine."""
    stand_in = StandIn()
    yield stand_in
    stand_in.close()


@pytest.fixture
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
def fronted(engine: Doxa, upstream: StandIn | None, **settings: Any) -> Iterator[Front]:
    """Give a proxy on an engine."""
    _, key = Keys(engine).add(rights=("read", "write", "erase"))
    address = {"upstream": upstream.url, "upstream_key": UPSTREAM_KEY} if upstream else {}
    with serving(engine, ServerConfig.model_validate({**address, **settings})) as url:
        front = Front(engine, url, upstream, key)
        yield front
        front.close()


@pytest.fixture
def front(engine: Doxa, upstream: StandIn) -> Iterator[Front]:
    """A proxy in front of an upstream."""
    with fronted(engine, upstream) as found:
        yield found


@pytest.fixture
def alone(engine: Doxa, loopback: None) -> Iterator[Front]:
    """A server without an upstream."""
    with fronted(engine, None) as found:
        yield found
