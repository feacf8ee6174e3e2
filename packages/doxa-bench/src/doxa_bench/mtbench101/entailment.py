"""An NLI model -> the same one, asked about each pair once: verdicts are kept in a journal by the hash of the pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from doxa.backends.nli import Nli, Pair
from doxa_bench.mtbench101.journal import Journal, key_of

__all__ = ["JournalledNli"]

DIGITS = 5
PROBE = ("A man in a red shirt is playing the guitar on a small stage.", "Somebody makes music outdoors.")
"""Its row stands for the weights of a model, which may change under one name."""


class JournalledNli:
    """Classifies pairs, those alone that the journal does not know; a pair that comes twice in one call goes out once.

    Verdicts of another model, or of other weights under its name, are not taken for this one's.

    Raises:
        BackendError: the model cannot be opened, or failed on a first pair.
    """

    def __init__(self, nli: Nli, journal: Journal) -> None:
        self._nli, self._journal = nli, journal
        self._version = [nli.name, *_rounded(nli.classify([PROBE])[0])]
        self.asked = 0
        """Pairs that the model itself classified, beside the first."""

    def __call__(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        keys = [key_of(self._version, *pair) for pair in pairs]
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in self._journal}
        if missing:
            self.asked += len(missing)
            rows = self._nli.classify(list(missing.values()))
            self._journal.put({key: _rounded(row) for key, row in zip(missing, rows, strict=True)})
        return np.asarray([self._journal.get(key) for key in keys], dtype=np.float32).reshape(-1, 3)


def _rounded(row: NDArray[np.float32]) -> list[float]:
    return [round(float(p), DIGITS) for p in row]
