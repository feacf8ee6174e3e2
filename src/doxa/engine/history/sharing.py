"""What of shared memories stands behind answers and facts -> why it does, and nothing of it where it was erased."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from doxa.backends.store import Row
from doxa.core.errors import NotFoundError
from doxa.core.shared import origin_of, qualified
from doxa.core.values import Explanation, Fact
from doxa.engine.history.answers import drop_repeating
from doxa.engine.history.explain import explain
from doxa.engine.history.replay import NO_FACT
from doxa.engine.shared.layers import labelled, place_of, shared_with, told
from doxa.engine.wiring.parts import Parts
from doxa.memory import SetAside

__all__ = ["drop_set_aside", "drop_shared_answers", "explain_shared"]


def explain_shared(parts: Parts, user: str, fact_id: str) -> Explanation:
    """Return why a fact of a shared memory stands, with the ids for everybody; its changes have those of the memory.

    Raises:
        NotFoundError: the user reads no such memory, or it has no such fact.
    """
    with place_of(parts, user, fact_id) as (state, origin):
        if (fact := state.beliefs.facts.get(origin.key)) is None:
            raise NotFoundError(NO_FACT.format(user=origin.memory, fact_id=origin.key))
        found = explain(fact, state)
    memory = origin.memory

    def others(facts: Collection[Fact]) -> tuple[Fact, ...]:
        return tuple(told(one, memory) for one in facts)

    return replace(
        found,
        fact=told(fact, memory),
        turns=tuple(labelled(turn, memory) for turn in found.turns),
        sources={qualified(memory, key): source for key, source in found.sources.items()},
        premises=others(found.premises),
        conclusions=others(found.conclusions),
        displaced=others(found.displaced),
        displaced_by=others(found.displaced_by),
        conflicts={qualified(memory, key): kind for key, kind in found.conflicts.items()},
        identities=others(found.identities),
        text=f"It is of {memory}, which everybody reads.\n{found.text}",
    )


def drop_shared_answers(parts: Parts, memory: str, names: Collection[str] | None) -> None:
    """Remove the answers to other users that may repeat what is erased from a shared memory: those that name it, and
    those that went on from what was not remembered.

    Args:
        parts: what the engine is made of.
        memory: the shared memory.
        names: the ids, in it, of the turns and of the facts that they support; None for everything.

    Cost: for every user of the tenant one query, and reading the answers that are kept.
    """
    if memory not in parts.config.memory.shared or names == set():
        return
    gone = [qualified(memory, key) for key in (("",) if names is None else names)]
    for user in _readers(parts, memory):
        parts.answers.drop(user)
        drop_repeating(parts, user, gone)


def drop_set_aside(parts: Parts, memory: str) -> None:
    """Remove from the logs of others that they set aside what a shared memory no longer holds: its ids tell of it.

    Args:
        parts: what the engine is made of.
        memory: the shared memory, after what is erased is gone.

    Raises:
        StoreConflictError: somebody wrote at the same time; call again.

    Cost: for every user of the tenant one look at what is set aside; for those who set aside what is gone, their log.
    """
    if memory not in parts.config.memory.shared:
        return
    with parts.log.user(memory) as state:
        known = {turn.turn_id for turn in state.received()} | state.beliefs.facts.keys()
    for user in _readers(parts, memory):
        rows = parts.log.rows(user)
        gone = [row.ordinal for row in rows if row.kind == SetAside.kind and _is_gone(row, memory, known)]
        if gone:
            parts.log.store.rewrite(parts.log.scope(user), delete=gone, replace={}, expected=rows[-1].ordinal)
            parts.log.forget_state(user)


def _is_gone(row: Row, memory: str, known: Collection[str]) -> bool:
    origin = origin_of(str(row.body.get("target")))
    return origin is not None and origin.memory == memory and origin.key not in known


def _readers(parts: Parts, memory: str) -> list[str]:
    """Return the users who read a shared memory beneath their own. Cost: one query."""
    return [user for user in parts.log.users() if user != memory and memory in shared_with(parts, user)]
