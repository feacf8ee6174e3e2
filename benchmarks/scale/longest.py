"""How a search of one user's memory does when it holds a million turns: the parts of it that grow with the history.

    python benchmarks/scale/longest.py --data $DOXA_DATA --cache base.npz --turns 1000000

Built are the vectors, the inverted index and the columns, from turns that `histories` tells; they are written as one
pack and opened in a process of its own, which answers real questions (LoCoMo, REALTALK; none is part of the history).
Reported are milliseconds of the stage by meaning (`VectorMatrix.nearest`), of the one by words (`InvertedIndex.best`
and `held`) and of both, by the clock and by the thread's own CPU time; R@10 of the places beside a search in full over
the same vectors in float32; and bytes of a turn in the pack, in memory of its own and in pages of the file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from histories import PART, Base, History, base
from numpy.typing import NDArray

from doxa.core.values import Turn
from doxa.language import stems
from doxa.memory import Columns, VectorMatrix
from doxa.memory.lexical import InvertedIndex
from doxa.memory.paged import Pack, write_pack
from doxa.recall.views.dense import SHORTLIST

TOP = 10
START = datetime(2006, 1, 1, tzinfo=UTC)
SESSION = 20
"""Turns of a session."""
BUDGET = 32
"""Places that the stage by words is asked for."""
WARM = 20
"""Questions before counting begins; the first of all is reported on its own."""


def main() -> None:
    """Build, write, ask in another process, and print one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--data", type=Path, help="The data folder.")
    arguments.add_argument("--cache", type=Path, help="Where the encoded real turns are kept, `.npz`.")
    arguments.add_argument("--turns", type=int, default=1_000_000)
    arguments.add_argument("--queries", type=int, default=300)
    arguments.add_argument("--work", type=Path, help="A folder for the pack; by default one that is removed.")
    arguments.add_argument("--ask", type=Path, help="Only ask the pack in this folder.")
    options = arguments.parse_args()
    if options.ask:
        print(json.dumps(ask(options.ask)))
        return
    known = base(options.data, options.cache)
    with tempfile.TemporaryDirectory() as folder:
        work = options.work or Path(folder)
        report = built(known, options.turns, options.queries, work)
        again = [sys.executable, __file__, "--ask", str(work)]
        report |= json.loads(subprocess.run(again, check=True, stdout=subprocess.PIPE).stdout)
    print(json.dumps(report | {"load": os.getloadavg()[0]}, indent=2))


