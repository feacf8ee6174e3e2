"""Lets inputs in at every entrance that nobody meant to send, and says what came of it.

    python benchmarks/fire/fuzz.py [--inputs 2000000] [--entrance NAME ...] [--seed 1] [--json FILE]

Inputs are mutations of texts, files, calls and requests (`doors`, `mutations`), and of what is kept of earlier runs
(`tests/fuzz/corpus`). Where atheris is installed (pip install atheris) the coverage of Doxa's own code says which
of them are gone on with; elsewhere they are drawn by a seed, the same every time (`--plain` does that anyway). Each
entrance has its share of the inputs, in a process of its own; one that an input ends, or that is at one input for
longer than a minute, is begun again behind it. Engines are light, with a parser that draws its trees from the words;
`--models` is the share of the inputs of engines that is let in once more with the models of the default settings.

A fault is an error that is none of Doxa's own, an answer that says that something went wrong inside, an acknowledged
turn that is gone, and an input that takes more than two seconds of processor time. `--keep` keeps the inputs that were
faults, and small ones that lead to where no other does, in the corpus. Exit code 1 when there was a fault.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from corpora import Kept, kept, write
from mutations import LONGEST, Mutator
from shares import DOORS, ENGINES, share_of

STUCK_S = 60.0
POLLED_S = 0.5
COVERED = re.compile(rb"cov: (\d+) ft: (\d+)")
SMALL = 1024
"""Bytes of an input that may be kept for where it leads."""
SOME = 12
"""How many of those are kept of an entrance."""


def main() -> None:
    """Run every entrance, and print one line each."""
    options = _options()
    if options.inside:
        _inside(options.inside, options)
        return
    rows = []
    for name, models in _runs(options):
        row = Run(name, models, options).whole()
        rows.append(row)
        print(json.dumps({key: value for key, value in row.items() if key != "faults"}), flush=True)
        for what, held in row["faults"].items():
            print(f"  {row['counts'][what]} x {what}: {b64decode(held[0][1])[:200]!r}", flush=True)
    total = {name: sum(row[name] for row in rows) for name in ("inputs", "faulty", "over_2s", "ended", "cpu_s")}
    total["slowest_s"] = max(row["slowest_s"] for row in rows)
    print(json.dumps({"total": total}))
    if options.json:
        options.json.write_text(json.dumps({"total": total, "entrances": rows}, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if total["faulty"] or total["ended"] else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=2_000_000, help="of all entrances together")
    parser.add_argument("--entrance", action="append", choices=[*DOORS], default=[])
    parser.add_argument("--models", type=float, default=0.05, help="share of engines' inputs with the default models")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="without atheris")
    parser.add_argument("--keep", action="store_true", help="keep what was found in the corpus")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--default-models", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _runs(options: argparse.Namespace) -> Iterator[tuple[str, bool]]:
    for name in options.entrance or DOORS:
        yield name, False
        if name in ENGINES and options.models:
            yield name, True


class Run:
    """The inputs of one entrance, by as many processes as it takes."""

    def __init__(self, name: str, models: bool, options: argparse.Namespace) -> None:
        self.name, self.models, self._options = name, models, options
        self._wanted = share_of(name, options.inputs) if not models else 0
        if models:
            self._wanted = max(20, int(share_of(name, options.inputs) * options.models))
        self.row: dict[str, Any] = {
            "entrance": f"{name}, default models" if models else name,
            **dict.fromkeys(("inputs", "faulty", "over_2s", "ended"), 0),
            "slowest_s": 0.0,
            "cpu_s": 0.0,
            "mb": [],
            "edges": None,
            "features": None,
            "counts": {},
            "faults": {},
        }

    def whole(self) -> dict[str, Any]:
        """Let all of them in, and return what is told of it."""
        attempt = 0
        while self.row["inputs"] < self._wanted and attempt < 30:
            with TemporaryDirectory(prefix="fuzz-") as folder:
                self._once(Path(folder), self._options.seed + 1000 * attempt)
            attempt += 1
        return self.row

    def _once(self, folder: Path, seed: int) -> None:
        (folder / "corpus").mkdir()
        left = self._wanted - self.row["inputs"]
        command = [sys.executable, __file__, "--inside", self.name, "--folder", str(folder), "--seed", str(seed)]
        command += ["--inputs", str(left)]
        command += ["--plain"] * self._options.plain + ["--default-models"] * self.models
        environ = os.environ | {"OMP_NUM_THREADS": "1"}
        with (folder / "log").open("wb") as log:
            ran = subprocess.Popen(command, stdout=log, stderr=log, env=environ)
            code = self._watched(ran, folder / "told.json")
        self._add(folder, code)
        if self._options.keep:
            self._keep(folder)

    def _watched(self, ran: subprocess.Popen[bytes], told: Path) -> int:
        """Wait for a process, end one that is at an input for too long, and return its exit code."""
        moved, known = time.monotonic(), -1
        while ran.poll() is None:
            time.sleep(POLLED_S)
            with suppress(OSError):
                if (stamp := told.stat().st_mtime_ns) != known:
                    moved, known = time.monotonic(), stamp
            if time.monotonic() - moved > STUCK_S * (1 if known >= 0 else 5):
                ran.kill()
        return ran.wait()

    def _add(self, folder: Path, code: int) -> None:
        row, path, log = self.row, folder / "told.json", (folder / "log").read_bytes()
        told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if code or not told:
            self._ended(folder, code, log, told)
        for name, key in (("inputs", "inputs"), ("faulty", "faulty"), ("over_2s", "slow"), ("cpu_s", "cpu_s")):
            row[name] = round(row[name] + told.get(key, 0), 1)
        row["slowest_s"] = max(row["slowest_s"], told.get("slowest_s", 0.0))
        row["mb"].append(told.get("mb"))
        for what, held in told.get("faults", {}).items():
            row["faults"].setdefault(what, []).extend(held)
            row["counts"][what] = row["counts"].get(what, 0) + told["counts"].get(what, 1)
        if found := COVERED.findall(log):
            edges, features = map(int, found[-1])
            row["edges"], row["features"] = max(row["edges"] or 0, edges), max(row["features"] or 0, features)

    def _ended(self, folder: Path, code: int, log: bytes, told: dict[str, Any]) -> None:
        """Note an input that ended its process."""
        if not (folder / "current").exists():
            raise SystemExit(
                f"{self.name}: the process did not begin ({code}):\n{log[-3000:].decode(errors='replace')}"
            )
        current = (folder / "current").read_bytes()
        data = current[4 : 4 + int.from_bytes(current[:4], "little")]
        self.row["ended"] += 1
        what = f"ended ({code})"
        self.row["counts"][what] = self.row["counts"].get(what, 0) + 1
        tail = log[-2000:].decode(errors="replace")
        from base64 import b64encode

        self.row["faults"].setdefault(what, []).append((len(data), b64encode(data).decode(), tail))
        told["inputs"] = told.get("inputs", 0) + 1

    def _keep(self, folder: Path) -> None:
        held = kept(self.name)
        for what, inputs in self.row["faults"].items():
            held += [Kept(data=b64decode(text), fault=what) for _, text, _ in inputs[:2]]
        found = sorted((path.read_bytes() for path in (folder / "corpus").iterdir()), key=len)
        small = [data for data in found if len(data) <= SMALL]
        leading = [one for one in held if not one.fault]
        step = max(1, len(small) // SOME)
        held += [Kept(data=data) for data in small[::step][: SOME - len(leading)]]
        write(self.name, held)


def _inside(name: str, options: argparse.Namespace) -> None:
    """Let inputs in at one entrance, in this process."""
    logging.getLogger("doxa").setLevel(logging.CRITICAL)
    guided = None if options.plain else _atheris()
    if guided is None:
        import doors
    else:
        with guided.instrument_imports(include=list(DOORS[name].traced)):
            import doors

            door = doors.opened(name, models=options.default_models)
    if guided is None:
        door = doors.opened(name, models=options.default_models)
    from watching import Watch

    watch, mutator = Watch(door=door, folder=options.folder), Mutator(door.words)
    seeds = [*dict.fromkeys([*door.seeds, *(one.data for one in kept(name))])]
    for data in seeds:
        watch(data)
    watch.warm = True
    if guided is None:
        _drawn(watch, mutator, seeds, options)
    else:
        _guided(guided, watch, mutator, seeds, options)
    watch.tell()


def _drawn(watch: Any, mutator: Mutator, seeds: Sequence[bytes], options: argparse.Namespace) -> None:
    random = Random(options.seed)
    while watch.inputs < options.inputs:
        watch(mutator.mutated(random.choice(seeds), random.choice(seeds), random.getrandbits(48)))


def _guided(guided: Any, watch: Any, mutator: Mutator, seeds: Sequence[bytes], options: argparse.Namespace) -> None:
    corpus = options.folder / "corpus"
    for place, data in enumerate(seeds):
        (corpus / f"{place:05}").write_bytes(data)

    def mutated(data: bytes, size: int, seed: int) -> bytes:
        other = seeds[seed % len(seeds)]
        return mutator.mutated(bytes(data), other, seed)[:size]

    def one(data: bytes) -> None:
        watch(data)
        if watch.inputs >= options.inputs:
            watch.tell()

    flags = [
        f"-runs={max(1, options.inputs - watch.inputs)}",
        f"-seed={options.seed}",
        f"-max_len={LONGEST}",
        "-timeout=1000",
    ]
    flags += [
        f"-artifact_prefix={options.folder}/",
        "-rss_limit_mb=6000",
        "-reload=0",
        "-len_control=0",
        "-verbosity=1",
        str(corpus),
    ]
    guided.Setup([sys.argv[0], *flags], one, custom_mutator=mutated)
    guided.Fuzz()


def _atheris() -> Any:
    try:
        import atheris
    except ImportError:
        return None
    return atheris


if __name__ == "__main__":
    main()
