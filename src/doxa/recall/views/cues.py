"""Who said it and when: what a query says of speakers and days, as views."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doxa.recall.views.candidates import (
    EPOCH_DAY,
    MICROSECONDS_A_DAY,
    Candidates,
    Look,
    Places,
    Scores,
    View,
    by_speaker,
    in_days,
)
from doxa.recall.views.lexical import shares

__all__ = ["Speaker", "Time"]

LATEST = 256
"""How many turns are looked at, of all in the named days, or when nothing but the speaker is known."""


class Speaker(View):
    """Scores `speaker`: 1 where the query points to the speaker.

    Half of all turns are by one speaker, so all views look at it as well (`Look.best`).
    """

    name = "speaker"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return the latest of the last `LATEST` turns whose speaker the query points to."""
        size = len(look.state.places)
        latest = np.arange(max(0, size - LATEST), size)
        places = latest[by_speaker(look.query, look.state, latest)]
        return look.best(places, np.ones(len(places), dtype=np.float32), budget)

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return 1 for every place whose speaker the query points to."""
        return {"speaker": by_speaker(look.query, look.state, places).astype(np.float32)}


class Time(View):
    """Scores `time`: 1 where the turn was said in the days that the query names."""

    name = "time"

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return those turns of the days that the query names that fit it best, of the latest `LATEST`."""
        days = look.query.days
        if budget <= 0 or days is None:
            return Candidates.none()
        first = (days.first.toordinal() - EPOCH_DAY) * MICROSECONDS_A_DAY
        last = (days.last.toordinal() + 1 - EPOCH_DAY) * MICROSECONDS_A_DAY - 1
        places = look.index.timeline.between(first, last, LATEST)
        fits = shares(look, places).sum(axis=0)
        if look.query.vector is not None:
            fits += np.float32(look.spec.dense) * look.state.vectors.at(places, look.query.vector)
        return look.best(places, fits, budget)

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return 1 for every place within the days."""
        return {"time": in_days(look.query, look.state, places).astype(np.float32)}
