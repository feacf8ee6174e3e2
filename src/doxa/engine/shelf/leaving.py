"""A memory -> what other systems read: the way out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from doxa.backends.transcripts import Line
from doxa.core.errors import InputError, StoreReadOnlyError
from doxa.core.private import private_folder
from doxa.core.values import ChangeKind, Fact, Status, Turn
from doxa.engine.history.moving import IMPORTED
from doxa.engine.history.transfer import ExportFormat
from doxa.engine.noting import OURS, notes
from doxa.engine.shelf.entries import Entry, entity
from doxa.engine.shelf.graph import graph_of
from doxa.engine.shelf.shelves import Shelf
from doxa.memory import replacing

if TYPE_CHECKING:
    from doxa.engine.api.memory import Memory

__all__ = ["leave"]

MEMORIES = ("mem0", "openmemory", "langgraph", "notes")
"""What holds what is believed, and what was said beside it."""
EXITS = (*MEMORIES, "letta", "graphiti", "mcp", "messages")
"""Letta and Graphiti hold all that was said, and the facts."""
NOTED = ("edge", "block")
"""Kinds of what came from there and was said by nobody: it goes back as what it was."""


def leave(memory: Memory, path: Path, *, format: str) -> Path:
    """Write a memory as another system reads it; see `Memory.export`.

    Raises:
        InputError: the format is unknown; notes go into a folder that is new or empty, all else into a file.
        StoreError: the file cannot be written.

    Cost: one pass over turns and facts.
    """
    from doxa.backends.transcripts import WRITERS, written_notes

    if format not in EXITS:
        raise InputError(f"export: expected one of {', '.join(get_args(ExportFormat))}, got {format!r}.")
    lines = list(_lines(memory, format))
    if format == "notes":
        return _write_notes(path, written_notes(lines))
    if path.is_dir() or not path.name:
        raise InputError(f"export: expected the path of a file, got the folder {path}.")
    with replacing(path) as new, new.open("wb") as file:
        file.writelines(WRITERS[format](lines, memory.user))
    return path


def _write_notes(path: Path, notes: Mapping[str, bytes]) -> Path:
    try:
        private_folder(path)
        is_taken = any(path.iterdir())
    except FileExistsError:
        is_taken = True
    except OSError as exc:
        raise StoreReadOnlyError(f"{path} cannot be written: {exc.strerror}. Give another path.") from exc
    if is_taken:
        raise InputError(f"export: expected a folder that is new or empty for the notes, {path} is none.")
    for name, content in notes.items():
        with replacing(path / name) as new:
            new.write_bytes(content)
    return path


def _lines(memory: Memory, format: str) -> Iterator[Line]:
    if format == "mcp":
        yield from _graph(memory)
        return
    said = [turn for turn in memory.turns() if not _was_invalid(turn)]
    if format == "messages":
        yield from (_said(turn, format) for turn in said)
        return
    stock = _Stock(Shelf(memory, past=True), format)
    if format in MEMORIES:
        yield from stock.memories()
        return
    noted = [turn for turn in memory.turns() if stock.kind(turn) in NOTED]
    yield from (_said(turn, format) for turn in said if stock.kind(turn) not in NOTED)
    yield from (_as_it_was(turn) for turn in noted if turn.turn_id not in stock.gone)
    yield from stock.facts()


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
        turn_id=_key(turn, format),
        origin={"message": True},
    )


class _Stock:
    """What a memory holds that can leave it: what is believed and was not given up, the past included."""

    def __init__(self, shelf: Shelf, format: str) -> None:
        self._shelf = shelf
        self._format = format
        self.gone = {key for fact in shelf.facts.values() if self._is_given_up(fact) for key in fact.turn_ids}
        """The turns that say something that was revised or taken back since."""

    def _is_given_up(self, fact: Fact) -> bool:
        closed = any(change.kind is ChangeKind.CLOSE for change in self._shelf.changes_of(fact.fact_id))
        return closed or fact.status in (Status.SUPERSEDED, Status.RETRACTED)

    def kind(self, turn: Turn) -> str | None:
        """Return what a turn was in an archive of this format, where it says so."""
        return str(notes(turn)[IMPORTED].get("kind")) if _is_from(turn, self._format) else None

    def _entries(self) -> Iterator[Entry]:
        return (one for one in self._shelf.entries if one.fact is None or not self._is_given_up(one.fact))

    def memories(self) -> Iterator[Line]:
        """Yield memories; what came from this very format as it was there, once, as long as all that it says holds."""
        given = set[str]()
        for entry in self._entries():
            whole = [turn for turn in entry.turns if _is_from(turn, self._format) and turn.turn_id not in self.gone]
            if not whole and not (entry.fact is None and all(map(_was_invalid, entry.turns))):
                yield _memory(entry)
            for turn in whole:
                if turn.turn_id not in given:
                    given.add(turn.turn_id)
                    yield _as_it_was(turn, entry.fact)

    def facts(self) -> Iterator[Line]:
        """Yield facts, but for those that go back as what they were read from."""
        for entry in self._entries():
            back = any(self.kind(turn) in NOTED and turn.turn_id not in self.gone for turn in entry.turns)
            if entry.fact is not None and not back:
                line = _memory(entry)
                episodes = [_key(turn, self._format) for turn in entry.turns]
                yield replace(line, origin={**line.origin, "episodes": episodes})


def _is_from(turn: Turn, format: str) -> bool:
    origin = notes(turn).get(IMPORTED)
    return isinstance(origin, dict) and origin.get("from") == format and "id" in origin


def _was_invalid(turn: Turn) -> bool:
    """Tell whether a turn was no longer believed where it comes from; elsewhere it would be read as what is so."""
    origin = notes(turn).get(IMPORTED)
    return isinstance(origin, dict) and bool(origin.get("invalid"))


def _key(turn: Turn, format: str) -> str:
    """Return the id that a turn had in an archive of this format, or its own."""
    origin = notes(turn)[IMPORTED] if _is_from(turn, format) else {}
    return str(origin.get("otid") or origin.get("id") or turn.turn_id)


def _as_it_was(turn: Turn, fact: Fact | None = None) -> Line:
    origin = notes(turn)[IMPORTED]
    return Line(
        text=turn.text,
        speaker=turn.speaker,
        at=turn.at,
        session=turn.session,
        turn_id=str(origin["id"]),
        metadata={name: value for name, value in turn.metadata.items() if name != OURS},
        origin={"subject": fact.subject.label if fact else None, **origin, "updated_at": turn.at.isoformat()},
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
        "valid_at": start.isoformat() if start else None,
        "invalid_at": end.isoformat() if end else None,
    }
