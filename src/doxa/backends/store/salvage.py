"""What a damaged file still holds: rows that are as they were written, and of each log what is missing.

SQLite finds a row by the pages above it, so that one damaged page hides many whole rows. Here every page is looked at
(`pages`), and a row counts that has its digest, wherever it lies. What was erased does not come back: each row of a log
says which one is before it, and what lies between was erased.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from doxa.backends.store import Head, Row
from doxa.backends.store.cipher import PageCipher, errors_of_files, looking
from doxa.backends.store.connect import open_engine, parse_url
from doxa.backends.store.digests import DIGESTED, is_whole, with_digest
from doxa.backends.store.failures import mapped_errors
from doxa.backends.store.files import check_file, require_key
from doxa.backends.store.pages import Layout, Pages, Record, layouts
from doxa.backends.store.schema import answers, events, heads, keys, records, vectors
from doxa.backends.store.server import Server
from doxa.backends.store.sql.bulk import insert_all
from doxa.backends.store.sql.heads import ERASED, head_values, insert_rows
from doxa.backends.store.sql.rows import moment_of, standing
from doxa.core.access import without_password
from doxa.core.errors import InputError, NotFoundError, StoreDamagedError, StoreReadOnlyError
from doxa.core.sealing import MemoryKey

__all__ = ["Log", "Salvage", "open_salvage"]

Values = Mapping[str, Any]
TEXT, NUMBER, BYTES, FLOAT = (str,), (int,), (bytes,), (float, int)
NONE = (type(None),)
LAYOUT: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    events.name: {
        "scope": TEXT,
        "ordinal": NUMBER,
        "kind": TEXT,
        "turn_id": TEXT + NONE,
        "about": NUMBER + NONE,
        "known_at": NUMBER,
        "body": TEXT,
        "fence": NUMBER + NONE,
        "digest": BYTES + NONE,
        "previous": NUMBER + NONE,
    },
    vectors.name: {"scope": TEXT, "ordinal": NUMBER, "model": TEXT, "data": BYTES, "digest": BYTES + NONE},
    answers.name: {"scope": TEXT, "ordinal": NUMBER, "answer_id": TEXT, "body": TEXT, "digest": BYTES + NONE},
    keys.name: {"key_id": TEXT, "body": TEXT, "digest": BYTES + NONE},
    records.name: {
        "scope": TEXT,
        "shelf": TEXT,
        "key": TEXT,
        "body": BYTES,
        "turn_id": TEXT + NONE,
        "digest": BYTES + NONE,
    },
    heads.name: {
        "scope": TEXT,
        "ordinal": NUMBER,
        "state": NUMBER,
        "received": NUMBER,
        "maintained": NUMBER,
        "owner": TEXT + NONE,
        "lease_until": FLOAT + NONE,
        "fence": NUMBER + NONE,
        "failures": NUMBER + NONE,
        "failed_at": FLOAT + NONE,
        "failure": TEXT + NONE,
        "digest": BYTES + NONE,
        "undigested": NUMBER + NONE,
    },
}
"""The columns of each table in the order in which a file has them, which is that of the migrations."""
LEAST = {"events": 7, "vectors": 4, "answers": 4, "keys": 2, "records": 4, "heads": 5}
"""How many columns a row had at first: those that were added later are not in it."""
SCHEMA, TURNS_INDEX = 5, "events_turn"
"""Columns of an entry of the schema, of which the second is the name and the fourth the root; the index of turns."""
TREES = frozenset((*LAYOUT, TURNS_INDEX))
COMPLAINTS = 20
"""How many complaints of SQLite are told at most."""


@dataclass(slots=True)
class Log:
    """What is left of a log."""

    rows: list[Row] = field(default_factory=list)
    """Its whole rows, in order."""
    lost: dict[int, str | None] = field(default_factory=dict)
    """Rows that are missing, by ordinal, with the id of the turn where it was one: there may be more before each."""
    disordered: bool = False
    """Whether it was not written down where it stands, or a turn was taken in twice."""
    answers: list[Values] = field(default_factory=list)
    records: list[Values] = field(default_factory=list)
    vectors: list[Values] = field(default_factory=list)


class Salvage:
    """The rows of a file that are as they were written. The file is read, and never written.

    Cost: O(bytes), about 20 MB/s, some milliseconds for each page that is damaged; the file is in memory.
    """

    def __init__(self, path: Path, key: MemoryKey | None = None, layout: Layout | None = None) -> None:
        self._path = path
        self._key = key
        self._rows: dict[str, dict[tuple[Any, ...], Values]] = {name: {} for name in LAYOUT}
        broken: set[tuple[str, tuple[Any, ...]]] = set()
        unknown: list[Record] = []
        roots: dict[str, int] = {}
        pages = Pages(path, PageCipher.of(path, key) if key is not None else None, layout)
        self._spoilt = pages.spoilt
        for record in pages.records():
            if len(record.values) == SCHEMA and record.values[1] in TREES and isinstance(record.values[3], int):
                roots[record.values[1]] = record.values[3]
            elif not self._take(record, broken):
                unknown.append(record)
        trees = {name: pages.tree(root) for name, root in roots.items()}
        index = trees.pop(TURNS_INDEX, set())
        self._turns = {(one.values[0], one.values[2]): one.values[1] for one in unknown if _is_entry(one, index)}
        led_to = [one.page for one in unknown if not one.carved]
        misshapen = Counter(name for page in led_to for name, tree in trees.items() if page in tree)
        self.damaged: Mapping[str, int] = misshapen + Counter(
            table for table, key in broken if key not in self._rows[table]
        )
        """How many rows there are that are not what was written, by table."""

    @property
    def whole(self) -> int:
        """How many rows there are that are what was written."""
        return sum(map(len, self._rows.values()))

    def complaints(self) -> list[str]:
        """Return what SQLite finds wrong with the file; it does not look into rows."""
        log = self._path.with_name(f"{self._path.name}-wal")
        alone = not log.exists()  # else SQLite would make one
        spoilt = [f"page {number} is not what was encrypted" for number in self._spoilt[:COMPLAINTS]]
        try:
            with looking(self._path, self._key, alone=alone) as connection:
                found = [str(said) for (said,) in connection.execute(f"PRAGMA integrity_check({COMPLAINTS})")]
        except errors_of_files(MemoryError, UnicodeDecodeError) as exc:
            found = [str(exc) or "it cannot be read"]
        return spoilt + ([] if found == ["ok"] else found)

    def logs(self) -> dict[str, Log]:
        """Return what is left of every log and beside it, by scope."""
        parts = {name: _by_scope(self._rows[name].values()) for name in ("events", "vectors", "answers", "records")}
        turns: dict[str, dict[int, str]] = {}
        for (scope, ordinal), turn_id in self._turns.items():
            turns.setdefault(scope, {})[ordinal] = turn_id
        stand = {key[0]: row for key, row in self._rows[heads.name].items() if key[0] != ERASED}
        found = {}
        for scope in sorted({*stand, *turns}.union(*parts.values())):
            head = stand.get(scope)
            rows, lost = _chained(parts["events"].get(scope, []), head, turns.get(scope, {}))
            once: dict[str | int, Row] = {}
            for row in rows:
                once.setdefault(row.turn_id or row.ordinal, row)
            disordered = len(once) < len(rows) or bool(rows and head is None)
            log = Log(rows=[*once.values()], lost=lost, disordered=disordered)
            log.answers, log.records, log.vectors = (
                parts[name].get(scope, []) for name in ("answers", "records", "vectors")
            )
            found[scope] = log
        return found

    def write(self, path: Path, logs: Mapping[str, Log]) -> None:
        """Write a new file that holds some logs, and the API keys.

        Raises:
            InputError: there is such a file.
            StoreError: it cannot be written.
        """
        if path.exists():
            raise InputError(f"{path} is there already and was left as it is; move it away first.")
        engine, end = open_engine(parse_url(str(path)), durability="power", server=Server(), key=self._key)
        try:
            with (
                mapped_errors(str(path)),
                engine.connect().execution_options(write=True) as connection,
                connection.begin(),
            ):
                for scope, log in logs.items():
                    _put(connection, scope, log)
                insert_all(connection, keys, map(_again(keys), self._rows[keys.name].values()))
                self._put_mark(connection, logs)
        finally:
            end()

    def _put_mark(self, connection: sa.Connection, logs: Mapping[str, Log]) -> None:
        """Have new logs begin behind all that was erased."""
        mark = self._rows[heads.name].get((ERASED,))
        if mark is None:
            if not self.damaged and not any(log.lost for log in logs.values()):
                return
            # It may be what was lost: behind every row that is known is behind every row that was erased and is not.
            mark = {"ordinal": max((log.rows[-1].ordinal for log in logs.values() if log.rows), default=0)}
        connection.execute(sa.insert(heads).values(head_values(ERASED, Head(ordinal=mark["ordinal"]))))

    def _take(self, record: Record, broken: set[tuple[str, tuple[Any, ...]]]) -> bool:
        """Take a record in if it is a row, and tell whether it is."""
        found = _row_in(record.values)
        if found is None:
            return False
        table, values, whole = found
        key = tuple(values[column.name] for column in _TABLES[table].primary_key)
        if not whole:
            if not record.carved:
                broken.add((table, key))
        elif key not in self._rows[table] or not record.carved:
            self._rows[table][key] = values
        return True


def open_salvage(location: str, *, key: MemoryKey | None = None) -> Salvage:
    """Return what a damaged file still holds.

    Raises:
        StoreForeignError: nothing in it is ours, and it is no memory.
        StoreKeyError: it is encrypted, and the key opens no page of it.
        StoreLockedError: this process has it open.
        InputError: it is no file.
        NotFoundError: there is none.
    """
    url = parse_url(location)
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        given = without_password(location)
        raise InputError(f"Expected the path of a memory file, got {given!r}. A server checks its own files.")
    path = Path(str(url.database))
    if not path.is_file():
        raise NotFoundError(f"There is no memory at {path}.")
    if path.stat().st_size:
        require_key(path, key)
    read = (Salvage(path, key, layout) for layout in (layouts(path) if key is None else [None]))
    found = max(read, key=lambda one: one.whole)
    if not found.whole:
        with suppress(StoreDamagedError, StoreReadOnlyError):
            check_file(path, key)
    return found


_TABLES: Mapping[str, sa.Table] = {table.name: table for table in (events, vectors, answers, keys, records, heads)}


def _row_in(values: tuple[Any, ...]) -> tuple[str, Values, bool] | None:
    """Return the table of a record, its columns, and whether it is what was written; None for no row of ours."""
    fitting: tuple[str, Values, bool] | None = None
    for table, columns in LAYOUT.items():
        if not LEAST[table] <= len(values) <= len(columns):
            continue
        row = dict.fromkeys(columns, None) | dict(zip(columns, values, strict=False))
        if all(type(row[name]) in kinds for name, kinds in columns.items()):
            digest = row["digest"]
            if is_whole([row[name] for name in DIGESTED[table]], digest, may_lack=_can_be_read(table, row)):
                return table, row, True
            fitting = fitting or (table, row, False)
    return fitting


def _is_entry(record: Record, tree: set[int]) -> bool:
    """Tell whether a record is an entry (scope, id, ordinal) of the index of turns, which lies in these pages."""
    return record.page in tree and list(map(type, record.values)) == [str, str, int]


def _can_be_read(table: str, row: Values) -> bool:
    """Tell whether a row without a digest may be what was written."""
    try:
        "".join(one for one in row.values() if isinstance(one, str)).encode()
        if not isinstance(row.get("body"), str):
            return True
        if table == events.name:
            moment_of(row["known_at"])
        return isinstance(json.loads(row["body"]), dict)
    except (ValueError, OverflowError, RecursionError):
        return False


def _by_scope(rows: Iterable[Values]) -> dict[str, list[Values]]:
    found: dict[str, list[Values]] = {}
    for row in rows:
        found.setdefault(row["scope"], []).append(row)
    return found


def _chained(
    rows: Iterable[Values], head: Values | None, turns: Mapping[int, str]
) -> tuple[list[Row], dict[int, str | None]]:
    """Return the rows of a log that follow each other, and those that are missing between them."""
    undigested = head["undigested"] if head is not None else None
    kept: list[Row] = []
    lost: dict[int, str | None] = {}
    awaited = head["ordinal"] if head is not None else None
    for row in sorted(rows, key=lambda row: -int(row["ordinal"])):
        ordinal = row["ordinal"]
        if row["digest"] is None and undigested is not None and ordinal > undigested:
            continue
        if awaited is not None and ordinal > awaited:
            continue  # it was erased
        if awaited is not None and ordinal < awaited:
            lost |= _missing(awaited, ordinal, turns)
        kept.append(_row(row))
        awaited = row["previous"]
    if awaited:
        lost |= _missing(awaited, 0, turns)
    if undigested != 0:  # no row of that time says which one is before it, and no head how far the log goes
        there = {row.ordinal for row in kept}
        lost |= {ordinal: turn_id for ordinal, turn_id in turns.items() if ordinal not in there}
    return kept[::-1], lost


def _missing(last: int, before: int, turns: Mapping[int, str]) -> dict[int, str | None]:
    """Return the rows that are known to be missing up to a row, behind one that is there."""
    between: dict[int, str | None] = {o: turn_id for o, turn_id in turns.items() if before < o <= last}
    return {last: None} | between


def _row(row: Values) -> Row:
    return Row(
        ordinal=row["ordinal"],
        kind=row["kind"],
        turn_id=row["turn_id"],
        about=row["about"],
        known_at=moment_of(row["known_at"]),
        body=json.loads(row["body"]),
        fence=row["fence"],
    )


def _put(connection: sa.Connection, scope: str, log: Log) -> None:
    if log.rows:
        insert_rows(connection, scope, log.rows, previous=0)
        stands = standing(log.rows)
        connection.execute(sa.insert(heads).values(head_values(scope, stands) | {"fence": stands.fence}))
    turns = {row.ordinal for row in log.rows if row.turn_id is not None}
    insert_all(connection, vectors, (_again(vectors)(one) for one in log.vectors if one["ordinal"] in turns))
    for table, some in ((answers, log.answers), (records, log.records)):
        insert_all(connection, table, map(_again(table), some))


def _again(table: sa.Table) -> Any:
    """Return what gives the columns of a row as they are written anew."""
    names = DIGESTED[table.name]
    return lambda row: with_digest(table, {name: row[name] for name in names})
