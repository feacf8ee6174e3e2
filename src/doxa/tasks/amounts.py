"""amounts: text -> typed values and shifts.

Times come from `core.times`; this adds what a task slot needs beside them: money, quantities, bare hours after "at" and
identifiers. Changes by an amount come from `shifts`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime

from doxa.core.tasks import TaskValue, ValueKind
from doxa.language.times import Amount, Clock, Expression, Hours, Period, read_numbers, read_times
from doxa.tasks.shifts import Shift, number_in, read_shifts

__all__ = ["GUESSED", "Typed", "clock_text", "clock_value", "minutes_of", "read_values", "typed_value"]

NO_TIMES = (
    "now",
    "currently",
    "today's",
    "the day",
    "day",
    "at the moment",
    "the moment",
    "the time",
    "this time",
    "then",
)

GUESSED = "half of the day guessed"
NUMBER = r"(?:\d+(?:[.,]\d+)*|[a-z]+)"
CURRENCY = r"euros?|eur|dollars?|usd|bucks|pounds?|quid|gbp|francs?|chf|kronor|kroner|yen|cents?|pence"
MONEY = re.compile(
    rf"([$€£¥])\s?(\d[\d,]*(?:\.\d+)?)(\s?k\b)?|\b(\d[\d,]*(?:\.\d+)?)(\s?k)?\s?({CURRENCY}|€|£)(?![a-z])", re.I
)
RATE = re.compile(
    r"\s*(?:(?P<one>each|apiece|a pop)|"
    r"(?:per|a|an)\s+(?P<each>head|person|guest|unit|piece|item|day|night|hour|week|month)|"
    r"per\s+(?P<per>[a-z]+)|/\s?(?P<slash>[a-z]+))\b",
    re.I,
)
UNITS = (
    "kg|kgs|kilo|kilos|g|grams?|mg|litres?|liters?|l|ml|cups?|tins?|cans?|bottles?|boxes|box|bags?|packs?|packets?|"
    "pairs?|pieces?|slices?|jars?|loaves|loaf|rolls?|sheets?|metres?|meters?|m|cm|mm|km|kilometres?|kilometers?|miles?|"
    "k|inch|inches|feet|foot|ft|percent|%|tablets?|doses?|copies|copy|tickets?|seats?|people|persons|guests?|adults?|"
    "children|kids|reps?|laps?|pages?|tonnes?|trays?|crates?|bunches|bunch|dozen|gb|tb|watts?|w|mg|cartons?|"
    "stems?|bulbs?|bars?|tubes?|sacks?|bundles?"
)
QUANTITY = re.compile(rf"\b(\d+(?:[.,]\d+)?|an?|half an?|[a-z]+)\s?({UNITS})\b(?!\s*(?:later|earlier))", re.I)
BARE_HOUR = re.compile(
    r"\b(?:at|by|until|till|before|around|about)\s+((?:1[0-2]|[1-9])|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"(?!\s*(?:[ap]\.?m\b|o'clock|[-:.]\d|\d|each|apiece|per|a (?:head|person|piece)|percent|%|euros?|dollars?|"
    r"pounds?|[$€£]|[a-z]+s\b|or|people|of|(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b))",
    re.I,
)
LASTING = re.compile(
    r"\s+for\s+(?=(?:\d+|an?|one|two|three|four|five|six|seven|ten) (?:night|day|week|month|hour|min))", re.I
)
OF_DAY = re.compile(
    r"\b(1[0-2]|[1-9]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?:[:.](\d\d))?(?: o'clock)?\s+"
    r"(in the (?:morning|afternoon|evening)|at night)\b",
    re.I,
)
HOURS = re.compile(
    r"(?:from )?\b(\d{1,2}(?:[:.]\d\d)?)\s?(?:to|-|–|until|till)\s?(\d{1,2}(?:[:.]\d\d)?)\b(?:\s?([ap]\.?m\.?))?", re.I
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A value or a shift at `text[start:end]`; `each` tells what a price for one is for: "person", "table"."""

    start: int
    end: int
    value: TaskValue | None = None
    shift: Shift | None = None
    each: str = ""


def read_values(text: str, at: datetime) -> list[Typed]:
    """Return the typed values and shifts of a text in order, none overlapping; the longer of two wins. O(len(text))."""
    found: list[Typed] = [
        *_parts_of_day(text),
        *(Typed(start=i, end=j, shift=shift) for i, j, shift in read_shifts(text)),
        *_money(text),
        *_hours(text),
        *_times(text, at),
        *_quantities(text),
    ]
    found += _numbers(text)
    taken: list[Typed] = []
    for one in found:  # by rank: what is said more exactly comes first
        if all(one.end <= other.start or one.start >= other.end for other in taken):
            taken.append(one)
    return sorted(taken, key=lambda one: one.start)


def typed_value(text: str, at: datetime) -> TaskValue:
    """Return what a text is as a value: a time, a sum, a number, ... where that is all it says, else its words."""
    found = read_values(text, at)
    value = found[0].value if len(found) == 1 and (found[0].start, found[0].end) == (0, len(text)) else None
    return TaskValue(text=text) if value is None or found[0].each else value


