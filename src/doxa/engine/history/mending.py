"""A file that was damaged -> what of it is lost, and a whole file of the rest.

Turns are what counts: they are kept as they were said. What was made of one is made anew where it was damaged; what was
made of a lost one goes with it, so that nothing is believed that no turn says. A turn that a language model had read is
read by what is built in then, and says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from doxa.backends import load
from doxa.backends.store import Row
from doxa.core.config import Config
from doxa.core.damage import FileCheck, LogCheck
from doxa.core.errors import InputError, StoreDamagedError, StoreLockedError
from doxa.engine.history.replay import retell_turns
from doxa.engine.reading.tasks import TaskReaders
from doxa.engine.tasking import task_reader
from doxa.engine.wiring.copies import DAMAGED, MENDED, SQLITE, finish_mending, put_mended
from doxa.engine.wiring.heads import TAUGHT
from doxa.engine.wiring.learned import SNAPSHOTS, folder_of
from doxa.engine.wiring.parts import Parts, wire
from doxa.memory import Maintained, turn_of

__all__ = ["check_file", "mend_file"]

REREAD = "the file was damaged where it was kept how this turn was understood, so it was read again"


def check_file(location: str, config: Config | None = None) -> FileCheck:
    """Return what is wrong with the file of a memory. Nothing is written. Cost: O(bytes), about 20 MB/s.

    Args:
        location: the path of the file.
        config: the settings, for the key of one that is encrypted.

    Raises:
        InputError: it is no file.
        NotFoundError: there is none.
        StoreKeyError: it is encrypted, and not by the key of the settings.
        StoreLockedError: this process has it open; another process may.
    """
    finish_mending(location)
    salvage = load("salvage", f"sql:{location}", key=(config or Config.load()).store.secret())
    return _told(location, salvage, salvage.logs())


def mend_file(location: str, config: Config | None = None) -> FileCheck:
    """Put in the place of a damaged file one that holds all that is whole of it, and keep the damaged one beside it.

    Nobody else may have it open. Cost: that of `check_file`, of writing all rows, and of reading again every turn that
    follows a damaged one.

    Returns:
        What was found. A sound file is left as it is.

    Raises:
        InputError: it is no file, or what an earlier attempt left is in the way.
        NotFoundError: there is none.
        StoreDamagedError: nothing of it is whole; it is left as it is.
        StoreKeyError: it is encrypted, and not by the key of the settings; it is left as it is.
        StoreLockedError: this process has it open, or somebody else is writing it.
        StoreError: the new file cannot be written; the damaged one is left as it is.
    """
    path = Path(location.removeprefix("sqlite:"))
    config = config or Config.load()
    finish_mending(location)
    before = _stamp(path)
    salvage = load("salvage", f"sql:{location}", key=config.store.secret())
    logs = salvage.logs()
    found = _told(location, salvage, logs)
    if found.sound:
        return found
    if not logs:
        raise StoreDamagedError(
            f"Nothing in {path} is whole, so that there is nothing to make a new file of; it was left as it is. "
            "Restore a copy of it.",
            what="all of it",
        )
    new = path.with_name(f"{path.name}{MENDED}")
    for old in (new, *(new.with_name(f"{new.name}{end}") for end in SQLITE)):
        old.unlink(missing_ok=True)  # of an attempt that was cut short
    filled = {scope: replace(log, rows=_filled(log)) for scope, log in logs.items()}
    try:
        salvage.write(new, filled)
        _retell(new, {scope: log for scope, log in logs.items() if log.lost and log.rows}, path, config)
        if _stamp(path) != before:
            raise StoreLockedError(
                f"{path} was written while it was mended; it was left as it is. Close every process that has it open, "
                "and try again."
            )
        kept = _exchanged(path, new)
    finally:
        new.unlink(missing_ok=True)
        shutil.rmtree(f"{new}{SNAPSHOTS}", ignore_errors=True)
    return replace(found, kept=str(kept))


def _told(location: str, salvage: Any, logs: Mapping[str, Any]) -> FileCheck:
    return FileCheck(
        path=location.removeprefix("sqlite:"),
        complaints=tuple(salvage.complaints()),
        damaged=dict(salvage.damaged),
        logs=tuple(_log_told(scope, log) for scope, log in logs.items()),
    )


def _log_told(scope: str, log: Any) -> LogCheck:
    tenant, _, user = scope.partition("/")
    lost, unread = _gaps(log)
    names = {row.ordinal: str(row.turn_id) for row in log.rows}
    return LogCheck(
        tenant=unquote(tenant),
        user=user,
        turns=sum(row.kind == "turn" for row in log.rows),
        lost=tuple(turn_id or f"row {ordinal}" for ordinal, turn_id in sorted(lost.items())),
        unread=tuple(names[ordinal] for ordinal in sorted(unread)),
        changes=max(0, sum(turn_id is None for turn_id in log.lost.values()) - len(unread)),
        disordered=log.disordered,
    )


def _gaps(log: Any) -> tuple[dict[int, str], set[int]]:
    """Return the turns of a log that are lost, with their ids, and those of which is lost how they were understood."""
    turns = {row.ordinal for row in log.rows if row.kind == "turn"}
    about = {row.about for row in log.rows if row.about is not None}
    lost = {ordinal: turn_id for ordinal, turn_id in log.lost.items() if turn_id is not None}
    lost |= dict.fromkeys(about - turns - lost.keys(), "")
    read = {row.about for row in log.rows if row.kind == "maintained"}
    last = max(about, default=0)
    return lost, {ordinal for ordinal in turns - read if ordinal < last} if log.lost else set()


def _filled(log: Any) -> list[Row]:
    """Return the rows of a log with one for each turn that says that nothing was read of it, where that was lost.

    Where anything is lost the last row says that the past was rewritten, to whoever had read the log before.
    """
    rows = {row.ordinal: row for row in log.rows}
    _, unread = _gaps(log)
    read = {row.about: row.ordinal for row in log.rows if row.kind == "maintained" and row.about is not None}
    free = 0
    for ordinal in sorted(unread | read.keys()):
        # Turns are read in their order, so that the place of one is behind those of all before it.
        if ordinal in read:
            free = max(free, read[ordinal])
            continue
        free = max(free, ordinal) + 1
        while free in rows:
            free += 1
        turn = rows[ordinal]
        event = Maintained(about=turn_of(turn, ""), known_at=turn.known_at, degraded=REREAD)
        rows[free] = Row(
            ordinal=free, kind=event.kind, known_at=event.known_at, body=event.body(), about=ordinal, fence=None
        )
    if rows and log.lost:
        last = max(*rows, *log.lost) + 1
        rows[last] = Row(ordinal=last, kind="erased", known_at=datetime.now(UTC), body={})
    return [rows[ordinal] for ordinal in sorted(rows)]


def _retell(path: Path, logs: Mapping[str, Any], of: Path, config: Config) -> None:
    """Make anew what hangs on what is lost of logs; what the users have taught lies beside the file `of`."""
    if not logs:
        return
    parts = wire(str(path), config)
    parts.heads.folder = folder_of(str(of), TAUGHT)
    try:
        for scope, log in logs.items():
            tenant, _, user = scope.partition("/")
            _retell_one(parts.of_tenant(unquote(tenant)), user, log)
    finally:
        parts.close()


def _retell_one(parts: Parts, user: str, log: Any) -> None:
    lost, unread = _gaps(log)
    retell_turns(
        parts.log,
        user,
        after=min([*log.lost, *lost, *unread]) - 1,
        unread=unread,
        parser=parts.parser_of(user),
        context_turns=parts.config.engine.context_turns,
        task_reader=task_reader(TaskReaders.of(parts)),
        trained=parts,
    )


def _stamp(path: Path) -> list[tuple[int, int]]:
    """Return what changes when a file is written."""
    found = []
    for one in (path, path.with_name(f"{path.name}-wal")):
        with suppress(FileNotFoundError):
            told = one.stat()
            found.append((told.st_size, told.st_mtime_ns))
    return found


def _exchanged(path: Path, new: Path) -> Path:
    """Put a file in the place of another, and return where that one lies now."""
    kept = path.with_name(f"{path.name}{DAMAGED}{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    if kept.exists():
        raise InputError(f"{kept} is there already; nothing was exchanged. Try again.")
    put_mended(path, new, kept)
    return kept
