"""What every reasoner gives: inferences with their scores and vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from doxa.commonsense.context import Context
from doxa.core.background import Inference

__all__ = ["Candidates", "Reasoner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Inferences, best first."""

    inferences: tuple[Inference, ...]
    vectors: NDArray[np.float32]
    """Of their texts or, in the built-in reasoner, of the same statements about nobody in particular, `(n, dims)`."""
    degraded: str = ""
    """Why there are fewer than there could be; empty if nothing went wrong."""


class Reasoner(Protocol):
    """Proposes what follows from a conversation by the eleven relations; it does not choose (`diversify` does)."""

    def infer(self, context: Context) -> Candidates:
        """Return the candidates, best first; the same for the same context where its model is deterministic."""
