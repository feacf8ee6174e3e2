"""The clocks of a world, put in the place of the machine's in every module of Doxa that looks at one."""

from __future__ import annotations

import datetime as dates
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, tzinfo
from types import SimpleNamespace
from typing import Any

__all__ = ["Clock", "clocked"]

TICK_S = 1e-6
"""What a look at a clock takes, so that no two looks see the same."""
REAL = dates.datetime


class Clock:
    """A wall clock that may jump, and one that only goes on. Seconds."""

    def __init__(self, *, began: float) -> None:
        self.wall_s = began
        self.monotonic_s = 1000.0
        self.pause: Callable[[], None] = lambda: None
        """Called when somebody sleeps."""

    def go(self, seconds: float) -> None:
        """Let time pass."""
        self.wall_s += seconds
        self.monotonic_s += seconds

    def jump(self, seconds: float) -> None:
        """Set the wall clock forward, or back."""
        self.wall_s += seconds

    def time(self) -> float:
        """Return the wall clock, in seconds since 1970."""
        self.go(TICK_S)
        return self.wall_s

    def monotonic(self) -> float:
        """Return the clock that only goes on."""
        self.go(TICK_S)
        return self.monotonic_s

    def sleep(self, seconds: float) -> None:
        """Let time pass, and others have their turn."""
        self.go(max(seconds, TICK_S))
        if seconds > 0:
            self.pause()

    def now(self, tz: tzinfo | None = None) -> dates.datetime:
        """Return the wall clock as a date."""
        found = REAL.fromtimestamp(self.time(), UTC)
        return found.astimezone(tz) if tz is not None else found.replace(tzinfo=None)


@contextmanager
def clocked(clock: Clock) -> Iterator[None]:
    """Have every module of Doxa that is loaded look at this clock until the block ends."""
    told = {
        time: SimpleNamespace(**vars(time) | _functions(clock)),
        **{getattr(time, name): made for name, made in _functions(clock).items()},
        dates.datetime: _dated(clock),
    }
    names = ("time", "monotonic", "perf_counter", "sleep", "time_ns", "datetime")
    changed: list[tuple[Any, str, Any]] = []
    for module in [one for name, one in sys.modules.items() if name.split(".")[0] == "doxa"]:
        for name in names:
            was = vars(module).get(name)
            if was is not None and _known(was, told):
                changed.append((module, name, was))
                setattr(module, name, told[was])
    try:
        yield
    finally:
        for module, name, was in changed:
            setattr(module, name, was)


def _known(was: Any, told: dict[Any, Any]) -> bool:
    try:
        return was in told
    except TypeError:
        return False


def _functions(clock: Clock) -> dict[str, Any]:
    return {
        "time": clock.time,
        "monotonic": clock.monotonic,
        "perf_counter": clock.monotonic,
        "sleep": clock.sleep,
        "time_ns": lambda: int(clock.time() * 1e9),
    }


def _dated(clock: Clock) -> type:
    """Return what stands for `datetime`: everything of it is the real one's but the time of day."""

    class Dated(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, REAL)

        def __call__(cls, *args: Any, **given: Any) -> dates.datetime:
            return REAL(*args, **given)

        def __getattr__(cls, name: str) -> Any:
            return clock.now if name == "now" else getattr(REAL, name)

        def __or__(cls, other: Any) -> Any:
            return REAL | other

    return Dated("datetime", (), {})
