"""Replicas of the server on the cores of this machine: queries a second, p95, recall and memory (paper 001, table 13).

    python benchmarks/scale/shards.py LOCOMO_JSON [--shards 1 2 4] [--users 24] [--turns 150] [--clients 32]
        [--queries 2000] [--db FILE_OR_URL] [--json FILE]

Needs the extra `cluster`. Every conversation is understood once and its memory is copied until there are enough users.
Then `doxa cluster up` starts so many replicas, its processes and the clients are kept to so many cores as there are
replicas (or as the machine has), and the clients ask searches, each for a user and a question drawn at random. With
`--db` a memory that was filled before is used, and one that is empty is filled; by default it is a new SQLite file.
Efficiency is the rate for each core that is used, over that of one replica on one core: the paper's table has a shard
on twelve cores of its own.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from doxa.backends.transcripts import Line, read
from doxa.core.config import Config
from doxa.engine import Doxa, Keys

TOP = 10
CORES = sorted(os.sched_getaffinity(0))
SEED = 13


@dataclass(frozen=True, slots=True)
class Question:
    """One of the test set, asked of one user."""

    user: str
    text: str
    needed: frozenset[str]


@dataclass(slots=True)
class Load:
    """Clients that ask, and what they found."""

    port: int
    secret: str
    asked: Iterator[Question]
    guard: threading.Lock = field(default_factory=threading.Lock)
    ms: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    at: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: int = 0

    def run(self) -> None:
        """Ask until there are no more questions."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        while True:
            with self.guard:
                question = next(self.asked, None)
            if question is None:
                break
            began = time.perf_counter()
            status, replica, found = searched(connection, self.secret, question)
            ms = (time.perf_counter() - began) * 1000
            with self.guard:
                self.failed += status != 200
                self.ms.append(ms)
                self.recall.append(len(question.needed & found) / len(question.needed))
                self.at[question.user, replica] += 1
        connection.close()


def searched(connection: http.client.HTTPConnection, secret: str, question: Question) -> tuple[int, str, set[str]]:
    """Return the status, the replica that answered, and the turns that it found."""
    headers = {"Authorization": f"Bearer {secret}", "Doxa-User": question.user, "Content-Type": "application/json"}
    connection.request("POST", "/v1/memory/search", json.dumps({"query": question.text, "k": TOP}), headers)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    found = {turn for item in body.get("items", ()) for turn in item["turn_ids"]}
    return answer.status, answer.headers["Doxa-Replica"], found


def filled(db: str, transcript: Path, *, users: int, turns: int) -> list[Question]:
    """Have a memory hold enough users, and return the questions that can be asked of them."""
    talks = json.loads(transcript.read_text(encoding="utf-8"))
    conversations = read(transcript).conversations
    kept = {one.name: one.lines[:turns] for one in conversations}
    with tempfile.TemporaryDirectory() as folder, Doxa.open(db, config=Config()) as doxa:
        there = set(doxa.users())
        exports = {name: _exported(doxa, str(name), lines, Path(folder)) for name, lines in kept.items()}
        named = [(f"{name}-{number}", name) for number in range(users) for name in kept][:users]
        for user, name in named:
            if user not in there:
                doxa.memory(user=user).import_(exports[name])
    questions = {name: _questions(talk, kept[name]) for name, talk in zip(kept, talks, strict=True)}
    return [Question(user, text, needed) for user, name in named for text, needed in questions[name]]


def _exported(doxa: Doxa, name: str, lines: Sequence[Line], folder: Path) -> Path:
    """Understand a conversation, unless that was done, and return its memory as a file."""
    known = {turn.turn_id for turn in doxa.memory(user=name).turns()}
    for line in lines:
        if line.turn_id not in known:
            doxa.dialogue(user=name, session=line.session or "default").absorb(
                line.text, speaker=line.speaker, role=line.role, at=line.at, turn_id=line.turn_id
            )
    return doxa.memory(user=name).export(folder / f"{name}.jsonl")