def _parts_of_day(text: str) -> list[Typed]:
    """Return hours with the part of the day they are in: "9 at night", "8 in the morning"."""
    found = []
    for match in OF_DAY.finditer(text):
        hour, minute = int(number_in(match[1]) or 0), int(match[2] or 0)
        evening = match[3].lower() != "in the morning"
        minutes = (hour % 12 + (12 if evening else 0)) * 60 + minute
        found.append(Typed(start=match.start(), end=match.end(), value=clock_value(clock_text(minutes), minutes)))
    return found


def _money(text: str) -> list[Typed]:
    found = []
    for match in re.finditer(r"\b\d+(?:[.,]\d+)?(?=\s)", text):
        each = RATE.match(text, match.end())
        if each:
            value = TaskValue(text=match[0], kind=ValueKind.MONEY, amount=float(match[0].replace(",", "")))
            found.append(Typed(start=match.start(), end=each.end(), value=value, each=_one_of(each)))
    for match in MONEY.finditer(text):
        figure = (match[2] or match[4]).replace(",", "")
        amount = float(figure) * (1000 if match[3] or match[5] else 1)
        unit = (match[1] or match[6] or "").lower().rstrip("s")
        each = RATE.match(text, match.end())
        value = TaskValue(text=match[0].strip(), kind=ValueKind.MONEY, amount=amount, unit=unit)
        found.append(
            Typed(start=match.start(), end=each.end() if each else match.end(), value=value, each=_one_of(each))
        )
    return found


def _one_of(rate: re.Match[str] | None) -> str:
    """Return what a rate is for: a person where nothing else is named."""
    said = "" if rate is None else (rate["each"] or rate["per"] or rate["slash"] or "person").lower()
    return "person" if said in ("head", "guest") else said


def _hours(text: str) -> list[Typed]:
    """Return ranges of hours and hours that stand bare behind "at"."""
    found = []
    for match in HOURS.finditer(text):
        if ":" in match[0] or match[3] or match[0].lower().startswith("from"):
            start = match.start(1)
            said = text[start : match.end()]
            found.append(
                Typed(start=start, end=match.end(), value=clock_value(said, minutes_of(match[1], match[3] or "")))
            )
    for match in BARE_HOUR.finditer(text):
        hour = int(number_in(match[1]) or 0)
        minutes = hour * 60 + (720 if hour < 7 else 0)
        said = clock_text(minutes)
        guess = replace(clock_value(said, minutes), unit=GUESSED)
        found.append(Typed(start=match.start(1), end=match.end(1), value=guess))
    return found


def minutes_of(said: str, half: str) -> float:
    """Return an hour with its minutes, and its half of the day, as minutes after midnight."""
    hour, _, minute = said.replace(".", ":").partition(":")
    hours = int(hour) % 24
    if half.lower().startswith("p") and hours < 12:
        hours += 12
    return hours * 60 + int(minute or 0)


def clock_value(text: str, minutes: float) -> TaskValue:
    """Return a time of day; minutes after midnight."""
    return TaskValue(text=text, kind=ValueKind.CLOCK, amount=float(minutes))


def _times(text: str, at: datetime) -> list[Typed]:
    found: list[Typed] = []
    for one in read_times(text, at, past=False):
        value = one.value
        lasting = LASTING.search(one.text)
        if lasting:
            for start, said in (
                (one.start, one.text[: lasting.start()]),
                (one.start + lasting.end(), one.text[lasting.end() :]),
            ):
                found += [
                    replace(inner, start=start + inner.start, end=start + inner.end) for inner in _times(said, at)
                ]
            continue
        clock = re.search(r",?\s(?:at|from) ", one.text)
        recurring = re.match(r"every |each |(?:mon|tues|wednes|thurs|fri|satur|sun)days\b", one.text, re.I)
        if recurring and clock:  # "every Monday at a quarter past three" has a day and a time
            at_clock = one.start + clock.end()
            found += [
                Typed(start=one.start, end=one.start + clock.start(), value=_day_value(one.text[: clock.start()]))
            ]
            found += [
                Typed(start=at_clock + inner.start, end=at_clock + inner.end, value=inner.value)
                for inner in _times(one.text[clock.end() :], at)
            ]
            continue
        if isinstance(value, Period) and value.places is not None:
            same = re.match(r"(?:the |on the )?same\b|that\b", text[slice(*value.places[0])], re.I)
            (a, b), (c, d) = ((one[0], one[1] - text[: one[1]].endswith(".")) for one in value.places)
            a += len((re.match(r"(?:morning|afternoon|evening|night) on (?:the )?", text[a:b], re.I) or [""])[0])
            found += [] if same else [Typed(start=a, end=b, value=_date_value(text[a:b], value.start.date()))]
            found += [
                Typed(
                    start=c,
                    end=d,
                    value=clock_value(_told(text[c:d], value.start), value.start.hour * 60 + value.start.minute),
                )
            ]
        else:
            typed = _time(one)
            if typed is not None:
                found.append(typed)
    return found


