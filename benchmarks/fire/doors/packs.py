"""Files that are read in place or whole: snapshots of a memory, and arrays that were learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from struct import pack, unpack_from
from tempfile import mkdtemp
from typing import Any
from zlib import crc32

import msgspec
import numpy as np

from doors.base import ours
from doors.rows import BROKEN, folded, told_rows
from doxa.memory import UserState, load_arrays, save_arrays
from doxa.memory.paged import Pack, write_pack

__all__ = ["Arrays", "Snapshots"]

END, BLOCK = 28, 1 << 16
"""Bytes behind the table of contents, and under one checksum."""
FORGED = (*BROKEN, ArithmeticError, LookupError, AssertionError, BufferError, MemoryError, msgspec.MsgspecError)
"""What a file may raise whose checksums fit bytes that nobody wrote: whoever can make one can write the log as well."""


class Snapshots:
    """The fold of a log in a file; what has no end gets one, and checksums that fit, so that what is in it is read."""

    words: Sequence[str] = ("turns", "beliefs", "facts", ".bounds", ".data", "<i8", "about", "sections", "crcs")

    def __init__(self, models: bool) -> None:
        """Open it: a folder with some snapshots."""
        self._folder = Path(mkdtemp(prefix="fuzz-"))
        states = [folded(group)[0] for group in told_rows()[1][:3]]
        wholes = [self._written(state) for state in states]
        parts = [apart(data) for data in wholes]
        self._contents = parts[0][1]
        self.seeds: Sequence[bytes] = [
            *wholes,
            *(body for body, _ in parts),
            *(b"DoxaPack" + body for body, _ in parts),
        ]

    def _written(self, state: UserState) -> bytes:
        path = self._folder / "a.fold"
        with write_pack(path, {"format": 1, "ordinal": state.ordinal, "last": b"x"}) as writer:
            state.save(writer)
        return path.read_bytes()

    def __call__(self, data: bytes) -> None:
        path = self._folder / "b.fold"
        whole = not data.endswith(b"DoxaPack", -END, -END + 8)
        path.write_bytes(sealed(data.removeprefix(b"DoxaPack"), self._contents) if whole else data)
        try:
            with ours(), suppress(*(FORGED if whole else ())):
                looked_at(Pack.open(path))
        finally:
            path.unlink()

    def close(self) -> None:
        """Remove the folder."""
        rmtree(self._folder)


def apart(data: bytes) -> tuple[bytes, dict[str, Any]]:
    """Return what a pack holds, and its table of contents."""
    start, size = unpack_from("<QQ", data, len(data) - 20)
    return data[:start], msgspec.msgpack.decode(data[start : start + size])


def looked_at(found: Pack) -> None:
    """Read all of a snapshot."""
    found.verify()
    state = UserState(user="ana", dims=1)
    state.load(found)
    list(state.beliefs.select(current=False)), list(state.beliefs.changes), state.counts(), list(state.received())
    state.tasks.snapshot().state()


def sealed(body: bytes, contents: Mapping[str, Any]) -> bytes:
    """Return a pack of these bytes, with a table of contents whose checksums fit them."""
    crcs = [crc32(body[at : at + BLOCK]) for at in range(0, len(body), BLOCK)]
    table = msgspec.msgpack.encode({**contents, "crcs": np.array(crcs, "<u4").tobytes()})
    return body + table + pack("<8sQQI", b"DoxaPack", len(body), len(table), crc32(table))


class Arrays:
    """A file of learned arrays."""

    words: Sequence[str] = ("format", "checksum", ".npy", "PK\x03\x04", "{'descr': '<f4'", "|O", "<U9")

    def __init__(self, models: bool) -> None:
        """Open it: a folder with one such file."""
        self._path = Path(mkdtemp(prefix="fuzz-")) / "a.npz"
        save_arrays(
            {"format": np.array("x/1"), "weights": np.ones(8, np.float32), "names": np.array(["a"])}, self._path
        )
        self.seeds: Sequence[bytes] = [self._path.read_bytes()]

    def __call__(self, data: bytes) -> None:
        self._path.write_bytes(data)
        with ours():
            load_arrays(self._path, format="x/1", what="weights", missing="none", again="again")

    def close(self) -> None:
        """Remove the file."""
        rmtree(self._path.parent)