def _questions(talk: dict[str, Any], lines: Sequence[Line]) -> list[tuple[str, frozenset[str]]]:
    """Return the questions of a conversation whose evidence is all in some turns."""
    there = {line.turn_id for line in lines}
    found = [(str(one["question"]), frozenset(one.get("evidence", ()))) for one in talk["qa"]]
    return [(text, needed) for text, needed in found if needed and needed <= there]


@contextmanager
def served(db: str, replicas: int, cores: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give the port of a cluster of so many replicas on some cores, and its process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environ = {**os.environ, "DOXA_CLUSTER_MAX_REPLICAS": str(replicas), "OMP_NUM_THREADS": "1"}
    environ["DOXA_CLUSTER_CPUS"] = str(min(1.0, len(CORES) / replicas))
    command = [sys.executable, "-m", "doxa", "cluster", "up", "--db", db, "--replicas", str(replicas)]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--address", "local", "--json", "--quiet"],
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=partial(os.sched_setaffinity, 0, cores),
    )
    assert process.stdout is not None
    told = ""
    while not told.rstrip().endswith("}"):
        told += (line := process.stdout.readline())
        if not line:
            raise SystemExit(f"the cluster did not start: {told}")
    try:
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(180)


def measured(
    db: str, secret: str, questions: Sequence[Question], *, shards: int, clients: int, queries: int
) -> dict[str, Any]:
    """Return what so many replicas did."""
    cores = CORES[: min(shards, len(CORES))]
    chosen = random.Random(SEED)
    warm = [next(one for one in questions if one.user == user) for user in {one.user for one in questions}]
    with served(db, shards, cores) as (port, _):
        os.sched_setaffinity(0, cores)
        _run(Load(port, secret, iter(warm * 2)), clients)
        load = Load(port, secret, iter([chosen.choice(questions) for _ in range(queries)]))
        seconds = _run(load, clients)
        resident = _resident("ServeReplica:doxa")
        os.sched_setaffinity(0, CORES)
    users = {user for user, _ in load.at}
    ms = sorted(load.ms)
    return {
        "shards": shards,
        "cores": len(cores),
        "queries a second": round(queries / seconds, 1),
        "p50 ms": round(ms[len(ms) // 2], 1),
        "p95 ms": round(ms[int(len(ms) * 0.95)], 1),
        f"recall@{TOP}": round(sum(load.recall) / len(load.recall), 6),
        "failed": load.failed,
        "users at one replica": sum(sum(user == one for one, _ in load.at) == 1 for user in users),
        "users": len(users),
        "replicas that answered": len({replica for _, replica in load.at}),
        "MB resident of all replicas": round(resident / 1e6),
    }


def _run(load: Load, clients: int) -> float:
    threads = [threading.Thread(target=load.run) for _ in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def _resident(name: str) -> int:
    """Return the resident bytes of the processes of a name."""
    total = 0
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if name in (one / "cmdline").read_text():
                total += int((one / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            continue
    return total


def main() -> None:
    """Fill, measure each number of replicas, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--users", type=int, default=24)
    parser.add_argument("--turns", type=int, default=150)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--db")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db = options.db or f"{folder}/memory.db"
        questions = filled(db, options.locomo, users=options.users, turns=options.turns)
        with Doxa.open(db, config=Config()) as doxa:
            _, secret = Keys(doxa).add(rights=["read"], label="shards.py")
        rows = []
        for shards in options.shards:
            given = {"shards": shards, "clients": options.clients, "queries": options.queries}
            rows.append(measured(db, secret, questions, **given))
            one = rows[0]["queries a second"] / rows[0]["cores"]
            rows[-1]["efficiency"] = round(rows[-1]["queries a second"] / rows[-1]["cores"] / one, 3)
            rows[-1]["load average"] = [round(part, 2) for part in os.getloadavg()]
            print(json.dumps(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    if len({row[f"recall@{TOP}"] for row in rows}) > 1:
        raise SystemExit("Recall is not the same for all.")


if __name__ == "__main__":
    main()
