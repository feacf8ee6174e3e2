"""nli: premise, hypothesis -> P(entailment), P(neutral), P(contradiction).

Loaded by name through `doxa.backends.load("nli", name)`:

| name | what it is |
|---|---|
| `builtin` | a cross-encoder of our own on MiniLM-L6, int8, in the wheel; offline, CPU |
| `hf:NAME` | a sequence classifier with the three classes, by name or folder (extra `hf`) |
| `scripted` | answers that were given to it; a double for tests |
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["LABELS", "Judge", "Nli", "Pair"]

LABELS: Final = ("entailment", "neutral", "contradiction")
"""The classes, in the order of the columns of `classify`."""

Pair = tuple[str, str]
"""A premise and a hypothesis."""
Judge = Callable[[Sequence[Pair]], NDArray[np.float32]]
"""`Nli.classify`, which may open the model at its first call."""


class Nli(Protocol):
    """Judges whether a premise entails a hypothesis, contradicts it, or does neither (natural language inference).

    The built-in model and the double are deterministic: a pair has one row, whatever else is in the call.
    """

    @property
    def name(self) -> str:
        """Which model this is, such as `builtin:minilm-l6-nli-int8`."""

    def classify(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """Gives back one row of probabilities per pair in the order of `LABELS`, `(n, 3) float32`; each row sums to 1.

        A premise may have several sentences. Any text works, the empty one too; text beyond what the model reads (256
        tokens of both sides for the built-in one) is cut off.

        Raises:
            BackendError: The model failed, or is not installed.
            ClosedError: It was closed.
        """

    def close(self) -> None:
        """Lets go of threads and memory; may be called twice."""
