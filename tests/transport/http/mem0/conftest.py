"""A server on a free port of this machine, and mem0's own clients to talk to it."""

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import uvicorn
from doxa.core.config import Config, EncoderConfig, LexiconConfig, ReaderConfig, ServerConfig
from doxa.engine import Doxa, Keys
from doxa.transport.http import application

os.environ["MEM0_TELEMETRY"] = "False"  # both are read when mem0 is imported
os.environ["MEM0_DIR"] = tempfile.mkdtemp(prefix="mem0-")


@dataclass
class Server:
    """A server that listens, and the engine behind it."""

    url: str
    doxa: Doxa

    def key(self, *users: str, rights: tuple[str, ...] = ("read", "write", "erase", "admin"), **more: object) -> str:
        """Make a key; without users it opens all."""
        return Keys(self.doxa).add(users=users or ("*",), rights=rights, **more)[1]


@contextmanager
def listening(doxa: Doxa, settings: ServerConfig) -> Iterator[str]:
    config = uvicorn.Config(application(doxa, settings), host="127.0.0.1", port=0, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    started = threading.Event()
    startup = server.startup

    async def told(sockets=None):
        await startup(sockets)
        started.set()

    server.startup = told
    thread.start()
    assert started.wait(20)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(20)
    assert not thread.is_alive()


@pytest.fixture(scope="package")
def server(loopback: None) -> Iterator[Server]:
    """One server for all tests; each has users of its own."""
    config = Config(
        encoder=EncoderConfig(name="hash"), reader=ReaderConfig(name="none"), lexicon=LexiconConfig(name="none")
    )
    with Doxa.open(":memory:", config=config) as doxa, listening(doxa, ServerConfig()) as url:
        yield Server(url, doxa)


@pytest.fixture
def client(server: Server, user: str) -> Iterator[object]:
    """mem0's client, with a key that opens one user."""
    yield from _client(server, server.key(user))


@pytest.fixture
def client_of(server: Server) -> Iterator[Callable[[str], object]]:
    """Makes mem0's clients for keys."""
    from mem0 import MemoryClient

    made = []

    def make(key: str) -> MemoryClient:
        made.append(MemoryClient(api_key=key, host=server.url))
        return made[-1]

    yield make
    for one in made:
        one.client.close()


def _client(server: Server, key: str) -> Iterator[object]:
    from mem0 import MemoryClient

    client = MemoryClient(api_key=key, host=server.url)
    yield client
    client.client.close()


@pytest.fixture
def user(request: pytest.FixtureRequest) -> str:
    """A user whom no other test has."""
    from uuid import uuid4

    return f"ana-{uuid4().hex[:8]}"
