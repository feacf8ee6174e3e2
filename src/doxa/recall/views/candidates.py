"""What a view is, what it proposes, and what it may look at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from doxa.memory import UserState, microseconds
from doxa.recall.index import RecallIndex
from doxa.recall.queries.query import Query
from doxa.recall.spec import RecallSpec

__all__ = ["Candidates", "Look", "Places", "Scores", "View", "Widening", "around", "distinct", "by_speaker", "in_days"]

Places = NDArray[np.intp]
Scores = NDArray[np.float32]
MICROSECONDS_A_DAY = 86_400_000_000
EPOCH_DAY = 719_163
"""`date(1970, 1, 1).toordinal()`."""
MANY = 8
"""From one hidden turn in eight on, views are told beforehand which ones are searched."""
PAST_TENSE = re.compile(
    r"\b(?:did|was|were|had|(?:has|have|'ve)(?:\W+\w+){0,5}?\W+(?:\w{2,}ed|been|become|begun|bought|broken|brought|built|"
    r"caught|chosen|come|done|drawn|driven|eaten|fallen|felt|found|given|gone|grown|heard|held|kept|known|learnt|led|left|"
    r"lost|made|met|moved|paid|read|run|said|seen|sent|sold|spent|spoken|stopped|taken|taught|told|thought|won|written))\b",
    re.IGNORECASE,
)
"""A question in the past tense or the perfect: what was superseded since may be what it asks for."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Places that a view proposes, `(k,) intp`, with its scores of them, `(k,) float32`, best first."""

    places: Places
    scores: Scores

    @classmethod
    def best(cls, places: Places, scores: Scores, budget: int) -> Candidates:
        """Return the best of some places, each named once; of equal ones the newer first. O(k + budget log budget)."""
        if 0 < budget < len(places):
            # Everything that ties with the last one stays, so that which one is newer is decided below.
            kept = np.flatnonzero(scores >= np.partition(scores, -budget)[-budget])
            places, scores = places[kept], scores[kept]
        order = np.lexsort((-places, -scores))[: max(budget, 0)]
        return cls(places[order], scores[order])

    @classmethod
    def none(cls) -> Candidates:
        """Return no places."""
        return cls(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.float32))


@dataclass(frozen=True, kw_only=True)
class Look:
    """One query at one memory: what every view is given."""

    query: Query
    state: UserState
    index: RecallIndex
    spec: RecallSpec
    notes: dict[str, Any] = field(default_factory=dict)
    """What a view works out once for this query."""

    @cached_property
    def only(self) -> Places | None:
        """The places of the session that alone is searched, in order; None when all are."""
        if self.query.session is None:
            return None
        inside = (self.state.place(ordinal) for ordinal in self.state.session(self.query.session))
        return np.array([place for place in inside if place is not None], dtype=np.intp)

    @cached_property
    def left_out(self) -> Places:
        """Places that are not searched because their turn was withdrawn (by `query.known_at`), in order."""
        state, known_at = self.state, self.query.known_at
        turns = (state.turn(key) for key, at in state.withdrawn.items() if known_at is None or at <= known_at)
        places = (state.place(turn.ordinal) for turn in turns if turn is not None)
        return np.array(sorted(place for place in places if place is not None), dtype=np.intp)

    @cached_property
    def past(self) -> bool:
        """Whether turns of what was true once are searched as well: when the past is asked about."""
        return self.query.past or PAST_TENSE.search(self.query.text) is not None

    @cached_property
    def everything(self) -> bool:
        """Whether turns of which nothing stands are searched: when that is asked for, or an earlier state of it all."""
        return self.spec.superseded or self.query.known_at is not None

    @cached_property
    def searched(self) -> NDArray[np.bool_] | None:
        """By place, whether it is searched, `(n,) bool`; None when nearly all are. Cost O(n) on a bit otherwise."""
        query = self.query
        bounds = (query.known_at, query.until, query.since, query.said_by)
        hidden = len(self.left_out) + (0 if self.everything else self.index.facts.over)
        if MANY * hidden < len(self.state.places) and all(bound is None for bound in bounds):
            return None  # views look at more than they propose, so a few that `best` leaves out cost nothing
        size = len(self.state.places)
        admitted = self._meets(slice(0, size), size)
        if self.only is not None:
            inside = np.zeros(size, dtype=np.bool_)
            inside[self.only] = True
            admitted &= inside
        admitted[self.left_out] = False
        return admitted

    def admits(self, places: Places) -> NDArray[np.bool_]:
        """Tell for every place whether it is searched, `(k,) bool`. Cost O(k)."""
        admitted = self._meets(places, len(places))
        if self.only is not None:
            admitted &= np.isin(places, self.only)
        if len(self.left_out):
            admitted &= ~np.isin(places, self.left_out)
        return admitted

    def _meets(self, places: Any, size: int) -> NDArray[np.bool_]:
        """Tell for every place whether it stands and was said when and by whom it must have been, `(size,) bool`.

        Places are an array or, so that a column is not copied for all of them, a slice.
        """
        admitted = np.ones(size, dtype=np.bool_)
        if not self.everything:
            admitted &= self.index.facts.stands(places, past=self.past)
        query, columns = self.query, self.state.columns
        for last in (query.known_at, query.until):
            if last is not None:
                admitted &= columns.at[places] <= microseconds(last)
        if query.since is not None:
            admitted &= columns.at[places] >= microseconds(query.since)
        if query.said_by is not None:
            said, spoken = columns.speaker[places], np.zeros(size, dtype=np.bool_)
            for number in self._speakers(query.said_by):
                spoken |= said == number
            admitted &= spoken
        return admitted

    def _speakers(self, name: str) -> list[int]:
        """Return the numbers of the speakers of a name."""
        wanted = name.casefold()
        return [number for speaker, number in self.state.columns.speakers.items() if speaker.casefold() == wanted]

    def best(self, places: Places, scores: Scores, budget: int, *, weight: float = 1.0) -> Candidates:
        """Return the best of some places that are searched, by a view's scores and what the query says of them.

        Who said it and when counts in every view, so that none proposes the wrong speaker's turns alone.

        Args:
            places: any places, each once.
            scores: the view's scores of them, `(k,) float32`.
            budget: how many to return.
            weight: how much the view's scores count against the cues.
        """
        admitted = self.admits(places)
        places, scores = places[admitted], scores[admitted]
        return Candidates.best(places, np.float32(weight) * scores + self.cues(places), budget)

    def cues(self, places: Places) -> Scores:
        """Return what the speakers and days that the query names add to every place, `(k,) float32`. Cost O(k)."""
        cues = np.zeros(len(places), dtype=np.float32)
        cues[by_speaker(self.query, self.state, places)] += self.spec.speaker
        cues[in_days(self.query, self.state, places)] += self.spec.time
        return cues


