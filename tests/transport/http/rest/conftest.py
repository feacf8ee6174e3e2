"""A server on an engine in memory, and clients of it, each with a user and rights of its own."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from doxa import Doxa
from doxa.core.access import RIGHTS
from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig
from doxa.engine import Keys
from doxa.transport.http import application

NUMBERS = count()
TURNS = [
    {"turn_id": "t1", "at": "2024-03-02T09:00:00Z", "text": "I live in Lisbon."},
    {"turn_id": "t2", "at": "2024-03-02T09:01:00Z", "text": "How do you like it?", "role": "assistant"},
    {"turn_id": "t3", "at": "2024-03-02T09:02:00Z", "text": "I work for Siemens."},
    {"turn_id": "t4", "at": "2024-05-18T10:00:00Z", "text": "I moved to Bonn on 18 May."},
]


class Client:
    """One user with one key. Paths are those after /v1/memory; `expect` is the status that has to come."""

    def __init__(self, app: FastAPI, key: str, user: str) -> None:
        headers = {"Authorization": f"Bearer {key}", "Doxa-User": user}
        self.http = TestClient(app, headers=headers, raise_server_exceptions=False)
        self.user = user

    def __call__(self, method: str, path: str, expect: int = 200, **how: Any) -> Any:
        answer = self.http.request(method, f"/v1/memory{path}", **how)
        assert answer.status_code == expect, answer.text
        return answer.json() if answer.content else None

    def get(self, path: str, expect: int = 200, **params: Any) -> Any:
        return self("GET", path, expect, params=params)

    def post(self, path: str, body: Any = None, expect: int = 200, **params: Any) -> Any:
        return self("POST", path, expect, json=body, params=params)

    def tell(self, *texts: str) -> list[str]:
        """Have turns told and understood, and return their ids."""
        told = self.post("/turns", {"turns": [{"text": text} for text in texts]}, 201, wait=True)
        return [receipt["turn_id"] for receipt in told["receipts"]]


@pytest.fixture(scope="session")
def doxa() -> Iterator[Doxa]:
    config = Config(
        encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), reader=ReaderConfig(name="none")
    )
    with Doxa.open(":memory:", config=config) as opened:
        yield opened


@pytest.fixture(scope="session")
def app(doxa: Doxa) -> FastAPI:
    return application(doxa)


@pytest.fixture
def make(app: FastAPI, doxa: Doxa) -> Any:
    """Makes clients: of a new user, or of one that there is, with some rights."""

    def client(user: str | None = None, rights: Any = RIGHTS) -> Client:
        user = user or f"user-{next(NUMBERS)}"
        _, secret = Keys(doxa).add(users=[user], rights=rights)
        return Client(app, secret, user)

    return client


@pytest.fixture
def client(make: Any) -> Client:
    """A client whose memory is empty."""
    return make()


@pytest.fixture(scope="session")
def told(app: FastAPI, doxa: Doxa) -> bytes:
    """A memory that knows where Ana lives and works, as a file: to read it takes less than to understand it again."""
    _, secret = Keys(doxa).add(users=["ana"], rights=RIGHTS)
    client = Client(app, secret, "ana")
    client.post("/turns", {"turns": TURNS, "speaker": "Ana"}, 201, wait=True)
    return client.http.get("/v1/memory/export").content


@pytest.fixture
def ana(make: Any, told: bytes) -> Client:
    """A client whose memory knows where Ana lives and works."""
    client: Client = make()
    client("POST", "/import", content=told)
    return client
