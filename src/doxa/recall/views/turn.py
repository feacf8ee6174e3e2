"""What a turn is: how much it tells, and whether it tells the kind of thing that is asked for."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doxa.recall.views.candidates import Candidates, Look, Places, Scores, View
from doxa.recall.views.lexical import shares

__all__ = ["Telling"]

SOUGHT = {
    "time": "time",
    "duration": "time",
    "place": "place",
    "reason": "reason",
    "count": "count",
    "person": "name",
}
"""What a query seeks -> the trait of turns that tell such a thing."""
ADVICE = "preference"
"""What a query seeks that wants advice."""


class Telling(View):
    """Scores of turns by what they are; it proposes nothing, since they are no reason to look at a turn alone.

    `content` and `detail` (it says something, it says much), `asserts` (it does not only ask), `aside` (it is not about
    the one who is spoken to), `fits` (it tells the kind of thing that the query seeks), `answers` (the turn before is
    another's question and has the query's words), `person` (a person said it, or the query is of what the assistant
    said); `adviser` (a person said it, and the query wants advice).
    """

    name = "telling"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return nothing."""
        return Candidates.none()

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return all scores of every place, 0 to 1. Cost O(k x words of the query)."""
        traits, query, columns = look.index.traits, look.query, look.state.columns
        nothing = np.zeros(len(places), dtype=np.float32)
        fits = nothing.copy()
        for trait in sorted({SOUGHT[kind] for kind in query.seeks if kind in SOUGHT}):
            fits = np.maximum(fits, traits.of(places, trait))
        person = 1 - columns.said_by("assistant", places).astype(np.float32)
        advice = ADVICE in query.seeks
        return {
            "content": traits.of(places, "content"),
            "detail": traits.of(places, "detail"),
            "asserts": 1 - traits.of(places, "asks"),
            "aside": 1 - traits.of(places, "addresses"),
            "fits": fits,
            "answers": self._answers(look, places),
            "person": np.ones_like(nothing) if query.addressed else person,
            "adviser": person if advice else nothing,
        }

    def _answers(self, look: Look, places: Places) -> Scores:
        columns, traits = look.state.columns, look.index.traits
        before = columns.before[places]
        asked = (before >= 0) & (columns.speaker[before] != columns.speaker[places])
        answers = np.zeros(len(places), dtype=np.float32)
        rows = np.flatnonzero(asked & (traits.of(before, "ends_asking") > 0))
        if len(rows):
            answers[rows] = shares(look, before[rows]).sum(axis=0) * traits.of(before[rows], "ends_asking")
        return answers
