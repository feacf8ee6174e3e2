"""Fits how far a claim can be trusted: `gate.toml` of doxa.understand.

    python training/trust/claims.py [--write]

Claims of `benchmarks/everyday/dev`, labelled by hand, from which the grader did not learn; and of gold turns
(`benchmarks/understanding`), so that a clean sentence is trusted. Held out by chat, it prints precision and what is
kept.
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import closing

import numpy as np
from answers import auc
from extract import written
from further import SETS
from numpy.typing import NDArray
from pairs import ROOT, key, labels_of
from sklearn.linear_model import LogisticRegression

from doxa import Doxa
from doxa.backends import load
from doxa.backends.grader import Grader
from doxa.core.config import Config, GraderConfig
from doxa.core.values import Turn
from doxa.understand import gate
from doxa_bench.gold import read_items
from doxa_bench.matching import Proposition
from doxa_bench.understanding import entry_of

DEV = ROOT / "benchmarks/everyday/dev"
SHIPPED = ROOT / "src/doxa/understand/gate.toml"
PENALTY = 0.05
CLEAN = 0.3
"""Weight of a claim of a gold turn."""
Matrix = NDArray[np.float64]
Row = tuple[str, dict[str, float], str, float]
"""The chat, what is weighed, the label, the weight."""


def main() -> None:
    """Collect, fit, print, write."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--write", action="store_true")
    args = reader.parse_args()
    plain = Config.load().model_copy(update={"grader": GraderConfig(name="none")})  # claims as they are read
    with Doxa.open(":memory:", config=plain) as doxa, closing(load("grader", "builtin")) as grader:
        rows = [*labelled(doxa, grader), *clean(doxa, grader)]
    names = sorted(rows[0][1], key=lambda name: (name != "bias", name))
    x = np.array([[row[1][name] for name in names] for row in rows])
    y = np.array([row[2] == "right" for row in rows], dtype=float)
    wrong = np.array([row[2] == "wrong" for row in rows])
    chats, weight = np.array([row[0] for row in rows]), np.array([row[3] for row in rows])
    p = np.zeros(len(y))
    for chat in set(chats):
        inside = chats == chat
        p[inside] = chance(x[inside], fit(x[~inside], y[~inside], weight[~inside]))
    dev = weight == 1.0
    print(f"{dev.sum()} labels, {y[dev].mean():.3f} right; held out: AUC {auc(p[dev], y[dev]):.3f}")
    alone = x[:, names.index("right")]
    print(f"the grader alone: AUC {auc(alone[dev], y[dev]):.3f}; clean turns: {y[~dev].mean():.3f} right")
    for firm in np.arange(0.3, 0.9, 0.05):
        kept = dev & (p >= firm)
        sure = p[~dev & (y == 1)] >= firm
        print(
            f"  {firm:.2f}: {kept.sum():4d} firm, right {y[kept].mean():.3f}, wrong {wrong[kept].mean():.3f}, "
            f"keeps {y[kept].sum() / y[dev].sum():.3f} of the right ones; of clean right ones {sure.mean():.3f}"
        )
    if args.write:
        weights = fit(x, y, weight)
        lines = ["# Fitted by training/trust/claims.py: do not edit by hand.", "[weights]"]
        lines += [f"{name} = {value:.4f}" for name, value in zip(names, weights, strict=True)]
        SHIPPED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def labelled(doxa: Doxa, grader: Grader) -> Iterator[Row]:
    """Yield the claims of the chats of `dev`."""
    for path in sorted(DEV.glob("*.json")):
        chat, labels = json.loads(path.read_text(encoding="utf-8")), labels_of(path)
        dialogue = doxa.dialogue(user=chat["id"], agent=chat["assistant"], speaker=chat["user"])
        for said in chat["turns"]:
            dialogue.absorb(said["text"], speaker=said["speaker"], role=said["role"], at=said["at"], turn_id=said["id"])
        dialogue.flush()
        for said in chat["turns"]:
            for told, found in weighed(doxa, grader, chat["id"], said["id"]):
                if label := labels.get((said["id"], told)):
                    yield chat["id"], found, label, 1.0


def clean(doxa: Doxa, grader: Grader) -> Iterator[Row]:
    """Yield the claims of gold turns that their gold says are right or forbidden."""
    for item in (item for path in SETS for item in read_items(path)):
        user = f"clean/{item.id}"
        chat = doxa.dialogue(user=user, agent="Assistant", speaker=item.turn.speaker)
        for said in (*item.context, item.turn):
            role = "assistant" if said.speaker == "Assistant" else "user"
            turn_id = chat.absorb(said.text, speaker=said.speaker, role=role, at=item.day).turn_id
        chat.flush()
        claims = [one for one in doxa.memory(user=user).claims(turn_id=turn_id) if one.act not in gate.MARKS]
        for claim, (_, found) in zip(claims, weighed(doxa, grader, user, turn_id), strict=True):
            told = Proposition.of(entry_of(claim), item.day)
            wrong = any(one.is_hit(told, item.day) for one in item.forbidden)
            if wrong or any(fact.agreements(told) for fact in item.facts):
                yield f"clean {hash(item.id) % 8}", found, "wrong" if wrong else "right", CLEAN


def weighed(doxa: Doxa, grader: Grader, user: str, turn_id: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield what is weighed of each claim of a turn."""
    claims = [one for one in doxa.memory(user=user).claims(turn_id=turn_id) if one.act not in gate.MARKS]
    with doxa.parts.log.user(user) as state:
        turn = state.turn(turn_id)
        assert turn is not None
        before: Turn | None = next(iter(state.context(turn, 1)), None)
    rows = grader.grade("claim", [(gate.worded(one), gate.passage(turn, before)) for one in claims])
    for claim, row in zip(claims, rows, strict=True):
        yield key(written(claim)), gate.features(claim, turn, row.tolist(), among=len(claims))


def fit(x: Matrix, y: Matrix, weight: Matrix) -> Matrix:
    """Return weights `(features,)`; the first feature is the bias."""
    model = LogisticRegression(C=PENALTY, max_iter=5000).fit(x[:, 1:], y, sample_weight=weight)
    return np.r_[model.intercept_, model.coef_[0]]


def chance(x: Matrix, weights: Matrix) -> Matrix:
    """Return the probability of each row."""
    return 1 / (1 + np.exp(-x @ weights))


if __name__ == "__main__":
    main()
