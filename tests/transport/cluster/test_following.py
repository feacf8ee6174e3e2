"""Whose a request is, as the proxies of a cluster tell: without Ray, and held against what the server itself finds."""

import asyncio
import json
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from doxa.core.access import pseudonym
from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig, ServerConfig
from doxa.engine import Doxa, Handle, Keys
from doxa.transport.cluster.following import Following
from doxa.transport.cluster.names import SHARD_HEADER
from doxa.transport.cluster.replica import Replica

KEY = "doxa_000000000000_" + "k" * 43


class Asked:
    """Says whose every key is, and counts how often it was asked."""

    def __init__(self, tenant: str = "default", only: str = "", otherwise: str = "") -> None:
        self.holder = (tenant, only, otherwise)
        self.times = 0

    async def __call__(self, secret: str) -> tuple[str, str, str]:
        self.times += 1
        return self.holder


class Behind:
    """The application behind the middleware: keeps what reached it."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.body = b""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.headers = {key.decode(): value.decode() for key, value in scope["headers"]}
        self.body, more = b"", True
        while more:
            message = await receive()
            self.body += message.get("body", b"")
            more = message.get("more_body", False)


def passed(
    asked: Any, path: str, *, method: str = "GET", body: object = b"", pieces: int = 1, **headers: str
) -> tuple[str, Behind]:
    """Return the shard with which a request went on, empty where it had none, and what it was behind the middleware."""
    path, _, query = path.partition("?")
    behind = Behind()
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    size = max(1, -(-len(sent) // pieces))
    parts = [sent[start : start + size] for start in range(0, len(sent), size)] or [b""]
    messages = iter(
        {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
        for number, part in enumerate(parts)
    )

    async def receive() -> Any:
        return next(messages)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [
            (name.replace("_", "-").lower().encode(), value.encode())
            for name, value in ({"authorization": f"Bearer {KEY}", "host": "localhost"} | headers).items()
        ],
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 5),
        "scheme": "http",
    }
    asyncio.run(Following(behind, asked)(scope, receive, receive))
    return behind.headers.get(SHARD_HEADER, ""), behind


def of(user: str, tenant: str = "default") -> str:
    return pseudonym(f"{tenant}/{user}")


FACT = str(Handle("ana", "fact", "f1"))
NAMED = {
    "the header": ("GET", "/v1/memory/facts", b"", {"doxa_user": "ana"}),
    "the header before the body": ("POST", "/openai/v1/responses", {"user": "bo"}, {"doxa_user": "ana"}),
    "OpenAI's user": ("POST", "/openai/v1/chat/completions", {"user": "ana", "messages": []}, {}),
    "OpenAI's safety identifier": ("POST", "/openai/v1/responses", {"safety_identifier": "ana"}, {}),
    "OpenAI's metadata": ("POST", "/openai/v1/responses", {"metadata": {"user": "ana"}}, {}),
    "mem0's field": ("POST", "/v3/memories/add/", {"messages": "Hi.", "user_id": "ana"}, {}),
    "mem0's filter": (
        "POST",
        "/v3/memories/search/",
        {"query": "city", "filters": {"AND": [{"run_id": "1"}, {"user_id": "ana"}]}},
        {},
    ),
    "mem0's parameter": ("DELETE", "/v1/memories/?user_id=ana", b"", {}),
    "mem0's path": ("DELETE", "/v2/entities/user/ana/", b"", {}),
    "mem0's id": ("GET", f"/v1/memories/{FACT}/history/", b"", {}),
    "a page of the inspector": ("GET", "/inspect/now?user=ana", b"", {}),
}


@pytest.mark.parametrize(("method", "path", "body", "headers"), NAMED.values(), ids=NAMED)
def test_the_user_is_found_where_a_protocol_names_them(method, path, body, headers):
    shard, behind = passed(Asked(), path, method=method, body=body, **headers)
    assert shard == of("ana")
    assert behind.body == (body if isinstance(body, bytes) else json.dumps(body).encode())


def test_a_key_of_one_user_names_them_and_the_tenant_counts():
    assert passed(Asked("acme", "ana"), "/v1/memory/facts")[0] == of("ana", "acme")
    assert passed(Asked("acme", "ana"), "/openai/v1/responses", method="POST", body={"user": "bo"})[0] == of(
        "ana", "acme"
    )


def test_an_open_server_means_its_own_user_where_nobody_is_named():
    assert passed(Asked(otherwise="me"), "/v1/memory/facts")[0] == of("me")
    assert passed(Asked(otherwise="me"), "/openai/v1/responses", method="POST", body={"user": "bo"})[0] == of("bo")


def test_a_body_is_passed_on_whole_in_whatever_pieces_it_came():
    body = {"user": "ana", "input": "x" * 100_000}
    shard, behind = passed(Asked(), "/openai/v1/responses", method="POST", body=body, pieces=9)
    assert shard == of("ana")
    assert json.loads(behind.body) == body


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff", b'{"user": 3, "metadata": "x"}', b'{"filters": [[[]]]}'])
def test_a_body_that_names_nobody_goes_to_any_replica(body):
    shard, behind = passed(Asked(), "/openai/v1/responses", method="POST", body=body)
    assert (shard, behind.body) == ("", body)
    assert passed(Asked(), "/v1/memories/", method="POST", body=body)[0] == ""


def test_clients_cannot_choose_their_shard():
    assert passed(Asked(), "/v1/memory/facts", doxa_shard="mine")[0] == ""
    assert passed(Asked(), "/v1/memory/facts", doxa_shard="mine", doxa_user="ana")[0] == of("ana")


def test_a_key_that_nobody_knows_goes_to_any_replica_and_so_does_everything_while_none_answers():
    async def silent(secret: str) -> tuple[str, str, str]:
        raise RuntimeError("no replica")

    assert passed(Asked(tenant=""), "/v1/memory/facts", doxa_user="ana")[0] == ""
    assert passed(silent, "/v1/memory/facts", doxa_user="ana")[0] == ""


def test_replicas_are_asked_once_for_a_key():
    asked, behind = Asked(), Behind()
    following = Following(behind, asked)

    async def twice() -> None:
        for secret in ("a", "b", "a", "b"):
            await following._holder(secret)

    asyncio.run(twice())
    assert asked.times == 2


@pytest.fixture
def config():
    """Settings whose models cost nothing."""
    return Config(
        db=":memory:", encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"),
        reader=ReaderConfig(name="none"), server=ServerConfig(drain_s=0.0),
    )  # fmt: skip


def test_what_a_replica_says_of_keys_is_what_they_open(config):
    replica = Replica(config, "r1")
    keys = Keys(replica._doxa)
    assert replica.whose(keys.add(users=["ana"])[1]) == ("default", "ana", "")
    assert replica.whose(keys.add(users=["ana", "bo"])[1]) == ("default", "", "")
    assert replica.whose(keys.add(tenant="acme")[1]) == ("acme", "", "")
    assert replica.whose("") == replica.whose(KEY) == ("", "", "")
    replica.__del__()


def test_a_replica_of_an_open_server_names_the_user_of_the_settings(config):
    replica = Replica(config.model_copy(update={"user": "me", "server": ServerConfig(open=True, drain_s=0.0)}), "r1")
    assert replica.whose("") == ("default", "", "me")
    replica.__del__()


def test_the_shard_is_that_of_the_user_whom_the_server_finds(config):
    """The same requests through the real application: the user of its rooms has the shard that the middleware chose."""
    from fastapi.testclient import TestClient

    from doxa.transport.http import application

    with Doxa.open(":memory:", config=config) as doxa:
        _, secret = Keys(doxa).add(rights=["read", "write", "erase", "admin"])
        app = application(doxa)
        gate, found = app.state.served.gate, []
        room = gate.room

        def noted(connection: HTTPConnection, *given: Any, **named: Any) -> Any:
            opened = room(connection, *given, **named)
            found.append(opened.scope.user)
            return opened

        gate.room = noted
        with TestClient(app, headers={"Authorization": f"Bearer {secret}"}) as client:
            for method, path, body, headers in NAMED.values():
                found.clear()
                sent = {"content": body} if isinstance(body, bytes) else {"json": body}
                if path.startswith("/inspect"):
                    client.cookies.set("doxa_key", secret, path="/inspect")
                client.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()}, **sent)
                assert found
                assert set(found) == {"ana"}, path
