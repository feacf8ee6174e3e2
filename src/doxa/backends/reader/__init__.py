"""reader: question + passage -> answer span.

Loaded by name through `doxa.backends.load("reader", name)`:

| name | what it is |
|---|---|
| `builtin` | MiniLM-L6 trained on questions made from open dialogues, int8; offline, CPU |
| `scripted` | a few answers given in Python; a double for tests |
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Pair", "Reader", "Reading", "Span"]

Pair = tuple[str, str]
"""A question and a passage. Both speak as the speaker of the passage does: "what did i buy?", "i: I bought a hat."."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of a passage."""

    start: int
    end: int
    """Characters: the text is `passage[start:end]`."""
    text: str
    score: float
    """How likely this part is the answer if the passage has one, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one passage says to one question."""

    answerable: float
    """How likely the passage answers the question at all, 0 to 1, calibrated."""
    spans: tuple[Span, ...] = ()
    """The likeliest parts that do not overlap, best first; none where no word of the passage can be one."""


class Reader(Protocol):
    """Finds answers in passages; the built-in one is deterministic: a pair has one reading in any batch and order."""

    @property
    def name(self) -> str:
        """Which model this is, such as `builtin:minilm-l6-read-int8`."""

    def read(self, pairs: Sequence[Pair]) -> list[Reading]:
        """Gives back one reading per pair, in order. One call to the model per pair; long passages are cut.

        Raises:
            BackendError: The model failed or is not installed.
            ClosedError: The reader was closed.
        """

    def close(self) -> None:
        """Lets go of the model; may be called twice."""
