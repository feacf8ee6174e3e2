"""A parser that remembers: one sentence is parsed once, though several steps of a turn ask for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from doxa.backends.parser.turns import TurnReader

if TYPE_CHECKING:
    from doxa.backends.parser import Heard, Line, Parse, Parser

__all__ = ["CachedParser", "CachedTurnReader", "cached"]

CAPACITY: Final = 1_024  # sentences; about 3 MB
TURNS: Final = 64


def cached(inner: Parser) -> CachedParser:
    """Return a parser that remembers, and that reads turns if `inner` does; closing it closes `inner`."""
    return CachedTurnReader(inner, inner) if isinstance(inner, TurnReader) else CachedParser(inner)


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


class CachedTurnReader(CachedParser):
    """The same around a parser that reads turns, with the latest turns kept."""

    def __init__(self, inner: Parser, reader: TurnReader, *, capacity: int = CAPACITY) -> None:
        """As of `CachedParser`; `reader` is `inner` as a reader of turns."""
        super().__init__(inner, capacity=capacity)
        self._reader = reader
        self._heard: OrderedDict[tuple[Line, ...], Heard] = OrderedDict()

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """Gives back what each turn says, in order; only turns not yet known reach the model."""
        keys = [tuple(lines) for lines in turns]
        with self._lock:
            known = {key: self._heard[key] for key in keys if key in self._heard}
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            known |= zip(new, self._reader.hear(new), strict=True)
        with self._lock:
            for key in keys:
                self._heard[key] = known[key]
                self._heard.move_to_end(key)
            while len(self._heard) > TURNS:
                self._heard.popitem(last=False)
        return [known[key] for key in keys]

    def forget(self) -> None:
        """Drops every kept parse and reading with its words."""
        super().forget()
        with self._lock:
            self._heard.clear()
