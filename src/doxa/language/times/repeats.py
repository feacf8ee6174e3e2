"""What happens again and again: "every other Thursday", "three times a week", "Mon-Fri 9-5"."""

from __future__ import annotations

from doxa.language.times.amounts import unit_of
from doxa.language.times.clocks import between
from doxa.language.times.dates import holiday_on
from doxa.language.times.grammar import Action, Found, Reading
from doxa.language.times.periods import CODES, Clock, Period, Repeat, Seen

__all__ = ["REPEAT_ACTIONS"]

PARTS = {8: "TMO", 12: "TAF", 16: "TEV", 20: "TNI"}
"""The TIMEX3 value of a part of the day, by the hour at which it begins."""


def _every(found: Found, seen: Seen) -> Reading | None:
    if "w2" in found:
        return _weekly(found)
    if "adverb" in found:
        return _adverb(found)
    if any(name in found for name in ("month", "holiday", "date", "th")):
        return _yearly(found, seen)
    if any(name in found for name in ("times", "twice", "once")):
        return _repeat(_every_unit(1, unit_of(found)), _count(found))
    number = found.value("n") or (2 if "other" in found else 1)
    clock = found.value("c")
    time = clock.timex if isinstance(clock, Clock) else ""
    if "evening" in found and not time:
        time = PARTS.get(found.look("evening", "part")[0], "")
    if "w" in found:
        return _weekday(found, number, time)
    if "part" in found:
        word = found.word("part")
        one = found.first.word in ("any", "all") and not word.endswith("s")
        return None if one else _repeat(time or PARTS.get(found.look("part")[0], "P1D"))
    return _unit(found, number, time)


def _repeat(timex: str, count: int = 1) -> Reading:
    return Reading("EVERY", Repeat(timex=timex, count=count))


def _count(found: Found) -> int:
    return 1 if "once" in found else 2 if "twice" in found else int(found.value("times") or 1)


def _adverb(found: Found) -> Reading | None:
    timex: str = found.look("adverb")
    if "two" in found or "half" in found:
        return _multiple(timex, twice="two" in found)
    return _repeat(timex, _count(found))


def _yearly(found: Found, seen: Seen) -> Reading | None:
    """Return a month, a named day or a day of every year, or a day of every month."""
    if "month" in found:
        return _repeat(f"XXXX-{found.look('month'):02}")
    if "th" in found:
        return _repeat(f"XXXX-XX-{int(found.value('th')):02}")
    if "holiday" in found:
        return _repeat(f"XXXX-{holiday_on(found.value('holiday'), seen).start:%m-%d}")
    day: Period = found.value("date")
    known = day.month is not None and day.day is not None and day.year is None
    return _repeat(f"XXXX-{day.start:%m-%d}") if known else None


def _weekday(found: Found, number: float, time: str) -> Reading | None:
    index = found.look("w", "weekday")
    index = found.look("w", "weekdays") if index is None else index
    return _repeat((f"XXXX-WXX-{index + 1}" if number == 1 else f"P{number:g}W") + time)


def _unit(found: Found, number: float, time: str) -> Reading | None:
    unit = unit_of(found)
    if unit in ("weekday", "weekdays"):
        return _repeat("XXXX-WD" + time)
    if found.first.word == "all" and not found.word("u").endswith("s"):
        return None
    if unit == "night" and number == 1:
        return _repeat(time or "TNI")
    if time:
        return _repeat(time) if unit == "day" else None
    if unit == "weekend" and found.first.word in ("every", "each"):
        return _repeat("XXXX-WXX-WE")
    return _repeat(_every_unit(number, unit))


def _weekly(found: Found) -> Reading:
    """Return "every Monday and Thursday" or "Mon-Fri 9-5" as a repetition: days with a slash between are from, to."""
    indexes = [found.look(name, "weekday") for name in ("w", "w2", "w3") if name in found]
    days = [f"XXXX-WXX-{index + 1}" for index in indexes]
    if "h" not in found:
        clock = found.value("c")
        return Reading("EVERY", Repeat(timex=",".join(days) + (clock.timex if isinstance(clock, Clock) else "")))
    first, last = found.value("h"), found.value("k")
    first = first if isinstance(first, Clock) else Clock(hour=int(first) % 24)
    last = last if isinstance(last, Clock) else Clock(hour=int(last) % 24)
    hours = between(first, last)
    ends = [Clock(hour=second // 3600 % 24, minute=second // 60 % 60).timex for second in (hours.start, hours.end)]
    return Reading("EVERY", Repeat(timex=f"{'/'.join(days)}{'/'.join(ends)}"))


def _multiple(timex: str, *, twice: bool) -> Reading | None:
    """Return "bi-weekly" (every two weeks) or "semi-annually" (every half year)."""
    number, unit = int(timex[1:-1]), timex[-1]
    if twice:
        return Reading("EVERY", Repeat(timex=f"P{2 * number}{unit}"))
    return Reading("EVERY", Repeat(timex="P6M")) if timex == "P1Y" else None


def _every_unit(number: float, unit: str) -> str:
    unit = "weekend" if unit == "weekends" else unit
    scale, code = CODES[unit]
    clock = unit in ("second", "minute", "hour")
    return f"P{'T' if clock else ''}{number * scale:g}{code}"


def _every_at(found: Found, seen: Seen) -> Reading | None:
    repeat: Repeat = found.value("e")
    told = found.value("t")
    if not isinstance(told, Clock) or "T" in repeat.timex:
        return None
    if repeat.timex == "P1D":
        return Reading("EVERY", Repeat(timex=told.timex))
    if not repeat.timex.startswith("XXXX"):
        return None
    return Reading("EVERY", Repeat(timex=repeat.timex + told.timex))


REPEAT_ACTIONS: dict[str, Action] = {"every": _every, "every_at": _every_at}
