"""turns -> promotions: what is lifted from several statements, off the request path, in small batches."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime

from doxa.core.errors import BackendError, NotFoundError, StoreConflictError
from doxa.core.promotions import Promotion, PromotionReason
from doxa.engine.wiring.parts import Parts
from doxa.memory import Demoted, Event, Promoted, UserState, live_support, standing
from doxa.recall import Gate, Proposal, candidates_of, learn_directions

__all__ = ["all_promotions", "demote", "enable", "explain_promotion", "lift"]

BATCH = 16
"""Turns that are read while the user is locked, and so the longest that a request waits: some 10 ms."""
EVERY = 8
"""New turns that are waited for while more are coming in."""
LEARN_AFTER = 100
"""Turns after which it pays to have an encoder, other than the built-in one, encode the inventory's sentences."""
NO_PROMOTION = "User {user!r} has no promotion {key!r}. `doxa concepts --all` lists their ids."

logger = logging.getLogger("doxa")


def lift(user: str, parts: Parts, *, busy: bool = False, whole: bool = False) -> bool:
    """Read some of the turns that came since, and store what they are lifted to. No turn depends on it.

    Args:
        user: whose memory it is.
        parts: what the engine is made of.
        busy: more turns are about to be processed; fewer than `EVERY` new ones are then left for later.
        whole: what one batch has no room for is not left to the next turns.

    Returns:
        True when there is more to do; call again.

    Raises:
        StoreError: the database failed; it is tried again with the next turn.

    Cost: O(words and concepts of the turns read), one row when anything is promoted, and one for each demotion.
    """
    settings = parts.config.recall
    if not settings.promote:
        return False
    with parts.log.user(user) as state:
        candidates = candidates_of(state)
        left = whole and candidates.postponed
        if candidates.waiting(state) < (EVERY if busy else 1) and not left:
            return False
    if parts.lifted >= LEARN_AFTER:
        _prepare(parts)
    with parts.log.user(user) as state:
        candidates = candidates_of(state)
        parts.lifted += min(BATCH, candidates.waiting(state))
        candidates.read(state, most=BATCH, lexicon=parts.lexicon())
        if candidates.waiting(state):
            return True  # half of what was said may contradict what all of it says: after a start, all is read first
        gate = Gate(tau=settings.tau, quota=settings.promotions, private=settings.promote_private)
        proposals = candidates.proposals(state, gate)
        try:
            for event in _events(proposals, state):
                parts.log.append(user, state, event)
        except StoreConflictError:
            candidates.again(proposals, state)
            return True  # somebody wrote at the same time: the state is caught up first
        return whole and candidates.postponed


def _prepare(parts: Parts) -> None:
    """Have the encoder's directions ready; without them words decide alone."""
    try:
        learn_directions(parts.encoder)
    except BackendError as exc:
        logger.warning("concepts are told by words alone, the encoder failed: %s", exc)


def _events(proposals: list[Proposal], state: UserState) -> list[Event]:
    """Return the proposals as events; their time is that of the latest turn, so that a replay gives the same."""
    now = state.now() or datetime.now(UTC)
    promoted = [one.promotion for one in proposals if one.promotion]
    events = [
        Demoted(known_at=now, target=one.demote, reason=one.reason, automatic=True) for one in proposals if one.demote
    ]
    return [*events, *([Promoted(known_at=now, promotions=promoted)] if promoted else [])]


def all_promotions(user: str, parts: Parts, *, active: bool) -> list[Promotion]:
    """Return the promotions that stand, or all of them, in the order in which they came to be; all turns are read."""
    while lift(user, parts, whole=True):
        pass
    with parts.log.user(user) as state:
        now = {one.promotion_id: one for one in standing(state)}
        if active:
            return list(now.values())
        return [now.get(one.promotion_id) or _marked(one) for one in state.promotions]


def _marked(promotion: Promotion) -> Promotion:
    return replace(promotion, active=False)


def demote(user: str, parts: Parts, key: str, *, reason: str) -> Promotion:
    """Take a promotion down, whatever speaks for it, until it is enabled again.

    Raises:
        NotFoundError: there is no such promotion.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    return _by_hand(user, parts, key, Demoted(known_at=datetime.now(UTC), target=key, reason=reason))


def enable(user: str, parts: Parts, key: str) -> Promotion:
    """Take a demotion back.

    Raises:
        NotFoundError: there is no such promotion.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    return _by_hand(user, parts, key, Promoted(known_at=datetime.now(UTC), enabled=key))


def _by_hand(user: str, parts: Parts, key: str, event: Event) -> Promotion:
    with parts.log.user(user) as state:
        _known(state, user, key)
        parts.log.append(user, state, event)
        return _as_it_stands(state, key)


def explain_promotion(user: str, parts: Parts, key: str) -> PromotionReason:
    """Return what a promotion rests on, and what it has lost.

    Raises:
        NotFoundError: there is no such promotion.
    """
    with parts.log.user(user) as state:
        known = _known(state, user, key)
        left = live_support(known, state)
        turns = tuple(turn for one in left if (turn := state.turn(one.turn_id)))
        lost = tuple(turn_id for turn_id in known.turn_ids if turn_id not in {one.turn_id for one in left})
        now = _as_it_stands(state, key)
        said = "; ".join(f'{turn.turn_id}: "{turn.text}"' for turn in turns)
        text = f"{now} (score {now.score:.2f}), by {len(turns)} turns: {said}"
        text += f". Demoted: {now.demoted}" if now.demoted else "" if now.active else ". Too little is left of it"
        return PromotionReason(promotion=now, turns=turns, lost=lost, text=text)


def _known(state: UserState, user: str, key: str) -> Promotion:
    known = state.promotions.get(key)
    if known is None:
        raise NotFoundError(NO_PROMOTION.format(user=user, key=key))
    return known


def _as_it_stands(state: UserState, key: str) -> Promotion:
    now = {one.promotion_id: one for one in standing(state)}
    known = state.promotions.get(key)
    assert known is not None
    return now.get(key) or _marked(known)
