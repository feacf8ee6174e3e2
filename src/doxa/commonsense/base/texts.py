"""Many short texts in two files: one of bytes, one of offsets. Reading one reads only its bytes."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

__all__ = ["Texts", "write_texts"]


def write_texts(path: Path, texts: Sequence[str]) -> None:
    """Write texts to `path.txt` and their byte offsets to `path.npy`, `(n + 1,) int64`."""
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    with path.with_suffix(".txt").open("wb") as file:
        for place, text in enumerate(texts, start=1):
            offsets[place] = offsets[place - 1] + file.write(text.encode("utf-8", "replace"))
    np.save(path.with_suffix(".npy"), offsets)


class Texts:
    """Texts of a file, by position; opening it costs no more for a million than for ten."""

    def __init__(self, path: Path) -> None:
        """Open `path.txt` and `path.npy`; raises OSError or ValueError where they are missing or broken."""
        offsets: NDArray[np.int64] = np.load(path.with_suffix(".npy"), mmap_mode="r")
        if offsets.ndim != 1 or not len(offsets):
            raise ValueError(f"{path.with_suffix('.npy').name} is not a list of offsets")
        self._offsets = offsets
        self._bytes: mmap.mmap | bytes = b""
        if path.with_suffix(".txt").stat().st_size:
            with path.with_suffix(".txt").open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if len(self._bytes) != offsets[-1]:
            raise ValueError(f"{path.with_suffix('.txt').name} is not whole")

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._offsets) - 1

    def __getitem__(self, index: SupportsIndex) -> str:
        """Return one text; a place below zero counts from the end, as in a list. What a disk broke shows as U+FFFD."""
        place = index.__index__()
        place += len(self) if place < 0 else 0
        if not 0 <= place < len(self):
            raise IndexError(f"Expected a place below {len(self)}, got {index}.")
        return self._bytes[self._offsets[place] : self._offsets[place + 1]].decode("utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        """Yield every text."""
        return (self[place] for place in range(len(self)))

    def places(self, texts: list[str]) -> NDArray[np.int64]:
        """Return where texts are, -1 for those that are nowhere; see `find`."""
        return np.array([self.find(text) for text in texts], dtype=np.int64)

    def find(self, text: str) -> int:
        """Return where a text is, -1 if nowhere; the texts have to be sorted by their bytes. O(log n)."""
        wanted = text.encode("utf-8", "replace")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes[self._offsets[middle] : self._offsets[middle + 1]] < wanted:
                low = middle + 1
            else:
                high = middle
        found = low < len(self) and self._bytes[self._offsets[low] : self._offsets[low + 1]] == wanted
        return low if found else -1
