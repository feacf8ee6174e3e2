"""Fits the weights of `doxa.understand.plausibility` to hand-made labels, and prints how well they hold out.

    python training/claims/fit.py

Logistic regression with an L2 penalty by Newton's method; ten folds by conversation. numpy alone; a second on one core.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
SHIPPED = HERE.parents[1] / "src" / "doxa" / "understand" / "plausibility.toml"
PENALTY = 2.0
FOLDS = 10
THRESHOLD = 0.25
"""Chosen on the folds: what is worth keeping is kept (98 in 100 and more), on both kinds of text."""

Matrix = NDArray[np.float64]


def main() -> None:
    """Fit, cross-validate, print, and write the weights."""
    rows = [json.loads(line) for line in (HERE / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    names = sorted({name for row in rows for name in row} - {"source", "turn", "keep"}, key=lambda n: (n != "bias", n))
    x = np.array([[float(row.get(name, 0.0)) for name in names] for row in rows])
    y = np.array([float(row["keep"]) for row in rows])
    held_out = cross_validate(x, y, [row["source"] for row in rows])
    made = np.array([row["source"].startswith("set") for row in rows])
    for kind, inside in (("chat", ~made), ("hand-made turns", made)):
        print(kind, end=": ")
        report(held_out[inside], y[inside])
    weights = fit(x, y)
    lines = [
        "# Fitted by training/claims/fit.py: do not edit by hand.",
        f"threshold = {THRESHOLD}",
        "",
        "[weights]",
        *(f"{name} = {weight:.3f}" for name, weight in zip(names, weights, strict=True)),
    ]
    SHIPPED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def fit(x: Matrix, y: Matrix) -> Matrix:
    """Return the weights `(features,)` of `x (n, features)`; the first feature is the bias, without a penalty."""
    weights = np.zeros(x.shape[1])
    penalty = np.r_[0.0, np.full(x.shape[1] - 1, PENALTY)]
    for _ in range(60):
        p = 1 / (1 + np.exp(-x @ weights))
        hessian = (x.T * (p * (1 - p))) @ x + np.diag(penalty) + 1e-9 * np.eye(len(weights))
        weights -= np.linalg.solve(hessian, x.T @ (p - y) + penalty * weights)
    return weights


def cross_validate(x: Matrix, y: Matrix, sources: Sequence[str]) -> Matrix:
    """Return for every row the probability by weights that have not seen its conversation."""
    order = np.random.default_rng(0).permutation(sorted(set(sources)))
    fold = {str(source): place % FOLDS for place, source in enumerate(order)}
    folds = np.array([fold[source] for source in sources])
    held_out = np.zeros(len(y))
    for number in range(FOLDS):
        inside = folds == number
        held_out[inside] = 1 / (1 + np.exp(-x[inside] @ fit(x[~inside], y[~inside])))
    return held_out


def report(p: Matrix, y: Matrix) -> None:
    """Print area under the curve, calibration, and precision at some thresholds."""
    above = (p[y == 1][:, None] > p[y == 0][None]).mean()
    bins = np.digitize(p, [0.2, 0.4, 0.6, 0.8])
    error = sum(abs(p[bins == b].mean() - y[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist()))
    print(f"{len(y)} labels, {y.mean():.3f} to keep; held out: AUC {above:.3f}, calibration error {error:.3f}")
    for threshold in (0.0, 0.2, 0.25, 0.3, 0.4):
        kept = p >= threshold
        print(
            f"  threshold {threshold:.2f}: precision {y[kept].mean():.3f}, "
            f"keeps {y[kept].sum() / y.sum():.3f} of the good and {kept.mean():.3f} of all"
        )


if __name__ == "__main__":
    main()
