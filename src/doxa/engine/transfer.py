"""A memory -> a file, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from doxa.backends.store import NewRow, Row
from doxa.core.errors import FormatError, InputError, NotFoundError, StoreReadOnlyError
from doxa.memory import MemoryLog, UserState, describe, turn_from

__all__ = ["export", "import_"]

FORMAT = "doxa-export/1"
"""First line of a `jsonl` export; the number grows when a reader of the old form would misread the new one."""


def export(log: MemoryLog, user: str, path: Path, *, format: str) -> Path:
    """Write a user's memory to a file; see `Memory.export`.

    Raises:
        InputError: the format is unknown.
        StoreError: the file cannot be written.
    """
    writers = {"jsonl": _jsonl, "turtle": _turtle, "markdown": _markdown}
    if format not in writers:
        raise InputError(f"export: expected one of {', '.join(writers)}, got {format!r}.")
    with log.user(user) as state:
        lines = writers[format](state, log.rows(user))
        temporary = path.with_name(f"{path.name}.part")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
            temporary.replace(path)
        except OSError as exc:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise StoreReadOnlyError(f"{path} cannot be written: {exc.strerror}. Give another path.") from exc
    return path


def _jsonl(state: UserState, rows: list[Row]) -> Iterator[str]:
    yield json.dumps({"format": FORMAT, "user": state.user}, ensure_ascii=False)
    for row in rows:
        if row.kind != "erased":
            about = state.turns[row.about].turn_id if row.about else None
            record = {"kind": row.kind, "at": row.known_at.isoformat(), "turn_id": row.turn_id, "about": about}
            yield json.dumps({key: v for key, v in record.items() if v} | {"body": row.body}, ensure_ascii=False)


def _turtle(state: UserState, _: list[Row]) -> Iterator[str]:
    from doxa.logic import to_turtle  # a compiled RDF library: loaded only when something is exported

    turns = {turn.turn_id: turn for turn in state.turns.values()}
    yield to_turtle(state.beliefs.facts.values(), turns, user=state.user)


def _markdown(state: UserState, _: list[Row]) -> Iterator[str]:
    yield f"# What is known of {state.user}\n"
    for fact in state.beliefs.select(now=state.today()):
        yield f"- {describe(fact)} ({', '.join(fact.turn_ids)})"


def import_(log: MemoryLog, user: str, path: Path) -> int:
    """Read a `jsonl` export; see `Memory.import_`.

    Raises:
        NotFoundError: there is no such file.
        FormatError: the file is no such export; nothing was read.
    """
    records = _read(path)
    empty = log.head(user).ordinal == 0
    return _restore(log, user, records) if empty else _receive_all(log, user, records)


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as exc:
        raise NotFoundError(f"There is no file {path}.") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise FormatError(f"expected a Doxa export in UTF-8, could not read it: {exc}", path=str(path)) from exc
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            records.append(_record(line, path, number))
    if not records or records[0].get("format") != FORMAT:
        raise FormatError(
            f'expected a first line with "format": "{FORMAT}". To read a transcript use `doxa ingest`.', path=str(path)
        )
    return records[1:]


def _record(line: str, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
        if number > 1:
            datetime.fromisoformat(record["at"])
            if not isinstance(record["kind"], str) or not isinstance(record["body"], dict):
                raise TypeError("kind or body")
    except (ValueError, KeyError, TypeError, RecursionError) as exc:
        message = (
            f"expected a record of a Doxa export, got {line[:60]!r}; nothing was imported. "
            "To read a transcript use `doxa ingest`."
        )
        raise FormatError(message, path=str(path), line=number) from exc
    return dict(record)


def _restore(log: MemoryLog, user: str, records: list[dict[str, Any]]) -> int:
    """Write the log again, row by row, into an empty memory."""
    scope, ordinals, state = log.scope(user), dict[str, int](), 0
    for record in records:
        at = datetime.fromisoformat(record["at"])
        if record["kind"] == "turn":
            row = NewRow(kind="turn", known_at=at, body=record["body"])
            received = log.store.receive(scope, row, turn_id=record["turn_id"])
            ordinals[record["turn_id"]] = received.row.ordinal
        else:
            row = NewRow(
                kind=record["kind"], known_at=at, body=record["body"], about=ordinals.get(record.get("about", ""))
            )
            state = log.store.append(scope, row, expected_state=state).ordinal
    return len(ordinals)


def _receive_all(log: MemoryLog, user: str, records: list[dict[str, Any]]) -> int:
    new = 0
    for record in records:
        if record["kind"] == "turn" and not record["body"].get("generated"):
            at = datetime.fromisoformat(record["at"])
            turn = turn_from(record["body"], turn_id=record["turn_id"], user=user, ordinal=0, at=at)
            _, receipt = log.receive(turn)
            new += not receipt.duplicate
    return new
