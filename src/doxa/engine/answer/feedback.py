"""What answers tell about the search behind them -> events in the log (section 3.2 step III)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from doxa.core.access import pseudonym
from doxa.core.drift import Outcome, Shadow
from doxa.core.errors import StoreConflictError, StoreError
from doxa.core.feedback import Feedback
from doxa.core.trace import Step
from doxa.core.values import Draft, Evidence, Verdict
from doxa.engine.asked import Asked
from doxa.engine.wiring.pending import Pending
from doxa.memory import FeedbackGiven, MemoryLog, UserState
from doxa.recall import is_incomplete

__all__ = ["FIRST", "edges_of", "served", "shadow_of", "store_feedback", "used", "walked"]

logger = logging.getLogger("doxa")

TRIES = 20
FIRST = 10
"""Turns that search is judged by (Recall@10)."""
DIGITS = 4


def used(
    draft: Draft,
    verdict: Verdict,
    evidence: Sequence[Evidence],
    state: UserState,
    *,
    asked: str | None,
    session: str,
    at: datetime,
    plan: str = "",
) -> Feedback | None:
    """Return what a verified answer tells: channel used-and-correct. None where it tells nothing.

    Only a remembered question tells: `ask` promises to remember nothing. Cost O(citations).
    """
    if asked is None or verdict.label != "supported" or draft.abstained or not draft.citations:
        return None
    cited = {citation.turn_id for citation in draft.citations}
    facts = [citation.fact_id for citation in draft.citations if citation.fact_id]
    facts += [key for item in evidence if cited & set(item.turn_ids) for key in walked(item)]
    return Feedback(
        channel="used",
        at=at,
        session=session,
        asked=asked,
        turn_ids=tuple(dict.fromkeys(citation.turn_id for citation in draft.citations)),
        edges=edges_of(facts, state),
        plan=plan,
    )


def served(
    draft: Draft, verdict: Verdict, evidence: Sequence[Evidence], asked: Asked, step: Step, *, kept: bool
) -> Shadow:
    """Return how a question was served, whatever became of it.

    Args:
        draft: its answer.
        verdict: what the check of it said.
        evidence: what search gave, best first.
        asked: the question. One that went on from words that were not remembered, or asks of another time than now,
            is counted only: nobody could ask it again.
        step: the step of the trace that searched.
        kept: whether its words may be kept, where no remembered turn has them.
    """
    cited = tuple(dict.fromkeys(citation.turn_id for citation in draft.citations))
    outcome: Outcome = "unjudged"
    if draft.abstained:
        outcome = "abstained"
    elif not cited or verdict.label == "contradicted":
        outcome = "unsupported"
    elif verdict.label == "supported":
        outcome = "used"
    alone = not (asked.said and is_incomplete(asked.text))
    again = kept and alone and asked.as_of is None and asked.known_at is None
    return shadow_of(
        outcome,
        at=asked.at,
        query=asked.text if again and asked.turn_id is None else "",
        asked=(asked.turn_id or "") if again else "",
        needed=cited if outcome == "used" else (),
        evidence=evidence,
        step=step,
    )


def shadow_of(
    outcome: Outcome,
    *,
    at: datetime,
    query: str,
    asked: str,
    needed: Collection[str],
    evidence: Sequence[Evidence],
    step: Step,
) -> Shadow:
    """Return a question with what search gave for it, and how much of what was needed is among the first."""
    shown = tuple(dict.fromkeys(turn_id for item in evidence[:FIRST] for turn_id in item.turn_ids))
    return Shadow(
        at=at,
        outcome=outcome,
        query=query,
        asked=asked,
        turn_ids=tuple(needed),
        shown=shown,
        recall=round(len(set(needed) & set(shown)) / len(set(needed)), DIGITS) if needed else 0.0,
        disagreement=step.detail.get("apart"),
        ms=round(step.ms, 1),
        plan=str(step.detail.get("lead", "")),
    )


def walked(item: Evidence) -> tuple[str, ...]:
    """Return the facts that led the graph view to a piece of evidence; none where it was found by words or meaning."""
    return item.fact_ids if item.scores.get("graph", 0.0) > 0 else ()


def edges_of(fact_ids: Iterable[str], state: UserState) -> tuple[tuple[str, str], ...]:
    """Return facts as edges: each once with the name of its relation; those that are not known are left out."""
    facts = (state.beliefs.facts.get(key) for key in dict.fromkeys(fact_ids))
    return tuple((fact.fact_id, fact.relation.name) for fact in facts if fact is not None)


def store_feedback(log: MemoryLog, buffer: Pending[Feedback], user: str, *, least: int = 1) -> None:
    """Write what is in the buffer for a user as one event, if it is at least `least` answers.

    Feedback is worth less than a turn: where the database refuses it is dropped with a warning.
    """
    told, whose = buffer.take(user, least), pseudonym(log.scope(user))
    for _ in range(TRIES if told else 0):
        try:
            with log.user(user) as state:
                known = [one for one in told if state.turn(one.asked) and all(map(state.turn, one.turn_ids))]
                if known:  # what was erased meanwhile tells nothing
                    latest = max(one.at for one in known)
                    log.append(user, state, FeedbackGiven(known_at=latest, told=known))
            return
        except StoreConflictError:
            continue
        except StoreError as exc:
            logger.warning("feedback on %d answers of user %s was not kept: %s", len(told), whose, exc)
            return
    if told:
        logger.warning("feedback on %d answers of user %s was not kept: others kept writing", len(told), whose)
