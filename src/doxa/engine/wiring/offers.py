"""What was offered to be erased, until the next turn of its session is said. Kept in this process alone."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

__all__ = ["Offer", "Offers"]

WAITING = 1_000
"""Offers that are kept, the latest."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What would be erased on a yes."""

    turn_ids: tuple[str, ...] = ()
    everything: bool = False


@dataclass(slots=True)
class Offers:
    """What was offered last in each session; safe between threads. Taking an offer ends it, whatever is said to it."""

    _open: OrderedDict[tuple[str, str], Offer] = field(default_factory=OrderedDict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def make(self, user: str, session: str, offer: Offer) -> None:
        """Note an offer; the oldest goes where there are too many."""
        with self._guard:
            self._open[user, session] = offer
            while len(self._open) > WAITING:
                self._open.popitem(last=False)

    def take(self, user: str, session: str) -> Offer | None:
        """Return the open offer of a session, which is none any more."""
        with self._guard:
            return self._open.pop((user, session), None)
