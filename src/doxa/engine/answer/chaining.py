"""Question -> answer over sentences that lead from a name in it to what is asked for, each as it was said last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from doxa.core.values import Draft, Turn
from doxa.engine.answer.grading import Ground
from doxa.engine.wiring.parts import Parts
from doxa.memory import Tie, mention_index
from doxa.reason import Chain, best_chains, citation_of, quoted
from doxa.recall import index_of
from doxa.understand import plans_of

__all__ = ["Chained", "chained"]

LEAST = 0.5
"""How near its chain has to be to a question: a round number, reached by 4 of the 288 questions of a set of chats."""
KINDS = frozenset(("value", "who", "where", "list"))


@dataclass(frozen=True, slots=True)
class Chained:
    """The answer that a chain gives."""

    draft: Draft
    single: bool
    """Whether it is one sentence alone: facts that answer the question as it stands do better."""


def chained(ground: Ground, parts: Parts) -> Chained | None:
    """Return the answer that a chain of sentences gives, each quoted; None where none leads to one.

    Chains are told over sentences that say one thing of two names, as facts are put down ("The author of Endymion is
    John Keats."). Talk says more in a sentence, and there what is read of it is searched. A question of another day is
    none for them. One sentence alone answers none of how a thing was, and none that asks for one thing by another.

    Args:
        ground: what is asked, and of what.
        parts: what the engine is made of.

    Raises:
        BackendError: the encoder or the parser failed.
    """
    question, asked, state = ground.question, ground.asked, ground.state
    dated = asked.as_of is not None or question.as_of is not None or question.within is not None
    if question.kind not in KINDS or question.source or dated or not question.polarity:
        return None
    index, facts = mention_index(state), index_of(state).facts

    def turn_at(place: int) -> Turn | None:
        return state.turns.get(state.places[place])

    speakers = {name.casefold() for name in state.columns.speakers}

    def counts(tie: Tie) -> bool:
        stands = facts.stands(np.array([tie.place]), past=False)[0] and not facts.disputed(tie.place)
        if not stands or not speakers.isdisjoint(tie.keys):
            return False
        turn = turn_at(tie.place)
        return turn is not None and state.trusts(turn.turn_id) and (asked.known_at is None or turn.at <= asked.known_at)

    best = next(iter(best_chains(question.text, index, parts.own_vectors, counts)), None)
    if best is None or best.score < LEAST:
        return None
    single = len(best.hops) == 1
    if single and (question.past or any(plan.needed for plan in plans_of(question.text, parts.parser))):
        return None
    return Chained(_told(best, turn_at, asked.speaker), single)


def _told(chain: Chain, turn_at: Callable[[int], Turn | None], asker: str) -> Draft:
    """Return an answer with the turns that lead to it."""
    turns = {turn.turn_id: turn for hop in chain.hops for one in (hop, *hop.alike) if (turn := turn_at(one.tie.place))}
    quotes = " ".join(quoted(turn, asker) for turn in turns.values())
    value = ", ".join(chain.values)
    return Draft(
        text=f"{value[:1].upper()}{value[1:]}. {quotes}",
        value=value,
        citations=tuple(citation_of(turn) for turn in turns.values()),
        confidence=min(chain.score, 1.0),
    )
