"""The passages of a turn that are encoded beside the whole."""

from __future__ import annotations

from itertools import pairwise

from doxa.core.values import Turn
from doxa.language import split_text

__all__ = ["encoded_texts"]

MOST = 8
"""Passages of one turn; a longer one is cut into as many stretches of whole sentences."""
LEAST_WORDS = 3
"""Shorter sentences ("Sure!", "Me too.") say nothing by themselves and go with the one before."""


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
