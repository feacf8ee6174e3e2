"""What the search for background is compared with: rankings of the same sentences by the same encoder.

All are given the conversation and the inferences that ours chose, in one text, as in section IV-B2 of the paper.

| name | what it is |
|---|---|
| `dense` | cosine of that text |
| `rerank` | the first 30 of `dense`, again by late interaction: every token of a sentence finds its nearest one |
| `bm25` | words alone |
| `mmr` | dense, less what repeats what was taken: maximal marginal relevance, half and half |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doxa.commonsense import KnowledgeBase
from doxa_bench.baselines import BASELINES, Corpus

__all__ = ["FIRST", "RIVALS", "Rivals"]

RIVALS = ("dense", "rerank", "bm25", "mmr")
FIRST = 30
"""Sentences that are ranked again."""
POOL = 100
"""Sentences that MMR chooses from."""
RELEVANCE = 0.5
"""The weight of relevance in MMR."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Rivals:
    """The baselines over one base; opening reads all its sentences."""

    corpus: Corpus
    sentences: Sequence[str]
    tokens: Callable[[Sequence[str]], Sequence[Vectors]]

    @classmethod
    def over(cls, base: KnowledgeBase, tokens: Callable[[Sequence[str]], Sequence[Vectors]]) -> Rivals:
        """Index all sentences of a base; `tokens` gives the token vectors of texts."""
        sentences = list(base.sentences)
        vectors = base.vectors(np.arange(len(base)))
        return cls(Corpus.of([str(at) for at in range(len(base))], sentences, vectors), sentences, tokens)

    def rank(self, name: str, text: str, vector: Vectors, k: int) -> list[str]:
        """Return the first `k` sentences of a baseline, best first.

        Args:
            name: one of `RIVALS`.
            text: conversation and inferences.
            vector: of the text, `(dims,)`.
            k: how many.

        Source: Khattab and Zaharia 2020 (late interaction), Carbonell and Goldstein 1998 (MMR).
        """
        if name in BASELINES:
            return [self.sentences[int(one)] for one in BASELINES[name](text, vector, self.corpus)[:k]]
        similarity = self.corpus.vectors @ vector
        first = np.argsort(-similarity, kind="stable")[: FIRST if name == "rerank" else POOL]
        order = self._late(text, first, k) if name == "rerank" else self._mmr(similarity, first, k)
        return [self.sentences[at] for at in order]

    def _late(self, text: str, first: NDArray[np.int64], k: int) -> list[int]:
        query = self.tokens([text])[0]
        rows = self.tokens([self.sentences[at] for at in first])
        scores = [float((row @ query.T).max(axis=1).mean()) if len(row) else 0.0 for row in rows]
        return [int(first[place]) for place in np.argsort(-np.array(scores), kind="stable")[:k]]

    def _mmr(self, similarity: Vectors, first: NDArray[np.int64], k: int) -> list[int]:
        vectors, taken = self.corpus.vectors[first], list[int]()
        repeated = np.zeros(len(first))
        for _ in range(min(k, len(first))):
            scores = RELEVANCE * similarity[first] - (1 - RELEVANCE) * repeated
            scores[taken] = -np.inf
            taken.append(int(scores.argmax()))
            repeated = np.maximum(repeated, vectors @ vectors[taken[-1]])
        return [int(first[place]) for place in taken]
