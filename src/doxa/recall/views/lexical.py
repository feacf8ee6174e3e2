"""Words: BM25 over the stems of the query, of a turn alone and with the turns around it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doxa.recall.query import Query
from doxa.recall.views.candidates import Candidates, Look, Places, Scores, around

__all__ = ["Lexical"]

MAX_TERM = 2.2
"""What one stem can add to a BM25 score at most, in multiples of its idf: `k1 + 1`."""


class Lexical:
    """Scores `lexical`, the share of the query's words that a turn holds, by idf, and `lexical_near`, what the turns
    around it add to that.

    Divided by what the query could reach (not by the best turn), a score stays low where no turn matches, and
    meaning decides.
    """

    name = "lexical"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return the places with the most of the query's words, their neighbours included. O(postings of the query)."""
        if budget <= 0:
            return Candidates.none()
        if look.only is not None:
            seeds = look.only
        else:
            found = [look.state.lexical.scores(term) for term, _ in weighted(look.query)]
            if not any(len(places) for places, _ in found):
                return Candidates.none()
            places = np.concatenate([places for places, _ in found])
            scores = np.concatenate(
                [weight * s for (_, s), (_, weight) in zip(found, weighted(look.query), strict=True)]
            )
            seeds, which = np.unique(places, return_inverse=True)
            totals = np.bincount(which, weights=scores).astype(np.float32)
            best = look.best(seeds, totals, budget).places
            seeds = np.union1d(best, around(look, best)[0].ravel())
            seeds = seeds[seeds >= 0]
        scored = self.scores(look, seeds)
        total = scored["lexical"] + scored["lexical_near"]
        return look.best(seeds[total > 0], total[total > 0], budget)

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return both scores of every place. Cost O(k x words of the query).

        With neighbours, a word counts once, where it weighs most: so a turn gains from a neighbour that holds the
        words it lacks, and a run of turns that repeat one word gains nothing.
        """
        alone, covered = np.zeros(len(places), dtype=np.float32), np.zeros(len(places), dtype=np.float32)
        index, terms = look.state.lexical, weighted(look.query)
        reachable = MAX_TERM * sum(index.idf(term) for term in look.query.terms or [term for term, _ in terms])
        if not reachable:
            return {"lexical": alone, "lexical_near": covered}
        near, weights = around(look, places)
        everywhere = np.concatenate([places[:, None], near], axis=1)
        decayed = np.concatenate([np.ones(1, dtype=np.float32), weights])
        for term, weight in terms:
            scores = np.float32(weight) * index.at(term, everywhere.ravel()).reshape(everywhere.shape)
            alone += scores[:, 0]
            covered += (scores * decayed).max(axis=1)
        gain = (covered - alone) / np.float32(reachable)
        return {"lexical": alone / np.float32(reachable), "lexical_near": gain}

    def path(self, look: Look, place: int) -> str:
        """Return nothing: the name says it."""
        return ""


def weighted(query: Query) -> list[tuple[str, float]]:
    """Return the stems to search for, each with its weight: 1 for those of the query."""
    return [*((term, 1.0) for term in query.terms), *query.expansions]
