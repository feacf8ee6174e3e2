"""A lease of one user while it is held: taken, renewed in time, given back."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from doxa.backends.store import Store
from doxa.core.errors import StoreError

__all__ = ["Tenure", "held"]

RENEWED_AFTER = 1 / 3
"""The share of a lease after which it is renewed, so that a write that takes its time still falls within it."""

logger = logging.getLogger("doxa")


class Tenure:
    """One lease. `fence` is its token, which everything that is written under it carries."""

    def __init__(self, store: Store, scope: str, *, owner: str, seconds: float) -> None:
        self._store, self._scope, self._owner, self._seconds = store, scope, owner, seconds
        self._renewed = time.monotonic()
        self.fence = store.lease(scope, owner=owner, seconds=seconds)

    def keeps(self, *, at_once: bool = False) -> bool:
        """Tell whether the lease is still ours, renewing it where some of it, or with `at_once` any of it, is over."""
        now = time.monotonic()
        if not at_once and now < self._renewed + RENEWED_AFTER * self._seconds:
            return True
        self._renewed = now
        return self._store.lease(self._scope, owner=self._owner, seconds=self._seconds) == self.fence


@contextmanager
def held(store: Store, scope: str, *, owner: str, seconds: float) -> Iterator[Tenure | None]:
    """Hold the lease of a scope until the block ends; None where it is another's."""
    tenure = Tenure(store, scope, owner=owner, seconds=seconds)
    if not tenure.fence:
        yield None
        return
    try:
        yield tenure
    finally:
        try:
            store.lease(scope, owner=owner, seconds=0)
        except StoreError as exc:  # what went wrong inside is the news; the lease runs out by itself
            logger.info("a lease could not be given back, it ends after %g s: %s", seconds, exc)
