"""A parser that remembers: one sentence is parsed once, though several steps of a turn ask for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from doxa.backends.parser.turns import TurnReader

if TYPE_CHECKING:
    from doxa.backends.parser import Heard, Line, Parse, Parser

__all__ = ["CachedParser", "CachedTurnReader", "cached"]

CAPACITY: Final = 1_024  # sentences; about 3 MB
TURNS: Final = 64

Key = TypeVar("Key", bound=Hashable)
Found = TypeVar("Found")


def cached(inner: Parser) -> CachedParser:
    """Return a parser that remembers, and that reads turns if `inner` does; closing it closes `inner`."""
    return CachedTurnReader(inner, inner) if isinstance(inner, TurnReader) else CachedParser(inner)


class _Latest(Generic[Key, Found]):
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
        with self._lock:
            for key in keys:
                self._kept[key] = known[key]
                self._kept.move_to_end(key)
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return [known[key] for key in keys]

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


class CachedParser:
    """A `Parser` around another one, with the most recently used parses kept; safe to share between threads."""

    def __init__(self, inner: Parser, *, capacity: int = CAPACITY) -> None:
        """Wraps `inner` and owns it: closing this one closes it. `capacity` is in sentences."""
        self._inner = inner
        self._parses: _Latest[tuple[str, ...], Parse] = _Latest(capacity)

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self._inner.name

    def parse(self, sentences: Sequence[Sequence[str]]) -> list[Parse]:
        """Gives back one parse per sentence, in order; only sentences not yet known reach the model."""
        return self._parses.of([tuple(sentence) for sentence in sentences], self._inner.parse)

    def forget(self) -> None:
        """Drops every kept parse with its sentence."""
        self._parses.clear()

    def close(self) -> None:
        """Closes the wrapped model and forgets the parses."""
        self.forget()
        self._inner.close()


class CachedTurnReader(CachedParser):
    """The same around a parser that reads turns, with the latest turns kept."""

    def __init__(self, inner: Parser, reader: TurnReader, *, capacity: int = CAPACITY) -> None:
        """As of `CachedParser`; `reader` is `inner` as a reader of turns."""
        super().__init__(inner, capacity=capacity)
        self._reader = reader
        self._turns: _Latest[tuple[Line, ...], Heard] = _Latest(TURNS)

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """Gives back what each turn says, in order; only turns not yet known reach the model."""
        return self._turns.of([tuple(lines) for lines in turns], self._reader.hear)

    def forget(self) -> None:
        """Drops every kept parse and reading with its words."""
        super().forget()
        self._turns.clear()
