"""Disputed facts -> what to ask the user, so that one of them can be believed again."""

from __future__ import annotations

from collections.abc import Iterable

from doxa.core.values import Dispute, Fact
from doxa.engine.history.rivals import is_open, rivals_of
from doxa.memory import Beliefs, UserState, describe

__all__ = ["disputes_of", "question_of", "sides_of"]


def disputes_of(state: UserState, facts: Iterable[Fact] | None = None) -> list[Dispute]:
    """Return the open disputes that some facts are part of, each once; of all facts for None.

    Cost O(facts, and facts of the slots of the disputed ones).
    """
    beliefs = state.beliefs
    groups = sides_of(beliefs.facts.values() if facts is None else [beliefs.facts[f.fact_id] for f in facts], beliefs)
    return [Dispute(facts=sides, question=question_of(sides, state)) for sides in groups]


def sides_of(facts: Iterable[Fact], beliefs: Beliefs) -> list[tuple[Fact, ...]]:
    """Return the sides of the open disputes that some facts are part of, without what to ask; see `disputes_of`."""
    found: list[tuple[Fact, ...]] = []
    seen: set[str] = set()
    for fact in facts:
        if fact.fact_id not in seen and is_open(fact):
            group = rivals_of(fact, beliefs)
            seen |= group.keys()
            found.append(tuple(group.values()))
    return found


def question_of(sides: tuple[Fact, ...], state: UserState) -> str:
    """Return what to ask, so that one side of a dispute is believed again."""
    told = [f"\u201c{describe(fact)}\u201d ({_voices(fact, state)})" for fact in sides]
    if len(told) == 1:
        return f"Is it true that {told[0]}?"
    return f"Which is right: {', '.join(told[:-1])} or {told[-1]}?"


def _voices(fact: Fact, state: UserState) -> str:
    """Return who says a fact, and when: "Mia, 3 May 2024; the letter, 4 May 2024"."""
    said = {(claim.source or claim.speaker): claim for claim in state.beliefs.supporting(fact)}
    days = ((name, claim.known_at) for name, claim in said.items())
    return "; ".join(f"{name}, {at.day} {at:%B %Y}" if at else name for name, at in days) or "it follows"
