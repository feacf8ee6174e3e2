"""Doxa in a world where everything fails, again and again the same: what is acknowledged is there, once, and stays.

python benchmarks/fire/simulation [--seeds 200] [--steps 100] [--from 0] [--json FILE]
python benchmarks/fire/simulation --seed 17 [--steps 100] [--verbose]          # one seed, once more
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from simulation.play import KINDS, Played, play

SAID_EVERY_S = 30.0


def main() -> None:
    """Play, print what was found, and tell whether all is as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--kind", choices=[*KINDS], help="of which kind all worlds are; by default the seed says so")
    parser.add_argument("--minutes", type=float, help="stop after so long, whatever is left")
    parser.add_argument("--verbose", action="store_true", help="print everything that happens")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # what is logged of faults that are made here is no news
    first, count = (options.seed, 1) if options.seed is not None else (options.first, options.seeds)
    report = Report(options.steps)
    where = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="doxa-simulation-", dir=where) as folder:
        for seed in range(first, first + count):
            if options.minutes and time.perf_counter() - report.began > 60 * options.minutes:
                break
            report.add(play(seed, steps=options.steps, folder=Path(folder) / "world", kind=options.kind,
                            told=print if options.verbose else None))  # fmt: skip
            if options.json:
                report.save(options.json)
    text = json.dumps(report.told(), indent=2)
    print(text)
    if options.json:
        options.json.write_text(text, encoding="utf-8")
    sys.exit(1 if report.failed else 0)


class Report:
    """What was played so far."""

    def __init__(self, steps: int) -> None:
        self.began, self._said = time.perf_counter(), 0.0
        self._asked = steps
        self.seeds = self.steps = 0
        self.kinds: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.failed: list[dict[str, Any]] = []
        self._last = self.began

    def add(self, played: Played) -> None:
        """Take in a seed."""
        now = time.perf_counter()
        self.seconds[played.kind] += now - self._last  # type: ignore[assignment]
        self._last = now
        self.seeds += 1
        self.steps += played.steps
        self.kinds[played.kind] += played.steps
        self.counts += played.counts
        if self.seeds == 20:
            gc.collect()
            gc.freeze()  # what is loaded by now stays: it need not be looked through again
        elif self.seeds % 20 == 0:
            gc.collect()
            self._last = time.perf_counter()
        if played.wrong:
            self.failed.append({"seed": played.seed, "steps": self._asked, "at": played.steps, "wrong": played.wrong})
            print(
                f"seed {played.seed} ({played.kind}), step {played.steps}: {played.wrong[:1500]}",
                file=sys.stderr,
                flush=True,
            )

    def save(self, path: Path) -> None:
        """Write what there is so far, now and then."""
        now = time.perf_counter()
        if now - self._said > SAID_EVERY_S:
            self._said = now
            path.write_text(json.dumps(self.told(), indent=2), encoding="utf-8")
            print(f"{now - self.began:.0f} s: {self.seeds} seeds, {self.steps} steps, {len(self.failed)} failed",
                  file=sys.stderr, flush=True)  # fmt: skip

    def told(self) -> dict[str, Any]:
        """Return it as plain data."""
        seconds = time.perf_counter() - self.began
        return {
            "seeds": self.seeds,
            "steps": self.steps,
            "seconds": round(seconds, 1),
            "steps a second": round(self.steps / seconds, 1),
            "steps by kind": dict(self.kinds),
            "steps a second by kind": {k: round(self.kinds[k] / s, 1) for k, s in self.seconds.items() if s},
            "failed": self.failed,
            "happened": dict(sorted(self.counts.items())),
        }


if __name__ == "__main__":
    main()
