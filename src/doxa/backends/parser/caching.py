"""A parser that remembers: one sentence is parsed once, though several steps of a turn ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from doxa.backends.latest import Latest
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
        self._parses: Latest[tuple[str, ...], Parse] = Latest(capacity)

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
        self._turns: Latest[tuple[Line, ...], Heard] = Latest(TURNS)

    def hear(self, turns: Sequence[Sequence[Line]]) -> list[Heard]:
        """Gives back what each turn says, in order; only turns not yet known reach the model."""
        return self._turns.of([tuple(lines) for lines in turns], self._reader.hear)

    def forget(self) -> None:
        """Drops every kept parse and reading with its words."""
        super().forget()
        self._turns.clear()
