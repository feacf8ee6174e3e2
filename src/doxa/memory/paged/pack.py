"""A file of named arrays, texts and values that is read in place: what is not looked at is not loaded.

Every 64 KiB of it carry a checksum, which is compared when they are first looked at, so that damage is found without
reading the whole file when it is opened. A file is written once and never changed. One that is encrypted is read into
memory whole.
"""

from __future__ import annotations

import io
import mmap
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zlib import crc32

import msgspec
import numpy as np
from numpy.typing import NDArray

from doxa.core.errors import PackError, StoreKeyError
from doxa.core.sealing import Seal, is_sealed, unsealed
from doxa.memory.files import replacing

__all__ = ["Pack", "PackWriter", "write_pack"]

MAGIC = b"DoxaPack"
BLOCK = 1 << 16
"""Bytes under one checksum."""
ALIGNED = 64
END = np.dtype([("magic", "S8"), ("start", "<u8"), ("size", "<u8"), ("crc", "<u4")])
"""The last bytes of a file: where its table of contents is."""

Buffer = bytes | memoryview

if TYPE_CHECKING:
    Integers = array[int]  # what `array` is not at run time before Python 3.12


class PackWriter:
    """Writes a pack section by section; nothing is held but what is being written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._at = 0
        self._crc = 0
        self._crcs: list[int] = []
        self._sections: dict[str, tuple[int, int, str, tuple[int, ...]]] = {}

    def array(self, name: str, *parts: NDArray[Any]) -> None:
        """Write arrays of one type as one, joined on their first axis."""
        given = [np.ascontiguousarray(part) for part in parts]
        rows = sum(len(part) for part in given)
        self._align()
        start = self._at
        for part in given:
            self._write(part.data.cast("B") if part.size else b"")
        shape = (rows, *given[0].shape[1:])
        self._sections[name] = (start, self._at - start, given[0].dtype.str, shape)

    def blob(self, name: str, parts: Iterable[Buffer]) -> None:
        """Write bytes."""
        self._align()
        start = self._at
        for part in parts:
            self._write(part)
        self._sections[name] = (start, self._at - start, "", ())

    def value(self, name: str, value: Any) -> None:
        """Write plain data: what JSON can say, and bytes."""
        self.blob(name, [msgspec.msgpack.encode(value)])

    def carry(self, pack: Pack, prefix: str) -> None:
        """Write the sections of another pack whose names begin so, as they are."""
        for name in pack._numbers:
            if name.startswith(prefix):
                self.blob(name, [pack.blob(name)])
                start, size, _, _ = self._sections[name]
                self._sections[name] = (start, size, *pack._section(name)[2:])

    def close(self, about: Mapping[str, Any]) -> None:
        """Write the table of contents; `about` is plain data that says what the pack is."""
        self._align()
        if self._at % BLOCK:
            self._crcs.append(self._crc)
        contents = msgspec.msgpack.encode(
            {"about": dict(about), "sections": self._sections, "crcs": np.array(self._crcs, "<u4").tobytes()}
        )
        self._file.write(contents)
        self._file.write(np.array([(MAGIC, self._at, len(contents), crc32(contents))], END).tobytes())

    def _align(self) -> None:
        if self._at % ALIGNED:
            self._write(bytes(ALIGNED - self._at % ALIGNED))

    def _write(self, data: Buffer) -> None:
        self._file.write(data)
        view, start = memoryview(data), 0
        while start < len(view):
            part = view[start : start + BLOCK - self._at % BLOCK]
            self._crc = crc32(part, self._crc)
            self._at += len(part)
            start += len(part)
            if self._at % BLOCK == 0:
                self._crcs.append(self._crc)
                self._crc = 0


class Pack:
    """A pack that is open. Arrays and views stay good as long as they are held, whatever becomes of the file.

    Raises:
        PackError: it is no whole pack; reading may raise it later, where a part that is looked at is damaged.
    """

    def __init__(self, data: Buffer | mmap.mmap, *, where: str = "a pack") -> None:
        self._view = memoryview(data)
        self._where = where
        if len(self._view) < END.itemsize:
            raise self._damaged("it is too short")
        (end,) = np.frombuffer(self._view[-END.itemsize :], END)
        start, size = int(end["start"]), int(end["size"])
        contents = self._view[start : start + size]
        if end["magic"] != MAGIC or crc32(contents) != end["crc"]:
            raise self._damaged("its end is missing or damaged")
        told = msgspec.msgpack.decode(contents)
        self.about: Mapping[str, Any] = told["about"]
        """What the pack is, as its writer said."""
        sections: Mapping[str, list[Any]] = told["sections"]
        starts, sizes, kinds, shapes = zip(*sections.values(), strict=True) if sections else ((), (), (), ())
        self._numbers, self._kinds = _layout(tuple(sections), kinds)
        self._spans = array("q", (*starts, *sizes, *(shape[0] if shape else -1 for shape in shapes)))
        """Where each section starts, how many bytes it has, and its rows where it is an array."""
        self._shapes = {at: tuple(shape) for at, shape in enumerate(shapes) if len(shape) > 1}
        self._crcs = np.frombuffer(told["crcs"], "<u4")
        self._seen = bytearray(len(self._crcs))
        self._size = start

    @classmethod
    def open(cls, path: Path, seal: Seal | None = None) -> Pack:
        """Return the pack of a file; none of it is read but its end. See `Pack` for what is raised.

        With a seal it has to be encrypted, and all of it is read.

        Raises:
            OSError: it cannot be read.
        """
        if seal is not None:
            data = path.read_bytes()
            if not is_sealed(data):
                raise PackError(f"{path}: expected an encrypted pack, got one that is not.")
            try:
                return cls(unsealed(data, "snapshot", seal), where=str(path))
            except StoreKeyError as exc:
                raise PackError(f"{path}: {exc}.") from exc
        with path.open("rb") as file:
            try:
                return cls(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), where=str(path))
            except ValueError as exc:  # an empty file
                raise PackError(f"{path}: expected a pack, got nothing ({exc}).") from exc

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def length(self, name: str) -> int:
        """Return how many rows an array has; nothing of it is read."""
        return int(self._section(name)[3][0])

    @property
    def nbytes(self) -> int:
        """Bytes of all sections."""
        return self._size

    def array(self, name: str) -> NDArray[Any]:
        """Return an array in place, read-only, once all of it was checked."""
        start, size, kind, shape = self._section(name)
        self._check(start, start + size)
        return np.frombuffer(self._view[start : start + size], kind).reshape(shape)

    def numbers(self, name: str) -> Integers:
        """Return an array of 64-bit numbers as one that may grow, once all of it was checked."""
        return array("q", self.array(name).tobytes())

    def rows(self, name: str) -> NDArray[Any]:
        """Return an array in place, read-only and unchecked: pass the rows that are used to `checked`."""
        start, size, kind, shape = self._section(name)
        return np.frombuffer(self._view[start : start + size], kind).reshape(shape)

    def checked(self, name: str, first: int, last: int) -> None:
        """Compare the checksums of some rows of an array, from `first` up to `last`, which is not included."""
        start, _, kind, shape = self._section(name)
        size = np.dtype(kind).itemsize * int(np.prod(shape[1:], dtype=np.int64))
        self._check(start + first * size, start + last * size)

    def checked_at(self, name: str, rows: NDArray[np.integer[Any]]) -> None:
        """Compare the checksums of rows here and there; those that were compared before cost some microseconds."""
        start, _, kind, shape = self._section(name)
        size = np.dtype(kind).itemsize * int(np.prod(shape[1:], dtype=np.int64))
        first = (start + rows.astype(np.int64) * size) // BLOCK
        last = (start + (rows.astype(np.int64) + 1) * size - 1) // BLOCK
        blocks = np.unique(np.concatenate([first, last]))
        seen = np.frombuffer(self._seen, np.uint8)
        for number in blocks[seen[blocks] == 0].tolist():
            self._check(number * BLOCK, number * BLOCK + 1)

    def read(self, name: str, start: int, stop: int) -> memoryview:
        """Return some of the bytes of a blob, once they were checked."""
        first, size, _, _ = self._section(name)
        if not 0 <= start <= stop <= size:
            raise self._damaged(f"{name} ends before {stop}")
        self._check(first + start, first + stop)
        return self._view[first + start : first + stop]

    def blob(self, name: str) -> memoryview:
        """Return all bytes of a blob."""
        return self.read(name, 0, self._section(name)[1])

    def value(self, name: str) -> Any:
        """Return plain data; tuples come back as lists."""
        return msgspec.msgpack.decode(self.blob(name))

    def verify(self) -> None:
        """Compare every checksum. Cost O(its bytes)."""
        self._check(0, self._size)

    def _section(self, name: str) -> tuple[int, int, str, tuple[int, ...]]:
        if (number := self._numbers.get(name)) is None:
            raise self._damaged(f"there is no {name} in it")
        count = len(self._kinds)
        start, size, rows = self._spans[number::count]
        return start, size, self._kinds[number], self._shapes.get(number, () if rows < 0 else (rows,))

    def _check(self, start: int, stop: int) -> None:
        seen = self._seen
        for number in range(start // BLOCK, -(-stop // BLOCK)):
            if not seen[number]:
                if crc32(self._view[number * BLOCK : min((number + 1) * BLOCK, self._size)]) != self._crcs[number]:
                    raise self._damaged(f"the bytes from {number * BLOCK} on are not what was written")
                seen[number] = 1

    def _damaged(self, why: str) -> PackError:
        return PackError(f"{self._where}: expected a pack, but {why}.")


@lru_cache(maxsize=256)
def _layout(names: tuple[str, ...], kinds: tuple[str, ...]) -> tuple[Mapping[str, int], tuple[str, ...]]:
    """Return what the contents of many packs have in common, once for all of them."""
    return {name: number for number, name in enumerate(names)}, kinds


@contextmanager
def write_pack(path: Path, about: Mapping[str, Any], seal: Seal | None = None) -> Iterator[PackWriter]:
    """Give what writes a pack, which takes the place of `path` in the end; see `PackWriter.close` for `about`.

    With a seal it is encrypted; it is then in memory until it is whole.

    Raises:
        StoreReadOnlyError: the file cannot be written; the old one stays.
    """
    whole = io.BytesIO()
    with replacing(path) as temporary:
        with nullcontext(whole) if seal is not None else temporary.open("wb", buffering=1 << 20) as file:
            writer = PackWriter(file)
            yield writer
            writer.close(about)
        if seal is not None:
            temporary.write_bytes(seal.closed(whole.getvalue(), "snapshot"))
