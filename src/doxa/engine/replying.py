"""A reply -> the verdict of the memory on it, and what is done with one that contradicts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import numpy as np

from doxa.core.values import Change, Claim, Turn, Verdict
from doxa.engine.replay import reading_of
from doxa.engine.wiring import Parts
from doxa.memory import UserState, stems
from doxa.revise import revise
from doxa.verify import CheckSpec, Clause, Known, check

__all__ = ["check_reply"]

NEAR = 8
"""Turns that a clause is held against, those that share most with it."""


def check_reply(
    text: str, parts: Parts, state: UserState, *, user: str, agent: str, session: str, at: datetime | None = None
) -> Verdict:
    """Return whether a reply agrees with the memory of a user; the caller holds the state's lock."""
    at = at or state.now() or datetime.now(UTC)
    settings = parts.config.verify
    known = Known(
        beliefs=state.beliefs,
        user=user,
        agent=agent,
        at=at,
        read=partial(_read, state=state, parts=parts, user=user, agent=agent, session=session, at=at),
        revised=partial(_revised, state=state, user=user, at=at),
        turn=state.turn,
        said=partial(_said, state=state),
    )
    spec = CheckSpec(pairs=settings.pairs, contradiction=settings.contradiction, entailment=settings.entailment)
    return check(text, known, spec)


def _read(
    clause: Clause, before: str, *, state: UserState, parts: Parts, user: str, agent: str, session: str, at: datetime
) -> Sequence[Claim]:
    """Return what a clause claims, read as if the one of whom it speaks had said it."""
    speaker = agent if clause.of_agent else user
    turn = Turn(
        turn_id="",
        user=state.user,
        session=session,
        speaker=speaker,
        role="user",
        text=f"{clause.told}.",
        at=at,
        ordinal=state.ordinal + 1,
    )
    context = [replace(turn, text=before, ordinal=state.ordinal)] if before else []
    found, _ = reading_of(turn, context, state.beliefs, parts.parser)
    return found.claims


def _revised(claims: Sequence[Claim], *, state: UserState, user: str, at: datetime) -> Sequence[Change]:
    """Return what claims would change if the user made them now."""
    said = [replace(claim, role="user", speaker=user, known_at=at) for claim in claims]
    return revise(said, state.beliefs, turn_id=None, known_at=at)


def _said(text: str, *, state: UserState) -> list[Turn]:
    """Return the turns that share most words with a text; withdrawn ones are left out. Cost O(postings)."""
    wanted = [(stem, 1.0) for stem in dict.fromkeys(stems(text))]
    places = state.lexical.best(wanted, NEAR)
    if not len(places):
        return []
    held = state.lexical.held([stem for stem, _ in wanted], places).sum(axis=0)
    order = np.argsort(-held, kind="stable")[:NEAR]
    turns = (state.turns[state.places[int(places[place])]] for place in order)
    return [turn for turn in turns if state.trusts(turn.turn_id)]
