"""One score out of the scores of all views."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doxa.recall.spec import RecallSpec
from doxa.recall.views import Scores

__all__ = ["unified"]


def unified(scores: Mapping[str, Scores], spec: RecallSpec) -> Scores:
    """Return the score by which places are ranked, `(k,) float32`: the weighted sum of the views' scores.

    Args:
        scores: name -> exact scores of the same places, each `(k,) float32`; names without a weight do not count.
        spec: how much each one counts.
    """
    total = np.zeros(len(next(iter(scores.values()))), dtype=np.float32)
    for name, weight in spec.weights.items():
        if name in scores:
            total += np.float32(weight) * scores[name]
    return total
