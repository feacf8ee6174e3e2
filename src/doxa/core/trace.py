"""What happened on the way to a reply, step by step; evaluation and the inspector read it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["TABLES", "Step", "Trace", "Tracer", "watched"]

TABLES = frozenset({"tree", "ranked", "read", "verdicts", "sent"})
"""Details that are tables or whole texts: what a replay of an answer shows, and a line of text leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: its name, how long it took, what came out, and whether it ran on a lesser path."""

    name: str
    ms: float
    detail: Mapping[str, Any] = field(default_factory=dict)
    degraded: str | None = None
    """Why the step did not run as configured; None when it did."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Every step in order."""

    steps: tuple[Step, ...] = ()

    @property
    def degraded(self) -> tuple[str, ...]:
        """The reasons of all steps that ran on a lesser path."""
        return tuple(step.degraded for step in self.steps if step.degraded)

    @property
    def ms(self) -> float:
        """Milliseconds of all steps together."""
        return sum(step.ms for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"ms": round(self.ms, 3), "steps": [asdict(step) for step in self.steps]}


Watcher = Callable[[Step], None]
_WATCHER: ContextVar[Watcher | None] = ContextVar("doxa_watcher", default=None)


@contextmanager
def watched(by: Watcher) -> Iterator[None]:
    """Have every step of the calls in this block told as it ends, in the thread that it ran in."""
    token = _WATCHER.set(by)
    try:
        yield
    finally:
        _WATCHER.reset(token)


class Tracer:
    """Collects the steps of one call; not shared between threads."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._watcher = _WATCHER.get()

    @contextmanager
    def step(self, name: str) -> Iterator[dict[str, Any]]:
        """Time a step. Put what came out into the yielded dict; the key `degraded` is set apart."""
        detail: dict[str, Any] = {}
        start = time.perf_counter()
        try:
            yield detail
        finally:
            degraded = detail.pop("degraded", None)
            ms = (time.perf_counter() - start) * 1000
            step = Step(name=name, ms=round(ms, 3), detail=detail, degraded=degraded)
            self._steps.append(step)
            if self._watcher is not None:
                self._watcher(step)

    def trace(self) -> Trace:
        """Return what was collected so far."""
        return Trace(tuple(self._steps))
