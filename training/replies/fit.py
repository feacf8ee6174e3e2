"""Fits the weights with which the evidence about a clause of a reply is weighed: `weights.toml` of doxa.verify.

    python training/replies/draw.py --out cases.jsonl --count 1700 --real 600
    python training/replies/fit.py --cases cases.jsonl --out src/doxa/verify/weights.toml

Of each reply the clause counts that differs most from what was said. Logic and wording are left out: what weighs there
is `given`, since made-up facts say little about how well they read what people write.
"""

from __future__ import annotations

import argparse
import re
from datetime import datetime
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from doxa.backends import load
from doxa.core.values import Turn
from doxa.memory import Beliefs
from doxa.verify import Known
from doxa.verify.conflicts import conflict_of
from doxa.verify.evidence import Evidence
from doxa.verify.premises import bears, premise_of
from doxa.verify.sentences import read_reply
from doxa_bench.replies import Case, read_cases

AT = datetime(2025, 12, 1)  # noqa: DTZ001
GIVEN = ("partly_for",)


def main() -> None:
    """Collect the evidence, fit on nine tenths, tell how well it does on the rest, fit on all and write."""
    parser = argparse.ArgumentParser(description="Fit the weights of evidence.")
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    nli = load("nli", "builtin")
    chosen = [(case, found) for case in read_cases(args.cases) if (found := differing(case)) is not None]
    rows = nli.classify([(premise, text) for _, (premise, text, _) in chosen])
    evidence = [
        Evidence(conflict=conflict, entailed=float(row[0]), contradicted=float(row[2]))
        for (_, (_, _, conflict)), row in zip(chosen, rows, strict=True)
    ]
    names = [name for name in evidence[0].features if name not in GIVEN]
    x = np.array([[one.features[name] for name in names] for one in evidence])
    y = np.array([case.planted for case, _ in chosen])
    held = np.arange(len(y)) % 10 == 0
    model = LogisticRegression(max_iter=3000).fit(x[~held], y[~held])
    print(f"{len(y)} replies, AUC on those left out {roc_auc_score(y[held], model.decision_function(x[held])):.3f}")
    model = LogisticRegression(max_iter=3000).fit(x, y)
    write(args.out, dict(zip(names, model.coef_[0], strict=True)), float(model.intercept_[0]))


def differing(case: Case) -> tuple[str, str, object] | None:
    """The premise, the clause that differs most from it, and how; None where nothing bears on the reply."""
    turns = [
        Turn(turn_id=str(n), user="u", session="s", speaker=one.speaker, role="user", text=one.text, ordinal=n, at=AT)
        for n, one in enumerate(case.turns)
    ]
    known = Known(
        beliefs=Beliefs(), user=case.person, agent="Assistant", at=AT, read=lambda clause, before: (),
        revised=lambda claims: (), turn=lambda key: None, said=lambda text: turns,
    )  # fmt: skip
    best = None
    for sentence in read_reply(case.reply):
        premise = premise_of(sentence.text, known) if bears(sentence) else None
        for text in [clause.text for clause in sentence.clauses] or [sentence.text]:
            if premise is None:
                continue
            conflict = conflict_of(text, premise.said, AT)
            if not sentence.clauses:
                conflict = conflict.presupposed(asked=sentence.kind == "question")
            most = max(value for name, value in conflict.features.items() if name not in ("matched", "past", "shared"))
            if conflict.shared and (best is None or most > best[0]):
                best = most, (premise.text, f"{text[:1].upper()}{text[1:].rstrip('.')}.", conflict)
    return None if best is None else best[1]


def write(path: Path, weights: dict[str, float], bias: float) -> None:
    """Replace the fitted weights of the file."""
    lines = [f"bias = {bias:.3f}", *(f"{name} = {value:.3f}" for name, value in weights.items())]
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(?s)(?<=\[fitted\]\n).*?(?=\n\[given\])", "\n".join(lines) + "\n", text), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
