"""An NLI model -> the same one, asked about each pair once: verdicts are kept in a journal by the hash of the pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from doxa.evaluate.mtbench101.journal import Journal, key_of

__all__ = ["JournalledNli", "Nli"]

DIGITS = 5


class Nli(Protocol):
    """What the benchmark needs of `doxa.backends.nli`."""

    @property
    def name(self) -> str: ...

    def classify(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]: ...


class JournalledNli:
    """Classifies pairs, those alone that the journal does not know; a pair that comes twice in one call goes out once.

    Verdicts of another model, by name, are not taken for this one's.
    """

    def __init__(self, nli: Nli, journal: Journal, *, version: str = "") -> None:
        self._nli, self._journal, self._version = nli, journal, version
        self.asked = 0
        """Pairs that the model itself classified."""

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        keys = [key_of(self._nli.name, self._version, *pair) for pair in pairs]
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._journal}
        if missing:
            self.asked += len(missing)
            rows = self._nli.classify(list(missing.values()))
            self._journal.put(
                {key: [round(float(p), DIGITS) for p in row] for key, row in zip(missing, rows, strict=True)}
            )
        return np.asarray([self._journal.get(key) for key in keys], dtype=np.float32).reshape(-1, 3)
