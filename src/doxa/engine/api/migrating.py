"""A database -> another one, SQLite or Postgres, with everything in it."""

from __future__ import annotations

import time
from collections.abc import Callable

from doxa.backends import load
from doxa.core.config import Config
from doxa.core.migration import Migration, Moved

__all__ = ["migrate"]

Told = Callable[[str, int, int], None]
"""Hears of a step by its name, what is done of it, and the whole."""


def migrate(
    source: str,
    target: str,
    *,
    config: Config | None = None,
    only_compare: bool = False,
    told: Told = lambda step, done, whole: None,
) -> Migration:
    """Copy a whole database: all users of all tenants, what is kept beside them, and the API keys.

    The source is only read. What the target has already is compared by digest: where it is the same it stays, where
    it differs it stays as well and the result says so, so that the same call goes on with one that was broken off.
    Turns that come into the source meanwhile may be left behind; stop what writes to it.

    Args:
        source: a path or an SQLAlchemy URL.
        target: a path or an SQLAlchemy URL; a new one is made.
        config: the settings `store`, for both.
        only_compare: copy nothing.
        told: hears how far it is.

    Returns:
        What became of each log. Cost: O(rows); no more than a batch of them is in memory.

    Raises:
        InputError: both are the same database, or one is in memory.
        NotFoundError: there is no source.
        StoreError: one of them cannot be opened, read or written.
    """
    began = time.monotonic()
    options = (config or Config()).store.options()
    options |= {"target": target, "target_key": options["key"], "only_compare": only_compare}
    transfer = load("transfer", f"sql:{source}", **options)
    try:
        scopes: dict[str, int] = transfer.scopes()
        done, whole = 0, sum(scopes.values())
        moved: list[Moved] = [transfer.compare_erasures() if only_compare else transfer.move_erasures()]
        act = transfer.compare if only_compare else transfer.move
        for scope, size in scopes.items():

            def so_far(rows: int, done: int = done) -> None:
                told("turns and changes", min(whole, done + rows), whole)

            moved.append(act(scope, told=so_far))
            done += size
            told("turns and changes", done, whole)
        moved.append(transfer.compare_keys() if only_compare else transfer.move_keys())
    finally:
        transfer.close()
    return Migration(moved=tuple(moved), rows=sum(one.rows for one in moved), seconds=time.monotonic() - began)
