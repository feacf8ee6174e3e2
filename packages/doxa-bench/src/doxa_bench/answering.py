"""Answers -> scores: token F1 as LoCoMo's scorer has it, abstention, and risk against coverage.

    kind       how an answer is scored
    phrase     F1 of stemmed tokens against the answer
    list       both are cut at commas; every part of the answer counts by its best match, and the mean of them
    unknown    1 for an abstention, else 0

Tokens are lower-cased words without punctuation and without "a", "an", "the" and "and", cut to their stems by Porter's
algorithm. Source: Maharana et al. 2024, the evaluation script published with LoCoMo. It takes NLTK's Porter stemmer,
which has a few exceptions more ("dying": "die") than the one of Snowball used here.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from doxa.core.values import Reply
from doxa_bench.metrics import bootstrap_interval, latency, mean, ratio

__all__ = ["Answered", "Kind", "contains", "draw_risk_coverage", "given", "list_f1", "measures", "risk_coverage",
           "score_of", "summed_up", "token_f1"]  # fmt: skip

Kind = Literal["phrase", "list", "unknown"]
LEFT_OUT = re.compile(r"\b(?:a|an|the|and)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)
POINTS = 100
"""Coverages at which the risk is told: 1%, 2%, ..., 100%."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One question, what was right, and what the memory said."""

    question: str
    group: str
    """Its category or type."""
    gold: str
    """Empty where nothing is known."""
    value: str
    """What was answered: the bare value, else the text; empty for an abstention."""
    score: float
    """0 to 1: how right it is."""
    contained: float
    """1 where the answer contains all tokens of the gold one; for what is not known as `score`."""
    abstained: bool
    answerable: bool
    confidence: float
    milliseconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


def given(reply: Reply) -> str:
    """Return what a reply answers: its bare value, else its text; empty when it abstains."""
    return "" if reply.abstained else (reply.value or reply.text)


def token_f1(answer: str, gold: str) -> float:
    """Return the harmonic mean of the shares of tokens that two phrases have in common, 0 to 1."""
    said, wanted = _tokens(answer), _tokens(gold)
    shared = (Counter(said) & Counter(wanted)).total()
    return 2 * shared / (len(said) + len(wanted)) if shared else 0.0


def list_f1(answer: str, gold: str) -> float:
    """Return the mean over the parts of the gold list of the F1 of the part of the answer that fits best, 0 to 1.

    Source: the scorer of LoCoMo for questions that take several turns. What is too much costs nothing in it.
    """
    said = answer.split(",")
    return mean([max(token_f1(one, part) for one in said) for part in gold.split(",")])


def contains(answer: str, gold: str) -> bool:
    """Tell whether an answer has every token of the gold one, however often."""
    wanted = set(_tokens(gold))
    return bool(wanted) and wanted <= set(_tokens(answer))


def score_of(kind: Kind, reply: Reply, gold: str) -> float:
    """Return how right a reply is, 0 to 1, by the kind of its question."""
    if kind == "unknown":
        return float(reply.abstained)
    answer = given(reply)
    return list_f1(answer, gold) if kind == "list" else token_f1(answer, gold)


def measures(answered: Sequence[Answered], *, intervals: bool = False) -> dict[str, Any]:
    """Return the measures of some questions as plain data; `_95` is a bootstrap interval over questions.

    `f1` and `contained` are means over the questions that have an answer, `abstention` is the share of the others on
    which the memory abstains, `false_abstention` that of the former. None stands for nothing to measure.
    """
    known = [one for one in answered if one.answerable]
    unknown = [one for one in answered if not one.answerable]
    rows = {
        "f1": [one.score for one in known],
        "contained": [one.contained for one in known],
        "false_abstention": [float(one.abstained) for one in known],
        "abstention": [float(one.abstained) for one in unknown],
    }
    measured: dict[str, Any] = {"n": len(answered)}
    for name, row in rows.items():
        share = ratio(sum(row), len(row))
        measured[name] = None if share is None else round(share, 4)
        interval = bootstrap_interval([[value, 1.0] for value in row], ratio) if intervals else None
        if intervals:
            measured[f"{name}_95"] = interval and [round(bound, 4) for bound in interval]
    return measured


