"""Amounts of time, and what lies an amount away: "three weeks", "two years ago", "the next ten days"."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

from doxa.language.times.clocks import read_hour
from doxa.language.times.dates import weekday_of
from doxa.language.times.grammar import Action, Found, Reading
from doxa.language.times.periods import (
    Amount,
    Bound,
    Hours,
    Period,
    Seen,
    dated,
    monday_of,
    moved,
    period_of,
)
from doxa.language.times.relative import kind_of
from doxa.language.times.tokens import words

__all__ = ["AMOUNT_ACTIONS", "unit_of"]

VERBAL = ("will", "would", "can", "could", "should", "may", "might", "must", "not", "to", "t", "did", "does", "don")
"""Words after which "last" is a verb."""


def unit_of(found: Found, name: str = "u") -> str:
    """Return the name of the unit in a place."""
    word = found.word(name)
    return words().values["unit"].get(word) or words().values["letter"].get(word) or word


def _amount(found: Found, seen: Seen) -> Reading | None:
    number = found.value("n")
    number = 1 if number is None else number
    unit, token = unit_of(found), found.token("u")
    if "business" in found:
        unit = "business day"
    if token and len(token.word) == 1:
        count = found.token("n")
        if found.text[token.start] == "D":  # "in 2D"
            return None
        if found.beside(-1) in ("my", "your", "his", "her", "our", "their", "the"):  # "in my 20s"
            return None
        if count is None or count.end != token.start:
            return None
    if token and token.word == "second" and number == 1 and not _counts_seconds(found):
        return None
    number += 0.5 if "half" in found else 0.25 if "fourth" in found else 0
    if number > 100_000 or (1900 <= number < 2100 and not found.word("u").endswith("s")):
        return None
    return Reading("AMOUNT", Amount(parts=((number, unit),)))


def _counts_seconds(found: Found) -> bool:
    """Tell whether "a second" is a length, and not one more ("a second dog") or a short while ("wait a second")."""
    return found.beside(1) in ("ago", "later") or found.beside(-1) in ("for", "in", "within", "than", "per")


def _sum(found: Found, seen: Seen) -> Reading | None:
    tokens = found.tokens[found.match.start() : found.match.end()]
    parts = tuple(part for token in tokens if isinstance(token.value, Amount) for part in token.value.parts)
    sizes = [Amount(parts=((1, unit),)).seconds for _, unit in parts]
    if any(later >= earlier for earlier, later in pairwise(sizes)):
        return None
    return Reading("AMOUNT", Amount(parts=parts))


def _compared(found: Found, seen: Seen) -> Reading | None:
    bound: Bound = "more" if "more" in found else "less"
    return Reading("AMOUNT", replace(found.value("a"), bound=bound))


def _shifted(found: Found, seen: Seen) -> Reading | None:
    sign = -1 if "ago" in found else 1
    if "w" in found or "count" in found:
        index = found.look("w", "weekday")
        index = found.look("w", "weekdays") if index is None else index
        weeks = int(found.value("n")) - 1
        return Reading("DAY", dated(weekday_of(seen.today, index, False) + timedelta(weeks=weeks)))
    amount: Amount = found.value("n")
    if "weekday" in found:
        return _weekday_away(found.value("weekday"), amount, sign, seen)
    origin = found.value("from")
    base = origin.start if origin else seen.today
    if amount.fine:
        moment = moved(base if origin else seen.now, amount, sign)
        return Reading("INSTANT", Period(start=moment, end=moment, grain="instant"))
    day = moved(base, amount, sign)
    if amount.bound == "less":
        start, end = min(base, day), max(base, day)
        return Reading("SPAN", Period(start=start, end=end, grain="span", ends=("day", "day")))
    if amount.bound == "more":
        return Reading("OPENED", replace(dated(day), bound="before" if sign < 0 else "after"))
    if "on" in found and found.value("on").weekday is not None:
        return Reading("DAY", dated(monday_of(day) + timedelta(days=found.value("on").weekday)))
    if amount.parts[-1][1] == "weekend":
        return kind_of(period_of("weekend", day))
    unit = amount.parts[0][1] if origin is None and len(amount.parts) == 1 else ""
    return Reading("DAY", replace(dated(day), counted=unit))


def _weekday_away(day: Period, amount: Amount, sign: int, seen: Seen) -> Reading | None:
    """Return "Monday two weeks ago": the weekday in the week that lies an amount away."""
    if day.weekday is None or amount.fine:
        return None
    return Reading("DAY", dated(monday_of(moved(seen.today, amount, sign)) + timedelta(days=day.weekday)))


def _stretch_of(found: Found, seen: Seen) -> Reading | None:
    if "n" in found:
        amount: Amount = found.value("n")
    else:
        count = found.value("k")
        amount = Amount(parts=((1 if count is None else count, unit_of(found)),))
    step = found.look("r", "relative")
    within = found.first.word == "within"
    if step == 0 or (found.word("r") == "last" and found.beside(-1) in VERBAL):
        return None
    if "k" in found and not found.word("u").endswith("s"):
        return None
    if "u" in found and "k" not in found and not within and not amount.fine:
        return None
    sign = -1 if step == -1 else 1
    if amount.fine:
        other = moved(seen.now, amount, sign)
        return Reading("STRETCH", Period(start=min(seen.now, other), end=max(seen.now, other), grain="stretch"))
    unit = amount.parts[0][1]
    first = seen.today
    if unit in ("quarter", "decade", "century") and len(amount.parts) == 1:
        here = period_of(unit, first).start
        first = here if sign < 0 else moved(here, Amount(parts=((1, unit),)), 1)
    elif sign > 0 and not within:
        first += timedelta(days=1)
    other = moved(first, amount, sign)
    start, end = min(first, other), max(first, other)
    return Reading("SPAN", Period(start=start, end=end, grain="span", counted=unit))


def _begun(found: Found, seen: Seen) -> Reading | None:
    amount: Amount = found.value("n")
    day = found.value("d")
    if day is None:
        clock = read_hour(found, "c", "h", "none")
        if not amount.fine:
            return None
        return Reading("HOURS", Hours(start=clock.seconds, end=clock.seconds + int(amount.seconds)))
    end = moved(day.start, amount, 1)
    fine = amount.fine or day.grain == "instant"
    return kind_of(Period(start=day.start, end=end, grain="stretch" if fine else "span", ends=("day", "day")))


AMOUNT_ACTIONS: dict[str, Action] = {
    "amount": _amount,
    "sum": _sum,
    "compared": _compared,
    "shifted": _shifted,
    "stretch_of": _stretch_of,
    "begun": _begun,
}
