"""What an answer is computed from: the dialogue that a question belongs to, and what recall finds beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from doxa.core.values import Draft, Evidence, Turn
from doxa.engine.asked import Asked
from doxa.engine.wiring.parts import Parts
from doxa.memory import UserState
from doxa.reason import concerns, work_out

__all__ = ["computed"]

DIALOGUE = 200
"""Latest turns of a session that are looked at."""


def computed(
    text: str, asked: Asked, state: UserState, nearby: Sequence[Evidence], parts: Parts, *, today: date | None
) -> Draft | None:
    """Return the answer that follows by arithmetic, or None when the question wants none or it is not certain.

    Args:
        text: the question.
        asked: the message that it stands in, by whom and when; of another day of the world nothing is computed.
        state: of the user.
        nearby: turns that bear on the question.
        parts: what the engine is made of.
        today: the memory's today.

    Raises:
        BackendError: the parser failed.
    """
    if asked.as_of is not None or not concerns(text):
        return None
    own = state.turn(asked.turn_id) if asked.turn_id else None
    asker = own if own is not None and text in own.text else _asking(text, asked)
    ordinals = state.session(asked.session)[-DIALOGUE:]
    turns = {turn.turn_id: turn for ordinal in ordinals if (turn := state.turns.get(ordinal)) is not None}
    turns |= {key: turn for item in nearby for key in item.turn_ids if (turn := state.turn(key)) is not None}
    told = [turn for key, turn in turns.items() if state.trusts(key) and _before(turn, asked, own)]
    return work_out(text, sorted(told, key=lambda turn: turn.ordinal), parts.parser, asker=asker, today=today)


def _asking(text: str, asked: Asked) -> Turn:
    """Return a question that is no turn of its own as one."""
    return Turn(
        turn_id="", user=asked.user, session=asked.session, speaker=asked.speaker, role="user", text=text, at=asked.at
    )


def _before(turn: Turn, asked: Asked, own: Turn | None) -> bool:
    """Tell whether a turn was said before the question was asked, by the time that is asked from."""
    if asked.known_at is not None and turn.at > asked.known_at:
        return False
    return own is None or turn.ordinal < own.ordinal
