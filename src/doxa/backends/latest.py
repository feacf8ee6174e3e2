"""What was found for the keys that were used last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

__all__ = ["Latest"]

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


class Latest(Generic[Key, Found]):
    """What was found for the most recently used keys; safe to share between threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[Key, Found] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, keys: Sequence[Key], find: Callable[[list[Key]], Iterable[Found]]) -> list[Found]:
        """Return one for each key, in order; only keys not yet known are found."""
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            known |= zip(new, find(new), strict=True)
        self.keep({key: known[key] for key in keys})
        return [known[key] for key in keys]

    def keep(self, used: Mapping[Key, Found]) -> None:
        """Take in what was found for some keys."""
        with self._lock:
            for key, found in used.items():
                self._kept[key] = found
                self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
