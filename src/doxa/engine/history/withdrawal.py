"""What a person takes back by hand: a fact, a turn, a source, or the last change; and what that would change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from doxa.backends.store import Row
from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Certificate, Change, Fact, Turn
from doxa.engine.history.acceptance import accepting, keeping
from doxa.engine.history.deeds import deeds
from doxa.engine.history.entities import identifying
from doxa.engine.history.replay import NO_FACT, NO_TURN, erase_turns, undone
from doxa.engine.intake import display_name, read_metadata, read_turn
from doxa.engine.reading.tasks import TaskReaders
from doxa.engine.reading.turns import reading_of
from doxa.engine.tasking import taken_back, task_reader
from doxa.engine.wiring.parts import Parts
from doxa.memory import (
    Accepted,
    Annotated,
    Distrusted,
    Identified,
    Maintained,
    MemoryLog,
    Retracted,
    Revision,
    Undone,
    UserState,
    Withdrawal,
    Withdrawn,
    describe,
    event_of,
    rule_id,
)
from doxa.revise import give_up, retract, revise, withdraw

__all__ = ["NO_FACT", "annotate", "forget_turns", "preview", "retract_fact", "undo", "withdraw_source", "withdraw_turn"]

UNDONE = "undone"
NAMED = 8
"""Sources that an error names."""


def retract_fact(log: MemoryLog, user: str, fact_id: str, *, reason: str) -> list[Change]:
    """Declare that a fact never was true.

    Raises:
        NotFoundError: there is no such fact.
        InputError: it follows from others; the message says what can be retracted instead.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        event = _retracted(state, user, fact_id, reason)
        log.append(user, state, event)
        return list(event.changes)


def withdraw_turn(log: MemoryLog, user: str, turn_id: str, *, reason: str) -> list[Change]:
    """Stop trusting a turn; nothing happens when it is withdrawn already.

    Raises:
        NotFoundError: there is no such turn.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        event = _withdrawn(state, user, turn_id, reason)
        if turn_id in state.withdrawn:
            return []
        log.append(user, state, event)
        return list(event.changes)


def withdraw_source(log: MemoryLog, user: str, source: str, *, reason: str) -> list[Change]:
    """Stop trusting what a speaker has said so far, or what was said on the word of a quoted source.

    Raises:
        NotFoundError: nobody of that name has said anything or was quoted.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        event = _distrusted(state, user, source, reason)
        log.append(user, state, event)
        return list(event.changes)


def annotate(
    parts: Parts, user: str, turn_id: str, metadata: Mapping[str, Any] | Callable[[Turn], Mapping[str, Any]]
) -> Turn:
    """Give a turn other metadata, and return it; see `Memory.annotate`.

    Raises:
        InputError: the metadata is no plain JSON data.
        NotFoundError: there is no such turn.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with parts.log.user(user) as state:
        if (turn := state.turn(turn_id)) is None:
            raise NotFoundError(NO_TURN.format(user=user, turn_id=turn_id))
        given = metadata(turn) if callable(metadata) else metadata
        kept = read_metadata(given, max_chars=parts.config.engine.max_turn_chars)
        event = Annotated(known_at=datetime.now(UTC), target=turn_id, metadata=kept)
        parts.log.append(user, state, event)
        found = state.turn(turn_id)
        assert found is not None
        return found


def undo(log: MemoryLog, user: str, *, expected: int | None = None) -> list[Change]:
    """Take back the last change that was not taken back yet: a turn, or what was done by hand.

    What is believed afterwards is what was believed before it. Nothing happens when there is none. Cost: reading the
    log back to it, and one revision.

    Raises:
        InputError: the last change is not the one that was expected; see `Memory.undo`.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    with log.user(user) as state:
        row = _last(log, user, state)
        if expected is not None and (row is None or row.ordinal != expected):
            raise InputError("Something else was changed since, and undo takes the last change back. Look at it first.")
        event = None if row is None else event_of(row, state.turns.get(row.about or 0))
        if not isinstance(event, Revision):
            return []
        last = event
        now = datetime.now(UTC)
        undoing = Undone(known_at=now, undoes=last.kind, reason=UNDONE)
        numbers = [last.task_number] if last.task_number else []
        match last:
            case Maintained(about=Turn(turn_id=target)):
                undoing, numbers = replace(undoing, target=target), state.tasks.of_turn(target)
            case Withdrawal(target=target):
                undoing = replace(undoing, target=target)
            case Identified(claims=claims) | Accepted(claims=claims):
                undoing = replace(undoing, claims=claims)
        changes = undone(undoing, state.beliefs)
        tasks = taken_back(state.tasks, numbers, changes, at=now)
        log.append(user, state, replace(undoing, changes=changes, tasks=tasks))
        return changes


def forget_turns(parts: Parts, user: str, turn_ids: Collection[str]) -> Certificate:
    """Erase turns with all that was made from them; later ones are read again. See `erase_turns`.

    Raises:
        NotFoundError: the user has none of them.
        StoreConflictError: somebody wrote at the same time; call again.
    """
    size = parts.config.engine.context_turns
    reader = task_reader(TaskReaders.of(parts))
    return erase_turns(
        parts.log, user, turn_ids, parts.parser_of(user), context_turns=size, task_reader=reader, trained=parts
    )


