"""Search: all views, one ranking, and why each piece of evidence is there."""

from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Evidence
from doxa.memory import UserState, microseconds
from doxa.recall.cues import read_cues
from doxa.recall.spec import RecallSpec
from doxa.recall.times import read_days
from doxa.recall.views import Views, look

__all__ = ["recall"]


def recall(
    query: str,
    query_vector: NDArray[np.float32],
    state: UserState,
    *,
    at: datetime | None = None,
    session: str | None = None,
    as_of: date | None = None,
    known_at: datetime | None = None,
    spec: RecallSpec = RecallSpec(),  # noqa: B008  # frozen
) -> list[Evidence]:
    """Return the turns that bear on a query, best first.

    Withdrawn turns, replies that Doxa wrote, and turns that were received and not yet processed are never found.

    Args:
        query: what is asked, as it was asked.
        query_vector: encoding of `rephrase(query, state)`, `(dims,) float32` of unit length; zeros search words alone.
        state: the memory of one user.
        at: when it is asked ("last week" counts from here); by default at `known_at` or the latest turn.
        session: search only the turns of this session.
        as_of: a day of the world that is asked about; "last week" counts from here instead.
        known_at: leave out turns after this moment.
        spec: how to search.

    Returns:
        At most `spec.top_k` pieces of evidence with a score above 0. Deterministic; of two equal ones the newer first.

    Cost O(n dims + postings of the query's words) for n turns; no call to a model.
    """
    # Asked about an earlier state of knowledge, "last week" is the week before that.
    asked = min((moment for moment in (at, known_at) if moment), key=microseconds, default=state.now())
    today = as_of or (asked or datetime.now(UTC)).date()
    cues, days = read_cues(query, state.columns.speakers), read_days(query, today)
    views = look(cues, query_vector, days, state, spec)
    total = np.where(_searched(state, session, known_at), views.total(spec), np.float32(0))
    return [_evidence(place, total[place], views, state, spec) for place in _best(total, spec)]


def _searched(state: UserState, session: str | None, known_at: datetime | None) -> NDArray[np.bool_]:
    searched = np.ones(len(state.places), dtype=np.bool_)
    if known_at is not None:
        searched &= state.columns.at <= microseconds(known_at)
    if session is not None:
        inside = [place for place in map(state.place, state.session(session)) if place is not None]
        only = np.zeros_like(searched)
        only[inside] = True
        searched &= only
    for turn_id, withdrawn_at in state.withdrawn.items():
        if known_at is not None and withdrawn_at > known_at:
            continue  # it was still trusted then
        turn = state.turn(turn_id)
        place = None if turn is None else state.place(turn.ordinal)
        if place is not None:
            searched[place] = False
    return searched


def _best(total: NDArray[np.float32], spec: RecallSpec) -> list[int]:
    """Return the places with the highest scores above 0, best first, newer first where they are equal."""
    places = np.arange(len(total))
    pool = max(spec.pool, spec.top_k)
    if pool < len(total):
        # Everything that ties with the last of the pool stays, so that which one is newer is decided below.
        places = np.flatnonzero(total >= np.partition(total, -pool)[-pool])
    places = places[total[places] > 0]
    return [int(place) for place in places[np.lexsort((-places, -total[places]))][: spec.top_k]]


def _evidence(place: int, score: np.float32, views: Views, state: UserState, spec: RecallSpec) -> Evidence:
    turn = state.turns[state.places[place]]
    scores = {
        "lexical": views.lexical[place],
        "dense": views.dense[place],
        "neighbours": views.neighbours[place],
        "speaker": views.speaker[place],
        "time": views.time[place],
    }
    return Evidence(
        text=f"{turn.speaker}: {turn.text}",
        turn_ids=(turn.turn_id,),
        score=float(score),
        scores={name: float(value) for name, value in scores.items()},
        path=_path(place, views, state, spec),
    )


def _path(place: int, views: Views, state: UserState, spec: RecallSpec) -> tuple[str, ...]:
    """Return the views that speak for a place; "neighbour of X" when the turns around it do more than it does."""
    own = views.lexical[place] + spec.dense * views.dense[place]
    path = [name for name in ("lexical", "dense", "speaker", "time") if getattr(views, name)[place] > 0]
    if views.neighbours[place] > 0 and views.neighbours[place] > own / 2:
        near = [int(link[place]) for link in (state.columns.before, state.columns.after) if link[place] >= 0]
        if near:
            best = max(near, key=lambda other: views.lexical[other] + spec.dense * views.dense[other])
            path.append(f"neighbour of {state.turns[state.places[best]].turn_id}")
    return tuple(path)
