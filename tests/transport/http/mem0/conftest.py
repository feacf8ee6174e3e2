"""A server on a free port of this machine, and mem0's own clients to talk to it."""

import atexit
import os
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import pytest
import uvicorn

from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig, ServerConfig
from doxa.engine import Doxa, Keys
from doxa.transport.http import application

HOME = tempfile.TemporaryDirectory(prefix="mem0-")
atexit.register(HOME.cleanup)
os.environ["MEM0_TELEMETRY"] = "False"  # both are read when mem0 is imported
os.environ["MEM0_DIR"] = HOME.name

from mem0 import MemoryClient  # noqa: E402

TLS = ssl.create_default_context()
"""One for all clients: each would read all certificates of the system, and none is needed here."""
ALL = ("read", "write", "erase", "admin")


@dataclass
class Place:
    """A tenant of the server that no other test has."""

    url: str
    doxa: Doxa
    tenant: str = field(default_factory=lambda: uuid4().hex)
    clients: list[MemoryClient] = field(default_factory=list)

    def key(self, *users: str, rights: tuple[str, ...] = ALL) -> str:
        return Keys(self.doxa).add(tenant=self.tenant, users=users or ("*",), rights=rights)[1]

    def client(self, *users: str, rights: tuple[str, ...] = ALL) -> MemoryClient:
        """mem0's client with a key that opens these users, or all."""
        http = httpx.Client(verify=TLS, timeout=60)
        self.clients.append(MemoryClient(api_key=self.key(*users, rights=rights), host=self.url, client=http))
        return self.clients[-1]

    def engine(self) -> Doxa:
        return self.doxa.tenant(self.tenant)


@contextmanager
def listening(doxa: Doxa) -> Iterator[str]:
    app = application(doxa, ServerConfig())
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    started = threading.Event()
    startup = server.startup

    async def told(sockets: Any = None) -> None:
        await startup(sockets)
        started.set()

    server.startup = told
    thread.start()
    assert started.wait(20)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def served(loopback: None) -> Iterator[tuple[str, Doxa]]:
    config = Config(
        encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), reader=ReaderConfig(name="none")
    )
    with Doxa.open(":memory:", config=config) as doxa, listening(doxa) as url:
        yield url, doxa


@pytest.fixture
def place(served: tuple[str, Doxa]) -> Iterator[Place]:
    """Where a test may make keys and clients."""
    found = Place(*served)
    yield found
    for client in found.clients:
        client.client.close()


@pytest.fixture
def ana(place: Place) -> MemoryClient:
    """mem0's client, with a key that opens Ana's memory and may do everything there."""
    return place.client("ana")


@pytest.fixture
def texts() -> Callable[[dict[str, Any]], list[str]]:
    """The texts of the memories of an answer."""
    return lambda answer: [one["memory"] for one in answer["results"]]