def _day_value(text: str) -> TaskValue:
    return TaskValue(text=text.strip(), kind=ValueKind.DATE)


def _told(said: str, moment: datetime) -> str:
    bare = re.sub(r"^(?:at|around|by|about)\s+", "", said.strip(), flags=re.I)
    return (
        bare
        if re.search(r"[ap]\.?m|:|noon|midnight|o'clock|morning|evening|afternoon", bare, re.I)
        else clock_text(moment.hour * 60 + moment.minute)
    )


def _time(one: Expression) -> Typed | None:
    value, said = one.value, one.text
    lowered = said.lower()
    if re.fullmatch(
        r"(the )?(same|original|other|first|last|next|current|whole|new|old)\s+(day|time|week|date|month|year|"
        r"evening|morning|afternoon)s?",
        lowered,
    ) and not re.match(r"next (week|month|year)", lowered):
        return None
    if lowered in NO_TIMES or re.match(
        r"that (?:day|morning|afternoon|evening|night|week|weekend|month|year)\b", lowered
    ):
        return None
    if re.fullmatch(r"(?:the )?(?:week|month|quarter|day|year|phase) \d+|\d{3,4}", lowered):
        return None  # a name such as "week 3"; a bare number is no year here
    start, end = one.start, one.end
    part = re.match(r"(?:morning|afternoon|evening|night) on (?:the )?", said, re.I)
    if part:  # "a pub evening on 12 June" is on 12 June
        start, said = start + part.end(), said[part.end() :]
    if re.search(r"\s[AaPp][Mm]\.$", said) or (said.endswith(".") and not re.search(r"[ap]\.m\.$", said, re.I)):
        said, end = said[:-1], end - 1
    head = re.match(r"(?:on|at|by|in|until|till|from|before|after|around|about|for)\s+(?:the\s+)?", said, re.I)
    if head:
        start += head.end()
        said = said[head.end() :]
    match value:
        case Clock():
            minutes = value.hour * 60 + value.minute
            if not value.sure and value.hour < 7:
                minutes += 720
            shown = said if re.search(r"[ap]\.?m|:|noon|midnight|o'clock|midday", said, re.I) else clock_text(minutes)
            return Typed(start=start, end=end, value=clock_value(shown, minutes))
        case Hours():
            return Typed(start=start, end=end, value=clock_value(said, value.start / 60))
        case Amount():
            if lowered in ("a second", "a minute", "a moment", "one second"):
                return None
            number, unit = value.parts[0] if value.parts else (1, "")
            return Typed(
                start=start,
                end=end,
                value=TaskValue(text=said, kind=ValueKind.DURATION, amount=float(number), unit=unit),
            )
        case Period():
            return Typed(start=start, end=end, value=_date_value(said, value.start.date()))
        case _:
            return Typed(start=start, end=end, value=TaskValue(text=said, kind=ValueKind.DATE))


def _date_value(text: str, day: date) -> TaskValue:
    text = re.sub(r"^(?:on\s+)?(?:the\s+)?(?:coming\s+)?", "", text.strip(), flags=re.I)
    return TaskValue(text=text, kind=ValueKind.DATE, amount=float(day.toordinal()))


def _quantities(text: str) -> list[Typed]:
    found = []
    for match in QUANTITY.finditer(text):
        amount = number_in(match[1])
        noun = re.match(r"\s+(?!of\b|and\b|or\b|in\b|for\b|each\b|at\b|to\b)[a-z]", text[match.end() :])
        if match[1].lower() in ("a", "an") and noun:
            continue  # "a tin opener" is no tin
        if amount is None or (
            match[1].lower() in ("a", "an")
            and match[2].lower() in ("m", "l", "g", "k", "w", "case", "set", "row", "box")
        ):
            continue
        value = TaskValue(text=match[0], kind=ValueKind.QUANTITY, amount=amount, unit=match[2].lower())
        found.append(Typed(start=match.start(), end=match.end(), value=value))
    return found


def _numbers(text: str) -> list[Typed]:
    found = []
    for start, end, amount in read_numbers(text):
        if (
            re.search(r"[\w./-]$", text[:start])
            or re.match(r"[\w/-]", text[end : end + 1])
            or re.search(r"\d(?:st|nd|rd|th)$", text[start:end])
            or re.match(r"\s+of (?:them|those|these|us)", text[end:])
        ):
            continue
        each = RATE.match(text, end)
        kind = ValueKind.MONEY if each else ValueKind.NUMBER
        value = TaskValue(text=text[start:end], kind=kind, amount=float(amount))
        found.append(Typed(start=start, end=each.end() if each else end, value=value, each=_one_of(each)))
    return found


def clock_text(minutes: float) -> str:
    """Return a time of day in words: "4:15 pm"."""
    whole = round(minutes) % 1440
    hour, minute = divmod(whole, 60)
    return f"{(hour - 1) % 12 + 1}{f':{minute:02}' if minute else ''} {'pm' if hour >= 12 else 'am'}"
