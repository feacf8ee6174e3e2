"""MCP servers on engines in memory, and the SDK's own client: in this process, over HTTP and over stdio."""

import threading
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitResult

from doxa.core.access import RIGHTS, Scope
from doxa.core.config import Config, EncoderConfig, GraderConfig, NliConfig, ReaderConfig, ServerConfig
from doxa.engine import Doxa
from doxa.transport.http import application
from doxa.transport.http.access import Room
from doxa.transport.http.serving import _Server
from doxa.transport.mcp.server import server

MODES = pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["sessions", "stateless"])
"""The revisions up to 2025-11-25, with a handshake and sessions; and 2026-07-28, without either."""


def settings(policy: str = "recency", **server: Any) -> Config:
    """Return settings under which no model is loaded."""
    return Config(
        encoder=EncoderConfig(name="hash"),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
        nli=NliConfig(name="none"),
        revise={"policy": policy},
        server=ServerConfig(**server),
    )


@pytest.fixture(scope="module")
def policy() -> str:
    """What becomes of contradictions."""
    return "recency"


@pytest.fixture(scope="module")
def engine(policy) -> Iterator[Doxa]:
    with Doxa.open(":memory:", config=settings(policy)) as engine:
        yield engine


@pytest.fixture
def doxa(engine) -> Iterator[Doxa]:
    """An engine that remembers nothing; it is one for all tests of a file, since reading a first turn takes long."""
    yield engine
    for user in engine.users():
        engine.memory(user=user).forget(everything=True)


class Host:
    """A client with a memory behind it; `asked` are the questions that its user was put."""

    def __init__(self, client: Client, asked: list[str]) -> None:
        self.client = client
        self.asked = asked

    async def result(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool and return what it gives, which its schema was held against."""
        done = await self.result(tool, **arguments)
        assert not done.is_error, done.content
        return done.structured_content

    async def fails(self, tool: str, **arguments: Any) -> str:
        """Call a tool that cannot do what is asked, and return what it says."""
        done = await self.result(tool, **arguments)
        assert done.is_error, done.content
        return done.content[0].text


Answer = Callable[[Any], ElicitResult]


def accept(**content: Any) -> Answer:
    return lambda _: ElicitResult(action="accept", content=content)


def decline(_: Any) -> ElicitResult:
    return ElicitResult(action="decline")


@asynccontextmanager
async def connected(target: Any, mode: str, answer: Answer | None = None, **options: Any):
    """Yield a host on a server, an address or a transport; without `answer` its user cannot be asked."""
    asked: list[str] = []

    async def elicited(_: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return answer(params)

    callback = elicited if answer else None
    async with Client(target, mode=mode, elicitation_callback=callback, **options) as client:
        yield Host(client, asked)


def room(doxa: Doxa, user: str = "ana", rights: tuple[str, ...] = RIGHTS) -> Room:
    return Room(Scope(tenant="default", user=user, rights=rights, key_id="test"), doxa)


@pytest.fixture
def play(doxa) -> Callable[..., Any]:
    """Run an asynchronous test on a server in this process: `play(test, mode, profile=..., rights=..., answer=...)`."""

    def played(
        test: Callable[[Host], Any],
        mode: str = "auto",
        profile: str = "doxa",
        rights: tuple[str, ...] = RIGHTS,
        answer: Answer | None = None,
        user: str = "ana",
    ) -> None:
        async def run() -> None:
            made = server(profile, lambda _: room(doxa, user, rights))
            async with connected(made, mode, answer) as host:
                await test(host)

        anyio.run(run)

    return played


@contextmanager
def listening(app: FastAPI) -> Iterator[str]:
    """Serve an application on a free port of this machine, as `doxa serve` does, and yield its address."""
    config = uvicorn.Config(app, port=0, log_config=None, ws="none", lifespan="on", timeout_graceful_shutdown=20)
    started, address = threading.Event(), []
    running = _Server(config, lambda at: (address.append(at), started.set()), app.state.served.stopping)
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        assert started.wait(20)
        yield address[0]
    finally:
        running.should_exit = True
        thread.join()


@pytest.fixture
def served(doxa, loopback) -> Iterator[str]:
    """The address of a server that wants keys."""
    with listening(application(doxa)) as address:
        yield address


@asynccontextmanager
async def over_http(address: str, secret: str, mode: str, answer: Answer | None = None, **options: Any):
    """Yield a host on a server that is reached over HTTP with an API key."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        connected(streamable_http_client(address, http_client=http), mode, answer, **options) as host,
    ):
        yield host
