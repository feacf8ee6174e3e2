"""An inspector in this process: an engine whose models cost nothing, and a browser without a script."""

import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient

from doxa.core.config import Config, EncoderConfig, EngineConfig, GraderConfig, ReaderConfig, ServerConfig
from doxa.core.values import Claim, Relation, Term, Turn
from doxa.engine import Doxa, Keys
from doxa.memory import Maintained
from doxa.revise import revise
from doxa.transport.http import application
from doxa.transport.http.serving import _Server

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "\u202eevil\u202c",
    "a\x00b\x07c",
)
"""What somebody may say or be called, and a page must not take for anything but text."""


@pytest.fixture(scope="module")
def engine() -> Iterator[Doxa]:
    config = Config(
        encoder=EncoderConfig(name="hash"),
        engine=EngineConfig(settle_s=10),
        grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"),
        user="ana",
    )
    with Doxa.open(":memory:", config=config) as engine:
        yield engine


@pytest.fixture
def doxa(engine) -> Iterator[Doxa]:
    """An engine that remembers nothing; it is one for all tests of a file, since reading a first turn takes long."""
    yield engine
    for user in engine.users():
        engine.memory(user=user).forget(everything=True)
    for key in Keys(engine).list():
        Keys(engine).revoke(key.key_id)


@pytest.fixture
def told(doxa) -> Callable[..., None]:
    """A function that has the memory of ana take turns in."""

    def tell(*texts: str, user: str = "ana", **more: Any) -> None:
        for text in texts:
            doxa.dialogue(user=user).absorb(text, **more)
        doxa.dialogue(user=user).flush()

    return tell


class Understood:
    """The memory of ana, by what is said, without anybody reading it; a day passes with every turn."""

    def __init__(self, doxa: Doxa) -> None:
        self.log, self.days = doxa.parts.log, 0

    def __call__(
        self,
        subject: str,
        relation: str,
        thing: str,
        *,
        by: str = "Ana",
        role: str = "user",
        days: int = 1,
        **more: Any,
    ) -> None:
        """Have somebody say one thing: "Bruno", "lives_in", "Porto"."""
        label = relation.replace("_", " ")
        span = f"{subject} {label} {thing}."
        self.days += days
        at = datetime(2024, 1, 1, 9, tzinfo=UTC) + timedelta(days=self.days)
        turn = Turn(turn_id="", user="ana", session="s", speaker=by, role=role, text=f"Well. {span}", at=at)
        stored, _ = self.log.receive(turn)
        terms = [Term(name.casefold(), name) for name in (subject, thing)]
        claim = Claim(
            subject=terms[0], relation=Relation(relation, label), object=terms[1], span=span, turn_id=stored.turn_id,
            speaker=by, role=role, known_at=at, **more,
        )  # fmt: skip
        with self.log.user("ana") as state:
            changes = revise([claim], state.beliefs, turn_id=stored.turn_id, known_at=at)
            self.log.append("ana", state, Maintained(known_at=at, about=stored, claims=[claim], changes=changes))


@pytest.fixture
def understood(doxa) -> Understood:
    """A function that has somebody say one thing, as it was understood."""
    return Understood(doxa)


class Browser(TestClient):
    """What a person does at a page: look, and send its forms."""

    def page(self, path: str, **parameters: Any) -> str:
        """Return the page behind `/inspect/`; it has to be there."""
        response = self.get(f"/inspect/{path}", params=parameters)
        assert response.status_code == 200, response.text
        return response.text

    def submit(self, path: str, **fields: Any) -> Any:
        """Send a form as a page of ours does, and return what it leads to."""
        token = re.search(r'X-Doxa-Form": "(\w+)"', self.get("/inspect/enter").text)[1]
        return self.post(f"/inspect/{path}", data={"token": token, "back": "/inspect/now", **fields})


@pytest.fixture
def browser(doxa) -> Callable[..., Browser]:
    """A function from settings of the server to a browser; without any, nobody needs a key."""

    def open_(**settings: Any) -> Browser:  # not entered: what starts with the server, MCP's tools, no page needs
        app = application(doxa, ServerConfig(**(settings or {"open": True})))
        return Browser(app, "http://localhost", raise_server_exceptions=False)

    return open_


@pytest.fixture
def ana(browser) -> Browser:
    """A browser at a server that needs no key; the memory is that of ana."""
    return browser()


@pytest.fixture
def keys(doxa):
    """The API keys of the engine."""
    return Keys(doxa)


class Serving:
    """A server on a free port of this machine, which is stopped as `doxa serve` is."""

    def __init__(self, app: Any) -> None:
        config = uvicorn.Config(app, port=0, log_config=None, ws="none", lifespan="on", timeout_graceful_shutdown=20)
        started, found = threading.Event(), []
        self.app = app
        self._server = _Server(config, lambda at: (found.append(at), started.set()), app.state.served.stopping)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        assert started.wait(20)
        self.url = found[0]

    def stop(self) -> None:
        """Stop it, and wait until it has."""
        self._server.should_exit = True
        self._thread.join(20)
        assert not self._thread.is_alive()


@pytest.fixture
def serving(doxa, loopback) -> Iterator[Callable[..., Serving]]:
    """A function from settings of the server to one that runs; without any, nobody needs a key."""
    running = []

    def serve(**settings: Any) -> Serving:
        running.append(Serving(application(doxa, ServerConfig(**(settings or {"open": True})))))
        return running[-1]

    yield serve
    for one in running:
        one.stop()
