"""Taking in the memories of many users, all steps, offline: one process on one core, and workers through Ray Data.

    python benchmarks/scale/bulk.py [TRANSCRIPT] [--users 8] [--turns 140] [--workers 2] [--db DATABASE] [--json FILE]

Needs the extra `cluster`. Every user tells the turns of the transcript (by default the example conversation; of LoCoMo
each takes the next of its conversations). The process that is alone is kept to one core, as each worker counts for one.
A rate is taken from when every worker has done its first user, so that starting and loading models is not in it;
`whole` is with both. `--db` is a database to take them in, under new names each time; by default each of the two ways
has an SQLite file of its own, which the workers share. The load of the machine is printed beside the rates.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from doxa.backends.transcripts import read
from doxa.core.config import Config
from doxa.transport.cluster import Work, connect, disconnect, ingest, taken_in

EXAMPLE = Path(__file__).parents[2] / "examples" / "ana.jsonl"


def written(folder: Path, transcript: Path, *, users: int, turns: int) -> list[Path]:
    """Write one transcript for each user, and return their paths."""
    conversations = [one.lines for one in read(transcript).conversations]
    run = uuid4().hex[:6]
    paths = []
    for number, lines in enumerate(islice(cycle(conversations), users)):
        told = [
            {"id": f"t{place}", "role": line.role, "name": line.speaker, "content": line.text}
            | ({"at": line.at.isoformat()} if line.at else {})
            for place, line in enumerate(islice(cycle(lines), turns))
        ]
        paths.append(folder / f"{run}-user-{number}.jsonl")
        paths[-1].write_text("".join(json.dumps(one) + "\n" for one in told), encoding="utf-8")
    return paths


def rates(done: Iterator[Work], *, workers: int) -> dict[str, Any]:
    """Return how fast users were taken in."""
    began = time.perf_counter()
    came = [(time.perf_counter(), one) for one in done]
    first = came[min(workers, len(came)) - 1][0]
    later = came[workers:]
    turns = sum(one.new for _, one in came)
    assert turns and not any(one.failed for _, one in came), [one.problems for _, one in came]
    return {
        "turns": turns,
        "turns a second": round(sum(one.new for _, one in later) / (came[-1][0] - first), 1) if later else None,
        "whole": round(turns / (came[-1][0] - began), 1),
        "load average": [round(part, 2) for part in os.getloadavg()],
    }


def main() -> None:
    """Take the same in both ways, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcript", type=Path, nargs="?", default=EXAMPLE)
    parser.add_argument("--users", type=int, default=8)
    parser.add_argument("--turns", type=int, default=140)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--db")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--alone", type=Path, nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(rates(taken_in(Config(db=options.db), options.alone), workers=1)))
        return
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        given = {"users": options.users, "turns": options.turns}
        alone = written(Path(folder), options.transcript, **given)
        command = [sys.executable, __file__, "--db", options.db or f"{folder}/alone.db", "--alone", *map(str, alone)]
        core = {min(os.sched_getaffinity(0))}
        pinned = lambda: os.sched_setaffinity(0, core)  # noqa: E731
        found["one core"] = json.loads(subprocess.check_output(command, preexec_fn=pinned).splitlines()[-1])
        files = written(Path(folder), options.transcript, **given)
        config = Config(db=options.db or f"{folder}/ray.db")
        connect(config, address="local")
        try:
            found["ray"] = rates(ingest(config, files, workers=options.workers), workers=options.workers)
        finally:
            disconnect()
    found["workers"] = options.workers
    if found["one core"]["turns a second"] and found["ray"]["turns a second"]:
        found["times as fast"] = round(found["ray"]["turns a second"] / found["one core"]["turns a second"], 2)
    print(json.dumps(found, indent=2))
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
