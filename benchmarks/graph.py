"""Seconds to export, import and ask a memory of 10,000 facts.

python benchmarks/graph.py --facts 10000
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from doxa import Config, Doxa

CONFIG = Config.from_tree({"encoder": {"name": "hash"}})
QUERIES = {
    "one person": "SELECT ?place { thing:tom7 doxa:livesIn ?place }",
    "all homes": "SELECT ?who ?place { ?who doxa:livesIn ?place }",
    "homes of who likes a tea": "SELECT ?who ?place { ?who doxa:livesIn ?place ; doxa:likes thing:tea3 }",
    "sources": "SELECT ?said { [] meta:relation doxa:livesIn ; prov:wasDerivedFrom/prov:value ?said }",
}


def main() -> None:
    """Print one line for each format and each query."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    count = parser.parse_args().facts
    with memory_of(count) as memory, tempfile.TemporaryDirectory() as folder:
        print(memory.stats())
        for format in ("jsonl", "turtle", "nquads", "jsonld"):
            measure_format(memory, format, Path(folder))
        print(f"first query, graph built: {seconds(lambda: memory.sparql('ASK {}')):.2f} s")
        for name, query in QUERIES.items():
            times = sorted(seconds(lambda query=query: memory.sparql(query)) for _ in range(20))
            print(f"{name}: {len(memory.sparql(query))} rows, median {times[10] * 1e3:.2f} ms")


@contextmanager
def memory_of(count: int) -> Iterator[Any]:
    """Give a memory of so many facts, two in each turn."""
    with Doxa.open(":memory:", config=CONFIG) as doxa:
        chat = doxa.dialogue(user="ana")
        for i in range(count // 2):
            text = f"Tom{i} lives in Rome{i % 97}. Tom{i} likes tea{i % 31}."
            chat.absorb(text, turn_id=f"t{i}", at=datetime(2024, 1, 1, tzinfo=UTC))
        chat.flush()
        yield doxa.memory(user="ana")


def measure_format(memory: Any, format: str, folder: Path) -> None:
    """Print how long a format takes out and in, and check that it comes back the same."""
    path, again = folder / "out", folder / "again"
    out = seconds(lambda: memory.export(path, format=format))
    with Doxa.open(":memory:", config=CONFIG) as other:
        copy = other.memory(user="ana")
        back = seconds(lambda: copy.import_(path))
        same = copy.export(again, format=format).read_bytes() == path.read_bytes()
    print(f"{format}: {path.stat().st_size / 1e6:.1f} MB, out {out:.2f} s, in {back:.2f} s, identical: {same}")


def seconds(act: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
