"""An encoder that remembers: one query is encoded once, though several views of memory ask for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.latest import Latest

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
        self._kept: Latest[str, NDArray[np.float32]] = Latest(capacity)

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
        if not texts:
            return np.empty((0, self.dims), dtype=np.float32)
        # Copies, so that a kept row does not keep the whole matrix alive.
        return np.stack(self._kept.of(texts, lambda new: [row.copy() for row in self._inner.encode(new)]))

    def keep(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Takes in vectors that the wrapped model gave elsewhere, by their texts."""
        self._kept.keep(vectors)

    def forget(self) -> None:
        """Drops every kept vector with its text."""
        self._kept.clear()

    def close(self) -> None:
        """Closes the wrapped model and forgets the vectors."""
        self.forget()
        self._inner.close()
