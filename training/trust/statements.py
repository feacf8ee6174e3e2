"""Fits how a statement is judged by logic, wording and turns together: `witnesses.toml` of doxa.verify.

    python training/trust/statements.py [--write]

Statements of `benchmarks/everyday/dev` and `training/trust/fits`, from which the grader did not learn, and replies to
clean dialogues (`benchmarks/replies/held_out.jsonl`, developed on), each as the engine checks it. Held out by
chat, it prints what each choice of thresholds gives.
"""

import argparse
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from pairs import ROOT
from sklearn.linear_model import LogisticRegression

from doxa import Doxa
from doxa.core.config import Config
from doxa.core.values import SentenceVerdict
from doxa.verify import Witness, judging, witnesses
from doxa_bench.everyday.chats import read_chats
from doxa_bench.replies import read_cases

CHATS = (ROOT / "benchmarks/everyday/dev", ROOT / "training/trust/fits")
REPLIES = ROOT / "benchmarks/replies/held_out.jsonl"
SHIPPED = ROOT / "src/doxa/verify/witnesses.toml"
PENALTY = 0.1
READ = 0.55
"""How surely turns have to be read for logic and wording to be right: of the 50 contradictions that they found in clean
dialogues, all of them right, 46 are above it; of the 26 in everyday chats, 15 of them right, two."""
FALSEHOODS = 0.12
ALARMS, PLANS = 0.015, 0.05
"""Shares of truths called contradicted, and of plans called supported, that may be; and before them of falsehoods."""
Matrix = NDArray[np.float64]
Row = tuple[str, dict[str, float], str, str]
"""The chat, what is weighed, what it is, and the verdict of logic and wording."""


def main() -> None:
    """Collect, fit, print, write."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--write", action="store_true")
    args = reader.parse_args()
    rows = [row for row in collected() if row[1]["read"] < READ]
    names = sorted(rows[0][1], key=lambda name: (name != "bias", name))
    x = np.array([[row[1][name] for name in names] for row in rows])
    y = np.array([witnesses.LABELS.index(row[2]) for row in rows])
    chats = np.array([row[0] for row in rows])
    p = np.zeros((len(y), len(witnesses.LABELS)))
    for chat in set(chats):
        inside = chats == chat
        p[inside] = shares(x[inside], fit(x[~inside], y[~inside]))
    everyday = np.array([not chat.startswith("replies") for chat in chats])
    for name, part in (("everyday", everyday), ("replies", ~everyday)):
        print(name, part.sum(), {label: int((y[part] == at).sum()) for at, label in enumerate(witnesses.LABELS)})
    least = thresholds(p, y, everyday)
    tell(p, y, everyday, least)
    tell(p, y, ~everyday, least)
    if args.write:
        write(names, fit(x, y), least)


def collected() -> Iterator[Row]:
    """Yield every statement with the verdict of logic and wording, and the turns that bear on it."""
    seen: list[tuple[SentenceVerdict, list[Witness]]] = []

    def spy(sentence: SentenceVerdict, heard: list[Witness]) -> SentenceVerdict:
        seen.append((sentence, list(heard)))
        return sentence

    with patch.object(judging, "heard", spy), Doxa.open(":memory:", config=Config.load()) as doxa:
        for chat in (chat for folder in CHATS for chat in read_chats(folder)):
            dialogue = doxa.dialogue(user=chat.id, agent=chat.assistant, speaker=chat.user)
            for turn in chat.turns:
                dialogue.absorb(turn.text, speaker=turn.speaker, role=turn.role, at=turn.at, turn_id=turn.id)
            dialogue.flush()
            for one in chat.statements:
                seen.clear()
                doxa.memory(user=chat.id).check(one.text, agent=chat.assistant, speaker=chat.user)
                for sentence, heard in seen[:1]:
                    yield chat.id, witnesses.features(sentence, heard), one.label, sentence.label
        for number, case in enumerate(read_cases(REPLIES)):
            user = f"replies {number}"
            dialogue = doxa.dialogue(user=user, speaker=case.person, agent="Assistant")
            for said in case.turns:
                role = "assistant" if said.speaker == "Assistant" else "user"
                dialogue.absorb(said.text, speaker=said.speaker, role=role, at=said.day)
            dialogue.flush()
            seen.clear()
            doxa.memory(user=user).check(case.reply, agent="Assistant", speaker=case.person)
            label = "false" if case.planted else "true" if case.kind == "true" else ""
            for sentence, heard in seen if label and len(seen) == 1 else ():
                yield f"replies {number % 8}", witnesses.features(sentence, heard), label, sentence.label


def fit(x: Matrix, y: Matrix) -> Matrix:
    """Return weights `(labels, features)`; the first feature is the bias."""
    model = LogisticRegression(C=PENALTY, max_iter=5000).fit(x[:, 1:], y)
    return np.c_[model.intercept_, model.coef_]


def shares(x: Matrix, weights: Matrix) -> Matrix:
    """Return the probability of each label of each row."""
    scores = x @ weights.T
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def thresholds(p: Matrix, y: Matrix, part: Matrix) -> dict[str, float]:
    """Return the thresholds that catch and support most within what may go wrong, of the everyday statements."""
    true, false, planned = (witnesses.LABELS.index(one) for one in ("true", "false", "planned"))
    p, y = p[part], y[part]
    options = [t for t in np.arange(0.3, 0.99, 0.01) if (p[y == true, false] >= t).mean() <= ALARMS]
    contradicted = float(min(options, default=0.99))
    sure = p[:, false] >= contradicted
    right = [
        t
        for t in np.arange(0.2, 0.99, 0.01)
        if ((p[y == planned, true] >= t) & ~sure[y == planned]).mean() <= PLANS
        and ((p[y == false, true] >= t) & ~sure[y == false]).mean() <= FALSEHOODS
    ]
    supported = float(min(right, default=0.99))
    return {"contradicted": contradicted, "supported": supported, "uncertain": 0.6, "read": READ}


def tell(p: Matrix, y: Matrix, part: Matrix, least: dict[str, float]) -> None:
    """Print the confusion of some rows."""
    true, false = (witnesses.LABELS.index(one) for one in ("true", "false"))
    print({name: round(value, 2) for name, value in least.items()})
    for at, label in enumerate(witnesses.LABELS):
        some = p[part & (y == at)]
        if len(some):
            wrong = some[:, false] >= least["contradicted"]
            right = ~wrong & (some[:, true] >= least["supported"])
            unsure = ~wrong & ~right & (some[:, false] >= least["uncertain"])
            told = (wrong.mean(), unsure.mean(), right.mean())
            print(
                f"  {label}: {len(some)}, contradicted {told[0]:.3f}, uncertain {told[1]:.3f}, supported {told[2]:.3f}"
            )


def write(names: list[str], weights: Matrix, least: dict[str, float]) -> None:
    """Write the shipped file."""
    lines = ["# Fitted by training/trust/statements.py: do not edit by hand.", "[least]"]
    lines += [f"{name} = {value:.3f}" for name, value in least.items()]
    for label, row in zip(witnesses.LABELS, weights, strict=True):
        lines += ["", f"[weights.{label}]", *(f"{n} = {v:.4f}" for n, v in zip(names, row, strict=True))]
    SHIPPED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
