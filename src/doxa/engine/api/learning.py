"""Learning: feedback in the log -> replays -> weights that are no worse, swapped in while searches go on."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from time import perf_counter
from typing import cast

import numpy as np

from doxa.core.errors import InputError, NotFoundError
from doxa.core.feedback import Feedback, Lesson
from doxa.core.trace import Step
from doxa.core.values import EARLIEST, Evidence
from doxa.engine.absorb.replaying import LATEST, encoded_queries, replays_of_feedback
from doxa.engine.answer.feedback import edges_of, shadow_of, store_feedback, walked
from doxa.engine.history.replay import NO_TURN
from doxa.engine.history.shadow import sampled
from doxa.engine.wiring.parts import Parts
from doxa.memory import FeedbackGiven, UserState
from doxa.recall import (
    PLANS,
    AlarmSpec,
    Query,
    Weights,
    apart,
    cost_of,
    evidence_of,
    figures,
    index_of,
    look_up,
    play,
    read_query,
    refresh,
    replay_of,
)

__all__ = ["learn", "missed", "standing"]

MOST_NEEDED = 100
"""Turns that one question can have needed; each is kept with the feedback, and learnt from."""
MISLED = 3
"""Turns shown in place of what was needed whose facts pay for it."""


def missed(parts: Parts, user: str, query: str, needed: Collection[str]) -> Feedback:
    """Store that turns were needed and not found: channel missed-but-needed.

    The query is run again under every plan, to find the cheapest one that would have shown all of them among the first
    ten, and the facts that lead to them; both are kept with the feedback. What the graph showed in their place pays.

    Raises:
        InputError: nothing was needed, or more than a question can need.
        NotFoundError: there is no such turn.
        StoreConflictError: somebody wrote at the same time; call again.
        BackendError: the encoder failed.
    """
    given = cast("object", needed)
    if isinstance(given, str) or not isinstance(given, Collection) or not given:
        raise InputError(f"feedback: needed: expected the ids of one or more turns, got {needed!r}.")
    if len(given) > MOST_NEEDED:
        raise InputError(f"feedback: needed: expected the ids of {MOST_NEEDED} turns at most, got {len(given):,}.")
    with parts.log.user(user) as state:
        _require_turns(needed, state)
        read = read_query(query, state, at=state.now())
    read = encoded_queries([read], parts)[0]
    with parts.log.user(user) as state:
        _require_turns(needed, state)  # they may be erased by now
        weights = parts.learned.of(user)
        found = replay_of(read, state, needed=needed, cited=(), spec=parts.recall)
        plan = next((name for name in BY_COST if play(found, PLANS[name], weights)[0] == 1.0), "")
        leading = [key for turn_id in needed for key in index_of(state).facts.held(turn_id, state)]
        found_now, step = _searched(read, state, parts, weights)
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
        if parts.config.drift.watch:
            shadow = shadow_of(
                "missed", at=told.at, query=query, asked="", needed=told.turn_ids, evidence=found_now, step=step
            )
            parts.shadows.add(user, (state.ordinal, shadow))
    return told


def _require_turns(needed: Collection[str], state: UserState) -> None:
    for turn_id in needed:
        if state.turn(turn_id) is None:
            raise NotFoundError(NO_TURN.format(user=state.user, turn_id=turn_id))


def _searched(query: Query, state: UserState, parts: Parts, weights: Weights) -> tuple[list[Evidence], Step]:
    """Return what search gives, and the step as an answer would tell of it."""
    begun = perf_counter()
    looked = look_up(query, state, spec=parts.recall, weights=weights)
    found = evidence_of(looked)
    detail = {**looked.note, "apart": apart(looked.proposed)}
    return found, Step(name="recall", ms=(perf_counter() - begun) * 1000, detail=detail)


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
    current, place = parts.learned.of(user), parts.log.head(user).ordinal
    replays, _ = replays_of_feedback(parts, user)
    new, lesson = refresh(current, replays)
    stands = partial(parts.log.still_has, user, place)
    return parts.learned.take(user, new, lesson, expected=current, stands=stands)


def standing(parts: Parts, user: str) -> Lesson:
    """Return the figures of the weights in use on what was asked lately, and change nothing (appendix B.5).

    Every question counts: one that was answered by what search finds of its evidence now, one without an answer, or
    with one that nothing supports, as nothing found. Beside the figures of `figures`: `failed`, the share of those,
    and `p95_ms`, the 95th percentile of the time of one search at its widest.

    Raises:
        BackendError: the encoder failed.
    """
    store_feedback(parts.log, parts.told, user)
    replays, seconds = replays_of_feedback(parts, user)
    failed = _failed(parts, user)
    if not replays:
        none = "There is no feedback yet: it comes from answers that were verified."
        return Lesson(accepted=False, reason=f"{none[:-1]}; {failed} questions failed." if failed else none)
    found = figures(parts.learned.of(user), replays, failed=failed)
    found |= {"failed": failed / (failed + len(replays)), "p95_ms": float(np.percentile(seconds, 95)) * 1000}
    return Lesson(accepted=False, reason=_state_of(found["recall"]), shadow=len(replays) + failed, before=found)


def _failed(parts: Parts, user: str) -> int:
    """Return how many questions failed since the first feedback that is looked at, and nobody said what they needed."""
    with parts.log.user(user) as state:
        times = [one.at for batch in state.feedback for one in batch][-LATEST:]
    known = sampled(parts, user)
    closed = (window for window in known.windows if not times or window.end >= times[0])
    failed = sum(window.asked * (window.abstained + window.unsupported) for window in closed)
    return round(failed) + sum(one.outcome in ("abstained", "unsupported") for one in known.questions)


def _state_of(recall_at_10: float) -> str:
    spec = AlarmSpec()
    if recall_at_10 < spec.low:
        grade = "critical" if recall_at_10 < spec.critical else "low"
        return f"Recall@10 of what was asked lately is {recall_at_10:.2f}, which is {grade}; `doxa learn` may mend it."
    return f"Recall@10 of what was asked lately is {recall_at_10:.2f}; nothing has to be done."
