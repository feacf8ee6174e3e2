"""An inverted index that grows turn by turn: stems with their places, ready for BM25."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_TERM", "InvertedIndex", "stems"]

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W\d_]+)?", re.UNICODE)
STOP = frozenset(
    "a an and are as at be been but by can could did do does for from had has have he her him his how i if in is it "
    "its me my of on or our she so that the their them then there they this to was we were what when where which who "
    "whom whose why will with would you your am been being about just into than too very s t ll re ve m d don didn "
    "doesn isn wasn weren won".split()
)
"""Function words: they carry nothing for retrieval; question words among them are read by the question parser."""
MAX_TERM = 2.2
"""What one stem can add to a BM25 score at most, in multiples of its idf: `k1 + 1`."""
MOST_POSTINGS = 8192
"""Of a stem in more turns the latest ones are read: its idf is so low that no early one stands out by it alone."""


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
        self.read = 0
        """Postings that were read since it was made: what searches cost."""

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

    def best(
        self, terms: Sequence[tuple[str, float]], count: int, *, searched: NDArray[np.bool_] | None = None
    ) -> NDArray[np.intp]:
        """Return at least the `count` places with the highest sums of BM25 over stems, where so many have any.

        Args:
            terms: stems, each with its weight.
            count: how many places are wanted; those that tie with the last one come as well.
            searched: by place, False for one that is not wanted, `(n,) bool`; None wants all.

        Postings are read from the rarest stem on, and no further once a place that holds none of the stems so far could
        not be among the best (Turtle and Flood 1995, MaxScore). Of a stem in very many documents only the latest
        `MOST_POSTINGS` are read, so what is read does not grow with the history. Cost O(postings read).
        """
        bounds = sorted(((weight * self.idf(term), term, weight) for term, weight in terms), reverse=True)
        left = sum(bound for bound, _, _ in bounds)
        totals, touched = np.zeros(len(self), dtype=np.float32), np.empty(0, dtype=np.intp)
        for bound, term, weight in bounds:
            if len(touched) > count and np.partition(totals[touched], -count)[-count] >= left * MAX_TERM:
                break
            left -= bound
            places, scores = self.scores(term, latest=MOST_POSTINGS if searched is None else None)
            if searched is not None:
                places, scores = places[searched[places]], scores[searched[places]]
            new = places[totals[places] == 0]
            totals[places] += np.float32(weight) * scores
            touched = np.concatenate([touched, new])
        if len(touched) <= count:
            return touched
        sums = totals[touched]
        return np.compress(sums + np.float32(left * MAX_TERM) >= np.partition(sums, -count)[-count], touched)

    def scores(
        self, term: str, *, k1: float = 1.2, b: float = 0.75, latest: int | None = None
    ) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the places of a stem and what it adds to their BM25 scores, each `(postings,)`.

        Args:
            term: a stem.
            k1: saturation of the term frequency; a stem adds less than `idf * (k1 + 1)`.
            b: how strongly long documents are held back.
            latest: only so many of the latest places; None for all.

        Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework". Cost O(postings of the stem).
        """
        if term not in self._places:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
        # Copies: while an array lends its buffer to numpy it cannot grow.
        size = len(self._places[term]) if latest is None else min(latest, len(self._places[term]))
        self.read += size
        places = np.array(self._places[term][-size:], dtype=np.intp)
        counts = np.array(self._counts[term][-size:], dtype=np.float32)
        return places, self._bm25(term, counts, places, k1, b)

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
        scores[found] = self._bm25(term, counts, places[found], k1, b)
        return scores

    def _bm25(
        self, term: str, counts: NDArray[np.float32], places: NDArray[np.integer[Any]], k1: float, b: float
    ) -> NDArray[np.float32]:
        lengths = np.frombuffer(self._lengths, dtype=np.uint32)[places]
        norm = k1 * (1 - b + b * lengths / max(self._words / len(self), 1.0))
        return np.asarray(self.idf(term) * (k1 + 1) * counts / (counts + norm), dtype=np.float32)
