"""The loop that takes in: turn -> claims -> changes, and tasks -> one transaction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Turn
from doxa.engine.reading.tasks import TaskReaders, kept
from doxa.engine.reading.turns import note_of, reading_of, taught_in
from doxa.engine.tasking import tasks_of
from doxa.engine.wiring.parts import Parts
from doxa.memory import Beliefs, Maintained
from doxa.revise import Denials, Judgement, cut_short, denials, revise
from doxa.tasks import Reading
from doxa.understand import Extraction

__all__ = ["absorb"]


def absorb(
    turn: Turn,
    vector: NDArray[np.float32] | None,
    parts: Parts,
    *,
    fence: int,
    extraction: Extraction | None = None,
    judgement: Judgement | None = None,
    reading: Reading | None = None,
    degraded: str = "",
) -> bool:
    """Turn one received turn into claims, revise what is believed and do what it tells the tasks, in one transaction.

    Args:
        turn: a turn that was received and is not processed yet.
        vector: its rows `(r, dims)`, the whole text first, or None when the encoder failed.
        parts: what the engine is made of.
        fence: the token of the lease under which this process reads the user's turns.
        extraction: what a language model read out of the turn; None without one, as what it found that the turn
            clashes with (`judgement`), and what it said that the turn tells the tasks (`reading`).
        degraded: why a step before this one did not run in full.

    Returns:
        False when the turn had been processed already (by another process), or was erased meanwhile.

    Raises:
        StoreConflictError: another process changed the state; call again, unless the lease is its own now.
        StoreError: the database failed; the turn stays received.
    """
    with parts.log.user(turn.user) as state:
        if turn.ordinal <= state.maintained or state.turns.get(turn.ordinal) != turn:
            return False
        parser, context = parts.parser_of(turn.user), state.context(turn, parts.config.engine.context_turns)
        found, failed = reading_of(turn, context, state.beliefs, parser, extraction, parts)
        denied = denials(judgement, found.claims, state.beliefs) if judgement else Denials()
        claims = (*found.claims, *denied.claims)
        changes = revise(claims, state.beliefs, turn_id=turn.turn_id, known_at=turn.at, rules=found.rules)
        tasks = tasks_of(turn, changes, state, TaskReaders.of(parts), reading)
        event = Maintained(
            known_at=turn.at, about=turn, claims=claims, rules=found.rules, changes=changes,
            extraction=extraction.to_data() if extraction else {},
            note=replace(
                note_of(found, extraction, judgement, denied), route=tasks.route, taught=taught_in(turn, parser)),
            denials=len(denied.claims),
            degraded=_lesser(degraded, failed, judgement.failed if judgement else "", tasks.failed, of=state.beliefs),
            tasks=tasks.commit,
            task_reading=kept(reading, tasks.commit),
        )  # fmt: skip
        parts.log.append(turn.user, state, event, vector, fence=fence)
        return True


def _lesser(*reasons: str, of: Beliefs) -> str:
    """Return why a turn was not understood in full: reasons, and rules of which not all cases were looked at.

    Those are counted and not told in their words, which may be erased elsewhere.
    """
    rules = len(cut_short(of))
    cut = f"{rules} of the rules join more than is looked at, so that not all that follows is found" if rules else ""
    return "; ".join(filter(None, (*reasons, cut)))
