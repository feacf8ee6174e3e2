"""A turn and those before it -> one sequence of words with their places, as a reader of turns takes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from doxa.backends.parser.turns import Line, Place
from doxa.backends.parser.words import words

__all__ = ["Said", "Sequenced", "sequenced"]

BEFORE: Final = 2
"""Turns before that are read."""
MOST_BEFORE: Final = 24
"""Words of them, the last ones of each."""
MOST: Final = 120
"""Words in all; what a turn has beyond is not read."""


@dataclass(frozen=True, slots=True)
class Said:
    """A word of a line; the name of its speaker and the colon behind it start at -1."""

    form: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sequenced:
    """The words of the last line behind those of the ones before."""

    words: tuple[Said, ...]
    begin: int
    """The first word of the last line; its speaker is two before."""

    def place(self, start: int, end: int) -> Place:
        """Return where the words `start` to `end` stand."""
        first, last = self.words[start], self.words[end - 1]
        return Place(first.line, first.start, last.end if last.line == first.line else first.end)


def sequenced(lines: Sequence[Line]) -> Sequenced:
    """Return the sequence of some lines, oldest first; the last one is what is read. Cost linear in the text."""
    *before, last = lines
    number = len(before)
    own = [Said(one.form, number, one.start, one.end) for one in words(last.text)][: MOST - 2]
    left = min(MOST_BEFORE, MOST - 2 - len(own))
    kept: list[Said] = []
    for at in range(number - 1, max(-1, number - 1 - BEFORE), -1):
        some = [Said(one.form, at, one.start, one.end) for one in words(before[at].text)]
        room = left - len(kept) - 2
        if room < 3:
            break
        kept = [*_speaker(before[at], at), *some[max(0, len(some) - room) :], *kept]
    return Sequenced((*kept, *_speaker(last, number), *own), len(kept) + 2)


def _speaker(line: Line, number: int) -> tuple[Said, Said]:
    return Said(line.speaker, number, -1, -1), Said(":", number, -1, -1)
