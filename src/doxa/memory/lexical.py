"""An inverted index that grows turn by turn: stems with their places, ready for BM25."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.memory.columns import grown
from doxa.memory.paged import Lists, Pack, PackWriter

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
MOST_POSTINGS = 32_768
"""Postings that a search reads, beginning with the rarest stems."""
LATEST_POSTINGS = 8192
"""Of the stems that are left so many each, the latest: their idf is so low that no early one stands out by it."""
FURTHER = 4
"""Times as many are looked at when too few of the latest are searched."""


class InvertedIndex:
    """Postings by stem over documents 0, 1, 2, ... Adding costs O(words); a query touches only its own postings."""

    def __init__(self) -> None:
        self._postings = Lists("IH")
        """Of every stem the places where it stands, and how often."""
        self._lengths = np.zeros(64, np.uint32)
        self._size = 0
        self._words = 0
        self.read = 0
        """Postings that were read since it was made: what searches cost."""

    def __len__(self) -> int:
        return self._size

    def add(self, terms: list[str]) -> int:
        """Add a document and return its place."""
        place = self._size
        for term, count in Counter(terms).items():
            self._postings.append(term, place, min(count, 65535))
        if place == len(self._lengths):
            self._lengths = grown(self._lengths, place + 1)
        self._lengths[place] = len(terms)
        self._words += len(terms)
        self._size += 1
        return place

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a stem, never negative (BM25+ form)."""
        n, df = len(self), self._postings.count(term)
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
        not be among the best (Turtle and Flood 1995, MaxScore). In all `MOST_POSTINGS` are read, or of a stem in more
        documents the latest `LATEST_POSTINGS`, and it is looked up where rarer ones stand: what is read does not grow
        with the history. Cost O(postings read), with `searched` up to all of these stems.
        """
        bounds = sorted(((weight * self.idf(term), term, weight) for term, weight in terms), reverse=True)
        left, unread = sum(bound for bound, _, _ in bounds), MOST_POSTINGS
        totals, touched = np.zeros(len(self), dtype=np.float32), np.empty(0, dtype=np.intp)
        for bound, term, weight in bounds:
            if len(touched) > count and np.partition(totals[touched], -count)[-count] >= left * MAX_TERM:
                break
            left -= bound
            size = max(unread, LATEST_POSTINGS)
            places, counts = self._latest(term, size, searched)
            unread -= len(places)
            if len(places) == size and len(touched):  # not all were read
                earlier = touched[touched < places[0]]
                totals[earlier] += np.float32(weight) * self.held([term], earlier)[0]
            new = places[totals[places] == 0]
            totals[places] += np.float32(weight) * self._saturated(term, counts, self._norms(places))
            touched = np.concatenate([touched, new])
        sums, most = totals[touched], count if left < TINY else CLOSE * count
        if len(touched) <= most:
            return touched
        return np.compress(sums >= np.partition(sums, -most)[-most], touched)

    def holding(self, terms: Sequence[str]) -> list[int]:
        """Return the places of the documents that hold all of some stems, in order; none for no stem.

        Cost: O(postings of the rarest stem), and for the others the logarithm of theirs.
        """
        rarest, *others = sorted(terms, key=self._postings.count) or [""]
        places = self.places(rarest)
        for term in others:
            kept = np.zeros(len(places), dtype=np.bool_)
            for at, _ in self._at(term, places):
                kept[at] = True
            places = places[kept]
        return [int(place) for place in places]

    def places(self, term: str) -> NDArray[np.intp]:
        """Return all places of a stem, in order. Cost O(its postings)."""
        places = self._postings.arrays(term)[0].astype(np.intp)
        self.read += len(places)
        return places

    def held(self, terms: Sequence[str], places: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return what every stem adds to the BM25 scores of some places, `(stems, k)`; 0 for a place below 0.

        Cost O(stems x k log postings); no posting list is read as a whole.
        """
        adds = np.zeros((len(terms), len(places)), dtype=np.float32)
        norms = self._norms(np.maximum(places, 0))
        for row, term in enumerate(terms):
            for at, counts in self._at(term, places):
                adds[row, at] = self._saturated(term, counts, norms[at])
        return adds

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of it."""
        self._postings.save(writer, f"{name}.postings")
        writer.array(f"{name}.lengths", self._lengths[: self._size])

    def load(self, pack: Pack, name: str) -> None:
        """Take what a pack holds in place of all that is here; postings are read there."""
        self._postings.load(pack, f"{name}.postings")
        self._lengths = pack.array(f"{name}.lengths")
        self._size, self._words = len(self._lengths), int(self._lengths.sum(dtype=np.int64))

    def _latest(
        self, term: str, most: int, searched: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.intp], NDArray[np.uint16]]:
        """Return the latest places of a stem, of those that are searched, and how often it stands there."""
        latest = most
        while True:
            found, counts = self._postings.arrays(term, latest=latest)
            places, whole = found.astype(np.intp), len(found) < latest
            if searched is not None:
                (kept,) = searched[places].nonzero()
                places, counts = places[kept], counts[kept]
            if whole or len(places) >= most:
                self.read += len(found)
                return places[-most:], counts[-most:]
            latest *= FURTHER

    def _at(self, term: str, places: NDArray[np.integer[Any]]) -> Iterator[tuple[NDArray[np.intp], NDArray[np.uint16]]]:
        """Give which of some places hold a stem, as rows of them, and how often it stands there, in one part or two."""
        keys = places.astype(np.uint32)  # of their own type, or the postings would be copied; -1 is in none
        for postings, counts in self._postings.stretches(term):
            rows = np.minimum(postings.searchsorted(keys), len(postings) - 1)
            (found,) = (postings[rows] == keys).nonzero()
            if len(found):
                yield found, counts[rows[found]]

    def _norms(self, places: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """Return how strongly the length of places holds them back, `(k,) float32`."""
        if not len(self):
            return np.ones(len(places), dtype=np.float32)
        lengths = self._lengths[places].astype(np.float32)
        weight = K1 * B / max(self._words / len(self), 1.0)
        return np.asarray(K1 * (1 - B) + weight * lengths, dtype=np.float32)

    def _saturated(self, term: str, counts: NDArray[np.uint16], norms: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(np.float32(self.idf(term) * (K1 + 1)) * counts / (counts + norms), dtype=np.float32)
