"""A memory file under one key, or none -> the same under another one, or none, with the files beside it.

The new file is made beside the old one, by writing every row anew, and compared with it by digest. Until it takes the
place of the old one, in one step, nothing of that is touched. The files beside it take theirs right after; where that
is cut short the next one to open the memory goes on with it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from doxa.backends import load
from doxa.core.access import without_password
from doxa.core.config import Config
from doxa.core.errors import InputError, StoreError, StoreKeyError, StoreReadOnlyError
from doxa.core.migration import Rekeyed
from doxa.core.private import private_file, private_folder
from doxa.core.sealing import MemoryKey, Seal, unsealed
from doxa.core.storage import database_file
from doxa.engine.wiring.learned import SNAPSHOTS
from doxa.engine.wiring.sealed import BEGUN, BESIDE, DATABASE, DEAD, STAGED, finish_rekeying, overwritten, seal_of
from doxa.understand import reseal_marks

__all__ = ["rekey"]

Told = Callable[[str, int, int], None]
MARKS, UNDONE = ".jsonl", ".part"
"""Endings of files of marks, and of those whose writing was cut short, which are not carried over."""
SQLITE = ("-wal", "-shm", "-journal")


def rekey(
    location: str,
    new: MemoryKey | None,
    *,
    config: Config | None = None,
    told: Told = lambda step, done, whole: None,
) -> Rekeyed:
    """Encrypt a memory file and what is beside it by another key; without one, write it unencrypted.

    Nobody else may have it open. What it was before is overwritten once, and gone.

    Args:
        location: the path of the file.
        new: the key that it gets; None for none.
        config: the settings: `store.key` is the key that it has; a file that is not encrypted needs none.
        told: hears how far it is.

    Returns:
        What became of it. Cost: O(rows), twice read and once written; the room of a second file.

    Raises:
        InputError: it is no file, or not encrypted and there is no key.
        NotFoundError: there is none.
        StoreKeyError: it, or a file beside it, is encrypted, and not by the key of the settings; nothing was changed.
        StoreLockedError: somebody has it open; nothing was changed.
        StoreDamagedError: something in it is not what was written; nothing was changed.
        StoreError: the new files cannot be written; nothing was changed.
        MissingDependencyError: the extra `encrypted` is not installed.
    """
    path = _file_at(location)
    finish_rekeying(str(path))
    old = (config or Config.load()).store.secret()
    with closing(load("hold", f"sql:{path}", key=old)) as hold:
        old = old if hold.salt is not None else None
        if old is None and new is None:
            raise InputError(f"{path} is not encrypted; it was left as it is. Give a key to encrypt it by.")
        folder = _begun(path)
        try:
            rows, carried = _made(path, folder, old, new, told)
        except (Exception, KeyboardInterrupt):
            shutil.rmtree(folder, ignore_errors=True)  # it may not be encrypted
            raise
        _exchange(folder, path)
    finish_rekeying(str(path))
    return Rekeyed(
        path=str(path), was_encrypted=old is not None, encrypted=new is not None, rows=rows, files=carried,
        untouched=tuple(_others(path)),
    )  # fmt: skip


def _file_at(location: str) -> Path:
    if not (file := database_file(location)):
        raise InputError(f"Expected the path of a memory file, got {without_password(location)!r}.")
    return Path(file)


def _begun(path: Path) -> Path:
    """Return a new, empty folder for the files; what attempts have left that were cut short is removed."""
    left, dead, folder = (Path(f"{path}{ending}") for ending in (STAGED, DEAD, BEGUN))
    try:
        if left.exists():
            left.rename(dead)  # in one step: a folder without the database would be taken for the end of an exchange
        for old in (dead, folder):
            if old.exists():
                shutil.rmtree(old)
        return private_folder(folder)
    except OSError as exc:
        raise StoreReadOnlyError(f"{folder} cannot be made: {exc.strerror}. Nothing was changed.") from exc


def _made(path: Path, folder: Path, old: MemoryKey | None, new: MemoryKey | None, told: Told) -> tuple[int, int]:
    """Make the new files in a folder; returns how many rows are in the database, and how many files are beside it."""
    rows = _copied(path, folder / DATABASE, old, new, told)
    with closing(load("hold", f"sql:{folder / DATABASE}", key=new)) as made:  # so that all of it is in the one file
        salt = made.salt
    return rows, _carried(path, folder, seal_of(old, None), seal_of(new, salt))


def _copied(path: Path, to: Path, old: MemoryKey | None, new: MemoryKey | None, told: Told) -> int:
    """Write all rows to a new file, then open it anew and compare them; returns how many there are."""
    rows = 0
    for step, only_compare in (("rows written", False), ("rows compared", True)):
        transfer = load(
            "transfer", f"sql:{path}", target=str(to), only_compare=only_compare, durability="power", key=old,
            target_key=new, held=True,
        )  # fmt: skip
        with closing(transfer):
            scopes: dict[str, int] = transfer.scopes()
            moved = [transfer.compare_erasures() if only_compare else transfer.move_erasures()]
            for done, scope in enumerate(scopes):
                told(step, done, len(scopes))
                moved.append(transfer.compare(scope) if only_compare else transfer.move(scope))
            moved.append(transfer.compare_keys() if only_compare else transfer.move_keys())
            told(step, len(scopes), len(scopes))
        rows = sum(one.rows for one in moved)
        if any(one.state not in ("copied", "same") for one in moved):
            raise StoreError(
                f"{path} was written anew and read back as something else; it was left as it is. See whether the disk "
                "can be trusted, and try again."
            )
    return rows


def _carried(path: Path, folder: Path, old: Seal | None, new: Seal | None) -> int:
    """Write what was learned and marked under the new key; returns how many files there are."""
    count = 0
    for file, to in _beside(path, folder):
        try:
            private_folder(to.parent)
            private_file(to)
            if file.suffix == MARKS:
                reseal_marks(file, to, old=old, new=new)
            else:
                content = unsealed(file.read_bytes(), "learned", old)
                to.write_bytes(new.closed(content, "learned") if new is not None and content else content)
            shutil.copymode(file, to)
            _settle(to)
        except StoreKeyError as exc:
            raise StoreKeyError(f"{file}: {exc}. Nothing was changed; move it away, or give its key.") from exc
        except OSError as exc:
            raise StoreReadOnlyError(f"{file} cannot be carried over: {exc}. Nothing was changed.") from exc
        count += 1
    return count


def _beside(path: Path, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each file beside a database with its place in a folder."""
    for ending in BESIDE:
        here = Path(f"{path}{ending}")
        for file in sorted(here.rglob("*")):
            if file.suffix == UNDONE:
                file.unlink(missing_ok=True)
            elif file.is_file():
                yield file, folder / ending / file.relative_to(here)


def _exchange(folder: Path, path: Path) -> None:
    """Put the new file in the place of the old one: from here on the memory is under the new key.

    The old one is overwritten while it is held, so that whoever waits for it finds no memory, and writes nothing to it.
    """
    ready = Path(f"{path}{STAGED}")
    try:
        shutil.copymode(path, folder / DATABASE)
        _settle(folder / DATABASE)
        _settle(folder)
        folder.rename(ready)
        with path.open("r+b") as old:
            (ready / DATABASE).replace(path)
            _settle(path.parent)
            overwritten(old)
    except OSError as exc:
        raise StoreReadOnlyError(f"{path} cannot be replaced: {exc.strerror}. Try again.") from exc


def _settle(path: Path) -> None:
    """Have a file, or the names in a folder, outlive a power loss, where the system can say so."""
    with suppress(PermissionError):  # Windows opens no folder
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _others(path: Path) -> Iterator[str]:
    """Yield what else lies beside a file under its name: a copy that was kept, or one that somebody made."""
    ours = {path.name, *(f"{path.name}{end}" for end in (*SQLITE, *BESIDE, SNAPSHOTS, STAGED, BEGUN))}
    yield from sorted(str(one) for one in path.parent.glob(f"{path.name}*") if one.name not in ours)
