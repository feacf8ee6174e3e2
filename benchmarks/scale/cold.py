"""How long a cold user's memory takes to open and to answer for the first time, with its snapshot and without.

    python benchmarks/scale/cold.py DATABASE --user ana --question "Where does Ben live?"

Each case runs in a process of its own, in which the models have answered for somebody else before: it is the user who
is cold. The database is copied first; with it is measured what the file and the snapshot take on disk.
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


def main() -> None:
    """Measure in processes of their own, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", type=Path)
    parser.add_argument("--user", default="ana")
    parser.add_argument("--question", default="Where do I live?")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(opened(options.database, options.user, options.question)))
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(options.database, folder))
        asked = ["--user", options.user, "--question", options.question, "--inside"]
        found = {}
        for name in ("without a snapshot", "with a snapshot"):
            again = [sys.executable, __file__, str(copy), *asked]
            ran = subprocess.run(again, check=True, capture_output=True, text=True)
            found[name] = json.loads(ran.stdout)
        packs = sum(file.stat().st_size for file in Path(f"{copy}.folds").rglob("*.fold"))
        print(json.dumps({**found, "database_mb": copy.stat().st_size / 1e6, "snapshot_mb": packs / 1e6}, indent=1))


def opened(database: Path, user: str, question: str) -> dict[str, Any]:
    """Return what one process measured."""
    with Doxa.open(database) as doxa:
        warm = doxa.dialogue(user="somebody else")
        warm.absorb("I live in Oslo.")
        warm.flush()
        warm.ask("Where do I live?")
        start = time.perf_counter()
        with doxa.parts.log.user(user) as state:
            opened_s = time.perf_counter() - start
            turns, facts = len(state.turns), len(state.beliefs.facts)
        doxa.memory(user=user).search(question)
        searched_s = time.perf_counter() - start
        doxa.dialogue(user=user).ask(question)
        asked_s = time.perf_counter() - start
        found = {"open_ms": opened_s, "open_and_search_ms": searched_s, "open_search_ask_ms": asked_s}
        return {"turns": turns, "facts": facts, **{name: round(s * 1000, 1) for name, s in found.items()}}


if __name__ == "__main__":
    main()
