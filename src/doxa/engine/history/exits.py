"""A memory -> what other systems read: the way out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from doxa.backends.transcripts import Line
from doxa.core.errors import InputError
from doxa.core.values import Fact, Turn
from doxa.engine.history.moving import IMPORTED
from doxa.engine.history.transfer import ExportFormat
from doxa.engine.shelf.entries import OURS, Entry, entity, notes
from doxa.engine.shelf.graph import graph_of
from doxa.engine.shelf.shelves import Shelf
from doxa.memory import replacing

if TYPE_CHECKING:
    from doxa.engine.api.memory import Memory

__all__ = ["leave"]

MEMORIES = ("mem0", "openmemory", "langgraph", "notes")
"""What holds what is believed, and what was said beside it."""
BOTH = ("letta", "graphiti")
"""What holds all that was said, and the facts."""
EXITS = (*MEMORIES, *BOTH, "mcp", "messages")


def leave(memory: Memory, path: Path, *, format: str) -> Path:
    """Write a memory as another system reads it; see `Memory.export`.

    Raises:
        InputError: the format is unknown; notes go into a folder that is new or empty, all else into a file.
        StoreError: the file cannot be written.

    Cost: one pass over turns and facts.
    """
    from doxa.backends.transcripts.archives.writing import WRITERS
    from doxa.backends.transcripts.archives.writing import notes as written

    if format not in EXITS:
        raise InputError(f"export: expected one of {', '.join(get_args(ExportFormat))}, got {format!r}.")
    lines = list(_lines(memory, format))
    if format == "notes":
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError(f"export: expected a folder that is new or empty for the notes, {path} is none.")
        path.mkdir(parents=True, exist_ok=True)
        for name, content in written(lines).items():
            (path / name).write_bytes(content)
        return path
    if path.is_dir() or not path.name:
        raise InputError(f"export: expected the path of a file, got the folder {path}.")
    with replacing(path) as new, new.open("wb") as file:
        file.writelines(WRITERS[format](lines, memory.user))
    return path


def _lines(memory: Memory, format: str) -> Iterator[Line]:
    if format == "mcp":
        yield from _graph(memory)
        return
    if format in (*BOTH, "messages"):
        yield from (_said(turn, format) for turn in memory.turns())
    if format in (*BOTH, *MEMORIES):
        shelf = Shelf(memory)
        yield from _known(shelf, format, facts_only=format in BOTH)


def _graph(memory: Memory) -> Iterator[Line]:
    graph = graph_of(memory)
    for name, node in graph.nodes.items():
        yield Line(text=name, origin={"entity": [name, node.kind]})
        yield from (Line(text=text, origin={"observation": name}) for text in node.observations)
    for start, kind, end in graph.relations:
        yield Line(text=kind, origin={"relation": [start, kind, end]})


def _said(turn: Turn, format: str) -> Line:
    """Return what was said, under the id that it had in an archive of this format, or its own."""
    return Line(
        text=turn.text,
        speaker=turn.speaker,
        role=turn.role,
        at=turn.at,
        session=turn.session,
        turn_id=str(notes(turn)[IMPORTED]["id"]) if _is_from(turn, format) else turn.turn_id,
        origin={"message": True},
    )


def _known(shelf: Shelf, format: str, *, facts_only: bool) -> Iterator[Line]:
    """Yield memories; what came from this very format as it was there, once, as long as all that it says holds."""
    gone = {key for fact in shelf.facts.values() if fact.fact_id not in shelf.believed for key in fact.turn_ids}
    whole = {turn.turn_id for turn in shelf.turns.values() if _is_from(turn, format)} - gone
    given = set[str]()
    for entry in shelf.entries:
        (only, *more) = entry.turns or (None,)
        if facts_only and entry.fact is None:
            continue
        if only is None or more or only.turn_id not in whole:
            yield _memory(entry)
        elif only.turn_id not in given:
            given.add(only.turn_id)
            yield _as_it_was(only, entry)


def _is_from(turn: Turn, format: str) -> bool:
    origin = notes(turn).get(IMPORTED)
    return isinstance(origin, dict) and origin.get("from") == format


def _as_it_was(turn: Turn, entry: Entry) -> Line:
    origin = notes(turn)[IMPORTED]
    metadata = {name: value for name, value in turn.metadata.items() if name != OURS}
    subject = entry.fact.subject.label if entry.fact else None
    return Line(
        text=turn.text,
        speaker=turn.speaker,
        at=turn.at,
        session=turn.session,
        turn_id=str(origin["id"]),
        metadata=metadata,
        origin={"subject": subject, **origin, "updated_at": turn.at.isoformat()},
    )


def _memory(entry: Entry) -> Line:
    latest = entry.turns[-1] if entry.turns else None
    own = {name: entity(latest, name) for name in ("agent_id", "app_id", "run_id")} if latest else {}
    updated = entry.updated_at.isoformat() if entry.updated_at else None
    return Line(
        text=entry.text,
        speaker=latest.speaker if latest else None,
        at=entry.created_at,
        session=latest.session if latest else None,
        turn_id=entry.fact.fact_id if entry.fact else str(entry.handle),
        metadata=entry.metadata,
        origin={**own, "expiration_date": entry.expires, "updated_at": updated, **_fact(entry.fact)},
    )


def _fact(fact: Fact | None) -> dict[str, Any]:
    if fact is None:
        return {}
    start, end = fact.valid.start, fact.valid.end
    return {
        "subject": fact.subject.label,
        "relation": fact.relation.name,
        "ends": [(one.key, one.label) for one in (fact.subject, fact.object)],
        "episodes": list(fact.turn_ids),
        "valid_at": start.isoformat() if start else None,
        "invalid_at": end.isoformat() if end else None,
    }
