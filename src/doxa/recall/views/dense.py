"""Meaning: the cosine of the query with a turn, and with the turns around it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doxa.recall.views.candidates import Candidates, Look, Places, Scores, around

__all__ = ["Dense"]

WIDE = 4
"""How many places are looked at in full for every place that is proposed."""


class Dense:
    """Scores `dense`, the cosine of a turn, and `dense_near`, what the mean with the turns around it changes.

    A missing neighbour counts like the turn itself, so a turn at the edge of its session loses nothing.
    """

    name = "dense"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return the places that are closest in meaning, their neighbours included."""
        if budget <= 0 or look.query.vector is None or not look.query.vector.any():
            return Candidates.none()
        if look.only is not None:
            seeds = look.only
        else:
            every = np.arange(len(look.state.vectors))
            seeds = look.best(
                every, look.state.vectors.scores(look.query.vector), WIDE * budget, weight=look.spec.dense
            ).places
        scored = self.scores(look, seeds)
        return look.best(seeds, scored["dense"] + scored["dense_near"], budget, weight=look.spec.dense)

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return both scores of every place. Cost O(k dims)."""
        vector = look.query.vector
        if vector is None:
            nothing = np.zeros(len(places), dtype=np.float32)
            return {"dense": nothing, "dense_near": nothing}
        near, weights = around(look, places)
        everywhere = np.concatenate([places[:, None], near], axis=1)
        rows, where = np.unique(everywhere, return_inverse=True)
        scores = look.state.vectors.at(rows, vector)[where.reshape(everywhere.shape)]
        own = scores[:, :1]
        others = np.where(near >= 0, scores[:, 1:], own)
        mean = (own[:, 0] + others @ weights) / (1 + weights.sum(dtype=np.float32))
        return {"dense": own[:, 0], "dense_near": (mean - own[:, 0]).astype(np.float32)}

    def path(self, look: Look, place: int) -> str:
        """Return nothing: the name says it."""
        return ""
