"""What encryption costs: opening a memory, taking turns in, searching, opening it again; and the size of its files.

    python benchmarks/encryption.py [--turns 1000] [--rounds 3] [--models]

A plain memory and an encrypted one, by a passphrase, take in the same turns, in turn in each round; both are closed and
opened in processes of their own. With `--models` turns are read and searched by what ships; else the vectors are those
of tests, and what is measured is nearer to the database. `flushed` is until all is read; `receive_ms` and `read_ms` are
of the database alone: one turn that is received, and all of them read.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from doxa.backends import load
from doxa.backends.store import NewRow
from doxa.core.config import Config
from doxa.engine import Doxa

KEY = "correct horse battery staple"
NAMES = ("Kim", "Leo", "Mia", "Tom", "Eva", "Ben", "Zoe", "Max")
PLACES = ("Rome", "Oslo", "Bonn", "Porto", "Ghent", "Turku", "Lyon", "Graz")
SAYINGS = (
    "My friend {name} moved to {place} last year and likes it there.",
    "I met {name} for a coffee in {place}, number {number}.",
    "{name} works for a small company in {place} now.",
    "I like the market of {place}; {name} told me about stall {number}.",
)
LIGHT = {"encoder": {"name": "hash"}, "grader": {"name": "none"}, "reader": {"name": "none"}, "nli": {"name": "none"}}
QUESTIONS = 200


def told(count: int) -> list[str]:
    """Return turns, the same in every run."""
    dice = random.Random(0)
    return [
        dice.choice(SAYINGS).format(name=dice.choice(NAMES), place=dice.choice(PLACES), number=number)
        for number in range(count)
    ]


def config(*, key: bool, models: bool) -> Config:
    """Return the settings of a memory."""
    return Config.from_tree({**({} if models else LIGHT), **({"store": {"key": KEY}} if key else {})})


def filled(path: Path, count: int, settings: Config) -> dict[str, float]:
    """Make a memory, and return seconds."""
    start = perf_counter()
    with Doxa.open(path, config=settings) as doxa:
        opened = perf_counter()
        talk = doxa.dialogue(user="ana")
        for number, text in enumerate(told(count)):
            talk.absorb(text, turn_id=f"t{number}")
        doxa.flush()
        flushed = perf_counter()
    return {"made": opened - start, "flushed": flushed - opened}


def stored(path: Path, count: int, settings: Config) -> dict[str, float]:
    """Receive turns and read them, by the database alone."""
    store, took = load("store", f"sql:{path}.rows", **settings.store.options()), []
    for number, text in enumerate(told(count)):
        row = NewRow(kind="turn", known_at=datetime.now(UTC), body={"session": "s", "text": text})
        start = perf_counter()
        store.receive("default/ana", row, turn_id=f"t{number}")
        took.append(perf_counter() - start)
    store.close()
    store = load("store", f"sql:{path}.rows", **settings.store.options())
    start = perf_counter()
    store.read("default/ana")
    read = perf_counter() - start
    store.close()
    return {"receive_ms": 1000 * statistics.median(took), "read_ms": 1000 * read}


def searched(path: Path, settings: Config) -> dict[str, float]:
    """Open a memory, and return the seconds until it is open, until a user's is, and of one search."""
    start = perf_counter()
    with Doxa.open(path, config=settings) as doxa:
        opened = perf_counter()
        memory = doxa.memory(user="ana")
        memory.facts()
        folded = perf_counter()
        memory.search("Who lives in Rome?")
        took = []
        for number in range(QUESTIONS):
            began = perf_counter()
            memory.search(f"What did {NAMES[number % 8]} say about {PLACES[number // 8 % 8]}?")
            took.append(perf_counter() - began)
    return {"opened": opened - start, "folded": folded - opened, "search_ms": 1000 * statistics.median(took)}


def sizes(path: Path) -> dict[str, float]:
    """Return the MiB of the database and of its snapshots."""
    folds = sum(one.stat().st_size for one in Path(f"{path}.folds").rglob("*.fold"))
    return {"database_mb": path.stat().st_size / 2**20, "snapshots_mb": folds / 2**20}


def elsewhere(*arguments: str) -> dict[str, float]:
    """Return what this script says of a step, in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def main() -> None:
    """Print medians over the rounds as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--models", action="store_true")
    parser.add_argument("--step", choices=["fill", "search"], help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--key", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        settings = config(key=options.key, models=options.models)
        if options.step == "fill":
            found = filled(options.path, options.turns, settings) | stored(options.path, options.turns, settings)
        else:
            found = searched(options.path, settings)
        print(json.dumps(found))
        return
    shared = [f"--turns={options.turns}", *(["--models"] if options.models else [])]
    rows: dict[str, list[dict[str, Any]]] = {"plain": [], "encrypted": []}
    for _ in range(options.rounds):
        for name, kept in rows.items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "memory.db"
                mine = [*shared, f"--path={path}", *(["--key"] if name == "encrypted" else [])]
                row = elsewhere("--step=fill", *mine) | elsewhere("--step=search", *mine) | sizes(path)
                kept.append(row)
    print(json.dumps({name: medians(found) for name, found in rows.items()}, indent=1))


def medians(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the median of each figure, with the lowest and the highest behind it where there are several."""
    told: dict[str, Any] = {}
    for name in rows[0]:
        values = sorted(row[name] for row in rows)
        told[name] = [round(one, 4) for one in (statistics.median(values), values[0], values[-1])]
    return told


if __name__ == "__main__":
    main()
