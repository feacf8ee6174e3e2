"""Meaning: the cosine of the query with a turn, with its nearest sentence, and with the turns around it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doxa.recall.views.candidates import Candidates, Look, Places, Scores, View, around, distinct

__all__ = ["Dense"]

SHORTLIST = 512
"""Rows that are compared in full, of those whose signs are nearest to the query's."""
FEEDBACK = 3
"""Places at the top of the ranking that a second probe starts from."""


class Dense(View):
    """Scores `dense`, the cosine of a turn, `sentence`, by how much the nearest of its sentences is nearer than the
    whole, and `dense_near`, what the mean with the turns around it changes.

    A missing neighbour counts like the turn itself, so a turn at the edge of its session loses nothing.
    """

    name = "dense"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return the places that are closest in meaning. Cost O(n) on a bit a dimension, else O(budget dims)."""
        vector, weight = look.query.vector, look.spec.dense
        if budget <= 0 or vector is None or not vector.any():
            return Candidates.none()
        if look.only is not None:
            places, scores = look.only, look.state.vectors.best_at(look.only, vector)
        else:
            places, scores = look.state.vectors.nearest(vector, max(SHORTLIST, 8 * budget), searched=look.searched)
        return look.best(places, scores, budget, weight=weight)

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return all three scores of every place. Cost O(k dims)."""
        vector, vectors = look.query.vector, look.state.vectors
        if vector is None:
            return dict.fromkeys(("dense", "sentence", "dense_near"), np.zeros(len(places), dtype=np.float32))
        near, weights = around(look, places)
        everywhere = np.concatenate([places[:, None], near], axis=1)
        rows, where = distinct(everywhere)
        scores = vectors.at(rows, vector)[where]
        own = scores[:, 0]
        others = np.where(near >= 0, scores[:, 1:], own[:, None])
        mean = (own + others @ weights) / (1 + weights.sum(dtype=np.float32))
        return {"dense": own, "sentence": vectors.best_at(places, vector) - own, "dense_near": mean - own}

    def widen(self, look: Look, best: Places, budget: int) -> Candidates:
        """Return places near to the query together with the best that was found: one more probe (Rocchio 1971)."""
        vector, vectors = look.query.vector, look.state.vectors
        if vector is None or not vector.any() or not len(best):
            return Candidates.none()
        probe = vector + np.mean([vectors.row(place) for place in best[:FEEDBACK].tolist()], axis=0)
        length = float(np.linalg.norm(probe))
        if not length:
            return Candidates.none()
        places, scores = vectors.nearest((probe / length).astype(np.float32), SHORTLIST // 2, searched=look.searched)
        return look.best(places, scores, budget, weight=look.spec.dense)
