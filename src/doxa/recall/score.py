"""One score out of the scores of all views, and how far the views agree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doxa.recall.views import Look, Places, Scores
from doxa.recall.weights import Weights

__all__ = ["with_sessions", "unified"]

OWN = {"lexical": 1.0, "lexical_near": 1.0, "dense": 0.5, "sentence": 0.25, "dense_near": 0.5, "time": 0.1}
"""What a turn adds to its session: a fixed sum, so that what is fitted to it later stays what it was."""

SPEAKING = frozenset("lexical lexical_near dense sentence dense_near speaker time graph profile".split())
"""Scores that speak for a place. Where none is above 0, what the turn is like does not make it evidence."""


def unified(scores: Mapping[str, Scores], weights: Weights, lead: str) -> Scores:
    """Return the score by which places are ranked, `(k,) float32`: the weighted sum of the views' scores.

    It never falls when a view that speaks for a place rises, and does not depend on the order of the places.

    Args:
        scores: name -> exact scores of the same places, each `(k,) float32`; a name without a weight does not count.
        weights: what is learned.
        lead: the view that leads.

    Returns:
        0 for places for which no view speaks.

    Source: equation 1, with one term for every score that a view gives.
    """
    spoken = np.zeros(len(next(iter(scores.values()))), dtype=np.bool_)
    for name in SPEAKING & scores.keys():
        spoken |= scores[name] > 0
    return np.where(spoken, weights.unified(scores, lead), np.float32(0))


def with_sessions(scores: Mapping[str, Scores], look: Look, places: Places) -> dict[str, Scores]:
    """Return the scores with `session` added: how well the best of the places of the same session does.

    What is asked about is told in several turns of one conversation more often than in turns of many. Cost O(k).
    """
    own = np.zeros(len(places), dtype=np.float32)
    for name, weight in OWN.items():
        if name in scores:
            own += np.float32(weight) * scores[name]
    sessions, of = np.unique(look.state.columns.session[places], return_inverse=True)
    best = np.full(len(sessions), -np.inf, dtype=np.float32)
    np.maximum.at(best, of, own)
    return {**scores, "session": best[of]}
