"""A fact -> why it stands where it stands, in plain words."""

from __future__ import annotations

from doxa.core.values import Change, ChangeKind, Explanation, Fact, Status
from doxa.engine.entities import joining
from doxa.memory import UserState, describe, is_identity

__all__ = ["explain"]

STANDING = {
    Status.HELD: "It is believed.",
    Status.SUPERSEDED: "It was true, and something else took its place.",
    Status.RETRACTED: "It is no longer believed ever to have been true.",
    Status.QUARANTINED: "It is not believed yet: no source that is trusted on it has said it.",
}


def explain(fact: Fact, state: UserState) -> Explanation:
    """Return the sources of a fact, what happened to it, and what it displaced or was displaced by."""
    changes = state.beliefs.changes_of(fact.fact_id)
    turns = tuple(turn for key in fact.turn_ids if (turn := state.turn(key)) is not None)
    over = _related(changes, state) if fact.status is not Status.HELD or fact.disputed else ()
    under = tuple(
        dict.fromkeys(
            other.fact_id
            for other in state.beliefs.facts.values()
            if other is not fact
            for change in state.beliefs.changes_of(other.fact_id)[-1:]
            if fact.fact_id in change.because and other.status is not Status.HELD
        )
    )
    displaced = tuple(state.beliefs.facts[key] for key in under)
    lines = [f"{describe(fact)}", STANDING[fact.status] + (" Its sources disagree." if fact.disputed else "")]
    lines += [f"  {turn.turn_id} {turn.speaker}, {turn.at:%Y-%m-%d}: “{turn.text}”" for turn in turns]
    lines += [f"{_verb(change)} {_when(change)}{change.reason}".rstrip(": ") for change in changes]
    identities = joining((fact.subject.key, fact.object.key), state.beliefs) if not is_identity(fact) else ()
    lines += [f"{describe(one)} ({', '.join(one.turn_ids) or 'by hand'})" for one in identities]
    lines += [f"It took the place of: {describe(other)}" for other in displaced]
    lines += [f"In its place: {describe(other)}" for other in over]
    return Explanation(
        fact=fact,
        turns=turns,
        changes=tuple(changes),
        displaced=displaced,
        displaced_by=over,
        identities=identities,
        text="\n".join(lines),
    )


def _related(changes: list[Change], state: UserState) -> tuple[Fact, ...]:
    keys = changes[-1].because if changes else ()
    return tuple(state.beliefs.facts[key] for key in keys if key in state.beliefs.facts)


def _verb(change: Change) -> str:
    return {
        ChangeKind.ASSERT: "Learned",
        ChangeKind.SUPPORT: "Said again",
        ChangeKind.CLOSE: "Ended",
        ChangeKind.RETRACT: "Retracted",
        ChangeKind.RESTORE: "Restored",
        ChangeKind.REFINE: "Dated more exactly",
        ChangeKind.QUARANTINE: "Set aside",
        ChangeKind.DISPUTE: "Disputed",
        ChangeKind.MERGE: "Taken as one",
        ChangeKind.SPLIT: "Told apart",
        ChangeKind.MOVE: "Told under another name",
    }[change.kind]


def _when(change: Change) -> str:
    where = f" (turn {change.turn_id})" if change.turn_id else ""
    return f"on {change.known_at:%Y-%m-%d}{where}: " if change.known_at else f"{where}: "
