"""Text as people write it, from text whose words and marks stand apart: "man , you ' Ve" -> "man, you've".

Corpora come tokenised, each in its own way: marks between spaces, clitics cut off (Penn Treebank: "ca n't"), their
apostrophe by itself ("you ' Ve", with a capital that a spell checker put there). Parsers, encoders and readers of our
tables are used to neither. The rules are those of English orthography; a text that is written as usual stays as it is.

Not decided: whether "12 , 300" is one number or two, and what a hyphen between spaces joins; both stay apart.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["detokenise"]

CLITIC: Final = re.compile(r"(?<=\w) ?' ?(s|m|d|t|ll|re|ve)(?!\w)", re.IGNORECASE)
NOT: Final = re.compile(r"(?<=[a-z]) n't\b", re.IGNORECASE)
INNER: Final = re.compile(r"\b(o|ma|y) ' (?=\w)", re.IGNORECASE)
"""o'clock, O'Neal, ma'am, y'all."""
ELIDED: Final = re.compile(r"(?<!\w)' (?=(?:\d\d|\d0s|em|til|cause|bout)\b)", re.IGNORECASE)
"""What stands for something left out in front: '93, '20s, 'em."""
INITIALS: Final = re.compile(r"\b[A-Za-z](?: \. [A-Za-z]\b(?!'))+ \.")
"""a.m., U.S., D.H.; not a sentence that ends with one letter."""
ADDRESS: Final = re.compile(r"\b(?:www \. )?\w+ \. (?:com|org|net|edu|gov)\b")
DECIMAL: Final = re.compile(r"(?<=\d) \. (?=\d)")
SLASH: Final = re.compile(r"(?<=\w) / (?=\w)")
OPENING: Final = re.compile(r"([(\[$¥£€]) +")
CLOSING: Final = re.compile(r" +(\.{2,}|[.,!?%)\]](?!\w)|[;:](?!\S))")
"""A mark that a digit or a face follows is none: ".5", ":)"."""
POSSESSIVE: Final = re.compile(r"(?<=s) ' (?=\w)")

APART: Final = r"(?<!\S){mark}(?!\S)"
"""A mark between spaces, or at an end."""


def detokenise(text: str) -> str:
    """Return a text with its marks where they are written. Idempotent on what it joins. Cost: O(n) per rule."""
    text = " ".join(text.split())
    text = NOT.sub("n't", INNER.sub(r"\1'", ELIDED.sub("'", text)))
    text = CLITIC.sub(_clitic, text)
    text = _quoted(_possessive(text), "'")
    text = _quoted(text, '"')
    for joined in (INITIALS, ADDRESS):
        text = joined.sub(lambda found: found[0].replace(" ", ""), text)
    text = SLASH.sub("/", DECIMAL.sub(".", text))
    return CLOSING.sub(r"\1", OPENING.sub(r"\1", text))


def _clitic(found: re.Match[str]) -> str:
    """Return it joined to its word; a capital is kept where nothing had come between ("IT'S")."""
    return found[0] if " " not in found[0] else f"'{found[1].lower()}"


def _possessive(text: str) -> str:
    """Return the text with the first apostrophe behind an s joined to it, where one is left over when others pair."""
    apart = re.findall(APART.format(mark="'"), text)
    return POSSESSIVE.sub("' ", text, count=1) if len(apart) % 2 else text


def _quoted(text: str, mark: str) -> str:
    """Return the text with marks that stand apart joined to what they open and close, by turns; one left over stays."""
    pieces = re.split(rf" ?{APART.format(mark=mark)} ?", text)
    if len(pieces) % 2 == 0:
        return text
    joined = pieces[0]
    for inside, after in zip(pieces[1::2], pieces[2::2], strict=True):
        joined += f"{' ' if joined else ''}{mark}{inside}{mark}{' ' if after else ''}{after}"
    return joined
