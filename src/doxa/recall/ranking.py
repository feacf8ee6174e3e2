"""What a search looked at -> a table of what each view proposed, for a trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from doxa.recall.search import Found

__all__ = ["ranking_of"]

BEST, FIRST = 20, 3
"""Places that are told: the best by the score of all views, and the first of every view."""
DIGITS = 3


def ranking_of(found: Found) -> list[dict[str, Any]]:
    """Return the turns that a search ranked highest, as JSON-ready data, best first.

    Each has its id (`turn`), the `score` by which it was ranked, and of every view that proposed it the rank and the
    score there (`views`); none where it came in beside another. The first few of each view are told whatever their
    rank. Deterministic; O(places).
    """
    order = np.lexsort((-found.places, -found.total))
    proposed: dict[int, dict[str, tuple[int, float]]] = {}
    for name, candidates in found.proposed.items():
        for rank, (place, score) in enumerate(zip(candidates.places.tolist(), candidates.scores.tolist(), strict=True)):
            proposed.setdefault(place, {})[name] = (rank + 1, round(score, DIGITS))
    rows = []
    for at, row in enumerate(order.tolist()):
        place = int(found.places[row])
        views = proposed.get(place, {})
        if at < BEST or any(rank <= FIRST for rank, _ in views.values()):
            turn = found.look.state.turns[found.look.state.places[place]]
            rows.append({"turn": turn.turn_id, "score": round(float(found.total[row]), DIGITS), "views": views})
    return rows
