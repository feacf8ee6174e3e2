"""A disk that tears, loses and refuses what SQLite writes: a shim of SQLite's own file layer, loaded into this process.

SQLite writes through tables of functions (`sqlite3_vfs`, `sqlite3_io_methods`). The shim is made of the functions of
the real ones, with those that write, sync, truncate, delete and sleep replaced: so the locks, the shared memory and the
files are SQLite's own, and what reaches a file, and when it is safe there, is decided here.

Source: https://www.sqlite.org/vfs.html, https://www.sqlite.org/c3ref/io_methods.html
"""

from __future__ import annotations

import ctypes
import random
import sqlite3
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Disk", "Watcher", "available"]

OK, IOERR_WRITE, IOERR_FSYNC, IOERR_TRUNCATE, FULL = 0, 778, 1034, 1546, 13
SECTOR = 512
KEPT, TORN = 0.45, 0.6
"""Of writes that are not synced: which share outlives a loss of power, and up to which it is torn; others are lost."""
NAME = b"doxa-simulated"

OPEN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
DELETE = CFUNCTYPE(c_int, c_void_p, c_char_p, c_int)
RANDOMNESS = CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)
SLEEP = CFUNCTYPE(c_int, c_void_p, c_int)
CLOSE = CFUNCTYPE(c_int, c_void_p)
WRITE = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
TRUNCATE = CFUNCTYPE(c_int, c_void_p, c_int64)
SYNC = CFUNCTYPE(c_int, c_void_p, c_int)
METHODS = (
    "close", "read", "write", "truncate", "sync", "size", "lock", "unlock", "reserved", "control", "sector",
    "characteristics", "shm_map", "shm_lock", "shm_barrier", "shm_unmap", "fetch", "unfetch",
)  # fmt: skip


class Vfs(Structure):
    """`sqlite3_vfs`, as far as version 3 goes."""

    _fields_ = [
        ("version", c_int), ("file_size", c_int), ("path_size", c_int), ("next", c_void_p), ("name", c_char_p),
        ("app", c_void_p), ("open", c_void_p), ("delete", c_void_p), ("access", c_void_p), ("full_path", c_void_p),
        ("dl_open", c_void_p), ("dl_error", c_void_p), ("dl_sym", c_void_p), ("dl_close", c_void_p),
        ("randomness", c_void_p), ("sleep", c_void_p), ("time", c_void_p), ("last_error", c_void_p),
        ("time64", c_void_p), ("set_call", c_void_p), ("get_call", c_void_p), ("next_call", c_void_p),
    ]  # fmt: skip


class Methods(Structure):
    """`sqlite3_io_methods`, as far as version 3 goes."""

    _fields_ = [("version", c_int), *((name, c_void_p) for name in METHODS)]


class Watcher(Protocol):
    """Who decides what becomes of a write."""

    def owner(self) -> Any:
        """Return who opens a file at this moment."""

    def may_write(self, owner: Any, path: str, offset: int, size: int, *, grows: bool) -> tuple[int, int]:
        """Return what SQLite is told, and how many of the bytes are written first."""

    def may_sync(self, owner: Any, path: str) -> int:
        """Return what SQLite is told."""

    def is_dead(self, owner: Any) -> bool:
        """Tell whether nothing of what somebody does reaches the disk any more."""

    def slept(self, seconds: float) -> None:
        """Take note that SQLite waits."""


