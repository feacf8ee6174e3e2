"""Words: BM25 over the stems of the query, of a turn alone and with the turns around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.memory import MAX_TERM
from doxa.recall.query import Query
from doxa.recall.views.candidates import Candidates, Look, Places, Scores, around

__all__ = ["Lexical"]

WIDE = 2
"""How many places are looked at for every place that is proposed."""


class Lexical:
    """Scores `lexical`, the share of the query's words that a turn holds, by idf, and `lexical_near`, what the turns
    around it add to that.

    Divided by what the query could reach (not by the best turn), a score stays low where no turn matches, and
    meaning decides.
    """

    name = "lexical"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return the places with the most of the query's words, neighbours included. O(postings read, see `best`)."""
        if budget <= 0:
            return Candidates.none()
        seeds = look.only
        if seeds is None:
            held = look.state.lexical.best(weighted(look.query), WIDE * budget, searched=look.searched)
            best = look.best(held, shares(look, held).sum(axis=0), budget).places
            seeds = np.union1d(best, around(look, best)[0])
            seeds = seeds[seeds >= 0]
        scored = self.scores(look, seeds)
        total = scored["lexical"] + scored["lexical_near"]
        return look.best(seeds[total > 0], total[total > 0], budget)

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return both scores of every place. Cost O(k x words of the query).

        With neighbours, a word counts once, where it weighs most: so a turn gains from a neighbour that holds the
        words it lacks, and a run of turns that repeat one word gains nothing.
        """
        near, weights = around(look, places)
        everywhere = np.concatenate([places[:, None], near], axis=1)
        rows, where = np.unique(everywhere, return_inverse=True)
        held = shares(look, rows)[:, where.reshape(everywhere.shape)]
        alone = held[:, :, 0].sum(axis=0)
        covered = (held * np.concatenate([np.ones(1, dtype=np.float32), weights])).max(axis=2).sum(axis=0)
        return {"lexical": alone, "lexical_near": covered - alone}

    def path(self, look: Look, place: int) -> str:
        """Return nothing: the name says it."""
        return ""


def weighted(query: Query) -> list[tuple[str, float]]:
    """Return the stems to search for, each with its weight: 1 for those of the query."""
    return [*((term, 1.0) for term in query.terms), *query.expansions]


def shares(look: Look, rows: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
    """Return what each stem adds to places, `(stems, k) float32`, as a share of what the query's own could reach."""
    index, terms = look.state.lexical, weighted(look.query)
    reachable = MAX_TERM * sum(index.idf(term) for term in look.query.terms or [term for term, _ in terms])
    held = np.zeros((len(terms), len(rows)), dtype=np.float32)
    for number, (term, weight) in enumerate(terms):
        held[number] = np.float32(weight / max(reachable, 1e-9)) * index.at(term, rows)
    return held
