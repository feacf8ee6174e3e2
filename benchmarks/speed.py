"""How fast the foundation is: receiving, processing, answering, starting, and what a turn costs on disk and in memory.

    python benchmarks/speed.py [TRANSCRIPT] [--turns N]

A transcript of any format that `doxa ingest` reads (default: the example conversation, repeated). The baseline of
receiving is a bare `sqlite3` insert of the same text with the same durability, in the same run.
"""

import argparse
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from doxa.backends.transcripts import Line, read
from doxa.core.config import Config
from doxa.engine import Doxa

EXAMPLE = Path(__file__).parent.parent / "examples" / "ana.jsonl"
WARM = 1000
"""Turns before counting begins."""
QUESTIONS = ["Where do I live?", "What did we say about the weekend?", "When is the appointment?", "Who is allergic?"]


def main() -> None:
    """Run everything and print one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("transcript", nargs="?", type=Path, default=EXAMPLE)
    arguments.add_argument("--turns", type=int, default=2000)
    options = arguments.parse_args()
    lines = [line for conversation in read(options.transcript).conversations for line in conversation.lines]
    turns = list(islice(cycle(lines), options.turns))
    with tempfile.TemporaryDirectory() as folder:
        report = {"turns": len(turns), **receiving(Path(folder), turns), **processing(Path(folder), turns)}
    print(json.dumps(report | starting(), indent=2))


def receiving(folder: Path, turns: list[Line]) -> dict[str, float]:
    """Turns a second that become durable, against bare inserts."""
    with Doxa.open(folder / "received.db", config=Config()) as doxa:
        doxa._maintenance.schedule = lambda user: None  # type: ignore[method-assign]  # the write alone
        chat = doxa.dialogue(user="ana")
        start = time.perf_counter()
        for number, line in enumerate(turns):
            chat.absorb(line.text, at=line.at, turn_id=str(number))
        ours = len(turns) / (time.perf_counter() - start)
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE turns (id TEXT PRIMARY KEY, text TEXT)")
    start = time.perf_counter()
    for number, line in enumerate(turns):
        connection.execute("INSERT INTO turns VALUES (?, ?)", (str(number), line.text))
    bare = len(turns) / (time.perf_counter() - start)
    connection.close()
    return {"received_per_s": round(ours), "bare_insert_per_s": round(bare), "received_to_bare": round(ours / bare, 3)}


def processing(folder: Path, turns: list[Line]) -> dict[str, float]:
    """Turns a second through everything, what they cost, and how long answers take."""
    path = folder / "processed.db"
    with Doxa.open(path, config=Config()) as doxa:
        chat = doxa.dialogue(user="ana")
        for number, line in enumerate(turns[:WARM]):  # models and caches are loaded before anything is counted
            chat.absorb(line.text, speaker=line.speaker, at=line.at, turn_id=f"warm {number}")
        chat.flush()
        resident, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        for number, line in enumerate(turns):
            chat.absorb(line.text, speaker=line.speaker, at=line.at, turn_id=str(number))
        chat.flush()
        seconds = time.perf_counter() - start
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
        answers = [timed(lambda q=q: chat.ask(q)) for q in QUESTIONS * 25]
    start = time.perf_counter()
    with Doxa.open(path, config=Config()) as doxa:
        doxa.dialogue(user="ana").ask(QUESTIONS[0])
        cold = time.perf_counter() - start
    return {
        "processed_per_s": round(len(turns) / seconds, 1),
        "disk_bytes_per_turn": round(path.stat().st_size / (len(turns) + len(turns[:WARM]))),
        "resident_bytes_per_turn": round(grown * 1024 / len(turns)),
        "answer_p50_ms": round(sorted(answers)[50], 2),
        "answer_p95_ms": round(sorted(answers)[95], 2),
        "first_answer_after_opening_s": round(cold, 3),
    }


def timed(act) -> float:  # type: ignore[no-untyped-def]
    """Return how many milliseconds something takes."""
    start = time.perf_counter()
    act()
    return (time.perf_counter() - start) * 1000


def starting() -> dict[str, float]:
    """Seconds of `import doxa`, the median of five fresh processes."""
    code = "import time; s = time.perf_counter(); import doxa; print(time.perf_counter() - s)"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    return {"import_s": round(sorted(times)[2], 4)}


if __name__ == "__main__":
    main()
