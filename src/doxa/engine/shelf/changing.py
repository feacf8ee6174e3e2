"""Memories corrected and deleted.

A correction takes back what was believed, as never having been so, and remembers the new text as said by the user,
under the same id; the log keeps both. Deleted means gone: every turn that the memory rests on and no other fact does
is erased for good with all that was made of it, and with its words of which no fact was made. A turn that tells other
facts as well is kept: its fact is retracted, and what else the turn says is no longer given as a memory of its own, so
that no list or search repeats it; deleting the other facts erases it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from doxa.core.errors import InputError, NotFoundError
from doxa.core.values import Status, Turn
from doxa.engine.noting import OURS, noted, notes
from doxa.engine.shelf.entries import Entry, entity, values_of
from doxa.engine.shelf.filters import Filter
from doxa.engine.shelf.handles import Handle
from doxa.engine.shelf.shelves import Shelf

if TYPE_CHECKING:
    from doxa.engine.api.dialogue import Dialogue
    from doxa.engine.api.memory import Memory

__all__ = ["amend", "erase_fitting", "remove"]

WHOSE = "delete_all: say whose memories: user_id, agent_id, app_id or run_id; '*' is all of them."
PASSING = ("event", "memories", "corrects")
"""What is noted of one turn and does not go over to one that corrects it."""


def amend(
    entry: Entry,
    text: str | None,
    own: Mapping[str, Any],
    *,
    memory: Memory,
    dialogue: Callable[..., Dialogue],
    at: datetime | None = None,
) -> None:
    """Correct a memory; without a text only note something of it, and of no other that rests on the same turn.

    Args:
        entry: the memory.
        text: what is so instead.
        own: its `metadata` and `expiration_date`, those that are given.
        memory: whose it is.
        dialogue: what makes a dialogue of a session and an agent, in which the text is said.
        at: when it is said.

    Raises:
        InputError: it cannot be corrected so.
    """
    if text is None:
        _annotate(memory, entry, own)
        return
    latest = entry.turns[-1] if entry.turns else None
    kept = {} if latest is None else {name: one for name, one in notes(latest).items() if name not in PASSING}
    kept |= {"corrects": [entry.handle.kind, entry.handle.key]}
    kept |= {"expiration_date": own.get("expiration_date", entry.expires)}
    given = own.get("metadata")
    dialogue(
        session=None if latest is None else latest.session,
        agent=None if latest is None else entity(latest, "agent_id"),
    ).correct(
        text,
        fact_id=None if entry.fact is None else entry.fact.fact_id,
        turn_id=entry.turns[0].turn_id if entry.fact is None else None,
        at=at,
        verbatim=latest is not None and latest.verbatim,
        metadata=noted(entry.metadata if given is None else given, **kept),
        reason="corrected by update",
    )


def _annotate(memory: Memory, entry: Entry, own: Mapping[str, Any]) -> None:
    if not entry.turns:
        raise InputError(
            "update: nobody said this memory, it follows from others; there is no message to note it with."
        )
    noted(own.get("metadata"))
    whole = {"metadata": entry.metadata, "expiration_date": entry.expires, **own}
    memory.annotate(entry.turns[-1].turn_id, partial(_with_note, place=entry.place, note=whole))


def _with_note(turn: Turn, *, place: str, note: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a turn with what is noted of one of its memories."""
    ours = dict(notes(turn))
    ours["memories"] = {**ours.get("memories", {}), place: note}
    return {**turn.metadata, OURS: ours}


def remove(memory: Memory, handles: Sequence[Handle], *, linked: bool = False) -> dict[str, int]:
    """Erase what memories alone rest on, take the rest back, and count the messages of both.

    Args:
        memory: whose they are.
        handles: which.
        linked: also what they had taken the place of; otherwise that holds again.

    Raises:
        NotFoundError: one of them is not there.
        InputError: nobody said one of them, it follows from others.
    """
    shelf = Shelf(memory, past=True)
    entries = [shelf.standing(handle) for handle in handles]
    facts = {one.fact.fact_id for one in entries if one.fact is not None}
    facts |= {handle.key for handle in handles if handle.kind == "fact" and handle.key in shelf.facts}
    facts = _with_displaced(memory, facts) if linked else facts
    words = {one.turns[0].turn_id for one in entries if one.fact is None}
    words |= {handle.key for handle in handles if handle.kind == "turn"}
    turns = words | {turn.turn_id for handle in handles for turn in shelf.corrections(handle)}
    turns |= {key for fact_id in facts & shelf.facts.keys() for key in shelf.facts[fact_id].turn_ids}
    told = (fact for fact in shelf.facts.values() if fact.fact_id not in facts and fact.status is not Status.RETRACTED)
    shared = {key for fact in told for key in fact.turn_ids}
    shared |= {rule.turn_id for rule in memory.rules()} - words
    gone = [turn.turn_id for turn in shelf.sources(turns - shared)]
    _erase(memory, gone)
    _take_back(memory, facts, words & shared)
    return {"erased_messages": len(gone), "kept_messages": len(turns & shared)}


def _take_back(memory: Memory, facts: Collection[str], words: Collection[str]) -> None:
    """Retract facts that are still there, and no longer give the words of turns as memories."""
    for fact in memory.facts(current=False):
        if fact.fact_id in facts and fact.status is not Status.RETRACTED:
            memory.retract(fact.fact_id, reason="deleted")
    for turn in memory.turns():
        if turn.turn_id in words:
            memory.annotate(turn.turn_id, partial(_with_note, place="", note={"deleted": True}))


def _with_displaced(memory: Memory, facts: Iterable[str]) -> set[str]:
    """Return facts with those that they took the place of, and so on."""
    found, waiting = set[str](), list(facts)
    while waiting:
        fact_id = waiting.pop()
        if fact_id not in found:
            found.add(fact_id)
            waiting += [fact.fact_id for fact in memory.why(fact_id).displaced]
    return found


def erase_fitting(memory: Memory, asked: Filter) -> int:
    """Erase every turn that fits, what was withdrawn as well; a user as a whole, with tasks and all else.

    Returns:
        How many turns are gone.

    Raises:
        InputError: it asks nothing of a turn, so that all of them fit.
    """
    if asked.unconditional:
        raise InputError(WHOSE)
    if asked.fields <= {"user_id"} and asked.fits(lambda field: (memory.user,)):
        return len(memory.forget(everything=True).turn_ids)
    turns = memory.turns(withdrawn=True)
    return _erase(memory, [turn.turn_id for turn in turns if asked.fits(partial(values_of, turn))])


def _erase(memory: Memory, turn_ids: Sequence[str]) -> int:
    """Erase turns for good; none of them there any more, by another request, is no error."""
    if not turn_ids:
        return 0
    try:
        return len(memory.forget(turn_id=turn_ids).turn_ids)
    except NotFoundError:
        return 0
