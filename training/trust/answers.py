"""Fits when a draft is given, what is quoted and when nothing is said: `choosing.toml` of doxa.reason.

    python training/trust/answers.py [--write]

Questions of `benchmarks/everyday/dev` and `training/trust/fits`, whose answers are marked as the benchmark marks them,
and those of the corpus from which the reader did not learn. Held out by chat, it prints what each choice of thresholds
gives.
"""

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
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
from doxa_bench.answering import list_f1, token_f1
from doxa_bench.dialogues import ASSISTANT, read_dialogues
from doxa_bench.everyday.chats import Chat, Query, read_chats
from doxa_bench.everyday.marks import mark_answer
from doxa_bench.judging import Answer, judge

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "training/corpus"
sys.path.insert(0, str(CORPUS))
import corpus  # noqa: E402
import questions  # noqa: E402

UNSEEN = {"W5": CORPUS / "dev/W5.txt", "S7": CORPUS / "asked/S7.txt"}
"""Dialogues with questions from which the reader did not learn."""
CHATS = (ROOT / "benchmarks/everyday/dev", ROOT / "training/trust/fits")
SHIPPED = ROOT / "src/doxa/reason/choosing.toml"
ALSO = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
"""Shares from which another turn is quoted too, to choose from."""
SMALL = 0.05
"""Penalty of the weights by which turns are ranked."""
SURE = 0.6
"""Probability from which a fact is given whatever could be quoted: what is believed is worth more than a sentence."""
POINTED = 0.3
"""Probability from which a fact of the relation that is asked for is given: in clean dialogues it is right in 0.6 of
the cases in which a reader prefers another turn, and chats have next to no such cases."""
WRONG = 0.09
"""Share of the questions of chats that may be answered wrongly, held out by chat; a quarter less than is asked for."""
PENALTY = 3.0
FOLDS = 8
ALIKE = 0.5
"""F1 from which a value of the corpus is right."""
CLEAN = tuple(ROOT / f"benchmarks/revision/set{number}.jsonl" for number in (1, 2, 3))
"""Dialogues in plain sentences, developed on: what facts answer there is to be given."""
SHARE = 3.0
"""Weight of an answer to a clean dialogue: they have fewer questions, and most memories are told in clean sentences."""
Matrix = NDArray[np.float64]


@dataclass(slots=True, kw_only=True)
class Case:
    """A question with everything that the choice is made of."""

    group: str
    """The chat or dialogue."""
    evidence: frozenset[str]
    known: bool
    marked: bool
    """Whether thresholds are chosen by it: its answers are marked as the benchmark marks them."""
    right: Callable[[Draft], bool]
    question: Question
    draft: Draft
    graded: list[choosing.Graded]
    past: bool
    asker: str
    believed: float
    pointed: bool


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
    cases, clean = [*collected(), *collected_corpus()], list(collected_clean())
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
            groups = [cases[at].group for at in kept] + [one.dialogue for one in more]
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
    """Yield every question of the chats with the draft and the turns that the engine comes to."""
    seen: list[Any] = []
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
                known = query.probe.wanted != "unknown"
                right = partial(marked_right, chat, query)
                for one in seen[-1:]:
                    yield Case(
                        group=chat.id, evidence=frozenset(query.evidence), known=known, marked=True, right=right, **one
                    )


def marked_right(chat: Chat, query: Query, draft: Draft) -> bool:
    """Tell whether an answer would be marked right by the benchmark of everyday chats."""
    reply = Reply(text=draft.text, value=draft.value, citations=draft.citations, confidence=1.0)
    return query.probe.wanted != "unknown" and mark_answer(chat, query, reply).mark == "right"


def collected_corpus() -> Iterator[Case]:
    """Yield the unseen questions of the corpus with the draft and the turns that the engine comes to."""
    seen: list[Any] = []
    with patch.object(grading, "choose", spy(seen)), Doxa.open(":memory:", config=Config.load()) as doxa:
        for name, path in UNSEEN.items():
            dialogues = corpus.read_dialogues(path)
            for dialogue in dialogues:
                for at, turn in enumerate(dialogue.turns):
                    talk = doxa.dialogue(user=dialogue.id, speaker=turn.speaker)
                    talk.absorb(turn.text, at=turn.day, turn_id=f"{dialogue.id}:{at}")
            for asked in questions.read_questions(CORPUS / "questions" / f"{name}.txt", dialogues):
                seen.clear()
                talk = doxa.dialogue(user=asked.dialogue, speaker=asked.asker or "Somebody")
                talk.flush()
                talk.ask(asked.text)
                turns = frozenset(f"{asked.dialogue}:{at}" for at in asked.turns)
                right = partial(says, asked, turns)
                for one in seen[-1:]:
                    known = asked.kind != "none"
                    yield Case(group=asked.dialogue, evidence=turns, known=known, marked=False, right=right, **one)


