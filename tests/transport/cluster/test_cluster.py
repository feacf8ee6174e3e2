"""Replicas on a Ray cluster of this machine: together they are one server."""

import json
import os
import signal
import time

import pytest

from doxa.core.config import Config, EncoderConfig
from doxa.engine import Doxa

TOLD = [{"text": "I live in Lisbon.", "turn_id": "1"}, {"text": "I work at Siemens.", "turn_id": "2"}]
NAMES = [f"user-{number}" for number in range(12)]


@pytest.fixture(scope="module", autouse=True)
def known(running):
    """What everybody has told."""
    for name in NAMES:
        with running.client(running.secret, name) as client:
            assert client.post("/v1/memory/turns?wait=true", json={"turns": TOLD}).status_code == 201


def values(client) -> set[str]:
    answer = client.get("/v1/memory/facts")
    assert answer.status_code == 200, answer.text
    return {word for one in answer.json()["items"] for word in str(one).split("'")}


def replica(answer) -> str:
    return answer.headers["Doxa-Replica"]


def test_it_says_where_it_serves(cluster):
    assert cluster.told["status"] == "RUNNING"
    assert cluster.told["replicas"]["RUNNING"] == 2
    assert cluster.told["address"].endswith(f":{cluster.port}")


def test_every_request_of_a_user_goes_to_one_replica_and_users_are_spread(cluster):
    used = {}
    for name in NAMES:
        with cluster.client(cluster.secret, name) as client:
            answers = [client.get("/v1/memory/facts") for _ in range(3)]
            answers.append(client.post("/v1/memory/ask", json={"text": "Where do I live?"}))
            answers.append(client.get("/mcp", headers={"Accept": "text/plain"}))
        used[name] = {replica(answer) for answer in answers}
    assert {len(of_user) for of_user in used.values()} == {1}
    assert len(set.union(*used.values())) == 2


def test_a_user_is_followed_however_a_request_names_them(cluster):
    name = NAMES[0]
    own = cluster.key(name)
    with cluster.client(cluster.secret, name) as client:
        home = replica(client.get("/v1/memory/facts"))
    with cluster.client(own) as client:
        assert replica(client.get("/v1/memory/facts")) == home
    for other in NAMES[:6]:
        with cluster.client(cluster.secret, other) as client:
            home = replica(client.get("/v1/memory/facts"))
        with cluster.client(cluster.secret) as client:
            body = {"messages": [{"role": "user", "content": "Hello."}], "user": other, "model": "doxa"}
            assert replica(client.post("/openai/v1/chat/completions", json=body)) == home
            found = client.post("/v3/memories/", json={"filters": {"user_id": other}})
            assert found.status_code == 200
            assert replica(found) == home
            assert replica(client.get(f"/inspect/now?user={other}")) == home


def test_answers_are_those_of_one_server(cluster):
    with cluster.client(cluster.secret, NAMES[1]) as client:
        assert client.post("/v1/memory/ask", json={"text": "Where do I live?"}).json()["value"] == "Lisbon"
        assert client.get("/v1/memory/nothing").headers["Content-Type"].startswith("application/problem+json")
    with cluster.client("doxa_000000000000_" + "x" * 43, NAMES[1]) as client:
        assert client.get("/v1/memory/facts").status_code == 401
    with cluster.client(cluster.secret, "nobody-yet") as client:
        assert client.get("/v1/memory/facts").json()["items"] == []
    with cluster.client(cluster.secret) as client:
        assert client.get("/v1/memory/facts").status_code == 403  # several users, and nobody says which


def test_a_reply_is_streamed_step_by_step(cluster):
    with cluster.client(cluster.secret, NAMES[2]) as client:
        asked = {"text": "Where do I live?"}
        with client.stream("POST", "/v1/memory/respond", json=asked, headers={"Accept": "text/event-stream"}) as answer:
            kinds = [line.partition(": ")[2] for line in answer.iter_lines() if line.startswith("event: ")]
    assert kinds[0] == "step"
    assert kinds[-1] == "done"


