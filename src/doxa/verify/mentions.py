"""Text -> the values that it mentions (numbers with what they count, dates, times of day, names), and how two compare.

Two mentions are *rivals* when they are of one kind and cannot both be meant: 31 and 45 pupils, Tuesday and Thursday,
9 and 16 December. "14:12" and "quarter past two" are none, nor are "in December" and "on 9 December".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Literal

from doxa.language import stems
from doxa.language.times import NUMBERS, Clock, Expression, Hours, Period, Repeat, read_times

__all__ = ["Mention", "bare_stems", "compared", "mentions"]

Compared = Literal["same", "rival", "other"]
"""One value, two that cannot both be meant, or two that say nothing of each other."""

WORDS = "|".join(sorted((word for word in NUMBERS if word not in ("a", "an")), key=len, reverse=True))
NUMBER = re.compile(
    r"(?P<sign>[€$£]\s?)?(?P<digits>(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])\d+(?:\.\d+)?)"
    r"(?P<thousand>\s?k\b)?(?!\w*-\w)|\b(?P<word>" + WORDS + r")\b(?:[- ](?P<more>" + WORDS + r")\b)?",
    re.IGNORECASE,
)
UNIT = re.compile(r"[\s-]*(?P<unit>%|°|[^\W\d_]+(?:[\s-][^\W\d_]+)?)", re.IGNORECASE)
LABEL = re.compile(
    r"(?P<label>platform|coach|room|gate|number|no\.|floor|flat|apartment|seat|page|chapter|line|bus|tram|route|exit|"
    r"lane|table|hall|building|terminal|section|clause|order|size|row|year|grade|class|level|version|house|unit|pier|"
    r"dock|track|stage|group|zone|ward|bay|channel|volume|episode|season|item|unit|day|week) #?$",
    re.IGNORECASE,
)
MONEY = frozenset(
    stem
    for word in (
        "euro euros eur dollar dollars usd pound pounds gbp quid buck bucks franc francs chf zloty kroner krone kronor "
        "crown crowns yen rupee rupees peso pesos real reais naira cedi rand lira won yuan shekel dirham"
    ).split()
    for stem in stems(word)
)
LOOSE = frozenset(
    stem
    for word in "of in on at to from for by with and or a per each every now today left total together so more".split()
    for stem in (word,)
)
UNITS = {
    "kg": "kilo kilos kilogram kg", "g": "gram g", "km": "kilometre kilometer km", "m": "metre meter m",
    "mile": "mile", "min": "minute min", "h": "hour h", "year": "year yr", "%": "percent %",
    "pupil": "pupil student", "child": "kid child children", "sibling": "sibling", "l": "litre liter",
    "person": "people person guest employee staff worker seat", "painting": "picture painting",
}  # fmt: skip
SAME_UNITS = {stem: unit for unit, words in UNITS.items() for word in words.split() for stem in stems(word) or [word]}
"""Stems of units, by what they count."""
LEAST, MOST = "least", "most"
BOUNDS = (
    (re.compile(r"\b(?:more than|over|above|at least|no less than|upwards of|exceed\w*) $", re.I), LEAST),
    (re.compile(r"\b(?:less than|under|below|at most|no more than|up to|fewer than|not even) $", re.I), MOST),
    (re.compile(r"\b(?:about|around|roughly|approximately|nearly|almost|some|close to|circa|just over|just under) $",
                re.I), "about"),
)  # fmt: skip
SAID_AS_TIME = re.compile(r"\d|o'clock|noon|midnight|past\b|to\b|quarter|half")
WEEKLY = re.compile(r"XXXX-WXX-(?P<day>\d)(?:T(?P<hour>\d\d)(?::(?P<minute>\d\d))?)?$")
ROUGH = 0.1
"""What "about" allows, as a share of the number."""
NAME = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w'’.-]*[\w](?: (?:of |the |de |da |van |von |la )?[A-ZÀ-ÖØ-Þ][\w'’-]*\w)*")
NOT_NAMES = frozenset(
    "I I'm I've I'll I'd The A An My Your Our His Her Their Its It He She They We You This That These Those There In "
    "On At From Since Until As And But So If When While Because Although After Before With Without For To Of By No Not "
    "Yes Now Then Today Tomorrow Yesterday Mr Mrs Ms Dr Every Each All Both Some Any One Two Three Also Just Only "
    "Luckily Good Great Congratulations Neither Either Originally Monday Tuesday Wednesday Thursday Friday Saturday "
    "Sunday Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays January February March April May June July "
    "August September October November December".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A value in a text, at `text[start:end]`."""

    kind: Literal["number", "clock", "date", "weekday", "name"]
    start: int
    end: int
    text: str
    number: float = 0.0
    """A number, or the seconds since midnight of a time of day."""
    unit: str = ""
    """What a number counts or labels, as a stem; empty where the text does not say."""
    bound: str = ""
    """"least", "most" or "about" of a number, "since" or "until" of a date, "half" of a time without a.m. or p.m."""
    parts: tuple[int | None, int | None, int | None, int | None] = (None, None, None, None)
    """Year, month, day and weekday, as far as they are said."""
    days: tuple[str, str] = ("", "")
    """The first day of a date and the first after it, where the speaker's day tells them."""
    before: str = ""
    """The word before it."""


