"""How long a cold user's memory takes to open and to answer for the first time, with its snapshot and without.

    python benchmarks/scale/cold.py DATABASE --user ana --question "Where does Ben live?" --question "Who is Kim?"

Every question is asked in a process of its own, in which the models have answered for somebody else before: it is the
user who is cold. A first answer is the time from nothing to the answer, opening included. The database is copied first;
with it is measured what the file and the snapshot take on disk.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from doxa import Doxa

SAID = (
    "I live in Oslo.",
    "Kim moved to Bergen on 3 May 2021.",
    "My sister likes tea.",
    "I don't work at Halm Press any more.",
    "We met twice last week at half past nine.",
)
ASKED = (
    "Where do I live?",
    "When did Kim move?",
    "Who likes tea?",
    "Do I work at Halm Press?",
    "How many sisters do I have?",
    "What did we do last week?",
    "What does Kim like?",
    "Where did Kim go swimming?",
    "Who is Kim's friend?",
)
"""What is told and asked for somebody else, so that all code and all models are loaded."""


def main() -> None:
    """Measure in processes of their own, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path)
    parser.add_argument("--user", default="ana")
    parser.add_argument("--question", action="append", help="may be given several times")
    parser.add_argument("--inside", choices=("search", "ask"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    questions = options.question or ["Where do I live?"]
    if options.inside:
        print(json.dumps(first(options.database, options.user, questions[0], options.inside)))
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(options.database, folder))

        def measured(question: str, what: str) -> dict[str, Any]:
            again = [sys.executable, __file__, str(copy), "--user", options.user, "--question", question]
            ran = subprocess.run([*again, "--inside", what], check=True, capture_output=True, text=True)
            return json.loads(ran.stdout)

        found: dict[str, Any] = {"without a snapshot": measured(questions[0], "ask")}
        found["with a snapshot"] = [measured(question, what) for question in questions for what in ("search", "ask")]
        packs = sum(file.stat().st_size for file in Path(f"{copy}.folds").rglob("*.fold"))
        print(json.dumps({**found, "database_mb": copy.stat().st_size / 1e6, "snapshot_mb": packs / 1e6}, indent=1))


def first(database: Path, user: str, question: str, what: str) -> dict[str, Any]:
    """Return what one process measured."""
    with Doxa.open(database) as doxa:
        warm = doxa.dialogue(user="somebody else")
        for text in SAID:
            warm.absorb(text)
        warm.flush()
        for asked in ASKED:
            warm.ask(asked)
        start = time.perf_counter()
        with doxa.parts.log.user(user) as state:
            opened = time.perf_counter() - start
        if what == "search":
            doxa.memory(user=user).search(question)
        else:
            doxa.dialogue(user=user).ask(question)
        took = time.perf_counter() - start
        with doxa.parts.log.user(user) as state:
            held = {"turns": len(state.turns), "facts": len(state.beliefs.facts)}
        return held | {"question": question, "open_ms": round(opened * 1000, 1), f"{what}_ms": round(took * 1000, 1)}


if __name__ == "__main__":
    main()
