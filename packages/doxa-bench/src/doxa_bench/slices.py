"""Slices: which questions are implicit, what they want, and what their part of the conversation is about.

    implicit    no content-word stem shared between the question and its gold turns; names of speakers do not count
    subtype     by the wording of the question: recommendation, preference, else follow-up
    domain      k-means over the vectors of sessions, named by the words that mark a cluster off from the others

Source: Cao and Li, "Ontology-Guided Long-Term Agent Memory for Conversational RAG", appendix B.4, whose labels come
from annotators; the rules here are of wording alone, so that anybody can apply them again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from doxa_bench.baselines import content_stems

__all__ = ["DOMAINS", "Subtype", "domains", "is_implicit", "subtype"]

Subtype = Literal["recommendation", "preference", "follow-up"]
RECOMMENDATION = re.compile(
    r"\b(?:recommend\w*|suggest\w*|advi[cs]e\w*|should|would|might|could|likely|ideas?|tips?)\b", re.IGNORECASE
)
PREFERENCE = re.compile(
    r"\b(?:favou?rites?|prefer\w*|likes?|liked|loves?|loved|enjoy\w*|hobb(?:y|ies)|interest(?:s|ed)?|hates?|fan of|"
    r"passion\w*|fond)\b",
    re.IGNORECASE,
)
DOMAINS = 5
STARTS, ROUNDS = 10, 100
WORD = re.compile(r"[^\W\d_]{3,}")
MARKS = 3
"""Words in the name of a domain."""


def is_implicit(question: str, evidence: Iterable[str], speakers: Iterable[str]) -> bool:
    """Tell whether a question shares no content-word stem with any of its gold turns.

    Args:
        question: as it is asked.
        evidence: the texts of the gold turns.
        speakers: who takes part; their names are no content.
    """
    names = {stem for speaker in speakers for stem in content_stems(speaker)}
    wanted = content_stems(question) - names
    return not any(wanted & content_stems(text) for text in evidence)


def subtype(question: str) -> Subtype:
    """Return what a question wants, by its wording: advice or what is likely, a taste, or else what happened."""
    if RECOMMENDATION.search(question):
        return "recommendation"
    return "preference" if PREFERENCE.search(question) else "follow-up"


def domains(
    vectors: NDArray[np.float32], texts: Sequence[str], *, ignore: Collection[str] = (), k: int = DOMAINS
) -> list[str]:
    """Return the name of the domain of every session.

    Args:
        vectors: of sessions, `(n, dims)`; only their directions count.
        texts: what was said in them.
        ignore: names of speakers, which mark no domain.
        k: how many domains, at most one per session.

    Deterministic. Cost O(rounds n k dims + words).
    """
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    labels = _k_means(units, min(k, len(units)))
    words = [frozenset(word for word in WORD.findall(text.casefold()) if content_stems(word)) for text in texts]
    names = {
        int(label): _name(int(label), labels, words, set(map(str.casefold, ignore))) for label in np.unique(labels)
    }
    return [names[int(label)] for label in labels]


def _k_means(units: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """Return the cluster of every row: Lloyd's rounds from ten starts, the one whose rows lie nearest to their centres.

    Source: Lloyd 1982. Deterministic: the starts are drawn by a fixed seed.
    """
    if not k:
        return np.empty(0, dtype=np.intp)
    rng = np.random.default_rng(0)
    runs = [_lloyd(units, units[rng.choice(len(units), k, replace=False)]) for _ in range(STARTS)]
    return max(runs, key=lambda run: run[1])[0]


def _lloyd(units: NDArray[np.float32], centres: NDArray[np.float32]) -> tuple[NDArray[np.intp], float]:
    """Return the cluster of every row, and the sum of the cosines with its centre."""
    labels = np.full(len(units), -1)
    for _ in range(ROUNDS):
        nearest = (units @ centres.T).argmax(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        for label in np.unique(labels):
            middle = units[labels == label].mean(axis=0)
            centres[label] = middle / max(float(np.linalg.norm(middle)), 1e-9)
    return labels, float((units @ centres.T).max(axis=1).sum())


def _name(label: int, labels: NDArray[np.intp], words: Sequence[frozenset[str]], ignored: Collection[str]) -> str:
    """Return the words that most sessions of a cluster hold and few others do: by weighted log odds."""
    inside = Counter(word for at, found in zip(labels, words, strict=True) if at == label for word in found)
    outside = Counter(word for at, found in zip(labels, words, strict=True) if at != label for word in found)
    n, m = int((labels == label).sum()), int((labels != label).sum())

    def marked(word: str) -> float:
        share, rest = (inside[word] + 0.5) / (n + 1), (outside[word] + 0.5) / (m + 1)
        return share * math.log(share / rest)

    # "Mel" for Melanie is a name as well.
    named = [word for word in inside if not any(name.startswith(word) for name in ignored)]
    return ", ".join(sorted(named, key=lambda word: (-marked(word), word))[:MARKS]) or "other"
