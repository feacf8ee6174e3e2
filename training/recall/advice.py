"""What tells that advice is wanted: labelled questions and talk -> `src/doxa/recall/queries/advice.npz`.

A logistic regression with L2 on the vector, and one cue; held out: ten folds by text. Positive are the sentences with 1
in `advice.tsv`, the implicit questions of the generated worlds (split `train`), the questions of LongMemEval about
preferences, and turns of its users that ask for advice in so many words; negative are those with 0, its other
questions, those of MT-Eval, and talk of Synthetic-Persona-Chat. All of it from `open/`.

    python training/recall/advice.py $DOXA_DATA [--check] [--show]
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from doxa.backends import load
from doxa.recall.queries.expectation import seeks
from doxa_bench.implicit.chatter import SPEAKER
from doxa_bench.implicit.material import WORKLOADS, talk, workload

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "src/doxa/recall/queries/advice.npz"
PENALTY, FOLDS, SEED = 0.02, 10, 0
MOST = 400
"""Texts of one source."""
WEAK = 0.13
"""Weight of a text whose label is read off its source or its words; one that was labelled by hand weighs 1."""


def texts(folder: Path) -> list[tuple[str, int, float]]:
    """Return (text, label, weight), each text once."""
    rows = [line.split("\t") for line in (HERE / "advice.tsv").read_text(encoding="utf-8").splitlines()]
    found = [(text, int(label), 1.0) for label, text in rows]
    for name in WORKLOADS:
        asks = [ask for ask in workload(name, "train").asks if ask.kind != "explicit" and ask.subset != "alias"]
        found += [(text, 1, 1.0) for ask in asks for text in ask.texts]
    found += [(text, 1, 1.0) for ask in talk("train").asks for text in ask.texts]
    found += _longmemeval(folder / "open" / "longmemeval")
    found += _persona(folder / "open" / "synthetic_persona_chat")
    lines = (folder / "open" / "mteval" / "global_inst.jsonl").read_text(encoding="utf-8").splitlines()
    found += [(json.loads(line)["query"], 0, WEAK) for line in lines[:MOST]]
    return list({text: (text, label, weight) for text, label, weight in reversed(found)}.values())


def _longmemeval(folder: Path) -> list[tuple[str, int, float]]:
    entries = json.loads((folder / "longmemeval_evidence_turns_500.json").read_text(encoding="utf-8"))
    entries = list(entries.values()) if isinstance(entries, dict) else entries
    found = [(e["question"], int("preference" in e["question_type"]), 1.0) for e in entries]
    rng, asked = np.random.default_rng(SEED), []
    for session in json.loads((folder / "haystack_session_pool.json").read_text(encoding="utf-8")):
        for turn in session["turns"]:
            if turn["role"] == "user" and len(turn["content"].split()) <= 40 and "preference" in seeks(turn["content"]):
                asked.append((" ".join(turn["content"].split()), 1, WEAK))
    return found + [asked[place] for place in rng.permutation(len(asked))[:MOST]]


def _persona(folder: Path) -> list[tuple[str, int, float]]:
    lines = []
    with (folder / "Synthetic-Persona-Chat_valid.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            lines += [line.strip() for line in SPEAKER.split(row["Best Generated Conversation"]) if line.strip()]
    lines = sorted({line for line in lines if "preference" not in seeks(line)})
    return [(lines[place], 0, WEAK) for place in np.random.default_rng(SEED).permutation(len(lines))[: 2 * MOST]]


def fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return `(features,)` of a logistic regression; the last two, cue and bias, are not penalised."""
    penalty = np.r_[np.full(x.shape[1] - 2, PENALTY), 0.05, 0.0]

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        z = x @ w
        value = (weight * (np.logaddexp(0, z) - y * z)).sum() + 0.5 * (penalty * w**2).sum()
        return value, x.T @ (weight * (1 / (1 + np.exp(-z)) - y)) + penalty * w

    return minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x


def main() -> None:
    """Fit, say how well held-out texts are told apart, and write unless `--check`."""
    rows = texts(Path(sys.argv[1]))
    encoder = load("encoder", "builtin")
    meaning = encoder.encode([text for text, _, _ in rows])
    cue = np.array([[float("preference" in seeks(text)), 1.0] for text, _, _ in rows])
    x, y = np.hstack([meaning, cue]), np.array([label for _, label, _ in rows], dtype=float)
    weight = np.array([weight for _, _, weight in rows])
    fold = np.random.default_rng(SEED).integers(FOLDS, size=len(rows))
    held = np.zeros(len(rows))
    for one in range(FOLDS):
        held[fold == one] = x[fold == one] @ fit(x[fold != one], y[fold != one], weight[fold != one])
    for name, chosen in (("all", weight > 0), ("by hand", weight == 1)):
        said, right = (held > 0)[chosen], y[chosen] > 0
        worded = cue[chosen, 0] > 0
        found, by_words = (said & right).sum(), (worded & right).sum()
        print(f"{name}: {chosen.sum()} texts, {right.sum()} positive")
        print(f"  precision {found / said.sum():.3f}, recall {found / right.sum():.3f}")
        print(f"  words alone {by_words / worded.sum():.3f}, {by_words / right.sum():.3f}")
    if "--show" in sys.argv:
        for (text, label, _), score in zip(rows, held, strict=True):
            if (score > 0) != label:
                print(f"{score:6.2f} {label} {text}")
    if "--check" not in sys.argv:
        w = fit(x, y, weight).astype(np.float32)
        np.savez_compressed(OUT, meaning=w[:-2].astype(np.float16), words=w[-2], bias=w[-1])


if __name__ == "__main__":
    main()
