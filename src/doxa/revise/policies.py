"""Which of several beliefs that cannot all be true gives way.

A policy is named in the configuration (`revise.policy`). It is asked only about contradictions: an update ("I moved to
Berlin in March") leaves both values true, each at its time, and a correction says itself what is wrong.

Source: GreedySAT, section "Solver-Augmented Belief Revision" drops the oldest commitments first and names others as
possible; D-SMART prunes whatever is older. Both forget who said it, and that equal sources may simply disagree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from doxa.core.values import EARLIEST, Act, Claim, Conflict

__all__ = ["FIRM", "Outcome", "Policy", "outcome_of", "rank_of", "relation_of", "voice_of", "weight_of"]

FIRM = 0.75
"""Confidence from which what several turns say unsurely is believed."""
HALF_LIFE_DAYS = 365.0
"""Age at which the recency of a belief counts half as much in its weight."""


class Policy(StrEnum):
    """What settles a contradiction."""

    RECENCY = "recency"
    """The latest word stands; two equal sources that disagree stay open."""
    TRUST = "trust"
    """Whoever is closer to the subject stands, then the latest word."""
    MINIMAL = "minimal"
    """As few beliefs as possible give way; of equals the older ones."""
    WEIGHTED = "weighted"
    """What is given up weighs as little as possible: closeness, confidence, corroboration and recency (`weight_of`)."""
    REJECT_NEW = "reject-new"
    """What was believed stands; what contradicts it is set aside."""
    ASK = "ask"
    """Both stay, as disputed, until somebody decides."""


class Outcome(StrEnum):
    """Which of two rival values stands."""

    NEW = "new"
    OLD = "old"
    BOTH = "both"


def voice_of(claim: Claim) -> str:
    """Return on whose word a claim rests: the source that its speaker names, else the speaker."""
    return claim.source or claim.speaker


def rank_of(claim: Claim) -> int:
    """Return how close a voice is to the subject: 2 about oneself, 1 about others and things, 0 a machine.

    What is somebody's own is no exception: a ferry or a grandfather is often shared with whoever says otherwise.
    """
    if claim.role not in ("user", "system"):
        return 0
    return 2 if claim.subject.key == voice_of(claim).casefold() else 1


def weight_of(claims: Sequence[Claim], now: datetime | None) -> float:
    """Return what a belief weighs: closeness x confidence x corroboration x recency, each in (0, 3].

    Closeness is `1 + rank_of`, corroboration `1 + log2(voices)`, recency `1/2 + 2^(-age / half-life) / 2`. The product
    is ours: the papers name the parts and no formula.
    """
    closest = max(rank_of(claim) for claim in claims)
    voices = len({voice_of(claim) for claim in claims})
    latest = max(claim.known_at or EARLIEST for claim in claims)
    age = max(0.0, (now - latest).total_seconds() / 86400) if now and latest > EARLIEST else 0.0
    recency = 0.5 + 0.5 * math.pow(2.0, -age / HALF_LIFE_DAYS)
    return (1 + closest) * max(claim.confidence for claim in claims) * (1 + math.log2(voices)) * recency


def relation_of(claim: Claim, believed: Sequence[Claim], policy: Policy, *, lasts: bool = False) -> Conflict:
    """Return how a new value of a functional slot relates to the claims of the value that is believed.

    It is an update where it says since when it holds, or where the same voice says another value on a later day: then
    the world has changed. Of what happens once, on the day that was spoken of already, it does not say so. `ask` and
    `reject-new` want to be told that it has changed. What `lasts` for good never changes.
    """
    if claim.act is Act.CORRECT:
        return Conflict.CORRECTION
    if lasts:
        return Conflict.CONTRADICTION
    start = claim.valid.start
    once = start is not None and start == claim.valid.end and any(other.valid.start == start for other in believed)
    if start is not None and not once:
        return Conflict.UPDATE
    later = _day(claim) > max(map(_day, believed))
    told = policy not in (Policy.ASK, Policy.REJECT_NEW)
    return Conflict.UPDATE if later and told and _same_voice(claim, believed) else Conflict.CONTRADICTION


def outcome_of(claim: Claim, believed: Sequence[Claim], conflict: Conflict, policy: Policy) -> Outcome:
    """Return which value stands: the new one, the one that is believed, or both as disputed."""
    if conflict is not Conflict.CONTRADICTION or claim.accepted:
        return Outcome.NEW
    match policy:
        case Policy.ASK:
            return Outcome.BOTH
        case Policy.REJECT_NEW:
            return Outcome.OLD
        case Policy.TRUST if rank_of(claim) != max(map(rank_of, believed)):
            return Outcome.NEW if rank_of(claim) > max(map(rank_of, believed)) else Outcome.OLD
        case Policy.WEIGHTED:
            now = claim.known_at
            return Outcome.NEW if weight_of([claim], now) >= weight_of(believed, now) else Outcome.OLD
    return Outcome.BOTH if _disagree(claim, believed) else Outcome.NEW


def _disagree(claim: Claim, believed: Sequence[Claim]) -> bool:
    """Tell whether two equal sources, neither of them the subject, say different things."""
    if claim.source and any(other.source for other in believed):
        return voice_of(claim) not in set(map(voice_of, believed))
    return rank_of(claim) == 1 and claim.speaker not in {other.speaker for other in believed}


def _same_voice(claim: Claim, believed: Iterable[Claim]) -> bool:
    return any(
        voice_of(claim) == voice_of(other) or (not claim.source and claim.speaker == other.speaker)
        for other in believed
    )


def _day(claim: Claim) -> datetime:
    return (claim.known_at or EARLIEST).replace(hour=0, minute=0, second=0, microsecond=0)
