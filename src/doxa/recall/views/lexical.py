"""Words: BM25 over the stems of the query, of a turn alone and with the turns around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doxa.memory import MAX_TERM
from doxa.recall.queries.query import Query
from doxa.recall.views.candidates import Candidates, Look, Places, Scores, View, around

__all__ = ["Lexical", "shares"]


class Lexical(View):
    """Scores `lexical`, the share of the query's words that a turn holds, by idf, and `lexical_near`, what the turns
    around it add to that.

    Divided by what the query could reach (not by the best turn), a score stays low where no turn matches, and
    meaning decides.
    """

    name = "lexical"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return the places with the most of the query's words. O(postings read, see `InvertedIndex.best`)."""
        if budget <= 0:
            return Candidates.none()
        places = look.only
        if places is None:
            places = look.state.lexical.best(weighted(look.query), budget, searched=look.searched)
        held = shares(look, places).sum(axis=0)
        return look.best(places[held > 0], held[held > 0], budget)

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return both scores of every place. Cost O(k x words of the query).

        With neighbours, a word counts once, where it weighs most: so a turn gains from a neighbour that holds the
        words it lacks, and a run of turns that repeat one word gains nothing.
        """
        near, weights = around(look, places)
        everywhere = np.concatenate([places[:, None], near], axis=1)
        held = shares(look, everywhere.ravel())
        held = held.reshape(len(held), *everywhere.shape)
        alone = held[:, :, 0].sum(axis=0)
        covered = (held * np.concatenate([np.ones(1, dtype=np.float32), weights])).max(axis=2).sum(axis=0)
        return {"lexical": alone, "lexical_near": covered - alone}


def weighted(query: Query) -> list[tuple[str, float]]:
    """Return the stems to search for, each with its weight: 1 for those of the query."""
    return [*((term, 1.0) for term in query.terms), *query.expansions]


def shares(look: Look, places: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
    """Return what each stem adds to places, `(stems, k) float32`, as a share of what the query's own could reach."""
    index, terms = look.state.lexical, weighted(look.query)
    known = look.notes.get("lexical")
    if not isinstance(known, np.ndarray):
        reachable = MAX_TERM * sum(index.idf(term) for term in look.query.terms or [term for term, _ in terms])
        known = look.notes["lexical"] = np.array([w / max(reachable, 1e-9) for _, w in terms], dtype=np.float32)
    return index.held([term for term, _ in terms], places) * known[:, None]
