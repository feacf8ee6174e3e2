"""Text -> the stems of its words, by which texts are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from doxa.language.data import table

__all__ = ["stems", "stems_of"]

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W\d_]+)?", re.UNICODE)


@cache
def _function_words() -> frozenset[str]:
    return frozenset(table("words")["function"].split())


@cache
def _stemmer() -> Any:
    import Stemmer  # PyStemmer: the Snowball stemmers in C

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


def stems(text: str) -> list[str]:
    """Return the stems of the content words of a text, in order. Source: Porter2 (Snowball English)."""
    empty = _function_words()
    words = (word.casefold().replace("\u2019", "'").removesuffix("'s") for word in WORD.findall(text))
    return [_stem(word) for word in words if word not in empty]


def stems_of(text: str) -> set[str]:
    """Return the stems of the content words of a text, with one for common words that name one thing (kid, child)."""
    same: Mapping[str, str] = table("words")["same_words"]
    return {same.get(stem, stem) for stem in stems(text)}
