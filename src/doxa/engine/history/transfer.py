"""A memory -> a file, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from doxa.backends.store import Row
from doxa.core.errors import FormatError, InputError, NotFoundError
from doxa.core.values import Role
from doxa.engine.history.signing import require_signed_bytes
from doxa.engine.intake import read_moment
from doxa.engine.wiring.parts import Parts
from doxa.engine.wiring.placing import ontology_of
from doxa.logic import FORMAT, FactGraph, GraphFormat, LogEntry, entries_of, read_quads, to_quads, write_quads
from doxa.memory import (
    EVENTS,
    MemoryLog,
    UserState,
    change_from,
    describe,
    fold_row,
    replacing,
    require_types,
    turn_from,
    turn_of,
)

__all__ = ["EXPORT_ENDINGS", "ExportFormat", "export", "import_", "is_export"]

GRAPHS: dict[str, GraphFormat] = {name: name for name in get_args(GraphFormat)}
FORMATS = ("jsonl", *GRAPHS, "markdown")
ExportFormat = Literal[
    "jsonl", "turtle", "nquads", "jsonld", "markdown",
    "mem0", "openmemory", "langgraph", "mcp", "letta", "graphiti", "notes", "messages",
]  # fmt: skip
"""What a memory is written as: in full, for people, or as other systems read it."""
EXPORT_ENDINGS: dict[str, ExportFormat] = {
    ".jsonl": "jsonl", ".ttl": "turtle", ".nq": "nquads", ".jsonld": "jsonld", ".md": "markdown",
}  # fmt: skip
"""What the end of a file's name stands for."""
BROKEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RecursionError,
    InputError,
)
KINDS = ("turn", *EVENTS)
TEXTS = ("session", "speaker", "text")
RDF = (".ttl", ".nq", ".jsonld")
HEAD = 4096
MARKDOWN = "# What is known of "


def export(parts: Parts, user: str, path: Path, *, format: str) -> Path:
    """Write a user's memory to a file; see `Memory.export`.

    Raises:
        StoreError: the file cannot be written.
    """
    with parts.log.user(user) as state:
        rows = parts.log.rows(user)
        if format == "jsonl":
            pieces = _jsonl(state, rows)
        elif format == "markdown":
            pieces = _markdown(state)
        else:
            pieces = _graph(state, rows, GRAPHS[format], parts)
        if path.is_dir() or not path.name:
            raise InputError(f"export: expected the path of a file, got the folder {path}.")
        with replacing(path) as new, new.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
    return path


def _jsonl(state: UserState, rows: list[Row]) -> Iterator[str]:
    yield json.dumps({"format": FORMAT, "user": state.user}, ensure_ascii=False) + "\n"
    turn_ids = {row.ordinal: row.turn_id for row in rows}  # not the state's: others may have written since it was read
    for row in rows:
        if row.kind != "erased":
            about = turn_ids.get(row.about or 0)
            record = {"kind": row.kind, "at": row.known_at.isoformat(), "turn_id": row.turn_id, "about": about}
            yield json.dumps({key: v for key, v in record.items() if v} | {"body": row.body}, ensure_ascii=False) + "\n"


def _graph(state: UserState, rows: list[Row], format: GraphFormat, parts: Parts) -> Iterator[str]:
    beliefs = state.beliefs
    graph = FactGraph(state.user, ontology_of(beliefs.facts.values(), parts))
    current = list(beliefs.select(now=state.today()))
    quads = to_quads(graph, list(beliefs.facts.values()), current, [*_entries(state.user, rows)])
    yield write_quads(quads, format, graph.prefixes)


def _entries(user: str, rows: list[Row]) -> Iterator[LogEntry]:
    turn_ids = {row.ordinal: row.turn_id for row in rows}
    for row in rows:
        if row.kind == "turn":
            yield LogEntry(kind=row.kind, at=row.known_at, body=row.body, turn=turn_of(row, user))
        elif row.kind != "erased":
            about, changes = turn_ids.get(row.about or 0), [change_from(data) for data in row.body.get("changes", ())]
            yield LogEntry(kind=row.kind, at=row.known_at, body=row.body, about=about, changes=changes)


