"""A memory -> a file, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from doxa.backends.store import Row
from doxa.core.errors import FormatError, InputError, NotFoundError, StoreReadOnlyError
from doxa.core.values import Role
from doxa.engine.intake import read_moment
from doxa.memory import MemoryLog, UserState, describe, fold_row, turn_from

__all__ = ["export", "import_"]

FORMAT = "doxa-export/1"
"""First line of a `jsonl` export; the number grows when a reader of the old form would misread the new one."""
KINDS = ("turn", "maintained", "withdrawn", "retracted")
TEXTS = ("session", "speaker", "text")


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
        if path.is_dir() or not path.name:
            raise InputError(f"export: expected the path of a file, got the folder {path}.")
        temporary = path.with_name(f"{path.name}.part")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
            temporary.replace(path)
        except OSError as exc:
            raise StoreReadOnlyError(f"{path} cannot be written: {exc.strerror}. Give another path.") from exc
        finally:
            with suppress(OSError):  # there is none after a success, and nothing to do about a disk that refuses
                temporary.unlink(missing_ok=True)
    return path


def _jsonl(state: UserState, rows: list[Row]) -> Iterator[str]:
    yield json.dumps({"format": FORMAT, "user": state.user}, ensure_ascii=False)
    turn_ids = {row.ordinal: row.turn_id for row in rows}  # not the state's: others may have written since it was read
    for row in rows:
        if row.kind != "erased":
            about = turn_ids.get(row.about or 0)
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
        TurnConflictError: a turn is known with another text; the turns before it were read.
    """
    rows = _read(path, user)
    return _receive_all(log, user, rows) if log.head(user).received else _restore(log, user, rows)


def _read(path: Path, user: str) -> list[Row]:
    """Return the rows of an export, numbered from 1. Every one was folded once, so what is stored can be read."""
    rows: list[Row] = []
    state, ordinals, header = UserState(user=user, dims=1), dict[str, int](), False
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if not header:
                header = isinstance(record, dict) and record.get("format") == FORMAT
                if not header:
                    break
                continue
            row = _row(record, ordinals, ordinal=len(rows) + 1)
            fold_row(state, row)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError) as exc:
            message = f"expected a record of a Doxa export, got {line[:60]!r} ({exc}); nothing was imported"
            raise FormatError(message, path=str(path), line=number) from exc
        rows.append(row)
    if not header:
        raise FormatError(
            f'expected a first line with "format": "{FORMAT}". To read a transcript use `doxa ingest`.', path=str(path)
        )
    return rows


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as exc:
        raise NotFoundError(f"There is no file {path}.") from exc
    except (OSError, UnicodeDecodeError) as exc:
        raise FormatError(f"expected a Doxa export in UTF-8, could not read it: {exc}", path=str(path)) from exc


def _row(record: Any, ordinals: dict[str, int], *, ordinal: int) -> Row:
    """Return the row of a record; `ordinals` gives the place of every turn so far and takes that of a new one."""
    kind, body, turn_id = record["kind"], record["body"], record.get("turn_id")
    if kind not in KINDS or not isinstance(body, dict):
        raise ValueError(f"expected a kind of {', '.join(KINDS)} and a body")
    if kind == "turn":
        known = body["role"] in get_args(Role) and all(isinstance(body[key], str) for key in TEXTS)
        if not known or not isinstance(turn_id, str) or not turn_id or turn_id in ordinals:
            raise ValueError(f"expected a turn with an id of its own, a role and {', '.join(TEXTS)}")
        ordinals[turn_id] = ordinal
    elif turn_id is not None:
        raise ValueError("only a turn has a turn_id")
    about = ordinals[record["about"]] if kind == "maintained" else None
    at = read_moment(str(record["at"]))
    return Row(ordinal=ordinal, kind=kind, known_at=at, body=body, about=about, turn_id=turn_id)


def _restore(log: MemoryLog, user: str, rows: list[Row]) -> int:
    """Write the log again into an empty memory, in one transaction."""
    log.store.restore(log.scope(user), rows)
    return sum(row.kind == "turn" for row in rows)


def _receive_all(log: MemoryLog, user: str, rows: list[Row]) -> int:
    new = 0
    for row in rows:
        if row.kind == "turn" and not row.body.get("generated"):
            turn = turn_from(row.body, turn_id=str(row.turn_id), user=user, ordinal=0, at=row.known_at)
            _, receipt = log.receive(turn)
            new += not receipt.duplicate
    return new