def says(asked: questions.Question, turns: frozenset[str], draft: Draft) -> bool:
    """Tell whether an answer to a question of the corpus is right: its value is, or without one what it quotes."""
    wanted = ", ".join(asked.answers)
    if draft.value is None:
        return any(one.turn_id in turns for one in draft.citations)
    return asked.kind != "none" and max(token_f1(draft.value, wanted), list_f1(draft.value, wanted)) >= ALIKE


def spy(seen: list[Any]) -> Callable[..., Draft]:
    """Return a choice that notes what it is given, and leaves the draft as it is."""

    def choice(draft: Draft, question: Question, graded: list[choosing.Graded], **rest: Any) -> Draft:
        rest.pop("doubt")
        seen.append({"draft": draft, "question": question, "graded": list(graded), **rest})
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
                    for one in seen[-1:]:
                        draft, question = one["draft"], one["question"]
                        if draft.abstained or draft.disputed:
                            continue
                        candidate = choosing.candidate_of(question, one["graded"], past=one["past"])
                        told = {"value": draft.value, "text": draft.text, "conflict": draft.disputed}
                        right = judge(probe, Answer.of(told), dialogue.day(probe)).right
                        given = choosing.draft_features(
                            draft, question, candidate, believed=one["believed"], pointed=one["pointed"]
                        )
                        yield Clean(dialogue.id, choosing._kind(draft), given, right and not reply.abstained)


def ranks(cases: list[Case]) -> dict[str, float]:
    """Return the weights by which the turn that answers comes first: a softmax over the turns of each question."""
    asked = [case for case in cases if any(one.turn.turn_id in case.evidence for one in case.graded)]
    rows = [choosing.rank_features(case.graded, past=case.past) for case in asked]
    names = list(rows[0][0])
    tables = [np.array([[row[name] for name in names] for row in some]) for some in rows]
    right = [np.array([one.turn.turn_id in case.evidence for one in case.graded]) for case in asked]

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
    folds = {group: place % FOLDS for place, group in enumerate(dict.fromkeys(case.group for case in asked))}
    for fold in range(FOLDS):
        weights = learned([at for at, case in enumerate(asked) if folds[case.group] != fold])
        for at in (at for at, case in enumerate(asked) if folds[case.group] == fold):
            order = np.argsort(-(tables[at] @ weights))
            hits.append((right[at][order[0]], right[at][order[:2]].any()))
    some = sum(bool(case.evidence) for case in cases)
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
            rows.append(
                choosing.draft_features(
                    case.draft, case.question, candidate, believed=case.believed, pointed=case.pointed
                )
            )
            right.append(case.known and case.right(case.draft))
            kept.append(at)
        elif of == "quote" and candidate is not None:
            rows.append(dict(candidate.features))
            quoting = choosing._quoting(candidate, case.draft, case.asker, 1.0, case.question)
            right.append(case.known and case.right(quoting if case.marked else replace(quoting, value=None)))
            kept.append(at)
    names = sorted(rows[0], key=lambda name: (name != "bias", name))
    return names, np.array([[row[name] for name in names] for row in rows]), np.array(right, dtype=float), kept


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
    marked = [(at, case) for at, case in enumerate(cases) if case.marked]
    best, found = (-1.0, 0.0), {}
    grid = np.arange(0.1, 0.9, 0.025)
    for draft, quote, lead in itertools.product(grid, grid, (-0.1, 0.0, 0.1, 0.2)):
        right = wrong = 0
        for at, case in marked:
            kind = "fact" if at in truth["fact"] else "draft"
            stands = fitted[kind][2].get(at, 0.0)
            quoting = fitted["quote"][2].get(at, 0.0)
            enough = max(draft, quoting - lead)
            if kind == "fact":
                enough = min(enough, POINTED if case.pointed else SURE)
            if stands >= enough:
                given = truth[kind][at]
            elif quoting >= quote:
                given = truth["quote"][at]
            else:
                right += not case.known
                continue
            right, wrong = right + given, wrong + (1 - given)
        shares = (right / len(marked), wrong / len(marked))
        if shares[1] <= WRONG and shares[0] > best[0]:
            best, found = shares, {"draft": float(draft), "quote": float(quote), "lead": float(lead)}
    return best, {**found, "nearest": 0.1, "sure": SURE, "pointed": POINTED}


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
