"""A parser that remembers: one sentence is parsed once, though several steps of a turn ask for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from doxa.backends.parser import Parse, Parser

__all__ = ["CachedParser"]

CAPACITY: Final = 1_024  # sentences; about 3 MB


class CachedParser:
    """A `Parser` around another one, with the most recently used parses kept; safe to share between threads."""

    def __init__(self, inner: Parser, *, capacity: int = CAPACITY) -> None:
        """Wraps `inner` and owns it: closing this one closes it. `capacity` is in sentences."""
        self._inner = inner
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, ...], Parse] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self._inner.name

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Gives back one parse per sentence, in order; only sentences not yet known reach the model."""
        keys = [tuple(sentence) for sentence in sentences]
        with self._lock:
            known = {key: self._kept[key] for key in keys if key in self._kept}
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            known |= zip(new, self._inner.parse(new), strict=True)
        with self._lock:
            self._keep({key: known[key] for key in keys})
        return [known[key] for key in keys]

    def forget(self) -> None:
        """Drops every kept parse with its sentence."""
        with self._lock:
            self._kept.clear()

    def close(self) -> None:
        """Closes the wrapped model and forgets the parses."""
        self.forget()
        self._inner.close()

    def _keep(self, used: dict[tuple[str, ...], Parse]) -> None:
        for key, parse in used.items():
            self._kept[key] = parse
            self._kept.move_to_end(key)
        while len(self._kept) > self._capacity:
            self._kept.popitem(last=False)
