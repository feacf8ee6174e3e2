"""Propositions -> those worth keeping: the second phase of Tag2Graph's step I (section 3.2), by a small model.

The first phase proposes freely. Here a logistic regression over features of a proposition and its sentence gives the
probability that a careful reader would store it; what falls below the threshold is left out and stays searchable as
text. Weights, threshold and how they were fitted: `plausibility.toml`, `training/claims`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from doxa.core.values import Modality, Term
from doxa.memory import relation_names
from doxa.understand.referents import named
from doxa.understand.scene import Proposition

__all__ = ["features", "plausible", "probability"]


def plausible(
    found: Sequence[Proposition], sentence: str, speaker: Term, role: str
) -> tuple[list[Proposition], list[str]]:
    """Return what is kept of the propositions of a sentence, and what is not, in words. Cost O(propositions)."""
    kept: list[Proposition] = []
    dropped: list[str] = []
    for told in found:
        score = probability(features(told, sentence, speaker, role, among=len(found)))
        if score >= _model()["threshold"]:
            kept.append(told)
        else:
            dropped.append(f"{told.subject.label} | {told.kind.label} | {told.object.label}: {score:.2f}")
    return kept, dropped


def features(told: Proposition, sentence: str, speaker: Term, role: str, *, among: int) -> dict[str, float]:
    """Return the features of a proposition by name; `among` is how many its sentence gave."""
    relation, subject, value = told.kind.name, told.subject.label, told.object.label
    words = value.split()
    local = relation.startswith("be_") or relation == "located_in"
    listed = relation in _listed() or told.kind.kind == "noun"
    found = {
        "bias": True,
        "open": not listed and not local,
        "state": relation == "has_state",
        "is_a": relation == "is_a",
        "local": local,
        "empty": not value,
        "denied": not told.polarity,
        "planned": told.modality is Modality.PLANNED,
        "possible": told.modality is Modality.POSSIBLE,
        "desired": told.modality is Modality.DESIRED,
        "of_speaker": told.subject == speaker,
        "named_subject": named(subject),
        "owned_subject": "'s " in subject,
        "bare_subject": len(subject.split()) == 1 and subject.islower(),
        "long_subject": len(subject.split()) > 3,
        "object_words": min(len(words), 8) / 4,
        "named_object": named(value),
        "digits": bool(re.search(r"\d", value)),
        "sentence_words": min(len(sentence.split()), 30) / 15,
        "among": min(among, 6) / 3,
        "confidence": told.confidence,
        "assistant": role == "assistant",
        "one_word_object": len(words) == 1 and value.islower(),
        "gerund_object": value.endswith("ing"),
        "you": bool(re.search(r"\byou\b", sentence, re.IGNORECASE)),
        "dated": told.valid.start is not None or told.valid.end is not None,
    }
    return {name: float(value) for name, value in found.items()}


def probability(given: Mapping[str, float]) -> float:
    """Return how likely a careful reader would store the proposition with these features, 0 to 1."""
    weights = _model()["weights"]
    return 1.0 / (1.0 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in given.items())))


@cache
def _model() -> Mapping[str, Any]:
    return tomllib.loads(files("doxa.understand").joinpath("plausibility.toml").read_text(encoding="utf-8"))


@cache
def _listed() -> frozenset[str]:
    return frozenset(relation_names())
