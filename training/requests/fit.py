"""Fits what a message asks of the memory itself: `requests.npz` of doxa.understand.

    python training/requests/fit.py [--write]

Examples: `examples.tsv` (kind, text), and as further messages that ask nothing of it the turns and questions of
`training/trust/chats`. It prints how well each kind is found, ten-fold held out, and on `benchmarks/everyday/dev`.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from doxa.backends import load
from doxa.understand.requests import LONGEST, REQUESTS, hashed

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SHIPPED = ROOT / "src/doxa/understand/requests.npz"
PENALTY = 30.0
LEAST = 0.65
"""Probability from which a message is taken for a request."""
WEIGHT = 0.3
"""Of a turn or question of a chat."""


def main() -> None:
    """Encode, fit, print, write."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--write", action="store_true")
    args = reader.parse_args()
    with (HERE / "examples.tsv").open(encoding="utf-8") as file:
        rows = [(kind, text) for kind, text in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    further = messages(ROOT / "training/trust/chats")
    kinds = np.array([REQUESTS.index(kind) for kind, _ in rows] + [0] * len(further))
    encoder = load("encoder", "builtin")
    texts = [text for _, text in rows] + further
    vectors = rows_of(texts, encoder.encode(texts))
    weight = np.r_[np.ones(len(rows)), np.full(len(further), WEIGHT)]
    model = LogisticRegression(C=PENALTY, max_iter=3000)
    shares = cross_val_predict(
        model, vectors, kinds, cv=StratifiedKFold(10, shuffle=True, random_state=1), method="predict_proba",
        params={"sample_weight": weight},
    )  # fmt: skip
    found = np.where(shares.max(1) >= LEAST, shares.argmax(1), 0)
    written = np.arange(len(kinds)) < len(rows)
    for at, kind in enumerate(REQUESTS):
        is_, said = kinds[written] == at, found[written] == at
        print(f"{kind:10} n {is_.sum():4d}  recall {said[is_].mean():.3f}  precision {is_[said].mean():.3f}")
    print(f"turns and questions of chats taken for requests: {(found[~written] > 0).sum()} of {len(further)}")
    model.fit(vectors, kinds, sample_weight=weight)
    dev = messages(ROOT / "benchmarks/everyday/dev")
    taken = model.predict_proba(rows_of(dev, encoder.encode(dev)))
    taken = [
        (REQUESTS[p.argmax()], text) for p, text in zip(taken, dev, strict=True) if p.max() >= LEAST and p.argmax()
    ]
    print(f"of everyday/dev: {len(taken)} of {len(dev)}")
    for kind, text in taken:
        print(f"  {kind}: {text}")
    if args.write:
        scale = np.abs(model.coef_.T).max(0) / 127
        np.savez_compressed(
            SHIPPED, weights=np.round(model.coef_.T / scale).astype(np.int8), scale=scale.astype(np.float32),
            bias=model.intercept_.astype(np.float32), least=np.float32(LEAST),
        )  # fmt: skip
        print(f"{SHIPPED.name}: {SHIPPED.stat().st_size:,} bytes")


def rows_of(texts: list[str], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what is weighed of some messages, one row each."""
    return np.c_[vectors, np.stack([hashed(text) for text in texts])]


def messages(folder: Path) -> list[str]:
    """Return the turns of users and the questions of some chats that are short enough to be requests."""
    chats = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    said = [turn["text"] for chat in chats for turn in chat["turns"] if turn["role"] == "user"]
    asked = [one["question"] for chat in chats for one in chat["questions"]]
    return [text for text in (*said, *asked) if len(text) <= LONGEST]


if __name__ == "__main__":
    main()
