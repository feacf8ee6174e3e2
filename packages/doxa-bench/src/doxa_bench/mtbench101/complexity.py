"""Dialogues -> how complex they are, and the quarter that is neither too easy nor hopeless and the most complex.

Source: Lei et al., D-SMART, appendix C and table 4. The paper names the measures; the word lists (`complexity.toml`)
and the way in which they are put together are ours:

    stage 1    keep the dialogues to which the judge gave the baseline 4 to 8; without judged baseline replies nothing
               is left out, and the selection says so
    stage 2    the mean of the standardised measures, highest first; ties by the order of the file
    turn       a message of the user and the reply to it, whose words are counted together
    entity     a run of capitalised words inside a sentence, or a number; equal ones count once a dialogue
    TTR        distinct words / words of the whole selection, as in the table, which falls as a selection grows; so it
               is also given for equally many words, and a dialogue is ranked by a moving average over 50 words
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import fsum
from typing import Any

import numpy as np

from doxa_bench.metrics import mean
from doxa_bench.mtbench101.dialogues import BenchDialogue

__all__ = ["PAPER", "Complexity", "Selection", "complexity", "refine", "statistics"]

SHARE = 0.25
MODERATE = (4.0, 8.0)
WINDOW = 50
"""Words of the moving average of TTR."""
PAPER = {
    "turns": (3.03, 3.42),
    "words_per_turn": (66.3, 82.99),
    "ttr": (0.0612, 0.1089),
    "entities": (5.04, 9.91),
    "conditional": (0.1696, 0.2246),
    "negative": (0.1236, 0.1819),
    "new_entities": (1.66, 2.89),
}
"""Table 4 as printed: original, refined."""
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
NAME = re.compile(r"(?<![.!?:\"“\n•*\-] )(?<![\n\"“*(])(?<!^)\b[A-Z][\w’'-]+(?:\s+(?:of |the |de )?[A-Z][\w’'-]+)*")
NUMBER = re.compile(r"(?<![\w.])\$?\d[\d,]*(?:\.\d+)?%?(?!\w|\.\d|\))")
POSSESSIVE = re.compile(r"['’](?:s)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Complexity:
    """The measures of one dialogue."""

    turns: int
    words_per_turn: float
    ttr: float
    """Moving average."""
    entities: int
    conditional: float
    """Share of turns with a condition."""
    negative: float
    """Share of turns that ask, or promise, to leave something out or not to do it."""
    new_entities: float
    """Entities that come up for the first time, per turn."""


MEASURES = ("turns", "words_per_turn", "ttr", "entities", "conditional", "negative", "new_entities")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The refined subset, and how it came about."""

    ids: tuple[str, ...]
    """In the order of the file."""
    kept: int
    """Dialogues that stage 1 left."""
    judged: bool
    """Stage 1 had scores to go by."""
    statistics: Mapping[str, tuple[float, float]]
    """Measure -> its value over all dialogues, and over the subset. Source: table 4."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "dialogues": len(self.ids),
            "kept_by_stage_1": self.kept,
            "stage_1": "judged" if self.judged else "left out: no judged baseline",
            "statistics": {name: [round(one, 4) for one in pair] for name, pair in self.statistics.items()},
            "ids": list(self.ids),
        }


def complexity(dialogue: BenchDialogue) -> Complexity:
    """Return the measures of a dialogue. O(words)."""
    words, known, conditional, negative = list[str](), set[str](), 0, 0
    for turn in dialogue.turns:
        text = f"{turn.user}\n{turn.bot}"
        words += [word.casefold() for word in WORD.findall(text)]
        known |= _entities(turn.user) | _entities(turn.bot)
        conditional += bool(_pattern("conditional").search(text))
        negative += bool(_pattern("negative").search(text))
    n = len(dialogue.turns)
    return Complexity(
        turns=n,
        words_per_turn=sum(len(text.split()) for text in dialogue.texts) / n,
        ttr=_moving_ttr(words),
        entities=len(known),
        conditional=conditional / n,
        negative=negative / n,
        new_entities=len(known) / n,
    )


def refine(
    dialogues: Sequence[BenchDialogue], scores: Mapping[str, float] | None = None, *, share: float = SHARE
) -> Selection:
    """Return the most complex dialogues among those that a baseline finds moderately hard.

    Args:
        dialogues: all of them.
        scores: id -> the judge's score of the baseline, 1 to 10; without any, stage 1 is left out.
        share: how large the subset is against all dialogues; smaller where stage 1 leaves fewer.

    Deterministic. O(words).
    """
    measures = [complexity(dialogue) for dialogue in dialogues]
    low, high = MODERATE
    kept = [
        at for at, dialogue in enumerate(dialogues) if not scores or low <= scores.get(dialogue.id, low - 1) <= high
    ]
    ranks = _ranks([measures[at] for at in kept])
    best = sorted(range(len(kept)), key=lambda at: (-ranks[at], at))[: round(share * len(dialogues))]
    chosen = sorted(kept[at] for at in best)
    whole = statistics(dialogues, measures)
    part = statistics([dialogues[at] for at in chosen], [measures[at] for at in chosen])
    words = [_words(some) for some in (dialogues, [dialogues[at] for at in chosen])]
    alike = tuple(_sampled_ttr(one, min(map(len, words))) for one in words)
    return Selection(
        ids=tuple(dialogues[at].id for at in chosen),
        kept=len(kept),
        judged=bool(scores),
        statistics={name: (whole[name], part[name]) for name in whole} | {"ttr_alike": (alike[0], alike[1])},
    )


def statistics(dialogues: Sequence[BenchDialogue], measures: Sequence[Complexity]) -> dict[str, float]:
    """Return the rows of table 4 for some dialogues: means over dialogues, shares and words over turns."""
    turns = sum(one.turns for one in measures) or 1
    return {
        "turns": mean([float(one.turns) for one in measures]),
        "words_per_turn": fsum(one.words_per_turn * one.turns for one in measures) / turns,
        "ttr": _ttr(_words(dialogues)),
        "entities": mean([float(one.entities) for one in measures]),
        "conditional": fsum(one.conditional * one.turns for one in measures) / turns,
        "negative": fsum(one.negative * one.turns for one in measures) / turns,
        "new_entities": sum(one.entities for one in measures) / turns,
    }


def _ranks(measures: Sequence[Complexity]) -> list[float]:
    """Return the mean of the standardised measures of each dialogue."""
    if not measures:
        return []
    grid = np.asarray([[float(getattr(one, name)) for name in MEASURES] for one in measures])
    spread = grid.std(axis=0)
    ranks: list[float] = ((grid - grid.mean(axis=0)) / np.where(spread > 0, spread, 1.0)).mean(axis=1).tolist()
    return ranks


def _entities(text: str) -> set[str]:
    names = {POSSESSIVE.sub("", match.group()) for match in NAME.finditer(text)}
    return {name for name in names if name not in _common()} | {m.group() for m in NUMBER.finditer(text)}


def _ttr(words: Sequence[str]) -> float:
    return len(set(words)) / len(words) if words else 0.0


def _moving_ttr(words: Sequence[str]) -> float:
    if len(words) <= WINDOW:
        return _ttr(words)
    window = Counter(words[:WINDOW])
    distinct = [len(window)]
    for old, new in zip(words, words[WINDOW:], strict=False):
        window[new] += 1
        window[old] -= 1
        if not window[old]:
            del window[old]
        distinct.append(len(window))
    return mean(distinct) / WINDOW


def _sampled_ttr(words: Sequence[str], size: int) -> float:
    """Return the TTR of so many of the words, drawn once with a fixed seed."""
    drawn = np.random.default_rng(0).choice(len(words), size, replace=False)
    return _ttr([words[at] for at in drawn])


def _words(dialogues: Sequence[BenchDialogue]) -> list[str]:
    return [word.casefold() for dialogue in dialogues for text in dialogue.texts for word in WORD.findall(text)]


@cache
def _table() -> dict[str, str]:
    return tomllib.loads(files("doxa_bench.mtbench101").joinpath("complexity.toml").read_text(encoding="utf-8"))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(_table()[name], re.IGNORECASE)


@cache
def _common() -> frozenset[str]:
    return frozenset(_table()["common"].split())