@dataclass(slots=True)
class File:
    """What of a file is safe, and what was written since."""

    durable: bytearray
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Writes at an offset; None for a truncation to it."""
    size: int = 0

    def settle(self) -> None:
        """Take everything for safe."""
        for offset, data in self.pending:
            put(self.durable, offset, data)
        self.pending.clear()


def put(image: bytearray, offset: int, data: bytes | None) -> None:
    """Write to an image of a file, or cut it off."""
    if data is None:
        del image[offset:]
        return
    if len(image) < offset:
        image.extend(bytes(offset - len(image)))
    image[offset : offset + len(data)] = data


def _library() -> ctypes.CDLL:
    import _sqlite3

    return ctypes.CDLL(getattr(_sqlite3, "__file__", None))


def available() -> bool:
    """Tell whether the SQLite that Python uses can be reached, and is not built into it out of sight."""
    try:
        find = _library().sqlite3_vfs_find
    except (AttributeError, OSError):
        return False
    find.restype = c_void_p
    return bool(find(b"unix"))


class Disk:
    """What of the files of one world is safe; while it is open, whatever SQLite opens is on it. One at a time."""

    def __init__(self, watcher: Watcher, *, seed: int) -> None:
        self.watcher = watcher
        self.files: dict[str, File] = {}
        self._shim = _shim()
        self._shim.begin(self, random.Random(seed))

    def close(self) -> None:
        """Give SQLite its own file layer back."""
        self._shim.end()

    def lose_power(self, chance: random.Random) -> dict[str, int]:
        """Leave of what was not synced what chance leaves, torn between sectors; every file has to be closed.

        Returns:
            How many writes were kept, torn and lost.
        """
        counts = {"kept": 0, "torn": 0, "lost": 0}
        for path, file in sorted(self.files.items()):
            for offset, data in file.pending:
                drawn = chance.random()
                if drawn < KEPT:
                    counts["kept"] += 1
                    put(file.durable, offset, data)
                elif drawn < TORN and data is not None and len(data) > SECTOR:
                    counts["torn"] += 1
                    put(file.durable, offset, data[: SECTOR * chance.randrange(1, len(data) // SECTOR + 1)])
                else:
                    counts["lost"] += 1
            if Path(path).exists():
                Path(path).write_bytes(file.durable)
        self.files.clear()
        return counts


@cache
def _shim() -> Shim:
    return Shim()


class Shim:
    """The functions that SQLite calls. Made once and never freed: a connection that was left open may still call them.

    Where no disk is open they do what the real ones do.
    """

    def __init__(self) -> None:
        self._lib = _library()
        self._lib.sqlite3_vfs_find.restype = POINTER(Vfs)
        self._lib.sqlite3_vfs_find.argtypes = [c_char_p]
        self._real = self._lib.sqlite3_vfs_find(b"unix")
        self._disk: Disk | None = None
        self._chance = random.Random(0)
        self._open: dict[int, tuple[Any, str, Disk | None]] = {}
        self._tables: dict[int, Methods] = {}
        self._kept: list[Any] = []
        """Functions that SQLite holds: they must not be collected."""
        self._vfs = self._made()

    def begin(self, disk: Disk, chance: random.Random) -> None:
        """Have everything that is opened from now on be on this disk."""
        self._disk, self._chance = disk, chance
        self._lib.sqlite3_vfs_register(ctypes.byref(self._vfs), 1)
        self._lib.sqlite3_randomness(0, None)  # the next number is drawn anew, from this chance

    def end(self) -> None:
        """Have SQLite use its own functions."""
        self._disk = None
        self._lib.sqlite3_vfs_unregister(ctypes.byref(self._vfs))
        self._lib.sqlite3_vfs_register(self._real, 1)
        self._lib.sqlite3_randomness(0, None)

    def _made(self) -> Vfs:
        vfs, real = Vfs(), self._real.contents
        ctypes.memmove(ctypes.byref(vfs), ctypes.byref(real), ctypes.sizeof(Vfs))
        self._real_open = ctypes.cast(real.open, OPEN)
        self._real_delete = ctypes.cast(real.delete, DELETE)
        vfs.name, vfs.next = NAME, None
        vfs.open = self._kept_as(OPEN(self._opened))
        vfs.delete = self._kept_as(DELETE(self._deleted))
        vfs.randomness = self._kept_as(RANDOMNESS(self._drawn))
        vfs.sleep = self._kept_as(SLEEP(self._slept))
        return vfs

    def _kept_as(self, function: Any) -> Any:
        self._kept.append(function)
        return ctypes.cast(function, c_void_p)

    def _opened(self, _: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        found: int = self._real_open(ctypes.addressof(self._real.contents), name, file, flags, out)
        methods = c_void_p.from_address(file)
        if found != OK or not methods.value:
            return found
        path = ctypes.string_at(name).decode() if name else ""
        disk = self._disk if path else None  # files without a name are scratch
        if disk is not None and path not in disk.files:
            data = Path(path).read_bytes()
            disk.files[path] = File(durable=bytearray(data), size=len(data))
        self._open[file] = (disk.watcher.owner() if disk is not None else None, path, disk)
        methods.value = ctypes.addressof(self._table(methods.value))
        return found

    def _table(self, at: int) -> Methods:
        if at not in self._tables:
            made = Methods.from_buffer_copy((ctypes.c_char * ctypes.sizeof(Methods)).from_address(at))
            close, write = ctypes.cast(made.close, CLOSE), ctypes.cast(made.write, WRITE)
            truncate, sync = ctypes.cast(made.truncate, TRUNCATE), ctypes.cast(made.sync, SYNC)
            made.close = self._kept_as(CLOSE(self._closing(close)))
            made.write = self._kept_as(WRITE(self._writing(write)))
            made.truncate = self._kept_as(TRUNCATE(self._truncating(truncate)))
            made.sync = self._kept_as(SYNC(self._syncing(sync)))
            self._tables[at] = made
        return self._tables[at]

    def _closing(self, real: Callable[[int], int]) -> Callable[[int], int]:
        def close(file: int) -> int:
            self._open.pop(file, None)
            return real(file)

        return close

    def _writing(self, real: Callable[..., int]) -> Callable[..., int]:
        def write(file: int, data: int, size: int, offset: int) -> int:
            owner, path, disk = self._open[file]
            if disk is None or disk is not self._disk:
                return real(file, data, size, offset)
            if disk.watcher.is_dead(owner):
                return IOERR_WRITE
            of = disk.files[path]
            told, size = disk.watcher.may_write(owner, path, offset, size, grows=offset + size > of.size)
            if size:
                of.pending.append((offset, ctypes.string_at(data, size)))
                of.size = max(of.size, offset + size)
                found = real(file, data, size, offset)
                return told or found
            return told

        return write

    def _truncating(self, real: Callable[..., int]) -> Callable[..., int]:
        def truncate(file: int, size: int) -> int:
            owner, path, disk = self._open[file]
            if disk is None or disk is not self._disk:
                return real(file, size)
            if disk.watcher.is_dead(owner):
                return IOERR_TRUNCATE
            of = disk.files[path]
            of.pending.append((size, None))
            of.size = size
            return real(file, size)

        return truncate

    def _syncing(self, real: Callable[..., int]) -> Callable[..., int]:
        def sync(file: int, flags: int) -> int:
            owner, path, disk = self._open[file]
            if disk is None or disk is not self._disk:
                return real(file, flags)
            if disk.watcher.is_dead(owner):
                return IOERR_FSYNC
            told = disk.watcher.may_sync(owner, path)
            if told == OK:  # the real one would take time, and the files are in memory
                disk.files[path].settle()
            return told

        return sync

    def _deleted(self, _: int, name: bytes, synced: int) -> int:
        if (disk := self._disk) is not None:
            if disk.watcher.is_dead(disk.watcher.owner()):
                return IOERR_WRITE
            disk.files.pop(name.decode(), None)
        found: int = self._real_delete(ctypes.addressof(self._real.contents), name, synced)
        return found

    def _drawn(self, _: int, size: int, into: int) -> int:
        ctypes.memmove(into, self._chance.randbytes(size), size)
        return size

    def _slept(self, _: int, micros: int) -> int:
        if self._disk is not None:
            self._disk.watcher.slept(micros / 1e6)
        return micros


assert sqlite3.sqlite_version_info >= (3, 8, 0), "the shapes of the tables above"
