"""Several parts of a benchmark at the same time, for a model that is waited for.

Threads: what is gained is the waiting; no answer comes sooner, and the engine computes no faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from doxa.core.config import Config

__all__ = ["patient", "side_by_side"]

Item = TypeVar("Item")
Found = TypeVar("Found")
Progress = Callable[[str, int, int], None]
PATIENCE_S = 3600.0
"""Seconds that a read of a benchmark waits for turns to be processed: a slow model must not change what is measured."""


def patient(config: Config | None, parallel: int) -> Config:
    """Return settings under which nothing is read before it is processed, and so many users are processed at once."""
    settings = Config.load() if config is None else config
    engine = settings.engine
    more = {"settle_s": max(engine.settle_s, PATIENCE_S), "workers": max(engine.workers, parallel)}
    return settings.model_copy(update={"engine": engine.model_copy(update=more)})


def side_by_side(
    play: Callable[[Item], Found], items: Sequence[Item], *, what: str, parallel: int, progress: Progress | None
) -> list[Found]:
    """Return what `play` makes of every item, in the order of the items.

    Args:
        play: is called in a thread of its own where `parallel` is above 1; for one item at a time in each.
        items: what is played.
        what: what that is called in the progress.
        parallel: how many are under way at once at most; 1 for one after the other.
        progress: is told how far it is, in the calling thread.

    Raises:
        Exception: what `play` raised first; what had not begun by then is not played.
    """
    tell = progress or (lambda what, done, total: None)
    if parallel == 1:
        found = []
        for done, item in enumerate(items):
            tell(what, done, len(items))
            found.append(play(item))
        return found
    with ThreadPoolExecutor(parallel, thread_name_prefix="doxa-bench") as pool:
        waiting = [pool.submit(play, item) for item in items]
        try:
            for done, future in enumerate(as_completed(waiting)):
                tell(what, done, len(items))
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in waiting]
