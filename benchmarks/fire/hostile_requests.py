"""What hostile requests cost a server: processor time and memory of each, with a body of a length and with half of it.

    python benchmarks/fire/hostile_requests.py [--bytes 8000000] [--shape NAME ...] [--json FILE]

Each of the `bodies` is sent to the application itself, without a socket, to a memory of its own in a process that is
warm. Counted are the processor time of all threads until it is answered, but for those that understand turns in the
background (that is bounded turn by turn: `hostile.py`), and by how much resident memory grew beyond what it was (Linux;
elsewhere 0). One that takes longer than the limit is ended and said to. Growth is the time at the whole length over
that at half of it, of what takes a quarter of a second or more.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bodies import BODIES, HEARD, TURNS, Made
from doors.requests import post
from doors.web import Rest

LIMIT_S = 60
NOISE_S = 0.25


def main() -> None:
    """Send every body, and print one JSON object with the worst first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=8_000_000)
    parser.add_argument("--shape", action="append", choices=[*BODIES], default=[])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    rows = list(outside(options.shape or [*BODIES], options.bytes))
    found = {
        "shapes": len(rows),
        "bytes": options.bytes,
        "ended": [row["shape"] for row in rows if row["s"] >= LIMIT_S],
        "failed": {row["shape"]: row["status"] for row in rows if row["status"] >= 500 or not row["status"]},
        "slowest": sorted(rows, key=lambda row: -row["s"])[:12],
        "grows most": sorted((row for row in rows if row["s"] >= NOISE_S), key=lambda row: -row["growth"])[:12],
        "takes most": sorted(rows, key=lambda row: -row["mb"])[:12],
    }
    print(json.dumps(found, indent=1))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def outside(shapes: list[str], size: int) -> Iterator[dict[str, Any]]:
    """Give what a process measures, which is begun again behind what it does not survive."""
    ours, theirs = Pipe(duplex=False)
    while shapes:
        process = get_context("fork").Process(target=measured, args=(theirs, [*shapes], size), daemon=True)
        process.start()
        while shapes:
            shape = shapes.pop(0)
            while not ours.poll(1) and process.is_alive():
                pass
            row = {"status": 0, "s": float(LIMIT_S), "growth": 0.0, "mb": 0, "answer_bytes": 0, "shape": shape}
            row |= ours.recv() if ours.poll() else {}
            print(f"{shape}: {row['s']} s, {row['mb']} MiB, {row['status']}", file=sys.stderr, flush=True)
            yield row
            if not row["status"]:
                break
        process.kill()  # what is left to the background is not waited for


def measured(told: Connection, shapes: list[str], size: int) -> None:
    """Measure requests in this process, whose processor time is bounded anew for every one."""
    door = Measured(models=False)
    for shape in shapes:
        path, body = BODIES[shape]
        whole = door.spent(path, body, size)
        half = door.spent(path, body, size // 2) if whole["s"] >= NOISE_S else whole
        told.send({"shape": shape, **whole, "growth": round(whole["s"] / max(half["s"], 1e-3), 2)})


class Measured(Rest):
    """The application with everything that is served beside it."""

    def spent(self, path: str, body: Made, size: int) -> dict[str, Any]:
        """Return what a request to a new memory takes, and what is answered."""
        self._begin()  # the one before is left as it is: closing it waits for what it has to understand
        known = {"turns": [{"text": "I live in Oslo. Kim likes tea.", "turn_id": "t1"}]}
        for warming in (post(TURNS, known), self._request(path, body(1000)), post(TURNS, known)):
            self._loop.run_until_complete(self._asked(warming))
        self._doxa.wait("ana", rest_s=0.0)
        request = self._request(path, body(size))
        if path == TURNS:  # they are understood later
            self._doxa._maintenance.schedule = lambda *_, **__: None
        gc.collect()
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + LIMIT_S, resource.RLIM_INFINITY))
        before, used = _peak(reset=True), _processor_s()
        answer = self._loop.run_until_complete(self._asked(request))
        s, mb = _processor_s() - used, _peak() - before
        return {"status": answer.status, "s": round(s, 3), "mb": mb, "answer_bytes": len(answer.body)}

    def _request(self, path: str, body: Any) -> dict[str, Any]:
        return {**post(path, body if isinstance(body, str) else json.dumps(body)), "h": HEARD}


def _processor_s() -> float:
    """Return the processor time of this process in seconds, less that of what understands turns."""
    behind = [thread.ident for thread in threading.enumerate() if thread.name == "doxa-maintenance"]
    clocks = [time.pthread_getcpuclockid(one) for one in behind if one is not None]
    return time.process_time() - sum(map(time.clock_gettime, clocks))


def _peak(*, reset: bool = False) -> int:
    """Return the most memory that was resident since it was reset, in MiB; 0 where the system does not tell."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        told = Path("/proc/self/status").read_text(encoding="ascii")
        return int(told.split("VmHWM:")[1].split()[0]) // 1024
    except (OSError, IndexError):
        return 0


if __name__ == "__main__":
    main()
