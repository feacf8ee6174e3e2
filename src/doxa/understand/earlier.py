"""What was claimed before, as corrections, withdrawals and answers of others refer to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from doxa.core.values import EARLIEST, Act, Claim, Turn
from doxa.language import stems_of
from doxa.memory import Beliefs

__all__ = ["Earlier", "heads"]

REACH = 200
"""Turns with claims that a sentence refers back to without saying so; a withdrawal by name may mean any of them."""


@dataclass(frozen=True)
class Earlier:
    """The claims that still stand when a sentence is read, and the turns of the conversation that made them.

    They are gathered when they are first asked for, at a cost of O(claims of the turns in reach), so a sentence that
    refers to nothing costs nothing.
    """

    turn: Turn
    context: Sequence[Turn]
    beliefs: Beliefs
    here: tuple[Claim, ...] = ()
    """What the sentences before it in the same turn claim."""
    reach: int | None = REACH
    """How many of the last turns that claim something are looked at; None for all."""

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that stand, oldest first; what one speaker said again and again is there once, as said last."""
        said = {_word(claim): claim for slot in self.beliefs.latest_slots(self.reach) for claim in _standing(slot)}
        standing = sorted(said.values(), key=lambda claim: claim.known_at or EARLIEST)
        fresh = [claim for claim in self.here if claim.act is not Act.WITHDRAW]
        gone = {_word(claim) for claim in self.here if claim.act is Act.WITHDRAW}
        return (*(claim for claim in standing if _word(claim) not in gone), *fresh)

    def own(self) -> tuple[Claim, ...]:
        """Return what the speaker of the turn claims himself."""
        return tuple(claim for claim in self.claims if claim.speaker == self.turn.speaker)


def _word(claim: Claim) -> tuple[str, ...]:
    return (claim.speaker, claim.source, claim.subject.key, claim.relation.name, claim.object.key, str(claim.polarity))


def _standing(slot: Sequence[Claim]) -> list[Claim]:
    """Return the claims of a slot that their own speaker has not taken back or corrected since."""
    found: list[Claim] = []
    for claim in slot:
        if claim.act is Act.WITHDRAW:
            found = [said for said in found if _word(said) != _word(claim)]
            continue
        if claim.act is Act.CORRECT and claim.replaces is not None:
            found = [
                said for said in found if not (said.speaker == claim.speaker and said.object.key == claim.replaces)
            ]
        found.append(claim)
    return found


def heads(claim: Claim) -> set[str]:
    """Return the stems of what a claim is about and what it says."""
    return stems_of(f"{claim.subject} {claim.relation} {claim.relation.name.replace('_', ' ')} {claim.object}")
