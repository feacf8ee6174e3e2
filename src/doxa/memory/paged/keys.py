"""Names with a number each, in the order in which they came."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from doxa.memory.paged.pack import Pack, PackWriter

__all__ = ["SEPARATOR", "Keys", "hashed", "joined"]

SEPARATOR = "\x1f"


class Keys:
    """Texts, each once, numbered from 0. Those of a pack are looked up in place: O(log n), some microseconds."""

    def __init__(self) -> None:
        self._pack: Pack | None = None
        self._name = ""
        self._bounds: memoryview = memoryview(b"")
        self._hashes: memoryview = memoryview(b"")
        self._rows: memoryview = memoryview(b"")
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
        return str(self._pack.read(self._name, self._bounds[row], self._bounds[row + 1]), "utf-8", "surrogatepass")

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
        kept = self._pack.blob(self._name) if self._pack is not None else b""
        writer.blob(f"{name}.keys", (kept, b"".join(tail)))

    def load(self, pack: Pack, name: str) -> None:
        """Take those of a pack in place of all that are here."""
        self._pack, self._name = pack, f"{name}.keys"
        self._bounds = pack.array(f"{name}.bounds").data
        self._hashes = pack.array(f"{name}.hashes").data
        self._rows = pack.array(f"{name}.rows").data
        self._base = len(self._rows)
        self._tail, self._texts = {}, []

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
