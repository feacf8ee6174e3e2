"""Which of two days is meant where the words leave it open: the nearest one behind or the nearest one ahead.

"Dentist thursday" lies ahead, "saw her thursday" behind; nothing but the words around tells. What is near is likelier,
and the rest is in the words of the same sentence, those right beside the time above all. A logistic regression over
them, taught on examples that were labelled by hand, says which it is, so that the same words mean the same day wherever
they are read.

Source: ours. Examples, how the weights were fitted and how well they hold out: `training/times`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from itertools import islice, takewhile

from doxa.language.data import table

__all__ = ["features", "lies_behind"]

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*|[.!?,;:()\u2026]|\n")
STOPS = frozenset(".!?\u2026\n")
"""What ends a sentence."""
CYCLES = (("week", 9.0), ("month", 40.0), ("year", math.inf))
"""After how many days what is named comes again, at most: a weekday, a day of the month, a day of the year."""
NEAR, BESIDE = 9, 2
"""Words on each side that are looked at, and those of them whose place counts."""


def lies_behind(text: str, start: int, end: int, behind: datetime, ahead: datetime, at: datetime) -> bool:
    """Tell whether `text[start:end]` means the period that lies behind the day of speaking, not the one ahead.

    Args:
        text: what was said, with the words around the time.
        start: where the time expression begins.
        end: where it ends.
        behind: the first moment of what it means if it lies behind.
        ahead: the same if it lies ahead.
        at: when it was said.

    Deterministic; O(characters of the sentence).
    """
    weights = _weights()
    given = features(text, start, end, behind, ahead, at)
    return sum(weights.get(name, 0.0) * value for name, value in given.items()) > 0


def features(text: str, start: int, end: int, behind: datetime, ahead: datetime, at: datetime) -> dict[str, float]:
    """Return what is weighed, by name."""
    before = list(_sentence(reversed(WORD.findall(text[max(0, start - 120) : start]))))
    after = list(_sentence(WORD.findall(text[end : end + 120])))
    back, on = _days(behind, at), _days(ahead, at)
    cycle = next(name for name, most in CYCLES if back + on <= most)
    found = {"bias": 1.0, cycle: 1.0, f"near in a {cycle}": math.log((on + 0.5) / (back + 0.5))}
    for side, words in (("before", before), ("after", after)):
        for place, word in enumerate(words):
            found[f"{side} {word}"] = found[f"{side} -{word[-2:]}"] = 1.0
            if place < BESIDE:
                found[f"{side} {place + 1} {word}"] = 1.0
    return found | {f"time {re.sub(r'[0-9]', '0', word)}": 1.0 for word in WORD.findall(text[start:end].casefold())}


def _sentence(words: Iterable[str]) -> Iterator[str]:
    return islice((word.casefold() for word in takewhile(lambda word: word not in STOPS, words)), NEAR)


def _days(one: datetime, other: datetime) -> float:
    return abs((one.replace(tzinfo=None) - other.replace(tzinfo=None)).total_seconds()) / 86400


@cache
def _weights() -> Mapping[str, float]:
    return table("times/direction")["weights"]  # type: ignore[no-any-return]
