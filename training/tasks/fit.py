"""Fits the classifier of intents and the confidence of a step, and prints how well both hold out.

    python training/tasks/fit.py ROWS.jsonl

Five folds by dialogue. The classifier: softmax with an L2 penalty by Adam over all rows at once, temperature on what
the folds leave out. The confidence: logistic regression, over classifier signals of folds that have not seen the
dialogue, once for steps that change something and once for those that keep all as it is. numpy alone; half a minute.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.tasks.confidence import of_intent
from doxa.tasks.intents import CLASSES, SIZE, row_of

SHIPPED = Path(__file__).parents[2] / "src" / "doxa" / "tasks"
FOLDS = 5
DECAY, STEPS, RATE = 3e-4, 300, 0.05
PENALTY = 2.0
CHAT_AGAINST = 8.0
"""How many times more of the turns here ask for nothing (one in three) than do of those that tasks are told."""
LOWERING = (
    "unread", "left out", "stranger", "passed over", "odd verb", "nothing named", "tie", "open tie", "value lost",
    "misfit", "text for text",
)  # fmt: skip
"""Signals of a step that changes something; none may speak for it."""
KEEPING = ("intent", "chat", "check", "unread", "several")

OWN = {
    pattern
    for label, patterns in tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8")).items()
    if label in CLASSES
    for pattern in patterns
}
Matrix = NDArray[np.float64]
Row = Mapping[str, Any]


def main(path: Path) -> None:
    """Fit, cross-validate, print, and write both models."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    folds = folds_of([row["dialogue"] for row in rows])
    odds = classifier(rows, folds)
    lines = ["# Fitted by training/tasks/fit.py: do not edit by hand."]
    for kind in ("changing", "keeping"):
        known = [i for i, row in enumerate(rows) if row["right"] is not None and row["changed"] is (kind == "changing")]
        table = [{**rows[i]["signals"], **intent_signals(odds[i], rows[i])} for i in known]
        right = np.array([float(rows[i]["right"]) for i in known])
        tasks = np.array([rows[i]["label"] not in ("check", "chat") for i in known])
        lines += fitted(kind, table, right, tasks, folds[known])
    (SHIPPED / "confidence.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def classifier(rows: Sequence[Row], folds: NDArray[np.int64]) -> Matrix:
    """Fit and write the classifier; return the odds `(n, classes)` of what acted, by weights that have not seen it."""
    labelled = np.array([bool(row["label"]) for row in rows])
    seen = [np.array([row_of(name) for name in row["features"]]) for row in rows]
    acted = [np.array([row_of(name) for name in row.get("acted") or row["features"]]) for row in rows]
    wanted = np.array([CLASSES.index(row["label"]) if row["label"] else 0 for row in rows])
    scores, acting = np.zeros((len(rows), len(CLASSES))), np.zeros((len(rows), len(CLASSES)))
    for fold in range(FOLDS):
        train = labelled & (folds != fold)
        weights = softmax_fit([seen[i] for i in np.flatnonzero(train)], wanted[train])
        scores[folds == fold] = scores_of(weights, [seen[i] for i in np.flatnonzero(folds == fold)])
        acting[folds == fold] = scores_of(weights, [acted[i] for i in np.flatnonzero(folds == fold)])
    heat = temperature(scores[labelled], wanted[labelled])
    own = np.array([row["dialogue"] in OWN for row in rows])
    for kind, inside in (("open data", labelled & ~own), ("turns of our own", own)):
        print(f"classifier, {kind}: {inside.sum()} turns, temperature {heat:.2f}")
        report_classes(softmax(scores[inside] / heat), wanted[inside])
    weights = softmax_fit([seen[i] for i in np.flatnonzero(labelled)], wanted[labelled])
    shift = np.array([0.0, 0.0, 0.0, -np.log(CHAT_AGAINST)])
    weights[row_of("bias")] += shift * heat
    scale = np.abs(weights).max() / 127
    np.savez_compressed(
        SHIPPED / "intents.npz", weights=np.round(weights / scale).astype(np.int8), scale=np.float32(scale / heat)
    )
    return softmax(acting / heat + shift)


def folds_of(dialogues: Sequence[str]) -> NDArray[np.int64]:
    """Return the fold of each row: all of a dialogue, or of a pattern, are in one."""
    order = np.random.default_rng(0).permutation(sorted(set(dialogues)))
    place = {str(name): at % FOLDS for at, name in enumerate(order)}
    return np.array([place[name] for name in dialogues])


def intent_signals(odds: Matrix, row: Row) -> dict[str, float]:
    """Return the signals of a row that the classifier gives."""
    return of_intent(dict(zip(CLASSES, odds.tolist(), strict=True)), row["intents"])


def softmax(scores: Matrix) -> Matrix:
    """Return the probabilities `(n, classes)` of scores."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def scores_of(weights: Matrix, seen: Sequence[NDArray[np.int64]]) -> Matrix:
    """Return the scores `(n, classes)` of rows of features."""
    return np.array([weights[one].sum(axis=0) for one in seen])


def softmax_fit(seen: Sequence[NDArray[np.int64]], wanted: NDArray[np.int64]) -> Matrix:
    """Return the weights `(SIZE, classes)`; every class weighs by the root of its size."""
    at = np.repeat(np.arange(len(seen)), [len(one) for one in seen])
    flat = np.concatenate(list(seen))
    target = np.eye(len(CLASSES))[wanted]
    weights, mean, square = (np.zeros((SIZE, len(CLASSES))) for _ in range(3))
    for step in range(1, STEPS + 1):
        scores = np.stack([np.bincount(at, weights[flat, k], len(seen)) for k in range(len(CLASSES))], axis=1)
        error = (softmax(scores) - target) / len(seen)
        slope = np.stack([np.bincount(flat, error[at, k], SIZE) for k in range(len(CLASSES))], axis=1)
        slope += DECAY * weights
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights


def temperature(scores: Matrix, wanted: NDArray[np.int64]) -> float:
    """Return the temperature with the least log loss."""
    grid = np.geomspace(0.3, 5.0, 60)
    rows = np.arange(len(wanted))
    return float(min(grid, key=lambda heat: -np.log(softmax(scores / heat)[rows, wanted] + 1e-12).mean()))


def report_classes(odds: Matrix, wanted: NDArray[np.int64]) -> None:
    """Print accuracy, calibration, and what is found of each class."""
    chosen, top = odds.argmax(axis=1), odds.max(axis=1)
    right = (chosen == wanted).astype(float)
    print(f"  held out: accuracy {right.mean():.3f}, ECE {calibration(top, right):.3f}")
    for k, name in enumerate(CLASSES):
        inside = wanted == k
        print(
            f"  {name}: n {inside.sum()}, recall {(chosen[inside] == k).mean():.3f}, "
            f"precision {(wanted[chosen == k] == k).mean():.3f}"
        )
    changes = odds[:, :2].sum(axis=1)
    change = (wanted < 2).astype(float)
    right_kind = ((changes > 0.5) == (change > 0)).mean()
    print(f"  changes or not: accuracy {right_kind:.3f}, ECE {calibration(changes, change):.3f}")
    reliability(top, right)


def calibration(p: Matrix, right: Matrix) -> float:
    """Return the expected calibration error over ten bins of equal width."""
    bins = np.minimum((p * 10).astype(int), 9)
    return float(
        sum(abs(p[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    )


def reliability(p: Matrix, right: Matrix) -> None:
    """Print, by bins of what is claimed, what is true."""
    bins = np.minimum((p * 10).astype(int), 9)
    shown = [
        f"{p[bins == b].mean():.2f}->{right[bins == b].mean():.2f} ({(bins == b).sum()})"
        for b in sorted(set(bins.tolist()))
    ]
    print("  claimed -> true (n):", ", ".join(shown))


def logistic(x: Matrix, y: Matrix, highest: Matrix) -> Matrix:
    """Return the weights `(features,)` of `x (n, features)`, none above its highest, by accelerated projected descent.

    The first feature is the bias, without a penalty.
    """
    penalty = np.r_[0.0, np.full(x.shape[1] - 1, PENALTY)]
    rate = 1 / (np.linalg.norm(x, 2) ** 2 / 4 + PENALTY)
    weights = ahead = np.zeros(x.shape[1])
    pace = 1.0
    for _ in range(4000):
        slope = x.T @ (sigmoid(x @ ahead) - y) + penalty * ahead
        stepped = np.minimum(ahead - rate * slope, highest)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead = stepped + (pace - 1) / faster * (stepped - weights)
        weights, pace = stepped, faster
    return weights


def sigmoid(score: Matrix) -> Matrix:
    """Return the probabilities of log odds."""
    return np.asarray(1 / (1 + np.exp(-score)))


def fitted(
    kind: str, table: Sequence[Mapping[str, float]], y: Matrix, tasks: NDArray[np.bool_], folds: NDArray[np.int64]
) -> list[str]:
    """Print how the confidence of one kind of steps holds out, and return its weights as lines of TOML.

    Whether a change was wanted is left to the classifier: the weights of steps that change something are fitted where
    one was.
    """
    changing = kind == "changing"
    names = ("bias", *(LOWERING if changing else KEEPING))
    x = np.array([[row.get(name, 0.0) for name in names] for row in table])
    doubted = np.array([changing and not row.get("explicit") for row in table])
    wanted = np.where(doubted, sigmoid(np.array([row["intent"] for row in table])), 1.0)
    highest = np.array([0.0 if changing and name != "bias" else np.inf for name in names])
    used = tasks if changing else np.ones(len(y), bool)
    p = np.zeros(len(y))
    for fold in range(FOLDS):
        train = used & (folds != fold)
        p[folds == fold] = sigmoid(x[folds == fold] @ logistic(x[train], y[train], highest)) * wanted[folds == fold]
    print(f"{kind}:", end="")
    report_steps(p, y)
    weights = logistic(x[used], y[used], highest)
    lines = [f'"{name}" = {weight:.3f}' for name, weight in zip(names, weights, strict=True) if abs(weight) > 5e-4]
    return ["", f"[{kind}]", *lines]


def report_steps(p: Matrix, y: Matrix) -> None:
    """Print how well a confidence tells right steps from wrong ones, and what asking about the low ones holds back."""
    above = (p[y == 1][:, None] > p[y == 0][None]).mean() if 0 < y.mean() < 1 else np.nan
    print(f" {len(y)} steps, {y.mean():.3f} right; AUC {above:.3f}, ECE {calibration(p, y):.3f}")
    reliability(p, y)
    for threshold in (0.05, 0.1, 0.13, 0.2, 0.3, 0.5):
        low = p < threshold
        held = [low[y == side].mean() if (y == side).any() else np.nan for side in (0, 1)]
        print(f"  below {threshold:.2f}: {held[0]:.3f} of the wrong, {held[1]:.3f} of the right")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
