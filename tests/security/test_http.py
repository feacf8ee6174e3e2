"""Attacks on the server: paths, other sites, keys, and what it tells of itself."""

import hmac
import logging
import re

import anyio
import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request

from doxa.core.config import Config, LLMConfig, ServerConfig
from doxa.engine import Doxa, Keys
from doxa.engine.api import keys as keyring
from doxa.transport.checkup import checked
from doxa.transport.http import application
from doxa.transport.inspector.assets import give

from .conftest import light

SECRET = "sk-lantern-9b1d"
WORD = "Qvorrimax"
PATHS = [
    "../../../../etc/passwd", "..%2f..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/entry.py", "....//....//entry.py",
    "..\\..\\entry.py", "/etc/passwd", "vendor/../../entry.py", "%00", "\0", "C:/Windows/win.ini", "", ".", "..",
    "file:///etc/passwd", "\u2025/entry.py", "%c0%ae%c0%ae/entry.py", "__init__.py",
]  # fmt: skip


@pytest.fixture
def served(doxa, client, secret_for):
    """A client of ana's, with a turn in her memory."""
    doxa.dialogue(user="ana").absorb(f"I live in {WORD}.", turn_id="t1")
    doxa.flush()
    return client(doxa, secret_for(doxa, "ana"))


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_out_of_the_files_of_the_pages(path):
    """A request finds one of the files by its whole name, or nothing; clients mend such paths, so none is asked."""
    for name in (path, f"vendor/{path}"):
        request = Request({"type": "http", "headers": [], "path_params": {"name": name}})
        with pytest.raises(HTTPException, match="no such file"):
            anyio.run(give, request)


@pytest.mark.parametrize(
    ("headers", "let_in"),
    [
        ({}, True),
        ({"Host": "localhost:8000"}, True),
        ({"Host": "evil.example"}, False),
        ({"Host": "localhost.evil.example"}, False),
        ({"Host": "127.0.0.1.evil.example"}, False),
        ({"Host": "localhost@evil.example"}, False),
        ({"Host": ""}, False),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "http://localhost.evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": "http://localhost:3000"}, True),
        ({"X-Forwarded-Host": "evil.example"}, True),
    ],
)
def test_a_server_without_keys_answers_this_machine_alone(doxa, client, headers, let_in):
    """A name that was made to lead here, or a page of elsewhere, reads and changes nothing."""
    http = client(doxa, open=True)
    assert (http.get("/v1/memory/turns", headers=headers).status_code == 200) is let_in
    assert (http.get("/inspect", headers=headers).status_code in (200, 303)) is let_in
    http.post("/v1/memory/turns", json={"turns": [{"text": "I am here."}]}, headers=headers)
    assert bool(doxa.users()) is let_in


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example"])
def test_no_page_of_elsewhere_is_told_anything_by_a_browser(served, origin):
    """Without `server.cors` no answer lets another origin read it, and no preflight is granted."""
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "Doxa-Key"}
    answers = [served.get("/v1/memory/turns", headers={"Origin": origin})]
    answers += [
        served.options(path, headers=asked) for path in ("/v1/memory/turns", "/mcp", "/inspect", "/v1/memories/")
    ]
    assert not [one for one in answers if "access-control-allow-origin" in one.headers]


@pytest.mark.parametrize("path", ["/inspect/forget", "/inspect/leave", "/inspect/enter", "/inspect/correct"])
def test_a_form_of_another_site_changes_nothing(served, doxa, path):
    """Whatever it claims to be."""
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {}):
        answer = served.post(path, data={"everything": "yes", "user": "ana", "token": "x" * 64}, headers=headers)
        assert answer.status_code in (303, 400, 401, 403, 404, 405, 422)
    assert [turn.turn_id for turn in doxa.memory(user="ana").turns()] == ["t1"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/memory/turns", b'{"turns": [{"text": "' + b"x" * 40_000 + b'"}]}'),
        ("/v2/memories/search/", b'{"query": "' + b"x" * 40_000 + b'"}'),
        ("/openai/v1/chat/completions", b'{"messages": [{"role": "user", "content": "' + b"x" * 40_000 + b'"}]}'),
        ("/mcp", b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * 40_000 + b'"}'),
        ("/inspect/enter", b"key=" + b"x" * 40_000),
    ],
)
@pytest.mark.parametrize("told", [True, False], ids=["with its length", "in pieces"])
def test_no_entrance_takes_a_body_that_is_too_large(doxa, client, secret_for, path, body, told):
    """Whether its length is told or it comes piece by piece."""
    http = client(doxa, secret_for(doxa, "ana"), max_body_bytes=10_000)
    content = body if told else iter([body[at : at + 1000] for at in range(0, len(body), 1000)])
    assert http.post(path, content=content, headers={"Content-Type": "application/json"}).status_code == 413
    assert not doxa.users()


