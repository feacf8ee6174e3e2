"""A cluster on this machine, as `doxa cluster up` starts it, and a client of it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

SRC = str(Path(__file__).parents[3] / "src")
START_S = 120
SETTINGS = {
    "DOXA_ENCODER": "hash",
    "DOXA_READER": "none",
    "DOXA_GRADER": "none",
    "DOXA_SERVER_DRAIN_S": "5",
    "DOXA_CLUSTER_CPUS": "0.5",
    "DOXA_CLUSTER_MAX_REPLICAS": "2",
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "of-the-tests-" + "0" * 20,
}


class Cluster:
    """A process that is `doxa cluster up`, and the database that its replicas share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.db = str(folder / "memory.db")
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith(("DOXA_", "RAY_"))}
        self.environ |= SETTINGS | {"PYTHONPATH": SRC, "DOXA_DB": self.db, "COLUMNS": "200"}
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[str] | None = None

    def command(self, *arguments: object) -> "subprocess.CompletedProcess[str]":
        """Run `doxa` on the same database."""
        command = [sys.executable, "-m", "doxa", *map(str, arguments)]
        return subprocess.run(
            command, cwd=self.folder, env=self.environ, capture_output=True, text=True, timeout=START_S
        )

    def up(self) -> dict[str, object]:
        """Start it, and return what it says once it answers."""
        command = [sys.executable, "-m", "doxa", "cluster", "up", "--replicas", "2", "--port", str(self.port), "--json"]
        with (self.folder / "log").open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=self.environ, stdout=subprocess.PIPE, stderr=log, text=True
            )
        told = ""
        while not told.rstrip().endswith("}"):
            line = self.process.stdout.readline()
            assert line, (self.folder / "log").read_text()
            told += line
        return json.loads(told)

    def down(self) -> int:
        """Say SIGTERM and return the exit code."""
        with self.process as process:
            process.send_signal(signal.SIGTERM)
            return process.wait(START_S)

    def key(self, *users: str, rights: tuple[str, ...] = ("read", "write")) -> str:
        """Return the secret of a new key."""
        whom = [part for user in users for part in ("--for", user)]
        given = [part for right in rights for part in ("--right", right)]
        return json.loads(self.command("keys", "add", *whom, *given, "--json").stdout)["secret"]

    def replicas(self) -> list[int]:
        """Return the ids of the processes that are replicas of this cluster."""
        return [pid for pid in _children_of(self.process.pid) if "ServeReplica:doxa" in _command_of(pid)]

    @contextmanager
    def client(self, secret: str, user: str = "") -> Iterator[httpx.Client]:
        """Give a client of the cluster."""
        headers = {"Authorization": f"Bearer {secret}"} | ({"Doxa-User": user} if user else {})
        with httpx.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=60) as client:
            yield client


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def _children_of(pid: int) -> list[int]:
    """Return all processes that descend from one."""
    parents: dict[int, list[int]] = {}
    for one in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(int(one.read_text().rpartition(")")[2].split()[1]), []).append(int(one.parent.name))
        except OSError:
            continue
    found, waiting = [], [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def until(told, seconds: float = 60.0):
    """Return the first true thing that a function says, asking again and again."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := told():
            return found
        time.sleep(0.2)
    raise AssertionError(f"{told} was never true")


@pytest.fixture(scope="module")
def running(tmp_path_factory, loopback) -> Iterator[Cluster]:
    """Two replicas on one file, with a key that may do everything."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install doxa[cluster]")
    one = Cluster(tmp_path_factory.mktemp("cluster"))
    one.secret = one.key("*", rights=("read", "write", "erase", "admin"))
    one.told = one.up()
    yield one
    with one.process as process:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)


@pytest.fixture
def cluster(running) -> Cluster:
    """The same, started again where a test has ended it."""
    if running.process.poll() is not None:
        running.told = running.up()
    return running


@pytest.fixture
def soon():
    """The function `until`."""
    return until
