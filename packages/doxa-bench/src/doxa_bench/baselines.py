"""Baselines: rankings of the same turns by the same encoder, without a memory behind them.

| name | what it is |
|---|---|
| `bm25` | words alone: BM25 over stems |
| `dense` | meaning alone: cosine of the encoded query, as it was asked |
| `rrf` | both, by reciprocal rank fusion |

Each ranks every turn of a `Corpus`; the caller cuts. They are computed here rather than by `recall`, so that a change
of the memory does not change what it is compared with.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doxa.language import stems
from doxa.memory import UserState
from doxa.recall import rephrase

__all__ = ["BASELINES", "Corpus", "Ranker", "content_stems", "in_first_person"]

K1, B = 1.2, 0.75
RANK_CONSTANT = 60
"""Source: Cormack, Clarke and Buettcher 2009, "Reciprocal Rank Fusion outperforms Condorcet"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """The turns that are ranked: ids, stems by turn, and vectors `(n, dims) float32` of unit length."""

    turn_ids: tuple[str, ...]
    vectors: NDArray[np.float32]
    postings: Mapping[str, Sequence[tuple[int, int]]]
    """Stem -> (place, how often it comes there)."""
    lengths: NDArray[np.float64]

    @classmethod
    def of(cls, turn_ids: Sequence[str], texts: Sequence[str], vectors: NDArray[np.float32]) -> Corpus:
        """Return the corpus of some turns, oldest first. Cost O(words)."""
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = np.zeros(len(texts))
        for place, text in enumerate(texts):
            terms = Counter(stems(text))
            lengths[place] = terms.total()
            for term, count in terms.items():
                postings[term].append((place, count))
        return cls(turn_ids=tuple(turn_ids), vectors=vectors, postings=dict(postings), lengths=lengths)

    def ranked(self, scores: NDArray[np.floating]) -> list[str]:
        """Return the turns with a score above 0, best first, the newer of two equal ones first."""
        order = np.lexsort((-np.arange(len(scores)), -scores))
        return [self.turn_ids[place] for place in order if scores[place] > 0]


Ranker = Callable[[str, NDArray[np.float32], Corpus], list[str]]
"""(query, its vector `(dims,) float32`, the turns) -> turn ids, best first."""


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text, as the memory indexes them."""
    return frozenset(stems(text))


def in_first_person(query: str, state: UserState) -> str:
    """Return a query with the name of a speaker as "I", which is how people speak of themselves."""
    return rephrase(query, state)


def _bm25(query: str, vector: NDArray[np.float32], corpus: Corpus) -> list[str]:
    """Rank by words. Source: Robertson and Zaragoza 2009. Cost O(postings of the query's words)."""
    return corpus.ranked(_bm25_scores(query, corpus))


def _dense(query: str, vector: NDArray[np.float32], corpus: Corpus) -> list[str]:
    """Rank by cosine. Cost O(n dims)."""
    return corpus.ranked(corpus.vectors @ vector)


def _rrf(query: str, vector: NDArray[np.float32], corpus: Corpus) -> list[str]:
    """Rank by the sum of `1 / (60 + rank)` over both rankings; a turn that one leaves out gets nothing there."""
    fused: dict[str, float] = defaultdict(float)
    for ranking in (_bm25(query, vector, corpus), _dense(query, vector, corpus)):
        for rank, turn_id in enumerate(ranking, start=1):
            fused[turn_id] += 1 / (RANK_CONSTANT + rank)
    return sorted(fused, key=lambda turn_id: -fused[turn_id])


def _bm25_scores(query: str, corpus: Corpus) -> NDArray[np.float64]:
    n, scores = len(corpus.turn_ids), np.zeros(len(corpus.turn_ids))
    average = max(float(corpus.lengths.mean()) if n else 1.0, 1.0)
    for term in set(stems(query)):
        found = corpus.postings.get(term, ())
        idf = math.log1p((n - len(found) + 0.5) / (len(found) + 0.5))
        for place, count in found:
            scores[place] += idf * (K1 + 1) * count / (count + K1 * (1 - B + B * corpus.lengths[place] / average))
    return scores


BASELINES: Mapping[str, Ranker] = {"bm25": _bm25, "dense": _dense, "rrf": _rrf}
"""By name, in the order in which tables show them."""
