"""A turn and those before it -> one sequence of words with their places, as the network reads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from doxa.backends.parser.words import words

__all__ = ["Line", "Sequenced", "Word", "sequenced"]

BEFORE: Final = 2
"""Turns before that are read."""
MOST_BEFORE: Final = 24
"""Words of them, the last ones of each."""
MOST: Final = 120
"""Words in all; what a turn has beyond is not read."""


@dataclass(frozen=True, slots=True)
class Line:
    """Who says what."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a line; the name of its speaker and the colon behind it start at -1."""

    form: str
    turn: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sequenced:
    """The words of the last line behind those of the ones before."""

    words: tuple[Word, ...]
    begin: int
    """The first word of the last line; its speaker is two before."""


def sequenced(lines: Sequence[Line]) -> Sequenced:
    """Return the sequence of some lines, oldest first; the last one is what is read. Cost linear in the text."""
    *before, last = lines
    number = len(before)
    own = [Word(one.form, number, one.start, one.end) for one in words(last.text)][: MOST - 2]
    left = min(MOST_BEFORE, MOST - 2 - len(own))
    kept: list[Word] = []
    for at in range(number - 1, max(-1, number - 1 - BEFORE), -1):
        some = [Word(one.form, at, one.start, one.end) for one in words(before[at].text)]
        room = left - len(kept) - 2
        if room < 3:
            break
        kept = [*_speaker(before[at], at), *some[max(0, len(some) - room) :], *kept]
    return Sequenced((*kept, *_speaker(last, number), *own), len(kept) + 2)


def _speaker(line: Line, number: int) -> tuple[Word, Word]:
    return Word(line.speaker, number, -1, -1), Word(":", number, -1, -1)
