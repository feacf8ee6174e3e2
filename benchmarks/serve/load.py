"""Many clients of one server that is told to stop in the middle: turns that were acknowledged and lost, or doubled.

    python benchmarks/serve/load.py [--clients 64] [--turns 20000] [--users 8] [--json FILE]

Starts `doxa serve` on a new SQLite file, has clients post turns one by one, sends SIGTERM when half of them are
acknowledged, starts the server again, and goes on: a turn that was not acknowledged is sent again under its id, as a
client would. At the end the log is read from the file. The models are the built-in ones; understanding goes on behind
the clients and is not waited for.
"""

from __future__ import annotations

import argparse
import http.client
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

from doxa.core.config import Config
from doxa.engine import Doxa, Keys

RETRY_S = 0.05


class Server:
    """`doxa serve` in a process of its own, always at the same port."""

    def __init__(self, db: Path) -> None:
        self._db = db
        self._port = 0
        self.stopped_s: list[float] = []
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> int:
        """Return the port, once it answers."""
        command = [sys.executable, "-m", "doxa", "serve", "--db", str(self._db), "--port", str(self._port)]
        self.process = subprocess.Popen([*command, "--json", "--quiet"], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self._port = int(json.loads(self.process.stdout.readline())["address"].rpartition(":")[2])
        return self._port

    def stop(self) -> None:
        """Say SIGTERM and wait for the end."""
        assert self.process is not None
        began = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(120)
        self.stopped_s.append(round(time.perf_counter() - began, 2))
        if code:
            raise SystemExit(f"doxa serve ended with {code}")


class Clients:
    """Threads that share a list of turns to post."""

    def __init__(self, port: int, secret: str, *, turns: int, users: int) -> None:
        self.acknowledged: list[str] = []
        self.sent_again = 0
        self._port, self._turns, self._users = port, turns, users
        self._headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        self._numbers = count()
        self._guard = threading.Lock()

    def run(self) -> None:
        """Post turns until there are no more; one that is not acknowledged is sent again."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        while (number := next(self._numbers)) < self._turns:
            body = json.dumps({"turns": [{"text": f"I met Person{number} today.", "turn_id": f"t{number}"}]})
            while not self._posted(connection, number, body):
                with self._guard:
                    self.sent_again += 1
                time.sleep(RETRY_S)
                connection.close()
            with self._guard:
                self.acknowledged.append(f"u{number % self._users}/t{number}")
        connection.close()

    def _posted(self, connection: http.client.HTTPConnection, number: int, body: str) -> bool:
        try:
            headers = {**self._headers, "Doxa-User": f"u{number % self._users}"}
            connection.request("POST", "/v1/memory/turns", body, headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            return False
        return answer.status == 201


def measure(folder: Path, *, clients: int, turns: int, users: int) -> dict[str, Any]:
    """Return what was acknowledged, and what the log holds of it."""
    db = folder / "memory.db"
    with Doxa.open(db, config=Config()) as doxa:
        _, secret = Keys(doxa).add()
    server = Server(db)
    crowd = Clients(server.start(), secret, turns=turns, users=users)
    threads = [threading.Thread(target=crowd.run, daemon=True) for _ in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    while len(crowd.acknowledged) < turns // 2:
        time.sleep(0.01)
    server.stop()
    at_stop = len(crowd.acknowledged)
    server.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    server.stop()
    stored = Counter(_stored(db))
    return {
        "clients": clients,
        "turns": turns,
        "acknowledged": len(crowd.acknowledged),
        "acknowledged at SIGTERM": at_stop,
        "sent again": crowd.sent_again,
        "lost": sum(key not in stored for key in crowd.acknowledged),
        "doubled": sum(number > 1 for number in stored.values()),
        "stored and never acknowledged": sum(key not in set(crowd.acknowledged) for key in stored),
        "turns a second": round(turns / seconds, 1),
        "seconds to stop": server.stopped_s,
    }


def _stored(db: Path) -> list[str]:
    """Return every turn of the log as `user/text`, by what it says rather than by its id, which is unique anyway."""
    doxa = Doxa.open(db, config=Config())
    log = doxa.parts.log
    rows = [(user, row) for user in doxa.users() for row in log.rows(user) if row.kind == "turn"]
    doxa._close(drain=False)  # what waits to be understood is not this benchmark's matter
    return [f"{user}/t{row.body['text'].removeprefix('I met Person').removesuffix(' today.')}" for user, row in rows]


def main() -> None:
    """Measure, print, and leave with 1 when something was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--users", type=int, default=8)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), clients=options.clients, turns=options.turns, users=options.users)
    for name, value in found.items():
        print(f"{name:32} {value}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    raise SystemExit(1 if found["lost"] or found["doubled"] else 0)


if __name__ == "__main__":
    main()
