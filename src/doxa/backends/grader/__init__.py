"""grader: a claim, a question or a statement + one turn -> how the turn bears on it.

Loaded by name through `doxa.backends.load("grader", name)`:

| name | what it is |
|---|---|
| `builtin` | the trunk of the NLI model, taught on annotated chats, int8; offline, CPU |
| `scripted` | a few grades given in Python; a double for tests |
"""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from doxa.core.values import Turn

__all__ = ["GRADES", "MOST_BEFORE", "Grader", "Grades", "Pair", "Task", "passage"]

Task = Literal["claim", "question", "statement"]
"""What is graded: what was read out of a turn, what is asked of it, what is said in view of it."""
GRADES: Final[dict[Task, tuple[str, ...]]] = {
    "claim": ("right", "noise", "wrong"),
    "question": ("elsewhere", "answered"),
    "statement": ("supported", "contradicted", "planned", "elsewhere"),
}
"""The grades of each task in the order of the columns."""
Pair = tuple[str, str]
"""A short text, and a turn as `passage` gives it."""
Grades = NDArray[np.float32]
MOST_BEFORE: Final = 160
"""Characters of the turn before that are read, its last ones."""


class Grader(Protocol):
    """Grades texts by single turns; the built-in one is deterministic: a pair has one row in any batch and order."""

    @property
    def name(self) -> str:
        """Which model this is, such as `builtin:minilm-l6-grade-int8`."""

    def grade(self, task: Task, pairs: Sequence[Pair]) -> Grades:
        """Gives back probabilities `(n, len(GRADES[task])) float32`, one row per pair. One call per pair.

        Raises:
            BackendError: The model failed or is not installed.
            ClosedError: The grader was closed.
        """

    def close(self) -> None:
        """Lets go of the model; may be called twice."""


def passage(turn: Turn, before: Turn | None = None) -> str:
    """Gives back a turn as a grader reads it: who says what, after the end of what was said before it on that day."""
    said = f"{turn.speaker}: {' '.join(turn.text.split())}"
    if before is None or before.at.date() != turn.at.date():
        return said
    last = " ".join(before.text.split())[-MOST_BEFORE:]
    return f"{before.speaker}: {last} | {said}"
