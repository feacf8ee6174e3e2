"""What answers leave behind, until it is written to the database."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

__all__ = ["MICRO_BATCH", "Pending"]

T = TypeVar("T")
MICRO_BATCH = 16
"""Answers of a user of which what they leave behind is stored together."""


class Pending(Generic[T]):
    """What is not stored yet, by user. Safe between threads; a crash loses what one micro-batch holds at most."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[T]] = {}
        self._guard = threading.Lock()

    def add(self, user: str, item: T) -> None:
        """Take something in."""
        with self._guard:
            self._waiting.setdefault(user, []).append(item)

    def ready(self, user: str) -> bool:
        """Tell whether there is a micro-batch of a user."""
        with self._guard:
            return len(self._waiting.get(user, ())) >= MICRO_BATCH

    def take(self, user: str, least: int = 1) -> list[T]:
        """Give out what is there for a user, and keep it while it is less than `least`."""
        with self._guard:
            return self._waiting.pop(user) if len(self._waiting.get(user, ())) >= least else []

    def count(self, user: str) -> int:
        """Return how many of a user are not stored yet."""
        with self._guard:
            return len(self._waiting.get(user, ()))

    def users(self) -> list[str]:
        """Return the users of whom something is not stored yet."""
        with self._guard:
            return list(self._waiting)

    def drop(self, user: str) -> None:
        """Forget what is not stored yet."""
        with self._guard:
            self._waiting.pop(user, None)
