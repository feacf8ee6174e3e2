"""What a user does not let count of a shared memory -> an event in the user's own log."""

from __future__ import annotations

from datetime import UTC, datetime

from doxa.core.errors import NotFoundError
from doxa.core.values import Change
from doxa.engine.shared.layers import place_of
from doxa.engine.wiring.parts import Parts
from doxa.memory import SetAside

__all__ = ["set_aside", "take_up"]

NOTHING = "The shared memory {memory!r} has nothing of the id {key!r}. `search` and answers give the ids."


def set_aside(parts: Parts, user: str, key: str, *, reason: str) -> list[Change]:
    """Have a fact or a turn of a shared memory count no more for one user; nothing of the memory changes.

    Raises:
        NotFoundError: the user reads no such memory, or it has nothing of that id.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with place_of(parts, user, key) as (state, origin):
        if origin.key not in state.beliefs.facts and state.turn(origin.key) is None:
            raise NotFoundError(NOTHING.format(memory=origin.memory, key=origin.key))
    return _noted(parts, user, SetAside(known_at=datetime.now(UTC), target=key, reason=reason))


def take_up(parts: Parts, user: str, key: str, *, reason: str) -> list[Change]:
    """Have a fact or a turn that a user set aside count again; nothing happens where it does.

    Raises:
        NotFoundError: the user reads no such memory.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with place_of(parts, user, key):
        pass
    return _noted(parts, user, SetAside(known_at=datetime.now(UTC), target=key, reason=reason, taken_back=True))


def _noted(parts: Parts, user: str, event: SetAside) -> list[Change]:
    """Store an event unless things stand as it says already. Nothing that is believed changes by it."""
    with parts.log.user(user) as state:
        if (event.target in state.aside) == event.taken_back:
            parts.log.append(user, state, event)
    return []
