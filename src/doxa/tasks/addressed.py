"""addressed: the vector of a turn -> how likely it is said to open a task, and to change one.

Two small networks over the vector of the built-in encoder, taught by task turns against turns that tell of lives
(`training/tasks`). In chats as people type them, the grammar alone makes tasks of four turns in ten.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["Addressed", "addressed_of"]

OPENS, CHANGES = 0.6, 0.7
"""How likely a turn has to be said to the tasks: to open one, and to change one."""
EXPECTED = (1.0, 0.5, 0.15)
"""How likely where it is expected for no, for one or for two reasons."""
Numbers = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed:
    """How likely a turn opens a task, and changes one that is there."""

    opens: float
    changes: float

    def meant(self, *, opens: bool, requests: bool, going_on: bool) -> bool:
        """Tell whether that is enough for a turn that would open a task, or change one.

        Less is enough where it is expected: the turn is a request, tasks are spoken of, or both.
        """
        if max(self.opens, self.changes) >= EXPECTED[requests + going_on]:
            return True
        return self.opens >= OPENS if opens else self.changes >= CHANGES


def addressed_of(vector: Numbers) -> Addressed:
    """Return the chances of a turn by its vector, `(384,)`. Cost: two products of 384 by 64."""
    weights = _weights()
    hidden = np.maximum(np.einsum("d,kdh->kh", vector, weights["in"]) + weights["in_bias"], 0.0)
    scores = (hidden * weights["out"]).sum(axis=-1) + weights["out_bias"][:, 0]
    opens, changes = (1.0 / (1.0 + np.exp(-scores))).tolist()
    return Addressed(opens=opens, changes=changes)


@cache
def _weights() -> dict[str, Numbers]:
    with files("doxa.tasks").joinpath("addressed.npz").open("rb") as file, np.load(file) as data:
        return {name: data[name].astype(np.float32) for name in data.files}
