"""A server in this process: an engine whose models cost nothing, and a client of its application."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig, ReaderConfig, ServerConfig
from doxa.engine import Doxa, Keys
from doxa.transport.http import application


@pytest.fixture
def config():
    """Settings that read neither file nor environment."""
    return Config(
        encoder=EncoderConfig(name="hash"),
        engine=EngineConfig(settle_s=10),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
    )


@pytest.fixture
def doxa(config):
    """An engine in memory."""
    with Doxa.open(":memory:", config=config) as engine:
        yield engine


@pytest.fixture
def keys(doxa):
    """The API keys of the engine."""
    return Keys(doxa)


@pytest.fixture
def client(doxa) -> Callable[..., TestClient]:
    """A function from settings of the server, and a secret, to a client."""
    entered = []

    def opened(secret: str | None = None, user: str | None = None, **settings: Any) -> TestClient:
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        headers |= {"Doxa-User": user} if user else {}
        app = application(doxa, ServerConfig(**settings))
        one = TestClient(app, "http://localhost", headers=headers, raise_server_exceptions=False)
        entered.append(one.__enter__())
        return one

    yield opened
    for one in entered:
        one.__exit__(None, None, None)


@pytest.fixture
def ana(client, keys):
    """A client with every right on the memory of ana."""
    _, secret = keys.add(users=["ana"], rights=["read", "write", "erase", "admin"])
    return client(secret)
