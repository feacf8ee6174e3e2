"""How long a search takes, how that grows with the history, what a turn costs in memory, and what two stages miss.

    python benchmarks/recall.py [TRANSCRIPT] [--db FILE] [--sizes 87 696 3750 30000] [--queries 300] [--json]

The turns of a transcript of any format that `doxa ingest` reads are understood once (`--db` takes a memory in which
that was done). Longer histories of one user are the same turns told again at later times, in other sessions, with facts
of their own and vectors that differ a little: words are as frequent as they were, and so is what refers to them. The
baseline in the same run is the product of the query with the whole matrix in float32. `--memory` measures bytes a turn
with tracemalloc, which makes everything slower: no time is measured then. Times are of the processor; for growth each
question is asked of both histories in turn.
"""

import argparse
import gc
import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np

from doxa.backends.transcripts import read
from doxa.core.config import Config
from doxa.core.values import Change
from doxa.engine import Doxa
from doxa.memory import Maintained, UserState, turn_of
from doxa.memory.vectors import from_bytes
from doxa.recall import Query, RecallSpec, evidence_of, index_of, look_up, read_query
from doxa.recall.views import dense

EXAMPLE = Path(__file__).parent.parent / "examples" / "ana.jsonl"
USER = "u"
NOISE = 0.15
"""How far the vector of a turn that is told again is from the first, as a share of its length."""
ROUNDS = 3
"""How often each question is asked for growth."""
SPEC = RecallSpec(deadline_ms=0)
Told = tuple[Maintained, np.ndarray | None]
"""What a turn was understood as, with its vectors."""


