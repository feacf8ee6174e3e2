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
    groups: list[list[str]] = []
    for sentence in split_text(turn.text):
        if groups and len(sentence.split()) < LEAST_WORDS:
            groups[-1].append(sentence)
        else:
            groups.append([sentence])
    if len(groups) > MOST:
        bounds = [len(groups) * part // MOST for part in range(MOST + 1)]
        groups = [[one for group in groups[start:stop] for one in group] for start, stop in pairwise(bounds)]
    passages = [" ".join(group) for group in groups]
    return [turn.text, *passages] if len(passages) > 1 else [turn.text]
