"""What a server measured of itself since it began, as pages that do not know how it is counted may show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from doxa.core.trace import Trace

__all__ = ["Measures", "Spending", "Speed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How long something took."""

    name: str
    count: int
    p50_ms: float
    """Half of them took no longer; infinite where that is more than what is measured."""
    p95_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a step asked of language models."""

    step: str
    calls: int
    """0 where the step does not tell."""
    prompt_tokens: int
    completion_tokens: int


class Measures(Protocol):
    """Numbers of one server since it began; of all its users together."""

    def count(self, trace: Trace) -> None:
        """Count the steps of an answer."""

    def uptime_s(self) -> float:
        """Return for how many seconds it has run."""

    def requests(self) -> Sequence[Speed]:
        """Return how long requests took, by method and declared path, those asked most first."""

    def steps_taken(self) -> Sequence[Speed]:
        """Return how long the steps of answers took, in the order in which they were first seen."""

    def lesser(self) -> Mapping[str, int]:
        """Return how many times which step ran on a lesser path."""

    def spending(self) -> Sequence[Spending]:
        """Return what the steps of answers asked of language models."""
