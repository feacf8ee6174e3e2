"""Turns -> what they say that no fact tells; and how much of a query a text shares."""

from __future__ import annotations

import re

from doxa.core.values import UNBELIEVED, ChangeKind, Fact, Status, Turn
from doxa.memory import UserState, is_current, stems

__all__ = ["overlap", "untold"]

LEAST_WORDS = 3
"""Fewer words than these beside what facts tell ("Hi!", "By the way,") tell nothing."""


def untold(state: UserState) -> dict[str, str]:
    """Return the words of turns that became no fact, by turn id.

    It is the whole text where all that became of the turn is believed, so that it can be understood; else what is left
    without the sentences of which facts were made, so that nothing given up is told again. A turn of which a fact was
    retracted by hand is left out.

    Cost: one pass over turns, facts and changes.
    """
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
    if facts and all(fact.status in UNBELIEVED for fact in facts):
        return turn.text
    rest = turn.text
    for span in sorted(spans, key=len, reverse=True):
        rest = rest.replace(span, " ")
    if len(re.findall(r"\w+", rest)) < LEAST_WORDS:
        return ""
    today = state.today()
    if all(is_current(fact, today) for fact in facts):
        return turn.text
    return re.sub(r"\s+", " ", rest).strip(" .,;:!?") + "."


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