def summed_up(answered: Sequence[Answered], groups: Sequence[str], *, errors: int) -> dict[str, Any]:
    """Return what a benchmark of answers prints: the measures of all and of each group, risk, latency.

    Args:
        answered: every question.
        groups: categories or types, in the order in which they are printed; those without questions are left out.
        errors: how many wrong answers are shown, the worst first.
    """
    members = {name: [one for one in answered if one.group == name] for name in groups}
    worst = sorted((one for one in answered if one.score < 1), key=lambda one: (one.score, -one.confidence))
    return {
        **measures(answered, intervals=True),
        "categories": {name: measures(rows, intervals=True) for name, rows in members.items() if rows},
        "risk_coverage": risk_coverage(answered),
        "latency_ms": latency([one.milliseconds for one in answered]),
        "errors": [one.to_dict() for one in worst[:errors]],
    }


def risk_coverage(answered: Sequence[Answered]) -> dict[str, Any]:
    """Return how wrong the answers are when only the surest part of the questions is answered.

    The risk of an answer is 1 - its score, that of an answer to what is not known 1; abstentions come last, and what
    they would have said is not known, so they count as wrong where there is an answer, as right where there is none.

    Returns:
        `aurc`, the mean risk over all coverages (0 is best); `curve`, pairs of coverage and risk; `best`, the mean risk
        if confidence put the answers in the order of their scores.

    Source: Geifman and El-Yaniv 2017, "Selective Classification for Deep Neural Networks". O(n log n).
    """
    if not answered:
        return {"aurc": None, "best": None, "curve": []}
    order = sorted(answered, key=lambda one: (one.abstained, -one.confidence))
    losses = [_loss(one) for one in order]
    risks = _running(losses)
    places = sorted({max(1, round(len(risks) * point / POINTS)) for point in range(1, POINTS + 1)})
    return {
        "aurc": round(mean(risks), 4),
        "best": round(mean(_running(sorted(losses))), 4),
        "curve": [[round(place / len(risks), 4), round(risks[place - 1], 4)] for place in places],
    }


def draw_risk_coverage(path: Path, answered: Sequence[Answered]) -> Path:
    """Draw risk against coverage as PNG, one line for all questions and one for every group, and return the file.

    A line is dotted where the memory abstains.

    Raises:
        MissingDependencyError: matplotlib is not installed.
    """
    from doxa_bench.paper import require_plots

    require_plots()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 4.0), layout="constrained")
    axes = figure.add_subplot()
    groups = {"all": answered} | {one.group: [o for o in answered if o.group == one.group] for one in answered}
    for name, rows in groups.items():
        curve = risk_coverage(rows)["curve"]
        share = sum(not one.abstained for one in rows) / max(1, len(rows))
        said, unsaid = [p for p in curve if p[0] <= share], [p for p in curve if p[0] > share]
        width = 2.0 if name == "all" else 1.0
        (line,) = axes.plot([p[0] for p in said], [p[1] for p in said], label=name, linewidth=width)
        rest = said[-1:] + unsaid
        axes.plot([p[0] for p in rest], [p[1] for p in rest], color=line.get_color(), linewidth=width, linestyle=":")
    axes.set(xlabel="coverage (dotted: abstentions)", ylabel="risk (1 - F1)", xlim=(0, 1), ylim=(0, 1.02))
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


def _loss(one: Answered) -> float:
    """Return how wrong an answer is: all of it where nothing is known and something was said."""
    return 1.0 - one.score


def _running(losses: Sequence[float]) -> list[float]:
    """Return the mean of the first 1, 2, ... losses."""
    sums = np.cumsum(np.asarray(losses, dtype=np.float64))
    means: list[float] = (sums / np.arange(1, len(losses) + 1)).tolist()
    return means


def _tokens(text: str) -> list[str]:
    """Return the stems of a text as the scorer sees them: commas go first, so that "1,000" is one number."""
    bare = text.replace(",", "").lower().translate(PUNCTUATION)
    return [_stem(word) for word in LEFT_OUT.sub(" ", bare).split()]


@cache
def _stemmer() -> Any:
    import Stemmer  # PyStemmer: the Snowball stemmers in C

    return Stemmer.Stemmer("porter")


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))