def built(known: Base, turns: int, count: int, work: Path) -> dict[str, Any]:
    """Write the pack of a history and the questions with their true answers; return what that took."""
    picked = np.random.default_rng(7).choice(len(known.asked), min(count, len(known.asked)), replace=False)
    queries = known.queries[picked]
    vectors, words, columns = VectorMatrix(queries.shape[1]), InvertedIndex(), Columns()
    best, history, slowest, spent = Best(queries), History(known), 0.0, 0.0
    for number in range(-(-turns // PART)):
        texts, bounds, rows = history.part(number, min(PART, turns - number * PART))
        best.take(rows, bounds, len(vectors))
        for place, text in enumerate(texts, start=len(vectors)):
            start = time.thread_time()
            vectors.add(rows[bounds[place - number * PART] : bounds[place - number * PART + 1]])
            took = time.thread_time() - start
            slowest, spent = max(slowest, took), spent + took
            words.add(stems(text))
            columns.add(turn(place))
    start = time.perf_counter()
    with write_pack(work / "longest.pack", {"turns": turns}) as writer:
        vectors.save(writer, "vectors")
        words.save(writer, "words")
        columns.save(writer, "columns")
    saved = time.perf_counter() - start
    asked = [stems(known.asked[row]) for row in picked.tolist()]
    np.save(work / "queries.npy", queries)
    (work / "asked.json").write_text(json.dumps({"stems": asked, "best": best.places.tolist()}), encoding="utf-8")
    return {
        "turns": turns,
        "rows": int(vectors._first[turns]),
        "lists": len(vectors._signs._counts),
        "add_vectors_us_a_turn": round(spent / turns * 1e6, 1),
        "add_vectors_slowest_ms": round(slowest * 1e3, 1),
        "save_s": round(saved, 2),
    }


def turn(number: int) -> Turn:
    """Return what the columns ask of a turn."""
    role = "assistant" if number % 2 else "user"
    at = START + timedelta(minutes=10 * number)
    return Turn(turn_id="", user="u", session=f"s{number // SESSION}", speaker=role, role=role, text="", at=at)


class Best:
    """The places nearest to every query, by a search in full."""

    def __init__(self, queries: NDArray[np.float32]) -> None:
        self._queries = queries
        self.places = np.zeros((len(queries), 0), np.int64)
        self._scores = np.zeros((len(queries), 0), np.float32)

    def take(self, rows: NDArray[np.float32], bounds: NDArray[np.int64], first: int) -> None:
        """Take in the places from `first` on."""
        scores = np.maximum.reduceat(self._queries @ rows.T, bounds[:-1], axis=1)
        places = np.broadcast_to(np.arange(first, first + len(bounds) - 1), scores.shape)
        places, scores = np.concatenate([self.places, places], axis=1), np.concatenate([self._scores, scores], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
        self.places, self._scores = (np.take_along_axis(of, order, axis=1) for of in (places, scores))


def ask(work: Path) -> dict[str, Any]:
    """Open the pack, ask everything, and return what that took."""
    queries, asked = np.load(work / "queries.npy"), json.loads((work / "asked.json").read_text(encoding="utf-8"))
    vectors, words, columns = VectorMatrix(queries.shape[1]), InvertedIndex(), Columns()
    before = resident()
    start = time.perf_counter()
    pack = Pack.open(work / "longest.pack")
    loads = [timed(lambda: vectors.load(pack, "vectors")), timed(lambda: words.load(pack, "words"))]
    loads.append(timed(lambda: columns.load(pack, "columns")))
    opened = time.perf_counter() - start
    found, took, cold = [], [], []
    for query, terms in zip(queries, asked["stems"], strict=True):
        by_meaning = timed(lambda q=query: found.append(nearest(vectors, q)))
        by_words = timed(lambda t=terms: lexical(words, t))
        cold.append((by_meaning, by_words))
    for query, terms in zip(queries, asked["stems"], strict=True):
        took.append((timed(lambda q=query: nearest(vectors, q)), timed(lambda t=terms: lexical(words, t))))
    turns = len(vectors)
    after = {name: (value - before[name]) / turns for name, value in resident().items()}
    hits = [len(set(one) & set(true)) / TOP for one, true in zip(found, asked["best"], strict=True)]
    return {
        "load_ms": {
            "vectors": loads[0][0],
            "words": loads[1][0],
            "columns": loads[2][0],
            "all": round(opened * 1e3, 1),
        },
        "r_at_10": round(float(np.mean(hits)), 4),
        "first_ms": cold[0],
        "first_time_ms": spread(cold),
        "again_ms": spread(took[WARM:]),
        "pack_bytes_a_turn": round(pack.nbytes / turns, 1),
        "resident_bytes_a_turn": {name: round(value, 1) for name, value in after.items()},
        "rows_in_full": round(vectors.read / 2 / len(queries)),
        "postings": round(words.read / 2 / len(queries)),
    }


def nearest(vectors: VectorMatrix, query: NDArray[np.float32]) -> list[int]:
    """Return the nearest places by the stage by meaning."""
    places, scores = vectors.nearest(query, SHORTLIST)
    return places[np.argsort(-scores, kind="stable")[:TOP]].tolist()


def lexical(words: InvertedIndex, terms: list[str]) -> None:
    """Run the stage by words."""
    places = words.best([(term, 1.0) for term in dict.fromkeys(terms)], BUDGET)
    words.held(terms, places)


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Return the milliseconds that something takes, by the clock and by the thread's CPU time."""
    start, used = time.perf_counter(), time.thread_time()
    run()
    return round((time.perf_counter() - start) * 1e3, 2), round((time.thread_time() - used) * 1e3, 2)


def spread(took: Iterable[tuple[tuple[float, float], tuple[float, float]]]) -> dict[str, dict[str, float]]:
    """Return p50 and p95 of the stage by meaning, of the one by words and of both."""
    times = np.array(list(took))
    stages = {"meaning": times[:, 0], "words": times[:, 1], "both": times.sum(axis=1)}
    return {
        name: {
            f"{clock}_p{share}": round(float(np.percentile(of[:, at], share)), 2)
            for at, clock in enumerate(("wall", "cpu"))
            for share in (50, 95)
        }
        for name, of in stages.items()
    }


def resident() -> dict[str, int]:
    """Return the bytes of this process that are resident: of its own, and pages of files."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return {"own": int(found["RssAnon"].split()[0]) * 1024, "file": int(found["RssFile"].split()[0]) * 1024}


if __name__ == "__main__":
    main()
