"""Ids of shared memories -> what they stand for, as everybody but their owner is shown it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from doxa.core.errors import NotFoundError
from doxa.core.shared import Origin, origin_of, qualified
from doxa.core.values import Fact, Turn
from doxa.engine.wiring.parts import Parts
from doxa.memory import UserState

__all__ = [
    "facts_of",
    "is_shared",
    "labelled",
    "memory_of",
    "place_of",
    "shared_with",
    "told",
    "turns_of",
]


def shared_with(parts: Parts, user: str) -> tuple[str, ...]:
    """Return the memories that a user reads beneath their own, in the order of the setting."""
    return tuple(name for name in parts.config.memory.shared if name != user)


def is_shared(key: str) -> bool:
    """Tell whether an id is of a shared memory."""
    return origin_of(key) is not None


def memory_of(key: str) -> str:
    """Return the shared memory that an id is of; empty for the own one."""
    origin = origin_of(key)
    return "" if origin is None else origin.memory


def turns_of(parts: Parts, user: str, keys: Iterable[str]) -> dict[str, Turn]:
    """Return the turns of those ids that are of shared memories, under these ids; what is gone is left out."""
    found: dict[str, Turn] = {}
    for memory, own in _by_memory(parts, user, keys):
        with parts.log.user(memory) as state:
            turns = ((key, state.turn(key)) for key in own if state.trusts(key))
            found |= {qualified(memory, key): labelled(turn, memory) for key, turn in turns if turn is not None}
    return found


def facts_of(parts: Parts, user: str, keys: Iterable[str]) -> dict[str, Fact]:
    """Return the facts of those ids that are of shared memories, under these ids; what is gone is left out."""
    found: dict[str, Fact] = {}
    for memory, own in _by_memory(parts, user, keys):
        with parts.log.user(memory) as state:
            facts = [state.beliefs.facts[key] for key in own if key in state.beliefs.facts]
        found |= {qualified(memory, fact.fact_id): told(fact, memory) for fact in facts}
    return found


@contextmanager
def place_of(parts: Parts, user: str, key: str) -> Iterator[tuple[UserState, Origin]]:
    """Give the state of the shared memory that an id is of, locked, and the id in it.

    Raises:
        NotFoundError: the user reads no such memory.
    """
    origin, read = origin_of(key), shared_with(parts, user)
    if origin is None or origin.memory not in read:
        names = ", ".join(read) or "none"
        raise NotFoundError(f"{key!r} is of no memory that user {user!r} reads; setting memory.shared names: {names}.")
    with parts.log.user(origin.memory) as state:
        yield state, origin


def labelled(turn: Turn, memory: str) -> Turn:
    """Return a turn of a shared memory under its id for everybody."""
    return replace(turn, turn_id=qualified(memory, turn.turn_id))


def told(fact: Fact, memory: str) -> Fact:
    """Return a fact of a shared memory with the ids for everybody."""
    return replace(
        fact,
        fact_id=qualified(memory, fact.fact_id),
        turn_ids=tuple(qualified(memory, key) for key in fact.turn_ids),
        premises=tuple(qualified(memory, key) for key in fact.premises),
    )


def _by_memory(parts: Parts, user: str, keys: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the memories that ids are of, each with the ids in it; those that the user does not read are left out."""
    read = shared_with(parts, user)
    found: dict[str, list[str]] = {}
    for key in dict.fromkeys(keys) if read else ():
        if (origin := origin_of(key)) is not None and origin.memory in read:
            found.setdefault(origin.memory, []).append(origin.key)
    yield from found.items()
