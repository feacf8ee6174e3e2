"""A test double: words hashed into a small vector. No model, no files; near words are strangers to it."""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.encoder.rows import clean
from doxa.core.errors import ClosedError, ConfigError

__all__ = ["HashEncoder", "open_encoder"]

DIMS: Final = 64
MAX_CHARS: Final = 4_000
WORD: Final = re.compile(r"\w+")


def open_encoder(name: str) -> "HashEncoder":
    """Gives back the double; `name` is empty or the number of dimensions, as in `hash:256`.

    Raises:
        ConfigError: The name is no number above zero.
    """
    if name and not (name.isascii() and name.isdigit() and int(name) > 0):
        raise ConfigError(f"Expected 'hash' or 'hash:DIMS' with a number above zero, got 'hash:{name}'.")
    return HashEncoder(int(name or DIMS))


class HashEncoder:
    """Texts that share words are near each other. Deterministic across machines and Python versions."""

    def __init__(self, dims: int = DIMS) -> None:
        """Makes an encoder of `dims` dimensions."""
        self._dims = dims
        self._closed = False

    @property
    def name(self) -> str:
        """`hash:` and the number of dimensions."""
        return f"hash:{self._dims}"

    @property
    def dims(self) -> int:
        """The length of a vector."""
        return self._dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Gives back one unit row per text, `(n, dims) float32`.

        Source: Weinberger et al. 2009, feature hashing with signs. O(characters), at most 4,000 of each text.

        Raises:
            ClosedError: The encoder was closed.
        """
        if self._closed:
            raise ClosedError("The encoder was closed; open a new one.")
        rows = np.zeros((len(texts), self._dims), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in WORD.findall(clean(text, MAX_CHARS).lower()):
                digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
                row[(digest >> 1) % self._dims] += 1.0 if digest & 1 else -1.0
            if not row.any():
                row[0] = 1.0  # no words, or words that cancel out: still a unit vector
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def close(self) -> None:
        """Marks the encoder closed."""
        self._closed = True