def test_secrets_are_compared_in_constant_time_and_kept_as_digests(doxa, monkeypatch):
    """Not by `==`, and not in the database, a list, an error or a representation."""
    compared, compare = [], hmac.compare_digest
    monkeypatch.setattr(
        keyring.hmac, "compare_digest", lambda one, other: compared.append((one, other)) or compare(one, other)
    )
    ring = Keys(doxa)
    key, secret = ring.add(users=["ana"])
    own = secret.rpartition("_")[2] if secret.count("_") == 2 else secret.split("_", 2)[2]
    assert ring.recognise(secret) == key and ring.recognise(secret[:-1] + ("A" if secret[-1] != "A" else "B")) is None
    assert len(compared) == 2 and all(len(one) == len(other) for one, other in compared)
    told = repr([ring.list(), doxa.parts.log.store.keys(), key])
    assert own not in told and secret not in told


def test_a_key_is_never_told_by_the_server(served, doxa, client, caplog, capsys):
    """Not in an error, a log at its most talkative, the numbers, or the page that describes the server."""
    caplog.set_level(logging.DEBUG)
    _, secret = Keys(doxa).add(users=["ana"], label="for the test")
    http = client(doxa, secret)
    wrong = f"doxa_{'0' * 12}_{SECRET}{'k' * 28}"
    told = ""
    for key in (secret, wrong, SECRET):
        for path in ("/v1/memory/turns", "/v1/memory/turns/none", "/metrics", "/readyz", "/nowhere", "/inspect"):
            answer = http.get(path, headers={"Authorization": f"Bearer {key}"})
            told += answer.text + str(answer.headers)
        told += http.post("/v1/memory/ask", content=b"{", headers={"Authorization": f"Bearer {key}"}).text
    out = capsys.readouterr()
    told += caplog.text + out.out + out.err
    assert secret not in told and SECRET not in told


def test_nothing_that_was_said_is_logged(config, tmp_path, caplog, client, secret_for):
    """Turns, questions and replies, names of users among them, are in no line of the log, at whatever level."""
    caplog.set_level(logging.DEBUG)
    with Doxa.open(tmp_path / "memory.db", config=config) as doxa:
        http = client(doxa, secret_for(doxa, f"{WORD}user"))
        http.post("/v1/memory/turns?wait=true", json={"turns": [{"text": f"I live in {WORD}.", "turn_id": "t1"}]})
        http.post("/v1/memory/ask", json={"text": f"Do I live in {WORD}?", "trace": True})
        http.post("/v1/memory/respond", json={"text": f"Is {WORD} nice?"})
        http.get(f"/v1/memory/turns/{WORD}")
        http.delete("/v1/memory/turns/t1")
    ours = [line for line in caplog.messages if WORD in line]
    assert [
        record.name for record in caplog.records if WORD in record.getMessage() and "httpx" not in record.name
    ] == []
    assert all("HTTP Request" in line for line in ours)  # the client of the test tells of its own requests


def test_no_check_of_the_settings_tells_a_secret(tmp_path):
    """`doxa doctor`, what is in use, the settings themselves, and what is written into a record of a run."""
    place = f"postgresql://doxa:{SECRET}@localhost:1/none"
    settings = Config(
        db=place,
        llm=LLMConfig(name="openai:gpt", api_key=SECRET, base_url="http://127.0.0.1:1/v1"),
        server=ServerConfig(upstream="http://127.0.0.1:1/v1", upstream_key=SECRET),
        encoder={"name": "openai:small", "api_key": SECRET, "base_url": "http://127.0.0.1:1/v1"},
    )
    told = repr([*checked(settings, offline=True)]) + repr(settings) + str(settings.model_dump())
    assert SECRET not in re.sub(re.escape(place), "", told)
    assert SECRET not in repr([*checked(settings, offline=True)])


def test_an_upstream_is_the_one_of_the_settings_whatever_a_request_says(doxa, client, secret_for):
    """No field, header or path of a request makes the server ask another host."""
    http = client(doxa, secret_for(doxa, "ana"))
    said = {
        "model": "http://169.254.169.254/latest", "base_url": "http://169.254.169.254/", "user": "ana",
        "messages": [{"role": "user", "content": "http://169.254.169.254/latest/meta-data"}],
    }  # fmt: skip
    headers = {"Host": "169.254.169.254", "X-Forwarded-Host": "169.254.169.254", "Forwarded": "host=169.254.169.254"}
    answer = http.post("/openai/v1/chat/completions", json=said, headers=headers)
    assert answer.status_code < 500  # the guard of the tests fails this one if anybody was asked
    body = {
        "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://10.0.0.1/"}}]}]
    }
    assert http.post("/v3/memories/add/", json={**body, "user_id": "ana"}).status_code < 500


def test_the_description_of_the_server_names_no_secret(config):
    """The OpenAPI page is the same whatever is set."""
    with Doxa.open(":memory:", config=light(server=ServerConfig(upstream_key=SECRET))) as doxa:
        assert SECRET not in str(application(doxa).openapi())
