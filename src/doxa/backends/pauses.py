"""How long to wait between tries."""

from __future__ import annotations

import random
from collections.abc import Iterator

__all__ = ["pauses"]


def pauses(first_s: float, longest_s: float, *, growth: float = 2.0) -> Iterator[float]:
    """Give the seconds to wait after each failure, without end: longer each time, and not the same for all who wait.

    Args:
        first_s, longest_s: the bounds; each pause is drawn from the upper half of what it has grown to.
        growth: how many times as long the next one is.
    """
    pause = first_s
    while True:
        yield pause * random.uniform(0.5, 1.0)
        pause = min(growth * pause, longest_s)
