"""Writes the labelled pairs of the open sets as files for `train.py`: SNLI by fold, and the others.

python training/nli/prepare.py --work WORK
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path

from sets import C, Pair, folds, others, snli

HELD_FOLD = 0
CALIBRATE = 700
"""Pairs of the held-out fold that the last stage leaves out as well, so that it can be calibrated on them."""


def main() -> None:
    """Write the parts of SNLI, its contradictions turned round, and one file per other source."""
    parser = argparse.ArgumentParser(description="Write the labelled pairs of the open sets.")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    args = parser.parse_args()
    pairs = snli(args.data)
    fold = folds(pairs)
    write(args.work / "snli.learn.jsonl", (pair for pair in pairs if fold[pair.premise] != HELD_FOLD))
    held = [pair for pair in pairs if fold[pair.premise] == HELD_FOLD]
    apart = {pair.premise for pair in held[:CALIBRATE]}
    write(args.work / "snli.held.jsonl", held)
    write(args.work / "snli.calibrate.jsonl", held[:CALIBRATE])
    write(args.work / "snli.all.jsonl", (pair for pair in pairs if pair.premise not in apart))
    contradictions = (pair for pair in pairs if fold[pair.premise] != HELD_FOLD and pair.allowed == C)
    # What contradicts a caption is contradicted by it.
    turned = [Pair(pair.hypothesis, pair.premise, C, "snli_turned") for pair in contradictions]
    write(args.work / "turned.jsonl", turned)
    by_source: dict[str, list[Pair]] = {}
    for pair in others(args.data):
        by_source.setdefault(pair.source, []).append(pair)
    for source, found in by_source.items():
        write(args.work / f"{source}.jsonl", found)


def write(path: Path, pairs: Iterable[Pair]) -> None:
    """One pair per line."""
    rows = [
        {"premise": pair.premise, "hypothesis": pair.hypothesis, "allowed": pair.allowed, "source": pair.source}
        for pair in pairs
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(f"{path.name}: {len(rows)}")


if __name__ == "__main__":
    main()
