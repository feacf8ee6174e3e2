"""What a turn changed -> what is said to somebody who asked nothing."""

from __future__ import annotations

from collections.abc import Sequence

from doxa.core.values import Change, ChangeKind, Draft
from doxa.engine.answer.disputes import disputes_of
from doxa.memory import UserState, addressing, describe

__all__ = ["acknowledged"]

ANNOUNCED = {
    ChangeKind.CLOSE: "No longer",
    ChangeKind.RETRACT: "Taken back",
    ChangeKind.RESTORE: "Again",
    ChangeKind.REFINE: "More exactly",
    ChangeKind.DISPUTE: "Disputed",
}


def acknowledged(changes: Sequence[Change], state: UserState, *, speaker: str, greets: bool = False) -> Draft:
    """Return what is said to a turn that asks nothing: one acknowledgement, what that changed, what has to be settled.

    What is surer comes first. What follows from this turn alone by an axiom goes without saying, and where nothing was
    learnt nothing is said.
    """
    told = [one for one in changes if not (one.fact.premises and len(one.fact.turn_ids) < 2) and _is_news(one)]
    if not told:
        return Draft(text=f"Hello, {speaker}." if greets else "", confidence=1.0)
    order = sorted(told, key=lambda change: -change.fact.confidence)
    first = [next((one for one in order if one.revises is revising), None) for revising in (False, True)]
    with addressing(speaker):
        said = [f"{ANNOUNCED.get(one.kind, 'Noted')}: {describe(one.fact)}." for one in first if one is not None]
        disputed = [change.fact for change in told if change.kind is ChangeKind.DISPUTE]
        said += [dispute.question for dispute in disputes_of(state, disputed)]
    return Draft(text=" ".join(said), confidence=1.0)


def _is_news(change: Change) -> bool:
    """Tell whether a change is worth an acknowledgement: not what is only kept in case it is said again."""
    return change.kind not in (ChangeKind.NOTE, ChangeKind.QUARANTINE)