def preview(parts: Parts, user: str, given: Mapping[str, Any], *, speaker: str | None) -> list[Change]:
    """Return what something would change, and change nothing.

    Args:
        parts: what the engine is made of.
        user: whose memory it is.
        given: one of `retract` and `accept` (the id of a fact), `keep_both` (ids of facts), `withdraw` (the id of a
            turn), `source` (the name of a speaker or of a quoted source), `merge` and `split` (two names) and `say`
            (a turn that somebody might say now, read the built-in way).
        speaker: who might say it; by default the one person who has spoken as the user so far.

    Raises:
        InputError: none or several are given, it cannot be done to these facts, or the turn cannot be read.
        NotFoundError: there is no such fact, turn, source or name.
    """
    asked = [(name, value) for name, value in given.items() if value is not None]
    if len(asked) != 1:
        raise InputError(f"what_if: expected exactly one of {', '.join(given)}, got {len(asked)}.")
    ((name, value),) = asked
    with parts.log.user(user) as state:
        if name == "say":
            return _said(value, state, parts, user=user, speaker=speaker or state.person() or display_name(user))
        return list(MAKE[name](state, user, value, "").changes)


def _retracted(state: UserState, user: str, fact_id: str, reason: str) -> Retracted:
    fact, now = state.beliefs.facts.get(fact_id), datetime.now(UTC)
    if fact is None:
        raise NotFoundError(NO_FACT.format(user=user, fact_id=fact_id))
    if fact.premises and not state.beliefs.supporting(fact):
        raise InputError(_derived(fact, state))
    changes = retract(fact, state.beliefs, known_at=now, reason=reason)
    tasks = taken_back(state.tasks, (), changes, at=now)
    return Retracted(known_at=now, target=fact_id, reason=reason, changes=changes, tasks=tasks)


def _derived(fact: Fact, state: UserState) -> str:
    """Say that a fact cannot be retracted by itself, and what can."""
    facts = [f"{key} ({describe(known)})" for key in fact.premises if (known := state.beliefs.facts.get(key))]
    turns = [f"turn {rule.turn_id}" for rule in state.beliefs.rules if rule_id(rule) in fact.premises]
    ways = f"retract {' or '.join(facts)}" + (f", or withdraw the rule ({turns[0]})" if turns else "")
    return f"Nobody said that {describe(fact)}: it follows from other facts. To be rid of it, {ways}."


def _withdrawn(state: UserState, user: str, turn_id: str, reason: str) -> Withdrawn:
    now = datetime.now(UTC)
    if state.turn(turn_id) is None:
        raise NotFoundError(NO_TURN.format(user=user, turn_id=turn_id))
    changes = withdraw(turn_id, state.beliefs, known_at=now, reason=reason)
    tasks = taken_back(state.tasks, state.tasks.of_turn(turn_id), changes, at=now)
    return Withdrawn(known_at=now, target=turn_id, reason=reason, changes=changes, tasks=tasks)


def _distrusted(state: UserState, user: str, source: str, reason: str) -> Distrusted:
    now = datetime.now(UTC)
    claims, rules = state.beliefs.said_by(source)
    if not claims and not rules and not state.turns_of(source):
        raise NotFoundError(_nobody(state, user, source))
    why = reason or f"{source} is no longer trusted"
    changes = give_up(claims, rules, state.beliefs, known_at=now, reason=why)
    turns = (turn for turn in state.turns_of(source) if turn not in state.withdrawn)
    tasks = taken_back(state.tasks, [n for turn in turns for n in state.tasks.of_turn(turn)], changes, at=now)
    return Distrusted(known_at=now, target=source, reason=why, changes=changes, tasks=tasks)


def _nobody(state: UserState, user: str, source: str) -> str:
    known = dict.fromkeys(turn.speaker for turn in state.turns.values())
    known |= {claim.source: None for said in state.beliefs.claims.values() for claim in said if claim.source}
    names = ", ".join(repr(name) for name in list(known)[:NAMED]) or "nobody"
    return f"User {user!r} has nothing that {source!r} said, or that was said on that word. Known sources: {names}."


def _said(text: str, state: UserState, parts: Parts, *, user: str, speaker: str) -> list[Change]:
    """Return what a turn would change if it were said now, in the latest session."""
    latest = max(state.turns.values(), key=lambda turn: turn.ordinal, default=None)
    turn = read_turn(
        text,
        user=user,
        session=latest.session if latest else "default",
        speaker=speaker,
        role="user",
        at=state.now(),
        turn_id="what-if",
        max_chars=parts.config.engine.max_turn_chars,
    )
    turn = replace(turn, ordinal=state.ordinal + 1)
    context = state.context(turn, parts.config.engine.context_turns)
    found, _ = reading_of(turn, context, state.beliefs, parts.parser_of(user), trained=parts)
    return revise(found.claims, state.beliefs, turn_id=turn.turn_id, known_at=turn.at, rules=found.rules)


MAKE: Mapping[str, Callable[[UserState, str, Any, str], Revision]] = {
    "retract": _retracted,
    "withdraw": _withdrawn,
    "source": _distrusted,
    "accept": accepting,
    "keep_both": keeping,
    "merge": partial(identifying, same=True),
    "split": partial(identifying, same=False),
}
"""What makes the event of what is done by hand."""


def _last(log: MemoryLog, user: str, state: UserState) -> Row | None:
    """Return the row of the last change that was not taken back."""
    return next((one.row for one in deeds(log, user, state) if one.stands), None)
