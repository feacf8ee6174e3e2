"""Numbers in words: "twenty-one", "two thousand and eighteen", "nineteen ninety", "one and a half"."""

from __future__ import annotations

from doxa.language.times.grammar import Action, Found, Reading
from doxa.language.times.periods import Seen
from doxa.language.times.tokens import ORDINAL, size_of

__all__ = ["NUMBER_ACTIONS"]


def _number(found: Found, seen: Seen) -> Reading | None:
    b = found.value("b") or 0
    if "centuries" in found:
        units = found.value("units") or 0
        value = found.value("centuries") * 100 + (b or units)
        if not units and (b < 10 or found.value("centuries") < 13):
            return None
    elif "hundreds" in found or "thousands" in found or "a" not in found:
        scale = 1000 if "thousands" in found else 100
        value = (found.value("thousands") or found.value("hundreds") or 1) * scale + b
    else:
        value = found.value("a") + b
    return Reading(size_of(value), value)


def _ordinal(found: Found, seen: Seen) -> Reading | None:
    return Reading(ORDINAL, found.value("a") + found.value("b"))


def _fraction(found: Found, seen: Seen) -> Reading | None:
    part = 0.75 if "three" in found else 0.25 if "one" in found else 0.5
    return Reading("9", (found.value("a") or 0) + part)


def _couple(found: Found, seen: Seen) -> Reading | None:
    return Reading("1", 2)


def _few(found: Found, seen: Seen) -> Reading | None:
    return Reading("1", 3)


NUMBER_ACTIONS: dict[str, Action] = {
    "number": _number,
    "ordinal": _ordinal,
    "fraction": _fraction,
    "couple": _couple,
    "few": _few,
}
