"""Where one sentence of a text ends and the next begins, and how much of a long text is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice

__all__ = ["LONGEST_SENTENCE", "MOST_SENTENCES", "opening", "overlong", "pared", "sentence_places", "split_text"]

LONGEST_SENTENCE = 400
"""Characters of a sentence that is read; a longer one is kept as text, which bounds the cost of every pattern.

Up to so many goes on what seems to end in an abbreviation.
"""
MOST_SENTENCES, MOST_CHARS = 120, 30_000
"""What is read of a turn: so many sentences, and so many characters. It bounds what a very long one costs."""
ASKED_CHARS = 2_000
"""What is read at the beginning and at the end of a question that is longer than both."""
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


def opening(text: str) -> str:
    """Return the beginning of a text, as it stands, that is read as a turn; it ends with a sentence if it has one."""
    ends = [pieces[-1][1] for pieces in islice(_sentences(text[:MOST_CHARS]), MOST_SENTENCES + 1)]
    if len(text) > MOST_CHARS and len(ends) > 1:
        del ends[-1]  # it may go on
    return text if len(text) <= MOST_CHARS and len(ends) <= MOST_SENTENCES else text[: ends[:MOST_SENTENCES][-1]]


def overlong(text: str) -> int:
    """Return how many sentences of a text are longer than `LONGEST_SENTENCE` characters."""
    return sum(end - start > LONGEST_SENTENCE for start, end in sentence_places(text))


def pared(text: str) -> str:
    """Return what is read of a question: beginning and end of a long one, and the end of a sentence that runs on.

    What is asked mostly stands at the end, so of a sentence of more than `LONGEST_SENTENCE` characters the last ones
    are kept. A text within these bounds is as it stands, and so is one that was pared.
    """
    if len(text) > 2 * ASKED_CHARS:
        text = f"{text[:ASKED_CHARS]}\n{text[1 - ASKED_CHARS :]}"
    places = sentence_places(text) if len(text) > LONGEST_SENTENCE else []
    if all(end - start <= LONGEST_SENTENCE for start, end in places):
        return text
    return "\n".join(text[max(start, end - LONGEST_SENTENCE) : end] for start, end in places)


def _sentences(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield each sentence as the places of its pieces: of more than one where an abbreviation seemed to end it."""
    carried: list[tuple[int, int]] = []
    length = start = 0
    ends = (match.span() for match in END.finditer(text))
    for end, after in chain(ends, ((len(text), len(text)),)):
        piece = text[start:end]
        stripped = piece.strip()
        if stripped:
            begin = start + piece.index(stripped)
            carried.append((begin, begin + len(stripped)))
            length += len(stripped) + (len(carried) > 1)
        start = after
        if carried and not (length < LONGEST_SENTENCE and _goes_on(stripped)):
            yield carried
            carried, length = [], 0
    if carried:
        yield carried


def _goes_on(piece: str) -> bool:
    """Tell whether what seems to end a sentence is the point of an abbreviation."""
    return piece.endswith(".") and bool(ABBREVIATION.search(piece, max(0, len(piece) - 8)))  # none of them is longer
