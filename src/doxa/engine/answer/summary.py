"""The state of a user -> what is believed, as a short text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from doxa.core.values import Evidence, Fact, Question, Status
from doxa.language import stems
from doxa.memory import Beliefs, UserState, is_current, is_identity
from doxa.reason import PastFact, relevant_facts, relevant_rules, summarise

__all__ = ["summary"]

FACTS = 200
"""Facts that are looked at for one summary; more would not fit any prompt."""


def summary(
    query: str | None, evidence: Sequence[Evidence], state: UserState, *, max_tokens: int, history: bool
) -> str:
    """Return what is believed now and bears on a query, subject by subject.

    Args:
        query: what it is for; None is everything, the latest first.
        evidence: what was found for the query, best first; facts of its turns count as well.
        state: the memory.
        max_tokens: most tokens of the text, by estimate.
        history: add what no longer holds and what is no longer believed.
    """
    beliefs = state.beliefs
    facts = _bearing_on(query, evidence, state) if query else _latest(state)
    facts.sort(key=lambda fact: bool(fact.premises))  # what only follows from the rest may be left out first
    subjects = {fact.subject.key for fact in facts}
    rules = relevant_rules(query, beliefs) if query else beliefs.rules
    past = [one for one in _past(beliefs, state) if not query or one.fact.subject.key in subjects] if history else []
    return summarise(facts[:FACTS], beliefs, rules=rules, past=past[:FACTS], max_tokens=max_tokens)


def _latest(state: UserState) -> list[Fact]:
    return list(reversed(list(state.beliefs.select(now=state.today()))))


def _bearing_on(query: str, evidence: Sequence[Evidence], state: UserState) -> list[Fact]:
    """Return facts that share words with a query, then those of the turns that were found for it."""
    question = Question(text=query, terms=tuple(stems(query)))
    shared = relevant_facts(question, state.beliefs, limit=FACTS, today=state.today())
    said = [turn_id for item in evidence for turn_id in item.turn_ids]
    found = {fact.fact_id: fact for fact in (*shared, *_of_turns(said, state.beliefs))}
    return [fact for fact in found.values() if is_current(fact, state.today())]


def _of_turns(turn_ids: Sequence[str], beliefs: Beliefs) -> Iterator[Fact]:
    for turn_id in turn_ids:
        for slot in beliefs.slots_of_turn(turn_id):
            yield from (fact for fact in beliefs.in_slot(slot) if turn_id in fact.turn_ids and not is_identity(fact))


def _past(beliefs: Beliefs, state: UserState) -> Iterator[PastFact]:
    """Yield what no longer holds or is no longer believed, the latest first, each with the reason."""
    today = state.today()
    for fact in reversed(beliefs.facts.values()):
        gone = fact.status in (Status.SUPERSEDED, Status.RETRACTED)
        if not is_identity(fact) and (gone or (fact.status is Status.HELD and not is_current(fact, today))):
            changes = beliefs.changes_of(fact.fact_id)
            yield PastFact(fact=fact, reason=changes[-1].reason if changes else "")
