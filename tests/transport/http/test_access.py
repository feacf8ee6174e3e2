"""Who is let in, to whose memory, and for what."""

import pytest

from doxa.transport.http.access import Buckets

TOLD = {"turns": [{"text": "I live in Rome.", "turn_id": "t1"}]}
ASKED = {"text": "Where do I live?"}


def test_without_a_key_nothing_is_said(client):
    """What is missing is."""
    refused = client(user="ana").post("/v1/memory/ask", json=ASKED)
    assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
    assert "doxa keys add" in refused.json()["detail"]


@pytest.mark.parametrize(
    "header", ["Authorization: Bearer {}", "Authorization: Token {}", "X-API-Key: {}", "Doxa-Key: {}"]
)
def test_a_key_may_stand_in_the_header_of_any_protocol(client, keys, header):
    """With one user, nobody has to be named."""
    _, secret = keys.add(users=["ana"])
    name, _, value = header.format(secret).partition(": ")
    assert client().post("/v1/memory/turns", json=TOLD, headers={name: value}).status_code == 201


def test_a_revoked_key_is_refused(client, keys):
    """At once."""
    key, secret = keys.add(users=["ana"])
    one = client(secret)
    assert one.post("/v1/memory/turns", json=TOLD).status_code == 201
    keys.revoke(key.key_id)
    assert one.post("/v1/memory/ask", json=ASKED).status_code == 401


def test_a_key_opens_no_other_memory(client, keys):
    """Whoever is named; and a key for several has to be told which."""
    _, secret = keys.add(users=["ana", "eva"])
    one = client(secret)
    answers = {
        name: one.post("/v1/memory/ask", json=ASKED, headers={"Doxa-User": name}) for name in ("ana", "ben", "*")
    }
    assert [answer.status_code for answer in answers.values()] == [200, 403, 403]
    unnamed = one.post("/v1/memory/ask", json=ASKED)
    assert unnamed.status_code == 403 and "Doxa-User" in unnamed.json()["detail"]


def test_a_key_is_of_one_tenant(client, keys):
    """Users of the same name in two tenants see nothing of each other."""
    clients = [client(keys.add(tenant=tenant, users=["ana"])[1]) for tenant in ("one", "two")]
    clients[0].post("/v1/memory/turns?wait=true", json=TOLD)
    assert [one.post("/v1/memory/ask", json=ASKED).json()["value"] for one in clients] == ["Rome", None]


def test_a_right_that_is_missing_is_named(client, keys):
    """And nothing is changed."""
    reader = client(keys.add(users=["ana"], rights=["read"])[1])
    refused = reader.post("/v1/memory/turns", json=TOLD)
    assert refused.status_code == 403 and "may read, not write" in refused.json()["detail"]
    writer = client(keys.add(users=["ana"], rights=["read", "write"])[1])
    writer.post("/v1/memory/turns?wait=true", json=TOLD)
    assert writer.delete("/v1/memory/turns/t1").status_code == 403
    assert writer.post("/v1/memory/ask", json=ASKED).json()["value"] == "Rome"


def test_an_open_server_takes_whom_it_is_told(client):
    """And a key that it does not know is still wrong."""
    one = client(open=True)
    assert one.post("/v1/memory/ask", json=ASKED, headers={"Doxa-User": "ana"}).status_code == 200
    wrong = {"Doxa-User": "ana", "Authorization": f"Bearer doxa_{'0' * 12}_{'A' * 43}"}
    assert one.post("/v1/memory/ask", json=ASKED, headers=wrong).status_code == 401


def test_an_open_server_takes_who_is_not_named_for_the_user_of_the_command_line(client, doxa):
    """As a client of OpenAI's that was given no more than the address; one that names somebody is theirs."""
    one = client(open=True)
    said = {"model": "doxa", "messages": [{"role": "user", "content": "I live in Rome."}]}
    unknown = {"Authorization": "Bearer sk-none"}
    assert one.post("/openai/v1/chat/completions", json=said, headers=unknown).status_code == 200
    assert one.post("/v1/memory/turns", json=TOLD).status_code == 201
    assert one.post("/openai/v1/chat/completions", json={**said, "user": "eva"}).status_code == 200
    assert doxa.users() == ["eva", doxa.parts.config.user] == ["eva", "me"]


