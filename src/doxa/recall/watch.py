"""The clock of one search: what is left of its time, and what was left out for want of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

__all__ = ["Watch"]


@dataclass(slots=True)
class Watch:
    """Started when it is made. A step is taken when it would, at the cost of the longest so far, end in time."""

    deadline_ms: float = 0.0
    """Milliseconds; 0 is no deadline."""
    clock: Callable[[], float] = perf_counter
    """Seconds; tests give one of their own."""
    skipped: list[str] = field(default_factory=list)
    """The steps that were left out, in order."""
    _start: float = 0.0
    _latest: float = 0.0
    _longest: float = 0.0

    def __post_init__(self) -> None:
        self._start = self._latest = self.clock()

    def allows(self, step: str) -> bool:
        """Tell whether there is time for one more step, and note it as skipped when there is not."""
        if not self.deadline_ms:
            return True
        now = self.clock()
        self._longest, self._latest = max(self._longest, now - self._latest), now
        if (now - self._start + self._longest) * 1000 <= self.deadline_ms:
            return True
        self.skipped.append(step)
        return False
