"""Where one sentence of a text ends and the next begins."""

from __future__ import annotations

import re

__all__ = ["split_text"]

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
