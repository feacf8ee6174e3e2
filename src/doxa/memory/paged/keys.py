"""Names with a number each, in the order in which they came."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from sys import intern

import numpy as np

from doxa.memory.paged.pack import Pack, PackWriter

__all__ = ["SEPARATOR", "Keys", "hashed", "joined"]

SEPARATOR = "\x1f"


class Keys:
    """Texts, each once, numbered from 0. Those of a pack are looked up in place: O(log n), some microseconds."""

    def __init__(self) -> None:
        self._pack: Pack | None = None
        self._name = ""
        self._base = 0
        self._tail: dict[str, int] = {}
        self._texts: list[str] = []

    def __len__(self) -> int:
        return self._base + len(self._texts)

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        return (self[row] for row in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Keys) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, row: int) -> str:
        """Return the text of a number."""
        if row >= self._base:
            return self._texts[row - self._base]
        assert self._pack is not None
        data = self._pack.read(f"{self._name}.keys", self._bounds[row], self._bounds[row + 1])
        return str(data, "utf-8", "surrogatepass")

    def get(self, key: str) -> int | None:
        """Return the number of a text; None where it is not there."""
        if (known := self._tail.get(key)) is not None or not self._base:
            return known
        wanted = hashed(key)
        at = bisect_left(self._hashes, wanted)
        while at < self._base and self._hashes[at] == wanted:
            if self[row := self._rows[at]] == key:
                return int(row)
            at += 1
        return None

    def add(self, key: str) -> int:
        """Return the number of a text, a new one if it was not there."""
        known = self.get(key)
        if known is None:
            known = self._tail[key] = len(self)
            self._texts.append(key)
        return known

    def save(self, writer: PackWriter, name: str) -> None:
        """Write all of them."""
        tail = [key.encode("utf-8", "surrogatepass") for key in self._texts]
        old = np.frombuffer(self._bounds, np.int64) if self._base else np.zeros(1, np.int64)
        ends = np.cumsum([len(key) for key in tail], dtype=np.int64) + old[-1]
        hashes = np.concatenate([self._base_hashes(), np.array([hashed(key) for key in self._texts], np.uint64)])
        rows = np.argsort(hashes, kind="stable")
        writer.array(f"{name}.bounds", np.concatenate([old, ends]))
        writer.array(f"{name}.hashes", hashes[rows])
        writer.array(f"{name}.rows", rows.astype(np.uint32))
        kept = self._pack.blob(f"{self._name}.keys") if self._pack is not None else b""
        writer.blob(f"{name}.keys", (kept, b"".join(tail)))

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._pack, self._name = pack, intern(name)
        for part in ("_bounds", "_hashes", "_rows"):
            self.__dict__.pop(part, None)
        self._base = pack.length(f"{name}.rows")
        self._tail, self._texts = {}, []

    @cached_property
    def _bounds(self) -> memoryview:
        """Where each text of the pack begins, and where the last one ends. It is read when it is first needed."""
        return self._array("bounds")

    @cached_property
    def _hashes(self) -> memoryview:
        """The hashes of the texts of the pack, in order."""
        return self._array("hashes")

    @cached_property
    def _rows(self) -> memoryview:
        """The number of the text of each hash."""
        return self._array("rows")

    def _array(self, part: str) -> memoryview:
        return memoryview(b"") if self._pack is None else self._pack.array(f"{self._name}.{part}").data

    def _base_hashes(self) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        found = np.zeros(self._base, np.uint64)
        if self._base:
            found[np.frombuffer(self._rows, np.uint32)] = np.frombuffer(self._hashes, np.uint64)
        return found


def joined(*parts: str) -> str:
    """Return a key of several parts as one text."""
    return SEPARATOR.join(parts)


def hashed(key: str) -> int:
    """Return a key as 64 bits; the same on every machine."""
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
