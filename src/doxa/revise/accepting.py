"""A fact -> the claim by which a person accepts it by hand: what a turn says of it, without the doubt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from doxa.core.values import Act, Claim, Fact
from doxa.memory import Beliefs

__all__ = ["restated"]


def restated(
    fact: Fact,
    beliefs: Beliefs,
    *,
    speaker: str,
    at: datetime,
    accepted: str,
    trusted: Callable[[str], bool],
    beside: bool = False,
) -> Claim | None:
    """Return what the latest turn behind a fact says of it, as the word of whoever accepts it; None without a turn.

    It is told in the names of that turn, and goes with it when the turn is withdrawn or erased.

    Args:
        fact: what is accepted.
        beliefs: the claims behind it; where it was retracted by hand those that were given up with it.
        speaker: who accepts it.
        at: when, by the clock of the memory: what is said later can revise it.
        accepted: how it was accepted, in words.
        trusted: tells whether a turn is trusted, of those whose claims were given up.
        beside: whether it is kept beside what it is disputed with.

    Cost: O(claims of its slot).
    """
    given_up, _ = beliefs.given_up(("fact", fact.fact_id))
    known = beliefs.supporting(fact) or [claim for claim in given_up if trusted(claim.turn_id)]
    said = [claim for claim in known if claim.turn_id and claim.act is not Act.WITHDRAW]
    if not said:
        return None
    last = max(said, key=lambda claim: (not claim.accepted, beliefs.place(claim)))
    return replace(
        last,
        act=Act.STATE if beside else last.act,
        replaces=None if beside else last.replaces,
        adds=beside or (last.adds and not fact.disputed),
        tentative=False,
        confidence=1.0,
        speaker=speaker,
        source="",
        role="user",
        known_at=at,
        accepted=accepted,
        number=None,
    )
