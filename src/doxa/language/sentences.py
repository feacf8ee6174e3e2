"""Where one sentence of a text ends and the next begins."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["sentence_places", "split_text"]

LONGEST = 400
"""Characters up to which what seems to end in an abbreviation goes on."""
ABBREVIATION = re.compile(
    r"\b(?:dr|mr|mrs|ms|prof|st|sr|jr|no|vs|etc|e\.g|i\.e|a\.m|p\.m|approx|jan|feb|mar|apr|"
    r"aug|sept?|oct|nov|dec|(?-i:[A-Z]))\.$",
    re.IGNORECASE,
)
END = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"'”)\]])\s+|(?<=[.!?…][\"'”)\]][\"'”)\]])\s+|\n+")


def split_text(text: str) -> list[str]:
    """Return the sentences of a text as they stand, in order. Cost O(len(text))."""
    return [" ".join(text[start:end] for start, end in pieces) for pieces in _sentences(text)]


def sentence_places(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of a text begin and end, in order. Cost O(len(text))."""
    return [(pieces[0][0], pieces[-1][1]) for pieces in _sentences(text)]


def _sentences(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield each sentence as the places of its pieces: of more than one where an abbreviation seemed to end it."""
    carried: list[tuple[int, int]] = []
    length = start = 0
    for end, after in [*(match.span() for match in END.finditer(text)), (len(text), len(text))]:
        piece = text[start:end]
        stripped = piece.strip()
        if stripped:
            begin = start + piece.index(stripped)
            carried.append((begin, begin + len(stripped)))
            length += len(stripped) + (len(carried) > 1)
        start = after
        if carried and not (length < LONGEST and ABBREVIATION.search(stripped)):
            yield carried
            carried, length = [], 0
    if carried:
        yield carried
