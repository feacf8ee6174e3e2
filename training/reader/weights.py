"""Weigh what speaks for a span: the reader's odds, the rank of its turn, what that covers of the question, its kind.

python training/reader/weights.py --model FOLDER --data benchmarks/answers/dev.json --from 4

The conversations are taken in, their questions searched for and their best turns read, as in use. A span counts as
right when it shares at least half of its words with the answer, or with a part of it where several things are asked
for; on a question without an answer none is right. Prints the weights for `doxa.reason.spans`, how often the best span
is right by conversations that had no part in the weights, and what a threshold makes of it.
"""

from __future__ import annotations

import argparse
import pickle
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from doxa.backends.reader.onnx import open_reader
from doxa.core.values import Turn
from doxa.engine import Doxa
from doxa.reason.spans import WEIGHTS, PassageReader, read_spans, reads_well
from doxa.reason.telling import tellings
from doxa.understand import read_question
from doxa_bench.answering import token_f1
from doxa_bench.locomo import Sample, ingest, read_samples

NAMES = tuple(WEIGHTS)
RIGHT = 0.5
SHRINK = 0.02
ASKER = "user"
AT = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Asked:
    """A question with the spans that were found: their features and how right they are; whether it has an answer."""

    conversation: int
    features: np.ndarray
    f1: np.ndarray
    answerable: bool


def main() -> None:
    """Ask, label, fit, cross-validate."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--model", type=Path, required=True)
    reader.add_argument("--data", type=Path, required=True)
    reader.add_argument("--from", type=int, default=0, dest="first", help="conversations that are left out")
    reader.add_argument("--asked", type=Path, help="keep what was read here, or use it")
    args = reader.parse_args()
    if args.asked and args.asked.exists():
        asked = pickle.loads(args.asked.read_bytes())
    else:
        asked = gather(args.model, read_samples(args.data)[args.first :])
        if args.asked:
            args.asked.write_bytes(pickle.dumps(asked))
    conversations = sorted({one.conversation for one in asked})
    print(len(asked), "questions,", sum(len(one.f1) for one in asked), "spans")
    held = np.concatenate([best(*parted(asked, at)) for at in conversations])
    for threshold in np.arange(0.1, 0.75, 0.05):
        told(held, float(threshold))
    print({name: round(float(value), 2) for name, value in zip(NAMES, fit(asked), strict=True)})


def parted(asked: list[Asked], conversation: int) -> tuple[list[Asked], np.ndarray]:
    """The questions of one conversation and the weights of the others."""
    others = [one for one in asked if one.conversation != conversation]
    return [one for one in asked if one.conversation == conversation], fit(others)


def told(best: np.ndarray, threshold: float) -> None:
    """What becomes of the questions with a threshold."""
    known, sure = best[:, 2] > 0, best[:, 0] >= threshold
    f1, silent = (best[:, 1] * sure)[known].mean(), 1 - sure[known].mean()
    print(f"{threshold:.2f}: F1 {f1:.3f}, silent {silent:.3f}, {1 - sure[~known].mean():.3f} where nothing is known")


def best(asked: list[Asked], weights: np.ndarray) -> np.ndarray:
    """`(n, 3)`: confidence of the best span of every question, its F1, whether there is an answer."""
    rows = []
    for one in asked:
        scores = one.features @ weights if len(one.f1) else np.array([-9.0])
        at = int(scores.argmax())
        rows.append((1 / (1 + np.exp(-scores[at])), one.f1[at] if len(one.f1) else 0.0, float(one.answerable)))
    return np.array(rows)


def gather(model: Path, samples: list[Sample]) -> list[Asked]:
    """The spans of every question that a reader is asked."""
    reader = open_reader("", folder=model)
    found = []
    with Doxa.open(":memory:") as doxa:
        for at, sample in enumerate(samples):
            ingest(sample, doxa, lambda *_: None)
            found += [one for question in sample.asked if (one := read(question, at, sample.user, doxa, reader))]
    return found


def read(asked: object, at: int, user: str, doxa: Doxa, reader: object) -> Asked | None:
    """The spans of one question; None for one that no reader is asked."""
    evidence = doxa.memory(user=user).search(asked.text, k=doxa.parts.recall.top_k)
    with doxa.parts.log.user(user) as state:

        def before(turn: Turn) -> Turn | None:
            return next(iter(state.context(turn, 1)), None)

        question = read_question(
            asked.text, asker=ASKER, at=AT, context=(), beliefs=state.beliefs, parser=doxa.parts.parser
        )
        if not reads_well(question):
            return None
        told = tellings(question, evidence, state.turn, asker=ASKER)
        spans = read_spans(question, evidence, told, PassageReader(reader.read, before), asker=ASKER)
    gold = asked.answer if asked.category != "adversarial" else ""
    parts = [gold, *gold.split(", ")] if asked.category == "multi-hop" else [gold]
    rows = np.array([[one.features[name] for name in NAMES] for one in spans]).reshape(-1, len(NAMES))
    return Asked(at, rows, np.array([max(token_f1(one.text, part) for part in parts) for one in spans]), bool(gold))


def fit(asked: list[Asked]) -> np.ndarray:
    """Weights of least log loss, drawn a little towards 0, none below 0 but the bias."""
    features = np.concatenate([one.features for one in asked])
    labels = np.concatenate([one.f1 >= RIGHT for one in asked]).astype(float)

    def loss(weights: np.ndarray) -> float:
        logits = features @ weights
        return float((np.logaddexp(0, logits) - labels * logits).mean() + SHRINK * (weights[:-1] ** 2).mean())

    bounds = [(0.0, None)] * (len(NAMES) - 1) + [(None, None)]
    return minimize(loss, np.zeros(len(NAMES)), method="L-BFGS-B", bounds=bounds).x


if __name__ == "__main__":
    main()
