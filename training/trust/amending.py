"""Fits whether a message takes back or puts right what it seems to: `amending.npz` of doxa.understand.

    python training/trust/amending.py [--write]

`acts.jsonl`: messages with a claim that they take back or put right, or seem to, labelled by hand. Ten-fold held out,
it prints what is kept. How much the grader counts is fitted on those that it did not learn from.
"""

import argparse
from contextlib import closing

import numpy as np
from answers import auc
from pairs import CLAIM, ROOT, acts
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from doxa.backends import load
from doxa.understand import gate
from doxa.understand.requests import hashed

SHIPPED = ROOT / "src/doxa/understand/amending.npz"
PENALTY = 30.0
MIXED = 1.0
"""Penalty of the weights of message and grader."""


def main() -> None:
    """Encode, fit, print, write."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--write", action="store_true")
    args = reader.parse_args()
    rows = list(acts())
    right = np.array([row["label"] == CLAIM["right"] for row in rows])
    texts = [row["message"] for row in rows]
    with closing(load("encoder", "builtin")) as encoder, closing(load("grader", "builtin")) as grader:
        vectors = np.c_[encoder.encode(texts), np.stack([hashed(text) for text in texts])]
        grades = grader.grade("claim", [(row["text"], row["turn"]) for row in rows])
    graded = np.array([gate.odds_of(one.tolist()) for one in grades])
    model = LogisticRegression(C=PENALTY, max_iter=3000)
    folds = StratifiedKFold(10, shuffle=True, random_state=1)
    meant = cross_val_predict(model, vectors, right, cv=folds, method="decision_function")
    kept = np.array([row["dev"] for row in rows])
    mix = LogisticRegression(C=MIXED).fit(np.c_[meant, graded][kept], right[kept])
    written, clean = (
        np.array([test(row["chat"]) for row in rows])
        for test in (lambda c: c.startswith("written"), lambda c: "/" in c)
    )
    p = mix.predict_proba(np.c_[meant, graded])[:, 1]
    for name, part in (("written", written), ("chats", ~written & ~clean), ("clean dialogues", clean)):
        some = f"AUC by words alone {auc(meant[part], right[part]):.3f}, " if 0 < right[part].mean() < 1 else ""
        sure, good = p >= 0.5, part & right
        wrong = part & ~right
        print(f"{name}: {part.sum()}, right {right[part].mean():.3f}; {some}firm: {sure[good].mean():.3f} of the right "
              f"ones, {sure[wrong].sum()} of {wrong.sum()} others")  # fmt: skip
    print(
        "mix",
        np.r_[mix.intercept_, mix.coef_[0]].round(3),
        "AUC where the grader did not learn",
        round(auc(p[kept], right[kept]), 3),
    )
    if args.write:
        model.fit(vectors, right)
        scale = np.abs(model.coef_[0]).max() / 127
        np.savez_compressed(
            SHIPPED, weights=np.round(model.coef_[0] / scale).astype(np.int8), scale=np.float32(scale),
            bias=np.float32(model.intercept_[0]), mix=np.r_[mix.intercept_, mix.coef_[0]].astype(np.float32),
        )  # fmt: skip
        print(f"{SHIPPED.name}: {SHIPPED.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
