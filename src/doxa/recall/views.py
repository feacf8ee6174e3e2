"""The views: what speaks for every indexed turn, as one array each. Nothing here loops over turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doxa.memory import Columns, InvertedIndex, UserState
from doxa.recall.cues import Cues
from doxa.recall.spec import RecallSpec
from doxa.recall.times import Days

__all__ = ["Views", "look"]

Scores = NDArray[np.float32]
MAX_TERM = 2.2
"""What one stem can add to a BM25 score at most, in multiples of its idf: `k1 + 1`."""
MICROSECONDS_A_DAY = 86_400_000_000
EPOCH_DAY = 719_163
"""`date(1970, 1, 1).toordinal()`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Views:
    """Every view of every place, each `(n,) float32`."""

    lexical: Scores
    """Share of the query's words that the turn itself holds, by idf: 0 to 1."""
    dense: Scores
    """Cosine of the turn itself."""
    neighbours: Scores
    """What the turns around it add to both, in units of the total score; may be negative."""
    speaker: Scores
    """1 where the query points to the speaker."""
    time: Scores
    """1 where the turn was said in the days that the query names."""

    def total(self, spec: RecallSpec) -> Scores:
        """Return the score by which places are ranked."""
        total: Scores = self.lexical + np.float32(spec.dense) * self.dense + self.neighbours
        total += np.float32(spec.speaker) * self.speaker + np.float32(spec.time) * self.time
        return total


def look(cues: Cues, vector: NDArray[np.float32], days: Days | None, state: UserState, spec: RecallSpec) -> Views:
    """Return all views of a memory.

    Args:
        cues: what the query says.
        vector: the encoded query, `(dims,) float32`; all zeros when there is none.
        days: the days that the query names, if any.
        state: the memory.
        spec: how far neighbours reach and how much they weigh.

    Cost O(n dims + postings of the query's words).
    """
    columns = state.columns
    lexical, covered = _lexical(cues.terms, state.lexical, columns, spec)
    dense = state.vectors.scores(vector)
    around = covered - lexical + np.float32(spec.dense) * (_smooth(dense, columns, spec) - dense)
    return Views(
        lexical=lexical, dense=dense, neighbours=around, speaker=_speaker(cues, columns), time=_time(days, columns)
    )


def _lexical(terms: Sequence[str], index: InvertedIndex, columns: Columns, spec: RecallSpec) -> tuple[Scores, Scores]:
    """Return BM25 of the turns alone and with their neighbours, as shares of the most that the query could reach.

    With neighbours, a word counts once, where it weighs most: so a turn gains from a neighbour that holds the words
    it lacks, and a run of turns that repeat one word gains nothing.
    Divided by what the query could reach (not by the best turn), the score stays low where no turn matches, and
    meaning decides.
    """
    alone, covered = np.zeros(len(index), dtype=np.float32), np.zeros(len(index), dtype=np.float32)
    reachable = MAX_TERM * sum(index.idf(term) for term in terms)
    if not reachable:
        return alone, covered
    for term in terms:
        places, scores = index.scores(term)
        alone[places] += scores
        best = np.zeros(len(index), dtype=np.float32)
        best[places] = scores
        for near, weight, source in _steps(places, columns, spec):
            best[near] = np.maximum(best[near], weight * scores[source])
        covered += best
    return alone / np.float32(reachable), covered / np.float32(reachable)


def _steps(
    places: NDArray[np.intp], columns: Columns, spec: RecallSpec
) -> Iterator[tuple[NDArray[np.int32], np.float32, NDArray[np.intp]]]:
    """Yield `(neighbours, weight, rows of places that they neighbour)` for every step in both directions."""
    for link in (columns.before, columns.after):
        near, source = places.astype(np.int32), np.arange(len(places))
        for step in range(1, spec.reach + 1):
            near = link[near]
            there = near >= 0
            near, source = near[there], source[there]
            yield near, np.float32(spec.decay**step), source


def _smooth(scores: Scores, columns: Columns, spec: RecallSpec) -> Scores:
    """Return the weighted mean of every turn's score with its neighbours'; a missing one counts like the turn itself.

    So a turn at the edge of its session, or alone in it, loses nothing.
    """
    total, weights = scores.copy(), 1.0
    for link in (columns.before, columns.after):
        near = np.arange(len(scores), dtype=np.int32)
        for step in range(1, spec.reach + 1):
            near = np.where(near >= 0, link[near], -1)
            total += np.float32(spec.decay**step) * np.where(near >= 0, scores[near], scores)
            weights += spec.decay**step
    return total / np.float32(weights)


def _speaker(cues: Cues, columns: Columns) -> Scores:
    marked = np.zeros(len(columns), dtype=np.bool_)
    for speaker in cues.speakers:
        marked |= columns.speaker == columns.speakers[speaker]
    if cues.own:
        marked |= columns.said_by("user")
    if cues.addressed:
        marked |= columns.said_by("assistant")
    return marked.astype(np.float32)


def _time(days: Days | None, columns: Columns) -> Scores:
    if days is None:
        return np.zeros(len(columns), dtype=np.float32)
    day = columns.at // MICROSECONDS_A_DAY + EPOCH_DAY
    inside = (day >= days.first.toordinal()) & (day <= days.last.toordinal())
    return inside.astype(np.float32)
