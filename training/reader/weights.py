"""Weigh what speaks for a span: the reader's odds, the rank of its turn, what the turn covers of the question.

python training/reader/weights.py --model FOLDER --memory longmemeval.db

The memory holds the evidence turns of LongMemEval (`open/`) and 198 sessions besides as one user's; it is asked
questions of the half that the reader was not trained on. A span counts as right when it shares at least half of its
words with the answer. Prints the weights for `doxa.reason.spans`, and how often the best span is right in five folds.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from doxa.backends.reader.onnx import open_reader
from doxa.core.config import Config
from doxa.core.values import Question, Turn
from doxa.engine import Doxa
from doxa.reason.spans import WEIGHTS, PassageReader, read_spans
from doxa.reason.telling import tellings

NAMES = tuple(WEIGHTS)
RIGHT = 0.5
SHRINK = 0.02


def main() -> None:
    """Ask, label, fit, cross-validate."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--model", type=Path, required=True)
    reader.add_argument("--memory", type=Path, required=True)
    reader.add_argument("--user", default="u")
    reader.add_argument("--most", type=int, default=250, help="questions")
    reader.add_argument("--asked", type=Path, help="keep what was read here, or use it")
    reader.add_argument("--data", type=Path, default=Path(os.environ.get("DOXA_DATA", "../shared/data")))
    args = reader.parse_args()
    if args.asked and args.asked.exists():
        groups = pickle.loads(args.asked.read_bytes())
    else:
        groups = gather(args)
        if args.asked:
            args.asked.write_bytes(pickle.dumps(groups))
    features = np.concatenate([group[0] for group in groups])
    labels = np.concatenate([group[1] for group in groups])
    print(len(groups), "questions,", len(labels), "spans,", int(labels.sum()), "right")
    for place in range(5):
        train = [group for at, group in enumerate(groups) if at % 5 != place]
        held = [group for at, group in enumerate(groups) if at % 5 == place]
        weights = fit(np.concatenate([g[0] for g in train]), np.concatenate([g[1] for g in train]))
        print(
            "fold",
            place,
            "best span right:",
            best(held, weights),
            "by the reader alone:",
            best(held, np.eye(len(NAMES))[0]),
        )
    weights = fit(features, labels)
    print({name: round(float(value), 3) for name, value in zip(NAMES, weights, strict=True)})


def gather(args: argparse.Namespace) -> list[tuple[np.ndarray, np.ndarray]]:
    """Features and labels of the spans of every question that has an answer in words."""
    items = json.loads((args.data / "open/longmemeval/longmemeval_evidence_turns_500.json").read_text(encoding="utf-8"))
    model = open_reader("", folder=args.model)
    groups = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(args.memory, Path(folder) / "memory.db"))
        with Doxa.open(path, config=Config()) as doxa:
            memory = doxa.memory(user=args.user)
            for at, item in enumerate(items):
                if len(groups) < args.most and at % 2 == 1 and "not enough" not in str(item["answer"]):
                    groups.append(spans(item, memory, doxa, model, args.user))
    return [group for group in groups if len(group[1])]


def spans(item: dict[str, Any], memory: Any, doxa: Doxa, model: Any, user: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of the spans of one question."""
    evidence = memory.search(item["question"], k=10)
    with doxa.parts.log.user(user) as state:

        def before(turn: Turn) -> Turn | None:
            return next(iter(state.context(turn, 1)), None)

        told = tellings(Question(text=item["question"]), evidence, state.turn, asker="user")
        found = read_spans(item["question"], evidence, told, PassageReader(model.read, before), asker="user")
    rows = [[one.features[name] for name in NAMES] for one in found]
    return np.array(rows), np.array([shared(one.text, str(item["answer"])) >= RIGHT for one in found], dtype=float)


def shared(text: str, answer: str) -> float:
    """F1 of the words of two texts."""
    one, two = (Counter(re.findall(r"\w+", part.lower())) for part in (text, answer))
    both = sum((one & two).values())
    return 2 * both / (sum(one.values()) + sum(two.values())) if both else 0.0


def fit(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights of least log loss, none below 0 but the bias, drawn a little towards 0."""

    def loss(weights: np.ndarray) -> float:
        logits = features @ weights
        return float((np.logaddexp(0, logits) - labels * logits).mean() + SHRINK * (weights[:-1] ** 2).mean())

    bounds = [(0.0, None)] * (len(NAMES) - 1) + [(None, None)]
    return minimize(loss, np.zeros(len(NAMES)), method="L-BFGS-B", bounds=bounds).x


def best(groups: list[tuple[np.ndarray, np.ndarray]], weights: np.ndarray) -> float:
    """How often the span with the greatest weight is right, of the questions where one is."""
    hits = [labels[int((features @ weights).argmax())] for features, labels in groups if labels.any()]
    return round(float(np.mean(hits)), 3)


if __name__ == "__main__":
    main()
