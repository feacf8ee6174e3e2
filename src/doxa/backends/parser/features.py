"""Word -> what its spelling tells beyond its pieces: letter case, shape, endings.

MiniLM reads lower-cased text, so names and abbreviations would look like common words. Each word therefore also gets
four small numbers, which index embedding tables of the model. The same function serves training and use.
"""

import zlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIZES", "features"]

SIZES: Final = (10, 256, 2_048, 1_024)
"""Rows of the tables: letter case, shape, last three letters, last two letters. Row 0 is the root."""

MAX_SHAPE: Final = 12
LOWER, TITLE, UPPER, INITIAL, MIXED, DIGITS, WITH_DIGITS, SIGNS, OTHER = range(1, 10)


def features(forms: Sequence[str]) -> NDArray[np.int64]:
    """Gives back one row per word, `(n, 4) int64`; cost linear in the characters."""
    rows = [(_case(form), *_hashes(form)) for form in forms]
    return np.array(rows, dtype=np.int64).reshape(len(rows), len(SIZES))


def _case(form: str) -> int:
    letters = [char for char in form if char.isalpha()]
    if not letters:
        return DIGITS if any(map(str.isdigit, form)) else SIGNS
    if any(map(str.isdigit, form)):
        return WITH_DIGITS
    if all(map(str.isupper, letters)):
        return INITIAL if len(letters) == 1 else UPPER
    if not any(map(str.isupper, letters)):
        return LOWER if any(map(str.islower, letters)) else OTHER
    return TITLE if letters[0].isupper() and not any(map(str.isupper, letters[1:])) else MIXED


def _hashes(form: str) -> tuple[int, ...]:
    lower = form.lower()
    return tuple(
        1 + zlib.crc32(text.encode("utf-8", "replace")) % (size - 1)
        for text, size in zip((_shape(form), lower[-3:], lower[-2:]), SIZES[1:], strict=True)
    )


def _shape(form: str) -> str:
    """Letters as X and x, digits as d, other signs as they are; of a run of one kind, the first two stay."""
    shape = ""
    for char in form[: 4 * MAX_SHAPE]:
        kind = "d" if char.isdigit() else "X" if char.isupper() else "x" if char.isalpha() else char
        if not shape.endswith(kind * 2):
            shape += kind
    return shape[:MAX_SHAPE]
