"""Fits when a draft is given, what is quoted and when nothing is said: `choosing.toml` of doxa.reason.

    python training/trust/answers.py [--write]

Questions of `benchmarks/everyday/dev` and `training/trust/fits`, from which the grader did not learn; answers are
marked as the benchmark marks them. Held out by chat, it prints what each choice of thresholds gives.
"""

import argparse
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import doxa.engine.answer.grading as grading
from doxa import Doxa
from doxa.core.config import Config
from doxa.core.values import Draft, Question, Reply
from doxa.reason import choosing
from doxa_bench.dialogues import ASSISTANT, read_dialogues
from doxa_bench.everyday.chats import Chat, Query, read_chats
from doxa_bench.everyday.marks import mark_answer
from doxa_bench.judging import Answer, judge

ROOT = Path(__file__).parents[2]
CHATS = (ROOT / "benchmarks/everyday/dev", ROOT / "training/trust/fits")
SHIPPED = ROOT / "src/doxa/reason/choosing.toml"
ALSO = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
"""Shares from which another turn is quoted too, to choose from."""
SMALL = 0.05
"""Penalty of the weights by which turns are ranked."""
SURE = 0.6
"""Probability from which a draft is given whatever could be quoted: a value is worth more than a sentence."""
WRONG = 0.09
"""Share of all questions that may be answered wrongly, held out by chat; a quarter less than what is asked for."""
PENALTY = 3.0
FOLDS = 8
CLEAN = tuple(ROOT / f"benchmarks/revision/set{number}.jsonl" for number in (1, 2, 3))
"""Dialogues in plain sentences, developed on: what facts answer there is to be given."""
SHARE = 1.0
"""Weight of an answer to a clean dialogue."""
Matrix = NDArray[np.float64]


@dataclass(slots=True)
class Case:
    """A question with everything that the choice is made of."""

    chat: Chat
    query: Query
    question: Question
    draft: Draft
    graded: list[choosing.Graded]
    past: bool
    asker: str
    believed: float


@dataclass(slots=True)
class Clean:
    """A question to a clean dialogue, whether its draft is right, and what is weighed."""

    dialogue: str
    kind: str
    features: dict[str, float]
    right: bool


