"""What a person says by hand is so: a fact that is not believed, or values that are disputed and all hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Change, Claim, Fact, Status
from doxa.engine.history.replay import NO_FACT
from doxa.engine.history.rivals import rivals_of
from doxa.engine.tasking import taken_back
from doxa.memory import Accepted, Beliefs, MemoryLog, UserState, describe, is_identity
from doxa.revise import restated, revise

__all__ = ["accept_fact", "accepting", "keep_facts", "keeping"]

ACCEPTED = "accepted by hand"
KEPT = "kept by hand beside what it was disputed with"


def accept_fact(log: MemoryLog, user: str, fact_id: str, *, reason: str) -> list[Change]:
    """Believe a fact because a person says that it is so; nothing happens when it is believed already.

    Raises:
        NotFoundError: there is no such fact.
        InputError: it cannot be accepted; the message says what to do instead.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        return _stored(log, user, state, accepting(state, user, fact_id, reason))


def keep_facts(log: MemoryLog, user: str, fact_ids: Sequence[str], *, reason: str) -> list[Change]:
    """Believe all facts of a dispute, because a person says that they hold beside each other.

    Raises:
        NotFoundError: there is no such fact.
        InputError: they are not the facts of one dispute, or cannot all hold.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        return _stored(log, user, state, keeping(state, user, fact_ids, reason))


def _stored(log: MemoryLog, user: str, state: UserState, event: Accepted) -> list[Change]:
    if not event.is_empty:
        log.append(user, state, event)
    return list(event.changes)


def accepting(state: UserState, user: str, fact_id: str, reason: str) -> Accepted:
    """Return the event by which a fact is accepted; an empty one when it is believed already.

    Raises:
        NotFoundError: there is no such fact.
        InputError: it cannot be accepted.
    """
    fact = _fact(fact_id, state.beliefs, user)
    if is_identity(fact):
        raise InputError(f"{fact_id} says which names are one ({describe(fact)}): use `merge` or `split` instead.")
    if any(_stands(one) for one in _saying(fact, state.beliefs)):
        return Accepted(known_at=datetime.now(UTC))
    if fact.status is Status.SUPERSEDED:
        raise InputError(_over(fact, state.beliefs))
    claim = _claim(fact, state, user, _words(ACCEPTED, reason))
    if claim is None:
        raise InputError(_unsaid(fact, state.beliefs))
    return _event([claim], [fact], state)


def keeping(state: UserState, user: str, fact_ids: Sequence[str], reason: str) -> Accepted:
    """Return the event by which all facts of a dispute are kept.

    Raises:
        NotFoundError: there is no such fact.
        InputError: they are not the facts of one dispute, or cannot all hold.
    """
    ids = [fact_ids] if isinstance(fact_ids, str) else list(dict.fromkeys(fact_ids))
    if len(ids) < 2:
        raise InputError(f"Expected the ids of two or more facts of a dispute, got {ids!r}; `doxa facts` shows them.")
    facts = [_fact(key, state.beliefs, user) for key in ids]
    for fact in facts:
        denied = next((one for one in facts if _denies(one, fact)), None)
        if denied is not None:
            raise InputError(
                f"“{describe(fact)}” and “{describe(denied)}” deny each other: only one can be so. Accept that one."
            )
    _require_dispute(facts, state.beliefs)
    claims = [_claim(fact, state, user, _words(KEPT, reason), beside=True) for fact in facts]
    if any(claim is None for claim in claims):
        raise InputError(_unsaid(facts[claims.index(None)], state.beliefs))
    return _event([claim for claim in claims if claim is not None], facts, state, beside=True)


def _fact(fact_id: str, beliefs: Beliefs, user: str) -> Fact:
    if (fact := beliefs.facts.get(fact_id)) is None:
        raise NotFoundError(NO_FACT.format(user=user, fact_id=fact_id))
    return fact


def _words(how: str, reason: str) -> str:
    return f"{how}: {reason}" if reason else how


def _claim(fact: Fact, state: UserState, user: str, accepted: str, *, beside: bool = False) -> Claim | None:
    at = state.now() or datetime.now(UTC)
    trusted = state.trusts
    return restated(fact, state.beliefs, speaker=user, at=at, accepted=accepted, trusted=trusted, beside=beside)


def _saying(fact: Fact, beliefs: Beliefs) -> list[Fact]:
    """Return the facts that say the same as one, itself included, at whatever time."""
    return [one for one in beliefs.in_slot(beliefs.slot(fact)) if _same(one, fact)]


def _stands(fact: Fact) -> bool:
    return fact.status is Status.HELD and not fact.disputed


def _same(one: Fact, other: Fact) -> bool:
    return one.polarity is other.polarity and _proposition(one) == _proposition(other)


def _denies(one: Fact, other: Fact) -> bool:
    return one.polarity is not other.polarity and _proposition(one) == _proposition(other)


def _proposition(fact: Fact) -> tuple[str, ...]:
    return fact.subject.key, fact.relation.name, fact.object.key, fact.modality


def _require_dispute(facts: Sequence[Fact], beliefs: Beliefs) -> None:
    """Require that some facts are all facts of one dispute."""
    group = rivals_of(facts[0], beliefs)
    if any(fact.fact_id not in group for fact in facts):
        ids = ", ".join(fact.fact_id for fact in facts)
        raise InputError(f"Expected the facts of one dispute, got {ids}: they are not disputed with each other.")
    left = [one for one in group.values() if one not in facts]
    if left:
        more = ", ".join(f"{one.fact_id} ({describe(one)})" for one in left)
        raise InputError(f"Their dispute is with {more} as well. Keep that too, or retract it first if it is wrong.")


def _event(claims: list[Claim], facts: list[Fact], state: UserState, *, beside: bool = False) -> Accepted:
    """Return the event of some claims.

    Raises:
        InputError: the facts are not believed for all that.
    """
    now = datetime.now(UTC)
    changes = revise(claims, state.beliefs, turn_id=None, known_at=now)
    after = {change.fact.fact_id: change.fact for change in changes}
    for fact in facts:
        known = {one.fact_id: one for one in _saying(fact, state.beliefs)} | after
        same = [one for one in known.values() if _same(one, fact)]
        if not any(_stands(one) or (one.fact_id in after and one.status is Status.SUPERSEDED) for one in same):
            told = next((change.reason for change in reversed(changes) if change.fact in same), "")
            why = f": {told}" if told else ""
            raise InputError(f"{describe(fact)} cannot be believed by hand{why}. Set right first what it clashes with.")
    tasks = taken_back(state.tasks, (), changes, at=now)
    return Accepted(known_at=now, claims=claims, changes=changes, beside=beside, tasks=tasks)


def _over(fact: Fact, beliefs: Beliefs) -> str:
    last = next(reversed(beliefs.changes_of(fact.fact_id)), None)
    there = [one for key in (last.because if last else ()) if (one := beliefs.facts.get(key)) and _stands(one)]
    wrong = "".join(f", and if {describe(one)} is wrong, retract {one.fact_id}" for one in there)
    return f"{describe(fact)} was so and is over. If it holds again, say so in a turn{wrong}."


def _unsaid(fact: Fact, beliefs: Beliefs) -> str:
    if fact.premises:
        facts = [f"{key} ({describe(known)})" for key in fact.premises if (known := beliefs.facts.get(key))]
        return f"Nobody said that {describe(fact)}: it follows from other facts. Accept {' and '.join(facts)} instead."
    return f"No turn that is trusted says that {describe(fact)}. Take what withdrew it back, or say it in a turn."