def main() -> None:
    """Run everything and print one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("transcript", nargs="?", type=Path, default=EXAMPLE)
    arguments.add_argument("--db", type=Path, help="A memory of the transcript; all of its users are one here.")
    arguments.add_argument("--sizes", type=int, nargs="+", default=[87, 696, 3750, 30000])
    arguments.add_argument("--queries", type=int, default=300)
    arguments.add_argument("--memory", action="store_true", help="Measure memory alone, at the first size.")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.db or Path(folder) / "recall.db"
        if not options.db:
            ingest(options.transcript, path)
        with Doxa.open(path, config=Config()) as doxa:
            events = list(events_of(doxa))
            if options.memory:
                report = resident(events, options.sizes[0], doxa)
            else:
                states = {size: history(events, size, doxa.parts.encoder.dims) for size in options.sizes}
                report = {str(size): measure(states[size], size, options.queries, doxa) for size in options.sizes}
                pairs = eightfold(options.sizes)
                report |= {f"growth {a} to {b}": grown(states[a], states[b], options.queries, doxa) for a, b in pairs}
    print(json.dumps(report, indent=2))


def ingest(transcript: Path, path: Path) -> None:
    """Understand every line of a transcript once."""
    with Doxa.open(path, config=Config()) as doxa:
        for number, conversation in enumerate(read(transcript).conversations):
            for line in conversation.lines:
                chat = doxa.dialogue(user=str(number), session=line.session or "default")
                chat.absorb(line.text, speaker=line.speaker, role=line.role, at=line.at, turn_id=line.turn_id)
        doxa.flush()


def events_of(doxa: Doxa) -> Iterator[Told]:
    """Yield what every turn of every user was understood as, with its vectors, in order, as if of one user."""
    log = doxa.parts.log
    for user in doxa.users():
        rows = log.rows(user)
        with log.user(user):  # encodes what has no vector yet
            vectors = {v.ordinal: v.data for v in log.store.vectors(log.scope(user), model=log.encoder.name, after=0)}
        turns = {row.ordinal: turn_of(row, USER) for row in rows if row.kind == "turn"}
        for row in rows:
            if row.kind == "maintained" and row.about in turns:
                data = vectors.get(row.about)
                event = Maintained.from_row(row, turns[row.about])
                yield told_by(event, user), None if data is None else from_bytes(data)


def told_by(event: Maintained, name: str) -> Maintained:
    """Return an event with ids, a session and facts that bear a name, so that it is another one."""

    def renamed(change: Change) -> Change:
        fact = replace(
            change.fact,
            fact_id=f"{name} {change.fact.fact_id}",
            turn_ids=tuple(f"{name} {key}" for key in change.fact.turn_ids),
        )
        because = tuple(f"{name} {key}" for key in change.because)
        return replace(change, fact=fact, turn_id=change.turn_id and f"{name} {change.turn_id}", because=because)

    assert event.about is not None
    turn = replace(event.about, turn_id=f"{name} {event.about.turn_id}", session=f"{name} {event.about.session}")
    claims = [replace(claim, turn_id=turn.turn_id) for claim in event.claims]
    return replace(event, about=turn, claims=claims, rules=(), changes=[renamed(change) for change in event.changes])


def history(events: Sequence[Told], size: int, dims: int) -> UserState:
    """Return the memory of one user of `size` turns."""
    state, random = UserState(user=USER, dims=dims), np.random.default_rng(0)
    for number in range(size):
        copy, place = divmod(number, len(events))
        event, vector = events[place]
        assert event.about is not None
        if copy:
            event = told_by(event, str(copy))
        turn = replace(event.about, ordinal=number + 1, at=event.about.at + timedelta(days=400 * copy))
        if vector is not None and copy:
            rows = vector.reshape(-1, dims)
            rows = rows + NOISE / dims**0.5 * random.standard_normal(rows.shape).astype(np.float32)
            vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        state.receive(turn)
        replace(event, about=turn).apply(state, vector)
    return state


def measure(state: UserState, size: int, count: int, doxa: Doxa) -> dict[str, float]:
    """Return milliseconds of a search, of its parts and of the baseline, and the work that it took."""
    begun = time.perf_counter()
    index_of(state)
    synced = time.perf_counter() - begun
    queries, encoding = asked(state, count, doxa)
    matrix = np.array([state.vectors.row(place) for place in range(size)])
    read_rows, read_postings = state.vectors.read, state.lexical.read
    searches = [timed(lambda q=query: evidence_of(look_up(q, state, spec=SPEC))) for query in queries]
    work = (state.vectors.read - read_rows, state.lexical.read - read_postings)
    scans = [timed(lambda q=query: np.argpartition(-(matrix @ q.vector), 9)[:10]) for query in queries]
    both = np.array(searches) + np.array(encoding)
    return {
        "turns": size,
        "rows": len(state.vectors.rows()),
        "search_p50_ms": at(searches, 50),
        "search_p95_ms": at(searches, 95),
        "with_encoder_p50_ms": at(both, 50),
        "with_encoder_p95_ms": at(both, 95),
        "float32_scan_p50_ms": at(scans, 50),
        "search_to_scan": round(at(searches, 50) / at(scans, 50), 2),
        "rows_in_full_per_query": round(work[0] / len(queries)),
        "postings_per_query": round(work[1] / len(queries)),
        "index_ms_per_turn": round(1000 * synced / size, 3),
        **missed(state, queries),
    }


def asked(state: UserState, count: int, doxa: Doxa) -> tuple[list[Query], list[float]]:
    """Return queries with their vectors, and the milliseconds that encoding each one took."""
    turns = [turn.text for turn in state.turns.values() if turn.text.rstrip().endswith("?")]
    texts = (turns or [turn.text for turn in state.turns.values()])[:: max(1, len(turns) // count)][:count]
    queries, times = [], []
    doxa.parts.encoder.encode(["warm"])
    for text in texts:
        query = read_query(text[:300], state)
        begun = time.process_time()
        vector = doxa.parts.encoder.encode([query.wording])[0]
        times.append((time.process_time() - begun) * 1000)
        queries.append(replace(query, vector=vector))
        evidence_of(look_up(queries[-1], state, spec=SPEC))  # caches are warm before anything is counted
    return queries, times


def missed(state: UserState, queries: Sequence[Query]) -> dict[str, float]:
    """Return how much of what a search without the first stage finds is found, in the top ten."""
    found, same = [], []
    for query in queries:
        exact = np.argsort(-state.vectors.best_at(np.arange(len(state.vectors)), query.vector), kind="stable")[:10]
        near, scores = state.vectors.nearest(query.vector, dense.SHORTLIST)
        found.append(
            len(set(exact.tolist()) & set(near[np.argsort(-scores, kind="stable")[:10]].tolist())) / len(exact)
        )
    shortlist = dense.SHORTLIST
    for query in queries[::5]:
        two_stages = {item.turn_ids for item in evidence_of(look_up(query, state, spec=SPEC))}
        dense.SHORTLIST = len(state.vectors.rows())
        in_full = {item.turn_ids for item in evidence_of(look_up(query, state, spec=SPEC))}
        dense.SHORTLIST = shortlist
        same.append(len(two_stages & in_full) / max(len(in_full), 1))
    return {"dense_top10_of_exact": round(float(np.mean(found)), 4), "top10_of_exact": round(float(np.mean(same)), 4)}


def resident(events: Sequence[Told], size: int, doxa: Doxa) -> dict[str, object]:
    """Return bytes a turn of a memory of `size` turns with what recall keeps of it, in all and by file."""
    gc.collect()
    tracemalloc.start()
    state = history(events, size, doxa.parts.encoder.dims)
    gc.collect()
    of_state = tracemalloc.get_traced_memory()[0]
    index_of(state)
    gc.collect()
    taken = tracemalloc.take_snapshot().statistics("filename")
    in_all = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    files = {f"{Path(entry.traceback[0].filename).name}": round(entry.size / size) for entry in taken[:14]}
    return {
        "turns": size,
        "bytes_per_turn": round(in_all / size),
        "of_state": round(of_state / size),
        "of_recall": round((in_all - of_state) / size),
        "by_file": files,
    }


def eightfold(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of sizes of which one is eight times the other."""
    return [(a, b) for a in sizes for b in sizes if b == 8 * a]


def grown(small: UserState, large: UserState, count: int, doxa: Doxa) -> dict[str, float]:
    """Return how many times as long a search takes in the larger history, each question asked of both in turn."""
    queries, encoding = asked(small, count, doxa)
    for query in queries:
        evidence_of(look_up(query, large, spec=SPEC))
    took = np.array(
        [
            [timed(lambda q=query, s=state: evidence_of(look_up(q, s, spec=SPEC))) for state in (small, large)]
            for _ in range(ROUNDS)
            for query in queries
        ]
    )
    whole = took + np.tile(encoding, ROUNDS)[:, None]
    return {
        "search_p50": ratio(np.percentile(took, 50, axis=0)),
        "search_p95": ratio(np.percentile(took, 95, axis=0)),
        "with_encoder_p50": ratio(np.percentile(whole, 50, axis=0)),
        "with_encoder_p95": ratio(np.percentile(whole, 95, axis=0)),
    }


def ratio(both: np.ndarray) -> float:
    """Return how many times the first of two the second is."""
    return round(float(both[1] / both[0]), 3)


def timed(act: Callable[[], object]) -> float:
    """Return how many milliseconds of the processor something takes: what else it does is not in them."""
    begun = time.process_time()
    act()
    return (time.process_time() - begun) * 1000


def at(values: Sequence[float], percent: int) -> float:
    """Return a percentile."""
    return round(float(np.percentile(values, percent)), 3)


if __name__ == "__main__":
    main()
