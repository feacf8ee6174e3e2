"""What a claim, a withdrawal or a retraction changes: the difference between the facts before and after.

Identities come first: what they join or part decides in which slots the other claims meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from doxa.core.values import Change, ChangeKind, Claim, Fact, Status, Term
from doxa.memory import Beliefs, Slot, is_identity, slot_of
from doxa.revise.resolve import Standing, resolve

__all__ = ["retract", "revise", "withdraw"]

UNSUPPORTED = "nothing that is still trusted supports it"


def revise(claims: Sequence[Claim], beliefs: Beliefs, *, turn_id: str | None, known_at: datetime) -> list[Change]:
    """Return what the claims of a turn change. Pure; cost O(claims in the slots that are touched).

    Args:
        claims: what the turn says.
        beliefs: what was believed before it; not changed.
        turn_id: the turn that says it; None for what a person does by hand.
        known_at: when it was said.

    Where identities change, the slots of every claim that uses a renamed name are touched as well.
    """
    return _Revision(beliefs=beliefs, turn_id=turn_id, known_at=known_at, added=claims).changes()


def withdraw(turn_id: str, beliefs: Beliefs, *, known_at: datetime, reason: str = "") -> list[Change]:
    """Return what changes when a turn is no longer trusted: unsupported facts go, displaced ones return."""
    gone = reason or f"turn {turn_id} was withdrawn"
    dropped = beliefs.said_in(turn_id)
    return _Revision(beliefs=beliefs, turn_id=None, known_at=known_at, dropped=dropped, gone=gone).changes()


def retract(fact: Fact, beliefs: Beliefs, *, known_at: datetime, reason: str = "") -> list[Change]:
    """Return what changes when a fact is declared never to have been true: what it displaced returns."""
    gone = reason or "it was retracted by hand"
    dropped = beliefs.supporting(fact)
    return _Revision(beliefs=beliefs, turn_id=None, known_at=known_at, dropped=dropped, gone=gone).changes()


@dataclass(slots=True, kw_only=True)
class _Revision:
    """One step from the facts before to the facts after some claims come in or go."""

    beliefs: Beliefs
    turn_id: str | None
    known_at: datetime
    added: Sequence[Claim] = ()
    dropped: Sequence[Claim] = ()
    gone: str = UNSUPPORTED
    renames: dict[str, Term | None] = field(default_factory=dict)

    def changes(self) -> list[Change]:
        """Return what changes: identities first, then the facts of every slot that is touched."""
        named = [change for slot in self._slots(identities=True) for change in self._slot(slot)]
        facts = [change.fact for change in named]
        self.renames = self.beliefs.identity.renames(facts) if facts else {}
        layout = self.beliefs.layout(self.renames)
        moved = self._moved(layout, "; ".join(_spoken(fact) for fact in facts)) if layout else []
        rest = [slot for slot in self._slots(identities=False) if slot not in layout]
        return [*named, *moved, *(change for slot in rest for change in self._slot(slot))]

    def _slots(self, *, identities: bool) -> list[Slot]:
        """Return the slots that claims come into or go from, by the new names."""
        touched = (claim for claim in (*self.dropped, *self.added) if is_identity(claim) == identities)
        return list(dict.fromkeys(slot_of(self._told(claim)) for claim in touched))

    def _told(self, claim: Claim) -> Claim:
        return self.beliefs.identity.told(claim, self.renames)

    def _resolved(self, slot: Slot, held: Sequence[Claim]) -> list[Standing]:
        """Return the facts of a slot from the claims that it holds and those that come in, less those that go."""
        gone = {id(claim) for claim in self.dropped}
        live = [self._told(claim) for claim in held if id(claim) not in gone]
        told = (self._told(claim) for claim in self.added)
        return resolve([*live, *(claim for claim in told if slot_of(claim) == slot)])

    def _slot(self, slot: Slot) -> list[Change]:
        before = {fact.fact_id: fact for fact in self.beliefs.in_slot(slot)}
        return self._difference(before, self._resolved(slot, self.beliefs.claims.get(slot, ())))

    def _moved(self, layout: Mapping[Slot, list[Claim]], reason: str) -> list[Change]:
        """Return what changes in the slots between which claims move: first what goes on under another name."""
        before = {fact.fact_id: fact for slot in layout for fact in self.beliefs.in_slot(slot)}
        after = [standing for slot, held in layout.items() for standing in self._resolved(slot, held)]
        staying = {standing.fact_id for standing in after}
        moves: list[Change] = []
        for fact in [fact for key, fact in before.items() if key not in staying]:
            heirs = [
                standing for standing in after if standing.fact_id not in before and self._continues(standing, fact)
            ]
            del before[fact.fact_id]
            if not heirs and fact.status is not Status.RETRACTED:  # what nobody said any more stays where it was
                moves.append(self._change(ChangeKind.MOVE, fact, reason, (fact.fact_id,)))
            for heir in heirs:
                first = heir.first
                fact_now = replace(fact, fact_id=heir.fact_id, subject=first.subject, object=first.object)
                before[heir.fact_id] = fact_now
                moves.append(self._change(ChangeKind.MOVE, fact_now, reason, (fact.fact_id,)))
        return [*moves, *self._difference(before, after)]

    def _continues(self, standing: Standing, fact: Fact) -> bool:
        """Tell whether a fact under new names is what an earlier one was: the same proposition, from a common turn."""
        first, named = standing.first, self.beliefs.identity.canonical
        same = first.relation == fact.relation and first.polarity == fact.polarity and first.modality is fact.modality
        if not same or not {claim.turn_id for claim in standing.claims} & set(fact.turn_ids):
            return False
        pairs = ((first.subject, fact.subject), (first.object, fact.object))
        return all(new.key == named(old, self.renames).key or named(new).key == old.key for new, old in pairs)

    def _difference(self, before: Mapping[str, Fact], after: Iterable[Standing]) -> list[Change]:
        old = dict(before)
        changes: list[Change] = []
        for standing in after:
            fact = standing.fact()
            was = old.pop(fact.fact_id, None)
            if was is not None and _supported(was, fact):
                fresh = replace(fact, turn_ids=fact.turn_ids[len(was.turn_ids) :])
                changes.append(self._change(ChangeKind.SUPPORT, fresh, standing.reason, standing.because))
            elif was != fact:
                said = standing.reason or (f"“{standing.first.span}”" if is_identity(fact) else "")
                changes.append(self._change(_kind(was, fact), fact, said, standing.because))
        for fact in old.values():
            if fact.status is not Status.RETRACTED:
                retracted = replace(fact, status=Status.RETRACTED, disputed=False)
                changes.append(self._change(_kind(fact, retracted), retracted, self.gone))
        order = [ChangeKind.SPLIT, ChangeKind.RETRACT, ChangeKind.CLOSE]
        return sorted(changes, key=lambda change: order.index(change.kind) if change.kind in order else len(order))

    def _change(self, kind: ChangeKind, fact: Fact, reason: str, because: tuple[str, ...] = ()) -> Change:
        return Change(
            kind=kind, fact=fact, turn_id=self.turn_id, known_at=self.known_at, reason=reason, because=because
        )


def _spoken(fact: Fact) -> str:
    joined = fact.status is Status.HELD and fact.polarity
    return f"{fact.subject} {'is' if joined else 'is not'} {fact.object}"


def _supported(was: Fact, fact: Fact) -> bool:
    """Tell whether nothing happened to a fact but that more turns say it."""
    same = replace(fact, turn_ids=was.turn_ids, confidence=was.confidence) == was
    return same and len(fact.turn_ids) > len(was.turn_ids) and fact.turn_ids[: len(was.turn_ids)] == was.turn_ids


def _kind(was: Fact | None, fact: Fact) -> ChangeKind:
    if is_identity(fact):
        return _kind_of_identity(was, fact)
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


def _kind_of_identity(was: Fact | None, fact: Fact) -> ChangeKind:
    """Return what happened to an identity: "is not the same as" splits as soon as it is held."""
    holds, held = fact.status is Status.HELD, was is not None and was.status is Status.HELD
    if holds == held:
        return ChangeKind.REFINE if holds else ChangeKind.QUARANTINE
    if holds:
        return ChangeKind.MERGE if fact.polarity else ChangeKind.SPLIT
    return ChangeKind.SPLIT if fact.polarity else ChangeKind.RETRACT
