"""Turns -> what they say that no fact tells; and how much of a query a text shares."""

from __future__ import annotations

import re
from collections.abc import Iterable

from doxa.core.values import UNBELIEVED, ChangeKind, Fact, Status, Turn
from doxa.language import stems
from doxa.memory import UserState

__all__ = ["overlap", "untold"]

LEAST_WORDS = 3
"""A sentence with fewer words than these beside what facts tell ("Hi!", "By the way,") tells nothing else."""
SENTENCE = re.compile(r"(?<=[.!?])\s+")


def untold(state: UserState) -> dict[str, str]:
    """Return the words of turns that no fact tells, by turn id.

    It is the whole text, so that it can be understood; where a fact of the turn was superseded or taken back, it is
    what is left without the sentences of which facts were made, so that nothing given up is told again. A turn of which
    a fact was retracted by hand is left out.

    Cost: one pass over turns, facts and changes after each change of the state.
    """
    found: dict[str, str] | None = state.derived.get(untold)
    if found is None:
        found = state.derived[untold] = _untold(state)
    return dict(found)


def _untold(state: UserState) -> dict[str, str]:
    facts: dict[str, list[Fact]] = {}
    for fact in state.beliefs.facts.values():
        for turn_id in fact.turn_ids:
            facts.setdefault(turn_id, []).append(fact)
    hushed = _retracted_by_hand(state)
    found: dict[str, str] = {}
    for turn in state.turns.values():
        readable = not turn.generated and turn.ordinal <= state.maintained and state.trusts(turn.turn_id)
        if readable and turn.turn_id not in hushed and (words := _beside(turn, facts.get(turn.turn_id, []), state)):
            found[turn.turn_id] = words
    return found


def _beside(turn: Turn, facts: list[Fact], state: UserState) -> str:
    spans = {claim.span for claim in state.beliefs.said_in(turn.turn_id) if claim.span}
    if not spans:  # what changed something without saying anything took something back
        return "" if state.beliefs.changes_by(turn.turn_id) else turn.text
    believed = [fact for fact in facts if fact.status not in UNBELIEVED]
    if all(fact.status is Status.HELD for fact in believed):
        told = (f"{fact.subject} {fact.relation} {fact.object} {fact.valid}" for fact in believed)
        return turn.text if not believed or _left(turn.text, told) else ""
    return " ".join(_left(turn.text, spans))


def _left(text: str, told: Iterable[str]) -> list[str]:
    """Return the sentences of a text that say something beside what is told."""
    known = {stem for one in told for stem in stems(one)}
    return [one for one in SENTENCE.split(text) if len(set(stems(one)) - known) >= LEAST_WORDS]


def _retracted_by_hand(state: UserState) -> set[str]:
    """Return the turns of which a person took something back."""
    gone = (
        change.fact for change in state.beliefs.changes if change.kind is ChangeKind.RETRACT and change.turn_id is None
    )
    known = state.beliefs.facts
    return {t for fact in gone if known[fact.fact_id].status is Status.RETRACTED for t in fact.turn_ids}


def overlap(query: str, text: str) -> float:
    """Return which share of the words of a query a text has, whatever their endings: 0 to 1."""
    wanted = set(stems(query))
    return len(wanted & set(stems(text))) / len(wanted) if wanted else 0.0
