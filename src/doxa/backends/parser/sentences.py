"""Words -> sentences: breaks after final points, at empty lines, and where a line opens like a sentence."""

import re
from collections.abc import Sequence
from typing import Final

from doxa.backends.parser.words import Word, conventions, words

__all__ = ["split"]

FINAL: Final = re.compile(r"[.!?…]+|[\u3002\uff01\uff1f]")
CLOSERS: Final = frozenset(")]}\"'”’»")
BULLETS: Final = frozenset("-*•–—>·+")
MAX_CLOSERS: Final = 6  # behind one final sign; a bound keeps the scan linear
_SMILE: Final = re.compile(r"[:;=][^\w\s]{0,2}\S|<3+|[^\w\s\x00-\x7f]+|[xX]D")


def split(text: str) -> list[list[Word]]:
    """Gives back the sentences of a text as words; joined, they are `words(text)`. Linear in the length."""
    found = words(text)
    sentences: list[list[Word]] = []
    start = 0
    for at in range(1, len(found)):
        if _breaks(text, found, start, at):
            sentences.append(found[start:at])
            start = at
    if start < len(found):
        sentences.append(found[start:])
    return sentences


def _breaks(text: str, found: Sequence[Word], start: int, at: int) -> bool:
    """Whether a sentence ends before the word `at`; the current one began at `start`."""
    here = found[at]
    gap = text[found[at - 1].end : here.start]
    if "\n" in gap and (gap.count("\n") > 1 or _opens_line(here.form) or _ended(found, start, at)):
        return True
    if not _ended(found, start, at):
        return _abbreviation_ends(found, at) or _smile_ends(found, start, at)
    if here.form in CLOSERS and not gap:
        return False
    if _SMILE.fullmatch(here.form) and at + 1 - start > 1:
        return False
    if gap:
        return _may_open(found, at)
    # `it.Then`: the space was forgotten.
    return here.form[:1].isupper() and found[at - 1].form in ("!", "?", ".")


def _ended(found: Sequence[Word], start: int, at: int) -> bool:
    """Whether the words before `at` close a sentence: a final sign, then closers or a smiley."""
    back, first = at - 1, max(start, at - MAX_CLOSERS)
    while back > first and (found[back].form in CLOSERS or _SMILE.fullmatch(found[back].form)):
        back -= 1
    if not FINAL.fullmatch(found[back].form):
        return False
    return not (back == start + 1 and found[start].form.isdigit() and found[back].form == ".")


def _may_open(found: Sequence[Word], at: int) -> bool:
    """Whether the word can open a sentence behind a final sign: after dots or a quotation, not in lower case."""
    form, before = found[at].form, found[at - 1].form
    soft = len(before) > 1 or before == "…" or before in CLOSERS
    return not (soft and form[:1].islower())


def _abbreviation_ends(found: Sequence[Word], at: int) -> bool:
    before, here = found[at - 1].form, found[at].form
    if not before.endswith(".") or len(before) < 2 or not here[:1].isupper():
        return False
    known = conventions()
    bare = before[:-1].lower()
    return here.lower() in known.openers and bare not in known.titles and (bare in known.closing or "." in bare)


def _smile_ends(found: Sequence[Word], start: int, at: int) -> bool:
    """`That is great :) We should go`: a smiley closes a sentence before a capital letter."""
    here = found[at].form
    smiles = at - 1 > start and _SMILE.fullmatch(found[at - 1].form) is not None
    return smiles and here[:1].isupper() and here.lower() in conventions().openers


def _opens_line(form: str) -> bool:
    return form[:1].isupper() or form[:1].isdigit() or form in BULLETS
