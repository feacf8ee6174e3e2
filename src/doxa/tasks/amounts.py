"""amounts: text -> typed values and shifts; value, shift -> value.

Times come from `core.times`; this adds what a task slot needs beside them: money, quantities, bare hours after "at",
identifiers, and changes by an amount ("an hour later", "five more people").
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from dateutil.relativedelta import relativedelta

from doxa.core.tasks import TaskValue, ValueKind
from doxa.core.times import Amount, Clock, Expression, Hours, Period, read_numbers, read_times

__all__ = ["Shift", "Typed", "read_values", "shifted"]

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

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
GUESSED = "half of the day guessed"
CLOCK_UNITS = {"minute": 1, "hour": 60}
DAY_UNITS = {"day": 1, "night": 1, "week": 7, "fortnight": 14, "weekend": 7}
MONTH_UNITS = {"month": 1, "quarter": 3, "year": 12}
NUMBER = r"(?:\d+(?:[.,]\d+)*|[a-z]+)"
CURRENCY = r"euros?|eur|dollars?|usd|bucks|pounds?|quid|gbp|francs?|chf|kronor|kroner|yen|cents?|pence"
MONEY = re.compile(
    rf"([$€£¥])\s?(\d[\d,]*(?:\.\d+)?)(\s?k\b)?|\b(\d[\d,]*(?:\.\d+)?)(\s?k)?\s?({CURRENCY}|€|£)(?![a-z])", re.I
)
RATE = re.compile(
    r"\s*(?:(?P<one>each|apiece|a pop)|(?:per|a|an)\s+(?P<each>head|person|guest|unit|piece|item|day|night|hour|week|month)|"
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
UNIT = "minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|fortnights?|months?|years?|weekends?|quarters?"
AMOUNT = (
    rf"(?:half an hour|three quarters of an hour|an hour and a half|a couple of (?:{UNIT})|a quarter of an hour|"
    rf"(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|"
    rf"forty|forty-five|sixty|ninety)(?:\s(?:full|more|whole|extra))? (?:{UNIT})(?: and a half)?)"
)
SHIFTED = re.compile(rf"\b({AMOUNT})\s+(later|earlier|sooner)\b", re.I)
PUSHED = re.compile(rf"\b(back|forward|forwards|later|earlier|on|up|out)\s+(?:by\s+)?({AMOUNT})\b", re.I)
BY = re.compile(rf"\bby\s+({AMOUNT})\b", re.I)
LONGER = re.compile(rf"\b({AMOUNT})\s+(longer|shorter|more|less)\b", re.I)
MORE = re.compile(
    r"\b(an?|another|\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)\s+(more|extra|additional|fewer|less|further)(?:\s+([a-z]+))?|\banother\s+(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)\s+([a-z]+)",
    re.I,
)
COUNTED = re.compile(
    r"\b(\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty)\s+([a-z]+)\s+(fewer|less|more|extra)\b",
    re.I,
)
JOINING = re.compile(
    r"\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty) (?:more|extra|others)"
    r"(?=\s+(?:have|has|are|is|want|will|can|signed|joined|coming|came|said|replied|booked)\b)",
    re.I,
)
ONTO = re.compile(r"\b(\d+(?:\.\d+)?)\s?([a-z]+)?\s+(onto|on to|off|on top of)\b(?!\s+\d)", re.I)
KNOCKED = re.compile(
    r"\b(?:knock|shave|lop|chop|trim|slice)(?:ing|s|ped|ed)?\s+(\d+(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|"
    r"nine|ten|fifteen|twenty)\s?([a-z]+)?\s+off\b",
    re.I,
)
DAY_BEFORE = re.compile(
    r"\bthe (day|week|month|night|morning|evening) (before|after|earlier|later)(?=\s*(?:$|[.,;!?]|instead|please|then))",
    re.I,
)
FACTOR = re.compile(r"\b(double|halve|triple)\b", re.I)
BACKWARD = {"earlier", "sooner", "forward", "forwards", "up", "fewer", "less", "shorter"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """A change by an amount. `unit` is a unit of time, a counted noun ("people"), "" (plain), or "factor"."""

    amount: float
    unit: str = ""
    sure: bool = True
    """Whether the direction was said; "by an hour" leaves it to the verb."""
    length: bool = False
    """Whether it changes how long something takes: "two nights longer"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A value or a shift at `text[start:end]`; `each` tells what a price for one is for: "person", "table"."""

    start: int
    end: int
    value: TaskValue | None = None
    shift: Shift | None = None
    each: str = ""


def number_in(text: str) -> float | None:
    """Return the first number of a text, in digits or words; None without one."""
    lowered = text.lower()
    if re.match(r"half an? ", lowered):
        return 0.5
    found = read_numbers(text)
    if found:
        return found[0][2] + (0.5 if "and a half" in lowered and found[0][2] == int(found[0][2]) else 0.0)
    if re.match(r"(an?|another|one)\b", lowered):
        return 1.5 if "and a half" in lowered else 1.0
    return None


def unit_of(text: str) -> str:
    """Return the unit of time of an amount, in the singular."""
    found = re.search(rf"({UNIT})(?: and a half)?$", text.lower())
    unit = found[1].rstrip("s") if found else ""
    return {"min": "minute", "hr": "hour"}.get(unit, unit)


def read_values(text: str, at: datetime) -> list[Typed]:
    """Return the typed values and shifts of a text in order, none overlapping; the longer of two wins. O(len(text))."""
    found: list[Typed] = [
        *_parts_of_day(text),
        *_shifts(text),
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


def _parts_of_day(text: str) -> list[Typed]:
    """Return hours with the part of the day they are in: "9 at night", "8 in the morning"."""
    found = []
    for match in OF_DAY.finditer(text):
        hour, minute = int(number_in(match[1]) or 0), int(match[2] or 0)
        evening = match[3].lower() != "in the morning"
        minutes = (hour % 12 + (12 if evening else 0)) * 60 + minute
        found.append(Typed(start=match.start(), end=match.end(), value=_clock_value(_clock_text(minutes), minutes)))
    return found


def _amount(text: str) -> tuple[float, str]:
    lowered = text.lower()
    if lowered.endswith("quarter of an hour") or lowered.endswith("quarters of an hour"):
        return 45.0 if lowered.startswith("three") else 15.0, "minute"
    if lowered.startswith("a couple of"):
        return 2.0, unit_of(text)
    return number_in(text) or 1.0, unit_of(text)


def _shifts(text: str) -> list[Typed]:
    found = []
    for match in SHIFTED.finditer(text):
        amount, unit = _amount(match[1])
        sign = -1 if match[2].lower() in BACKWARD else 1
        found.append(Typed(start=match.start(), end=match.end(), shift=Shift(amount=sign * amount, unit=unit)))
    for match in LONGER.finditer(text):
        amount, unit = _amount(match[1])
        sign = -1 if match[2].lower() in BACKWARD else 1
        length = match[2].lower() in ("longer", "shorter")
        shift = Shift(amount=sign * amount, unit=unit, length=length)
        found.append(Typed(start=match.start(), end=match.end(), shift=shift))
    for match in PUSHED.finditer(text):
        amount, unit = _amount(match[2])
        sign = -1 if match[1].lower() in BACKWARD else 1
        found.append(Typed(start=match.start(), end=match.end(), shift=Shift(amount=sign * amount, unit=unit)))
    for match in BY.finditer(text):
        amount, unit = _amount(match[1])
        found.append(Typed(start=match.start(), end=match.end(), shift=Shift(amount=amount, unit=unit, sure=False)))
    for match in JOINING.finditer(text):
        shift = Shift(amount=number_in(match[1]) or 1.0, unit="people")
        found.append(Typed(start=match.start(), end=match.end(), shift=shift))
    for match in MORE.finditer(text):
        said, noun = (match[1], match[3]) if match[1] else (match[4], match[5])
        amount = number_in(said) or 1.0
        sign = -1 if (match[2] or "").lower() in BACKWARD else 1
        end = match.end() if noun else match.end(2) if match[2] else match.end()
        unit = "" if (noun or "").lower() in ("than", "of", "in", "for", "to", "on", "please", "then") else (noun or "").lower()
        found.append(Typed(start=match.start(), end=end, shift=Shift(amount=sign * amount, unit=unit)))
    for match in COUNTED.finditer(text):
        sign = -1 if match[3].lower() in BACKWARD else 1
        shift = Shift(amount=sign * (number_in(match[1]) or 1.0), unit=match[2].lower())
        found.append(Typed(start=match.start(), end=match.end(), shift=shift))
    for match in ONTO.finditer(text):
        sign = -1 if match[3].lower() == "off" else 1
        unit = (match[2] or "").lower()
        end = match.end(2) if match[2] else match.end(1)
        found.append(Typed(start=match.start(), end=end, shift=Shift(amount=sign * float(match[1]), unit=unit)))
    for match in KNOCKED.finditer(text):
        shift = Shift(amount=-(number_in(match[1]) or 1.0), unit=(match[2] or "").lower())
        found.append(Typed(start=match.start(1), end=match.end(), shift=shift))
    for match in DAY_BEFORE.finditer(text):
        sign = -1 if match[2].lower() in ("before", "earlier") else 1
        unit = {"night": "day", "morning": "day", "evening": "day"}.get(match[1].lower(), match[1].lower())
        found.append(Typed(start=match.start(), end=match.end(), shift=Shift(amount=float(sign), unit=unit)))
    factors = {"double": 2.0, "triple": 3.0, "halve": 0.5}
    found += [
        Typed(start=m.start(), end=m.end(), shift=Shift(amount=factors[m[1].lower()], unit="factor"))
        for m in FACTOR.finditer(text)
        if re.match(r"\s+(?:the|it|that|them|our|my)\b", text[m.end() :])
    ]
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
                Typed(start=start, end=match.end(), value=_clock_value(said, _minutes(match[1], match[3] or "")))
            )
    for match in BARE_HOUR.finditer(text):
        hour = int(number_in(match[1]) or 0)
        minutes = hour * 60 + (720 if hour < 7 else 0)
        said = _clock_text(minutes)
        guess = replace(_clock_value(said, minutes), unit=GUESSED)
        found.append(Typed(start=match.start(1), end=match.end(1), value=guess))
    return found


def _minutes(said: str, half: str) -> float:
    hour, _, minute = said.replace(".", ":").partition(":")
    hours = int(hour) % 24
    if half.lower().startswith("p") and hours < 12:
        hours += 12
    return hours * 60 + int(minute or 0)


def _clock_value(text: str, minutes: float) -> TaskValue:
    return TaskValue(text=text, kind=ValueKind.CLOCK, amount=float(minutes))


def _times(text: str, at: datetime) -> list[Typed]:
    found: list[Typed] = []
    for one in read_times(text, at, past=False):
        value = one.value
        lasting = LASTING.search(one.text)
        if lasting:
            for start, said in ((one.start, one.text[: lasting.start()]), (one.start + lasting.end(), one.text[lasting.end() :])):
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
                    value=_clock_value(_told(text[c:d], value.start), value.start.hour * 60 + value.start.minute),
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
        else _clock_text(moment.hour * 60 + moment.minute)
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
    if lowered in NO_TIMES or re.match(r"that (?:day|morning|afternoon|evening|night|week|weekend|month|year)\b", lowered):
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
            shown = said if re.search(r"[ap]\.?m|:|noon|midnight|o'clock|midday", said, re.I) else _clock_text(minutes)
            return Typed(start=start, end=end, value=_clock_value(shown, minutes))
        case Hours():
            return Typed(start=start, end=end, value=_clock_value(said, value.start / 60))
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


def _clock_text(minutes: float) -> str:
    whole = round(minutes) % 1440
    hour, minute = divmod(whole, 60)
    return f"{(hour - 1) % 12 + 1}{f':{minute:02}' if minute else ''} {'pm' if hour >= 12 else 'am'}"


def shifted(value: TaskValue, shift: Shift) -> TaskValue | None:
    """Return a value moved by a shift, written as it was written before; None when the two do not go together."""
    if shift.length and value.kind in (ValueKind.CLOCK, ValueKind.DATE):
        return None
    if shift.unit == "factor":
        return None if value.amount is None else _scaled(value, value.amount * shift.amount)
    match value.kind:
        case ValueKind.CLOCK if shift.unit in CLOCK_UNITS:
            return _moved_clock(value, shift.amount * CLOCK_UNITS[shift.unit])
        case ValueKind.DATE if shift.unit in DAY_UNITS or shift.unit in MONTH_UNITS:
            return _moved_date(value, shift)
        case ValueKind.DURATION if shift.unit == value.unit:
            return _scaled(value, (value.amount or 0) + shift.amount)
        case ValueKind.NUMBER | ValueKind.QUANTITY | ValueKind.MONEY if shift.unit not in (
            *CLOCK_UNITS,
            *DAY_UNITS,
            *MONTH_UNITS,
        ):
            return _scaled(value, (value.amount or 0) + shift.amount)
        case _:
            return None


def _scaled(value: TaskValue, amount: float) -> TaskValue:
    shown = f"{amount:g}"
    said = re.sub(r"\d[\d,]*(?:\.\d+)?|^(?:[a-z]+)(?= |$)", shown, value.text, count=1, flags=re.I)
    return TaskValue(text=said if shown in said else shown, kind=value.kind, amount=amount, unit=value.unit)


def nearest(old: TaskValue, new: TaskValue) -> TaskValue:
    """Return an hour without its half of the day in that of the time before it: "seven" for "6 pm" is 7 pm."""
    minutes = min(((new.amount or 0) % 720 + half for half in (0, 720)), key=lambda one: abs(one - (old.amount or 0)))
    return _clock_value(_clock_text(minutes), minutes)


def in_month(old: TaskValue, new: TaskValue) -> TaskValue:
    """Return a day without a month as one of the month of the date before it: "the fifth" for "3 March" is 5 March."""
    day = re.search(r"\b(\d{1,2})(?:st|nd|rd|th)\b", _digits(new.text))
    named = [month for month in MONTHS if re.search(rf"\b{month[:3]}(?:{month[3:]})?\b", old.text, re.I)]
    said = any(re.search(rf"\b{month[:3]}(?:{month[3:]})?\b", new.text, re.I) for month in MONTHS)
    if day is None or not named or said or old.amount is None:
        return new
    before = date.fromordinal(int(old.amount))
    try:
        moved = before.replace(day=int(day[1]))
    except ValueError:
        return new
    text = f"{moved.day} {MONTHS[moved.month - 1]}"
    return TaskValue(text=text, kind=ValueKind.DATE, amount=float(moved.toordinal()))


def _digits(text: str) -> str:
    """Return a text with an ordinal in words as digits: "the fifth" is "the 5th"."""
    words = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
    found = next((i for i, word in enumerate(words, 1) if re.search(rf"\b{word}$", text, re.I)), 0)
    return re.sub(r"\w+$", _ordinal(found), text) if found else text


def _moved_clock(value: TaskValue, minutes: float) -> TaskValue:
    ends = [_minutes(m[0], "") for m in re.finditer(r"\d{1,2}(?:[:.]\d\d)?", value.text)]
    if len(ends) == 2:
        length = (ends[1] - ends[0]) % 720
        start = (value.amount or 0) + minutes
        return _clock_value(f"{_clock_text(start)} to {_clock_text(start + length)}", start)
    moved = ((value.amount or 0) + minutes) % 1440
    text = (
        f"{int(moved) // 60:02}:{int(moved) % 60:02}" if re.fullmatch(r"\d\d:\d\d", value.text) else _clock_text(moved)
    )
    return _clock_value(text, moved)


def _moved_date(value: TaskValue, shift: Shift) -> TaskValue | None:
    if value.amount is None:
        return None
    day = date.fromordinal(int(value.amount))
    if shift.unit in MONTH_UNITS:
        moved = day + relativedelta(months=round(shift.amount * MONTH_UNITS[shift.unit]))
    else:
        moved = day + timedelta(days=round(shift.amount * DAY_UNITS[shift.unit]))
    return TaskValue(text=_date_text(value.text, day, moved), kind=ValueKind.DATE, amount=float(moved.toordinal()))


def _date_text(text: str, day: date, moved: date) -> str:
    """Return a moved date as the one before it was written: a weekday, an ordinal, a month with a day."""
    lowered = text.lower()
    if any(name.lower()[:3] in lowered for name in DAYS) and not re.search(r"\d", text):
        weeks = abs(moved.toordinal() - day.toordinal()) // 7
        name = DAYS[moved.weekday()]
        prefix = re.match(r"(next|this|coming|following)\s", lowered)
        return (
            f"{text[: prefix.end()]}{name}"
            if prefix and not weeks
            else name
            if abs(weeks) < 1
            else f"{name} {moved.day} {MONTHS[moved.month - 1]}"
        )
    month = next((name for name in MONTHS if name.lower() in lowered or name.lower()[:3] in lowered.split()), "")
    if not month:
        return _ordinal(moved.day) if re.search(r"\d(st|nd|rd|th)", lowered) else f"{DAYS[moved.weekday()]}"
    number = re.search(r"\d+(st|nd|rd|th)?", lowered)
    shown = _ordinal(moved.day) if number and number[1] else str(moved.day)
    first = number is not None and number.start() < lowered.index(month.lower()[:3])
    name = MONTHS[moved.month - 1]
    return f"{shown} {name}" if first else f"{name} {shown}"


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day % 100 < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def same_value(one: TaskValue | None, other: TaskValue | None) -> bool:
    """Tell whether two values say the same."""
    if one is None or other is None:
        return one is other
    if one.text.casefold() == other.text.casefold():
        return True
    return one.kind == other.kind and one.amount is not None and one.amount == other.amount and one.unit == other.unit