def by_speaker(query: Query, state: UserState, places: Places) -> NDArray[np.bool_]:
    """Tell for every place whether the query points to its speaker, `(k,) bool`. Cost O(k)."""
    columns = state.columns
    numbers = [columns.speakers[name] for name in sorted(query.speakers) if name in columns.speakers]
    marked = np.zeros(len(places), dtype=np.bool_)
    for number in numbers:
        marked |= columns.speaker[places] == number
    if query.own:
        marked |= columns.said_by("user", places)
    if query.addressed:
        marked |= columns.said_by("assistant", places)
    return marked


def in_days(query: Query, state: UserState, places: Places) -> NDArray[np.bool_]:
    """Tell for every place whether it was said in the days that the query names, `(k,) bool`. Cost O(k)."""
    days = query.days
    if days is None:
        return np.zeros(len(places), dtype=np.bool_)
    day = state.columns.at[places] // MICROSECONDS_A_DAY + EPOCH_DAY
    inside: NDArray[np.bool_] = (day >= days.first.toordinal()) & (day <= days.last.toordinal())
    return inside


class View(Protocol):
    """One way to look at a memory: it proposes places, and it scores any places that others propose."""

    name: str
    """What it is called in plans, weights and evidence."""

    def propose(self, look: Look, budget: int) -> Candidates:
        """Return at most `budget` places, best first. Its cost must not grow with the number of turns by much."""
        ...

    def scores(self, look: Look, places: Places) -> Mapping[str, Scores]:
        """Return the exact score of every place under one or more names, each `(k,) float32`. Cost O(k)."""
        ...

    def path(self, look: Look, place: int) -> str:
        """Return how it found a place, in words; empty when its name says it all."""
        return ""


@runtime_checkable
class Widening(Protocol):
    """A view that can look once more, from the best of what was found."""

    def widen(self, look: Look, best: Places, budget: int) -> Candidates:
        """Return at most `budget` places that are near to the best ones, best first; some may be known already."""
        ...


def distinct(places: NDArray[np.integer[Any]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return places of any shape, each once and sorted, and where every one of them is among those."""
    found, where = np.unique(places, return_inverse=True)
    return found.astype(np.intp), where.reshape(places.shape)


def around(look: Look, places: Places) -> tuple[NDArray[np.int32], Scores]:
    """Return the turns around every place in its session, `(k, 2 reach)`, -1 for none, and the weight of each column.

    A session's turns are linked, because sessions may be interleaved.
    """
    columns, reach = look.state.columns, look.spec.reach
    near = np.empty((len(places), 2 * reach), dtype=np.int32)
    for side, link in enumerate((columns.before, columns.after)):
        there = places.astype(np.int32)
        for step in range(reach):
            there = np.where(there >= 0, link[there], np.int32(-1)) if len(link) else there
            near[:, side * reach + step] = there
    decays = [look.spec.decay ** (step + 1) for step in range(reach)]
    return near, np.array(decays * 2, dtype=np.float32)
