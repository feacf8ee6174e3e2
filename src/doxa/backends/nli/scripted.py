"""An NLI model that knows the pairs it was given, for tests and examples."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.nli import LABELS, Pair
from doxa.core.errors import ClosedError, ConfigError

__all__ = ["ScriptedNli", "open_nli"]

SURE: Final = 0.9
"""Probability of a label that an answer names; the other two share the rest."""


class ScriptedNli:
    """Gives back what it was given for a pair, and neutral for any other; keeps what it was asked."""

    def __init__(self, answers: Mapping[Pair, str | Sequence[float]], name: str = "scripted") -> None:
        """Takes a label, or three probabilities in the order of `LABELS`, by pair.

        Raises:
            ConfigError: An answer is neither.
        """
        self._rows = {pair: _row(answer) for pair, answer in answers.items()}
        self._name = name
        self._closed = False
        self.asked: list[Pair] = []

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def classify(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Gives back one row per pair, `(n, 3) float32`."""
        if self._closed:
            raise ClosedError("The NLI model was closed; open a new one.")
        self.asked.extend(pairs)
        rows = [self._rows.get(pair) or _row("neutral") for pair in pairs]
        return np.array(rows, dtype=np.float32).reshape(-1, len(LABELS))

    def close(self) -> None:
        """Takes no more pairs."""
        self._closed = True


def open_nli(name: str = "", *, answers: Mapping[Pair, str | Sequence[float]] | None = None) -> ScriptedNli:
    """Gives back an NLI model that knows some pairs."""
    return ScriptedNli(answers or {}, name or "scripted")


def _row(answer: str | Sequence[float]) -> tuple[float, ...]:
    if isinstance(answer, str):
        if answer not in LABELS:
            raise ConfigError(f"Expected one of {', '.join(LABELS)}, got {answer!r}.")
        return tuple(SURE if label == answer else (1 - SURE) / 2 for label in LABELS)
    row = tuple(float(value) for value in answer)
    if len(row) != len(LABELS) or min(row) < 0 or abs(sum(row) - 1) > 1e-6:
        raise ConfigError(f"Expected three probabilities that sum to 1, got {row}.")
    return row