def mentions(text: str, at: datetime) -> list[Mention]:
    """Return the values of a text in order, none overlapping; `at` is when it was said. Cost O(len(text))."""
    times = [m for one in _times(text, at.replace(tzinfo=None)) for m in _dated(one, text)]
    taken = [(one.start, one.end) for one in times]
    numbers = [one for one in _numbers(text) if not _within(one, taken)]
    taken += [(one.start, one.end) for one in numbers]
    names = [one for one in _names(text) if not _within(one, taken)]
    found = sorted((*times, *numbers, *names), key=lambda one: one.start)
    return [replace(one, before=_before(text, one.start)) for one in found]


def bare_stems(text: str, values: Collection[Mention], empty: Collection[str]) -> frozenset[str]:
    """Return the stems of a text less those of its values, numbers and what is in `empty`. O(letters x values)."""
    masked = "".join(" " if any(v.start <= i < v.end for v in values) else char for i, char in enumerate(text))
    return frozenset(stem for stem in stems(masked) if stem not in empty and not stem.isdigit())


def compared(one: Mention, other: Mention) -> Compared:
    """Return how two values compare; names are compared by `wording`, which knows what else stands around them."""
    if one.kind == "number" and other.kind == "number":
        return _numbers_compared(one, other)
    if one.kind == "clock" and other.kind == "clock":
        return _clocks(one, other)
    if one.kind in ("date", "weekday") and other.kind in ("date", "weekday"):
        return _dates(one, other)
    if one.kind == "name" and other.kind == "name":
        mine, theirs = set(stems(one.text)), set(stems(other.text))
        return "same" if mine <= theirs or theirs <= mine else "rival"
    return "other"


def _within(one: Mention, taken: list[tuple[int, int]]) -> bool:
    return any(one.start < end and start < one.end for start, end in taken)


def _before(text: str, start: int) -> str:
    words = re.findall(r"[\w'#]+", text[:start])
    return words[-1].casefold() if words else ""


@lru_cache(maxsize=4096)
def _times(text: str, at: datetime) -> tuple[Expression, ...]:
    return tuple(read_times(text, at))


def _dated(one: Expression, text: str) -> Iterator[Mention]:
    """Yield the dates and times of day of a time expression."""
    plain = Mention(kind="date", start=one.start, end=one.end, text=one.text)
    match one.value:
        case Clock() as clock:
            half = "" if clock.sure or clock.hour > 12 else "half"
            if not half or SAID_AS_TIME.search(one.text):
                yield replace(plain, kind="clock", number=clock.hour * 3600 + clock.minute * 60, bound=half)
        case Hours() as hours if re.search(r"\d", one.text) and not LABEL.search(text[: one.start]):
            yield replace(plain, kind="clock", number=hours.start, bound="" if hours.sure else "half")
        case Repeat() as again if (found := WEEKLY.match(again.timex)) is not None:
            yield replace(plain, kind="weekday", parts=(None, None, None, int(found["day"]) - 1))
            if found["hour"]:
                seconds = int(found["hour"]) * 3600 + int(found["minute"] or 0) * 60
                yield replace(plain, kind="clock", number=seconds, bound="half" if int(found["hour"]) <= 12 else "")
        case Period() as period if not period.loose and period.grain != "instant":
            bound = period.bound if period.bound in ("since", "until") else ""
            parts = (period.year, period.month, period.day, period.weekday)
            days = (period.start.date().isoformat(), period.end.date().isoformat())
            bare = period.weekday is not None and period.day is None and period.month is None
            yield replace(plain, kind="weekday" if bare else "date", bound=bound, parts=parts, days=days)


