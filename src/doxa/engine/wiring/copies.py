"""Whole copies of a memory beside its file, that mending it or a change of its key left which was cut short."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from doxa.core.errors import StoreReadOnlyError
from doxa.core.storage import MEMORY, database_file
from doxa.engine.wiring.learned import SNAPSHOTS
from doxa.engine.wiring.sealed import BEGUN, DATABASE, DEAD, STAGED, overwritten

__all__ = ["DAMAGED", "MENDED", "SQLITE", "drop_copies", "finish_mending", "put_mended"]

MENDED, DAMAGED = ".mended", ".damaged-"
"""The ending of a file that is being mended, and what stands between the name of one that was and the time."""
SQLITE = ("-wal", "-shm")
"""What SQLite keeps beside a file, by the end of its name."""


def finish_mending(location: str) -> None:
    """Put a mended file in its place, where whoever was doing that was killed when the damaged one was out of it.

    Cost: one look at whether there is a file.

    Raises:
        StoreReadOnlyError: it cannot be put there.
    """
    file = database_file(location)
    if file in (None, "", MEMORY) or Path(str(file)).exists():
        return
    path, new = Path(str(file)), Path(f"{file}{MENDED}")
    kept = max(path.parent.glob(f"{path.name}{DAMAGED}*Z"), default=None)
    if kept is None or not new.exists():
        return
    try:
        made = new.stat().st_mtime_ns
        for end in SQLITE:
            side = path.with_name(f"{path.name}{end}")
            with suppress(FileNotFoundError):
                if side.stat().st_mtime_ns <= made:  # else another process has the mended one open
                    side.rename(kept.with_name(f"{kept.name}{end}"))
        shutil.rmtree(f"{path}{SNAPSHOTS}", ignore_errors=True)
        new.rename(path)
    except FileNotFoundError:  # another process has put it there
        return
    except OSError as exc:
        raise StoreReadOnlyError(f"{new} cannot take its place as {path}: {exc.strerror}. Move it there.") from exc


def put_mended(path: Path, new: Path, kept: Path) -> None:
    """Have a damaged file lie at another place, with what SQLite keeps beside it, and a new one in its own."""
    for end in ("", *SQLITE):
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}{end}").rename(kept.with_name(f"{kept.name}{end}"))
    new.rename(path)
    shutil.rmtree(f"{path}{SNAPSHOTS}", ignore_errors=True)  # made from the log, and made anew


def drop_copies(location: str) -> None:
    """Remove copies that were left, each written over first; those that are to take their places stay.

    Nobody makes one while the memory is open: to change its key takes that nobody has it open, and what is mended while
    it is written is thrown away.
    """
    file = database_file(location)
    if file in (None, "", MEMORY):
        return
    for end in (BEGUN, DEAD, STAGED, MENDED, f"{MENDED}{SNAPSHOTS}", *(f"{MENDED}{end}" for end in SQLITE)):
        left = Path(f"{file}{end}")
        if left.is_dir() and (end != STAGED or (left / DATABASE).exists()):
            for one in left.rglob("*"):
                _remove(one)
            shutil.rmtree(left, ignore_errors=True)
        else:
            _remove(left)


def _remove(path: Path) -> None:
    if path.is_file():
        with suppress(FileNotFoundError), path.open("r+b") as opened:
            overwritten(opened)
            path.unlink()
