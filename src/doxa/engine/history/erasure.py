"""A turn, or all of them -> nothing, with a certificate: neither the log nor anything learned or kept repeats it."""

from __future__ import annotations

from doxa.core.values import Certificate, Turn
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
    ids, texts = _erased(parts, user, turn_id)
    parts.heads.forget(user, ids=ids, texts=texts, everything=turn_id is None)
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
    parts.heads.forget(user, ids=ids, texts=texts, everything=turn_id is None)
    parts.forget()
    return certificate


def _erased(parts: Parts, user: str, turn_id: str | None) -> tuple[set[str], set[str]]:
    """Return the ids and the texts of what is about to be erased: Doxa's own replies after a turn go with it."""
    if turn_id is None and parts.heads.shared is None:
        return set(), set()  # all of the user's marks go: a log that cannot be read need not be
    with parts.log.user(user) as state:
        turn = state.turn(turn_id) if turn_id is not None else None
        if turn_id is not None and turn is None:
            return set(), set()
        first = turn.ordinal if turn is not None else 0
        gone = [one for one in state.received() if turn is None or one.ordinal == first or _is_reply(one, first)]
    return {one.turn_id for one in gone}, {one.text for one in gone}


def _is_reply(turn: Turn, after: int) -> bool:
    return turn.generated and turn.ordinal > after
