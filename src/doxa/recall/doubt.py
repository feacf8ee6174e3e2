"""Whether a ranking can be trusted, or one more look is worth its cost."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np

from doxa.recall.views import Candidates, Scores

__all__ = ["apart", "doubt", "flatness", "unshared"]

TOP = 10
"""Places at the top of a ranking that are compared."""
FLAT = 0.98
"""Above it nothing stands out: about one in ten of LoCoMo's questions, of which half are found in the top ten, against
all of the quarter with the sharpest rankings."""
APART = 0.95
"""Above it words and meaning share none of their ten best places."""
SHARP = 0.1
"""By what share of the best score a place falls behind to be e times less likely: no scale of scores is assumed."""


def doubt(scores: Mapping[str, Scores], total: Scores) -> str:
    """Return why a ranking is doubtful ("flat", "views disagree"); empty when it is not. Cost O(k log k)."""
    if flatness(total) > FLAT:
        return "flat"
    return "views disagree" if unshared(scores) > APART else ""


def flatness(total: Scores) -> float:
    """Return how evenly the ten best scores are spread, 0 (one stands out) to 1 (all alike).

    It is the entropy of their softmax against that of an even spread; 1 where there are fewer than two places.
    """
    if len(total) < 2:
        return 1.0
    best = np.sort(total)[::-1][:TOP]
    if best[0] <= 0:
        return 1.0
    shares = np.exp((best - best[0]) / np.float32(SHARP * best[0]))
    shares = np.maximum(shares / shares.sum(), np.float32(1e-6))
    return float(-(shares * np.log(shares)).sum() / np.log(len(shares)))


def unshared(scores: Mapping[str, Scores]) -> float:
    """Return how much of the ten best by words and the ten best by meaning is not in both, 0 to 1.

    0 as well where one of the two says nothing. Which places are at the top tells more of whether evidence is found
    than the divergence of scores (appendix A.1) does, which is largest where one view is sure of itself.
    """
    words, meaning = (
        sum((scores[name] for name in names if name in scores), start=np.float32(0))
        for names in (("lexical", "lexical_near"), ("dense", "sentence", "dense_near"))
    )
    if not (np.any(words) and np.any(meaning)):
        return 0.0
    first, second = (set(np.argsort(-np.asarray(view), kind="stable")[:TOP].tolist()) for view in (words, meaning))
    return 1 - len(first & second) / len(first)


COMPARED = ("graph", "dense", "lexical")
"""The views that each find turns by themselves."""


def apart(proposed: Mapping[str, Candidates]) -> float | None:
    """Return how far the views are apart on a query, 0 (each puts the same turns first) to 1 (none does).

    The mean over the pairs of graph, meaning and words of 1 - |A and B| / min(|A|, |B|), where A and B are the first
    ten turns of each; a view that proposes nothing has no pair, and None is where there is none. It hangs on neither
    scores nor what they weigh, and needs no label, so that it tells of questions that nobody answered too.
    """
    first = [set(proposed[view].places[:TOP].tolist()) for view in COMPARED if view in proposed]
    pairs = [(one, other) for one, other in combinations(first, 2) if one and other]
    if not pairs:
        return None
    return sum(1 - len(one & other) / min(len(one), len(other)) for one, other in pairs) / len(pairs)
