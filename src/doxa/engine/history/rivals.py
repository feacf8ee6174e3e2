"""A disputed fact -> the facts of its dispute."""

from __future__ import annotations

from doxa.core.values import Fact, Status
from doxa.memory import Beliefs

__all__ = ["is_open", "rivals_of"]


def rivals_of(fact: Fact, beliefs: Beliefs) -> dict[str, Fact]:
    """Return the facts of the dispute that a disputed fact is part of by their ids, itself first.

    Facts are of one dispute when the last change of one names another as its rival. Cost O(facts of their slots).
    """
    group, waiting = {fact.fact_id: fact}, [fact]
    while waiting:
        for rival in _next_to(waiting.pop(), beliefs):
            if rival.fact_id not in group:
                group[rival.fact_id] = rival
                waiting.append(rival)
    return group


def is_open(fact: Fact) -> bool:
    """Tell whether a fact is part of a dispute that nothing has settled."""
    return fact.disputed and fact.status is Status.HELD


def _next_to(fact: Fact, beliefs: Beliefs) -> list[Fact]:
    """Return the disputed facts that a fact names as its rivals, and those of its slot that name it."""
    named = [rival for key in _because(fact, beliefs) if (rival := beliefs.facts.get(key)) is not None]
    naming = [one for one in beliefs.in_slot(beliefs.slot(fact)) if fact.fact_id in _because(one, beliefs)]
    return [one for one in (*named, *naming) if is_open(one)]


def _because(fact: Fact, beliefs: Beliefs) -> tuple[str, ...]:
    changes = beliefs.changes_of(fact.fact_id) if is_open(fact) else ()
    return changes[-1].because if changes else ()
