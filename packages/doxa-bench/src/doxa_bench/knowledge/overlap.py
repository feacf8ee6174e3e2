"""How much the sentences of a list repeat each other: in words (ROUGE), and in meaning (as BERTScore measures it).

    token overlap      mean F1 of ROUGE-1, ROUGE-2 and ROUGE-L over all unordered pairs (F1 does not ask which is first)
    semantic overlap   mean precision, recall and F1 of greedy matching of token vectors over all ordered pairs. Turned
                       round, a pair's precision is its recall, so the two means are the same number; both are given
                       because table III of the paper has both (there they differ a little: a pair was scored one way,
                       it seems)

Words are those of Google's `rouge-score` without a stemmer: runs of a-z and 0-9 in lower case. The vectors are those of
our encoder, so what is measured is named "BERTScore-style", never BERTScore: no idf weights, no rescaling, no frame
tokens, and numbers that compare with each other but not with those of another model.

Source: Lin 2004, ROUGE; Zhang et al. 2020, BERTScore, equations 1-3; the paper (`mcts-retrieval`), section IV-D.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rouge", "SemanticOverlap", "nearness", "rouge", "rouge_tokens", "semantic_overlap", "token_overlap"]

WORD = re.compile(r"[a-z0-9]+")


class Rouge(NamedTuple):
    """F1 of shared words, shared pairs of neighbours, and the longest common subsequence; each 0 to 1."""

    rouge1: float
    rouge2: float
    rouge_l: float


class SemanticOverlap(NamedTuple):
    """Means over ordered pairs, at most 1."""

    precision: float
    recall: float
    f1: float


class _Counted(NamedTuple):
    """A sentence, made ready to be compared with many."""

    tokens: Sequence[str]
    unigrams: frozenset[tuple[Hashable, int]]
    """Each word with the number of its occurrence: two sets share as many as two multisets would, clipped."""
    bigrams: frozenset[tuple[Hashable, int]]
    places: Mapping[str, int]
    """Word -> the positions where it stands, as bits."""


def rouge_tokens(text: str) -> list[str]:
    """Return the words that ROUGE counts."""
    return WORD.findall(text.lower())


def rouge(first_tokens: Sequence[str], second_tokens: Sequence[str]) -> Rouge:
    """Return the F1 of ROUGE-1, ROUGE-2 and ROUGE-L of two sentences; 0 where either has no such n-gram.

    Symmetric. Cost: O(n) operations on integers of m bits for the subsequence, O(n + m) for the rest.
    """
    return _rouge(_counted(first_tokens), _counted(second_tokens))


def token_overlap(sentences: Sequence[str]) -> Rouge | None:
    """Return the mean of each ROUGE over all pairs of a list; None where it has no two sentences.

    Cost: one `rouge` per pair; each sentence is split and counted once.
    """
    counted = [_counted(rouge_tokens(sentence)) for sentence in sentences]
    scores = [_rouge(first, second) for first, second in combinations(counted, 2)]
    if not scores:
        return None
    return Rouge(*(sum(column) / len(scores) for column in zip(*scores, strict=True)))


def semantic_overlap(vectors: Sequence[NDArray[np.float32]]) -> SemanticOverlap | None:
    """Return how much the sentences of a list mean the same, by their token vectors; None where it has no two.

    Every token of one sentence is matched with the nearest of the other; precision is the mean cosine of the tokens of
    the first, recall that of the second, F1 their harmonic mean (0 where one of them is not positive). A sentence
    without tokens shares nothing: 0 with every other.

    Args:
        vectors: Of each sentence the unit rows of its tokens, `(n_i, dims)`.

    Returns:
        Means over all ordered pairs; `precision` and `recall` are equal.

    Cost: one product of all tokens with all tokens, O(N^2 dims) for N tokens in the list.
    """
    count = len(vectors)
    if count < 2:
        return None
    precision = _greedy(vectors)
    f1 = _harmonic(precision, precision.T)
    pairs = ~np.eye(count, dtype=np.bool_)
    mean = float(precision[pairs].mean())
    return SemanticOverlap(precision=mean, recall=mean, f1=float(f1[pairs].mean()))


def nearness(found: Sequence[NDArray[np.float32]], wanted: Sequence[NDArray[np.float32]]) -> tuple[float, float]:
    """Return the F1 of `semantic_overlap` of a sentence of one list with one of another: the mean and the highest.

    Both are 0 where a list is empty.

    Args:
        found: Of each sentence the unit rows of its tokens, `(n_i, dims)`.
        wanted: The same of the other list.

    Cost: as for `semantic_overlap` of both lists in one.
    """
    if not found or not wanted:
        return 0.0, 0.0
    precision, n = _greedy((*found, *wanted)), len(found)
    table = _harmonic(precision[:n, n:], precision[n:, :n].T)
    return float(table.mean()), float(table.max())


def _harmonic(precision: NDArray[np.float64], recall: NDArray[np.float64]) -> NDArray[np.float64]:
    both = (precision > 0) & (recall > 0)
    total = np.where(both, precision + recall, 1.0)
    return np.where(both, 2 * precision * recall / total, 0.0)


def _counted(tokens: Sequence[str]) -> _Counted:
    places: dict[str, int] = {}
    for at, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << at
    bigrams = _numbered(pairwise(tokens))
    return _Counted(tokens=tokens, unigrams=_numbered(tokens), bigrams=bigrams, places=places)


def _numbered(grams: Iterable[Hashable]) -> frozenset[tuple[Hashable, int]]:
    seen: Counter[Hashable] = Counter()
    numbered = []
    for gram in grams:
        seen[gram] += 1
        numbered.append((gram, seen[gram]))
    return frozenset(numbered)


def _rouge(first: _Counted, second: _Counted) -> Rouge:
    shared = len(first.unigrams & second.unigrams)
    if not shared:
        return Rouge(0.0, 0.0, 0.0)
    ones = len(first.tokens) + len(second.tokens)
    twos = len(first.bigrams) + len(second.bigrams)
    neighbours = len(first.bigrams & second.bigrams)
    # With m matches of a and b grams, precision is m / a and recall m / b, so F1 is 2 m / (a + b).
    return Rouge(
        rouge1=2 * shared / ones,
        rouge2=2 * neighbours / twos if neighbours else 0.0,
        rouge_l=2 * _longest_common_subsequence(first, second) / ones,
    )


def _longest_common_subsequence(first: _Counted, second: _Counted) -> int:
    """Return its length. Bit-parallel: a step per word of `second`, all positions of `first` at once (Hyyro 2004)."""
    every = (1 << len(first.tokens)) - 1
    rows = every  # a bit turns 0 where the length grows by one
    for token in second.tokens:
        matches = rows & first.places.get(token, 0)
        rows = (rows + matches | rows - matches) & every
    return len(first.tokens) - rows.bit_count()


def _greedy(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Return for sentences i, j the mean cosine of tokens of i with the nearest of j, `(n, n)`; 0 without tokens."""
    means = np.zeros((len(vectors), len(vectors)))
    full = [at for at, rows in enumerate(vectors) if len(rows)]  # `reduceat` cannot say "nothing"
    if not full:
        return means
    tokens = np.concatenate([vectors[at] for at in full])
    lengths = np.array([len(vectors[at]) for at in full])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    nearest = np.maximum.reduceat(tokens @ tokens.T, starts, axis=1).astype(np.float64)
    means[np.ix_(full, full)] = np.add.reduceat(nearest, starts, axis=0) / lengths[:, None]
    return means
