"""A turn, or all of them -> nothing, with a certificate: neither the log nor anything learned or kept repeats it."""

from __future__ import annotations

from doxa.core.values import Certificate
from doxa.engine.history.answers import drop_answers
from doxa.engine.history.replay import erase_all
from doxa.engine.history.withdrawal import forget_turn
from doxa.engine.retrying import retried
from doxa.engine.wiring.parts import Parts

__all__ = ["erase"]


def erase(parts: Parts, user: str, turn_id: str | None = None) -> Certificate:
    """Erase a turn, or everything of a user, with all that was made from it. Not reversible.

    Raises:
        NotFoundError: there is no such turn.
        StoreError: the database failed.
    """
    parts.forget()
    if turn_id is None:
        parts.told.drop(user)
        parts.answers.drop(user)
        parts.learned.drop(user)
        certificate = retried(lambda: erase_all(parts.log, user))
    else:
        with parts.log.user(user) as state:
            known = state.turn(turn_id) is not None
        if known:  # before anything is erased: cut short, nothing outlives it; and no typo unlearns anything
            parts.learned.drop(user)
            drop_answers(parts, user, turn_id)
        certificate = retried(lambda: forget_turn(parts, user, turn_id))
    parts.learned.drop(user)  # somebody may have learned, or asked, meanwhile
    parts.forget()
    return certificate