def _numbers(text: str) -> Iterator[Mention]:
    for found in NUMBER.finditer(text):
        if found["word"]:
            if found["word"].casefold() in ("one", "second", "first") or (found["word"][0].isupper() and found.start()):
                continue
            number = float(NUMBERS.get(found["word"].casefold(), 0))
            if found["more"]:
                more = NUMBERS.get(found["more"].casefold(), 0)
                number = number * more if more >= 100 else number + more
        else:
            number = float(found["digits"].replace(",", "")) * (1000 if found["thousand"] else 1)
        label = LABEL.search(text[: found.start()])
        unit = _unit(text[found.end() :]) if not found["sign"] else "money"
        if label is not None:
            unit = "#" + stems(label["label"])[0] if stems(label["label"]) else "#"
        before = text[: found.start()]
        bound = next((name for pattern, name in BOUNDS if pattern.search(before)), "")
        yield Mention(
            kind="number", start=found.start(), end=found.end(), text=found[0].strip(), number=number, unit=unit,
            bound=bound,
        )  # fmt: skip


def _unit(after: str) -> str:
    """Return what a number counts, by the words after it."""
    found = UNIT.match(after)
    if found is None:
        return ""
    words = re.split(r"[\s-]", found["unit"].casefold())
    if words[0] in LOOSE:
        return ""
    known = [stem for word in words for stem in (stems(word) or [word])]
    if any(stem in MONEY for stem in known[:1]):
        return "money"
    named = next((SAME_UNITS[stem] for stem in known if stem in SAME_UNITS), "")
    return named or (known[0] if known else "")


def _names(text: str) -> Iterator[Mention]:
    for found in NAME.finditer(text):
        start, name = found.start(), found[0]
        while (first := name.split(" ")[0].rstrip(".,")) in NOT_NAMES and " " in name:
            start, name = start + len(name.split(" ")[0]) + 1, name.split(" ", 1)[1]
        name = re.sub(r"['’]s?$", "", name)
        if first in NOT_NAMES and " " not in name and name.rstrip(".") in NOT_NAMES:
            continue
        if not start and not re.search(r"[A-Z]", name[1:]) and " " not in name and len(name) < 3:
            continue
        yield Mention(kind="name", start=start, end=start + len(name), text=name)


def _numbers_compared(one: Mention, other: Mention) -> Compared:
    mine, theirs = one.unit, other.unit
    if mine != theirs and mine and theirs:
        return "other"
    if mine != theirs and "#" in (mine[:1], theirs[:1]):
        return "other"
    low, high = (_range(one), _range(other))
    return "same" if low[0] <= high[1] and high[0] <= low[1] else "rival"


def _range(one: Mention) -> tuple[float, float]:
    match one.bound:
        case "least":
            return one.number, float("inf")
        case "most":
            return float("-inf"), one.number
        case "about":
            return one.number * (1 - ROUGH), one.number * (1 + ROUGH)
    return one.number, one.number


def _clocks(one: Mention, other: Mention) -> Compared:
    apart = abs(one.number - other.number)
    if "half" in (one.bound, other.bound):
        apart = min(apart % 43200, 43200 - apart % 43200)
    return "same" if apart < 60 else "rival"


def _dates(one: Mention, other: Mention) -> Compared:
    if one.bound != other.bound and one.bound and other.bound:
        return "other"
    said = [(mine, theirs) for mine, theirs in zip(one.parts, other.parts, strict=True)]
    shared = [(mine, theirs) for mine, theirs in said if mine is not None and theirs is not None]
    if any(mine != theirs for mine, theirs in shared[:]):
        return "rival"
    if shared:
        return "same"
    if all(one.days) and all(other.days) and one.kind == "date" and other.kind == "date":
        apart = one.days[1] <= other.days[0] or other.days[1] <= one.days[0]
        return "rival" if apart else "same"
    return "other"
