"""What hostile texts cost: the processor time of every entrance, at a length and at half of it.

    python benchmarks/fire/hostile.py [--chars 1000000] [--shape NAME ...] [--json FILE]

For each of the `shapes`: `absorb` until the turn is understood and lifted, `after` is a plain question in the session
where it stands, `ask`, `search` and `check` are given the text itself, `respond` both asks and stores it, and `import`
takes it out of a transcript. Each runs in a memory of its own, in a process that is warm; one that takes longer than
the limit is ended and said to. Growth is the time at the whole length over that at half of it, of what takes a quarter
of a second or more: below that it is noise.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from shapes import SHAPES

from doxa.engine import Doxa

LIMIT_S = 60
NOISE_S = 0.25


def main() -> None:
    """Run every shape, and print one JSON object with the worst first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chars", type=int, default=1_000_000)
    parser.add_argument("--shape", action="append", choices=[*SHAPES], default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    shapes = options.shape or [*SHAPES]
    if options.inside:
        for line in measured(shapes, options.chars):
            print(json.dumps(line), flush=True)
        return
    rows = list(outside(shapes, options.chars))
    worst = sorted(rows, key=lambda row: -row["s"])
    grown = sorted((row for row in rows if row["s"] >= NOISE_S), key=lambda row: -row["growth"])
    found = {
        "shapes": len(shapes),
        "chars": options.chars,
        "measured": len(rows),
        "ended": [f"{row['shape']}, {row['what']}" for row in rows if row["s"] >= LIMIT_S],
        "failed": [f"{row['shape']}, {row['what']}: {row['failed']}" for row in rows if row["failed"]],
        "slowest": worst[:12],
        "grows most": grown[:12],
        "most_mb": max(row["most_mb"] for row in rows),
    }
    print(json.dumps(found, indent=1))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def outside(shapes: list[str], chars: int) -> Iterator[dict[str, Any]]:
    """Give what a process measures, which is begun again behind what it does not survive."""
    while shapes:
        named = [word for shape in shapes for word in ("--shape", shape)]
        command = [sys.executable, __file__, "--inside", "--chars", str(chars), *named]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
        ) as ran:
            assert ran.stdout is not None
            at = {"shape": shapes[0], "what": ""}
            for line in ran.stdout:
                told = json.loads(line)
                if "begins" in told:
                    at = {"shape": told["shape"], "what": told["begins"]}
                    continue
                yield told
        if ran.returncode == 0:
            return
        yield {**at, "s": float(LIMIT_S), "growth": 0.0, "failed": f"ended ({ran.returncode})", "most_mb": 0}
        shapes = shapes[shapes.index(at["shape"]) + 1 :]


def measured(shapes: list[str], chars: int) -> Iterator[dict[str, Any]]:
    """Measure in this process, whose processor time is bounded anew for every call."""
    with tempfile.TemporaryDirectory() as folder, Doxa.open(Path(folder) / "memory.db") as doxa:
        entrances = Entrances(doxa, Path(folder))
        entrances.warm()
        for shape in shapes:
            half, whole = SHAPES[shape](chars // 2), SHAPES[shape](chars)
            for what, call in entrances.all().items():
                yield {"begins": what, "shape": shape}
                short, _ = spent(call, half)
                long, failed = spent(call, whole)
                most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                yield {
                    "shape": shape,
                    "what": what,
                    "s": round(long, 3),
                    "growth": round(long / max(short, 1e-3), 2),
                    "failed": failed,
                    "most_mb": most,
                }


def spent(call: Callable[[str], object], text: str) -> tuple[float, str]:
    """Return the processor time of a call in seconds, and how it failed."""
    used = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + LIMIT_S, resource.RLIM_INFINITY))
    try:
        call(text)
    except Exception as exc:  # noqa: BLE001  it is reported
        return time.process_time() - used, f"{type(exc).__name__}: {str(exc)[:200]}"
    return time.process_time() - used, ""


class Entrances:
    """Ways for a text to come in, each into a memory of its own."""

    def __init__(self, doxa: Doxa, folder: Path) -> None:
        self._doxa, self._folder, self._users = doxa, folder, 0

    def all(self) -> dict[str, Callable[[str], object]]:
        """Return them by name; `after` follows `absorb`."""
        return {
            "absorb": self.absorb,
            "after": self.after,
            "ask": lambda text: self._doxa.dialogue(user="known").ask(text),
            "search": lambda text: self._doxa.memory(user="known").search(text),
            "check": lambda text: self._doxa.memory(user="known").check(text),
            "respond": self.responded,
            "import": self.imported,
        }

    def warm(self) -> None:
        """Have everything loaded, and something known."""
        told = self._doxa.dialogue(user="known")
        told.absorb("I live in Oslo. Kim likes tea. Add milk to my list.")
        told.flush()
        for call in self.all().values():
            call("Where do I live? Kim lives in Bergen.")

    def absorb(self, text: str) -> None:
        dialogue = self._doxa.dialogue(user=self._new())
        dialogue.absorb("I live in Oslo.")
        dialogue.absorb(text)
        dialogue.flush()

    def after(self, text: str) -> None:
        """Ask in the session of the memory that was made last; the text stands there already."""
        self._doxa.dialogue(user=f"u{self._users}").ask("Where do I live?")

    def responded(self, text: str) -> None:
        user = self._new()
        self._doxa.dialogue(user=user).respond(text)
        self._doxa.wait(user)

    def imported(self, text: str) -> None:
        path, user = self._folder / "transcript.jsonl", self._new()
        path.write_text(json.dumps({"role": "user", "content": text}) + "\n", encoding="utf-8")
        self._doxa.import_(path, user=user)
        self._doxa.wait(user)

    def _new(self) -> str:
        self._users += 1
        return f"u{self._users}"


if __name__ == "__main__":
    main()