def test_a_key_that_asks_too_often_is_told_when_to_come_again(client, keys):
    """Others are not held up."""
    first, second = (client(keys.add(users=["ana"])[1], rate=1.0) for _ in range(2))
    found = [first.post("/v1/memory/ask", json=ASKED).status_code for _ in range(4)]
    assert found[:2] == [200, 200] and 429 in found
    slowed = first.post("/v1/memory/ask", json=ASKED)
    assert slowed.status_code == 429 and int(slowed.headers["retry-after"]) >= 1
    assert second.post("/v1/memory/ask", json=ASKED).status_code == 200


def test_a_bucket_fills_up_again():
    """At its rate, and never above what it holds."""
    now = [0.0]
    buckets = Buckets(2.0, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 0, 0.5]
    now[0] = 0.5
    assert buckets.take("a") == 0 and buckets.take("a") == 0.5 and buckets.take("b") == 0
    now[0] = 1000.0
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 0, 0.5]


def test_the_command_line_takes_the_user_of_a_key_from_either_option(cli):
    """A key that was asked for with --user opens that memory, and not everybody's."""
    assert cli.json("keys", "add", "--user", "ana")["users"] == ["ana"]
    assert cli.json("keys", "add", "--user", "ana", "--for", "eva")["users"] == ["eva"]
    assert cli.json("keys", "add")["users"] == ["*"]


def test_serving_takes_no_user(cli):
    """One that is ignored would be taken for the one whose memory is served."""
    done = cli("serve", "--user", "ana", "--port", "0")
    assert done.exit_code == 1 and "doxa keys add --for" in done.stderr


def test_an_upstream_without_an_address_is_refused_at_once(cli):
    """Not at the first message."""
    done = cli("serve", "--upstream", "api.openai.com", "--port", "0")
    assert done.exit_code == 1 and "https://api.openai.com/v1" in done.stderr


@pytest.mark.parametrize("secret", [None, f"doxa_{'0' * 12}_{'A' * 43}", "sk-other"])
def test_strangers_that_ask_too_often_are_slowed_down(client, keys, secret):
    """By their address; whoever has a key that counts is let in from there all the same."""
    one = client(secret, rate=1.0)
    found = [one.post("/v1/memory/ask", json=ASKED).status_code for _ in range(6)]
    assert found[:2] == [401, 401] and 429 in found
    _, known = keys.add(users=["ana"])
    assert one.post("/v1/memory/ask", json=ASKED, headers={"Doxa-Key": known}).status_code == 200


def test_a_request_for_several_memories_counts_once(client, keys):
    """Else a key for many users could never list what is theirs."""
    one = client(keys.add(users=list("abcdef"))[1], rate=1.0)
    assert one.post("/v3/memories/", json={"filters": {"user_id": {"in": list("abcdef")}}}).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("turns/t1/withdraw", None),
        ("undo", None),
        ("sources/withdraw", {"source": "ana"}),
        ("entities/merge", {"one": "Rome", "other": "Roma"}),
        ("tasks/edit", {"acts": [{"act": "status", "node": "nothing", "status": "done"}]}),
        ("tasks/undo", None),
        ("feedback", {"query": "Where?", "needed": ["t1"]}),
    ],
)
def test_a_key_that_may_only_write_is_told_nothing(client, keys, path, body):
    """A correction tells what is believed otherwise now, so that it takes the right to read as well."""
    one = client(keys.add(users=["ana"], rights=["write"])[1])
    assert one.post("/v1/memory/turns?wait=true", json=TOLD).status_code == 201
    refused = one.post(f"/v1/memory/{path}", json=body)
    assert refused.status_code == 403 and "not read" in refused.json()["detail"]
