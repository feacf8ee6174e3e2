"""A change that another process may get in the way of -> the change, tried again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from doxa.core.errors import StoreConflictError

__all__ = ["retried"]

T = TypeVar("T")
RETRIES = 20
"""How often a change is tried again while other processes change the same user."""


def retried(act: Callable[[], T], *, times: int = RETRIES) -> T:
    """Do it, and again so many times, while another process changes the same user.

    Raises:
        StoreConflictError: another process still does.
    """
    for _ in range(times):
        try:
            return act()
        except StoreConflictError:
            continue
    return act()
