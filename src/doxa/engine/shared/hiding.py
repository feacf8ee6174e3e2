"""What a shared memory holds + what a user's own does -> what of the former is out of sight for this user.

Nothing of the shared memory is revised by it: it is asked what would change in the own one if its user said the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from doxa.core.shared import qualified
from doxa.core.values import EARLIEST, ChangeKind, Claim, Evidence, Fact, Status
from doxa.memory import Beliefs, UserState
from doxa.revise import revise

__all__ = ["hidden", "visible"]


def hidden(facts: Iterable[Fact], memory: str, state: UserState) -> set[str]:
    """Return the ids, as the shared memory has them, of those of its facts that do not count for a user.

    That is what the user has set aside, and what cannot be true beside what is believed of the user's own.

    Args:
        facts: facts of the shared memory, under its own ids.
        memory: its name.
        state: the user's own memory, locked.

    Cost: one look-up for each fact; one revision for each that is about whom or what the user has facts about.
    """
    return {
        fact.fact_id
        for fact in facts
        if _is_aside(fact, memory, state) or (_is_near(fact, state.beliefs) and _clashes(fact, memory, state.beliefs))
    }


def visible(evidence: Sequence[Evidence], out_of_sight: Collection[str], state: UserState) -> list[Evidence]:
    """Return evidence of a shared memory without the turns that say what is hidden, or were set aside.

    Ids are those for everybody, in the evidence as in `out_of_sight`.
    """
    return [
        item
        for item in evidence
        if not any(key in out_of_sight for key in item.fact_ids)
        and not any(key in state.aside for key in item.turn_ids)
    ]


def _is_aside(fact: Fact, memory: str, state: UserState) -> bool:
    """Tell whether a user set a fact aside, or every turn that says it."""
    if qualified(memory, fact.fact_id) in state.aside:
        return True
    return bool(state.aside and fact.turn_ids) and all(qualified(memory, key) in state.aside for key in fact.turn_ids)


def _is_near(fact: Fact, beliefs: Beliefs) -> bool:
    """Tell whether anything is believed about whom or what a fact is about, or is said of."""
    return any(beliefs.about(key, latest=1) or beliefs.said_of(key) for key in (fact.subject.key, fact.object.key))


def _clashes(fact: Fact, memory: str, beliefs: Beliefs) -> bool:
    """Tell whether the user could not say a fact without giving something up, doubting it or not being believed."""
    claim = Claim(
        subject=fact.subject,
        relation=fact.relation,
        object=fact.object,
        polarity=fact.polarity,
        modality=fact.modality,
        valid=fact.valid,
        functional=fact.functional,
        speaker=memory,
        known_at=fact.known_at,
    )
    changes = revise([claim], beliefs, turn_id=None, known_at=fact.known_at or EARLIEST)
    return any(
        one.revises or one.kind is ChangeKind.DISPUTE or one.fact.disputed or one.fact.status is not Status.HELD
        for one in changes
    )
