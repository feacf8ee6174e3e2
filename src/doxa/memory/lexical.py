"""An inverted index that grows turn by turn: stems with their places, ready for BM25."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["InvertedIndex", "stems"]

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W\d_]+)?", re.UNICODE)
STOP = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her him his how i if in is it "
    "its me my of on or our she so that the their them then there they this to was we were what when where which who "
    "whom whose why will with would you your am been being about just into than too very s t ll re ve m d don didn "
    "doesn isn wasn weren won".split()
)
"""Function words: they carry nothing for retrieval; question words among them are read by the question parser."""


@cache
def _stemmer() -> Any:
    import Stemmer  # PyStemmer: the Snowball stemmers in C

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


def stems(text: str) -> list[str]:
    """Return the stems of the content words of a text, in order. Source: Porter2 (Snowball English)."""
    words = (word.casefold().replace("\u2019", "'").removesuffix("'s") for word in WORD.findall(text))
    return [_stem(word) for word in words if word not in STOP]


class InvertedIndex:
    """Postings by stem over documents 0, 1, 2, ... Adding costs O(words); a query touches only its own postings."""

    def __init__(self) -> None:
        self._places: dict[str, array[int]] = {}
        self._counts: dict[str, array[int]] = {}
        self._lengths = array("I")
        self._words = 0

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, terms: list[str]) -> int:
        """Add a document and return its place."""
        place = len(self._lengths)
        for term, count in Counter(terms).items():
            self._places.setdefault(term, array("I")).append(place)
            self._counts.setdefault(term, array("H")).append(min(count, 65535))
        self._lengths.append(len(terms))
        self._words += len(terms)
        return place

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a stem, never negative (BM25+ form)."""
        n, df = len(self), len(self._places.get(term, ()))
        return float(np.log1p((n - df + 0.5) / (df + 0.5)))

    def scores(self, term: str, *, k1: float = 1.2, b: float = 0.75) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the places of a stem and what it adds to their BM25 scores, each `(postings,)`.

        Args:
            term: a stem.
            k1: saturation of the term frequency; a stem adds less than `idf * (k1 + 1)`.
            b: how strongly long documents are held back.

        Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework". Cost O(postings of the stem).
        """
        if term not in self._places:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
        # Copies: while an array lends its buffer to numpy it cannot grow.
        places = np.array(self._places[term], dtype=np.intp)
        counts = np.array(self._counts[term], dtype=np.float32)
        lengths = np.frombuffer(self._lengths, dtype=np.uint32)[places]
        norm = k1 * (1 - b + b * lengths / max(self._words / len(self), 1.0))
        return places, (self.idf(term) * (k1 + 1) * counts / (counts + norm)).astype(np.float32)

    def at(
        self, term: str, places: NDArray[np.integer[Any]], *, k1: float = 1.2, b: float = 0.75
    ) -> NDArray[np.float32]:
        """Return what a stem adds to the BM25 scores of some places, `(k,)`; 0 for a place that does not exist.

        Cost O(k log postings).
        """
        scores = np.zeros(len(places), dtype=np.float32)
        if term not in self._places:
            return scores
        postings = np.frombuffer(self._places[term], dtype=np.uint32)
        rows = np.minimum(np.searchsorted(postings, places), len(postings) - 1)
        found = np.flatnonzero(postings[rows] == places)
        counts = np.frombuffer(self._counts[term], dtype=np.uint16)[rows[found]].astype(np.float32)
        lengths = np.frombuffer(self._lengths, dtype=np.uint32)[places[found]]
        norm = k1 * (1 - b + b * lengths / max(self._words / len(self), 1.0))
        scores[found] = (self.idf(term) * (k1 + 1) * counts / (counts + norm)).astype(np.float32)
        return scores
