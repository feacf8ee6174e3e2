"""Where one sentence of a text ends, and the passages of a turn that are encoded beside the whole."""

from __future__ import annotations

import re
from itertools import pairwise

from doxa.core.values import Turn

__all__ = ["encoded_texts", "split_text"]

MOST = 8
"""Passages of one turn; a longer one is cut into as many stretches of whole sentences."""
LEAST_WORDS = 3
"""Shorter sentences ("Sure!", "Me too.") say nothing by themselves and go with the one before."""
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
    found, carry = [], ""
    for piece in END.split(text):
        raw = (carry + piece).strip()
        carry = ""
        if ABBREVIATION.search(raw) and len(raw) < LONGEST:
            carry = raw + " "
        elif raw:
            found.append(raw)
    return [*found, carry.strip()] if carry.strip() else found


def encoded_texts(turn: Turn) -> list[str]:
    """Return what is encoded of a turn: its whole text, and its passages when there are several (`MOST` at most)."""
    passages: list[str] = []
    for sentence in split_text(turn.text):
        if passages and len(sentence.split()) < LEAST_WORDS:
            passages[-1] = f"{passages[-1]} {sentence}"
        else:
            passages.append(sentence)
    if len(passages) > MOST:
        bounds = [len(passages) * part // MOST for part in range(MOST + 1)]
        passages = [" ".join(passages[start:stop]) for start, stop in pairwise(bounds)]
    return [turn.text, *passages] if len(passages) > 1 else [turn.text]
