"""The graph of the reference server, written: one turn for each piece, and erased with it."""

from __future__ import annotations

from collections.abc import Iterable

from doxa.backends.transcripts import Line, entity, observation, relation
from doxa.core.errors import TurnConflictError
from doxa.engine import Origin, Triple
from doxa.transport.room import Room

__all__ = ["add_entity", "add_observation", "add_relation", "remove"]


def add_entity(room: Room, name: str, kind: str) -> bool:
    """Write an entity; return False where there is one of that name."""
    return _write(room, entity(name, kind))


def add_observation(room: Room, name: str, content: str) -> bool:
    """Write an observation of an entity, as a sentence about it; return False where it was written before."""
    return _write(room, observation(name, content))


def add_relation(room: Room, triple: Triple) -> bool:
    """Write a relation, as a sentence; return False where it was written before."""
    return _write(room, relation(*triple))


def _write(room: Room, line: Line) -> bool:
    dialogue = room.dialogue("write", session=line.session)
    try:
        return not dialogue.absorb(line.text, turn_id=line.turn_id).duplicate
    except TurnConflictError:  # an entity of another type has the name; it stays as it is
        return False


def remove(room: Room, origins: Iterable[Origin]) -> None:
    """Let pieces of the graph go: turns that were written as such are erased, facts that were told are retracted."""
    wanted = dict.fromkeys(origins)
    # Both rights are asked for before anything goes.
    erasing = room.memory("erase") if any(kind == "turn" for kind, _ in wanted) else None
    memory = room.memory("write")
    for kind, key in wanted:
        if kind == "turn" and erasing is not None:
            erasing.forget(turn_id=key)
        else:
            memory.retract(key, reason="it was deleted from the graph")
