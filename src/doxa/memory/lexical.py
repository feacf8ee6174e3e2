"""An inverted index that grows turn by turn: stems with their places, ready for BM25."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_TERM", "InvertedIndex"]

K1 = 1.2
"""Saturation of the term frequency."""
B = 0.75
"""How strongly long documents are held back."""
MAX_TERM = K1 + 1
"""What one stem can add to a BM25 score at most, in multiples of its idf."""
CLOSE = 4
"""Times as many places are given as are wanted when stems were left unread that could change their order."""
TINY = 1e-9
MOST_POSTINGS = 8192
"""Of a stem in more turns the latest ones are read: its idf is so low that no early one stands out by it alone."""


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
        """Return the places with the highest sums of BM25 over stems, `count` of them and some more that come close.

        Args:
            terms: stems, each with its weight.
            count: how many places are wanted.
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
                kept = searched[places]
                places, scores = places[kept], scores[kept]
            new = places[totals[places] == 0]
            totals[places] += np.float32(weight) * scores
            touched = np.concatenate([touched, new])
        sums, most = totals[touched], count if left < TINY else CLOSE * count
        if len(touched) <= most:
            return touched
        return np.compress(sums >= np.partition(sums, -most)[-most], touched)

    def holding(self, terms: Sequence[str]) -> list[int]:
        """Return the places of the documents that hold all of some stems, in order; none for no stem.

        Cost: O(postings of the stems), from the rarest on.
        """
        rarest, *others = sorted((self._places.get(term, array("I")) for term in terms), key=len) or [array("I")]
        found = list(rarest)
        for places in others:
            kept = set(places)
            found = [place for place in found if place in kept]
        return found

    def scores(self, term: str, *, latest: int | None = None) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the places of a stem and what it adds to their BM25 scores, each `(postings,)`.

        Args:
            term: a stem; it adds less than `idf * (K1 + 1)`.
            latest: only so many of the latest places; None for all.

        Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework". Cost O(postings of the stem).
        """
        if term not in self._places:
            return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32)
        # Copies: while an array lends its buffer to numpy it cannot grow.
        size = len(self._places[term]) if latest is None else min(latest, len(self._places[term]))
        self.read += size
        places = np.array(self._places[term][-size:], dtype=np.intp)
        counts = np.array(self._counts[term][-size:], dtype=np.uint16)
        return places, self._saturated(term, counts, self._norms(places))

    def held(self, terms: Sequence[str], places: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return what every stem adds to the BM25 scores of some places, `(stems, k)`; 0 for a place below 0.

        Cost O(stems x k log postings); no posting list is read as a whole.
        """
        adds = np.zeros((len(terms), len(places)), dtype=np.float32)
        keys = places.astype(np.uint32)  # of their own type, or the postings would be copied; -1 is in none
        norms = self._norms(np.maximum(places, 0))
        for row, term in enumerate(terms):
            known = self._places.get(term)
            if known is None:
                continue
            postings = np.frombuffer(known, dtype=np.uint32)
            rows = np.minimum(postings.searchsorted(keys), len(postings) - 1)
            (found,) = (postings[rows] == keys).nonzero()
            if len(found):
                counts = np.frombuffer(self._counts[term], dtype=np.uint16)[rows[found]]
                adds[row, found] = self._saturated(term, counts, norms[found])
        return adds

    def _norms(self, places: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return how strongly the length of places holds them back, `(k,) float32`."""
        if not len(self):
            return np.ones(len(places), dtype=np.float32)
        lengths = np.frombuffer(self._lengths, dtype=np.uint32)[places].astype(np.float32)
        weight = K1 * B / max(self._words / len(self), 1.0)
        return np.asarray(K1 * (1 - B) + weight * lengths, dtype=np.float32)

    def _saturated(self, term: str, counts: NDArray[np.uint16], norms: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(np.float32(self.idf(term) * (K1 + 1)) * counts / (counts + norms), dtype=np.float32)
