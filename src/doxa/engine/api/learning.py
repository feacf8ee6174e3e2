"""Learning: feedback in the log -> replays -> weights that are no worse, swapped in while searches go on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from time import perf_counter
from typing import cast

import numpy as np

from doxa.core.errors import InputError, NotFoundError
from doxa.core.feedback import Feedback, Lesson
from doxa.core.values import EARLIEST
from doxa.engine.answer.feedback import edges_of, store_feedback, walked
from doxa.engine.history.replay import NO_TURN
from doxa.engine.wiring.parts import Parts
from doxa.memory import FeedbackGiven, UserState
from doxa.recall import (
    PLANS,
    Query,
    Replay,
    cost_of,
    encoded,
    figures,
    index_of,
    play,
    read_query,
    recall,
    refresh,
    replay_of,
)

__all__ = ["drift", "learn", "missed"]

LATEST = 500
"""Answers with feedback that are learned from, the latest ones."""
MISLED = 3
"""Turns shown in place of what was needed whose facts pay for it."""
CRITICAL_RECALL, LOW_RECALL = 0.60, 0.65
"""Recall@10 of recent feedback below which drift is reported (appendix B.5)."""
BEFORE = timedelta(microseconds=1)


def missed(parts: Parts, user: str, query: str, needed: Collection[str]) -> Feedback:
    """Store that turns were needed and not found: channel missed-but-needed.

    The query is run again under every plan, to find the cheapest one that would have shown all of them among the first
    ten, and the facts that lead to them; both are kept with the feedback. What the graph showed in their place pays.

    Raises:
        InputError: nothing was needed.
        NotFoundError: there is no such turn.
        StoreConflictError: somebody wrote at the same time; call again.
        BackendError: the encoder failed.
    """
    given = cast("object", needed)
    if isinstance(given, str) or not isinstance(given, Collection) or not given:
        raise InputError(f"feedback: needed: expected the ids of one or more turns, got {needed!r}.")
    with parts.log.user(user) as state:
        for turn_id in needed:
            if state.turn(turn_id) is None:
                raise NotFoundError(NO_TURN.format(user=user, turn_id=turn_id))
        read = read_query(query, state, at=state.now())
    read = _encoded([read], parts)[0]
    with parts.log.user(user) as state:
        weights = parts.learned.of(user)
        found = replay_of(read, state, needed=needed, cited=(), spec=parts.recall)
        plan = next((name for name in BY_COST if play(found, PLANS[name], weights)[0] == 1.0), "")
        leading = [key for turn_id in needed for key in index_of(state).facts.held(turn_id, state)]
        found_now = recall(read, state, spec=parts.recall, weights=weights)
        shown = [one for one in found_now if not set(one.turn_ids) & set(needed)]
        wrong = [key for one in shown[:MISLED] for key in walked(one) if key not in leading]
        told = Feedback(
            channel="missed",
            at=state.now() or EARLIEST,
            query=query,
            turn_ids=tuple(dict.fromkeys(needed)),
            edges=edges_of(leading, state),
            misled=edges_of(wrong, state),
            plan=plan,
        )
        parts.log.append(user, state, FeedbackGiven(known_at=told.at, told=[told]))
    return told


BY_COST = sorted(PLANS, key=lambda name: cost_of(PLANS[name]))
"""The names of all plans, the cheapest first."""


def learn(parts: Parts, user: str) -> Lesson:
    """Learn from the feedback in a user's log, and use what was learned if it is no worse.

    The latest queries are the shadow set: neither the scorers nor the router see them, and new weights that find less
    in them, or cost more, are refused. Searches go on meanwhile; those that began with the old weights end with them.

    Raises:
        StoreReadOnlyError: the weights cannot be written; those in use stay.
        BackendError: the encoder failed.
    """
    store_feedback(parts.log, parts.told, user)
    current = parts.learned.of(user)
    replays, _ = _replays(parts, user)
    new, lesson = refresh(current, replays)
    if lesson.accepted and not parts.learned.put(user, new, expected=current):
        reason = "Others have learned for this user meanwhile, and their weights are in use."
        return replace(lesson, accepted=False, reason=reason)
    return lesson


def drift(parts: Parts, user: str) -> Lesson:
    """Return the figures of the weights in use on the latest feedback, and change nothing (appendix B.5).

    Beside those of `figures`: `p95_ms`, the 95th percentile of the time of one search at its widest.

    Raises:
        BackendError: the encoder failed.
    """
    store_feedback(parts.log, parts.told, user)
    replays, seconds = _replays(parts, user)
    if not replays:
        return Lesson(accepted=False, reason="There is no feedback yet: it comes from answers that were verified.")
    found = figures(parts.learned.of(user), replays) | {"p95_ms": float(np.percentile(seconds, 95)) * 1000}
    return Lesson(accepted=False, reason=_state_of(found["recall"]), shadow=len(replays), before=found)


def _state_of(recall_at_10: float) -> str:
    if recall_at_10 < LOW_RECALL:
        grade = "critical" if recall_at_10 < CRITICAL_RECALL else "low"
        return f"Recall@10 on recent feedback is {recall_at_10:.2f}, which is {grade}; `doxa learn` may mend it."
    return f"Recall@10 on recent feedback is {recall_at_10:.2f}; nothing has to be done."


def _replays(parts: Parts, user: str) -> tuple[list[Replay], list[float]]:
    """Return a replay of each of the latest queries with feedback, oldest first, and how long each search took.

    Every query is asked of what was known when it was asked, so that nothing later helps or hides it. The lock is
    given back between two queries: searches and new turns wait for one replay at most.
    """
    with parts.log.user(user) as state:
        told = [(one, text) for batch in state.feedback for one in batch if (text := _text(one, state))][-LATEST:]
        queries = [read_query(text, state, at=one.at, known_at=one.at - BEFORE) for one, text in told]
    if not queries:
        return [], []
    replays: list[Replay] = []
    seconds: list[float] = []
    for (one, _), asked in zip(told, _encoded(queries, parts), strict=True):
        with parts.log.user(user) as state:
            start = perf_counter()
            cited = one.turn_ids if one.channel == "used" else ()
            replays.append(replay_of(asked, state, needed=one.turn_ids, cited=cited, spec=parts.recall))
            seconds.append(perf_counter() - start)
    return replays, seconds


def _encoded(queries: Sequence[Query], parts: Parts) -> list[Query]:
    """Return queries as a search has them: with their vectors, and what they are about in kind."""
    vectors = parts.queries.encode([query.wording for query in queries])
    name, lexicon = parts.encoder.name, parts.lexicon()
    return [encoded(query, row, encoder=name, lexicon=lexicon) for query, row in zip(queries, vectors, strict=True)]


def _text(told: Feedback, state: UserState) -> str:
    """Return what was asked; empty where it is not known any more."""
    turn = state.turn(told.asked)
    return told.query or (turn.text if turn else "")
