"""How a search of one user's memory does when it holds a million turns.

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
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from histories import PART, Base, History, base
from numpy.typing import NDArray
from resident import resident

from doxa.core.values import Role, Turn
from doxa.language import stems
from doxa.memory import UserState, VectorMatrix
from doxa.memory.lexical import InvertedIndex
from doxa.memory.paged import Pack, write_pack
from doxa.recall import RecallSpec, evidence_of, index_of, look_up, read_query
from doxa.recall.views.dense import SHORTLIST

TOP = 10
START = datetime(2006, 1, 1, tzinfo=UTC)
SESSION = 20
"""Turns of a session."""
BUDGET = 32
"""Places that the stage by words is asked for."""
ENCODER = "builtin:minilm-l6-int8"


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
    state, best, history = UserState(user="u", dims=queries.shape[1], encoder=ENCODER), Best(queries), History(known)
    folded: list[float] = []
    for number in range(-(-turns // PART)):
        texts, bounds, rows = history.part(number, min(PART, turns - number * PART))
        best.take(rows, bounds, len(state.places))
        for at, text in enumerate(texts):
            start, said = time.thread_time(), turn(number * PART + at, text)
            state.receive(said)
            state.maintain(said, [], [], rows[bounds[at] : bounds[at + 1]])
            folded.append(time.thread_time() - start)
    start = time.thread_time()
    index_of(state)
    indexed, start = time.thread_time() - start, time.perf_counter()
    with write_pack(work / "longest.pack", {"turns": turns}) as writer:
        state.save(writer)
    saved = time.perf_counter() - start
    np.save(work / "queries.npy", queries)
    asked = [known.asked[row] for row in picked.tolist()]
    (work / "asked.json").write_text(json.dumps({"asked": asked, "best": best.places.tolist()}), encoding="utf-8")
    return {
        "turns": turns,
        "rows": int(state.vectors._first[turns]),
        "lists": len(state.vectors._signs._counts),
        "fold_us_a_turn": round(float(np.mean(folded)) * 1e6, 1),
        "fold_slowest_ms": round(max(folded) * 1e3, 1),
        "index_us_a_turn": round(indexed / turns * 1e6, 1),
        "save_s": round(saved, 2),
        "built_own_bytes_a_turn": round(resident()["own"] / turns),
    }


def turn(number: int, text: str) -> Turn:
    """Return a turn; two speak in turn, in sessions of `SESSION` turns."""
    role: Role = "assistant" if number % 2 else "user"
    return Turn(
        turn_id=f"t{number}",
        user="u",
        session=f"s{number // SESSION}",
        speaker="Ana" if role == "user" else "assistant",
        role=role,
        text=text,
        at=START + timedelta(minutes=10 * number),
        ordinal=number + 1,
    )


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
    state, before = UserState(user="u", dims=queries.shape[1], encoder=ENCODER), resident()
    pack = Pack.open(work / "longest.pack")
    opened = timed(lambda: state.load(pack))
    synced = timed(lambda: index_of(state))
    words = [stems(text) for text in asked["asked"]]
    found: list[list[int]] = []

    def once() -> list[tuple[tuple[float, float], ...]]:
        found.clear()
        took = []
        for query, terms, text in zip(queries, words, asked["asked"], strict=True):
            by_meaning = timed(lambda q=query: found.append(nearest(state.vectors, q)))
            by_words = timed(lambda t=terms: lexical(state.lexical, t))
            took.append((by_meaning, by_words, timed(lambda t=text, q=query: search(state, t, q))))
        return took

    first, again = once(), once()
    turns, after = len(state.places), resident()
    stored = Best(queries)
    for places in np.array_split(np.arange(turns), -(-turns // PART)):
        rows = [state.vectors.rows_of(place) for place in places.tolist()]
        stored.take(np.concatenate(rows), np.cumsum([0, *map(len, rows)]), int(places[0]))
    exact = stored.places.tolist()
    return {
        "load_ms": opened[0],
        "sync_ms": synced[0],
        "r_at_10": shared(found, exact),
        "r_at_10_of_float32": shared(found, asked["best"]),
        "r_at_10_rounding_alone": shared(exact, asked["best"]),
        "first_ms": first[0],
        "first_time_ms": spread(first[1:]),
        "again_ms": spread(again),
        "pack_bytes_a_turn": round(pack.nbytes / turns, 1),
        "resident_bytes_a_turn": {name: round((after[name] - before[name]) / turns, 1) for name in after},
    }


def search(state: UserState, text: str, vector: NDArray[np.float32]) -> None:
    """Search as a client does, but for the encoder."""
    evidence_of(look_up(replace(read_query(text, state), vector=vector), state, spec=RecallSpec(deadline_ms=0)))


def shared(found: list[list[int]], true: list[list[int]]) -> float:
    """Return the mean share of what is true that was found."""
    return round(float(np.mean([len(set(one) & set(of)) / TOP for one, of in zip(found, true, strict=True)])), 4)


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


def spread(took: Sequence[tuple[tuple[float, float], ...]]) -> dict[str, dict[str, float]]:
    """Return p50 and p95 of the stage by meaning, of the one by words and of the whole search."""
    times = np.array(took)
    return {
        name: {
            f"{clock}_p{share}": round(float(np.percentile(times[:, stage, at], share)), 2)
            for at, clock in enumerate(("wall", "cpu"))
            for share in (50, 95)
        }
        for stage, name in enumerate(("meaning", "words", "search"))
    }


if __name__ == "__main__":
    main()
