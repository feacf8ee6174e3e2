"""moving: a value and a change -> the value after it, written as it was written before."""

from __future__ import annotations

import re
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from doxa.core.tasks import TaskValue, ValueKind
from doxa.tasks.amounts import clock_text, clock_value, minutes_of
from doxa.tasks.shifts import Shift

__all__ = ["in_month", "nearest", "same_value", "shifted"]

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
CLOCK_UNITS = {"minute": 1, "hour": 60}
DAY_UNITS = {"day": 1, "night": 1, "week": 7, "fortnight": 14, "weekend": 7}
MONTH_UNITS = {"month": 1, "quarter": 3, "year": 12}


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
    return clock_value(clock_text(minutes), minutes)


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
    ends = [minutes_of(m[0], "") for m in re.finditer(r"\d{1,2}(?:[:.]\d\d)?", value.text)]
    if len(ends) == 2:
        length = (ends[1] - ends[0]) % 720
        start = (value.amount or 0) + minutes
        return clock_value(f"{clock_text(start)} to {clock_text(start + length)}", start)
    moved = ((value.amount or 0) + minutes) % 1440
    if re.fullmatch(r"\d\d:\d\d", value.text):
        return clock_value(f"{int(moved) // 60:02}:{int(moved) % 60:02}", moved)
    if re.fullmatch(r"\d[:.]\d\d", value.text):  # nobody said which half of the day
        return clock_value(f"{(int(moved) // 60 - 1) % 12 + 1}:{int(moved) % 60:02}", moved)
    return clock_value(clock_text(moved), moved)


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


def same_value(one: TaskValue | None, other: TaskValue | None) -> bool:
    """Tell whether two values say the same."""
    if one is None or other is None:
        return one is other
    if one.text.casefold() == other.text.casefold():
        return True
    return one.kind == other.kind and one.amount is not None and one.amount == other.amount and one.unit == other.unit


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day % 100 < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
