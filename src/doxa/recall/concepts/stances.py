"""text -> stances: whether a statement tells what its speaker likes, dislikes, rules out or usually does.

A softmax over five classes of a few counted cues (`stances.toml`) and the text's vector. What is asked is no stance,
and neither is what somebody else likes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from doxa.core.promotions import Tie
from doxa.recall.concepts.concepts import BUILTIN

__all__ = ["KINDS", "Stance", "clauses_of", "cues_of", "relations", "stance_of"]

KINDS: tuple[str, ...] = ("", "prefers", "dislikes", "avoids", "does")
CUES = ("bias", "prefers", "dislikes", "avoids", "does", "denied", "past", "self", "other", "question", "short")
SHORT = 4
"""Words up to which a text is short."""
WINDOW = 24
"""Characters before a cue in which a denial turns it around."""
CLAUSE = re.compile(
    r"(?<=[.!?;])\s+|,?\s+\b(?:but|though|although|whereas|while|except|however|yet)\b\s+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Stance:
    """How likely a text is to tell each of `KINDS` of its speaker; they add up to 1."""

    probabilities: tuple[float, ...]

    @property
    def tie(self) -> Tie | None:
        """The likeliest one; None when that is that it tells nothing."""
        best = int(np.argmax(self.probabilities))
        return cast("Tie", KINDS[best]) if best else None

    @property
    def confidence(self) -> float:
        """How likely it is to tell anything, 0 to 1."""
        return 1 - self.probabilities[0]

    @property
    def positive(self) -> float:
        """How likely it is, if it tells anything, that it is well-disposed, 0 to 1."""
        _, prefers, dislikes, avoids, does = self.probabilities
        return (prefers + does) / max(1e-9, prefers + dislikes + avoids + does)


def clauses_of(text: str) -> list[str]:
    """Return the parts of a text in which different things may be said ("I love jazz but I can't stand rock")."""
    return [part for part in map(str.strip, CLAUSE.split(" ".join(text.split()))) if part]


def stance_of(text: str, vector: NDArray[np.float32] | None, *, encoder: str = BUILTIN) -> Stance:
    """Return what a sentence tells of its speaker.

    Args:
        text: a sentence or a short turn.
        vector: its encoding `(dims,)`; without one, or with that of another encoder than the built-in one, the words
            decide alone.
        encoder: the name of what made the vector.

    Deterministic. Cost O(characters + dims), no call to a model.
    """
    learned = _learned()
    cues = cues_of(text)
    if vector is not None and vector.any() and encoder == BUILTIN:
        logits = learned["cues_meaning"] @ cues + learned["probe"] @ vector
    else:
        logits = learned["cues_words"] @ cues
    odds = np.exp(logits - logits.max())
    return Stance(tuple(float(p) for p in odds / odds.sum()))


def cues_of(text: str) -> NDArray[np.float32]:
    """Return how often each kind of cue is in a text, in the order of `CUES`, `(cues,) float32`, 2 at most."""
    patterns = _patterns()
    text = patterns["praise"].sub("love", text.replace("\u2019", "'"))
    counts = dict.fromkeys(CUES, 0)
    for kind in KINDS[1:]:
        for found in patterns[kind].finditer(text):
            before = text[max(0, found.start() - WINDOW) : found.start()]
            denied = kind != "does" and patterns["deny"].search(before)
            counts["past" if patterns["past"].search(before) else "denied" if denied else kind] += 1
    for kind in ("past", "self", "other", "question"):
        counts[kind] += len(patterns[kind].findall(text))
    counts |= {"bias": 1, "short": len(text.split()) <= SHORT}
    return np.minimum(np.array([counts[name] for name in CUES], dtype=np.float32), 2)


@cache
def relations() -> Mapping[str, Tie]:
    """Return the relations of the ontology that say how somebody relates to something."""
    return cast("Mapping[str, Tie]", _table()["relations"])


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("stances.toml").read_text(encoding="utf-8"))


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    found = {}
    for kind, parts in _table()["patterns"].items():
        joined = "|".join(parts)
        whole = joined if kind == "question" else rf"(?<![\w']){'(?:' + joined + ')'}(?!\w)"
        found[kind] = re.compile(whole, re.IGNORECASE)
    return found


@cache
def _learned() -> dict[str, NDArray[np.float32]]:
    with files(__package__).joinpath("stances.npz").open("rb") as file, np.load(file) as data:
        return {name: np.asarray(data[name], dtype=np.float32) for name in data.files}
