"""A text -> the language that it is in, where that is surely another than the one that is read (English).

What is in another language is kept and can be searched; nothing is read out of it by the built-in reading, which knows
English alone and would make facts of chance likenesses.

Source: py3langid (Barbaresi; after Lui and Baldwin 2012, "langid.py: An Off-the-shelf Language Identification Tool").
"""

from __future__ import annotations

import re
import threading
from functools import cache
from typing import Any

__all__ = ["foreign_language"]

ENGLISH = ("en", "pcm", "zxx")
"""Labels of English, of its creoles, and of no language at all."""
SURE = 0.975
"""Probability of all other languages together from which a text is taken to be in one of them: of 2,012 turns of
English chats two are above it."""
FEWEST_WORDS = 3
"""Of a text in Latin letters; fewer are names and sounds as often as not."""
LOADING = threading.Lock()
LATIN = re.compile(r"[a-z]", re.IGNORECASE)


def foreign_language(text: str) -> str:
    """Return the code (ISO 639) of the language of a text that is surely not English; else an empty text.

    Deterministic. O(len(text)), 0.2 ms for a turn; the first call loads the model (half a second).
    """
    if not any(char.isalpha() for char in text) or (LATIN.search(text) and len(text.split()) < FEWEST_WORDS):
        return ""
    with LOADING:  # many threads at once would load it once each
        identifier = _identifier()
    ranked: list[tuple[str, float]] = identifier.rank(text)
    if sum(p for language, p in ranked if language in ENGLISH) > 1 - SURE:
        return ""
    return str(max(ranked, key=lambda pair: pair[1])[0])


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # slow to import, and not needed to ask

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
