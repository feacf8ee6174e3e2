"""Turns, or all of them -> nothing, with a certificate: neither the log nor anything learned or kept repeats it."""

from __future__ import annotations

import time
from collections.abc import Collection

from doxa.backends.store import owner_name
from doxa.core.errors import StoreConflictError
from doxa.core.values import Certificate, Turn
from doxa.engine.history.answers import drop_answers, drop_repeating
from doxa.engine.history.replay import erase_all
from doxa.engine.history.shadow import drop_shadows
from doxa.engine.history.sharing import drop_set_aside, drop_shared_answers
from doxa.engine.history.spools import drop_spools
from doxa.engine.history.withdrawal import forget_turns
from doxa.engine.retrying import retried
from doxa.engine.tenure import held
from doxa.engine.wiring.copies import drop_copies
from doxa.engine.wiring.parts import Parts
from doxa.memory import UserState

__all__ = ["erase", "erased_with"]

ALONGSIDE = 3
"""How often turns are erased while others process the same user, until these have to wait."""
TIMES_AS_LONG = 4
"""How many times as long as these attempts took others wait at most."""
LOOKED_EVERY_S = 0.05
"""How often it is asked whether another process has ended its block of turns."""


def erase(parts: Parts, user: str, turn_ids: Collection[str] | None = None) -> Certificate:
    """Erase turns, or everything of a user, with all that was made from them. Not reversible.

    Raises:
        NotFoundError: the user has none of the turns.
        StoreError: the database failed.
    """
    parts.forget()
    ids, texts = _erased(parts, user, turn_ids)
    parts.heads.forget(user, ids=ids, texts=texts, everything=turn_ids is None)
    names: set[str] | None = None if turn_ids is None else set()
    if turn_ids is None:
        parts.told.drop(user)
        parts.answers.drop(user)
        parts.shadows.drop(user)
        parts.learned.drop(user)
        drop_shared_answers(parts, user, names)
        parts.log.store.forget_keys(parts.config.tenant, user)
        certificate = retried(lambda: erase_all(parts.log, user))
    else:
        if ids:  # before anything is erased: cut short, nothing outlives it; and no typo unlearns anything
            parts.learned.drop(user)
            names = drop_answers(parts, user, turn_ids)
            drop_shared_answers(parts, user, names)
            drop_shadows(parts, user, ids)
        certificate = _forgotten(parts, user, turn_ids)
    # Somebody may have learned, or asked, meanwhile.
    parts.learned.drop(user)
    if names is not None:
        names |= {*certificate.turn_ids}
        drop_repeating(parts, user, names)
    drop_shared_answers(parts, user, names)
    retried(lambda: drop_set_aside(parts, user))
    drop_shadows(parts, user, ids)
    parts.heads.forget(user, ids=ids, texts=texts, everything=turn_ids is None)
    drop_spools(parts, user)
    drop_copies(str(parts.log.store.describe()["location"]))
    parts.log.store.wipe(parts.log.scope(user))
    parts.forget()
    return certificate


def _forgotten(parts: Parts, user: str, turn_ids: Collection[str]) -> Certificate:
    """Erase turns, however fast others go on: where they do, they wait, since each of their turns begins it anew."""
    begun = time.monotonic()
    try:
        return retried(lambda: forget_turns(parts, user, turn_ids), times=ALONGSIDE)
    except StoreConflictError:
        took = time.monotonic() - begun
    store, scope, seconds = parts.log.store, parts.log.scope(user), parts.config.engine.lease_s + TIMES_AS_LONG * took
    end = time.monotonic() + seconds
    while True:
        with held(store, scope, owner=owner_name(), seconds=seconds) as tenure:
            if tenure is not None or time.monotonic() > end or not store.head(scope).ordinal:
                return retried(lambda: forget_turns(parts, user, turn_ids))
        time.sleep(LOOKED_EVERY_S)


def _erased(parts: Parts, user: str, turn_ids: Collection[str] | None) -> tuple[set[str], set[str]]:
    """Return the ids and the texts of what is about to be erased: Doxa's own replies after a turn go with it."""
    if turn_ids is None and parts.heads.shared is None:
        return set(), set()  # all of the user's marks go: a log that cannot be read need not be
    with parts.log.user(user) as state:
        if turn_ids is None:
            gone = list(state.received())
        else:
            gone = erased_with(state, turn_ids)
    return {one.turn_id for one in gone}, {one.text for one in gone}


def erased_with(state: UserState, turn_ids: Collection[str]) -> list[Turn]:
    """Return those of some turns that there are, and the replies of Doxa's own that go with them, in order. O(turns)"""
    asked = {turn.ordinal for turn in map(state.turn, turn_ids) if turn is not None}
    if not asked:
        return []
    first = min(asked)
    return [one for one in state.received(after=first - 1) if one.ordinal in asked or one.generated]
