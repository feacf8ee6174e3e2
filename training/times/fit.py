"""Fits which of two days an open time means: `direction.toml` of doxa.language.times.

    python training/times/fit.py [--write]

`examples.jsonl`: a time expression in its text, the two days that it could mean, and which one was meant, labelled by
hand. Held out by chat, it prints how often the right day comes out, beside what a fixed choice gives.
"""

import argparse
import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from doxa.language.times.direction import CYCLES, features

HERE = Path(__file__).parent
SHIPPED = HERE.parents[1] / "src/doxa/language/en/times/direction.toml"
PENALTY = 0.3
SEEN = 4
"""Examples that a word has to stand in."""
FOLDS = 10


def main() -> None:
    """Fit, print, write."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--write", action="store_true")
    args = reader.parse_args()
    rows = [json.loads(line) for line in (HERE / "examples.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["label"] != "none"]
    weighed = [weighed_of(row) for row in rows]
    counts = Counter(name for one in weighed for name in one)
    names = [name for name, count in counts.items() if count >= SEEN and name != "bias"]
    x = np.array([[one.get(name, 0.0) for name in names] for one in weighed])
    y = np.array([row["label"] == "behind" for row in rows])
    model = LogisticRegression(C=PENALTY, max_iter=2000)
    found = cross_val_predict(model, x, y, groups=[row["from"] for row in rows], cv=GroupKFold(FOLDS))
    clean = np.array(["/" in row["from"] for row in rows])
    written = np.array([row["from"].startswith("written") for row in rows])
    near = sum(x[:, names.index(f"near in a {cycle}")] for cycle, _ in CYCLES) > 0
    for name, part in (("all", y == y), ("chats", ~clean & ~written), ("clean text", clean), ("written", written)):
        told = {"always ahead": ~y, "the nearer one": near == y, "fitted, held out": found == y}
        print(f"{name}: {part.sum()} of which behind {y[part].mean():.3f}; right: ", end="")
        print(", ".join(f"{key} {value[part].mean():.3f}" for key, value in told.items()))
    print(f"behind: recall {found[y].mean():.3f}, precision {y[found].mean():.3f}; {len(names)} weights")
    if args.write:
        model.fit(x, y)
        weights = {"bias": float(model.intercept_[0])} | dict(zip(names, model.coef_[0].tolist(), strict=True))
        lines = ["# Fitted by training/times/fit.py: do not edit by hand.", "[weights]"]
        lines += [f"{json.dumps(name, ensure_ascii=False)} = {value:.3f}" for name, value in sorted(weights.items())]
        SHIPPED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def weighed_of(row: dict[str, Any]) -> dict[str, float]:
    """Return what is weighed of an example."""
    behind, ahead, at = (datetime.fromisoformat(row[key]) for key in ("behind", "ahead", "at"))
    return features(row["text"], row["start"], row["end"], behind, ahead, at)


if __name__ == "__main__":
    main()
