"""Many short texts in two files: one of bytes, one of offsets. Reading one reads only its bytes."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Texts", "write_texts"]


def write_texts(path: Path, texts: Sequence[str]) -> None:
    """Write texts to `path.txt` and their byte offsets to `path.npy`, `(n + 1,) int64`."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in encoded], out=offsets[1:])
    path.with_suffix(".txt").write_bytes(b"".join(encoded))
    np.save(path.with_suffix(".npy"), offsets)


class Texts(Sequence[str]):
    """Texts of a file, by position; opening it costs no more for a million than for ten."""

    def __init__(self, path: Path) -> None:
        """Open `path.txt` and `path.npy`; raises OSError or ValueError where they are missing or broken."""
        self._offsets: NDArray[np.int64] = np.load(path.with_suffix(".npy"), mmap_mode="r")
        self._bytes: mmap.mmap | bytes = b""
        if self._offsets[-1]:
            with path.with_suffix(".txt").open("rb") as file:
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if len(self._bytes) != self._offsets[-1]:
            raise ValueError(f"{path.with_suffix('.txt').name} is not whole")

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._offsets) - 1

    def __getitem__(self, index):  # type: ignore[no-untyped-def, override]
        """Return one text; slices are not needed here and not supported."""
        start, end = self._offsets[index], self._offsets[index + 1]
        return self._bytes[start:end].decode("utf-8")

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
