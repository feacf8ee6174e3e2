"""Fits what tells changes that were meant from changes that were only read; writes `plausible.npz`.

    python training/tasks/plausible.py        # a quarter of an hour on two cores

The turns of the task corpus are read by the grammar (`played.py`), some 42,000 changes of 18,000 turns, three in ten of
them right. To be run again when the grammar has changed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "training" / "corpus"))

from addressed import fitted  # noqa: E402
from played import Read, played  # noqa: E402
from task_turns import read_scenarios  # noqa: E402

from doxa import backends  # noqa: E402
from doxa.tasks.plausible import rows_of  # noqa: E402

DEV = re.compile(r"T9-|[UV]\d+-(?:07|19|31)$|[XYZA]\d+-(?:05|11|21)$")
ROUNDS, DROPPED, DECAY = 10, 0.5, 0.02


def read(paths: Sequence[Path]) -> list[Read]:
    """Return what the grammar makes of the turns of files."""
    parser = backends.load("parser", "builtin")
    return [one for path in paths for scenario in read_scenarios(path) for one in played(scenario, parser)]


def rows(found: Sequence[Read]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what the network sees of changes `(n, 1176)`, whether each is right, and whether it is for choices."""
    encoder = backends.load("encoder", "builtin")
    seen, right, dev = [], [], []
    for one in found:
        shown = [edit for edit in one.edits if one.told[edit.node_id] and edit.node_id in one.right]
        if shown:
            said, *of_edits = encoder.encode([one.text, *(one.told[edit.node_id] for edit in shown)])
            seen.append(rows_of(shown, len(one.edits), one.signals, one.nodes, said, np.asarray(of_edits)))
            right += [float(one.right[edit.node_id]) for edit in shown]
            dev += [bool(DEV.search(one.scenario))] * len(shown)
    return np.concatenate(seen), np.array(right), np.array(dev)


def main() -> None:
    """Read, fit, write, and say how well what is for choices is told apart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "src" / "doxa" / "tasks" / "plausible.npz")
    args = parser.parse_args()
    files = sorted((ROOT / "training" / "corpus" / "tasks").glob("*.txt"))
    seen, right, dev = rows(read([path for path in files if path.name != "T10.txt"]))
    mean, spread = seen[~dev].mean(axis=0), seen[~dev].std(axis=0) + 1e-6
    mean[-3 * 384 :], spread[-3 * 384 :] = 0.0, 1.0  # vectors stay as they are
    level = (seen - mean) / spread
    network = fitted(level[~dev], right[~dev], seed=1, rounds=ROUNDS, dropped=DROPPED, decay=DECAY)
    chance = 1 / (
        1
        + np.exp(
            -(np.maximum(level[dev] @ network["in"] + network["in_bias"], 0) @ network["out"] + network["out_bias"])
        )
    )
    above = (chance[right[dev] == 1][:, None] > chance[right[dev] == 0][None]).mean()
    print(f"{len(right)} changes, {right.mean():.3f} right; for choices {dev.sum()}, AUC {above:.3f}")
    for least in (0.03, 0.05, 0.1, 0.2, 0.3, 0.5):
        gone = chance < least
        wrong, rights = (gone[right[dev] == side].mean() for side in (0, 1))
        print(f"  below {least}: {wrong:.3f} of the wrong, {rights:.3f} of the right")
    network["in_bias"] = network["in_bias"] - (mean / spread) @ network["in"]
    network["in"] = network["in"] / spread[:, None]
    np.savez_compressed(args.out, **{name: one.astype(np.float16) for name, one in network.items()})


if __name__ == "__main__":
    main()