def test_a_large_file_is_taken_in(cluster):
    turns = [{"text": f"{number}" + "x" * 200_000, "turn_id": f"r{number}"} for number in range(3)]
    with cluster.client(cluster.secret, "loud") as client:
        body = json.dumps({"turns": turns}).encode()
        assert len(body) > 500_000
        pieces = (body[start : start + 65_536] for start in range(0, len(body), 65_536))
        told = client.post("/v1/memory/turns", content=pieces, headers={"Content-Type": "application/json"})
        assert told.status_code == 201, told.text
        assert len(told.json()["receipts"]) == 3


def test_a_replica_that_is_killed_is_replaced_and_its_users_know_what_they_knew(cluster, soon):
    before = {}
    for name in NAMES:
        with cluster.client(cluster.secret, name) as client:
            before[name] = replica(client.get("/v1/memory/facts"))
    victim = cluster.replicas()[0]
    os.kill(victim, signal.SIGKILL)

    def answered(name: str) -> str:
        with cluster.client(cluster.secret, name) as client:
            answer = client.get("/v1/memory/facts")
            return replica(answer) if answer.status_code == 200 else ""

    after = {name: soon(lambda name=name: answered(name)) for name in NAMES}
    assert len({before[name] for name in NAMES if after[name] != before[name]}) == 1  # those of the victim, no others
    for name in NAMES:
        with cluster.client(cluster.secret, name) as client:
            assert values(client) >= {"Lisbon", "Siemens"}
    assert (
        len(soon(lambda: len(cluster.replicas()) == 2 and victim not in cluster.replicas() and cluster.replicas())) == 2
    )


def test_transcripts_of_many_users_go_in_once_beside_the_replicas(cluster):
    """`doxa cluster ingest` on the same cluster: two workers, one user at a time in each."""
    files = [cluster.folder / f"new-{number}.jsonl" for number in range(3)]
    for file, city in zip(files, ("Bonn", "Oslo", "Rome"), strict=True):
        turns = [f"I live in {city}.", "I work at Siemens."]
        lines = [json.dumps({"id": f"{n}", "role": "user", "content": text}) for n, text in enumerate(turns)]
        file.write_text("\n".join(lines))
    command = ["cluster", "ingest", *files, "--workers", "2", "--address", cluster.told["ray"], "--json"]
    first = json.loads(cluster.command(*command).stdout)
    assert (first["users"], first["new"], first["known"], first["failed"]) == (3, 6, 0, 0)
    again = json.loads(cluster.command(*command).stdout)
    assert (again["new"], again["known"]) == (0, 6)
    with cluster.client(cluster.secret, "new-1") as client:
        assert values(client) >= {"Oslo", "Siemens"}
    folded = cluster.command("cluster", "fold", "--user", "new-1", "--address", cluster.told["ray"], "--json")
    assert json.loads(folded.stdout)["turns"] == 2


def test_it_drains_when_it_is_told_to_end(cluster):
    """Requests under way are answered, streams that only wait are ended, and what was received is kept."""
    with cluster.client(cluster.secret, NAMES[3]) as client:
        told = [{"text": f"I met Person{number} today.", "turn_id": f"d{number}"} for number in range(20)]
        with client.stream("GET", f"/inspect/live?user={NAMES[3]}") as waiting:
            assert waiting.status_code in (200, 303, 401)
            assert client.post("/v1/memory/turns", json={"turns": told}).status_code == 201
            began = time.monotonic()
            assert cluster.down() == 0
    assert time.monotonic() - began < 40
    with Doxa.open(cluster.db, config=Config(encoder=EncoderConfig(name="hash"))) as doxa:
        assert {turn.turn_id for turn in doxa.memory(user=NAMES[3]).turns()} >= {one["turn_id"] for one in told}
