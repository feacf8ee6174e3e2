"""A claim as it was heard -> numbers that tell what it is like.

Nothing but what the reader says and the words of the lines is used, so a head goes with any reader of turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from doxa.backends.parser import Line, Place, Told
from doxa.understand.requests import HASHED, hashed

__all__ = ["SIZE", "claim_words", "features", "log_odds", "said_at"]

FLAGS: Final = ("not", "plan", "wish", "maybe", "over", "withdraw", "minor", "correct")
PLAIN: Final = 6 + len(FLAGS)
"""Numbers that are no words: see `_plain`."""
SIZE: Final = PLAIN + 4 * HASHED
"""All numbers: the plain ones, then words and pairs of words of relation, object, subject and turn."""
NEAREST: Final = 5e-5
"""How near to 0 or 1 a probability is taken to be; those of the reader have four digits."""


def features(told: Told, lines: Sequence[Line]) -> NDArray[np.float32]:
    """Return what a claim is like, `(SIZE,) float32`; no group of words is longer than one. O(words of the turn)."""
    said = f"{told.relation} {_words(told, lines)}"
    groups = said, said_at(told.object, lines), said_at(told.subject, lines), lines[-1].text
    return np.concatenate([_plain(told, lines), *map(hashed, groups)])


def log_odds(p: float) -> float:
    """Return the log odds of a probability; what is all but certain is certain to four digits."""
    near = min(max(p, NEAREST), 1 - NEAREST)
    return log(near / (1 - near))


def claim_words(told: Told, lines: Sequence[Line]) -> tuple[str, str, str]:
    """Return the subject, the words of the relation and the object of a claim, as the lines have them."""
    return said_at(told.subject, lines), _words(told, lines), said_at(told.object, lines)


def said_at(place: Place, lines: Sequence[Line]) -> str:
    """Return the words at a place."""
    line = lines[place.line]
    return line.speaker if place.start < 0 else line.text[place.start : place.end]


def _words(told: Told, lines: Sequence[Line]) -> str:
    return " ".join(said_at(place, lines) for place in told.words)


def _plain(told: Told, lines: Sequence[Line]) -> NDArray[np.float32]:
    own = len(lines) - 1
    numbers = (
        1.0,
        log_odds(told.p) / 5,
        told.subject.start < 0 and told.subject.line == own,
        not told.relation,
        log(1 + len(said_at(told.object, lines).split())) / 3,
        log(1 + len(lines[own].text.split())) / 5,
    )
    return np.array([*numbers, *(flag in told.flags for flag in FLAGS)], dtype=np.float32)
