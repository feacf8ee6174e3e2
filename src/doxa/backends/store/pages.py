"""The bytes of an SQLite file -> the records in it, whether or not its trees still lead to them.

A file is read as its format says (https://www.sqlite.org/fileformat.html): pages, with those of a write-ahead log in
the place of older ones; in a page the cells that it points to; and, where a page is not what it should be, whatever in
it has the form of a record. Nothing is believed of a record here: who asks compares its digest. The pages of an
encrypted file are opened first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from doxa.backends.store.cipher import PAGE, RESERVED, PageCipher

__all__ = ["Layout", "Pages", "Record", "layouts"]

TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR, TABLE_INTERIOR = 0x0D, 0x0A, 0x02, 0x05
SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)
"""Bytes of a value by its serial type, below the types of blobs and texts."""
Layout = tuple[int, int]
"""The bytes of a page, and how many of them at its end are not SQLite's."""
USUAL: Layout = (4096, 0)
FILE_HEADER, WAL_HEADER, FRAME_HEADER = 100, 32, 24
LEAST_USED = 480
"""Bytes that SQLite uses of a page at least."""
MOST_COLUMNS = 64
MOST_BYTES = 1 << 30
"""Longer than any row may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A row as a file holds it, and the bytes of the file that it takes, from and up to."""

    page: int
    """The number of the page in which it begins."""
    values: tuple[Any, ...]
    spans: tuple[tuple[int, int], ...]
    carved: bool = field(default=False, compare=False)
    """Whether it was found by its form alone, since its page does not lead to it."""


class _BrokenError(Exception):
    """What is read is no record."""


def layouts(path: Path) -> list[Layout]:
    """Return how the pages of a file may be laid out: as it says, which may be damaged, and as they mostly are."""
    with path.open("rb") as file:
        header = file.read(FILE_HEADER)
    size = int.from_bytes(header[16:18], "big")
    size = 65536 if size == 1 else size
    said = (size, *header[20:21])
    known = len(said) == len(USUAL) and 512 <= size <= 65536 and not size & (size - 1) and size - said[1] >= LEAST_USED
    return [said, *([USUAL] if said != USUAL else [])] if known else [USUAL]