def main() -> None:
    """Collect, fit, print, write."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--write", action="store_true")
    args = reader.parse_args()
    cases, clean = list(collected()), list(collected_clean())
    rank = ranks(cases)
    print("rank", {name: round(weight, 2) for name, weight in rank.items()})
    found = max((fitted(cases, clean, rank, also) for also in ALSO), key=lambda one: one[0])
    print("held out by chat: right, wrong", [round(float(one), 3) for one in found[0]], found[2])
    if args.write:
        write(rank, *found[1:])


def fitted(cases: list[Case], clean: list[Clean], rank: dict[str, float], also: float) -> tuple:  # type: ignore[type-arg]
    """Return how many are right and wrong with a share from which another turn is quoted, the weights, thresholds."""
    least = {**choosing._model()["least"], "also": also}
    with patch.dict(choosing._model(), {"rank": rank, "least": least}):
        tables = {name: table(cases, name) for name in ("fact", "draft", "quote")}
        found = {}
        for name, (names, x, y, kept) in tables.items():
            more = [one for one in clean if one.kind == name]
            rows = np.array([[one.features[key] for key in names] for one in more]).reshape(len(more), len(names))
            whole, truth = np.r_[x, rows], np.r_[y, [float(one.right) for one in more]]
            weight = np.r_[np.ones(len(y)), np.full(len(more), SHARE)]
            groups = [cases[at].chat.id for at in kept] + [one.dialogue for one in more]
            p = held_out(whole, truth, weight, groups)
            chats, rest = p[: len(y)], p[len(y) :]
            print(f"also {also}: {name} {len(y)}, right {y.mean():.3f}, AUC {auc(chats, y):.3f}", end="")
            if more:
                good = truth[len(y) :] == 1
                kept_right = (rest[good] >= 0.5).mean()
                print(
                    f"; clean: {len(more)}, right {good.mean():.3f}; of the right ones at 0.5 {kept_right:.3f}", end=""
                )
            print()
            found[name] = (names, fit(whole, truth, weight), dict(zip(kept, chats, strict=True)))
        shares, least = thresholds(cases, found, tables)
    return shares, found, {**least, "also": also}


def collected() -> Iterator[Case]:
    """Yield every question with the draft and the graded turns that the engine comes to."""
    seen: list[tuple[Draft, Question, list[choosing.Graded], bool, str, float]] = []
    with patch.object(grading, "choose", spy(seen)), Doxa.open(":memory:", config=Config.load()) as doxa:
        for chat in (chat for folder in CHATS for chat in read_chats(folder)):
            dialogue = doxa.dialogue(user=chat.id, agent=chat.assistant, speaker=chat.user)
            for turn in chat.turns:
                dialogue.absorb(turn.text, speaker=turn.speaker, role=turn.role, at=turn.at, turn_id=turn.id)
            dialogue.flush()
            for query in chat.queries:
                seen.clear()
                at = datetime.fromisoformat(chat.turns[-1].at)
                dialogue.ask(query.probe.question, as_of=query.probe.as_of, at=at)
                for draft, question, graded, past, asker, believed in seen[-1:]:
                    yield Case(chat, query, question, draft, graded, past, asker, believed)


def spy(seen: list[Any]) -> Callable[..., Draft]:
    """Return a choice that notes what it is given, and leaves the draft as it is."""

    def choice(
        draft: Draft,
        question: Question,
        graded: list[choosing.Graded],
        *,
        asker: str,
        past: bool,
        believed: float,
        doubt: choosing.Doubt | None,
    ) -> Draft:
        seen.append((draft, question, list(graded), past, asker, believed))
        return draft

    return choice


def collected_clean() -> Iterator[Clean]:
    """Yield the drafts that are given to the questions of clean dialogues, and whether they are right."""
    seen: list[Any] = []
    with patch.object(grading, "choose", spy(seen)), Doxa.open(":memory:", config=Config.load()) as doxa:
        for dialogue in (one for path in CLEAN for one in read_dialogues(path)):
            chat = doxa.dialogue(user=dialogue.id, agent=ASSISTANT, speaker=dialogue.asker)
            for after, turn in enumerate(dialogue.turns, start=1):
                role = "assistant" if turn.speaker == ASSISTANT else "user"
                chat.absorb(turn.text, speaker=turn.speaker, role=role, at=turn.day)
                chat.flush()
                for probe in (one for one in dialogue.probes if one.after == after):
                    seen.clear()
                    reply = chat.ask(probe.question, as_of=probe.as_of)
                    for draft, question, graded, past, _, believed in seen[-1:]:
                        if draft.abstained or draft.disputed:
                            continue
                        candidate = choosing.candidate_of(question, graded, past=past)
                        told = {"value": draft.value, "text": draft.text, "conflict": draft.disputed}
                        right = judge(probe, Answer.of(told), dialogue.day(probe)).right
                        given = choosing.draft_features(draft, question, candidate, believed=believed)
                        yield Clean(dialogue.id, choosing._kind(draft), given, right and not reply.abstained)


def ranks(cases: list[Case]) -> dict[str, float]:
    """Return the weights by which the turn that answers comes first: a softmax over the turns of each question."""
    asked = [case for case in cases if any(one.turn.turn_id in case.query.evidence for one in case.graded)]
    rows = [choosing.rank_features(case.graded, past=case.past) for case in asked]
    names = list(rows[0][0])
    tables = [np.array([[row[name] for name in names] for row in some]) for some in rows]
    right = [np.array([one.turn.turn_id in case.query.evidence for one in case.graded]) for case in asked]

    most = max(map(len, tables))
    padded = np.stack([np.pad(one, ((0, most - len(one)), (0, 0))) for one in tables])
    there = np.stack([np.arange(most) < len(one) for one in tables])
    good = np.stack([np.pad(one, (0, most - len(one))) for one in right])

    def learned(places: list[int]) -> Matrix:
        x, real, best = padded[places], there[places], good[places]

        def loss(weights: Matrix) -> tuple[float, Matrix]:
            scores = np.where(real, x @ weights, -np.inf)
            whole = np.logaddexp.reduce(scores, axis=1)
            part = np.logaddexp.reduce(np.where(best, scores, -np.inf), axis=1)
            shares = np.exp(scores - whole[:, None]) - np.where(best, np.exp(scores - part[:, None]), 0.0)
            slope = np.einsum("nk,nkf->f", shares, x) + 2 * SMALL * weights
            return float((whole - part).sum() + SMALL * weights @ weights), slope

        return np.asarray(minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x)

    hits = []
    for chat in {case.chat.id for case in asked}:
        weights = learned([at for at, case in enumerate(asked) if case.chat.id != chat])
        for at in (at for at, case in enumerate(asked) if case.chat.id == chat):
            order = np.argsort(-(tables[at] @ weights))
            hits.append((right[at][order[0]], right[at][order[:2]].any()))
    some = sum(bool(case.query.evidence) for case in cases)
    one, two = np.array(hits).sum(0) / some
    print(
        f"questions with an answer {some}, graded {len(asked)}; held out: right turn first {one:.3f}, of two {two:.3f}"
    )
    return dict(zip(names, learned(list(range(len(asked)))).tolist(), strict=True))


def table(cases: list[Case], of: str) -> tuple[list[str], Matrix, Matrix, list[int]]:
    """Return names, features and whether it is right, of all cases that have a draft or a quote."""
    rows, right, kept = [], [], []
    for at, case in enumerate(cases):
        candidate = choosing.candidate_of(case.question, case.graded, past=case.past)
        if of in ("fact", "draft") and not case.draft.abstained and choosing._kind(case.draft) == of:
            rows.append(choosing.draft_features(case.draft, case.question, candidate, believed=case.believed))
            right.append(is_right(case, case.draft))
            kept.append(at)
        elif of == "quote" and candidate is not None:
            rows.append(dict(candidate.features))
            quoting = choosing._quoting(candidate, case.draft, case.asker, 1.0, case.question)
            right.append(is_right(case, quoting))
            kept.append(at)
    names = sorted(rows[0], key=lambda name: (name != "bias", name))
    return names, np.array([[row[name] for name in names] for row in rows]), np.array(right, dtype=float), kept


def is_right(case: Case, draft: Draft) -> bool:
    """Tell whether an answer would be marked right."""
    reply = Reply(text=draft.text, value=draft.value, citations=draft.citations, confidence=1.0)
    return case.query.probe.wanted != "unknown" and mark_answer(case.chat, case.query, reply).mark == "right"


def fit(x: Matrix, y: Matrix, weight: Matrix) -> Matrix:
    """Return weights `(features,)`; the first feature is the bias."""
    model = LogisticRegression(C=PENALTY, max_iter=5000).fit(x[:, 1:], y, sample_weight=weight)
    return np.r_[model.intercept_, model.coef_[0]]


def held_out(x: Matrix, y: Matrix, weight: Matrix, groups: list[str]) -> Matrix:
    """Return for each row the probability by weights that have not seen its chat."""
    p = np.zeros(len(y))
    folds = {group: place % FOLDS if place >= 8 else place for place, group in enumerate(dict.fromkeys(groups))}
    for fold in set(folds.values()):
        inside = np.array([folds[one] == fold for one in groups])
        p[inside] = 1 / (1 + np.exp(-x[inside] @ fit(x[~inside], y[~inside], weight[~inside])))
    return p


def auc(p: Matrix, y: Matrix) -> float:
    """Return the area under the curve."""
    return float((p[y == 1][:, None] > p[y == 0][None]).mean())


def thresholds(
    cases: list[Case],
    fitted: dict,  # type: ignore[type-arg]
    tables: dict,  # type: ignore[type-arg]
) -> tuple[tuple[float, float], dict[str, float]]:
    """Return shares right and wrong, and the thresholds with most right of those with few wrong ones; held out."""
    truth = {name: dict(zip(kept, y, strict=True)) for name, (_, _, y, kept) in tables.items()}
    best, found = (-1.0, 0.0), {}
    grid = np.arange(0.1, 0.9, 0.025)
    for draft, quote, lead in itertools.product(grid, grid, (-0.1, 0.0, 0.1, 0.2)):
        right = wrong = 0
        for at, case in enumerate(cases):
            kind = "fact" if at in truth["fact"] else "draft"
            stands = fitted[kind][2].get(at, 0.0)
            quoting = fitted["quote"][2].get(at, 0.0)
            if stands >= min(SURE, max(draft, quoting - lead)):
                given = truth[kind][at]
            elif quoting >= quote:
                given = truth["quote"][at]
            else:
                right += case.query.probe.wanted == "unknown"
                continue
            right, wrong = right + given, wrong + (1 - given)
        shares = (right / len(cases), wrong / len(cases))
        if shares[1] <= WRONG and shares[0] > best[0]:
            best, found = shares, {"draft": float(draft), "quote": float(quote), "lead": float(lead)}
    return best, {**found, "nearest": 0.1, "sure": SURE}


def write(rank: dict[str, float], fitted: dict, least: dict[str, float]) -> None:  # type: ignore[type-arg]
    """Write the shipped file."""
    lines = ["# Fitted by training/trust/answers.py: do not edit by hand."]
    lines += ["[rank]", *(f"{name} = {value:.3f}" for name, value in rank.items()), "", "[least]"]
    lines += [f"{name} = {value:.3f}" for name, value in least.items()]
    for name, (names, weights, _) in fitted.items():
        lines += ["", f"[{name}]", *(f"{key} = {value:.4f}" for key, value in zip(names, weights, strict=True))]
    SHIPPED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