def _markdown(state: UserState) -> Iterator[str]:
    yield f"{MARKDOWN}{state.user}\n\n"
    for fact in state.beliefs.select(now=state.today()):
        yield f"- {describe(fact)} ({', '.join(fact.turn_ids)})\n"


def is_export(path: Path) -> bool:
    """Tell whether a file is one that `export` wrote and `import_` reads, by its name and its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return path.suffix.lower() in RDF or FORMAT.encode() in file.read(HEAD)


def import_(log: MemoryLog, user: str, path: Path, *, verify: str | Path | None = None) -> int:
    """Read an export; see `Memory.import_`.

    Raises:
        NotFoundError: there is no such file.
        FormatError: the file is no such export, or not signed as it has to be; nothing was read.
        TurnConflictError: a turn is known with another text; the turns before it were read.
    """
    data = _bytes(path)
    if verify is not None:
        require_signed_bytes(path, data, verify)
    rows = _rows(path, data, user)
    return _receive_all(log, user, rows) if log.head(user).received else _restore(log, user, rows)


def _rows(path: Path, data: bytes, user: str) -> list[Row]:
    """Return the rows of an export, numbered from 1. Every one was folded once, so what is stored can be read."""
    if data.startswith(MARKDOWN.encode()):
        message = "expected a Doxa export, got one in Markdown, which is for people; export as jsonl or turtle instead"
        raise FormatError(message, path=str(path))
    read_records = _lines if b'"format"' in data.lstrip().partition(b"\n")[0] else _statements
    rows: list[Row] = []
    state, ordinals = UserState(user=user, dims=1), dict[str, int]()
    for line, said, record in read_records(data, path):
        try:
            row = _row(record, ordinals, ordinal=len(rows) + 1)
            fold_row(state, row)
            require_types(row, state)
        except BROKEN as exc:
            message = f"expected a record of a Doxa export, got {said[:60]!r} ({exc}); nothing was imported"
            raise FormatError(message, path=str(path), line=line) from exc
        rows.append(row)
    return rows


def _lines(data: bytes, path: Path) -> Iterator[tuple[int | None, str, Any]]:
    """Yield the records of a `jsonl` export with their lines."""
    header = False
    for number, line in enumerate(_decoded(data, path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as exc:
            message = f"expected a record of a Doxa export, got {line[:60]!r} ({exc}); nothing was imported"
            raise FormatError(message, path=str(path), line=number) from exc
        if header:
            yield number, line, record
        elif not isinstance(record, dict) or record.get("format") != FORMAT:
            break
        header = True
    if not header:
        raise _not_ours(path)


def _statements(data: bytes, path: Path) -> Iterator[tuple[int | None, str, Any]]:
    """Yield the records of an export in RDF."""
    _decoded(data, path)
    try:
        records = list(entries_of(read_quads(data)))
    except (SyntaxError, ValueError, RecursionError) as exc:
        if isinstance(exc, SyntaxError) and data.lstrip()[:1] not in b"{[":
            message = (
                f"expected a Doxa export (jsonl, or RDF), could not read it: {exc.args[0]}; nothing was imported. To "
                "read a transcript use `doxa ingest`."
            )
            raise FormatError(message, path=str(path), line=exc.lineno) from exc
        detail = f"could not read it: {exc.args[0]}" if isinstance(exc, SyntaxError) else f"this one lacks {exc}"
        raise _not_ours(path, detail) from exc
    for record in records:
        yield None, json.dumps(record, ensure_ascii=False), record


def _not_ours(path: Path, detail: str = "") -> FormatError:
    said = f"; {detail}" if detail else ""
    return FormatError(
        f'expected a Doxa export: a first line with "format": "{FORMAT}", or RDF with meta:format "{FORMAT}"{said}. '
        "To read a transcript use `doxa ingest`.",
        path=str(path),
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as exc:
        raise NotFoundError(f"There is no file {path}.") from exc
    except OSError as exc:
        raise FormatError(f"expected a Doxa export, could not read it: {exc.strerror}", path=str(path)) from exc


def _decoded(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as exc:
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
    """Write the log again into an empty memory, in one transaction; an export may hold nothing."""
    if not rows:
        return 0
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
