"""The end of the log -> what was done lately."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import cast

from doxa.core.views import Deed, DeedKind
from doxa.engine.history.deeds import BY_HAND, DoneRow, deeds
from doxa.memory import MemoryLog, Revision, UserState, event_of

__all__ = ["done_lately"]

LATELY = 256
"""Rows of the log that are looked at."""


def done_lately(log: MemoryLog, user: str, state: UserState, *, session: str, limit: int) -> tuple[Deed, ...]:
    """Return what was done lately; see `View.deeds`. Call inside `log.user()`."""
    return tuple(islice(_told(log, user, state, session), limit))


def _told(log: MemoryLog, user: str, state: UserState, session: str) -> Iterator[Deed]:
    last = True
    for one in deeds(log, user, state, most=LATELY):
        turn = state.turns.get(one.row.about or 0)
        next_undone = last and one.stands
        if one.row.kind in BY_HAND or (turn is not None and turn.session == session) or next_undone:
            yield _deed(one, state, last=next_undone)
        last &= not one.stands


def _deed(one: DoneRow, state: UserState, *, last: bool) -> Deed:
    turn = state.turns.get(one.row.about or 0)
    event = event_of(one.row, turn)
    assert isinstance(event, Revision)
    return Deed(
        number=one.row.ordinal,
        kind=cast("DeedKind", one.row.kind),
        at=one.row.known_at,
        changes=tuple(event.changes),
        stands=one.stands,
        last=last,
        target=str(one.row.body.get("target", "")),
        turn=turn,
        reason=str(one.row.body.get("reason", "")),
    )
