"""Disputed facts -> what to ask the user, so that one of them can be believed again."""

from __future__ import annotations

from collections.abc import Iterable

from doxa.core.values import Dispute, Fact, Status
from doxa.memory import Beliefs, UserState, describe

__all__ = ["disputes_of", "question_of", "sides_of"]


def disputes_of(state: UserState, facts: Iterable[Fact] | None = None) -> list[Dispute]:
    """Return the open disputes that some facts are part of, each once; of all facts for None.

    Facts are of one dispute when the last change of one names another as its rival. Cost O(facts, and changes of the
    disputed ones).
    """
    beliefs = state.beliefs
    groups = sides_of(beliefs.facts.values() if facts is None else [beliefs.facts[f.fact_id] for f in facts], beliefs)
    return [Dispute(facts=sides, question=question_of(sides, state)) for sides in groups]


def sides_of(facts: Iterable[Fact], beliefs: Beliefs) -> list[tuple[Fact, ...]]:
    """Return the sides of the open disputes that some facts are part of, without what to ask; see `disputes_of`."""
    found: list[tuple[Fact, ...]] = []
    seen: set[str] = set()
    for fact in facts:
        if fact.fact_id in seen or not _open(fact):
            continue
        group, waiting = {fact.fact_id: fact}, [fact]
        while waiting:
            for rival in _rivals(waiting.pop(), beliefs):
                if rival.fact_id not in group:
                    group[rival.fact_id] = rival
                    waiting.append(rival)
        seen |= group.keys()
        found.append(tuple(group.values()))
    return found


def _rivals(fact: Fact, beliefs: Beliefs) -> list[Fact]:
    """Return the disputed facts that a fact names as its rivals, and those of its slot that name it."""
    named = [rival for key in _because(fact, beliefs) if (rival := beliefs.facts.get(key)) is not None]
    naming = [one for one in beliefs.in_slot(beliefs.slot(fact)) if fact.fact_id in _because(one, beliefs)]
    return [one for one in (*named, *naming) if _open(one)]


def _because(fact: Fact, beliefs: Beliefs) -> tuple[str, ...]:
    changes = beliefs.changes_of(fact.fact_id) if _open(fact) else ()
    return changes[-1].because if changes else ()


def _open(fact: Fact) -> bool:
    return fact.disputed and fact.status is Status.HELD


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
