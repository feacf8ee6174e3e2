"""Turn -> what a language model says that it clashes with, asked outside any lock."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from doxa.core.errors import DoxaError
from doxa.core.values import Fact, Turn
from doxa.engine.reading.turns import reading_of
from doxa.engine.wiring.parts import Parts
from doxa.memory import UserState, using
from doxa.revise import Docket, Judgement, docket_of, judge_with_model
from doxa.understand import Extraction

__all__ = ["judge"]


def judge(
    turn: Turn, vector: NDArray[np.float32] | None, parts: Parts, *, extraction: Extraction | None = None
) -> Judgement | None:
    """Return what a language model found that a turn clashes with; None where it is not asked.

    It is asked only by the setting `roles.judge`, and when there are facts near what the turn says. A failure is a
    value: the turn is then revised by axioms and the solver alone.

    Args:
        turn: a turn that was received and is not processed yet; those before it are.
        vector: its encoding `(dims,)`; without it the nearest facts are the latest.
        parts: what the engine is made of.
        extraction: what a language model read out of the turn; None without one.

    Cost: reading the turn, and one call (two when the answer did not fit its schema).
    """
    if parts.config.roles.judge == "builtin" or turn.generated or turn.verbatim or not turn.text.strip():
        return None
    with parts.log.user(turn.user) as state:
        docket = _docket(turn, vector, state, parts, extraction)
    if docket is None:
        return None
    try:
        model = parts.model()
    except DoxaError as exc:
        return Judgement(failed=f"the language model that is to judge could not be opened: {exc}")
    assert model is not None  # checked by `wire`
    settings = parts.config.llm
    with using(parts.log.ontology):  # outside the lock the ontology has to be named again
        return judge_with_model(model, docket, context_tokens=settings.context_tokens, max_tokens=settings.max_tokens)


def _docket(
    turn: Turn, vector: NDArray[np.float32] | None, state: UserState, parts: Parts, extraction: Extraction | None
) -> Docket | None:
    if turn.ordinal <= state.maintained or state.turns.get(turn.ordinal) != turn:
        return None
    context = state.context(turn, parts.config.engine.context_turns)
    found, _ = reading_of(turn, context, state.beliefs, parts.parser_of(turn.user), extraction)

    def closeness(fact: Fact) -> float:
        """Return the greatest cosine of the turn with those that a fact rests on."""
        told = (state.turn(turn_id) for turn_id in fact.turn_ids)
        places = [place for one in told if one and (place := state.place(one.ordinal)) is not None]
        if vector is None or not places:
            return 0.0
        return float(state.vectors.at(np.array(places), vector).max())

    return docket_of(found.claims, state.beliefs, day=turn.at.date(), closeness=closeness)
