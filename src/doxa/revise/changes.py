"""What a claim, a withdrawal or a retraction changes: the difference between the facts before and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from doxa.core.values import Change, ChangeKind, Claim, Fact, Status
from doxa.memory import Beliefs, Slot, slot_of, supports
from doxa.revise.resolve import Standing, resolve

__all__ = ["retract", "revise", "withdraw"]


def revise(claims: Sequence[Claim], beliefs: Beliefs, *, turn_id: str, known_at: datetime) -> list[Change]:
    """Return what the claims of a turn change. Pure; cost O(claims in the slots that are touched).

    Args:
        claims: what the turn says.
        beliefs: what was believed before it; not changed.
        turn_id: the turn that says it.
        known_at: when it was said.
    """
    fresh: dict[Slot, list[Claim]] = {}
    for claim in claims:
        fresh.setdefault(slot_of(claim), []).append(claim)
    changes: list[Change] = []
    for slot, new in fresh.items():
        live = [*beliefs.claims.get(slot, ()), *new]
        changes += _difference(beliefs.in_slot(slot), resolve(live), turn_id=turn_id, known_at=known_at)
    return changes


def withdraw(turn_id: str, beliefs: Beliefs, *, known_at: datetime, reason: str = "") -> list[Change]:
    """Return what changes when a turn is no longer trusted: unsupported facts go, displaced ones return."""
    changes: list[Change] = []
    gone = reason or f"turn {turn_id} was withdrawn"
    for slot in beliefs.slots_of_turn(turn_id):
        live = [claim for claim in beliefs.claims[slot] if claim.turn_id != turn_id]
        changes += _difference(beliefs.in_slot(slot), resolve(live), turn_id=None, known_at=known_at, gone=gone)
    return changes


def retract(fact: Fact, beliefs: Beliefs, *, known_at: datetime, reason: str = "") -> list[Change]:
    """Return what changes when a fact is declared never to have been true: what it displaced returns."""
    slot = slot_of(fact)
    dropped = [claim for claim in beliefs.claims[slot] if not supports(claim, fact)]
    gone = reason or "it was retracted by hand"
    return _difference(beliefs.in_slot(slot), resolve(dropped), turn_id=None, known_at=known_at, gone=gone)


def _difference(
    before: Iterable[Fact],
    after: Iterable[Standing],
    *,
    turn_id: str | None,
    known_at: datetime,
    gone: str = "nothing that is still trusted supports it",
) -> list[Change]:
    old = {fact.fact_id: fact for fact in before}
    changes: list[Change] = []

    def note(kind: ChangeKind, fact: Fact, reason: str, because: tuple[str, ...] = ()) -> None:
        changes.append(Change(kind=kind, fact=fact, turn_id=turn_id, known_at=known_at, reason=reason, because=because))

    for standing in after:
        fact = standing.fact()
        was = old.pop(fact.fact_id, None)
        if was is not None and _supported(was, fact):
            fresh = replace(fact, turn_ids=fact.turn_ids[len(was.turn_ids) :])
            note(ChangeKind.SUPPORT, fresh, standing.reason, standing.because)
        elif was != fact:
            note(_kind(was, fact), fact, standing.reason, standing.because)
    for fact in old.values():
        if fact.status is not Status.RETRACTED:
            note(ChangeKind.RETRACT, _as_retracted(fact), gone)
    order = [ChangeKind.RETRACT, ChangeKind.CLOSE]
    return sorted(changes, key=lambda change: order.index(change.kind) if change.kind in order else len(order))


def _supported(was: Fact, fact: Fact) -> bool:
    """Tell whether nothing happened to a fact but that more turns say it."""
    same = replace(fact, turn_ids=was.turn_ids, confidence=was.confidence) == was
    return same and len(fact.turn_ids) > len(was.turn_ids) and fact.turn_ids[: len(was.turn_ids)] == was.turn_ids


def _as_retracted(fact: Fact) -> Fact:
    return replace(fact, status=Status.RETRACTED, disputed=False)


def _kind(was: Fact | None, fact: Fact) -> ChangeKind:
    if fact.status is Status.RETRACTED:
        return ChangeKind.RETRACT
    if fact.status is Status.QUARANTINED:
        return ChangeKind.QUARANTINE
    if fact.disputed and not (was and was.disputed):
        return ChangeKind.DISPUTE
    if fact.status is Status.SUPERSEDED and (was is None or was.status is not Status.SUPERSEDED):
        return ChangeKind.ASSERT if was is None else ChangeKind.CLOSE
    if was is None or was.status is Status.QUARANTINED:
        return ChangeKind.ASSERT
    if was.status is not fact.status or (was.valid.end is not None and fact.valid.end is None):
        return ChangeKind.RESTORE
    return ChangeKind.REFINE
