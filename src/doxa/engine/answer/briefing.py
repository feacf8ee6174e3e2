"""A message in its dialogue -> what a language model is told beside what search finds.

What stays the same through a session comes first and is told in the same bytes each time (what the asker is like, the
dialogue from a place that moves only now and then), so that servers that keep prefixes of prompts read it once; what
the message itself did comes last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from doxa.core.values import Change, ChangeKind, Fact, Status, Turn
from doxa.engine.asked import Asked
from doxa.memory import Beliefs, UserState, describe, standing
from doxa.reason import PastFact, taken_back
from doxa.tasks import context_of
from doxa.understand import known_near

__all__ = ["Briefing", "brief", "superseded"]

MOST_PROFILE = 12
"""Promotions that are told."""
MOST_PAST = 6
"""Earlier values that are told."""
MOST_OWN = 8
"""Statements of the agent that are told."""
TASK_TOKENS = 300
NOT_READ = "The last message is not processed yet; nothing of it is stored so far."
NOTHING = "Nothing of the last message was stored."


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What a language model is told beside facts and turns."""

    profile: tuple[str, ...] = ()
    """What the asker was like when the session began."""
    history: tuple[Turn, ...] = ()
    """The dialogue before the message, oldest first; it only grows, until its older half is dropped at once."""
    tasks: str = ""
    """The part of the tasks that the message needs."""
    noted: tuple[str, ...] = ()
    """What the message changed in the memory, and what of it was not stored."""
    own: tuple[str, ...] = ()
    """What the agent said before that bears on the message, and nobody else has spoken of."""


def brief(asked: Asked, own: Turn | None, changes: Sequence[Change], state: UserState, size: int) -> Briefing:
    """Return what to tell a model of a message. Reads the state; O(promotions + turns shown + changes of the message).

    Args:
        asked: the message.
        own: the turn that it is; None for a question that is not remembered.
        changes: what it changed.
        state: the memory of the asker.
        size: turns of dialogue that are shown at least, where there are as many.
    """
    history = _history(asked, own, state, size)
    told = tuple(turn for turn in history if turn.generated or not taken_back(turn, state.beliefs))
    if asked.known_at is not None:  # what is known now is not what was known then
        return Briefing(history=tuple(turn for turn in told if turn.at <= asked.known_at))
    return Briefing(
        profile=tuple(_profile(asked, state)),
        history=told,
        tasks=context_of(state.tasks, asked.text, budget=TASK_TOKENS),
        noted=tuple(_noted(own, changes, state)) if own is not None else (),
        own=tuple(_own_words(asked, history, state)),
    )


def superseded(facts: Sequence[Fact], beliefs: Beliefs) -> list[PastFact]:
    """Return the values that some facts took the place of, the latest first; what never was so is not among them."""
    slots = dict.fromkeys(beliefs.slot(fact) for fact in facts)
    past = [fact for slot in slots for fact in beliefs.in_slot(slot) if fact.status is Status.SUPERSEDED]
    return [PastFact(fact=fact) for fact in past[::-1][:MOST_PAST]]


def _profile(asked: Asked, state: UserState) -> Iterator[str]:
    """Give the promotions that stood before the session began, the surest first."""
    ordinals = state.session(asked.session)
    first = state.turns[ordinals[0]].at if ordinals else asked.at
    known = [one for one in standing(state) if one.known_at is None or one.known_at <= first]
    for one in sorted(known, key=lambda one: (-one.score, str(one)))[:MOST_PROFILE]:
        yield f"{one} [{', '.join(one.turn_ids[-2:])}]"


def _history(asked: Asked, own: Turn | None, state: UserState, size: int) -> list[Turn]:
    """Return between `size` and twice as many turns before a message: it starts where it did for the one before."""
    if not size:
        return []
    ordinals = [key for key in state.session(asked.session) if own is None or key < own.ordinal]
    start = max(0, len(ordinals) // size - 1) * size
    return sorted((*(state.turns[key] for key in ordinals[start:]), *asked.said), key=lambda turn: turn.ordinal)


def _own_words(asked: Asked, history: Sequence[Turn], state: UserState) -> Iterator[str]:
    """Give what the agent said of what the message and the dialogue speak of, the nearest first."""
    near = known_near(asked.as_turn(), history, state.beliefs).facts
    for fact in [one for one in near if one.status is Status.QUARANTINED][:MOST_OWN]:
        if any(claim.speaker == asked.agent for claim in state.beliefs.supporting(fact)):
            yield f"{describe(fact)}."


def _noted(own: Turn, changes: Sequence[Change], state: UserState) -> Iterator[str]:
    if own.ordinal > state.maintained:
        yield NOT_READ
        return
    told = list(dict.fromkeys(line for change in changes if (line := _told(change))))
    for number in state.tasks.of_turn(own.turn_id):
        commit = state.tasks.commit(number)
        if commit is not None and (commit.edits or commit.asked):
            told.append(f"Of the tasks: {commit.reply}")
    yield from told or [NOTHING]
    if (failed := state.degraded.get(own.turn_id)) and told:
        yield f"It may not have been understood in full: {failed}"


def _told(change: Change) -> str:
    """Return a change in words; a value that never was so is not said again."""
    fact = change.fact
    match change.kind:
        case ChangeKind.ASSERT | ChangeKind.SUPPORT | ChangeKind.REFINE | ChangeKind.RESTORE:
            return f"Stored: {describe(fact)}."
        case ChangeKind.CLOSE:
            return f"No longer so: {describe(fact)}."
        case ChangeKind.RETRACT:
            return f"Taken back: what was said of “{fact.subject} {fact.relation}” before."
        case ChangeKind.DISPUTE:
            return f"Open, since sources disagree: {describe(fact)}."
        case ChangeKind.NOTE | ChangeKind.QUARANTINE:
            return f"Heard, but not believed yet: {describe(fact)}."
        case _:
            return ""