class Pages:
    """An SQLite file in memory.

    Args:
        path: the file; a write-ahead log beside it is read as well.
        cipher: what opens its pages, where it is encrypted.
        layout: one of `layouts`; the first of them where none is given. An encrypted file has its own.
    """

    def __init__(self, path: Path, cipher: PageCipher | None = None, layout: Layout | None = None) -> None:
        self._cipher = cipher
        self._data = path.read_bytes()
        self.spoilt: list[int] = []
        """The pages that are not what was encrypted; the words in them that are whole are found all the same."""
        if cipher is not None:
            self._data = self._opened(self._data, cipher)
        self.size, reserved = (PAGE, RESERVED) if cipher is not None else layout or layouts(path)[0]
        self._usable = self.size - reserved
        self._overlay = self._written_ahead(path.with_name(f"{path.name}-wal"))
        self._chained: set[int] = set()

    def __len__(self) -> int:
        return max([-(-len(self._data) // self.size), *self._overlay])

    def records(self) -> Iterator[Record]:
        """Yield every record, those first that a page leads to. Cost: O(bytes), and more for pages that are damaged."""
        doubtful = []
        for number in range(1, len(self) + 1):
            found, whole = self._pointed_to(number)
            yield from found
            if not whole:
                doubtful.append(number)
        for number in doubtful:
            if number not in self._chained:
                yield from self._carved(number)

    def tree(self, root: int) -> set[int]:
        """Return the pages of the table or index that begins at a page, as far as they lead to each other."""
        found = set[int]()
        waiting = [root]
        while waiting:
            number = waiting.pop()
            page = self._page(number) if 0 < number <= len(self) else b""
            if number in found or len(page) < self.size:
                continue
            found.add(number)
            first = FILE_HEADER if number == 1 else 0
            if page[first] in (INDEX_INTERIOR, TABLE_INTERIOR):
                count = int.from_bytes(page[first + 3 : first + 5], "big")
                places = range(first + 12, min(first + 12 + 2 * count, self.size - 1), 2)
                cells = [int.from_bytes(page[place : place + 2], "big") for place in places]
                waiting += [int.from_bytes(page[cell : cell + 4], "big") for cell in [first + 8, *cells]]
        return found

    def _opened(self, data: bytes, cipher: PageCipher) -> bytes:
        pages = []
        for number, start in enumerate(range(0, len(data), PAGE), 1):
            page = data[start : start + PAGE]
            if not cipher.is_whole(number, page):
                self.spoilt.append(number)
            pages.append(cipher.opened(number, page))
        return b"".join(pages)

    def _written_ahead(self, path: Path) -> dict[int, bytes]:
        """Return the pages that a write-ahead log puts in the place of older ones, up to its last whole transaction."""
        log = path.read_bytes() if path.exists() else b""
        order = {0x377F0682: "<u4", 0x377F0683: ">u4"}.get(int.from_bytes(log[:4], "big"))
        if len(log) < WAL_HEADER or order is None or int.from_bytes(log[8:12], "big") != self.size:
            return {}
        sums = _checksum(log[:24], (0, 0), order)
        committed: dict[int, bytes] = {}
        waiting: dict[int, bytes] = {}
        for start in range(WAL_HEADER, len(log) - FRAME_HEADER - self.size + 1, FRAME_HEADER + self.size):
            head, page = log[start : start + FRAME_HEADER], log[start + FRAME_HEADER :][: self.size]
            sums = _checksum(head[:8] + page, sums, order)
            if head[8:16] != log[16:24] or head[16:24] != b"".join(one.to_bytes(4, "big") for one in sums):
                break
            number = int.from_bytes(head[:4], "big")
            waiting[number] = page if self._cipher is None else self._cipher.opened(number, page)
            if any(head[4:8]):
                committed |= waiting
                waiting = {}
        return committed

    def _page(self, number: int) -> bytes:
        if number in self._overlay:
            return self._overlay[number]
        return self._data[(number - 1) * self.size : number * self.size]

    def _at(self, number: int, offset: int) -> int:
        """Return where in the file a byte of a page is; one of the write-ahead log is behind the end of the file."""
        return (number - 1) * self.size + offset + (len(self._data) if number in self._overlay else 0)

    def _pointed_to(self, number: int) -> tuple[list[Record], bool]:
        """Return the records of the cells that a page points to, and whether that is all that is in the page."""
        page = self._page(number)
        first = FILE_HEADER if number == 1 else 0
        if len(page) < self.size:
            return [], False
        if not any(page[first:]):
            return [], True
        kind = page[first]
        if kind == TABLE_INTERIOR:
            return [], True
        if kind not in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR):
            return [], False
        count = int.from_bytes(page[first + 3 : first + 5], "big")
        pointers = first + (12 if kind == INDEX_INTERIOR else 8)
        content = pointers + 2 * count
        places = range(pointers, min(content, self.size - 1), 2)
        offsets = [int.from_bytes(page[place : place + 2], "big") for place in places]
        found, taken = [], 0
        whole = content <= self.size and len({*offsets}) == len(offsets)
        for offset in offsets:
            try:
                record, size = self._cell(number, page, offset, kind)
            except (_BrokenError, IndexError):
                whole = False
                continue
            found.append(record)
            taken += size
        return found, whole and taken + _free(page, first) == self.size - content - (self.size - self._usable)

    def _cell(self, number: int, page: bytes, offset: int, kind: int) -> tuple[Record, int]:
        """Return the record of a cell, and how many bytes of the page the cell takes."""
        start = offset + (4 if kind == INDEX_INTERIOR else 0)
        size, at = _varint(page, start)
        if kind == TABLE_LEAF:
            _, at = _varint(page, at)
        record = self._record(number, page, at, size, of_table=kind == TABLE_LEAF)
        local = self._local(size, of_table=kind == TABLE_LEAF)
        return record, max(4, at - offset + local + (4 if local < size else 0))

    def _local(self, size: int, *, of_table: bool) -> int:
        """Return how much of a record is in its page; the rest is in a chain of others."""
        least = (self._usable - 12) * 32 // 255 - 23
        most = self._usable - 35 if of_table else (self._usable - 12) * 64 // 255 - 23
        if size <= most:
            return size
        share = least + (size - least) % (self._usable - 4)
        return share if share <= most else least

    def _record(
        self, number: int, page: bytes, at: int, size: int | None, *, of_table: bool, carved: bool = False
    ) -> Record:
        """Return the record that begins at a byte of a page; of one that is carved its own head says how long it is."""
        kinds, head = _kinds(page, at)
        length = head + sum(map(_width, kinds))
        if (size is not None and length != size) or length > MOST_BYTES:
            raise _BrokenError
        local = self._local(length, of_table=of_table)
        spans = [(self._at(number, at), self._at(number, at + local))]
        data = [page[at : at + local]]
        if local < length:
            following = int.from_bytes(page[at + local : at + local + 4], "big")
            self._follow(following, length - local, data, spans)
        whole = b"".join(data)
        if len(whole) != length:
            raise _BrokenError
        return Record(page=number, values=_values(whole, head, kinds), spans=tuple(spans), carved=carved)

    def _follow(self, number: int, left: int, data: list[bytes], spans: list[tuple[int, int]]) -> None:
        """Take the rest of a record from the pages of its chain."""
        chain = []
        while left > 0:
            page = self._page(number) if 0 < number <= len(self) else b""
            size = min(left, self._usable - 4)
            if len(page) < 4 + size or number in chain:
                raise _BrokenError
            part = page[4 : 4 + size]
            spans.append((self._at(number, 0), self._at(number, 4 + len(part))))
            data.append(part)
            left -= len(part)
            chain.append(number)
            number = int.from_bytes(page[:4], "big")
        self._chained.update(chain)

    def _carved(self, number: int) -> Iterator[Record]:
        """Yield whatever in a page has the form of a record, with a text as its first value."""
        page = self._page(number)
        found = np.frombuffer(page, np.uint8)
        if len(found) < MOST_COLUMNS:
            return
        starts = (found[:-1] >= 4) & (found[:-1] <= MOST_COLUMNS) & (found[1:] >= 13)
        for at in np.flatnonzero(starts).tolist():
            for of_table in (False, True):
                try:
                    yield self._record(number, page, at, None, of_table=of_table, carved=True)
                except (_BrokenError, IndexError):
                    continue


def _checksum(data: bytes, before: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the running checksum of a write-ahead log."""
    first, second = before
    words = np.frombuffer(data, order).tolist()
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second


def _free(page: bytes, first: int) -> int:
    """Return how many bytes of a page's content are free, by its own account."""
    at = int.from_bytes(page[first + 1 : first + 3], "big")
    begins = int.from_bytes(page[first + 5 : first + 7], "big") or 65536
    head = 12 if page[first] in (INDEX_INTERIOR, TABLE_INTERIOR) else 8
    pointers = first + head + 2 * int.from_bytes(page[first + 3 : first + 5], "big")
    free = page[first + 7] + begins - pointers
    seen = set[int]()
    while at and at not in seen and at + 4 <= len(page):
        seen.add(at)
        free += int.from_bytes(page[at + 2 : at + 4], "big")
        at = int.from_bytes(page[at : at + 2], "big")
    return free


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(9):
        byte = data[at + place]
        if place == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    raise _BrokenError


def _kinds(page: bytes, at: int) -> tuple[list[int], int]:
    """Return the serial types of a record, and the length of its head."""
    head, place = _varint(page, at)
    end = at + head
    if not 2 <= head <= 9 * MOST_COLUMNS or end > len(page):
        raise _BrokenError
    kinds = []
    while place < end:
        kind, place = _varint(page, place)
        if kind in (10, 11):
            raise _BrokenError
        kinds.append(kind)
    if place != end or len(kinds) > MOST_COLUMNS:
        raise _BrokenError
    return kinds, head


def _width(kind: int) -> int:
    return SIZES[kind] if kind < len(SIZES) else (kind - 12) // 2


def _values(data: bytes, at: int, kinds: Sequence[int]) -> tuple[Any, ...]:
    values: list[Any] = []
    for kind in kinds:
        part = data[at : at + _width(kind)]
        at += len(part)
        values.append(_value(kind, part))
    return tuple(values)


def _value(kind: int, data: bytes) -> Any:
    if kind == 0:
        return None
    if kind == 7:
        return float(np.frombuffer(data, ">f8")[0])
    if kind < 7:
        return int.from_bytes(data, "big", signed=True)
    if kind in (8, 9):
        return kind - 8
    if kind % 2 == 0:
        return data
    return data.decode(errors="surrogateescape")  # what is no text is then no text that anybody wrote
