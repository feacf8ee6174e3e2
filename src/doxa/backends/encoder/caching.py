"""An encoder that remembers: one query is encoded once, though several views of memory ask for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from doxa.backends.encoder import Encoder

__all__ = ["CachedEncoder"]

CAPACITY: Final = 1_024  # 1.5 MB at 384 dimensions


class CachedEncoder:
    """An `Encoder` around another one, with the most recently used vectors kept; safe to share between threads.

    Right for queries. Turns are stored with their vectors and would push the queries out; a few do no harm.
    """

    def __init__(self, inner: Encoder, *, capacity: int = CAPACITY) -> None:
        """Wraps `inner` and owns it: closing this one closes it. `capacity` is in texts."""
        self._inner = inner
        self._capacity = capacity
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self._inner.name

    @property
    def dims(self) -> int:
        """The length of a vector."""
        return self._inner.dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Gives back one unit row per text, `(n, dims) float32`; only texts not yet known reach the model."""
        with self._lock:
            known = {text: self._kept[text] for text in texts if text in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            # Copies, so that a kept row does not keep the whole matrix alive.
            known |= {text: row.copy() for text, row in zip(new, self._inner.encode(new), strict=True)}
        with self._lock:
            self._keep({text: known[text] for text in texts})
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        return np.stack([known[text] for text in texts])

    def keep(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Takes in vectors that the wrapped model gave elsewhere, by their texts."""
        with self._lock:
            self._keep(vectors)

    def forget(self) -> None:
        """Drops every kept vector with its text."""
        with self._lock:
            self._kept.clear()

    def close(self) -> None:
        """Closes the wrapped model and forgets the vectors."""
        self.forget()
        self._inner.close()

    def _keep(self, used: Mapping[str, NDArray[np.float32]]) -> None:
        for text, row in used.items():
            self._kept[text] = row
            self._kept.move_to_end(text)
        while len(self._kept) > self._capacity:
            self._kept.popitem(last=False)
